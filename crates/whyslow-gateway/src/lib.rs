//! Objects encrypted in another provider's storage, as age files that stock `age -d` opens.
//!
//! ```text
//!   age ◀── keys ◀── format
//!   │       │        └ objects: one slice, or parts and a manifest; sizes, ranges, names, ETags
//!   │       └ the epochs that objects are sealed to, and where secrets come from
//!   └ age v1: identities, the X25519 stanza, the payload's chunks, small files
//! ```
//!
//! - [`mod@format`] is the front door: [`format::SliceWriter`] seals, [`format::Plan`] has the
//!   bytes of a stored object that a range needs, [`format::Reader`] opens them. All of it is bytes
//!   in and bytes out: no file, socket, thread or clock, so that any kind of program can drive it.
//! - [`keys`] holds the secrets. Only [`keys::SecretSource`] touches the outside.
//! - The meaning of each byte, and the attacks it protects against: `docs/gateway/format.md`.
//! - [`store`] is the interface to the other provider's storage, [`pool`] keeps the connections to
//!   it warm and records the limits of each transfer. Neither interprets the bytes.
//! - [`sealed`] combines them: objects by their plaintext, in a store that sees only ciphertext.
//!   [`memory`] bounds the bytes that all its requests hold.
//! - [`front`] is what clients see: S3 over HTTP in front of [`sealed`].
//!
//! Plaintext is handed out only after it was verified, and never after a fault. Secrets are
//! wiped when they are dropped, compared in constant time, and never printed.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod age;
pub mod format;
pub mod front;
pub mod keys;
pub mod memory;
pub mod pool;
pub mod sealed;
pub mod store;
