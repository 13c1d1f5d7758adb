// What the program gives the page: an envelope of the same build around the contracts of `model.ts`
// and `compare/model.ts`.

import type { Analysis } from "./model";
import type { Proof } from "./proof/model";
import type { Probe } from "./requests/model";
import type { PackedRows } from "./rows";
import { attachToAnalysis, type Lang, type WordedComparison, type WordSheet } from "./words";

/** The document that the page shows: `Content` in whyslow-serve. */
export interface Content {
  schema: "whyslow-page/1";
  version: string;
  name: string;
  /** All of it, but for the connections that lost little. */
  analysis: Analysis;
  /** Each once, though two captures tell of it. */
  connections_total: number;
  rows: PackedRows;
  causes: { cause: string; seconds: number; connections: number }[];
  /** The verdict as a sentence, and what to do. */
  headline: { is_good: boolean } & Record<Lang, { sentence: string; advice: string | null }>;
  /** The sentences of the analysis. */
  words: WordSheet;
  docs: Record<string, { title: string; html: string }>;
  /** What is set side by side at first. */
  compare: [[number, number], [number, number]] | null;
  /** Why nothing is, though it was wished for. */
  uncompared: string | null;
  /** The connection, and its transfer from 1, that is shown at first. */
  show: [number, number | null] | null;
  /** Why it is not. */
  unshown: string | null;
  /** Comparisons in a report's own file. */
  comparisons: WordedComparison[];
  series: Record<string, unknown>;
  /** What made the packets, where a probe did; without its own copy of the analysis. */
  probe: Probe | null;
  /** What came of making a transfer again; without the lab's scenario. */
  proof: Omit<Proof, "scenario"> | null;
  /** Why the proof that was given is not shown. */
  unproved: string | null;
  /** Packets that do not end are watched: what there is comes as news. */
  watch?: true;
}

/** The document with its sentences attached. */
export function worded(content: Content): Content {
  if (content.words) attachToAnalysis(content.analysis, content.words);
  return content;
}
