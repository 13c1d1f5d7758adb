// Sentences about the data, which the program sends next to it in both languages.

import type { Comparison } from "./compare/model";
import type { Analysis, Connection, Finding, Icmp, Pair, Problem, Transfer } from "./model";

/** The languages of the sentences. */
export type Lang = "en" | "zh";

/** The sentences of a finding. */
export interface FindingWords {
  summary: string;
  /** What each measurement measures, and its unit. */
  evidence: [string, string][];
  remedies: string[];
  verify: string | null;
  to_confirm: string | null;
}

interface PairWords {
  statements: string[];
  caveats: string[];
}

interface Sheet {
  findings: FindingWords[];
  verdicts: string[];
  paths: string[];
  problems: string[];
  icmp: string[];
  vantages: string[];
  pairs: PairWords[];
}

/** `WordSheet` in whyslow-report: sentences in the order of the data. */
export type WordSheet = Record<Lang, Sheet>;

/** `ComparisonWords` in whyslow-report. */
export type ComparisonWords = Record<Lang, { statements: string[]; caveats: string[]; verdicts: string[] }>;

type Both<T> = Record<Lang, T>;

const findings = new WeakMap<Finding, Both<FindingWords>>();
const verdicts = new WeakMap<Transfer, Both<string>>();
const paths = new WeakMap<Transfer, Both<string>>();
const problems = new WeakMap<Problem, Both<string>>();
const icmp = new WeakMap<Icmp, Both<string>>();
const vantages = new WeakMap<Connection, Both<string>>();
const pairs = new WeakMap<Pair, Both<PairWords>>();

/** Hands out the sentences of a sheet in its order. */
class Reader {
  readonly #sheet: WordSheet;
  readonly #at = { findings: 0, verdicts: 0, paths: 0, problems: 0, icmp: 0, vantages: 0, pairs: 0 };

  constructor(sheet: WordSheet) {
    this.#sheet = sheet;
  }

  next<K extends keyof Sheet>(kind: K): Both<Sheet[K][number]> {
    const at = this.#at[kind]++;
    const of = (lang: Lang) => this.#sheet[lang][kind][at] as Sheet[K][number];
    return { en: of("en"), zh: of("zh") };
  }

  finding(finding: Finding) {
    findings.set(finding, this.next("findings"));
  }

  problem(problem: Problem) {
    problems.set(problem, this.next("problems"));
  }

  connection(connection: Connection) {
    vantages.set(connection, this.next("vantages"));
    for (const error of connection.icmp ?? []) icmp.set(error, this.next("icmp"));
    for (const problem of connection.problems) this.problem(problem);
    for (const transfer of connection.transfers) {
      verdicts.set(transfer, this.next("verdicts"));
      paths.set(transfer, this.next("paths"));
      for (const finding of transfer.findings) this.finding(finding);
    }
    for (const finding of connection.findings) this.finding(finding);
  }
}

/** Attaches the sentences of an analysis to its data. */
export function attachToAnalysis(analysis: Analysis, sheet: WordSheet): void {
  const reader = new Reader(sheet);
  for (const capture of analysis.captures) for (const problem of capture.problems) reader.problem(problem);
  for (const connection of analysis.connections) reader.connection(connection);
  for (const finding of analysis.findings) reader.finding(finding);
  for (const pair of analysis.pairs ?? []) pairs.set(pair, reader.next("pairs"));
}

/** Attaches the sentences of one connection. */
export function attachToConnection(connection: Connection, sheet: WordSheet): void {
  new Reader(sheet).connection(connection);
}

/** A finding with its sentences attached. */
export function findingOf(finding: Finding, sheet: WordSheet): Finding {
  if (!findings.has(finding)) new Reader(sheet).finding(finding);
  return finding;
}

const KEY = "whyslow-lang";

let current: Lang = chosen();

function chosen(): Lang {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept === "en" || kept === "zh") return kept;
  } catch {
    // Storage may be closed to a file.
  }
  return globalThis.navigator?.language?.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** The language of the page's sentences. */
export const lang = (): Lang => current;

/** Chooses the language, and keeps the choice. */
export function setLang(next: Lang): void {
  current = next;
  document.documentElement.lang = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // It holds for this page only.
  }
  dispatchEvent(new Event("langchange"));
}

const NONE: FindingWords = { summary: "", evidence: [], remedies: [], verify: null, to_confirm: null };

/** The sentences of a finding. */
export const wordsOf = (finding: Finding): FindingWords => findings.get(finding)?.[current] ?? NONE;

/** The verdict on a transfer. */
export const verdictOf = (transfer: Transfer): string => verdicts.get(transfer)?.[current] ?? transfer.verdict;

/** What the capture shows of a transfer's path. */
export const pathOf = (transfer: Transfer): string => paths.get(transfer)?.[current] ?? "";

/** What a problem is. */
export const problemOf = (problem: Problem): string => problems.get(problem)?.[current] ?? problem.slug;

/** What an ICMP error reported. */
export const icmpOf = (error: Icmp): string => icmp.get(error)?.[current] ?? "";

/** What the capture's place rests on. */
export const vantageOf = (connection: Connection): string => vantages.get(connection)?.[current] ?? "";

/** What a comparison of both ends shows. */
export const pairOf = (pair: Pair): PairWords => pairs.get(pair)?.[current] ?? { statements: [], caveats: [] };

/** A comparison with its sentences. */
export type WordedComparison = Comparison & { words: ComparisonWords };

/** A connection with its sentences attached. */
export function connectionOf<T extends Connection>(connection: T & { words: WordSheet }): T {
  attachToConnection(connection, connection.words);
  return connection;
}
