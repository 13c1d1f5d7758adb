//! The payload: STREAM over ChaCha20-Poly1305, in chunks of 64 KiB, each with a tag of its own.
//!
//! A chunk's nonce is its number and whether it is the last, so that no chunk can be dropped, moved
//! or repeated, and the payload cannot be cut or extended at a chunk's end.

use super::primitives::{FileKey, hkdf};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use std::fmt;
use zeroize::Zeroizing;

/// Plaintext bytes of every chunk but the last.
pub(crate) const CHUNK: usize = 65_536;
/// Bytes that a tag adds to a chunk.
pub(crate) const TAG: usize = 16;
/// Bytes of a chunk as stored.
pub(crate) const SEALED_CHUNK: usize = CHUNK + TAG;
/// Bytes between the header and the first chunk.
pub(crate) const NONCE: usize = 16;

/// The key of one payload.
///
/// `ring` keeps it in a form that cannot be wiped: it remains in freed memory until that is used
/// again, and it opens this one payload.
pub(crate) struct StreamKey(LessSafeKey);

impl fmt::Debug for StreamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamKey(…)")
    }
}

impl StreamKey {
    pub(crate) fn new(key: &FileKey, nonce: &[u8; NONCE]) -> Self {
        let key: Zeroizing<[u8; 32]> = hkdf(nonce, key.bytes(), "payload");
        Self(LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key[..]).expect("the key has 32 bytes")))
    }

    /// Encrypts a chunk in place.
    pub(crate) fn seal(&self, index: u64, last: bool, chunk: &mut [u8]) -> [u8; TAG] {
        debug_assert!(chunk.len() <= CHUNK && (last || chunk.len() == CHUNK));
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce(index, last), Aad::empty(), chunk)
            .expect("64 KiB are below the cipher's limit");
        let mut bytes = [0; TAG];
        bytes.copy_from_slice(tag.as_ref());
        bytes
    }

    /// Decrypts a chunk and its tag in place, and returns how many bytes of it are plaintext.
    /// Returns `None` if they are not a sealed chunk; discard `chunk` then.
    pub(crate) fn open(&self, index: u64, last: bool, chunk: &mut [u8]) -> Option<usize> {
        self.0.open_in_place(nonce(index, last), Aad::empty(), chunk).ok().map(|text| text.len())
    }
}

/// Eleven bytes of counter, and whether it is the last.
fn nonce(index: u64, last: bool) -> Nonce {
    let mut bytes = [0; 12];
    bytes[3..11].copy_from_slice(&index.to_be_bytes());
    bytes[11] = u8::from(last);
    Nonce::assume_unique_for_key(bytes)
}
