//! Segments that were sent again, until it is known whether they had to be.

use crate::tcp::facts::Retransmitted;
use crate::types::RetransmissionKind;
use crate::units::Nanos;

/// Why a segment was retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetransmitReason {
    Fast,
    Timeout,
    TailProbe,
}

/// The circumstances of a retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetransmitContext {
    /// A timer or probe sent it, not an ACK.
    pub by_timer: bool,
    /// It is the highest segment: a probe, or the timer with nothing else outstanding.
    pub tail: bool,
    /// It had been retransmitted before, for duplicate ACKs.
    pub lost_retransmit: bool,
    /// If only IP IDs tell of it: the timers took no longer than this, so the program was silent
    /// before.
    pub max_timer_wait: Option<Nanos>,
}

/// A retransmitted segment.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Retransmit {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) time: Nanos,
    /// Payload bytes that had passed before it.
    pub(super) passed_before: u64,
    pub(super) reason: RetransmitReason,
    pub(super) tsval: Option<u32>,
    /// The TSval of the previous copy, if that was captured.
    pub(super) previous_tsval: Option<u32>,
    /// The original was not captured before it.
    pub(super) unseen: bool,
    pub(super) spurious: bool,
    /// Counted as larger than any segment that had arrived.
    pub(super) counted_stuck: bool,
    /// The receiver has reported it as a duplicate (D-SACK).
    pub(super) dsacked: bool,
    /// Its index in
    /// [`DirectionFacts::retransmissions`](crate::tcp::facts::DirectionFacts::retransmissions), if
    /// listed.
    pub(super) listed_at: Option<usize>,
}

impl RetransmitReason {
    pub(super) fn to_kind(self, spurious: bool) -> RetransmissionKind {
        match self {
            _ if spurious => RetransmissionKind::Spurious,
            Self::Fast => RetransmissionKind::Fast,
            Self::Timeout => RetransmissionKind::Timeout,
            Self::TailProbe => RetransmissionKind::TailProbe,
        }
    }
}

pub(super) fn counter(kinds: &mut Retransmitted, kind: RetransmitReason) -> &mut u64 {
    match kind {
        RetransmitReason::Fast => &mut kinds.fast,
        RetransmitReason::Timeout => &mut kinds.timeout,
        RetransmitReason::TailProbe => &mut kinds.tail_probe,
    }
}
