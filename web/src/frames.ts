// Which frame passed when: from the graphs where they are there, else from the rounds.

import type { Connection, Frame } from "./model";

/** Frames with their times, in rising order, of the connections whose graphs are known. */
const known = new Map<number, [Frame, number][]>();

export function learnFrames(connection: number, index: [Frame, number][]): void {
  known.set(connection, index);
}

/** Its place among the frames of all files: those of later files come later. */
export function number(frame: Frame): number {
  if (typeof frame === "number") return frame;
  const [file = 0, within = 0] = frame.split(":").map(Number);
  return file * 2 ** 40 + within;
}

/** Its time; between two frames that are known, in proportion. None where nothing is known. */
export function frameTime(connection: Connection, frame: Frame): number | null {
  const rounds = connection.transfers.flatMap((transfer) =>
    transfer.rounds.map((round): [Frame, number][] => [
      [round.first_frame, round.start_s],
      [round.last_frame, round.start_s + round.duration_s],
    ]),
  );
  const index = known.get(connection.id) ?? rounds.flat().sort((a, b) => number(a[0]) - number(b[0]));
  const wanted = number(frame);
  let low = 0;
  let high = index.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (number(index[middle]?.[0] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  const [after, before] = [index[low], index[low - 1]];
  if (!after || !before) return (after ?? before)?.[1] ?? null;
  const [left, right] = [number(before[0]), number(after[0])];
  if (right === wanted) return after[1];
  return before[1] + ((after[1] - before[1]) * (wanted - left)) / (right - left);
}
