// What `whyslow compare` says, the contract whyslow-compare/1 (docs/schema), and where it comes from. What has two members is
// [A, B], a difference is B - A, times are seconds from the request on.

import type { Content, End } from "../model";

export type Two<T> = [T, T];
/** A connection and its transfer, from 1. */
export type Spot = [number, number];

export interface Told {
  path: string;
  connection: number;
  transfer: number;
  ends: Two<string>;
  from: End;
  label: string | null;
  near: "client" | "server" | "middle" | "unknown";
  bytes: number;
  duration_s: number;
  rate_bps: number | null;
  rtt_s: number | null;
  verdict: string;
}

export interface Times {
  seconds: Two<number>;
  difference_s: number;
}

export interface Phase extends Times {
  limit: string;
  before: boolean;
}

export interface Side {
  start_s: number;
  bytes: number;
  in_flight: number;
  growth: number | null;
  window: number | null;
  limit: string;
}

/** Seconds and bytes. */
export type Point = [number, number];

export interface Grown {
  captured: Point[];
  extrapolated: Point[];
}

export interface Lead {
  from_bytes: number;
  to_bytes: number;
  faster: 0 | 1 | null;
  by_s: number;
  at_bytes: number;
  extrapolated: boolean;
}

export interface Comparison {
  schema: "whyslow-compare/1";
  transfers: Two<Told>;
  phases: Phase[];
  total: Times;
  first_byte: { arrived_s: Two<number | null>; readable_s: Two<number | null>; first_record: Two<number | null> };
  same_size: ({ bytes: number } & Times) | null;
  rounds: Two<Side | null>[];
  rounds_total: Two<number>;
  curves: Two<Grown>;
  settings: { name: string; values: Two<string | null>; differs: boolean }[];
  reach: Two<{ rate_bps: number; kind: "steady" | "window" | "growing"; reason: string } | null>;
  leads: Lead[];
  summary: string[];
  caveats: string[];
}

export const NAMES = ["A", "B"] as const;

export const spotText = ([connection, transfer]: Spot): string => `${connection}.${transfer}`;

/** A report holds the comparison that it was made for; the local server makes any. */
export async function comparison(content: Content, local: boolean, [a, b]: Two<Spot>): Promise<Comparison> {
  if (local) {
    const answer = await fetch(`compare?a=${spotText(a)}&b=${spotText(b)}`, { cache: "no-store" });
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return (await answer.json()) as Comparison;
  }
  const is = (told: Told, spot: Spot) => told.connection === spot[0] && told.transfer === spot[1];
  const held = content.comparisons.find(({ transfers }) => is(transfers[0], a) && is(transfers[1], b));
  if (!held) throw new Error("this report does not hold this comparison: `whyslow view` makes any");
  return held;
}

/** When so many bytes are there; null where the curve does not go so far. */
export function when({ captured, extrapolated }: Grown, bytes: number): number | null {
  for (const line of [captured, extrapolated]) {
    const next = line.findIndex((point) => point[1] >= bytes);
    const [after, before] = [line[next], line[next - 1]];
    if (after && before)
      return before[0] + ((after[0] - before[0]) * (bytes - before[1])) / Math.max(1, after[1] - before[1]);
    if (after && after[1] === bytes) return after[0];
  }
  return null;
}
