// Names for the parts of a probe's document.

import type { Probe } from "./model";

export type Request = Probe["requests"][number];
export type Hop = NonNullable<Request["hops"]>[number];
export type Sample = Hop["samples"][number];
