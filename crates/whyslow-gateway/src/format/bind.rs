//! Tags: HMACs over several fields with unambiguous boundaries.

use crate::age::hmac;

/// Bytes of every tag: half of an HMAC-SHA-256 (RFC 2104 section 5).
pub(super) const TAG: usize = 16;

/// A tag over `fields`, for one purpose. Each field is preceded by its length.
pub(super) fn tag(key: &[u8], purpose: &str, fields: &[&[u8]]) -> [u8; TAG] {
    let lengths: Vec<[u8; 8]> = fields.iter().map(|field| (field.len() as u64).to_be_bytes()).collect();
    let mut pieces: Vec<&[u8]> = vec![purpose.as_bytes(), &[0]];
    for (length, field) in lengths.iter().zip(fields) {
        pieces.extend([&length[..], field]);
    }
    let mut tag = [0; TAG];
    tag.copy_from_slice(&hmac(key, &pieces)[..TAG]);
    tag
}
