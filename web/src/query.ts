// What the list is searched for: `rtt>50 cause:loss server:example 443 -state:open`. All terms must
// hold; a term without a field is sought in the names, the causes and the state.

import { limitInfo } from "./limits";
import { mainLimit, type Row } from "./rows";
import { t } from "./texts";

type Test = (row: Row) => boolean;

/** A figure that can be compared; what it is when no unit is given, and what its units are worth. */
interface Figure {
  of: (row: Row) => number | null;
  units: Record<string, number>;
}

const SECONDS = { "": 1, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, min: 60 };
const BYTES = { "": 1, b: 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, g: 1e9, gb: 1e9 };
const COUNT = { "": 1 };

const FIGURES: Record<string, Figure> = {
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

const limitText = (row: Row): string => {
  const limit = mainLimit(row);
  return limit === null ? "" : `${limit} ${limitInfo(limit)?.name ?? ""}`;
};

const TEXTS: Record<string, (row: Row) => string> = {
  client: (row) => row.client,
  server: (row) => row.server,
  host: (row) => `${row.client} ${row.server}`,
  port: (row) => row.ports.map((port) => ` ${port} `).join(""),
  cause: (row) => row.causes.join(" "),
  limit: limitText,
  state: (row) => row.state,
};

const anything = (row: Row): string => [row.client, row.server, row.state, row.words, ...row.causes].join(" ");

/** The fields that a query knows. */
export const FIELDS: string[] = [...Object.keys(FIGURES), ...Object.keys(TEXTS)];

const WAYS: Record<string, (a: number, b: number) => boolean> = {
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  "=": (a, b) => a === b,
  ":": (a, b) => a === b,
};

/** The query for what ran at any moment from `from` to `to`, seconds. */
export const ranWithin = (from: number, to: number): string => `end>=${digits(from)} start<=${digits(to)}`;

/** To the microsecond, and without an exponent, which a query does not read. */
const digits = (seconds: number): string =>
  Math.max(0, seconds)
    .toFixed(6)
    .replace(/\.?0+$/, "");

export interface Query {
  matches: Test;
  /** What of it makes no sense; null where all does. */
  error: string | null;
}

export function readQuery(text: string): Query {
  let error: string | null = null;
  const tests: Test[] = [];
  for (const term of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const isNot = term.length > 1 && term.startsWith("-");
    const test = readTerm(isNot ? term.slice(1) : term);
    if (typeof test === "string") error ??= test;
    else tests.push(isNot ? (row) => !test(row) : test);
  }
  return { matches: (row) => tests.every((test) => test(row)), error };
}

/** A test, or what is wrong with the term. */
function readTerm(term: string): Test | string {
  const [, field = "", way = "", wanted = ""] = /^([a-z]+)(>=|<=|[<>=:])(.*)$/.exec(term) ?? [];
  const figure = FIGURES[field];
  if (figure) {
    const [, number = "", unit = ""] = /^([\d.]+)([a-zµ]*)$/.exec(wanted) ?? [];
    const scale = figure.units[unit];
    if (wanted === "") return () => true;
    if (number === "" || Number.isNaN(Number(number)) || scale === undefined)
      return t`“${wanted}” is not a value of ${field}`;
    const compare = WAYS[way]!;
    return (row) => {
      const value = figure.of(row);
      return value !== null && compare(value, Number(number) * scale);
    };
  }
  const textOf = TEXTS[field];
  if (textOf && (way === ":" || way === "=")) {
    const sought = field === "port" ? ` ${wanted} ` : wanted;
    return (row) => wanted === "" || textOf(row).toLowerCase().includes(sought);
  }
  if (textOf) return t`${field} is text: ${field}:${wanted || "…"}`;
  // An address has a colon too: `localhost:443`, `fe80:…`.
  const isAddress = way === ":" && (/^\d*$/.test(wanted) || /^[\da-f:.%]+$/.test(term));
  if (field !== "" && !isAddress) return t`unknown field “${field}”: ${FIELDS.join(", ")}`;
  return (row) => anything(row).toLowerCase().includes(term);
}
