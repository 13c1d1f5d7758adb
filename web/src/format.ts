// Figures with their units, as everywhere in whyslow: three digits that count, thousands separated.

import { counted, t, word } from "./texts";
import { lang } from "./words";

/** 1,234,567 */
export function thousands(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return value.toFixed(size >= 10 ? 1 : 2);
}

/** 2.31 s, 100 ms, 40.2 ms, 12.5 µs */
export function time(seconds: number): string {
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  if (size < 1e-3) return `${digits(seconds * 1e6)} µs`;
  if (size < 0.9995) return `${digits(seconds * 1e3)} ms`;
  if (size < 100) return `${seconds.toFixed(2)} s`;
  return `${thousands(seconds)} s`;
}

/** 409,600 B */
export function bytes(value: number): string {
  return `${thousands(value)} B`;
}

/** 410 kB, for axes and headlines where every byte would be noise. */
export function roundBytes(value: number): string {
  return scaled(value, "B");
}

/** 1.42 Mbit/s */
export function rate(bitsPerSecond: number | null): string {
  return bitsPerSecond === null ? t`unknown` : scaled(bitsPerSecond, "bit/s");
}

function scaled(value: number, unit: string): string {
  const steps: [number, string][] = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  for (const [step, prefix] of steps) {
    if (Math.abs(value) >= step * 0.9995) return `${digits(value / step)} ${prefix}${unit}`;
  }
  return `${digits(value)} ${unit}`;
}

/** 12 packets, 1 packet; 12 个报文 */
export function count(value: number, what: string): string {
  if (lang() === "zh") return counted(thousands(value), what);
  return `${thousands(value)} ${what}${value === 1 ? "" : "s"}`;
}

/** 22 % */
export function share(value: number): string {
  const percent = value * 100;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return `${percent >= 10 || percent === 0 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}

/** A value of an evidence in its unit. */
export function figure(value: number, unit: string): string {
  if (unit === "B") return bytes(value);
  if (unit === "s") return time(value);
  if (unit === "ms") return time(value / 1e3);
  if (unit === "bit/s") return rate(value);
  if (unit === "%") return `${digits(value)} %`;
  return `${Number.isInteger(value) ? thousands(value) : digits(value)} ${word(unit)}`.trimEnd();
}

/**
 * The name of a file that was dropped here, with every character written out that is not visible or
 * that turns the reading order round: as the program writes all names that it gives the page.
 */
export function visible(name: string): string {
  return name.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu, (character) =>
    character === "\t" ? " " : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
