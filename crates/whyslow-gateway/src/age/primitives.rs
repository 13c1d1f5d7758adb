//! Random bytes, HKDF, HMAC, base64, and the comparison that takes the same time for any bytes.

use super::NoRandomness;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

/// The key of one age file, from which all its other keys are derived.
pub(crate) struct FileKey(Zeroizing<[u8; 16]>);

impl FileKey {
    pub(crate) fn generate() -> Result<Self, NoRandomness> {
        random().map(Self)
    }

    /// Takes a key, and wipes its source.
    pub(crate) fn take(bytes: &mut [u8; 16]) -> Self {
        let key = Self(Zeroizing::new(*bytes));
        bytes.zeroize();
        key
    }

    pub(crate) fn bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for FileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileKey(…)")
    }
}

/// Bytes from the system's random number generator.
pub fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, NoRandomness> {
    let mut bytes = Zeroizing::new([0; N]);
    SystemRandom::new().fill(&mut bytes[..]).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

/// The length to which `ring` expands a key.
struct Length(usize);

impl ring::hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// HKDF-SHA-256 (RFC 5869) of `ikm`.
pub(crate) fn hkdf<const N: usize>(salt: &[u8], ikm: &[u8], info: &str) -> Zeroizing<[u8; N]> {
    const { assert!(N <= 255 * 32) };
    let mut key = Zeroizing::new([0; N]);
    let info = [info.as_bytes()];
    let secret = ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, salt).extract(ikm);
    secret.expand(&info, Length(N)).and_then(|okm| okm.fill(&mut key[..])).expect("the length is below HKDF's limit");
    key
}

/// HMAC-SHA-256 of all pieces together.
pub(crate) fn hmac(key: &[u8], pieces: &[&[u8]]) -> [u8; 32] {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key);
    let mut context = ring::hmac::Context::with_key(&key);
    for piece in pieces {
        context.update(piece);
    }
    let mut mac = [0; 32];
    mac.copy_from_slice(context.sign().as_ref());
    mac
}

/// Whether two are equal, in a time that does not depend on the position of a difference.
pub(crate) fn equal(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

/// base64 as age writes it: the standard alphabet, no padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD_NO_PAD.encode(bytes)
}

/// The `N` bytes that `text` stands for, if it is what [`encode`] makes of them.
pub(crate) fn decode<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    // Longer than `N`, as the decoder needs whole groups of three.
    let mut room = [0; 128];
    let room = room.get_mut(..N.checked_add(3)?)?;
    let length = STANDARD_NO_PAD.decode_slice(text, room).ok()?;
    bytes.copy_from_slice(room.get(..length).filter(|all| all.len() == N)?);
    room.zeroize();
    Some(bytes)
}
