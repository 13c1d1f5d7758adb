//! The X25519 stanza, which wraps a file key for a recipient, and the MAC of a header.

use super::identity::{Identity, Recipient};
use super::primitives::{FileKey, hkdf, hmac};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use std::fmt;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

/// How a stanza begins.
pub(super) const STANZA_LABEL: &[u8] = b"-> ";
/// How the line with the MAC begins.
pub(crate) const MAC_LABEL: &[u8] = b"---";
const INFO: &str = "age-encryption.org/v1/X25519";

/// A file key, wrapped.
#[derive(Clone, Copy)]
pub(crate) struct X25519Stanza {
    /// The ephemeral public key.
    pub share: [u8; 32],
    /// The wrapped key and its tag.
    pub body: [u8; 32],
}

impl fmt::Debug for X25519Stanza {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("X25519Stanza")
    }
}

impl X25519Stanza {
    /// Wraps `key` for `recipient`, with a new ephemeral secret.
    pub(crate) fn wrap(key: &FileKey, recipient: Recipient, ephemeral: &StaticSecret) -> Self {
        let share = PublicKey::from(ephemeral).to_bytes();
        let shared = ephemeral.diffie_hellman(recipient.public());
        let mut body = [0; 32];
        body[..16].copy_from_slice(key.bytes());
        let (text, tag) = body.split_at_mut(16);
        let sealed = wrapping_key(&share, recipient, shared.as_bytes())
            .seal_in_place_separate_tag(zero_nonce(), Aad::empty(), text)
            .expect("sixteen bytes are below the cipher's limit");
        tag.copy_from_slice(sealed.as_ref());
        Self { share, body }
    }

    /// The file key, if it was wrapped for `identity`.
    pub(crate) fn unwrap(&self, identity: &Identity) -> Option<FileKey> {
        let shared = identity.secret().diffie_hellman(&PublicKey::from(self.share));
        // A share of low order gives a secret that is public.
        shared.was_contributory().then_some(())?;
        let mut body = Zeroizing::new(self.body);
        let key = wrapping_key(&self.share, identity.recipient(), shared.as_bytes());
        let text = key.open_in_place(zero_nonce(), Aad::empty(), &mut body[..]).ok()?;
        text.try_into().ok().map(FileKey::take)
    }
}

fn wrapping_key(share: &[u8; 32], recipient: Recipient, shared: &[u8; 32]) -> LessSafeKey {
    let mut salt = [0; 64];
    salt[..32].copy_from_slice(share);
    salt[32..].copy_from_slice(recipient.bytes());
    let key: Zeroizing<[u8; 32]> = hkdf(&salt, shared, INFO);
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key[..]).expect("the key has 32 bytes"))
}

/// Each wrapping key is used once.
fn zero_nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

/// The MAC of a header, from its first byte to [`MAC_LABEL`], which it includes.
pub(crate) fn header_mac(key: &FileKey, header: &[u8]) -> [u8; 32] {
    let key: Zeroizing<[u8; 32]> = hkdf(&[], key.bytes(), "header");
    hmac(&key[..], &[header])
}
