// Made by `npm run model` from docs/schema/whyslow-prove-1.schema.json: change that.

/**
 * A captured transfer, reproduced on this machine's own TCP without and with its fixes. Times are
 * seconds; unknown values are null. Fixes are not judged if the run does not agree with the
 * capture: `fixes` is empty then.
 */
export interface Proof {
  schema: "whyslow-prove/1";
  /** As it was named. */
  capture: string;
  /** Its number in the capture. */
  connection: number;
  /**
   * The transfer's place in the connection, from 1; null where the verdict is about the connection.
   */
  transfer: number | null;
  /** The end that sends it. */
  from: "client" | "server";
  /** The transfer's payload. */
  bytes: number;
  /** How much of it was run. */
  bytes_run: number;
  /** The capture has this many times the bytes of the run; 1 is all of it. */
  factor: number;
  /** The verdict in a sentence. */
  headline: string;
  /** The path and the hosts that were built, in words. */
  built: string;
  /**
   * The scenario of the lab that came nearest to the capture (docs/lab.md); `whyslow lab run` takes
   * the same as TOML.
   */
  scenario: {
    [k: string]: unknown;
  };
  /** How many scenarios were run to find it. */
  tries: number;
  /** The run agrees with the captured transfer: no compared figure differs. */
  agrees: boolean;
  /** What was compared. */
  agreement: Agreement;
  /**
   * The cause whose run is the captured transfer, where the run with the tested cause is not: the
   * capture contradicts its explanation. Null if there is none.
   */
  behaves_like: string | null;
  /**
   * Other explanations that were run, because the tested one does not agree; the last one may
   * agree.
   */
  instead: Instead[];
  /** Upper bound of the run's time that this machine's late packets can have added. */
  noise_s: number;
  /** Each run without a fix, seconds, ascending. */
  all_again: number[];
  /** The fixes of the findings, one at a time, those that cost most first. */
  fixes: Fix[];
  /** All helpful fixes for different causes, at once; null if there are not two. */
  together: null | Fix;
  /** What people often try and the findings do not ask for. */
  often_tried: Fix[];
  /**
   * Bytes that had been acknowledged by what time: captured, again, and fixed where a fix helps
   * (all that help together, else the first).
   */
  curves: Curve[];
}
export interface Agreement {
  /** Nothing differs. */
  agrees: boolean;
  /** What differs, in words. */
  differs: string[];
  /** Time in the capture of the part that was run. */
  captured_s: number;
  /** The run; the median where there were several. */
  again_s: number;
  /** Upper bound of the run's time that this machine's late packets can have added. */
  noise_s: number;
  /** The cause that cost most in the capture; null where none cost a tenth of the time. */
  captured_cause: string | null;
  /** The same of the run. */
  again_cause: string | null;
  /** How sure that is. */
  again_confidence: number | null;
  /** Rounds with about the same bytes and time, within 20 %. */
  rounds_alike: number;
  /** Rounds that were compared. */
  rounds: number;
  /** The part of the time that is under other limits. */
  limits_apart: number;
  /** Typical bytes in flight in the capture, as seen where it was made. */
  captured_flight: number;
  /** The same in the run. */
  again_flight: number;
  /** What the transfer's sender retransmitted in the capture. */
  captured_retransmitted: Kinds;
  /** The same in the run. */
  again_retransmitted: Kinds;
}
/** Segments by kind. */
export interface Kinds {
  /** After duplicate ACKs or SACKs. */
  fast: number;
  /** After the retransmission timer. */
  timeout: number;
  /** Tail loss probes. */
  tail_probe: number;
  /** Needless. */
  spurious: number;
}
/** Another explanation, and how its run compares with the capture. */
export interface Instead {
  /** The cause that was supposed. */
  cause: string;
  agreement: Agreement;
}
export interface Fix {
  /** The cause that it fixes; null for a popular change, and for several together. */
  cause: string | null;
  /** In a few words. */
  what: string;
  /** As the finding prints it. */
  command: string | null;
  /** Where the command was run. */
  host: "client" | "server" | null;
  /** What was changed in the scenario instead of a command. */
  key:
    | "bbr"
    | "no-delay"
    | "server-at-once"
    | "client-at-once"
    | "ready"
    | "reads-at-once"
    | "no-grants"
    | "pipelined"
    | "unpaced"
    | "lossless"
    | "codel"
    | "icmp"
    | null;
  /** The finding's promise for the part that was run; null if it promises nothing. */
  predicted: number | null;
  /** With the fix; null where it was not run. */
  measured: number | null;
  /** Each run, ascending. */
  all_measured: number[];
  /** Quicker (at most 0.93 of the time), as slow, slower, or not run. */
  verdict: "helps" | "no-help" | "harms" | "not-run";
  /** Why it was not run. */
  why_not: string | null;
}
export interface Curve {
  /** What it is of. */
  of: "captured" | "again" | "fixed";
  /** The fix, in a few words; null for the others. */
  what: string | null;
  /**
   * Seconds since the compared time began, and bytes; both rise, and the acknowledged bytes stay
   * the same until the next point. At most 500 points: the last of each equal part of the time.
   * Empty if the beginning was not recorded.
   */
  points: [number, number][];
}
