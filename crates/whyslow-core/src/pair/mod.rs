//! `pair`: two captures of one transfer, explained as one.
//!
//! Knows what the explainer keeps of each connection ([`ConnectionFingerprint`]), and the packets
//! of the few connections that two captures share ([`PacketCollector`]). It promises to say what
//! was lost, duplicated, reordered and changed between the two, how long packets took each way, and
//! how the clocks stand to each other; it says of nothing that it was lost where the other capture
//! was not running. It knows nothing of why a sender did what it did: that is the findings' part.
//!
//! The order of things:
//!
//! 1. `mark`: which connection of one capture is which of the other, by addresses, or by both
//!    initial sequence numbers where addresses were translated, or by amounts of payload where a
//!    proxy stands between;
//! 2. `watch`: a second pass over the captures keeps the packets of those connections, up to a
//!    bound;
//! 3. `align`: which packet here is which there, by byte ranges and not by packets, for offload
//!    merges and splits them;
//! 4. `clock`: offset and drift of the clocks, by the least delays both ways;
//! 5. `told`, `change`, `proxy`, `words`: the [`Pair`](crate::analysis::Pair).

mod align;
mod change;
mod clock;
mod collector;
mod figures;
mod fingerprint;
mod proxy;
mod report;
mod syn;
mod words;

#[cfg(test)]
mod tests;

pub use collector::{ConnectionPackets, PacketCollector, WantedConnection, shares};
pub use fingerprint::{ConnectionFingerprint, MatchedConnection, find};
pub use report::{attach, compare};
pub use syn::syn_hash;
