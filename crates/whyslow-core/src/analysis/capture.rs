//! [`Capture`]: an input, and what a text tells beside its packets.

use super::problem::Problem;
use crate::units::Nanos;
use serde::Serialize;

/// One input.
#[derive(Clone, Debug, Serialize)]
pub struct Capture {
    /// As it was named.
    pub path: String,
    /// `pcap`, `pcapng` or `tcpdump text`; `unread` of a capture that could not be read,
    /// `condensed` of a torn condensed one.
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
