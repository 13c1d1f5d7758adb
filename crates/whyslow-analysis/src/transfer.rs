//! [`Transfer`]: a bulk of payload, its limits, and the causes.

use super::finding::Finding;
use super::limit::{LimitShare, LimitSpan};
use super::verdict::Verdict;
use crate::types::{End, Frame, LimitingFactor, PathEstimates};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// One contiguous bulk of payload in one direction.
#[derive(Clone, Debug, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Transfer {
    /// Sender of the transfer.
    pub from: End,
    /// Sequence space that was acknowledged.
    pub bytes: u64,
    /// The sender's first byte.
    pub start_s: Nanos,
    /// Its duration on the sender's clock: to the ACK of its last byte, or until all of it had
    /// arrived if that ACK came with other data much later.
    pub duration_s: Nanos,
    /// `bytes` over `duration_s`; null when that is zero.
    pub rate_bps: Option<f64>,
    /// Content, if the payload shows it: `HTTP GET /file → 200`, `TLS application data`.
    pub label: Option<String>,
    /// Phases before its first byte: handshakes, the request's way, the server's processing.
    pub before: Vec<LimitShare>,
    /// From the first byte sent to the first byte that the receiving application could read (a
    /// whole TLS record), seconds.
    pub first_byte_s: Option<Nanos>,
    /// The TLS record with which it begins, its header included, bytes; null where it begins with
    /// none that was seen.
    pub first_record: Option<u64>,
    /// The first rounds, at most [`MAX_ROUNDS`].
    pub rounds: Vec<Round>,
    /// Number of rounds.
    pub rounds_total: u64,
    /// The text input lacks packets of this transfer: `rounds` is the longest complete run, and the
    /// limits outside it are unknown. Left out if false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub elided: bool,
    /// What the capture shows of its path, and what it hides.
    pub path: PathEstimates,
    /// The model's time (`whatif`) for the transfer as it was; null if it was not run. A
    /// [`Remedy::promise`](super::Remedy::promise) needs it within 15 % of `duration_s`.
    pub model_s: Option<Nanos>,
    /// The model was not run for it, or not for all of its findings, though it could have been: the
    /// work is bounded, and transfers that lost more came first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub model_skipped: bool,
    /// Partition of `duration_s`; the shares sum to 1.
    pub limits: Vec<LimitShare>,
    /// Limits in time order, for a timeline: runs of one limit, at most [`MAX_SPANS`].
    pub timeline: Vec<LimitSpan>,
    /// Why it was slow, ordered by cost; empty if it was not.
    pub findings: Vec<Finding>,
    /// The conclusion from all findings.
    pub verdict: Verdict,
}

impl Transfer {
    /// Time that its user waited: from the request, or its first byte, to its end. Handshakes are
    /// not part of it, nor processing of the client's own application, nor idle time.
    pub fn waited(&self) -> Nanos {
        let is_wait = |limit| {
            matches!(limit, LimitingFactor::RequestWait | LimitingFactor::ServerThink | LimitingFactor::Timeout)
        };
        let before: Nanos = self.before.iter().filter(|phase| is_wait(phase.limit)).map(|phase| phase.seconds).sum();
        let idle: Nanos =
            self.limits.iter().filter(|phase| phase.limit == LimitingFactor::Idle).map(|phase| phase.seconds).sum();
        before + self.duration_s - idle
    }

    /// Cost of its costliest finding.
    pub fn cost(&self) -> Nanos {
        self.findings.iter().map(|finding| finding.cost_s).max().unwrap_or_default()
    }

    /// Whether the capture does not show its limit.
    pub fn is_verdict_unknown(&self) -> bool {
        self.verdict.is_unknown()
    }

    /// Whether the model is close enough to the measured time to promise anything; `None` if it was
    /// not run.
    pub fn model_fits(&self) -> Option<bool> {
        Some(is_model_near(self.model_s?, self.duration_s))
    }
}

/// Largest error of a model that may promise anything, as a share of the measured time.
const MAX_MODEL_ERROR: f64 = 0.15;

/// Returns whether the model's time is near enough to the measured one to promise anything.
pub fn is_model_near(model: Nanos, measured: Nanos) -> bool {
    (model - measured).0.abs() as f64 <= MAX_MODEL_ERROR * measured.0 as f64
}

/// Maximum number of rounds listed of one transfer.
pub const MAX_ROUNDS: usize = 64;

/// Maximum number of spans in a transfer's timeline.
pub const MAX_SPANS: usize = 256;

/// Packet-timed: from the first segment sent after the ACK of the last round's first segment.
#[derive(Clone, Debug, Serialize, BorshSerialize, BorshDeserialize)]
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
    pub limit: LimitingFactor,
}
