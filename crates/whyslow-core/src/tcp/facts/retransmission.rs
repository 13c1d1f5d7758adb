//! Segments that were retransmitted: how many of each kind, and the first of them.

use crate::types::{Frame, RetransmissionKind};
use crate::units::Time;

/// Retransmitted segments by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retransmitted {
    /// After duplicate ACKs or SACKs; or after an ICMP error, in shorter segments.
    pub fast: u64,
    /// After the retransmission timer.
    pub timeout: u64,
    /// Tail loss probes (RFC 8985 section 7).
    pub tail_probe: u64,
    /// The first copy had arrived (D-SACK, or Eifel's timestamps). Counted in no other kind.
    pub spurious: u64,
    /// Of all the above, those whose first copy was lost before the capture point.
    pub unseen_original: u64,
}

impl Retransmitted {
    /// Adds those of more segments.
    pub(crate) fn add(&mut self, more: &Self) {
        self.fast += more.fast;
        self.timeout += more.timeout;
        self.tail_probe += more.tail_probe;
        self.spurious += more.spurious;
        self.unseen_original += more.unseen_original;
    }
}

/// A segment that was retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// The frame of the later copy.
    pub frame: Frame,
    /// When it passed the capture point.
    pub time: Time,
    /// Its first byte, relative to the SYN.
    pub seq: u64,
    /// Payload bytes; none of a FIN alone.
    pub bytes: u64,
    /// Why it was sent.
    pub kind: RetransmissionKind,
    /// The first copy was lost before the capture point.
    pub unseen_original: bool,
}
