//! Decrypts TLS connections with the secrets of a key log.
//!
//! Supports TLS records, the two hellos, and the key schedules of TLS 1.2 (RFC 5246) and TLS 1.3
//! (RFC 8446), with AES-GCM and ChaCha20-Poly1305. The cryptography is from RustCrypto.
//!
//! Secrets never leave this module: its types cannot be serialised, and `Debug` shows no key.
//! Memory is bounded: a direction buffers at most 256 KiB, and a key log has at most 262,144
//! connections.

mod cipher;
mod direction;
mod handshake;
mod key_log;
mod key_ring;
mod packet;
mod reassembly;
mod schedule;
mod session;
mod suite;

pub use key_log::{KeyLog, KeyLogTally};
pub use key_ring::KeyRing;
pub(crate) use packet::{PacketKeys, QuicSecrets, TAG, is_readable};
#[cfg(not(feature = "unstable"))]
pub(crate) use session::{Opened, PlaintextSink, Sent, Session};
#[cfg(feature = "unstable")]
#[doc(hidden)]
pub use session::{Opened, PlaintextSink, Sent, Session};

#[cfg(test)]
mod tests;
