// Answers as the program gives them, whose lists are differences.

import { isPacked, unpack } from "../differences";
import type { Answer } from "./series";

const figures = (list: unknown, from?: number[]): unknown => (isPacked(list) ? unpack(list, from) : list);

/** An answer whose lists hold figures again. */
export function unpackAnswer(packed: Answer): Answer {
  const lists = <T extends object>(of: T, from?: number[]): T =>
    Object.fromEntries(
      Object.entries(of).map(([name, list]) => [
        name,
        // The lowest and the highest values are two separate lists.
        Array.isArray(list) && list.some(isPacked) ? list.map((one) => figures(one)) : figures(list, from),
      ]),
    ) as T;
  return {
    ...packed,
    lanes: [lists(packed.lanes[0]), lists(packed.lanes[1])],
    points: packed.points && lists(packed.points, packed.points.from),
  };
}
