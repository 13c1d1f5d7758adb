//! The bits of a packet's first two bytes in a row.

/// Of which connection and side it is: those of the packet before, …
pub(super) const SAME: u8 = 0;
/// … the same connection's other side, …
pub(super) const OTHER_SIDE: u8 = 1;
/// … one that is named, …
pub(super) const NAMED: u8 = 2;
/// … or a byte that follows says what this is.
pub(super) const SPECIAL: u8 = 3;
/// Bits of these.
pub(super) const REFERENCE: u8 = 3;

/// The frame's number is not the next one.
pub(super) const FRAME: u8 = 1 << 2;
/// What differs from what is expected.
pub(super) const SEQ: u8 = 1 << 3;
pub(super) const ACK: u8 = 1 << 4;
pub(super) const WINDOW: u8 = 1 << 5;
pub(super) const LENGTH: u8 = 1 << 6;
/// There is a second byte.
pub(super) const MORE: u8 = 1 << 7;

/// Of the second byte.
pub(super) const FLAGS: u8 = 1;
pub(super) const IP_ID: u8 = 1 << 1;
pub(super) const TTL_ECN: u8 = 1 << 2;
pub(super) const OPTIONS: u8 = 1 << 3;
pub(super) const FORM: u8 = 1 << 4;
pub(super) const PAYLOAD: u8 = 1 << 5;
pub(super) const CAPTURED: u8 = 1 << 6;

/// What follows [`SPECIAL`]: the first packet of a connection in this row, …
pub(super) const CONNECTION: u8 = 0;
/// … a packet as it was captured, …
pub(super) const VERBATIM: u8 = 1;
/// … one of these again, …
pub(super) const REPEATED: u8 = 2;
/// … or what else a reader tells.
pub(super) const TEXT: u8 = 3;
pub(super) const LEFT_OUT: u8 = 4;
pub(super) const HOST_NAME: u8 = 5;

/// Of the byte that tells which options there are.
pub(super) const MSS: u8 = 1;
pub(super) const WINDOW_SCALE: u8 = 1 << 1;
pub(super) const SACK_PERMITTED: u8 = 1 << 2;
pub(super) const SACK: u8 = 1 << 3;
pub(super) const TIMESTAMPS: u8 = 1 << 4;
pub(super) const FAST_OPEN: u8 = 1 << 5;
pub(super) const MPTCP: u8 = 1 << 6;
pub(super) const MPTCP_JOIN: u8 = 1 << 7;

/// Of the byte that tells the form; its lower half is the number of tunnels.
pub(super) const FRAGMENT: u8 = 1 << 4;
pub(super) const LENGTHLESS: u8 = 1 << 5;
pub(super) const DAMAGED: u8 = 1 << 6;
pub(super) const PARTIAL: u8 = 1 << 7;
