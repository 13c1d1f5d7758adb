//! Retransmitted segments, stored until it is known whether they were necessary.

use crate::tcp::facts::Retransmitted;
use std::collections::VecDeque;
use whyslow_analysis::types::RetransmissionKind;
use whyslow_units::steps;
use whyslow_units::{Nanos, Time};

/// Maximum number of stored retransmissions that may still prove to be spurious.
const MAX_RETRANSMITS: usize = 2048;
/// Number of newest retransmissions to search for the previous copy.
const RECENT_RETRANSMITS: usize = 256;

/// Why a segment was retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetransmitReason {
    Fast,
    Timeout,
    TailProbe,
}

/// The circumstances of a retransmission.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RetransmitContext {
    /// A timer or probe triggered it, and not an ACK.
    pub by_timer: bool,
    /// It is the highest segment: a probe, or a timeout with nothing else outstanding.
    pub tail: bool,
    /// It had already been retransmitted, after duplicate ACKs.
    pub lost_retransmit: bool,
    /// The receiver's closed window opened before it.
    pub no_room: bool,
    /// If only IP IDs show it: the timers took at most this long, so that the application was
    /// silent before.
    pub max_timer_wait: Option<Nanos>,
}

/// A retransmitted segment.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Retransmit {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) time: Time,
    /// Payload bytes captured before it.
    pub(super) passed_before: u64,
    pub(super) reason: RetransmitReason,
    pub(super) tsval: Option<u32>,
    /// The TSval of the previous copy, if captured.
    pub(super) previous_tsval: Option<u32>,
    /// The original was not captured.
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

/// The newest retransmissions of a sender.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct Retransmits {
    pub list: VecDeque<Retransmit>,
    /// End of the highest retransmission, or of the highest outstanding segment that was sent more
    /// than once or came late.
    pub end: u64,
    /// The same, only for retransmissions whose original was not captured before them.
    pub unseen_end: u64,
    /// Time up to which waits for lost retransmissions are counted.
    pub lost_counted_until: Time,
}

impl Retransmits {
    pub fn push(&mut self, retransmit: Retransmit) {
        if self.list.len() == MAX_RETRANSMITS {
            self.list.pop_front();
        }
        self.raise_end(retransmit.end);
        if retransmit.unseen {
            self.unseen_end = self.unseen_end.max(retransmit.end);
        }
        self.list.push_back(retransmit);
    }

    /// Records the end of a segment that was sent more than once, or came late.
    pub fn raise_end(&mut self, end: u64) {
        self.end = self.end.max(end);
    }

    /// Returns the last copy of bytes within `[start, end)`. One captured segment may be several on
    /// the wire, each retransmitted individually.
    pub fn previous(&self, start: u64, end: u64) -> Option<Retransmit> {
        let recent = if self.end > start { RECENT_RETRANSMITS } else { 0 };
        self.list
            .iter()
            .rev()
            .take(recent)
            .inspect(|_| steps::count(1))
            .find(|r| r.start < end && r.end > start)
            .copied()
    }
}
