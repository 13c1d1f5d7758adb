// A watch has no document of its own but the causes' documentation: the rest comes as news.

import type { Content } from "../document";
import type { PackedRows } from "../rows";

/** What the server gives at first. */
export type WatchContent = Pick<Content, "schema" | "version" | "name" | "docs"> & { watch: true };

export const isOfWatch = (found: Content | WatchContent): found is WatchContent => found.watch === true;

/** As the parts of the page want it that show captures, too. */
export function asContent(found: WatchContent): Content {
  return {
    ...found,
    analysis: {
      schema: "whyslow/2",
      headline: null,
      captures: [],
      connections: [],
      findings: [],
      pairs: [],
      pairs_total: 0,
    },
    connections_total: 0,
    rows: NO_ROWS,
    causes: [],
    headline: { is_good: true, en: { sentence: "", advice: null }, zh: { sentence: "", advice: null } },
    words: NO_WORDS,
    compare: null,
    uncompared: null,
    show: null,
    unshown: null,
    comparisons: [],
    series: {},
    probe: null,
    proof: null,
    unproved: null,
  };
}

const NO_SHEET = { findings: [], verdicts: [], paths: [], problems: [], icmp: [], vantages: [], pairs: [] };
const NO_WORDS = { en: NO_SHEET, zh: NO_SHEET };

const NO_ROWS: PackedRows = {
  id: { d: [], of: 1 },
  capture: [],
  client: [],
  client_port: [],
  server: [],
  server_port: [],
  start: [],
  duration: [],
  up: [],
  down: [],
  rtt: [],
  resent: [],
  limit: [],
  stream: [],
  addresses: [],
  state: [],
  lost: [],
  rank: [],
  causes: [],
  largest: [],
  quic: [],
  repeats: [],
  spans: [],
  words: [],
};
