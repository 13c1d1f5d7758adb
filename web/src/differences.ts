// Lists of figures as the program gives them: each as its difference to the one before.

/**
 * A list in units of which `of` make one; with `by`, each side has differences of its own.
 */
export interface Differences {
  d: (number | null)[];
  of: number;
  by?: 1;
}

export const isPacked = (list: unknown): list is Differences =>
  typeof list === "object" && list !== null && "d" in list;

/** The figures of a list again; `from` says which side each is of. */
export function unpack({ d, of, by }: Differences, from: number[] = []): (number | null)[] {
  const last = [0, 0];
  return d.map((difference, index) => {
    if (difference === null) return null;
    const side = by ? from[index]! : 0;
    last[side]! += difference;
    return last[side]! / of;
  });
}
