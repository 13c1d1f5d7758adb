// The analysis as the page takes it: the contract whyslow/1 (docs/schema), and the page's own envelope. Times are seconds
// from the first packet, rates bits per second, pairs [client, server], and what is unknown is null.

import type { Comparison } from "./compare/model";

export type End = "client" | "server";
export type Pair<T> = [T, T];
/** A number, or "file:frame" with several inputs. */
export type Frame = number | string;

export interface Problem {
  slug: string;
  count: number;
  detail: string;
}

export interface Capture {
  path: string;
  format: string;
  link_types: string[];
  packets: number;
  tcp_packets: number;
  first_time: string | null;
  duration_s: number | null;
  problems: Problem[];
}

export interface Endpoint {
  address: string;
  port: number;
  name: string | null;
}

export interface LimitShare {
  limit: string;
  seconds: number;
  share: number;
}

export interface LimitSpan {
  limit: string;
  start_s: number;
  seconds: number;
}

export interface Round {
  start_s: number;
  duration_s: number;
  bytes: number;
  first_frame: Frame;
  last_frame: Frame;
  in_flight: number;
  window: number | null;
  limit: string;
}

export interface Evidence {
  frames: Frame[];
  figure: string;
  value: number;
  unit: string;
}

export interface Finding {
  cause: string;
  seconds: number;
  confidence: number;
  summary: string;
  evidence: Evidence[];
  fix: { who: string; what: string; command: string | null; verify: string | null } | null;
  predicted_s: number | null;
  /** Where the promise rests on more than the capture shows of the path. */
  predicted_assumes?: { needed_bps: number; seen_bps: number };
  connections?: number[];
  shared?: boolean;
  settle?: string;
}

export interface Transfer {
  from: End;
  bytes: number;
  start_s: number;
  duration_s: number;
  rate_bps: number | null;
  label: string | null;
  before: LimitShare[];
  first_byte_s: number | null;
  rounds: Round[];
  rounds_total: number;
  model_s: number | null;
  limits: LimitShare[];
  timeline: LimitSpan[];
  findings: Finding[];
  verdict: string;
}

export interface Direction {
  from: End;
  bytes: number;
  packets: number;
  retransmitted: { fast: number; timeout: number; tail_probe: number; spurious: number; unseen_original: number };
  out_of_order: number;
  duplicate_acks: number;
  zero_windows: number;
  zero_window_s: number;
  max_in_flight: number;
  max_window: number | null;
}

/** What one side sent in an exchange. */
export interface Message {
  from: End;
  bytes: number;
  start_s: number;
  duration_s: number;
  label: string | null;
}

/** A request and its answer, or a push. */
export interface Exchange {
  start_s: number;
  request: Message | null;
  answer: Message | null;
  client_s: number;
  idle_s: number;
  server_s: number | null;
  wait_s: number;
  /** Places in the connection's transfers. */
  transfers: number[];
}

export interface Connection {
  id: number;
  capture: number;
  client: Endpoint;
  server: Endpoint;
  start_s: number;
  duration_s: number;
  state: string;
  closed_by: End | null;
  near: "client" | "server" | "middle" | "unknown";
  near_reason: string;
  rtt_ms: { min: number | null; p50: number | null; p95: number | null; samples: number };
  handshake: {
    rtt_ms: number | null;
    mss: Pair<number | null>;
    window_scale: Pair<number | null>;
    sack: Pair<boolean | null>;
    timestamps: Pair<boolean | null>;
    retries: Pair<number>;
  } | null;
  problems: Problem[];
  directions: Direction[];
  exchanges: Exchange[];
  exchanges_total: number;
  transfers: Transfer[];
  transfers_total: number;
  findings: Finding[];
}

export interface BothEnds {
  connections: Pair<number>;
  summary: string[];
  caveats: string[];
}

export interface Analysis {
  schema: string;
  captures: Capture[];
  connections: Connection[];
  findings: Finding[];
  pairs: BothEnds[];
  pairs_total: number;
}

/** What the program gives the page: its own envelope, of the same build. */
export interface Content {
  schema: "whyslow-page/1";
  version: string;
  name: string;
  analysis: Analysis;
  connections_total: number;
  causes: { cause: string; seconds: number; connections: number }[];
  docs: Record<string, { title: string; html: string }>;
  /** What is set side by side at first. */
  compare: [[number, number], [number, number]] | null;
  /** Why nothing is, though it was wished for. */
  uncompared: string | null;
  /** Comparisons in a report's own file. */
  comparisons: Comparison[];
  series: Record<string, unknown>;
}

/** A connection's findings, its transfers' and its own. */
export function findingsOf(connection: Connection): Finding[] {
  return [...connection.transfers.flatMap((transfer) => transfer.findings), ...connection.findings];
}

/** What the client's own program takes ranks behind all that was waited for. */
const own = (cause: string) => Number(cause === "client-think");

/** The causes of a connection with the seconds that each cost, the worst first. */
export function causesOf(connection: Connection): [string, number][] {
  const sums = new Map<string, number>();
  for (const finding of findingsOf(connection)) {
    sums.set(finding.cause, (sums.get(finding.cause) ?? 0) + finding.seconds);
  }
  return [...sums].sort((a, b) => own(a[0]) - own(b[0]) || b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/** The transfer that lost most, or else the largest: the one to look at first. */
export function mainTransfer(connection: Connection): number {
  const lost = (transfer: Transfer) => transfer.findings.reduce((sum, finding) => sum + finding.seconds, 0);
  let best = 0;
  connection.transfers.forEach((transfer, index) => {
    const other = connection.transfers[best];
    if (!other) return;
    const more = lost(transfer) - lost(other);
    if (more > 0 || (more === 0 && transfer.bytes > other.bytes)) best = index;
  });
  return best;
}

/** The transfer that carried most, as the program chooses it. */
export function largestTransfer(connection: Connection): number {
  const most = Math.max(...connection.transfers.map((transfer) => transfer.bytes));
  return connection.transfers.findIndex((transfer) => transfer.bytes === most);
}

/** Its name, or its address, with its port; an IPv6 address in brackets (RFC 5952 section 6). */
export function endpoint({ name, address, port }: Endpoint): string {
  const host = name ?? address;
  // A text may show none.
  if (port === 0) return host;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** `frame 7`, `frames 3–9`, `frames 1, 4, 8`: two are a range, as everywhere. */
export function frames(list: Frame[]): string {
  const [first, last] = list;
  if (first === undefined) return "";
  if (list.length === 1 || (list.length === 2 && first === last)) return `frame ${first}`;
  if (list.length > 2) return `frames ${list.join(", ")}`;
  return `frames ${range(first, last ?? first)}`;
}

/** `18–91`, `2:18–91`, `1:900–2:14`. */
export function range(first: Frame, last: Frame): string {
  if (first === last) return String(first);
  const [a, b] = [String(first).split(":"), String(last).split(":")];
  return a.length === 2 && a[0] === b[0] ? `${first}–${b[1]}` : `${first}–${last}`;
}
