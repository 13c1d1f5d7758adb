//! [`Analysis`]: what whyslow says of its captures, as data. The renderers print it and compute
//! nothing.
//!
//! This is the JSON contract, `"schema": "whyslow/1"`: names are added, never renamed. Times are
//! seconds from the capture's first packet, rates bits per second, pairs `[client, server]`, and
//! what is unknown is null.

mod detail;
mod exchange;
mod finding;
mod icmp;
mod limit;
mod pair;

pub use detail::Detail;
pub use exchange::*;
pub use finding::{Actor, Assumed, Evidence, Finding, Fix};
pub use icmp::IcmpError;
pub use limit::{LimitShare, LimitSpan};
pub use pair::*;

pub use crate::cause::Cause;
pub use crate::types::{End, Frame, Limit, MAX_RETRANSMISSIONS, Near, RetransmissionKind, State};

use crate::units::Nanos;
use crate::whatif;
use serde::Serialize;

/// The version of the contract.
pub const SCHEMA: &str = "whyslow/1";

/// The [`Problem`] of a capture that was stopped, or whose reading was, before its end.
pub const PARTIAL: &str = "partial";

/// Everything that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The inputs were not read, or not captured, to their end, and the captures' problem
    /// [`PARTIAL`] says how far. Left out where it is not so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The inputs, in the order in which they were read.
    pub captures: Vec<Capture>,
    /// Connections, in the order of their first packets.
    pub connections: Vec<Connection>,
    /// Findings that span connections, ordered by seconds lost.
    pub findings: Vec<Finding>,
    /// Connections that two of the captures hold, compared packet by packet: those that carried
    /// most first, at most [`MAX_PAIRS`].
    pub pairs: Vec<Pair>,
    /// How many such connections there are, and those that could not be compared among them.
    pub pairs_total: u64,
}

/// One input.
#[derive(Clone, Debug, Serialize)]
pub struct Capture {
    /// As it was named.
    pub path: String,
    /// `pcap`, `pcapng` or `tcpdump text`.
    pub format: String,
    /// Names of the link types in it.
    pub link_types: Vec<String>,
    /// All packets.
    pub packets: u64,
    /// Those that gave a TCP segment.
    pub tcp_packets: u64,
    /// ISO 8601, UTC, nanoseconds; null when the capture has no date.
    pub first_time: Option<String>,
    /// From the first packet to the last, seconds; null when the capture has no times.
    pub duration_s: Option<Nanos>,
    /// What was skipped, cut or odd.
    pub problems: Vec<Problem>,
    /// Of a text: echo requests that it tells of, by ping's own words or tcpdump's lines, at
    /// most 64. Left out where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pings: Vec<Ping>,
    /// Of a text: names that were asked for in it, in time order, at most 256. Left out where there
    /// are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lookups: Vec<Lookup>,
}

/// Echo requests from one host to another, and what came back. Hosts are as the text writes them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ping {
    /// Who asked; null where ping's own words do not say.
    pub from: Option<String>,
    /// Who was asked.
    pub to: String,
    /// Requests; null where lines were left out of the text.
    pub sent: Option<u64>,
    /// Of those, the answered ones.
    pub received: Option<u64>,
    /// Of those, the share that was not answered, 0–1.
    pub loss: Option<f64>,
    /// The round trips, as ping tells them or from request to answer where tcpdump captured; null
    /// where the text shows none.
    pub rtt_ms: Option<PingRtt>,
}

/// Round trips of a ping, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PingRtt {
    /// Least.
    pub min: f64,
    /// Mean.
    pub avg: f64,
    /// Most.
    pub max: f64,
}

/// A name that was asked for. Hosts are as the text writes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Lookup {
    /// Who asked.
    pub client: String,
    /// Who answered, or else was asked last.
    pub server: String,
    /// The name.
    pub name: String,
    /// The record's type: `A`, `AAAA`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The first query; null without times.
    pub start_s: Option<Nanos>,
    /// From there to the answer; null where none came, or without times.
    pub duration_s: Option<Nanos>,
    /// How often it was asked for.
    pub queries: u64,
    /// Records in the answer; null where none came.
    pub answers: Option<u64>,
    /// The code of an answer that refuses: `NXDomain`, `ServFail`; null where it does not.
    pub refusal: Option<String>,
}

/// A property of a capture that limits what can be said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its name.
    pub slug: String,
    /// How often.
    pub count: u64,
    /// In plain words.
    pub detail: Detail,
}

impl Problem {
    /// Returns the problem of this name.
    pub fn new(slug: &str, count: u64, detail: impl Into<Detail>) -> Self {
        Self { slug: slug.to_owned(), count, detail: detail.into() }
    }
}

/// One end of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Endpoint {
    /// IP address; the host name where a text capture shows only that.
    pub address: String,
    /// Port; 0, which no connection has, where a text shows none.
    pub port: u16,
    /// Server name from TLS (SNI) or HTTP (Host), or the capture's own name for the address.
    pub name: Option<String>,
}

impl Endpoint {
    /// Its name, or else its address, and its port, as [`host_and_port`] writes them.
    pub fn host_and_port(&self) -> String {
        host_and_port(self.name.as_ref().unwrap_or(&self.address), self.port)
    }
}

/// `host:port`, with an IPv6 address in brackets (RFC 5952 section 6); the host alone where the
/// port is not known.
pub fn host_and_port(host: &str, port: u16) -> String {
    match port {
        0 => host.to_owned(),
        _ if host.contains(':') => format!("[{host}]:{port}"),
        _ => format!("{host}:{port}"),
    }
}

/// One connection.
#[derive(Clone, Debug, Serialize)]
pub struct Connection {
    /// 1-based, in the order of first packets.
    pub id: u64,
    /// Index in [`Analysis::captures`] of the (first) capture that holds it.
    pub capture: usize,
    /// Who opened it.
    pub client: Endpoint,
    /// Who answered.
    pub server: Endpoint,
    /// First packet.
    pub start_s: Nanos,
    /// First packet to last.
    pub duration_s: Nanos,
    /// How it stood at the end.
    pub state: State,
    /// Who sent FIN or RST first.
    pub closed_by: Option<End>,
    /// Where the capture stands.
    pub near: Near,
    /// What that rests on, in plain words.
    pub near_reason: String,
    /// Round-trip times.
    pub rtt_ms: Rtt,
    /// The opening; null when it was not captured.
    pub handshake: Option<Handshake>,
    /// Capture problems that concern this connection.
    pub problems: Vec<Problem>,
    /// What ICMP errors said of its packets, in the order of their first ones; at most eight that
    /// say different things. Left out where none came.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icmp: Vec<IcmpError>,
    /// How many ICMP errors came about its packets. Left out where none did.
    #[serde(skip_serializing_if = "is_zero")]
    pub icmp_total: u64,
    /// Where packets of it were left out of a text, in time order. Left out itself where there is
    /// no such place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elided: Vec<Elided>,
    /// Client's, then server's.
    pub directions: Vec<Direction>,
    /// Requests with their answers, and pushes, in time order; at most [`MAX_EXCHANGES`], the first
    /// ones and those that were waited for longest. The TLS handshake is none, nor is credit that a
    /// program grants in mid-stream.
    pub exchanges: Vec<Exchange>,
    /// How many exchanges there were.
    pub exchanges_total: u64,
    /// Transfers, in time order; at most [`MAX_TRANSFERS`], the ones that were waited for longest.
    pub transfers: Vec<Transfer>,
    /// How many transfers there were.
    pub transfers_total: u64,
    /// Findings over the connection's transfers, ordered by seconds lost.
    pub findings: Vec<Finding>,
}

/// A stretch of a text from which packets of a connection were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Elided {
    /// The last packet of the connection before them.
    pub start_s: Nanos,
    /// To the first one behind them.
    pub duration_s: Nanos,
}

/// Most connections listed: those that lost most time. Of others a capture's problem
/// `connections-not-listed` tells.
pub const MAX_CONNECTIONS: usize = 10_000;
/// Most transfers told in full of one connection.
pub const MAX_TRANSFERS: usize = 256;

/// Round-trip times in milliseconds, of the whole path whatever the vantage.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Rtt {
    /// Least.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// How many samples these stand on.
    pub samples: u64,
}

/// What the two SYNs said; pairs are `[client, server]`.
#[derive(Clone, Debug, Serialize)]
pub struct Handshake {
    /// From the SYN that was answered to the ACK of the SYN-ACK, milliseconds: one round trip from
    /// any vantage.
    pub rtt_ms: Option<f64>,
    /// Maximum segment size, bytes.
    pub mss: [Option<u16>; 2],
    /// Window scale shift as offered; null when not offered or not seen.
    pub window_scale: [Option<u8>; 2],
    /// SACK permitted.
    pub sack: [Option<bool>; 2],
    /// Timestamps.
    pub timestamps: [Option<bool>; 2],
    /// How often the SYN and the SYN-ACK were retransmitted.
    pub retries: [u64; 2],
}

/// One direction of a connection.
#[derive(Clone, Debug, Serialize)]
pub struct Direction {
    /// Who sends.
    pub from: End,
    /// Payload as sequence space: each byte counted once, whether or not every segment is in the
    /// capture.
    pub bytes: u64,
    /// Segments.
    pub packets: u64,
    /// Segments that were sent more than once, by why.
    pub retransmitted: Retransmitted,
    /// The first of them, in the order in which they passed; at most [`MAX_RETRANSMISSIONS`].
    pub retransmissions: Vec<Retransmission>,
    /// How many there were.
    pub retransmissions_total: u64,
    /// Segments that came after later ones without having been retransmitted: reordered on the way.
    pub out_of_order: u64,
    /// Duplicate acknowledgements that this direction's data got (RFC 5681 section 2).
    pub duplicate_acks: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Keep-alive probes.
    pub keep_alives: u64,
    /// Segments that the network duplicated: the receiver reports a copy (D-SACK), and the sender
    /// sent none.
    pub duplicated: u64,
    /// ACKs that offered no byte (as tcptrace and Wireshark count zero windows).
    pub zero_windows: u64,
    /// Time for which this direction's sender faced a closed window, seconds.
    pub zero_window_s: Nanos,
    /// How often the sender filled the window to its last byte and had to wait for it to open
    /// (Wireshark `tcp.analysis.window_full`).
    pub window_full: u64,
    /// Most bytes in flight, as the sender knew it.
    pub max_in_flight: u64,
    /// Largest window that the other end offered to this direction's sender, bytes; null when the
    /// scale is unknown.
    pub max_window: Option<u64>,
    /// Largest TLS record whose header was seen, with that header, bytes; null where there is none.
    pub largest_record: Option<u32>,
}

/// Retransmitted segments by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retransmitted {
    /// After duplicate ACKs or SACKs; or after an ICMP error, in shorter segments.
    pub fast: u64,
    /// After the retransmission timer.
    pub timeout: u64,
    /// Tail loss probes (RFC 8985 section 7).
    pub tail_probe: u64,
    /// Needless: the first copy had arrived (D-SACK, or Eifel's timestamps). Counted here and in no
    /// other kind.
    pub spurious: u64,
    /// Of all the above, those whose first copy was lost before the capture point: only the later
    /// copy is in the capture.
    pub unseen_original: u64,
}

/// A segment that was retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Retransmission {
    /// The frame that carries the later copy.
    pub frame: Frame,
    /// When it passed the capture point.
    pub time_s: Nanos,
    /// Its first byte, counted from the SYN as Wireshark's relative numbers are.
    pub seq: u64,
    /// Payload bytes; none of a FIN alone.
    pub bytes: u64,
    /// Why it was sent.
    pub kind: RetransmissionKind,
    /// Its first copy was lost before the capture point.
    pub unseen_original: bool,
}

/// The verdict on a transfer that nothing held back: all but round trips took less than two fifths
/// of its time, or less than 10 ms.
pub const HEALTHY_VERDICT: &str = "nothing slowed it beyond what the path needs";

/// The verdict on a transfer whose time the capture cannot explain, for the most part.
pub const UNKNOWN_VERDICT: &str = "what slowed it cannot be told from this capture";

/// The same, where packets were left out of a text.
pub const UNKNOWN_ELIDED_VERDICT: &str = "what slowed it cannot be told: packets of it were left out of the text";

/// One contiguous bulk of payload in one direction.
#[derive(Clone, Debug, Serialize)]
pub struct Transfer {
    /// Who sends.
    pub from: End,
    /// Sequence space that was acknowledged.
    pub bytes: u64,
    /// The sender's first byte.
    pub start_s: Nanos,
    /// To the ACK of its last byte, by the sender's clock.
    pub duration_s: Nanos,
    /// `bytes` over `duration_s` less what of it was idle; null when that is no time.
    pub rate_bps: Option<f64>,
    /// What it carried, where the payload tells: `HTTP GET /file → 200`, `TLS application data`.
    pub label: Option<String>,
    /// What went before its first byte: handshakes, the request's way, the server's thinking.
    pub before: Vec<LimitShare>,
    /// From the first byte sent to the first byte that the receiving application could read (a
    /// whole TLS record), seconds.
    pub first_byte_s: Option<Nanos>,
    /// The TLS record with which it begins, its header included, bytes; null where it begins with
    /// none that was seen.
    pub first_record: Option<u64>,
    /// The first rounds, at most [`MAX_ROUNDS`].
    pub rounds: Vec<Round>,
    /// How many rounds there were.
    pub rounds_total: u64,
    /// Packets of it were left out of a text: `rounds` are the longest run of them that is shown
    /// whole, and what held it beside these is not known. Left out where it is not so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub elided: bool,
    /// What the model of `whatif` takes for the transfer as it was; null when it was not run. It
    /// promises nothing (see [`Finding::predicted_s`]) unless it is within 15 % of `duration_s`.
    pub model_s: Option<Nanos>,
    /// The model was not run for it, or not for all of its findings, though it could have been: the
    /// work is bounded, and transfers that lost more came first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub model_skipped: bool,
    /// Partition of `duration_s`; the shares sum to 1.
    pub limits: Vec<LimitShare>,
    /// Limits in time order, for a timeline: runs of one limit, at most [`MAX_SPANS`].
    pub timeline: Vec<LimitSpan>,
    /// Why it was slow, ordered by seconds lost; none when it was not.
    pub findings: Vec<Finding>,
    /// The verdict in one sentence.
    pub verdict: String,
}

impl Connection {
    /// Does something with every frame that is named of it, so that frames of several captures can
    /// be told apart.
    pub fn for_each_frame(&mut self, act: impl Fn(&mut Frame) + Copy) {
        for resent in self.directions.iter_mut().flat_map(|direction| &mut direction.retransmissions) {
            act(&mut resent.frame);
        }
        for round in self.transfers.iter_mut().flat_map(|transfer| &mut transfer.rounds) {
            act(&mut round.first_frame);
            act(&mut round.last_frame);
        }
        self.problems.iter_mut().filter_map(|problem| problem.detail.frame_mut()).for_each(act);
        self.icmp.iter_mut().for_each(|error| act(&mut error.frame));
        let of_transfers = self.transfers.iter_mut().flat_map(|transfer| &mut transfer.findings);
        of_transfers.chain(&mut self.findings).for_each(|finding| finding.for_each_frame(act));
    }
}

impl Transfer {
    /// For how long its user waited: from the request, or its first byte, to its end. Handshakes
    /// are not part of it, nor what the client's own program took, nor idle time.
    pub fn waited(&self) -> Nanos {
        let is_wait = |limit| matches!(limit, Limit::RequestWait | Limit::ServerThink | Limit::Timeout);
        let before: Nanos = self.before.iter().filter(|phase| is_wait(phase.limit)).map(|phase| phase.seconds).sum();
        let idle: Nanos =
            self.limits.iter().filter(|phase| phase.limit == Limit::Idle).map(|phase| phase.seconds).sum();
        before + self.duration_s - idle
    }

    /// What its costliest finding cost.
    pub fn cost(&self) -> Nanos {
        self.findings.iter().map(|finding| finding.seconds).max().unwrap_or_default()
    }

    /// Whether the capture does not tell what held it back.
    pub fn is_verdict_unknown(&self) -> bool {
        self.verdict == UNKNOWN_VERDICT || self.verdict == UNKNOWN_ELIDED_VERDICT
    }

    /// Whether the model comes near enough to the measured time to promise anything; none when it
    /// was not run.
    pub fn model_fits(&self) -> Option<bool> {
        Some(whatif::is_near(self.model_s?, self.duration_s))
    }
}

/// Most rounds listed of one transfer.
pub const MAX_ROUNDS: usize = 64;
/// Most spans in a transfer's timeline.
pub const MAX_SPANS: usize = 256;

/// Packet-timed: from the first segment sent after the ACK of the last round's first segment.
#[derive(Clone, Debug, Serialize)]
pub struct Round {
    /// Its first segment.
    pub start_s: Nanos,
    /// To the next round's first segment, or to the transfer's end.
    pub duration_s: Nanos,
    /// From its first segment to its last: the rest of it the sender waited.
    pub sending_s: Nanos,
    /// New payload bytes.
    pub bytes: u64,
    /// First frame.
    pub first_frame: Frame,
    /// Last frame.
    pub last_frame: Frame,
    /// Most bytes in flight during it, as the sender knew it.
    pub in_flight: u64,
    /// Largest window that the sender had, bytes; null when the scale is unknown.
    pub window: Option<u64>,
    /// The limit that took most of its time.
    pub limit: Limit,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
