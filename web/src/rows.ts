// A line of every connection, for the list and the picture in time: all of a connection is in the
// document only for those that lost most.

import { type Differences, unpack } from "./differences";
import type { Content } from "./document";
import type { Limit } from "./model";

/** Lists, one figure of all connections each: `Rows` in whyslow-serve. */
export interface PackedRows {
  id: Differences;
  capture: number[];
  client: number[];
  client_port: number[];
  server: number[];
  server_port: number[];
  start: number[];
  duration: number[];
  up: number[];
  down: number[];
  rtt: (number | null)[];
  resent: number[];
  /** Places in `words` of the limits that held the connections longest. */
  limit: (number | null)[];
  /** Numbers in Wireshark. */
  stream: (number | null)[];
  /** Of ends with a name: the connection's place, 0 or 1 for client or server, the address' place. */
  addresses: [number, 0 | 1, number][];
  state: string[];
  lost: number[];
  rank: number[];
  causes: number[][];
  largest: number[];
  /** Places of the connections of QUIC. */
  quic: number[];
  repeats: (0 | 1)[];
  spans: [number, number, number][][];
  words: string[];
}

/** A stretch of time under one limit, seconds from the first packet. */
export interface Span {
  limit: Limit;
  start: number;
  seconds: number;
}

export interface Row {
  id: number;
  /** `host:port`; a server of QUIC is marked so. */
  client: string;
  server: string;
  ports: [number, number];
  /** Names and addresses of client and server. */
  hosts: [string[], string[]];
  /** Seconds from the first packet. */
  start: number;
  duration: number;
  /** Bytes from the client, and from the server. */
  up: number;
  down: number;
  /** The median, seconds. */
  rtt: number | null;
  /** Segments. */
  resent: number;
  /** The limit that held it longest. */
  limit: Limit | null;
  isQuic: boolean;
  /** Its number in Wireshark. */
  stream: number | null;
  state: string;
  /** Seconds, over all findings. */
  lost: number;
  /** The place in the terminal's list, the worst first. */
  rank: number;
  /** The costliest first. */
  causes: string[];
  /** The transfer that carried most, from 1; 0 where there is none. */
  largest: number;
  /** Another capture tells of it too, and better. */
  repeats: boolean;
  spans: Span[];
  /** What else a query finds. */
  words?: string;
}

const known = new WeakMap<Content, Row[]>();

/** All connections, in the order of their first packets. */
export function rowsOf(content: Content): Row[] {
  const found = known.get(content) ?? unpackRows(content.rows);
  known.set(content, found);
  return found;
}

/** As `endpoint` writes an end. */
export function hostAndPort(host: string, port: number): string {
  if (port === 0) return host;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function unpackRows(packed: PackedRows): Row[] {
  const word = (at: number) => packed.words[at] ?? "";
  const quic = new Set(packed.quic);
  const addresses = new Map(packed.addresses.map(([at, side, place]) => [2 * at + side, word(place)]));
  const hosts = (at: number, side: 0 | 1, name: string): string[] => {
    const address = addresses.get(2 * at + side);
    return address === undefined ? [name] : [name, address];
  };
  return unpack(packed.id).map((id, at) => {
    const [clientPort, serverPort] = [packed.client_port[at] ?? 0, packed.server_port[at] ?? 0];
    const start = packed.start[at] ?? 0;
    const rtt = packed.rtt[at] ?? null;
    return {
      id: id ?? 0,
      client: hostAndPort(word(packed.client[at]!), clientPort),
      server: (quic.has(at) ? "QUIC " : "") + hostAndPort(word(packed.server[at]!), serverPort),
      ports: [clientPort, serverPort],
      hosts: [hosts(at, 0, word(packed.client[at]!)), hosts(at, 1, word(packed.server[at]!))],
      start,
      duration: packed.duration[at] ?? 0,
      up: packed.up[at] ?? 0,
      down: packed.down[at] ?? 0,
      rtt: rtt === null ? null : rtt / 1e3,
      resent: packed.resent[at] ?? 0,
      limit: packed.limit[at] == null ? null : (word(packed.limit[at]) as Limit),
      isQuic: quic.has(at),
      stream: packed.stream[at] ?? null,
      state: packed.state[at] ?? "",
      lost: packed.lost[at] ?? 0,
      rank: packed.rank[at] ?? 0,
      causes: (packed.causes[at] ?? []).map(word),
      largest: packed.largest[at] ?? 0,
      repeats: packed.repeats[at] === 1,
      spans: (packed.spans[at] ?? []).map(([limit, from, length]) => ({
        limit: word(limit) as Limit,
        start: start + from / 1e6,
        seconds: length / 1e6,
      })),
    };
  });
}
