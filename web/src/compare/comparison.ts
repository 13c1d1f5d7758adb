// Where a comparison comes from, and what the page reads off it. What has two members is [A, B].

import type { Content } from "../document";
import { answerOf, type QueryClient } from "../query-client";
import { t } from "../texts";
import type { WordedComparison } from "../words";
import type { ExplainedCapture, Grown } from "./model";

export type Two<T> = [T, T];
/** A connection and its transfer, from 1. */
export type Spot = Two<number>;
/** Seconds and bytes. */
export type Point = Two<number>;

export const NAMES = ["A", "B"] as const;

export const spotText = ([connection, transfer]: Spot): string => `${connection}.${transfer}`;

/** A report holds the comparison that it was made for; who is asked makes any. */
export async function comparison(
  content: Content,
  queryClient: QueryClient | null,
  [a, b]: Two<Spot>,
): Promise<WordedComparison> {
  if (queryClient) {
    const answer = await answerOf(queryClient, `compare?a=${spotText(a)}&b=${spotText(b)}`);
    return (await answer.json()) as WordedComparison;
  }
  const is = (explained: ExplainedCapture, spot: Spot) =>
    explained.connection === spot[0] && explained.transfer === spot[1];
  const held = content.comparisons.find(({ transfers }) => is(transfers[0], a) && is(transfers[1], b));
  if (!held) throw new Error(t`this report does not hold this comparison: \`whyslow view\` makes any`);
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
