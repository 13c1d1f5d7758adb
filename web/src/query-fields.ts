// The fields of a query, and networks: `field.rs` in whyslow-cli has the same for --filter.

import { hostAndPort, type Row } from "./rows";

/** A figure that can be compared; the worth of its units. */
export interface Figure {
  of: (row: Row) => number | null;
  units: Record<string, number>;
}

const SECONDS = { "": 1, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, min: 60 };
const BYTES = { "": 1, b: 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, g: 1e9, gb: 1e9 };
const COUNT = { "": 1 };

export const FIGURES: Record<string, Figure> = {
  // As ping prints it, in milliseconds.
  rtt: { of: (row) => row.rtt, units: { ...SECONDS, "": 1e-3 } },
  lost: { of: (row) => row.lost, units: SECONDS },
  duration: { of: (row) => row.duration, units: SECONDS },
  start: { of: (row) => row.start, units: SECONDS },
  end: { of: (row) => row.start + row.duration, units: SECONDS },
  up: { of: (row) => row.up, units: BYTES },
  down: { of: (row) => row.down, units: BYTES },
  bytes: { of: (row) => row.up + row.down, units: BYTES },
  retransmitted: { of: (row) => row.resent, units: COUNT },
  id: { of: (row) => row.id, units: COUNT },
};

/** An end's names and addresses, without and with the port. */
const end = (row: Row, side: 0 | 1): string[] =>
  row.hosts[side].flatMap((host) => [host.toLowerCase(), hostAndPort(host, row.ports[side]).toLowerCase()]);

export const TEXTS: Record<string, (row: Row) => string[]> = {
  client: (row) => end(row, 0),
  server: (row) => end(row, 1),
  host: (row) => [...end(row, 0), ...end(row, 1)],
  cause: (row) => row.causes,
  limit: (row) => (row.limit === null ? [] : [row.limit]),
  state: (row) => [row.state],
};

/** The names of all fields. */
export const FIELDS: string[] = [...Object.keys(FIGURES), "port", ...Object.keys(TEXTS)];

/** Reads `50`, `0.05s`, `1kB`; null if it is not a value of the figure. */
export function figureValue({ units }: Figure, text: string): number | null {
  const [, number = "", unit = ""] = /^([\d.]+)(.*)$/.exec(text) ?? [];
  const scale = Object.hasOwn(units, unit.toLowerCase()) ? units[unit.toLowerCase()] : undefined;
  if (number === "" || number === "." || Number.isNaN(Number(number)) || scale === undefined) return null;
  return Number(number) * scale;
}

/** A network: its address' bits, and how many of them count. */
export interface Network {
  bits: string;
  count: number;
}

/** The bits of an address; null if it is a name. */
function bitsOf(address: string): string | null {
  const parts = address.split(".");
  if (parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return parts.map((part) => Number(part).toString(2).padStart(8, "0")).join("");
  if (!address.includes(":") || !/^[\da-f:]+$/i.test(address)) return null;
  const halves = address.split("::");
  if (halves.length > 2) return null;
  const [before = [], after = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - before.length - after.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...before, ...new Array<string>(missing).fill("0"), ...after];
  if (groups.some((group) => !/^[\da-f]{1,4}$/i.test(group))) return null;
  return groups.map((group) => Number.parseInt(group, 16).toString(2).padStart(16, "0")).join("");
}

/** Reads `192.0.2.0/24` or an address; null if it is neither. */
export function network(text: string): Network | null {
  const [address = "", count, ...more] = text.split("/");
  const bits = bitsOf(address);
  if (bits === null || more.length > 0 || (count !== undefined && !/^\d{1,3}$/.test(count))) return null;
  const counted = count === undefined ? bits.length : Number(count);
  return counted > bits.length ? null : { bits, count: counted };
}

/** Whether a host is an address in a network. */
export function isWithin(host: string, { bits, count }: Network): boolean {
  const own = bitsOf(host);
  return own !== null && own.length === bits.length && own.slice(0, count) === bits.slice(0, count);
}
