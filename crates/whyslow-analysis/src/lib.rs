//! [`Analysis`]: whyslow's analysis of its captures, as data. The renderers print it and compute
//! nothing.
//!
//! This is the JSON contract, `"schema": "whyslow/2"`: names are added, never renamed. Times are
//! seconds from the capture's first packet, rates bits per second, pairs `[client, server]`.
//! Unknown values are null.

#![forbid(unsafe_code)]
#![warn(clippy::disallowed_methods)]

mod capture;
pub mod cause;
mod detail;
mod direction;
pub mod documentation;
mod exchange;
mod finding;
mod grade;
mod icmp;
mod limit;
mod measurement;
mod origin;
mod pair;
mod problem;
mod question;
mod remedy;
mod request;
mod span;
mod statement;
mod transfer;
pub mod types;
mod verdict;
mod verify;

pub use capture::{Capture, Lookup, Ping, PingRtt};
pub use detail::Detail;
pub use direction::{Direction, Retransmission, Retransmitted};
pub use exchange::*;
pub use finding::Finding;
pub use grade::Grade;
pub use icmp::IcmpError;
pub use limit::{LimitShare, LimitSpan, LimitTime};
pub use measurement::{Measure, Measurement, Unit};
pub use origin::Origin;
pub use pair::*;
pub use problem::{
    MissingHandshake, NotCompared, PARTIAL, Problem, ProblemDetail, QUIC, Rewritten, TextField, UnmatchedIcmp,
};
pub use question::*;
pub use remedy::*;
pub use request::{MAX_REQUESTS, Request};
pub use span::{CostSpan, MAX_COST_SPANS, MAX_WAIT_SPANS, Party, WaitSpan};
pub use statement::*;
pub use transfer::{MAX_ROUNDS, MAX_SPANS, Round, Transfer, is_model_near};
pub use verdict::Verdict;
pub use verify::{Check, Verify};

pub use cause::Cause;
pub use types::{Application, Platform, Product, ProductEstimate, ProductEvidence, Stack, StackFields, StackReason};
pub use types::{
    DecryptedDirection, Decryption, End, Fate, FlowControl, Frame, HiddenReason, LimitingFactor, MAX_RETRANSMISSIONS,
    NameLookup, Near, PathEstimate, PathEstimates, Quic, QuicOpened, RetransmissionKind, State, TransportParameters,
    Undecrypted, VantageReason,
};

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// The version of the contract.
pub const SCHEMA: &str = "whyslow/2";

/// Everything that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The inputs were not read, or not captured, to their end; the captures' problem [`PARTIAL`]
    /// has the extent. Left out if false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Minimum cost that is called slow.
    pub threshold_s: Nanos,
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

/// One end of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
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
#[derive(Clone, Debug, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Connection {
    /// 1-based, in the order of first packets.
    pub id: u64,
    /// Index in [`Analysis::captures`] of the (first) capture that holds it.
    pub capture: usize,
    /// Endpoint that opened it.
    pub client: Endpoint,
    /// Endpoint that accepted it.
    pub server: Endpoint,
    /// First packet.
    pub start_s: Nanos,
    /// First packet to last, or to the end of the capture where an answer is waited for then.
    pub duration_s: Nanos,
    /// State at the end of the capture.
    pub state: State,
    /// End that sent FIN or RST first.
    pub closed_by: Option<End>,
    /// The capture point.
    pub near: Near,
    /// Evidence for that.
    pub near_reason: VantageReason,
    /// Round-trip times.
    pub rtt_ms: Rtt,
    /// The lookup of the server's name (DNS) right before it, for which it waited. Left out if none
    /// was captured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookup: Option<NameLookup>,
    /// The opening; null when it was not captured.
    pub handshake: Option<Handshake>,
    /// The platform of each end, client's first.
    pub stacks: [Stack; 2],
    /// The program at each end, client's first.
    pub products: [Option<ProductEstimate>; 2],
    /// The protocol above TCP. Null if unknown.
    pub application: Option<Application>,
    /// Whether packets show that protocol; else the port alone suggests it.
    #[serde(skip)]
    pub application_is_shown: bool,
    /// Capture problems that concern this connection.
    pub problems: Vec<Problem>,
    /// ICMP errors about its packets, in the order of their first occurrence; at most eight
    /// different ones. Left out if there are none.
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
    /// Number of exchanges.
    pub exchanges_total: u64,
    /// Their response times; left out where none was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_times: Option<ResponseTimes>,
    /// Transfers, in time order; at most [`MAX_TRANSFERS`], the ones that were waited for longest.
    pub transfers: Vec<Transfer>,
    /// Number of transfers.
    pub transfers_total: u64,
    /// Findings over the connection's transfers, ordered by seconds lost.
    pub findings: Vec<Finding>,
    /// Details of a QUIC connection; null, and left out, for TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quic: Option<Quic>,
    /// How far its TLS was decrypted; null without secrets, or without TLS. Left out where it is
    /// null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decryption: Option<Decryption>,
    /// Requests in payload that is clear or was decrypted, each with its own wait, in time order;
    /// at most [`MAX_REQUESTS`], the first ones and those that were waited for longest. Left out
    /// where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Request>,
    /// How many there were. Left out where there were none.
    #[serde(skip_serializing_if = "is_zero")]
    pub requests_total: u64,
    /// Its identification elsewhere.
    #[serde(flatten)]
    pub origin: Origin,
}

/// A stretch of a text from which packets of a connection were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Elided {
    /// Time of the last packet of the connection before the gap.
    pub start_s: Nanos,
    /// Time from there to the first packet after the gap.
    pub duration_s: Nanos,
}

/// Maximum number of connections listed: those that lost the most time. The capture's problem
/// `connections-not-listed` counts the others.
pub const MAX_CONNECTIONS: usize = 10_000;
/// Maximum number of transfers listed in full of one connection.
pub const MAX_TRANSFERS: usize = 256;

/// Round-trip times in milliseconds, of the whole path whatever the vantage.
#[derive(Clone, Copy, Debug, Default, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Rtt {
    /// Least.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// Number of samples.
    pub samples: u64,
}

/// Options of the two SYNs; pairs are `[client, server]`.
#[derive(Clone, Debug, Serialize, BorshSerialize, BorshDeserialize)]
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

impl Connection {
    /// Sets its number among the TCP connections; `quic_before`: connections of QUIC up to this.
    pub fn number_stream(&mut self, quic_before: u64) {
        self.origin.stream = self.quic.is_none().then(|| self.id.saturating_sub(1 + quic_before));
    }

    /// Applies `act` to every frame in it, for example to add the capture's number.
    pub fn for_each_frame(&mut self, act: impl Fn(&mut Frame) + Copy) {
        act(&mut self.origin.frame);
        self.lookup.iter_mut().flat_map(|lookup| &mut lookup.frames).for_each(act);
        for resent in self.directions.iter_mut().flat_map(|direction| &mut direction.retransmissions) {
            act(&mut resent.frame);
        }
        for round in self.transfers.iter_mut().flat_map(|transfer| &mut transfer.rounds) {
            act(&mut round.first_frame);
            act(&mut round.last_frame);
        }
        self.transfers.iter_mut().for_each(|transfer| transfer.path.for_each_frame(act));
        self.problems.iter_mut().filter_map(|problem| problem.detail.frame_mut()).for_each(act);
        self.icmp.iter_mut().for_each(|error| act(&mut error.frame));
        let of_transfers = self.transfers.iter_mut().flat_map(|transfer| &mut transfer.findings);
        of_transfers.chain(&mut self.findings).for_each(|finding| finding.for_each_frame(act));
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
