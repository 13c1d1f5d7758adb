// Graphs of a connection as the program gives them, and where they come from.
//
// An answer describes a time range in columns with their extremes and every kind of mark in them,
// and single segments if they are few. The same answer is drawn at any zoom, until a finer one
// arrives.

import type { Content } from "../document";
import type { End, Frame } from "../model";
import type { QueryClient } from "../query-client";
import { Embedded } from "./embedded";
import { unpackAnswer } from "./packed";

/** Lowest and highest of a figure in each column; null where it has none. */
export type Extremes = [(number | null)[], (number | null)[]];

/**
 * One side's data, and what the other side's ACKs said of it, by columns in which anything passed.
 */
export interface Lane {
  t: number[];
  packets: number[];
  bytes: number[];
  acked: number[];
  seq: Extremes;
  ack: Extremes;
  edge: Extremes;
  fly: Extremes;
  win: Extremes;
  rtt: Extremes;
}

/** Segments, one an index. */
export interface Points {
  t: number[];
  frame: Frame[];
  /** 0: the client sent it. */
  from: number[];
  flags: number[];
  len: number[];
  seq: (number | null)[];
  ack: (number | null)[];
  win: (number | null)[];
  /**
   * A letter each: `-` no data, `N` new, `F` `T` `P` `S` retransmitted, `O` out of order, `W` window
   * probe, `K` keep-alive.
   */
  kind: string;
  fly: (number | null)[];
  /** Seconds. */
  rtt: (number | null)[];
  /** Indices of duplicate ACKs, and of segments with a congestion mark. */
  dup: number[];
  ce: number[];
  /** Indices of ACKs that report a duplicate (RFC 2883). */
  dsack: number[];
  /** Index of the ACK, from, to. */
  sack: [number, number, number][];
}

/**
 * Kind, whose data (0: the client's), how many, the first one's time and frame, from and to which
 * sequence number.
 */
export type Mark = [string, number, number, number, Frame, number, number];

export interface Answer {
  /** The time that the whole series tells of. */
  range: [number, number];
  from: number;
  to: number;
  /** Seconds that a column stands for. */
  width: number;
  /** Whether a narrower range shows nothing more. */
  exact: boolean;
  packets: number;
  scale_known: [boolean, boolean];
  /** Initial sequence numbers, where they are known. */
  base: [number | null, number | null];
  lanes: [Lane, Lane];
  marks: Mark[];
  points: Points | null;
  /** Frames with their times; with the whole range alone. */
  index: [Frame, number][];
  /** The range that was asked for, where it is a closer look. */
  asked?: [number, number];
}

export const FLAGS: [number, string][] = [
  [0x02, "SYN"],
  [0x01, "FIN"],
  [0x04, "RST"],
  [0x08, "PSH"],
  [0x10, "ACK"],
  [0x20, "URG"],
  [0x40, "ECE"],
  [0x80, "CWR"],
];

export const flagNames = (flags: number): string =>
  FLAGS.filter(([bit]) => flags & bit)
    .map(([, name]) => name)
    .join(" ") || "none";

export const laneOf = (end: End): 0 | 1 => (end === "client" ? 0 : 1);

/** Why there are no graphs. */
export class NoSeries extends Error {}

/** Gives the graphs of connections: from who is asked, or from the report's own file. */
export interface Source {
  get(connection: number, range: [number, number] | null, columns: number): Promise<Answer>;
}

export function source(content: Content, queryClient: QueryClient | null): Source {
  return queryClient ? new Asked(queryClient) : new Embedded(content);
}

class Asked implements Source {
  readonly #queryClient: QueryClient;

  constructor(queryClient: QueryClient) {
    this.#queryClient = queryClient;
  }

  async get(connection: number, range: [number, number] | null, columns: number): Promise<Answer> {
    const span = range ? `&from=${range[0]}&to=${range[1]}` : "";
    const answer = await this.#queryClient.ask(`series?c=${connection}&columns=${columns}${span}`);
    if (!answer.ok) throw new NoSeries((await answer.text()).trim());
    return unpackAnswer((await answer.json()) as Answer);
  }
}
