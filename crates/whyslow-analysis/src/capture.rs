//! [`Capture`]: an input, and the echo requests and name lookups that a text input shows.

use super::problem::Problem;
use serde::Serialize;
use whyslow_units::Nanos;

/// One input.
#[derive(Clone, Debug, Serialize)]
pub struct Capture {
    /// The path as given.
    pub path: String,
    /// `pcap`, `pcapng`, `tcpdump text` or `qlog`; `unread` of a capture that could not be read,
    /// `condensed` of a torn condensed one.
    pub format: String,
    /// Names of the link types in it.
    pub link_types: Vec<String>,
    /// All packets.
    pub packets: u64,
    /// Packets with a TCP segment.
    pub tcp_packets: u64,
    /// ISO 8601, UTC, nanoseconds; null when the capture has no date.
    pub first_time: Option<String>,
    /// From the first packet to the last, seconds; null when the capture has no times.
    pub duration_s: Option<Nanos>,
    /// Problems: skipped, cut or unusual packets.
    pub problems: Vec<Problem>,
    /// Text inputs: echo requests in ping's output or tcpdump's lines, at most 64. Left out if
    /// there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pings: Vec<Ping>,
    /// Text inputs: names that were looked up, in time order, at most 256. Left out if there are
    /// none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lookups: Vec<Lookup>,
}

/// Echo requests from one host to another, and their replies. Hosts are written as in the text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ping {
    /// Host that sent the requests; null if ping's output does not name it.
    pub from: Option<String>,
    /// Host that was pinged.
    pub to: String,
    /// Requests; null where lines were left out of the text.
    pub sent: Option<u64>,
    /// Requests that were answered.
    pub received: Option<u64>,
    /// Share of the requests that were not answered, 0–1.
    pub loss: Option<f64>,
    /// Round trips as printed by ping, or from request to reply in tcpdump's lines; null if the
    /// text shows none.
    pub rtt_ms: Option<PingRtt>,
}

/// Round trips of a ping, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
pub struct Lookup {
    /// Host that sent the query.
    pub client: String,
    /// Server that answered, or the last one queried.
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
