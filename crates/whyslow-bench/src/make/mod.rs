//! The inputs: captures written by a program.
//!
//! The data flows one way: a [`Recipe`] (the requested capture) gives `plan`s (the actions of each
//! connection), `world` plays them in the order of time over `connection` (two `host`s and the
//! `way`s between them), and `record` writes the packets that pass the capture point, next to the
//! servers, as pcap.
//!
//! The simulation is close enough to a real stack that an analysis meets everything that a real
//! capture contains: a handshake with its options, slow start with HyStart, CUBIC, a queue that
//! overflows, losses by chance, SACK and D-SACK, tail probes, timeouts, delayed and stretched ACKs,
//! autotuned windows, timestamps, IP numbers, requests and their responses. It is not a model to
//! learn TCP from: nothing is reordered, ACKs and SYNs are never lost, the reading program never
//! pauses.

mod connection;
mod draw;
mod host;
mod plan;
mod recipe;
mod record;
mod way;
mod world;

pub(crate) use draw::Draw;
pub use recipe::{InputFiles, Recipe, Shape, recipes};
pub use record::Pack;

/// Version of the recipes. Another version makes other bytes.
pub const VERSION: u32 = 1;

/// Nanoseconds since the capture began.
type Time = u64;

const MILLISECOND: Time = 1_000_000;
const SECOND: Time = 1_000 * MILLISECOND;

#[cfg(test)]
mod tests;
