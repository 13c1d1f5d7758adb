//! Retransmitted segments: the number of each kind, and a list of the first ones.

use whyslow_analysis::types::{Frame, RetransmissionKind};
use whyslow_units::Time;

/// Retransmitted segments by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retransmitted {
    /// After duplicate ACKs or SACKs, or after an ICMP error in shorter segments.
    pub fast: u64,
    /// After the retransmission timer.
    pub timeout: u64,
    /// Tail loss probes (RFC 8985 section 7).
    pub tail_probe: u64,
    /// The first copy had arrived (D-SACK, or Eifel's timestamps). Not counted in another kind.
    pub spurious: u64,
    /// Retransmissions of all kinds whose first copy was lost before the capture point.
    pub unseen_original: u64,
}

impl Retransmitted {
    /// Adds the counts of more segments.
    pub fn add(&mut self, more: &Self) {
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
    /// Frame of the later copy.
    pub frame: Frame,
    /// Its capture time.
    pub time: Time,
    /// Relative sequence number of its first byte.
    pub seq: u64,
    /// Payload bytes; 0 for a FIN without payload.
    pub bytes: u64,
    /// Why it was retransmitted.
    pub kind: RetransmissionKind,
    /// Whether the first copy was lost before the capture point.
    pub unseen_original: bool,
}
