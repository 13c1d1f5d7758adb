//! With which bytes something that is known here can begin.

use super::{http, tls};

/// Whether the payload of a segment begins with a byte with which anything that is known here can.
#[inline]
pub(in crate::tcp) fn may_open(payload: &[u8]) -> bool {
    payload.first().is_some_and(|&first| OPENINGS[usize::from(first)])
}

/// With which bytes anything that is known here can start, in the middle of a stream: most bytes
/// are none.
static OPENINGS: [bool; 256] = {
    let mut openings = [false; 256];
    let mut first = 0u8;
    while first < u8::MAX {
        openings[first as usize] = tls::may_open(first) || http::may_open(first);
        first += 1;
    }
    openings
};
