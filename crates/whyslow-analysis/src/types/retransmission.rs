//! [`RetransmissionKind`]: why a segment was retransmitted.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// Largest number of retransmissions listed for one direction.
pub const MAX_RETRANSMISSIONS: usize = 1000;

/// Why a segment was retransmitted, named as in
/// [`Retransmitted`](crate::Retransmitted).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetransmissionKind {
    /// After duplicate ACKs or SACKs, or after an ICMP error in shorter segments.
    Fast,
    /// After the retransmission timer.
    Timeout,
    /// A tail loss probe.
    TailProbe,
    /// Unnecessary, whatever triggered it.
    Spurious,
}
