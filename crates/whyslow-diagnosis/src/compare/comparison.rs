//! A comparison: data for the renderers.

use super::figures::{Lead, Reach, SameSize, Times};
use super::{ComparisonCaveat, ComparisonStatement};
use serde::Serialize;
use whyslow_analysis::{End, Finding, LimitingFactor, Near, Verdict};
use whyslow_units::Nanos;

/// Common points and differences of two transfers. Pairs are `[a, b]`; a difference is `b - a`.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// [`SCHEMA`](super::SCHEMA).
    pub schema: &'static str,
    /// The transfers.
    pub transfers: [TransferSummary; 2],
    /// Time by phase: the phases before the first byte, then the limits that either has.
    pub phases: Vec<Phase>,
    /// All phases together.
    pub total: Times,
    /// Time from the request to the first byte.
    pub first_byte: FirstByte,
    /// How long each took for as many bytes as both carried.
    pub same_size: Option<SameSize>,
    /// The rounds, with those of the same number side by side.
    pub rounds: Vec<[Option<RoundSide>; 2]>,
    /// Number of rounds of each.
    pub rounds_total: [u64; 2],
    /// Bytes that had arrived, by time.
    pub curves: [ByteCurves; 2],
    /// Negotiated options, and the beginning of each.
    pub settings: Vec<Setting>,
    /// The rate that each would come to if it went on.
    pub reach: [Option<Reach>; 2],
    /// The faster transfer for each range of sizes.
    pub leads: Vec<Lead>,
    /// Conclusions.
    pub statements: Vec<ComparisonStatement>,
    /// Limits of the comparison.
    pub caveats: Vec<ComparisonCaveat>,
}

/// One of the two transfers.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TransferSummary {
    /// Path of the capture, as it was given.
    pub path: String,
    /// Id of its connection.
    pub connection: u64,
    /// Number among the connection's transfers, from 1.
    pub transfer: usize,
    /// Client and server, with ports.
    pub ends: [String; 2],
    /// The end that sends.
    pub from: End,
    /// Its content, if the payload shows it.
    pub label: Option<String>,
    /// The capture point.
    pub near: Near,
    /// Payload.
    pub bytes: u64,
    /// First byte sent to the ACK of the last.
    pub duration_s: Nanos,
    /// Payload over that, bits per second.
    pub rate_bps: Option<f64>,
    /// The minimum RTT of the connection.
    pub rtt_s: Option<Nanos>,
    /// Why it was slow, in one sentence.
    pub verdict: Verdict,
    /// The costliest finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<Finding>,
    /// Packets of it were left out of a text: its bytes and its whole time are compared, not how
    /// they came. Left out where it is not so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub elided: bool,
}

/// Time under one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Phase {
    /// Which.
    pub limit: LimitingFactor,
    /// Whether this time passed before the first byte.
    pub before: bool,
    /// How long.
    #[serde(flatten)]
    pub times: Times,
}

/// Until the first byte of the payload.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct FirstByte {
    /// Until it was there. From the request on; null where the transfer answers none.
    pub arrived_s: [Option<Nanos>; 2],
    /// Until the receiving program could read it: a TLS record is readable when it is whole.
    pub readable_s: [Option<Nanos>; 2],
    /// The TLS record with which it began, bytes.
    pub first_record: [Option<u64>; 2],
}

/// One transfer's side of a round.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct RoundSide {
    /// Time from the request to the first byte of the round.
    pub start_s: Nanos,
    /// New payload.
    pub bytes: u64,
    /// Most bytes in flight during it.
    pub in_flight: u64,
    /// `in_flight` over that of the round before; null for the first.
    pub growth: Option<f64>,
    /// The largest window that the sender had.
    pub window: Option<u64>,
    /// Its limit during most of its time.
    pub limit: LimitingFactor,
}

/// How many bytes the receiver had by when: lines through points, rising.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ByteCurves {
    /// As captured.
    pub captured: Vec<CurvePoint>,
    /// The continuation of the curve; empty if it is unknown.
    pub extrapolated: Vec<CurvePoint>,
}

/// A point of a curve; in JSON `[time_s, bytes]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "(Nanos, u64)")]
pub struct CurvePoint {
    /// From the request on.
    pub time: Nanos,
    /// Bytes that had arrived by then.
    pub bytes: u64,
}

impl From<CurvePoint> for (Nanos, u64) {
    fn from(point: CurvePoint) -> Self {
        (point.time, point.bytes)
    }
}

/// A property of both transfers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Setting {
    /// Its name: `round-trip`, `mss`, `window-scale`, `sack`, `timestamps`, `first-flight`,
    /// `initial-window`, `first-window`, `first-record`, `largest-record`.
    pub name: &'static str,
    /// In plain words; null where it is not known.
    pub values: [Option<String>; 2],
    /// Whether both values are known and differ.
    pub differs: bool,
}
