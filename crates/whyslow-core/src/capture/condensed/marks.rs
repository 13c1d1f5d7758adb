//! The bits of a packet's first two bytes in a row.

/// Connection and side: those of the previous packet, …
pub(super) const SAME: u8 = 0;
/// … the other side of the same connection, …
pub(super) const OTHER_SIDE: u8 = 1;
/// … a numbered connection and side, …
pub(super) const NAMED: u8 = 2;
/// … or another entry, whose kind is in the next byte.
pub(super) const SPECIAL: u8 = 3;
/// Mask of these bits.
pub(super) const REFERENCE: u8 = 3;

/// The frame number is not the next one.
pub(super) const FRAME: u8 = 1 << 2;
/// Fields with an unexpected value.
pub(super) const SEQ: u8 = 1 << 3;
pub(super) const ACK: u8 = 1 << 4;
pub(super) const WINDOW: u8 = 1 << 5;
pub(super) const LENGTH: u8 = 1 << 6;
/// A second byte follows.
pub(super) const MORE: u8 = 1 << 7;

/// Bits of the second byte.
pub(super) const FLAGS: u8 = 1;
pub(super) const IP_ID: u8 = 1 << 1;
pub(super) const TTL_ECN: u8 = 1 << 2;
pub(super) const OPTIONS: u8 = 1 << 3;
pub(super) const FORM: u8 = 1 << 4;
pub(super) const PAYLOAD: u8 = 1 << 5;
pub(super) const CAPTURED: u8 = 1 << 6;

/// The byte after [`SPECIAL`]: the first packet of a connection in this row, …
pub(super) const CONNECTION: u8 = 0;
/// … an unchanged packet, …
pub(super) const VERBATIM: u8 = 1;
/// … a repetition of an unchanged packet, …
pub(super) const REPEATED: u8 = 2;
/// … or another event of a reader.
pub(super) const TEXT: u8 = 3;
pub(super) const LEFT_OUT: u8 = 4;
pub(super) const HOST_NAME: u8 = 5;

/// Bits of the byte for the options that are present.
pub(super) const MSS: u8 = 1;
pub(super) const WINDOW_SCALE: u8 = 1 << 1;
pub(super) const SACK_PERMITTED: u8 = 1 << 2;
pub(super) const SACK: u8 = 1 << 3;
pub(super) const TIMESTAMPS: u8 = 1 << 4;
pub(super) const FAST_OPEN: u8 = 1 << 5;
pub(super) const MPTCP: u8 = 1 << 6;
pub(super) const MPTCP_JOIN: u8 = 1 << 7;

/// Bits of the byte for the form; its lower half is the number of outer IP headers.
pub(super) const FRAGMENT: u8 = 1 << 4;
pub(super) const LENGTHLESS: u8 = 1 << 5;
pub(super) const DAMAGED: u8 = 1 << 6;
pub(super) const PARTIAL: u8 = 1 << 7;
