// The name, letter, colour and meaning of each limit: the table is `limits.json`. A test of
// whyslow-report compares its names, letters and colours with those in the terminal.

import table from "./limits.json";
import type { Limit } from "./model";

/** Groups of limits, each with a colour, `--GROUP` in `style/colors.css`. */
export const GROUPS = ["setup", "program", "window", "start", "ack", "loss", "path", "unknown"] as const;
export type Group = (typeof GROUPS)[number];

export interface LimitInfo {
  name: string;
  /** The second sign next to the colour. */
  letter: string;
  group: Group;
  /** In plain words. */
  means: string;
}

// Checks that the table has all limits.
const LIMITS = table satisfies Record<Limit, Omit<LimitInfo, "group"> & { group: string }> as Record<Limit, LimitInfo>;

/** How many limits of a group have patterns of their own. */
const PATTERNS = 4;

/** Which of its group a limit is: each has a pattern of its own next to the group's colour. */
const PLACES = new Map<string, number>();
const seen = new Map<string, number>();
for (const [limit, { group }] of Object.entries(LIMITS)) {
  const place = seen.get(group) ?? 0;
  seen.set(group, place + 1);
  PLACES.set(limit, place % PATTERNS);
}

/** The classes of a stretch under this limit: colour and pattern. */
export const limitClass = (limit: Limit): string => `${LIMITS[limit].group} pattern${PLACES.get(limit) ?? 0}`;

export function limitInfo(limit: Limit): LimitInfo {
  return LIMITS[limit];
}
