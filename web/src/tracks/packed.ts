// Answers as the program gives them: lists of figures as differences.

import type { Answer } from "./series";

/**
 * A list as differences, in units of which `of` make one; with `by`, each side has differences of
 * its own.
 */
interface Differences {
  d: (number | null)[];
  of: number;
  by?: 1;
}

const isPacked = (list: unknown): list is Differences => typeof list === "object" && list !== null && "d" in list;

/** The figures of a list again. */
function unpack(list: unknown, from: number[] = []): unknown {
  if (!isPacked(list)) return list;
  const { d, of, by } = list;
  const last = [0, 0];
  return d.map((difference, index) => {
    if (difference === null) return null;
    const side = by ? from[index]! : 0;
    last[side]! += difference;
    return last[side]! / of;
  });
}

/** An answer whose lists hold figures again. */
export function unpackAnswer(packed: Answer): Answer {
  const lists = <T extends object>(of: T, from?: number[]): T =>
    Object.fromEntries(
      Object.entries(of).map(([name, list]) => [
        name,
        // Lowest and highest are two lists.
        Array.isArray(list) && list.some(isPacked) ? list.map((one) => unpack(one)) : unpack(list, from),
      ]),
    ) as T;
  return {
    ...packed,
    lanes: [lists(packed.lanes[0]), lists(packed.lanes[1])],
    points: packed.points && lists(packed.points, packed.points.from),
  };
}
