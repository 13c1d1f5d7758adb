// Made by `npm run model` from docs/schema/whyslow-compare-2.schema.json: change that.

/** What held a transfer back: see whyslow-2.schema.json. */
export type Limit =
  | "handshake"
  | "tls-handshake"
  | "request-wait"
  | "server-think"
  | "client-think"
  | "idle"
  | "slow-start"
  | "congestion-avoidance"
  | "receive-window"
  | "zero-window"
  | "sender-cap"
  | "protocol-window"
  | "application"
  | "pacing"
  | "nagle-delayed-ack"
  | "ack-delay"
  | "loss-recovery"
  | "timeout"
  | "bandwidth"
  | "round-trip"
  | "unknown";
export type Line = [number, number][];

/**
 * Two transfers side by side. What has two members is [A, B], a difference is B - A; both are set
 * to one zero, the request.
 */
export interface Comparison {
  schema: "whyslow-compare/2";
  /** The transfers. */
  transfers: [ExplainedCapture, ExplainedCapture];
  /**
   * Where the time went: what came before the first byte, then the limits, those that differ most
   * first. Their seconds sum to those of `total`.
   */
  phases: Phase[];
  total: Times;
  first_byte: FirstByte;
  same_size: SameSize | null;
  /** The rounds, the first 64 of each. */
  rounds: [Side | null, Side | null][];
  /** How many there were. */
  rounds_total: [number, number];
  /** What was agreed, and how each began. */
  settings: Setting[];
  /** The rate that each would come to if it went on. */
  reach: [Reach | null, Reach | null];
  /** How many bytes the receiver had by when, from the request on. */
  curves: [Grown, Grown];
  /** Which is faster at what size, from one byte on, without gaps. */
  leads: Lead[];
  /** What follows. Items: A result of the comparison. */
  statements: {
    /** Which one. Later versions may add names. */
    kind: string;
    [k: string]: unknown;
  }[];
  /** What limits the comparison. Items: A limit of the comparison. */
  caveats: {
    /** Which one. Later versions may add names. */
    kind: string;
    [k: string]: unknown;
  }[];
}
/** One of the two transfers. */
export interface ExplainedCapture {
  /** The capture, as it was named. */
  path: string;
  /** Id of its connection. */
  connection: number;
  /** Its place among the connection's transfers, from 1 on. */
  transfer: number;
  /** Client and server, with ports. */
  ends: [string, string];
  /** The end that sends. */
  from: "client" | "server";
  /** Its content, if the payload shows it. */
  label: string | null;
  /** Where the capture stands. */
  near: "client" | "server" | "middle" | "unknown";
  /** Payload. */
  bytes: number;
  /** First byte sent to the ACK of the last. */
  duration_s: number;
  /** Payload over that, bits per second. */
  rate_bps: number | null;
  /** The minimum RTT of the connection. */
  rtt_s: number | null;
  /** The verdict of its findings. */
  verdict: string;
  /**
   * Its costliest finding, as in whyslow/2 (whyslow-2.schema.json). Left out where there is none.
   */
  finding?: {
    /** The cause's name. */
    cause: string;
    /** What it cost, seconds. */
    cost_s: number;
    /** 0–1. */
    confidence: number;
    [k: string]: unknown;
  };
}
/** Time under one limit. */
export interface Phase {
  limit: Limit;
  /** It is what went before the first byte. */
  before: boolean;
  /** What each took, seconds. */
  seconds: [number, number];
  /** The second's less the first's. */
  difference_s: number;
}
/** Time of both, and by how much the second is longer. */
export interface Times {
  /** What each took, seconds. */
  seconds: [number, number];
  /** The second's less the first's. */
  difference_s: number;
}
/** Until the first byte of the payload. */
export interface FirstByte {
  /** Until it was there, from the request on, seconds. Null where the transfer answers none. */
  arrived_s: [number | null, number | null];
  /** Until the receiving program could read it: a TLS record is readable when it is whole. */
  readable_s: [number | null, number | null];
  /** The TLS record with which it began, bytes. */
  first_record: [number | null, number | null];
}
/** How long each took for as many bytes as both carried, from the request on. */
export interface SameSize {
  /** Payload. */
  bytes: number;
  /** What each took, seconds. */
  seconds: [number, number];
  /** The second's less the first's. */
  difference_s: number;
}
/** One transfer's side of a round. */
export interface Side {
  /** When its first byte was there, from the request on, seconds. */
  start_s: number;
  /** New payload. */
  bytes: number;
  /** Most bytes in flight during it. */
  in_flight: number;
  /** in_flight over that of the round before. Null for the first. */
  growth: number | null;
  /** The largest window that the sender had, bytes. */
  window: number | null;
  limit: Limit;
}
/** A property of both. */
export interface Setting {
  /**
   * round-trip, mss, window-scale, sack, timestamps, first-flight, initial-window, first-window,
   * first-record, largest-record.
   */
  name: string;
  /** In plain words. Null where it is not known. */
  values: [string | null, string | null];
  /** They are known and not the same. */
  differs: boolean;
}
/** What a transfer would come to if it went on. */
export interface Reach {
  /** Bits per second. */
  rate_bps: number;
  /**
   * steady: it had stopped growing, and this is the rate of its later half; window: it was still
   * growing, and the receiver's largest window would stop it; growing: no limit is visible in the
   * capture, so this or more.
   */
  kind: "steady" | "window" | "growing";
  /** Bytes of a round: of the last full one if it was growing, else on average. */
  flight: number;
  /** The length of a round, seconds. */
  round_s: number;
  /** The largest window that the receiver offered, bytes; null if it would not stop the growth. */
  window: number | null;
}
/** Lines through [seconds, bytes], both rising. */
export interface Grown {
  /** As captured. */
  captured: Line;
  /** The expected times beyond that; empty if unknown. */
  extrapolated: Line;
}
/** A range of sizes in which one is faster. */
export interface Lead {
  /** From this size on. */
  from_bytes: number;
  /** Up to this size. */
  to_bytes: number;
  /** 0: the first, 1: the second. Null where they are level. */
  faster: 0 | 1 | null;
  /** The most that it is ahead by, seconds. */
  by_s: number;
  /** At this size. */
  at_bytes: number;
  /**
   * What lies beyond the size of the smaller transfer is extrapolated, and the range goes there.
   */
  extrapolated: boolean;
}
