//! [`RecordCipher`]: opens the records of one direction under one key.

use super::schedule::{NONCE, TrafficKeys};
use super::suite::{AeadKind, Suite};
use aes_gcm::aead::{AeadInPlace, KeyInit};
use aes_gcm::{Aes128Gcm, Aes256Gcm, Nonce, Tag};
use chacha20poly1305::ChaCha20Poly1305;

/// Bytes of an authentication tag, the same for all supported ciphers.
const TAG: usize = 16;
/// Bytes of the nonce in each record of TLS 1.2 with AES-GCM (RFC 5288 section 3).
const EXPLICIT: usize = 8;
/// Bytes of a record's header.
pub(super) const HEADER: usize = 5;

/// How the nonce and the additional data are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Tls12,
    Tls13,
}

/// Decrypts the records of one direction, in order.
#[derive(Clone)]
pub(super) struct RecordCipher {
    aead: Aead,
    iv: [u8; NONCE],
    version: Version,
    /// Number of the next record.
    next: u64,
}

/// Large, but there is only one per direction.
#[derive(Clone)]
enum Aead {
    Aes128(Box<Aes128Gcm>),
    Aes256(Box<Aes256Gcm>),
    ChaCha20(Box<ChaCha20Poly1305>),
}

impl std::fmt::Debug for RecordCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordCipher").field("version", &self.version).field("next", &self.next).finish_non_exhaustive()
    }
}

impl RecordCipher {
    /// Starts with the first record under these keys.
    pub(super) fn new(suite: Suite, version: Version, keys: &TrafficKeys) -> Option<Self> {
        let key = keys.key.get(..suite.aead.key_len())?;
        let aead = match suite.aead {
            AeadKind::Aes128Gcm => Aead::Aes128(Box::new(Aes128Gcm::new_from_slice(key).ok()?)),
            AeadKind::Aes256Gcm => Aead::Aes256(Box::new(Aes256Gcm::new_from_slice(key).ok()?)),
            AeadKind::ChaCha20Poly1305 => Aead::ChaCha20(Box::new(ChaCha20Poly1305::new_from_slice(key).ok()?)),
        };
        Some(Self { aead, iv: keys.iv, version, next: 0 })
    }

    /// Decrypts the next record, header included, in place; returns its content, for TLS 1.3 with
    /// the inner content type and padding. `None` if the tag does not match: the record's bytes are
    /// overwritten then, so another key can only be tried on a copy.
    pub(super) fn open<'a>(&mut self, record: &'a mut [u8]) -> Option<&'a [u8]> {
        let (header, body) = record.split_at_mut_checked(HEADER)?;
        let has_explicit = self.version == Version::Tls12 && !matches!(self.aead, Aead::ChaCha20(_));
        let (explicit, sealed) = body.split_at_mut_checked(if has_explicit { EXPLICIT } else { 0 })?;
        let (content, tag) = sealed.split_at_mut_checked(sealed.len().checked_sub(TAG)?)?;
        let mut nonce = self.iv;
        if has_explicit {
            nonce.last_chunk_mut::<EXPLICIT>()?.copy_from_slice(explicit);
        } else {
            let numbered = nonce.iter_mut().skip(NONCE - 8).zip(self.next.to_be_bytes());
            numbered.for_each(|(byte, number)| *byte ^= number);
        }
        let mut additional = [0; 13];
        let additional = match self.version {
            Version::Tls13 => &*header,
            Version::Tls12 => {
                let length = u16::try_from(content.len()).ok()?.to_be_bytes();
                let parts = self.next.to_be_bytes().into_iter().chain(header.iter().copied().take(3)).chain(length);
                additional.iter_mut().zip(parts).for_each(|(to, from)| *to = from);
                &additional[..]
            }
        };
        let (nonce, tag) = (Nonce::from_slice(&nonce), Tag::from_slice(tag));
        let opened = match &self.aead {
            Aead::Aes128(aead) => aead.decrypt_in_place_detached(nonce, additional, content, tag),
            Aead::Aes256(aead) => aead.decrypt_in_place_detached(nonce, additional, content, tag),
            Aead::ChaCha20(aead) => aead.decrypt_in_place_detached(nonce, additional, content, tag),
        };
        opened.ok()?;
        self.next += 1;
        Some(content)
    }

    /// Encrypts the next record of this content type.
    #[cfg(test)]
    #[expect(clippy::unwrap_used, reason = "a test's record")]
    pub(super) fn seal(&mut self, kind: u8, content: &[u8]) -> Vec<u8> {
        let has_explicit = self.version == Version::Tls12 && !matches!(self.aead, Aead::ChaCha20(_));
        let explicit = if has_explicit { self.next.to_be_bytes().to_vec() } else { Vec::new() };
        let mut nonce = self.iv;
        nonce[4..].iter_mut().zip(self.next.to_be_bytes()).for_each(|(byte, number)| *byte ^= number);
        let is_13 = self.version == Version::Tls13;
        let mut content = content.to_vec();
        if is_13 {
            content.push(kind);
        }
        let len = explicit.len() + content.len() + TAG;
        let header = [&[if is_13 { 23 } else { kind }, 3, 3][..], &(len as u16).to_be_bytes()].concat();
        let additional = match self.version {
            Version::Tls13 => header.clone(),
            Version::Tls12 => {
                [&self.next.to_be_bytes()[..], &header[..3], &(content.len() as u16).to_be_bytes()].concat()
            }
        };
        let nonce = Nonce::from_slice(&nonce);
        let tag = match &self.aead {
            Aead::Aes128(aead) => aead.encrypt_in_place_detached(nonce, &additional, &mut content),
            Aead::Aes256(aead) => aead.encrypt_in_place_detached(nonce, &additional, &mut content),
            Aead::ChaCha20(aead) => aead.encrypt_in_place_detached(nonce, &additional, &mut content),
        };
        self.next += 1;
        [header, explicit, content, tag.unwrap().to_vec()].concat()
    }
}
