// The messages from the server to the page of a watch: `live` in whyslow-serve.

import type { Connection, End, Finding, Limit, Problem } from "../model";
import type { WordSheet } from "../words";

/** What transfers of a cause, or of a server, lost. */
export interface Loss {
  name: string;
  seconds: number;
  transfers: number;
}

/** What cost most, most first. */
export interface LossTables {
  causes: Loss[];
  servers: Loss[];
}

/** How the watch stands: all of it that is no transfer. */
export interface WatchState {
  is_over: boolean;
  /** Why it broke off. */
  failure: string | null;
  /** When the first packet came; none before it. */
  first_time: string | null;
  /** From the first packet to now, seconds. */
  elapsed_s: number;
  packets: number;
  bytes: number;
  connections: number;
  dropped_by_ring: number;
  dropped_by_interface: number;
  cut_packets: number;
  transfers: number;
  transfers_with_cause: number;
  transfers_not_listed: number;
  /** A second, of late. */
  rates: { packets: number; bits: number; transfers: number };
  minute: LossTables;
  total: LossTables;
  together: { time: string; finding: Finding; words: WordSheet }[];
  notes: string[];
  problems: Problem[];
}

/** A transfer as a line of the list. */
export interface NewsRow {
  /** Its number among all transfers. */
  serial: number;
  /** Its connection's. */
  id: number;
  client: [string, number];
  server: [string, number];
  /** Who sends; none where it is about the connection as a whole. */
  from: End | null;
  bytes: number;
  label: string | null;
  process: string | null;
  revised: boolean;
  start_s: number;
  end_s: number;
  took_s: number;
  lost_s: number;
  causes: string[];
  limit: [Limit, number] | null;
  rtt_ms: number | null;
  resent: number;
  state: string;
}

/** What is new since the number that the page knew. */
export interface News {
  number: number;
  /** What the page has is replaced. */
  is_all: boolean;
  transfers: NewsRow[];
  removed: number[];
  /** Transfers that are held no more, since the start. */
  left_out: number;
  state: WatchState;
}

/** A connection that was opened. */
export interface Opened {
  connection: Connection;
  /** Its sentences. */
  words: WordSheet;
  /** Of each transfer, its number among all. */
  serials: number[];
  /** Packets that are held; none where there can be no graphs. */
  packets: number | null;
  /** Packets between the handshake and those that are held. */
  missing: number;
}
