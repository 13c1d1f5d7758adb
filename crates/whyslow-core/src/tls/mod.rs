//! TLS connections whose secrets are in a key log: sealed records in, plaintext out.
//!
//! Knows records, the two hellos, and the key schedules of TLS 1.2 (RFC 5246) and TLS 1.3 (RFC
//! 8446), with AES-GCM and ChaCha20-Poly1305. The cryptography itself is RustCrypto's.
//!
//! A secret never leaves this module: nothing here can be serialised, and `Debug` shows no key.
//! Memory is bounded: a direction holds at most 256 KiB that wait for others, and a key log at most
//! 262,144 connections.

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
#[cfg(test)]
pub(crate) use packet::testing as packet_testing;
pub(crate) use packet::{PacketKeys, QuicSecrets, TAG, is_readable};
#[cfg(not(feature = "unstable"))]
pub(crate) use session::{Opened, PlaintextSink, Sent, Session};
#[cfg(feature = "unstable")]
#[doc(hidden)]
pub use session::{Opened, PlaintextSink, Sent, Session};

#[cfg(test)]
mod tests;
