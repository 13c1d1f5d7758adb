// Which frame passed when: from the graphs where they are there, else from the rounds.

import type { Connection, Frame } from "./model";

/** Frames with their times, in rising order, of the connections whose graphs are known. */
const known = new Map<number, [number, number][]>();

export function learnFrames(connection: number, index: [number, number][]): void {
  known.set(connection, index);
}

/** The frame's number in its own capture. */
export const number = (frame: Frame): number => (typeof frame === "number" ? frame : Number(frame.split(":")[1] ?? frame));

/** Its time; between two frames that are known, in proportion. None where nothing is known. */
export function frameTime(connection: Connection, frame: Frame): number | null {
  const rounds = connection.transfers.flatMap((transfer) =>
    transfer.rounds.map((round): [number, number][] => [
      [number(round.first_frame), round.start_s],
      [number(round.last_frame), round.start_s + round.duration_s],
    ]),
  );
  const index = known.get(connection.id) ?? rounds.flat().sort((a, b) => a[0] - b[0]);
  const wanted = number(frame);
  let low = 0;
  let high = index.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((index[middle]?.[0] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  const [after, before] = [index[low], index[low - 1]];
  if (!after || !before) return (after ?? before)?.[1] ?? null;
  if (after[0] === wanted) return after[1];
  return before[1] + ((after[1] - before[1]) * (wanted - before[0])) / (after[0] - before[0]);
}
