//! From a packet capture to the facts of its TCP connections.
//!
//! The data flows one way, through stages that each know only the one before:
//!
//! 1. [`capture`]: bytes pushed in any split → packets
//! 2. [`wire`]: a packet → a TCP segment; for QUIC, [`quic`]: datagrams → the TCP segments with the
//!    same content
//! 3. [`flow`]: segments → connections
//! 4. [`tcp`]: a connection's segments → facts about its TCP; with a key log, [`tls`]: sealed
//!    records → plaintext
//! 5. [`message`]: TCP's facts → exchanges, with their waits by party
//!
//! `whyslow-diagnosis` continues from there. All of this is one crate, so that the compiler can
//! inline a packet's way through it. The crate is pure: no file, socket, thread, clock or
//! environment; time comes from the packets alone.
#![forbid(unsafe_code)]
#![warn(clippy::disallowed_methods)]

pub mod capture;
pub mod dns;
pub mod flow;
pub mod message;
pub mod quic;
pub mod tcp;
pub mod tls;
pub mod wire;
