//! Segments that were sent again, until it is known whether they had to be.

use crate::analysis::{RetransmissionKind, Retransmitted};
use crate::units::Nanos;

/// Why a segment was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetransmitReason {
    Fast,
    Timeout,
    TailProbe,
}

/// How a segment came to be sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetransmitContext {
    /// By the timer or a probe, and not for an ACK.
    pub by_timer: bool,
    /// It ends what was sent: a probe, or the timer with nothing else outstanding.
    pub tail: bool,
    /// It had been sent again before, for duplicate ACKs.
    pub lost_retransmit: bool,
    /// Of what only numbers tell: the timers took no longer than this, so that its program was
    /// silent before.
    pub max_timer_wait: Option<Nanos>,
}

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retransmit {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) time: Nanos,
    /// Payload bytes that had passed before it.
    pub(super) passed_before: u64,
    pub(super) reason: RetransmitReason,
    pub(super) tsval: Option<u32>,
    /// The TSval of the copy before it, if that was captured.
    pub(super) previous_tsval: Option<u32>,
    /// Its first copy was not in the capture when it came.
    pub(super) unseen: bool,
    pub(super) spurious: bool,
    /// Counted as larger than anything that had arrived.
    pub(super) counted_stuck: bool,
    /// The receiver has said that it had these bytes already.
    pub(super) dsacked: bool,
    /// Its place in [`DirectionFacts::retransmissions`](super::facts::HalfFacts::retransmissions),
    /// if it is listed.
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
