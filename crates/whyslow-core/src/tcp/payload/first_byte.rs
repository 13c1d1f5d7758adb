//! Possible first bytes of the known protocols.

use super::{http, tls};

/// Whether the payload of a segment begins with a possible first byte of a known protocol.
#[inline]
pub(in crate::tcp) fn may_open(payload: &[u8]) -> bool {
    payload.first().is_some_and(|&first| OPENINGS[usize::from(first)])
}

/// The possible first bytes of known protocols in the middle of a stream. Most byte values are not.
static OPENINGS: [bool; 256] = {
    let mut openings = [false; 256];
    let mut first = 0u8;
    while first < u8::MAX {
        openings[first as usize] = tls::may_open(first) || http::may_open(first);
        first += 1;
    }
    openings
};
