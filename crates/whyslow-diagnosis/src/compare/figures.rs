//! Figures of a comparison of two transfers.

use serde::Serialize;
use whyslow_units::Nanos;

/// Times of both transfers, and their difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Times {
    /// Time of each.
    pub seconds: [Nanos; 2],
    /// The second's less the first's.
    pub difference_s: Nanos,
}

impl Times {
    pub(super) fn new(seconds: [Nanos; 2]) -> Self {
        Self { seconds, difference_s: seconds[1] - seconds[0] }
    }
}

/// One size, two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SameSize {
    /// Payload.
    pub bytes: u64,
    /// Times from the request until these bytes had arrived.
    #[serde(flatten)]
    pub times: Times,
}

/// Expected continuation of a transfer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Reach {
    /// Bits per second.
    pub rate_bps: f64,
    /// Basis of the expectation.
    pub kind: ReachKind,
    /// Bytes of a round: of the last full one if it was growing, else on average.
    pub flight: u64,
    /// The length of a round.
    pub round_s: Nanos,
    /// The largest window that the receiver offered, bytes; `None` if it would not stop the growth.
    pub window: Option<u64>,
}

/// Basis of an expected rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReachKind {
    /// It had stopped growing: the rate of its later half.
    Steady,
    /// It was still growing, and the largest window that the receiver offered would stop it.
    Window,
    /// It was still growing, and the capture does not show a limit: the rate of its
    /// last full round, or more.
    Growing,
}

/// A range of sizes in which one is faster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Lead {
    /// From this size on, bytes.
    pub from_bytes: u64,
    /// Up to this size, bytes.
    pub to_bytes: u64,
    /// 0: the first, 1: the second; null where they are level.
    pub faster: Option<usize>,
    /// The largest lead.
    pub by_s: Nanos,
    /// At this size.
    pub at_bytes: u64,
    /// The largest size for which both were captured lies below `to_bytes`: larger sizes are
    /// extrapolated.
    pub extrapolated: bool,
}
