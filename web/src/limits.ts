// What a limit is called, which letter and colour stand for it, and what it means: the table is
// `limits.json`, which a test of whyslow-report holds to the names, letters and colours in the
// terminal.

import table from "./limits.json";
import type { Limit } from "./model";

/** Groups of limits, each with a colour, `--GROUP` in `style/colors.css`. */
export const GROUPS = ["setup", "program", "window", "start", "ack", "loss", "path", "unknown"] as const;
export type Group = (typeof GROUPS)[number];

export interface LimitInfo {
  name: string;
  /** The second sign beside the colour. */
  letter: string;
  group: Group;
  /** In plain words. */
  means: string;
}

// Of all limits: the table alone would say nothing of one that it lacks.
const LIMITS = table satisfies Record<Limit, Omit<LimitInfo, "group"> & { group: string }> as Record<Limit, LimitInfo>;

export function limitInfo(limit: Limit): LimitInfo {
  return LIMITS[limit];
}
