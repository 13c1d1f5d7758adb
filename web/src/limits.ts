// The name, letter, colour and meaning of each limit: the table is `limits.json`. A test of
// whyslow-report compares its names, letters and colours with those in the terminal.

import table from "./limits.json";
import type { Limit } from "./model";
import { word } from "./texts";

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

/** Its name and meaning in the page's language. */
export const limitName = (limit: Limit): string => word(LIMITS[limit].name);
export const limitMeans = (limit: Limit): string => word(LIMITS[limit].means);

/** The causes of each group: a cause has the colour of the limits that it makes. Others have none. */
const CAUSES: Partial<Record<Group, string[]>> = {
  setup: [
    "new-connection-each-time",
    "no-answer",
    "path-latency",
    "slow-lookup",
    "syn-loss",
    "tls-record-buffering",
    "turn-taking",
  ],
  program: ["application", "client-think", "host-cpu", "pacing", "proxy-split", "server-think"],
  window: ["no-window-scaling", "protocol-window", "receive-window", "sender-cap", "zero-window"],
  start: ["early-slow-start-exit", "ecn", "restart-after-idle", "slow-start"],
  ack: ["delayed-ack", "nagle-delayed-ack"],
  loss: [
    "amplification-risk",
    "loss",
    "lost-retransmission",
    "mtu-black-hole",
    "no-sack",
    "random-loss",
    "reset",
    "spurious-retransmission",
    "tail-loss",
    "timeout",
  ],
  path: ["bandwidth", "bufferbloat", "duplication", "policer", "reordering", "shaper", "small-segments"],
};
const GROUP_OF = new Map(Object.entries(CAUSES).flatMap(([group, causes]) => causes.map((cause) => [cause, group])));

/** The group whose colour a cause has. */
export const causeGroup = (cause: string): Group => (GROUP_OF.get(cause) ?? "unknown") as Group;
