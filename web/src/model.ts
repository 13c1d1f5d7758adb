// Made by `npm run model` from docs/schema/whyslow-2.schema.json: change that.

/** The public name of a cause; `whyslow causes SLUG` explains it. Later versions may add names. */
export type Cause = string;
/** Which end of a connection: the one that opened it, or the other. */
export type End = "client" | "server";
/**
 * A frame number, 1-based as in Wireshark; with several captures `"capture:frame"`, where `capture`
 * is the 1-based place in `captures`.
 */
export type Frame = number | string;
/**
 * The side that is waited for. `network`: the path between the two: distance, capacity, losses.
 * `nobody`: no side has anything to send. `unknown`: the capture does not show it.
 */
export type Party = "client" | "server" | "network" | "nobody" | "unknown";
/**
 * What held a transfer back at one instant. Limits partition its time. `whyslow causes` explains
 * them.
 */
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

/** Everything that was found: what `--json` prints. */
export interface Analysis {
  /** The version of this contract. */
  schema: "whyslow/2";
  /** The costliest cause; null where nothing was slow. */
  headline: Headline | null;
  conclusion?: Conclusion;
  /**
   * The inputs were not read to their end, because the reading was stopped (Ctrl-C), or `lab exec`
   * was stopped while they were captured; the problem `partial` of a capture has the reached place.
   * Left out if all was read.
   */
  partial?: true;
  /** The inputs, in the order in which they were read. */
  captures: Capture[];
  /** Connections, in the order of their first packets. */
  connections: Connection[];
  /** Findings that span connections, ordered by seconds lost. */
  findings: Finding[];
  /**
   * Connections that two of the captures hold, compared packet by packet, those that carried most
   * first.
   */
  pairs?: Pair[];
  /** How many such connections there are, those that could not be compared among them. */
  pairs_total?: number;
  /**
   * The answers of a kernel's account (`ss -ti`) to the findings, if it was given next to the
   * captures; the findings are the captures' own. Left out otherwise.
   */
  answers?: Answer[];
  /**
   * What follows from the output of other tools that was given next to the captures:
   * `whyslow-evidence/2`. Left out otherwise.
   */
  evidence?: {
    [k: string]: unknown;
  };
}
/** The cause that cost most over all connections. */
export interface Headline {
  cause: Cause;
  /** Time that it cost, over all connections; simultaneous costs count once. */
  cost_s: number;
  /** 0–1: the measured share of right findings with this confidence (docs/accuracy.md). */
  confidence: number;
  /** Ids of the connections that it slowed, the worst first. */
  connections: number[];
  /** What to do; null where nothing can be done. */
  remedy: Remedy | null;
}
/** One fix. Its commands and its predicted time belong to it alone. */
export interface Remedy {
  /** What is changed. Later versions may add names. */
  kind: string;
  /** The quantities of that change. Left out where it has none. */
  parameters?: {
    [k: string]: unknown;
  };
  /**
   * The party to act: the end that sends the payload, the one that receives it, the operator of the
   * network, the application at one of the ends, or the person who captures.
   */
  actor: "sender" | "receiver" | "network" | "application" | "capture";
  /**
   * The command that makes the change, by platform. A platform without a command, or without such a
   * setting, is left out.
   */
  commands: {
    /** For a shell on Linux, to be pasted whole. */
    linux?: string;
    /** For PowerShell. */
    windows?: string;
    /** For a shell on macOS. */
    macos?: string;
    /** For a shell on FreeBSD. */
    freebsd?: string;
  };
  /**
   * The time after this remedy, seconds. For a finding over a transfer: the transfer's, by the
   * model; for one over a connection, the connection's; for one that spans connections, theirs
   * together. Null if it is not known: the model was not run, does not come within 15 % of the
   * transfer as it was, or knows no change that would save 2 %.
   */
  predicted_s: number | null;
  /**
   * The time after this remedy lies between these in nine of ten cases, seconds. The range comes
   * from the model's error in measured fixes, and from the time that it does not explain of the
   * transfer as it was. Left out if no model gave the time.
   */
  predicted_range_s?: [number, number];
  /**
   * Given if predicted_s needs more of the path than the transfer shows, and the path's capacity is
   * unknown (no queue, no burst, no --path-rate): the rate that the path must exceed, and the
   * observed rate. Absent if the promise rests only on the capture, or on a given rate of the path.
   */
  predicted_assumes?: {
    /** The mean rate of the promise. Bits per second of payload. */
    needed_bps: number;
    /**
     * The most that was delivered within a round trip, or the mean rate. Bits per second of
     * payload.
     */
    seen_bps: number;
  };
  /**
   * The platform of the host that acts, by its connection's `stacks`. Left out if it is unknown:
   * then the command for Linux is printed.
   */
  platform?: "linux" | "windows" | "macos" | "freebsd";
  /**
   * The program at the end that acts, by its connection's `products`, and the line of its
   * configuration, or of code, that makes the change. Left out if the program is unknown or has
   * none.
   */
  product?: {
    name: string;
    line: string;
  };
}
/** Whether anything was slow. */
export interface Conclusion {
  /**
   * slow: a cause cost at least the threshold and a tenth of the waiting time; healthy: no cause
   * did; unknown: the captures do not show it.
   */
  status: "slow" | "healthy" | "unknown";
  /** Least cost that is called slow (`--threshold`). */
  threshold_s: number;
  /** Packets of a text that could not be read, if they are half of it or more; else null. */
  unread: {
    packets: number;
    of: number;
  } | null;
}
/** One input. */
export interface Capture {
  /** As it was named; `-` is standard input. */
  path: string;
  /**
   * `pcap`, `pcapng`, `tcpdump text` or `qlog`; `unread` of a capture that could not be read,
   * `condensed` of a torn condensed one.
   */
  format: string;
  /** Names of the link types in it. */
  link_types: string[];
  /** All packets. */
  packets: number;
  /** Those that gave a TCP segment. */
  tcp_packets: number;
  /**
   * When the first packet was captured: ISO 8601, UTC, nanoseconds. Null when the capture has no
   * date.
   */
  first_time: string | null;
  /** From the first packet to the last, seconds. Null when the capture has no times. */
  duration_s: number | null;
  /** What was skipped, cut or odd. */
  problems: Problem[];
}
/** A property of a capture that limits the conclusions. */
export interface Problem {
  /** Its name, as `no-handshake`. */
  slug: string;
  /** How often. */
  count: number;
  /** What it is, with its quantities. */
  detail: {
    /** Which one. Later versions may add names. */
    kind: string;
    [k: string]: unknown;
  };
}
/** One connection. */
export interface Connection {
  /** 1-based, in the order of first packets. */
  id: number;
  /** 0-based place in `captures` of the (first) capture that holds it. */
  capture: number;
  quic?: Quic;
  decryption?: Decryption;
  /**
   * Requests in payload that is clear or was decrypted, each with its own wait, in time order; at
   * most 64, the first ones and those that were waited for longest. Absent where there are none.
   */
  requests?: Request[];
  /** How many there were. Absent where there were none. */
  requests_total?: number;
  /**
   * Its place, from 0, among the TCP connections of the captures that continue each other:
   * Wireshark's `tcp.stream` of one file. Absent for QUIC, and in documents of earlier programs.
   */
  tcp_stream?: number;
  /** Its first packet. Absent in documents of earlier programs. */
  first_frame?: Frame;
  /** The end that opened it. */
  client: Endpoint;
  /** The end that accepted it. */
  server: Endpoint;
  /** Its first packet, seconds after the capture's first. */
  start_s: number;
  /**
   * First packet to last, or to the end of the capture where an answer is waited for then
   * (`no-answer`).
   */
  duration_s: number;
  /**
   * How it stood at its last packet. `half-closed`: one end sent FIN, it was acknowledged, and the
   * other never sent its own (CLOSE_WAIT there).
   */
  state: "unanswered" | "refused" | "open" | "half-closed" | "closed" | "reset";
  /** The end that sent FIN or RST first. */
  closed_by: End | null;
  /** Where the capture stands. */
  near: "client" | "server" | "middle" | "unknown";
  /** What `near` rests on. */
  near_reason: {
    /** Which one. Later versions may add names. */
    kind: string;
    [k: string]: unknown;
  };
  rtt_ms: Rtt;
  lookup?: NameLookup;
  /** The opening; null when it was not captured. */
  handshake: Handshake | null;
  /** Capture problems that concern this connection. */
  problems: Problem[];
  /**
   * ICMP errors about its packets, in the order of their first ones; at most eight different ones.
   * Left out if there were none.
   */
  icmp?: Icmp[];
  /** How many ICMP errors came about its packets. Left out where none did. */
  icmp_total?: number;
  /** The client's, then the server's. */
  directions: Direction[];
  /**
   * Requests with their answers, and pushes, in time order: the first ones, and those that were
   * waited for longest. The TLS handshake is none, nor is credit that a program grants in
   * mid-stream (HTTP/2's WINDOW_UPDATE, SSH's window adjust).
   */
  exchanges: Exchange[];
  /** How many exchanges there were. */
  exchanges_total: number;
  /**
   * How long its users waited in the exchanges, listed or not. Left out where none was measured.
   */
  response_times?: {
    /** Exchanges that were measured. */
    count: number;
    /** Median, seconds. */
    p50_s: number;
    /** 95th percentile, seconds. */
    p95_s: number;
    /** Longest, seconds. */
    max_s: number;
  };
  /**
   * Transfers in time order; of very many, the ones that cost most, and then those that were waited
   * for longest.
   */
  transfers: Transfer[];
  /** How many transfers there were. */
  transfers_total: number;
  /** Findings over the connection's transfers, ordered by seconds lost. */
  findings: Finding[];
  /**
   * The platform of the client and of the server: an estimate, from the fields of their SYNs.
   * Items: `known` with its value and the fields that show it, or `hidden` with the reason.
   */
  stacks?: [
    {
      [k: string]: unknown;
    },
    {
      [k: string]: unknown;
    },
  ];
  /**
   * The program at the client and at the server: its `value`, and the `evidence` (header, greeting;
   * port is weaker). Null if unknown.
   */
  products?: [
    {
      [k: string]: unknown;
    } | null,
    {
      [k: string]: unknown;
    } | null,
  ];
  /** The protocol above TCP. Null if unknown. Later versions may add names. */
  application?: string | null;
}
/** Additional data on a QUIC connection. Absent for TCP. */
export interface Quic {
  /** 1 (RFC 9000) or 1798521807 (version 2, RFC 9369). */
  version: number;
  /** Protocols that the client offers, the preferred one first. */
  alpn: string[];
  /** The server asked the client to prove its address, which cost a round trip. */
  retry: boolean;
  /** The server named the versions that it speaks, which cost a round trip. */
  version_negotiation: boolean;
  /** How often the client sent its first packet again. */
  initial_retransmissions: number;
  /**
   * For how long the server had sent three times the bytes it had received, and waited for the
   * client.
   */
  amplification_wait_s: number;
  /** How often packets came from another address or port of the client. */
  migrations: number;
  client: TransportParameters;
  /** The protocol that the server chose. Absent without the secrets of the handshake. */
  chosen_alpn?: string;
  opened?: QuicOpened;
}
/** What an end of QUIC offered (RFC 9000 section 18.2); null where one was not sent. */
export interface TransportParameters {
  /** Bytes that the connection may receive before more are granted. */
  initial_max_data: number | null;
  /** The same of a stream that the client opened: of a response. */
  initial_max_stream_data_bidi_local: number | null;
  /** Of a stream that the server opened. */
  initial_max_stream_data_bidi_remote: number | null;
  /** Of a stream in one direction. */
  initial_max_stream_data_uni: number | null;
  /** The connection ends after this time without a packet, milliseconds. */
  max_idle_timeout_ms: number | null;
  /** Largest datagram, bytes. */
  max_udp_payload_size: number | null;
}
/**
 * What the packets of a QUIC connection hold, if a key log opens them. Lists are of the client and
 * of the server.
 */
export interface QuicOpened {
  server?: TransportParameters;
  /** Packets that were opened. */
  packets: [number, number];
  /** Packets that were not: damaged, cut or protected by unknown keys. */
  unopened: [number, number];
  /**
   * Packet numbers that were skipped: packets that were lost before the capture point or not
   * captured.
   */
  missing: [number, number];
  /** How often an end reported that a window was used up (DATA_BLOCKED, STREAM_DATA_BLOCKED). */
  blocked: [number, number];
  /** Packets that arrived with a congestion mark, as the other end reports them. */
  congestion_marks: [number, number];
  /** Key updates (RFC 9001 section 6). */
  key_updates: number;
  /** Packets of 0-RTT that were opened. */
  early_packets: number;
  /** How flow control held each sender. */
  flow_control: FlowControl[];
}
/** How flow control held a sender of QUIC (RFC 9000 section 4). */
export interface FlowControl {
  /**
   * How often the connection's window was used up, and the sender went on when more was granted.
   */
  connection_times: number;
  /** From its last byte to the grant, summed. */
  connection_s: number;
  /** The same of windows of streams. */
  stream_times: number;
  /** The same of windows of streams. */
  stream_s: number;
  /** The stream whose window was used up last; null without. */
  stream: number | null;
  /** The largest window that was used up: what was granted at once, bytes. */
  window: number;
  /**
   * How much of these times passed after the receiver had all data: its application did not read,
   * or the receiver granted late.
   */
  late_s: number;
}
/** How far the TLS of a connection was decrypted. Absent without secrets, and without TLS. */
export interface Decryption {
  /**
   * The version that the server chose: 771 is TLS 1.2, 772 is TLS 1.3; null if the handshake was
   * not captured.
   */
  version: number | null;
  /** The number of the cipher suite that the server chose (IANA's registry). */
  cipher_suite: number | null;
  /** What the client sent, and what the server sent. */
  directions: [
    {
      from: End;
      /** Records that were opened. */
      records: number;
      /** Plaintext of the application in them. */
      bytes: number;
      /** Why nothing was opened behind them; null if all was that was sent. */
      stopped:
        | null
        | "no-keys"
        | "handshake-not-captured"
        | "wrong-keys"
        | "unsupported-version"
        | "unsupported-cipher"
        | "packets-cut"
        | "bytes-missing"
        | "damaged-record";
    },
    {
      from: End;
      /** Records that were opened. */
      records: number;
      /** Plaintext of the application in them. */
      bytes: number;
      /** Why nothing was opened behind them; null if all was that was sent. */
      stopped:
        | null
        | "no-keys"
        | "handshake-not-captured"
        | "wrong-keys"
        | "unsupported-version"
        | "unsupported-cipher"
        | "packets-cut"
        | "bytes-missing"
        | "damaged-record";
    },
  ];
}
/**
 * A request and its response, as payload in clear or decrypted shows them. Times are those at the
 * capture point.
 */
export interface Request {
  /** What it is written in. */
  protocol:
    | "http1"
    | "http2"
    | "http3"
    | "postgresql"
    | "mysql"
    | "redis"
    | "mongodb"
    | "kafka"
    | "amqp"
    | "mqtt"
    | "smtp"
    | "imap"
    | "ftp"
    | "smb2"
    | "onc-rpc"
    | "dns";
  /** Of HTTP/2, the number of its stream; null else. */
  stream: number | null;
  /**
   * What it asks for, without its data: of HTTP method and path, the query is cut; of SQL the
   * statement with `?` for literals; of others the command.
   */
  label: string;
  /** The status of the response, of HTTP, SMTP and FTP; null if none came. */
  status: number | null;
  /** The status of a gRPC call; null if none came. */
  grpc_status: number | null;
  /** What the response says of a failure, in other protocols. Absent if nothing. */
  error?: string;
  /** It waits for an event, so that its wait costs no time. Absent if it does not. */
  poll?: boolean;
  /** First byte of the request. */
  start_s: number;
  /** From there to its last byte; null if that did not come. */
  sent_s: number | null;
  /** From its first byte to the head of the response; null if none came. */
  headers_s: number | null;
  /** From there to the first byte of the response's body; null if none came. */
  first_byte_s: number | null;
  /** From the request's first byte to the last byte of the response, as far as that came. */
  wait_s: number | null;
  /** The response came to its end. */
  complete: boolean;
  /** Bytes of the request's body. */
  request_bytes: number;
  /** Bytes of the response's body. */
  response_bytes: number;
}
/** One end of a connection. */
export interface Endpoint {
  /** IP address; the host name where a text capture shows only that. */
  address: string;
  /** TCP port. */
  port: number;
  /** Server name from TLS (SNI) or HTTP (Host), or the capture's own name for the address. */
  name: string | null;
}
/** Round-trip times of the whole path in milliseconds, whatever the vantage. Null: unknown. */
export interface Rtt {
  /** Least. */
  min: number | null;
  /** Median. */
  p50: number | null;
  /** 95th percentile. */
  p95: number | null;
  /** How many samples these stand on. */
  samples: number;
}
/**
 * The lookup (DNS) of the server's name that the connection waited for. Absent if none was captured
 * right before it.
 */
export interface NameLookup {
  /** The name. */
  name: string;
  /** The name server that answered last. */
  server: string;
  /**
   * The name server that was asked first, if it did not answer and another did; absent otherwise.
   */
  silent_server?: string;
  /** The first query. */
  start_s: number;
  /** From there to the last response before the connection. */
  duration_s: number;
  /** Number of queries, of all types. */
  queries: number;
  /** Queries that were sent again because no response came. */
  unanswered: number;
  /** Names with a search domain that were tried before, and failed. */
  searched: number;
  /** Frames of the first query and of the last response. */
  frames: Frame[];
}
/** The options of the two SYNs. Pairs are [client, server]. */
export interface Handshake {
  /**
   * From the SYN that was answered to the ACK of the SYN-ACK, milliseconds: one round trip from any
   * vantage.
   */
  rtt_ms: number | null;
  /** Maximum segment size, bytes. */
  mss: [number | null, number | null];
  /** Window scale shift as offered; null when not offered or not seen. */
  window_scale: [number | null, number | null];
  /** SACK permitted. */
  sack: [boolean | null, boolean | null];
  /** Timestamps offered. */
  timestamps: [boolean | null, boolean | null];
  /** How often the SYN and the SYN-ACK were retransmitted. */
  retries: [number, number];
}
/**
 * ICMP errors of one router or host with the same content about a connection's packets. They are
 * evidence and not proof: any host can forge one.
 */
export interface Icmp {
  /** What became of the packets. `too-big`: fragmentation needed, or packet too big. */
  kind:
    | "too-big"
    | "network-unreachable"
    | "host-unreachable"
    | "protocol-unreachable"
    | "port-unreachable"
    | "prohibited"
    | "time-exceeded";
  /** The messages' type, which means another thing in each IP version. */
  type: number;
  /** The messages' code. */
  code: number;
  /** The address that sent the error. */
  by: string;
  /** The end that had sent the packets. */
  about: End;
  /** The longest of these packets, bytes with its IP header; null if unknown. */
  size: number | null;
  /**
   * The longest packet that passes, bytes with its IP header; null if the error does not contain
   * it.
   */
  mtu: number | null;
  /**
   * For `too-big`: whether the packets' sender sends no longer ones from then on. Null if unknown.
   */
  obeyed: boolean | null;
  /** How many errors came. */
  count: number;
  /** The first of them, seconds after the capture's first packet. */
  time_s: number;
  /** The last of them. */
  last_s: number;
  /** The first of them. */
  frame: Frame;
}
/** One direction of a connection. */
export interface Direction {
  /** The end that sends. */
  from: End;
  /**
   * Payload as sequence space: each byte counted once, whether or not every segment is in the
   * capture.
   */
  bytes: number;
  /** Segments. */
  packets: number;
  retransmitted: Retransmitted;
  /**
   * The first segments that were retransmitted, at most 1000, in the order in which they passed the
   * capture point.
   */
  retransmissions: Retransmission[];
  /** How many there were. */
  retransmissions_total: number;
  /**
   * Segments that came after later ones without having been retransmitted: reordered on the way.
   */
  out_of_order: number;
  /** Duplicate acknowledgements that this direction's data got (RFC 5681 section 2). */
  duplicate_acks: number;
  /** Probes of a closed window. */
  window_probes: number;
  /** Keep-alive probes. */
  keep_alives: number;
  /**
   * Segments that the network duplicated: the receiver reports a copy (D-SACK), and the sender sent
   * none.
   */
  duplicated: number;
  /** ACKs that offered no byte (as tcptrace and Wireshark count zero windows). */
  zero_windows: number;
  /** Time for which the sender faced a closed window, seconds. */
  zero_window_s: number;
  /**
   * How often the sender filled the window to its last byte and had to wait for it to open
   * (Wireshark tcp.analysis.window_full).
   */
  window_full: number;
  /** Most bytes in flight, as the sender knew it. */
  max_in_flight: number;
  /** Largest window that the other end offered, bytes. Null when the window scale is unknown. */
  max_window: number | null;
  /**
   * Largest TLS record whose header was seen, with that header, bytes. Null where there is none.
   */
  largest_record?: number | null;
}
/**
 * Retransmitted segments by kind; each counts in one, and `unseen_original` counts some of them
 * once more.
 */
export interface Retransmitted {
  /** After duplicate ACKs or SACKs; or after an ICMP error, in shorter segments. */
  fast: number;
  /** After the retransmission timer. */
  timeout: number;
  /** Tail loss probes (RFC 8985 section 7). */
  tail_probe: number;
  /** Needless: the first copy had arrived. */
  spurious: number;
  /**
   * Of all the above, those whose first copy was lost before the capture point: only the later copy
   * is in the capture.
   */
  unseen_original: number;
}
/** A segment that was retransmitted. */
export interface Retransmission {
  /** The frame that carries the later copy. */
  frame: Frame;
  /** When it passed the capture point, seconds from the capture's first packet. */
  time_s: number;
  /** Its first byte, counted from the SYN as Wireshark's relative numbers are. */
  seq: number;
  /** Payload bytes; 0 of a FIN alone. */
  bytes: number;
  /** Why it was sent, named as in `retransmitted`. */
  kind: "fast" | "timeout" | "tail_probe" | "spurious";
  /** Its first copy was lost before the capture point. */
  unseen_original: boolean;
}
/** A request and its response, or an unrequested push: which side waited for which. */
export interface Exchange {
  /** The first byte of the request, or of the push. */
  start_s: number;
  /** What the client sent; null for a push of the server's. */
  request: Message | null;
  /** What the server sent; null where it sent nothing (yet). */
  answer: Message | null;
  /** What the client's own program took before it. */
  client_s: number;
  /**
   * Time before it, or between its messages, that cost nothing; if the request was to be answered
   * on an event (a long poll), the time until that event.
   */
  idle_s: number;
  /**
   * The server's time between the request's last byte and the response's first, without the path's
   * share; null if it is not known.
   */
  server_s: number | null;
  /**
   * For how long its user waited: from the request's first byte to the answer's last, as the client
   * lives it.
   */
  wait_s: number;
  /**
   * The side that was waited for, without gaps from `start_s` on: `wait_s` and the idle time within
   * it long. Left out if `wait_s` is less than 10 ms.
   */
  spans?: WaitSpan[];
  /** How many spans there are, where the shortest were added to their neighbours. */
  spans_total?: number;
  /**
   * 0-based places in the connection's `transfers` of those below it, as far as they are listed:
   * request, answer.
   */
  transfers: number[];
}
/** What one side sent in an exchange. */
export interface Message {
  /** The end that sent it. */
  from: End;
  /** Payload. */
  bytes: number;
  /** Its first byte, as it passed the capture point. */
  start_s: number;
  /** From its first byte to its last. */
  duration_s: number;
  /** Its kind, if the payload shows it. */
  label: string | null;
}
/** A stretch of an exchange: the side that was waited for, and the reason. */
export interface WaitSpan {
  /** From, as the client lives it, seconds. */
  start_s: number;
  /** For how long. */
  seconds: number;
  party: Party;
  reason: Limit;
  /** What shows it. `shown`: single packets. `inferred`: how flights and rates look. */
  grade: "shown" | "inferred";
}
/** One contiguous bulk of payload in one direction. */
export interface Transfer {
  /** The end that sends. */
  from: End;
  /** Sequence space that was acknowledged. */
  bytes: number;
  /** The sender's first byte, seconds after the first packet. */
  start_s: number;
  /**
   * The time that it was under way, by the sender's clock: to the ACK of its last byte, or until
   * all of it had arrived where that ACK came with something else much later.
   */
  duration_s: number;
  /** `bytes` over `duration_s`, bits per second. Null when that is zero. */
  rate_bps: number | null;
  /** Its content, if the payload shows it. */
  label: string | null;
  /** What went before its first byte: handshakes, the request's way, the server's thinking. */
  before: LimitShare[];
  /**
   * From the first byte sent to the first byte that the receiving application could read (a whole
   * TLS record), seconds.
   */
  first_byte_s: number | null;
  /**
   * The TLS record with which it begins, its header included, bytes. Null where it begins with none
   * that was seen.
   */
  first_record?: number | null;
  /** The first rounds. */
  rounds: Round[];
  /** How many rounds there were. */
  rounds_total: number;
  /** What the capture shows of the path of this transfer, and what it hides. */
  path: {
    /**
     * Round trip without queues, milliseconds; its range is the accuracy of the capture's times.
     */
    round_trip_ms: PathEstimate;
    /**
     * Time in the queues of the path, milliseconds: the median over the rounds, from the lower to
     * the upper tenth.
     */
    queue_ms: PathEstimate;
    /**
     * Rate of the link when this transfer filled it, payload bits per second, from the lower to the
     * upper tenth.
     */
    rate_bps: PathEstimate;
    /** Episodes of loss: losses of one round trip are one. */
    loss_episodes: PathEstimate;
  };
  /** What the model takes for the transfer as it was, seconds; null when it was not run. */
  model_s: number | null;
  /**
   * True when the model was not run for this transfer, or not for all of its findings, though it
   * could have been: its work is bounded, and transfers that lost more came first. Left out
   * otherwise.
   */
  model_skipped?: boolean;
  /** Partition of `duration_s`; the shares sum to 1. */
  limits: LimitShare[];
  /** Limits in time order: runs of one limit. */
  timeline: LimitSpan[];
  /** The causes that made it slow, ordered by seconds lost; empty if it was not slow. */
  findings: Finding[];
  /** The verdict of all findings. Later versions may add names. */
  verdict: string;
}
/** Time under one limit. */
export interface LimitShare {
  limit: Limit;
  /** For how long. */
  seconds: number;
  /** Share of the whole, 0–1. */
  share: number | null;
}
/** Packet-timed: from the first segment sent after the ACK of the last round's first segment. */
export interface Round {
  /** Its first segment, seconds after the first packet. */
  start_s: number;
  /** To the next round's first segment, or to the transfer's end. */
  duration_s: number;
  /** From its first segment to its last: the rest of it the sender waited. */
  sending_s?: number;
  /** New payload bytes. */
  bytes: number;
  first_frame: Frame;
  last_frame: Frame;
  /** Most bytes in flight during it, as the sender knew it. */
  in_flight: number;
  /** Largest window that the sender had, bytes. Null when the window scale is unknown. */
  window: number | null;
  /** The limit that took most of its time. */
  limit: Limit;
}
/** A quantity of a path: `known` with its range and frames, or `hidden` with the reason. */
export interface PathEstimate {
  known?: {
    /** The estimate. */
    value: number;
    /** Lower end of its range. */
    low: number;
    /** Upper end of its range. */
    high: number;
    /** First and last frame that it comes from. */
    frames: [Frame, Frame];
  };
  hidden?: {
    /**
     * Why the capture does not show it: `no-round-trip` (too few segments and their ACKs were
     * captured), `one-direction`, `encrypted` (QUIC without keys), `packets-left-out` (of a text),
     * `at-the-receiver` (ACKs leave at once there, and have no timestamps), `never-full` (the
     * transfer never filled the link). Later versions may add names.
     */
    reason: string;
  };
}
/** A stretch of time under one limit. */
export interface LimitSpan {
  limit: Limit;
  /** From, seconds after the first packet. */
  start_s: number;
  /** For how long. */
  seconds: number;
}
/** A cause with its cost, its evidence and its remedies. */
export interface Finding {
  cause: Cause;
  /** Time that the cause cost, seconds. */
  cost_s: number;
  /**
   * When that was, in time order: no two findings of a transfer have the same moment, and their sum
   * is `cost_s`. The longest, where `spans_total` is there. Left out of findings over a connection
   * or several.
   */
  spans?: CostSpan[];
  /** How many spans there are, where not all are listed. */
  spans_total?: number;
  /** 0–1: the measured share of right findings with this confidence (docs/accuracy.md). */
  confidence: number;
  /**
   * What supports the finding besides its rule. `shown`: single packets show the cause.
   * `reproduced`: it is inferred from flights and rates, and the model of the transfer with this
   * cause takes the measured time, within 30 %. `inferred`: no model was run, or none tests this
   * cause. `contradicted`: the model takes another time. Only `shown` and `reproduced` have a
   * confidence of 0.9 or more.
   */
  grade: "shown" | "reproduced" | "inferred" | "contradicted";
  statement: Statement;
  /** Further facts that qualify the statement. Left out where there are none. */
  details?: Statement[];
  /** Measurements that support it. */
  evidence: Measurement[];
  /** Possible fixes, the recommended one first. */
  remedies: Remedy[];
  /**
   * Ids of the connections, when it spans several; of a transfer's part of a bottleneck, those that
   * share it.
   */
  connections?: number[];
  /** It sums up findings of these connections, and its time is theirs. */
  shared?: true;
  /** Open questions. Left out where there are none. */
  to_confirm?: Question[];
  /**
   * How to measure that the fix worked: the protocol (`application`, null if unknown), the address
   * of the server (`host`, null if it is not known) and its `port`, 0 if unknown. Left out if the
   * finding spans connections.
   */
  verify?: {
    [k: string]: unknown;
  };
}
/** A stretch of time that belongs to one finding. */
export interface CostSpan {
  /** From, seconds. */
  start_s: number;
  /** For how long. */
  seconds: number;
}
/** What a finding states: its `kind`, and the quantities of that kind. */
export interface Statement {
  /** Which statement. Later versions may add names. */
  kind: string;
  [k: string]: unknown;
}
/** A quantity, and the frames that show it. */
export interface Measurement {
  /** Where to look; two frames are a range, first to last. */
  frames: Frame[];
  /** What was measured. Later versions may add names. */
  kind: string;
  /** The value, in `unit`. */
  value: number | null;
  /** The unit; empty for a ratio. Counted units stand in the plural. */
  unit: string;
}
/** An open question: its `kind`, and the quantities of that kind. */
export interface Question {
  /** Which question. Later versions may add names. */
  kind: string;
  [k: string]: unknown;
}
/**
 * One connection, or the two connections of a proxy, in two captures. What has two members here is
 * [nearer to the client, nearer to the server].
 */
export interface Pair {
  /** Ids of the connection in the two captures. */
  connections: [number, number];
  /** Indices in `captures` of the (first) captures that hold them. */
  captures: [number, number];
  /**
   * The id whose findings are printed if one page is requested: that of the capture next to the end
   * which sent most.
   */
  told: number;
  /**
   * Why the two are taken for one: `addresses`; `initial-numbers` of both SYNs though addresses
   * differ; `syn-timestamps` though the initial numbers differ; `sequence-numbers` and segments
   * without a handshake; `payload`: the same amounts both ways, through a proxy.
   */
  matched_by: "addresses" | "initial-numbers" | "syn-timestamps" | "sequence-numbers" | "payload";
  /** How the two clocks stand to each other. */
  clock: null | {
    /**
     * By how much the second clock is ahead when the connection begins, seconds. It is that at
     * which the least delay is the same both ways, which no capture can show.
     */
    offset_s: number;
    /**
     * By how much the offset grows, millionths; 0 where the captures show no drift, null where they
     * are too short to.
     */
    drift_ppm: number | null;
    /** How exact `drift_ppm` is, to either side. */
    drift_error_ppm: number | null;
  };
  /** Client's, then server's. */
  directions: [PairDirection, PairDirection];
  /** The parts of the path, from the client to the server. Items: A part of the path. */
  legs: {
    /**
     * From the client to the capture nearer to it, between the captures, from the other capture to
     * the server.
     */
    place: "client" | "between" | "server";
    /** Round trips on it. On the outer legs they hold what the end delayed its ACKs by. */
    rtt_ms: Rtt;
  }[];
  /**
   * What differs between the two captures, but time. Items: Something that was changed between the
   * captures.
   */
  changes: {
    /** Its name, as `ttl`. Later versions may add names. */
    what: string;
    /** In the packets of which end; null for both. */
    from: null | End;
    /** In how many packets. */
    count: number;
    [k: string]: unknown;
  }[];
  /** What a proxy in the middle does; null where there is none. */
  proxy: null | {
    /** Which end's leg makes the other one wait; null where neither clearly does. */
    slower: null | End;
    /**
     * What a byte waits on the leg that brings it: from the capture there to the proxy's ACK of it,
     * over the least such time, in the median.
     */
    before_ms?: number | null;
    /**
     * What it waits in the proxy and on the leg that takes it on: from that ACK to the other
     * capture, over the least such time, in the median.
     */
    behind_ms?: number | null;
    /** Share of the time for which the leg that brings the bytes found the proxy's window full. */
    full_share: number;
    /** Share of the time for which the leg that takes them on had nothing to send. */
    empty_share: number;
    /** Bytes that the proxy and the path between the captures held, in the median. */
    held_bytes: number;
    /** The most that they held. */
    held_most_bytes: number;
  };
  /** What follows. Items: A result of the comparison. */
  statements: {
    /** Which one. Later versions may add names. */
    kind: string;
    [k: string]: unknown;
  }[];
  /** What could not be compared. Items: A limit of the comparison. */
  caveats: {
    /** Which one. Later versions may add names. */
    kind: string;
    [k: string]: unknown;
  }[];
}
/**
 * What one direction's packets met between two captures. `first` is the capture nearer to the
 * sender.
 */
export interface PairDirection {
  from: End;
  /**
   * Packets that passed the first capture and should have reached the second; a segment that was
   * cut up later counts as its parts. 0 with a proxy.
   */
  sent: number;
  /** Payload in them; retransmissions count again. */
  sent_bytes: number;
  /** Packets that never reached the second capture. */
  lost: number;
  /** Those of them with payload. */
  lost_with_payload: number;
  /** Payload in them. */
  lost_bytes: number;
  /** `lost` of `sent`. */
  lost_share: number;
  /** The first ones, in the first capture. */
  lost_frames: Frame[];
  /**
   * Packets that arrived with a wrong checksum: their receiver drops them, so they are among the
   * lost ones.
   */
  damaged?: number;
  /** Packets without a verdict: the second capture was not running, or the comparison had ended. */
  unjudged: number;
  /**
   * Packets that are not in the second capture although their data was acknowledged there: it
   * dropped them.
   */
  uncaptured: number;
  /** Packets in the second capture that the first does not have. */
  unseen_before: number;
  /** Packets that arrived twice, though sent once. */
  duplicated: number;
  /** Packets that arrived after a packet sent later (RFC 4737). */
  reordered: number;
  /** The longest by which one of them came late, seconds. */
  reordered_s: number;
  /** Packets with payload that had been sent before. */
  resent: number;
  /** Those of them whose earlier copy was lost between the captures. */
  resent_for_loss: number;
  /**
   * Segments that reached the first capture only when they were retransmitted: lost between their
   * sender and it.
   */
  lost_before: number;
  /** Time from the first capture to the second, with clocks compared as in `clock`. */
  delay_ms: OneWay;
  /** By how much `delay_ms` is over its least: what packets waited. */
  queue_ms: OneWay;
  /** The least delay by the clocks as they are; right where both follow the same reference. */
  uncorrected_ms: number | null;
}
/** One-way delays, milliseconds. Null: unknown. */
export interface OneWay {
  /** Least. */
  min: number | null;
  /** Median. */
  p50: number | null;
  /** 95th percentile. */
  p95: number | null;
  /** How many packets these stand on. */
  samples: number;
}
/** The answer of a kernel's account of a connection to a finding. */
export interface Answer {
  /** Id of the connection. */
  connection: number;
  /** The number of its transfer, from 1. */
  transfer: number;
  cause: Cause;
  /** The open question that it answers; null if it is about the cause itself. */
  question: Question | null;
  /** Index in `evidence.subjects`. */
  subject: number;
  /**
   * How the account was found to be this connection's: both addresses and ports; both ports and one
   * address; one address with its port and the amount of data.
   */
  matched_by: "addresses" | "ports" | "one-end";
  /** Whether it agrees with the finding. */
  outcome: "confirms" | "contradicts";
  /** What the figures show: its `kind`, and the quantities of that kind. */
  reading: {
    /** Which reading. Later versions may add names. */
    kind: string;
    [k: string]: number | null | string;
  };
  /** The kernel's figures, under the kernel's names. */
  evidence: {
    /** As `ss` prints it. */
    name: string;
    /** In `unit`. */
    value: number;
    /** The unit of `value`. */
    unit: string;
  }[];
}
