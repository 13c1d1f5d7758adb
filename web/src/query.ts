// What the list is searched for: `rtt>50 cause:loss and not port 22`. The language of --filter, whose
// parser is `select/filter` in whyslow-cli; its cases.json holds both to the same answers.

import { FIELDS, FIGURES, type Figure, figureValue, isWithin, type Network, network, TEXTS } from "./query-fields";
import type { Row } from "./rows";
import { t } from "./texts";

export { FIELDS };

type Test = (row: Row) => boolean;

export interface Query {
  matches: Test;
  /** What is wrong with it, and a suggestion; null if nothing is. */
  error: string | null;
}

class WrongQuery extends Error {}

type Token = { kind: "(" | ")" | "and" | "or" | "not" | "operator" | "word"; text: string };

const MARKS: [string, Token["kind"]][] = [
  ["&&", "and"],
  ["||", "or"],
  ["==", "operator"],
  ["!=", "operator"],
  ["<=", "operator"],
  [">=", "operator"],
  ["<", "operator"],
  [">", "operator"],
  ["=", "operator"],
  ["!", "not"],
  ["(", "("],
  [")", ")"],
];
const OPERATORS: Record<string, string> = { eq: "==", ne: "!=", lt: "<", le: "<=", gt: ">", ge: ">=", "=": "==" };

function tokens(text: string): Token[] {
  const found: Token[] = [];
  for (let rest = text.trimStart(); rest !== ""; rest = rest.trimStart()) {
    const sign = MARKS.find(([sign]) => rest.startsWith(sign));
    const length = sign ? sign[0].length : (/^[\p{L}\p{N}.:/\-_%]+/u.exec(rest)?.[0].length ?? 0);
    if (length === 0) throw new WrongQuery(t`“${[...rest][0]}” is not part of a filter`);
    const part = rest.slice(0, length);
    if (sign) found.push({ kind: sign[1], text: OPERATORS[part] ?? part });
    else if (part === "and" || part === "or" || part === "not") found.push({ kind: part, text: part });
    else found.push(OPERATORS[part] ? { kind: "operator", text: OPERATORS[part] } : { kind: "word", text: part });
    rest = rest.slice(length);
  }
  return found;
}

const COMPARISONS: Record<string, (a: number, b: number) => boolean> = {
  ":": (a, b) => a === b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

type End = 0 | 1;
const BOTH: End[] = [0, 1];
const PRIMITIVES = ["host", "net", "port"];
const ENDS: Record<string, End[]> = { client: [0], src: [0], server: [1], dst: [1] };
/** Fields of Wireshark, and the ends that they are about. */
const PORTS: Record<string, End[]> = { "tcp.port": BOTH, "tcp.srcport": [0], "tcp.dstport": [1] };
const ADDRESSES: Record<string, End[]> = {
  "ip.addr": BOTH,
  "ip.src": [0],
  "ip.dst": [1],
  "ipv6.addr": BOTH,
  "ipv6.src": [0],
  "ipv6.dst": [1],
};
/** Parentheses and negations within each other. */
const DEPTH = 64;

const not =
  (test: Test): Test =>
  (row) =>
    !test(row);

class Parser {
  #next = 0;
  #depth = 0;

  constructor(private readonly all: Token[]) {}

  whole(): Test {
    const test = this.#any();
    if (this.#next < this.all.length) throw new WrongQuery(t`expected “and”, “or” or the end`);
    return test;
  }

  #peek(): Token | undefined {
    return this.all[this.#next];
  }

  #takeIf(kind: Token["kind"]): boolean {
    const isIt = this.#peek()?.kind === kind;
    if (isIt) this.#next += 1;
    return isIt;
  }

  #any(): Test {
    const parts = [this.#every()];
    while (this.#takeIf("or")) parts.push(this.#every());
    return (row) => parts.some((test) => test(row));
  }

  #every(): Test {
    const parts = [this.#negated()];
    const begins = () => ["word", "not", "("].includes(this.#peek()?.kind ?? "");
    while (this.#takeIf("and") || begins()) parts.push(this.#negated());
    return (row) => parts.every((test) => test(row));
  }

  #negated(): Test {
    this.#depth += 1;
    if (this.#depth > DEPTH) throw new WrongQuery(t`too many parentheses within each other`);
    let test: Test;
    if (this.#takeIf("not")) test = not(this.#negated());
    else if (this.#takeIf("(")) {
      test = this.#any();
      if (!this.#takeIf(")")) throw new WrongQuery(t`expected “)”`);
    } else test = this.#test();
    this.#depth -= 1;
    return test;
  }

  #test(): Test {
    const token = this.#peek();
    if (token?.kind !== "word") throw new WrongQuery(t`expected a test`);
    this.#next += 1;
    const { text } = token;
    return text.length > 1 && text.startsWith("-") ? not(this.#named(text.slice(1))) : this.#named(text);
  }

  /** The test that a word begins. */
  #named(word: string): Test {
    const colon = word.indexOf(":");
    const [name, value] = colon < 0 ? [word, ""] : [word.slice(0, colon), word.slice(colon + 1)];
    if (colon >= 0 && FIELDS.includes(name)) return fieldTest(name, ":", value);
    const isCompared = this.#peek()?.kind === "operator";
    const isPrimitive = word in ENDS || PRIMITIVES.includes(word);
    if (FIELDS.includes(word) && (isCompared || !isPrimitive)) return fieldTest(word, ...this.#compared(word));
    if (ENDS[word]) {
      const next = this.#peek();
      if (next?.kind !== "word" || !PRIMITIVES.includes(next.text))
        throw new WrongQuery(t`expected “host”, “net” or “port”`);
      this.#next += 1;
      return this.#primitive(next.text, ENDS[word]);
    }
    if (PRIMITIVES.includes(word)) return this.#primitive(word, BOTH);
    if (word === "tcp") return (row) => !row.isQuic;
    if (word === "quic") return (row) => row.isQuic;
    if (word === "tcp.stream") {
      const [operator, value] = this.#compared(word);
      const [compare, wanted] = [COMPARISONS[operator]!, whole(value, word)];
      // A connection that Wireshark does not number is not one of another number, either.
      if (operator === "!=") return (row) => row.stream !== wanted;
      return (row) => row.stream !== null && compare(row.stream, wanted);
    }
    if (PORTS[word]) return portTest(PORTS[word], ...this.#compared(word));
    if (ADDRESSES[word]) {
      const [operator, value] = this.#compared(word);
      if (operator !== "==" && operator !== "!=") throw new WrongQuery(t`addresses are compared with == or !=`);
      const test = value.includes("/") ? netTest(ADDRESSES[word], value) : hostTest(ADDRESSES[word], value);
      return operator === "!=" ? not(test) : test;
    }
    return this.#word(word, isCompared);
  }

  /** A word outside the fields is searched, unless a field or a test was meant. */
  #word(word: string, isCompared: boolean): Test {
    if (isCompared) throw unknownField(word);
    const colon = word.indexOf(":");
    if (colon >= 0 && !/^[\da-f:.%]+$/i.test(word) && !/^\d*$/.test(word.slice(colon + 1)))
      throw unknownField(word.slice(0, colon));
    const next = this.#peek();
    const hasValue = next?.kind === "word" && /^[\d.]*$/.test(next.text);
    const meant = [...(hasValue ? PRIMITIVES : []), "and", "not"].find((one) => distance(word, one) === 1);
    if (meant !== undefined) throw new WrongQuery(t`unknown test “${word}”: did you mean “${meant}”?`);
    const wanted = word.toLowerCase();
    return (row) => anything(row).some((one) => one.includes(wanted));
  }

  #compared(after: string): [string, string] {
    const operator = this.#peek();
    if (operator?.kind !== "operator") throw new WrongQuery(t`expected an operator after “${after}”`);
    this.#next += 1;
    return [operator.text, this.#value(after)];
  }

  #value(after: string): string {
    const token = this.#peek();
    if (token?.kind !== "word") throw new WrongQuery(t`expected a value after “${after}”`);
    this.#next += 1;
    return token.text;
  }

  #primitive(word: string, ends: End[]): Test {
    const value = this.#value(word);
    if (word === "port") return portTest(ends, "==", value);
    return word === "net" ? netTest(ends, value) : hostTest(ends, value);
  }
}

function whole(text: string, field: string): number {
  if (!/^\d+$/.test(text) || (field === "port" && Number(text) > 65_535)) throw notAValue(text, field);
  return Number(text);
}

const notAValue = (text: string, field: string) => new WrongQuery(t`“${text}” is not a value of ${field}`);

const portTest = (ends: End[], operator: string, value: string): Test => {
  const wanted = whole(value, "port");
  const test: Test = (row) =>
    ends.some((end) => COMPARISONS[operator === "!=" ? "==" : operator]!(row.ports[end], wanted));
  return operator === "!=" ? not(test) : test;
};

const hostTest = (ends: End[], value: string): Test => {
  const wanted = value.toLowerCase();
  const same: Network | null = network(value);
  return (row) =>
    ends.some((end) =>
      row.hosts[end].some((host) => host.toLowerCase() === wanted || (same !== null && isWithin(host, same))),
    );
};

const netTest = (ends: End[], value: string): Test => {
  const wanted = network(value);
  if (wanted === null) throw new WrongQuery(t`“${value}” is not a network: net 192.0.2.0/24`);
  return (row) => ends.some((end) => row.hosts[end].some((host) => isWithin(host, wanted)));
};

function fieldTest(name: string, operator: string, value: string): Test {
  if (value === "") throw new WrongQuery(t`expected a value after “${name}”`);
  if (name === "port") return portTest(BOTH, operator, value);
  const figure: Figure | undefined = FIGURES[name];
  if (figure) {
    const wanted = figureValue(figure, value);
    if (wanted === null) throw notAValue(value, name);
    const compare = COMPARISONS[operator === "!=" ? "==" : operator]!;
    const test: Test = (row) => {
      const found = figure.of(row);
      return found !== null && compare(found, wanted);
    };
    return operator === "!=" ? not(test) : test;
  }
  const textsOf = TEXTS[name];
  if (!textsOf) throw unknownField(name);
  const wanted = value.toLowerCase();
  if (operator === ":") return (row) => textsOf(row).some((one) => one.includes(wanted));
  const is: Test = (row) => textsOf(row).some((one) => one === wanted);
  if (operator === "==") return is;
  if (operator === "!=") return not(is);
  throw new WrongQuery(t`“${name}” is text, which has no order: ${name}:${value}`);
}

/** What a word without a field is searched in; a watch adds words of its own. */
const anything = (row: Row): string[] => [
  ...TEXTS.host!(row),
  row.state,
  ...row.causes,
  ...(row.words ? [row.words.toLowerCase()] : []),
];

function unknownField(name: string): WrongQuery {
  const near = FIELDS.map((one): [number, string] => [distance(name, one), one]).sort((a, b) => a[0] - b[0])[0]!;
  return new WrongQuery(
    near[0] < 3
      ? t`unknown field “${name}”: did you mean “${near[1]}”?`
      : t`unknown field “${name}”: ${FIELDS.join(", ")}`,
  );
}

/** Letters to insert, leave out, change or swap. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

/** The query for what ran at any moment from `from` to `to`, seconds. */
export const ranWithin = (from: number, to: number): string => `end>=${digits(from)} start<=${digits(to)}`;

/** To the microsecond, and without an exponent, which a query does not read. */
const digits = (seconds: number): string =>
  Math.max(0, seconds)
    .toFixed(6)
    .replace(/\.?0+$/, "");

export function readQuery(text: string): Query {
  if (text.trim() === "") return { matches: () => true, error: null };
  try {
    return { matches: new Parser(tokens(text)).whole(), error: null };
  } catch (error) {
    if (!(error instanceof WrongQuery)) throw error;
    return { matches: () => true, error: error.message };
  }
}
