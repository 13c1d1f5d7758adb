//! [`SliceWriter`]: takes plaintext in pieces of any size, and writes a slice.

use super::header::{self, SliceSecrets};
use super::metadata::{Kind, Object};
use super::size::{MAX_LENGTH, chunks, sealed_size};
use super::slice::{MAX_PARTS, Role, SliceHead, SliceTag};
use crate::age::{CHUNK, NoRandomness, SEALED_CHUNK, StreamKey};
use crate::keys::{EpochId, Keyring};
use zeroize::Zeroizing;

/// The reason why a slice cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The object has no such slice.
    #[error("an object of this kind has no such slice: {0:?}")]
    Role(Role),
    /// The object's epoch is not available.
    #[error("the object is sealed to epoch {0}, which is not in the keyring")]
    UnknownEpoch(EpochId),
    /// Longer than any slice.
    #[error("{0} B are more than a slice can have ({MAX_LENGTH} B)")]
    TooLong(u64),
    /// There are more bytes than the header states.
    #[error("the plaintext is longer than its header says")]
    TooMuch,
    /// There are fewer bytes than the header states.
    #[error("the plaintext is {0} B shorter than its header says")]
    TooLittle(u64),
    /// The system gives no random bytes.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
}

/// Seals one slice, under a fresh key.
///
/// Only [`finish`](Self::finish) writes the last chunk. A caller that verifies a
/// checksum of the plaintext first can leave the slice without its end: it then never opens as
/// whole.
#[derive(Debug)]
pub struct SliceWriter {
    stream: StreamKey,
    tag: SliceTag,
    /// Plaintext bytes still to come.
    missing: u64,
    /// The chunk that is being filled, and the last one.
    index: u64,
    last: u64,
    chunk: Zeroizing<Vec<u8>>,
}

impl SliceWriter {
    /// Begins a slice of `object` with `length` bytes of plaintext: its header is appended to
    /// `out`.
    ///
    /// # Errors
    /// If an object of this kind has no such slice, its epoch is not available, `length` is beyond
    /// [`MAX_LENGTH`], or the system gives no random bytes.
    pub fn new(
        keyring: &Keyring,
        object: Object,
        role: Role,
        length: u64,
        out: &mut Vec<u8>,
    ) -> Result<Self, WriteError> {
        Self::with(keyring, object, (role, length), SliceSecrets::generate()?, out)
    }

    pub(super) fn with(
        keyring: &Keyring,
        object: Object,
        (role, length): (Role, u64),
        secrets: SliceSecrets,
        out: &mut Vec<u8>,
    ) -> Result<Self, WriteError> {
        match (object.kind, role) {
            (Kind::Single, Role::Object) | (Kind::Multipart, Role::Part(1..=MAX_PARTS) | Role::Manifest(_)) => {}
            _ => return Err(WriteError::Role(role)),
        }
        sealed_size(length).ok_or(WriteError::TooLong(length))?;
        let epoch = keyring.get(object.epoch).ok_or(WriteError::UnknownEpoch(object.epoch))?;
        let head = SliceHead { object: object.id, role, length };
        let (stream, tag) = header::write(epoch, &head, secrets, out);
        let last = chunks(length) - 1;
        Ok(Self { stream, tag, missing: length, index: 0, last, chunk: Zeroizing::default() })
    }

    /// Takes plaintext, and appends the chunks that it completes to `out`.
    ///
    /// # Errors
    /// If it is more than the header states; nothing was taken then.
    pub fn write(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.missing = self.missing.checked_sub(input.len() as u64).ok_or(WriteError::TooMuch)?;
        while !input.is_empty() {
            if self.index < self.last && self.chunk.is_empty() && input.len() >= CHUNK {
                let (chunk, rest) = input.split_at(CHUNK);
                self.seal(chunk, out);
                input = rest;
                continue;
            }
            // Reserved at once: a buffer that grows would leave plaintext behind.
            let room = CHUNK - self.chunk.len();
            self.chunk.reserve_exact(room);
            let (more, rest) = input.split_at(input.len().min(room));
            self.chunk.extend_from_slice(more);
            input = rest;
            if self.index < self.last && self.chunk.len() == CHUNK {
                self.seal_buffer(out);
            }
        }
        Ok(())
    }

    /// Bytes that [`write`](Self::write) appends for `input` bytes of plaintext, which must not be
    /// more than are missing.
    pub fn output(&self, input: usize) -> usize {
        let complete = ((self.chunk.len() + input) / CHUNK) as u64;
        usize::try_from(complete.min(self.last - self.index)).unwrap_or(usize::MAX).saturating_mul(SEALED_CHUNK)
    }

    /// Bytes that [`finish`](Self::finish) appends.
    pub fn last_output(&self) -> usize {
        self.chunk.len() + SEALED_CHUNK - CHUNK
    }

    /// Appends the last chunk to `out`. Returns the slice's tag.
    ///
    /// # Errors
    /// If plaintext is missing; nothing is appended then.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<SliceTag, WriteError> {
        if self.missing > 0 {
            return Err(WriteError::TooLittle(self.missing));
        }
        self.seal_buffer(out);
        Ok(self.tag)
    }

    fn seal_buffer(&mut self, out: &mut Vec<u8>) {
        let mut chunk = std::mem::take(&mut self.chunk);
        self.seal(&chunk, out);
        chunk.clear();
        self.chunk = chunk;
    }

    fn seal(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.reserve(SEALED_CHUNK);
        out.extend_from_slice(chunk);
        let tag = self.stream.seal(self.index, self.index == self.last, &mut out[start..]);
        out.extend_from_slice(&tag);
        self.index += 1;
    }
}
