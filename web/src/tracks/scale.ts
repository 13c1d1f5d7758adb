// From figures to places, and where axes have their ticks.

export interface Scale {
  low: number;
  high: number;
  /** Where `low` is, and `high`. */
  at: [number, number];
}

export const place = (scale: Scale, value: number): number =>
  scale.at[0] + ((value - scale.low) / (scale.high - scale.low || 1)) * (scale.at[1] - scale.at[0]);

export const value = (scale: Scale, at: number): number =>
  scale.low + ((at - scale.at[0]) / (scale.at[1] - scale.at[0] || 1)) * (scale.high - scale.low);

/** Round figures in a range, about so many: 1, 2 or 5 times a power of ten apart. */
export function ticks(low: number, high: number, about: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const raw = span / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((one) => one * power >= raw) ?? 10) * power;
  const found: number[] = [];
  for (let at = Math.ceil(low / step); at * step <= high + step * 1e-9 && found.length < 100; at += 1)
    found.push(at * step);
  return found;
}

/** A time on an axis: as many digits as tell its ticks apart. */
export function tickTime(at: number, step: number): string {
  const [unit, factor] = step < 5e-3 && Math.abs(at) < 1 ? ["ms", 1e3] : ["s", 1];
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step * factor + 1e-15) + 1e-9)));
  return `${(at * factor).toFixed(digits)} ${unit}`;
}

/** The first index whose value is not below the wanted one, in a rising list. */
export function lower(list: ArrayLike<number>, wanted: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
