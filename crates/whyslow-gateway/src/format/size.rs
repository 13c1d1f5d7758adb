//! Sizes of a slice: from plaintext to stored bytes, and the reverse.

use crate::age::{CHUNK, SEALED_CHUNK, TAG};

/// Bytes before a slice's first chunk: age's header, and the payload's nonce.
pub const HEADER: u64 = 276;

/// The largest plaintext of a slice: 64 PiB, a thousand times what S3 stores.
pub const MAX_LENGTH: u64 = 1 << 56;

/// Bytes of a slice with `length` bytes of plaintext. `None` beyond [`MAX_LENGTH`].
pub fn sealed_size(length: u64) -> Option<u64> {
    (length <= MAX_LENGTH).then(|| HEADER + length + chunks(length) * TAG as u64)
}

/// Bytes of plaintext in a slice of `sealed` bytes. `None` when no slice has this size.
pub fn plain_size(sealed: u64) -> Option<u64> {
    let payload = sealed.checked_sub(HEADER)?;
    let length = payload.checked_sub(payload.div_ceil(SEALED_CHUNK as u64) * TAG as u64)?;
    (sealed_size(length)? == sealed).then_some(length)
}

/// Returns the number of bytes at a single object's end that surely contain the last `length` bytes
/// of its plaintext, while its size is unknown. They are requested together with the header. The
/// answer has the size, and `Layout::plan` then selects the bytes to read.
pub fn suffix_size(length: u64) -> u64 {
    let more = CHUNK as u64 - 1;
    let chunks = length.saturating_sub(1).div_ceil(CHUNK as u64) + 1;
    length.saturating_add(more).saturating_add(chunks * TAG as u64)
}

/// Chunks of a payload; an empty one has an empty chunk.
pub(super) fn chunks(length: u64) -> u64 {
    length.div_ceil(CHUNK as u64).max(1)
}

/// The offset of a chunk in its slice.
pub(super) fn chunk_offset(index: u64) -> u64 {
    HEADER + index * SEALED_CHUNK as u64
}
