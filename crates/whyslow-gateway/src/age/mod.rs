//! The parts of age v1 (<https://age-encryption.org/v1>) that objects are made of.
//!
//! [`Identity`] and [`Recipient`] are X25519 keys in age's notation. [`seal`] and [`open`] are for
//! files that fit in memory, as epochs are; objects are streamed by [`crate::format`], which shares
//! the stanza, the header's MAC and the payload's chunks with them.

mod error;
mod file;
mod identity;
mod primitives;
mod stanza;
mod stream;

pub use error::{AgeError, NoRandomness};
pub use file::{open, seal};
pub use identity::{Identity, KeyError, Recipient, identities};
pub use primitives::random;
pub(crate) use primitives::{FileKey, decode, encode, equal, hkdf, hmac};
pub(crate) use stanza::{MAC_LABEL, X25519Stanza, header_mac};
pub(crate) use stream::{CHUNK, NONCE, SEALED_CHUNK, StreamKey, TAG};

/// The first line of every age file.
pub(crate) const VERSION_LINE: &[u8] = b"age-encryption.org/v1\n";

#[cfg(test)]
mod tests;
