// What a limit is called, which letter and colour stand for it (the same as in the terminal), and what it means.

export interface LimitInfo {
  name: string;
  /** The second sign beside the colour. */
  letter: string;
  /** A group of causes; `--limit-GROUP` is its colour. */
  group: "setup" | "program" | "window" | "start" | "ack" | "loss" | "path" | "unknown";
  /** In plain words. */
  means: string;
  /** The cause whose documentation explains it. */
  cause: string | null;
}

const info = (
  name: string,
  letter: string,
  group: LimitInfo["group"],
  means: string,
  cause: string | null = null,
): LimitInfo => ({ name, letter, group, means, cause });

export const LIMITS: Record<string, LimitInfo> = {
  handshake: info(
    "handshake",
    "H",
    "setup",
    "The TCP handshake: one round trip before anything can be asked.",
    "new-connection-each-time",
  ),
  "tls-handshake": info(
    "TLS",
    "T",
    "setup",
    "The TLS handshake: keys are agreed on before anything can be asked.",
    "new-connection-each-time",
  ),
  "request-wait": info(
    "wait",
    "W",
    "setup",
    "The request on its way to the server, and the answer's first byte on its way back.",
  ),
  "server-think": info(
    "server think",
    "K",
    "program",
    "The server had the whole request and had not begun to answer.",
    "server-think",
  ),
  "client-think": info(
    "client think",
    "U",
    "program",
    "The client's own program took its time before it asked.",
    "client-think",
  ),
  idle: info("idle", ".", "unknown", "Nobody waited for anything: no request was open, or all of it was there."),
  "slow-start": info(
    "slow start",
    "S",
    "start",
    "The sender was still opening its congestion window, about twofold a round trip.",
    "slow-start",
  ),
  "congestion-avoidance": info(
    "congestion avoidance",
    "C",
    "start",
    "The congestion window grew slowly, after slow start had ended.",
    "early-slow-start-exit",
  ),
  "receive-window": info(
    "receive window",
    "R",
    "window",
    "The receiver's window was full: it allowed no more bytes in flight.",
    "receive-window",
  ),
  "zero-window": info(
    "zero window",
    "Z",
    "window",
    "The receiver's window was closed: its program did not read.",
    "zero-window",
  ),
  "sender-cap": info(
    "sender cap",
    "M",
    "window",
    "The sender never had more than this in flight, though the receiver allowed more.",
    "sender-cap",
  ),
  "protocol-window": info(
    "protocol window",
    "P",
    "window",
    "A window of the application's own protocol was full.",
    "protocol-window",
  ),
  application: info("application", "A", "program", "The sending program had nothing to send.", "application"),
  pacing: info("pacing", "G", "program", "The sender spaced its segments evenly, at a rate of its own.", "pacing"),
  "nagle-delayed-ack": info(
    "Nagle + delayed ACK",
    "N",
    "ack",
    "A small segment waited for an ACK that the receiver delayed.",
    "nagle-delayed-ack",
  ),
  "ack-delay": info("ACK delay", "D", "ack", "An ACK came late, and the sender waited for it.", "delayed-ack"),
  "loss-recovery": info(
    "loss recovery",
    "L",
    "loss",
    "Lost segments were being sent again after duplicate ACKs.",
    "loss",
  ),
  timeout: info("timeout", "O", "loss", "The sender waited for its retransmission timer.", "timeout"),
  bandwidth: info("bandwidth", "B", "path", "The path carried what it could.", "bandwidth"),
  close: info("close", "E", "setup", "Waiting for the close."),
  "round-trip": info(
    "round trip",
    "I",
    "path",
    "The last bytes' way to the receiver and their ACK's way back: no setting removes it.",
  ),
  unknown: info("unknown", "?", "unknown", "The capture does not show what held the transfer."),
};

const UNKNOWN = info("unknown", "?", "unknown", "A limit that this page does not know.");

export function limitInfo(limit: string): LimitInfo {
  return LIMITS[limit] ?? UNKNOWN;
}

/** Terms on the page, in plain words. */
export const TERMS: Record<string, string> = {
  RTT: "Round-trip time: from a segment to its acknowledgement, over the whole path wherever the capture stands.",
  MSS: "Maximum segment size: the most payload bytes that one segment carries.",
  "in flight": "Bytes that were sent and not yet acknowledged, as the sender knew it when it sent.",
  window: "The receiver's window: how many bytes it allows in flight.",
  "window scale": "By how many bits the windows in the headers are shifted (RFC 7323); only the two SYNs tell.",
  SACK: "Selective acknowledgement (RFC 2018): the receiver names what arrived behind a hole.",
  timestamps: "The TCP option that lets both ends time every round trip (RFC 7323).",
  round:
    "From the first segment sent after an ACK of the round before: about one round trip (packet-timed, as BBR counts).",
  exchange:
    "A request, the server's time and the answer; or a push, which nobody asked for. What its user waited for is from the request's first byte to the answer's last.",
  transfer: "One contiguous bulk of payload in one direction, usually the answer to a request.",
  retransmitted:
    "Sent again. F: after duplicate ACKs or SACKs; T: after the timer; P: tail loss probe; S: needless, the first copy had arrived.",
  "out of order": "Arrived after later ones without having been sent again: reordered on the way.",
  "duplicate ACKs": "ACKs that repeat the last one: something arrived behind a hole (RFC 5681).",
  "zero window": "Time for which the receiver offered no byte at all.",
  confidence: "How sure the finding is, from 0 to 100 %, by what the capture can show.",
  model:
    "A packet-level TCP model that plays the transfer as it was. It promises nothing unless it comes within 15 % of the measured time.",
  goodput: "Bytes acknowledged in a time; what is sent again does not count.",
  throughput: "Bytes sent in a time, with what is sent again.",
};
