// The page's data on a watch: its transfers, updated by new ones.

import { hostAndPort, type Row } from "../rows";
import type { News, NewsRow, WatchState } from "./model";

/** A transfer of the list, which a query can search as it searches connections. */
export interface LiveRow extends Row {
  serial: number;
  from: NewsRow["from"];
  bytes: number;
  label: string | null;
  process: string | null;
  /** It was reported before, and went on. */
  revised: boolean;
  /** Seconds from the first packet of all. */
  end: number;
  /** For how long its user waited, seconds. */
  took: number;
}

export interface Board {
  number: number;
  /** By their numbers among all transfers. */
  rows: ReadonlyMap<number, LiveRow>;
  leftOut: number;
  state: WatchState;
}

function rowOf(news: NewsRow): LiveRow {
  const { serial, id, client, server, from, bytes, label, process, revised, causes, resent, state, limit } = news;
  return {
    serial,
    id,
    client: hostAndPort(...client),
    server: hostAndPort(...server),
    ports: [client[1], server[1]],
    hosts: [[client[0]], [server[0]]],
    limit: limit?.[0] ?? null,
    isQuic: false,
    stream: null,
    from,
    bytes,
    label,
    process,
    revised,
    start: news.start_s,
    end: news.end_s,
    took: news.took_s,
    duration: news.took_s,
    up: from === "server" ? 0 : bytes,
    down: from === "server" ? bytes : 0,
    rtt: news.rtt_ms === null ? null : news.rtt_ms / 1e3,
    resent,
    state,
    lost: news.lost_s,
    // Watched transfers have no order of their own.
    rank: 0,
    causes,
    largest: 0,
    repeats: false,
    spans: limit === null ? [] : [{ limit: limit[0], start: news.start_s, seconds: limit[1] }],
    words: [label, process].filter(Boolean).join(" "),
  };
}

/** The board with what is new. */
export function withNews(board: Board | null, news: News): Board {
  const rows = new Map(news.is_all || board === null ? [] : board.rows);
  for (const row of news.transfers) rows.set(row.serial, rowOf(row));
  for (const serial of news.removed) rows.delete(serial);
  return { number: news.number, rows, leftOut: news.left_out, state: news.state };
}

/** Transfers that one board has and another has not. */
export function added(after: Board, before: Board): Set<number> {
  return new Set([...after.rows.keys()].filter((serial) => !before.rows.has(serial)));
}
