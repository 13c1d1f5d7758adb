//! Segments that were sent again, until it is known whether they had to be.

use crate::analysis::{ResendKind, Retransmitted};
use crate::units::Nanos;

/// Why a segment was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Fast,
    Timeout,
    TailProbe,
}

/// How a segment came to be sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentAgain {
    /// By the timer or a probe, and not for an ACK.
    pub timer: bool,
    /// It ends what was sent: a probe, or the timer with nothing else outstanding.
    pub tail: bool,
    /// It had been sent again before, for duplicate ACKs.
    pub lost_copy: bool,
    /// Of what only numbers tell: the timers took no longer than this, so that its program was silent before.
    pub most: Option<Nanos>,
}

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resend {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) time: Nanos,
    /// Payload bytes that had passed before it.
    pub(super) passed: u64,
    pub(super) kind: Kind,
    pub(super) tsval: Option<u32>,
    /// The TSval of the copy before it, if that was captured.
    pub(super) original: Option<u32>,
    /// Its first copy was not in the capture when it came.
    pub(super) unseen: bool,
    pub(super) spurious: bool,
    /// Counted as larger than anything that had arrived.
    pub(super) stuck: bool,
    /// The receiver has said that it had these bytes already.
    pub(super) reported: bool,
    /// Its place in [`HalfFacts::retransmissions`](super::facts::HalfFacts::retransmissions), if it is listed.
    pub(super) listed: Option<usize>,
}

impl Kind {
    pub(super) fn told(self, needless: bool) -> ResendKind {
        match self {
            _ if needless => ResendKind::Spurious,
            Self::Fast => ResendKind::Fast,
            Self::Timeout => ResendKind::Timeout,
            Self::TailProbe => ResendKind::TailProbe,
        }
    }
}

pub(super) fn counter(kinds: &mut Retransmitted, kind: Kind) -> &mut u64 {
    match kind {
        Kind::Fast => &mut kinds.fast,
        Kind::Timeout => &mut kinds.timeout,
        Kind::TailProbe => &mut kinds.tail_probe,
    }
}
