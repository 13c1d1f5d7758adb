//! `pair`: two captures of one transfer, explained as one.
//!
//! Knows the explainer's data on each connection ([`ConnectionFingerprint`]), and the packets of
//! the few connections that two captures share ([`PacketCollector`]). It promises to report losses,
//! duplicates, reordering and changes between the two, the delay each way, and the difference of
//! the clocks. It reports no loss while the other capture was not running. It ignores the sender's
//! reasons: that is the findings' part.
//!
//! The order of things:
//!
//! 1. `fingerprint`: matches the connections of the captures, by addresses, or by both initial
//!    sequence numbers if addresses were translated, or by amounts of payload if a proxy is between
//!    them;
//! 2. `collector`: a second pass over the captures keeps the packets of those connections, up to a
//!    bound;
//! 3. `placed`, `cells`, `identity`, `matcher`, put together by `align`: which packet here is which
//!    there, by byte ranges and not by packets, for offload merges and splits them;
//! 4. `clock`: offset and drift of the clocks, by the least delays both ways;
//! 5. `direction`, `legs`, `change`, `proxy`, `caveats`, `statements`, put together by `report`:
//!    the [`Pair`](whyslow_analysis::Pair), which `attach` puts into an analysis.
//!
//! ```
//! use whyslow_core::capture::{CaptureError, Reader};
//! use whyslow_diagnosis::explain::Explainer;
//! use whyslow_diagnosis::pair::{self, ConnectionFingerprint};
//!
//! fn fingerprints(capture: &[u8]) -> Result<Vec<ConnectionFingerprint>, CaptureError> {
//!     let (mut reader, mut explainer) = (Reader::new(), Explainer::new());
//!     reader.push(capture, &mut explainer)?;
//!     let summary = reader.finish(&mut explainer)?;
//!     explainer.end_capture(summary);
//!     Ok(explainer.finish_with_fingerprints().1)
//! }
//!
//! # fn main() -> Result<(), CaptureError> {
//! let client = fingerprints(include_bytes!("../../../../samples/loss-client.pcap"))?;
//! let server = fingerprints(include_bytes!("../../../../samples/loss-server.pcap"))?;
//! let found = pair::find(&client, &server);
//! assert_eq!(found.len(), 1);
//! // The packets of both go through a `PacketCollector`, and `pair::compare` compares them.
//! # Ok(())
//! # }
//! ```

mod align;
mod attach;
mod caveats;
mod cells;
mod change;
mod clock;
mod collector;
mod direction;
mod figures;
mod fingerprint;
mod identity;
mod legs;
mod matcher;
mod placed;
mod proxy;
mod report;
mod span;
mod statements;
mod syn;

#[cfg(test)]
mod tests;

pub use attach::{Uncompared, attach};
pub use collector::{ConnectionPackets, PacketCollector, WantedConnection, shares};
pub use fingerprint::{ConnectionFingerprint, MatchedConnection, find};
pub use report::compare;
pub use span::TimeSpan;
pub use syn::syn_hash;
