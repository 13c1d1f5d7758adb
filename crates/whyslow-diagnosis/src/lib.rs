//! From the facts of TCP connections to the reasons why their transfers were slow.
//!
//! The stages of `whyslow-core` end with facts and messages. These follow, and each knows only the
//! ones before:
//!
//! 1. `estimate`: TCP's facts → the path and the hosts
//! 2. `limit`: all of these → a transfer's time by limit
//! 3. `rules`: limits and events → findings
//! 4. `timeline`: the party waited for in each span, and the finding that claims it
//! 5. `together`: connections → their effects on each other
//! 6. `conclude`: findings and all other data → their promises and confidence
//!
//! [`explain`] drives a capture through all stages of both crates. [`pair`] compares the packets of
//! a connection that two captures hold, [`compare`] any two transfers, and [`series`] gives a
//! connection's packets as graphs of bounded size. The result is a
//! [`whyslow_analysis::Analysis`]: data for the renderers. The crate is pure: no file, socket,
//! thread, clock or environment.
//!
//! ```
//! use whyslow_core::capture::{CaptureError, Reader};
//! use whyslow_diagnosis::explain::Explainer;
//!
//! # fn main() -> Result<(), CaptureError> {
//! let capture = include_bytes!("../../../samples/slow-start-client.pcap");
//! let (mut reader, mut explainer) = (Reader::new(), Explainer::new());
//! explainer.begin_capture("slow-start-client.pcap");
//! // In pieces of any size, as they come.
//! for piece in capture.chunks(65_536) {
//!     reader.push(piece, &mut explainer)?;
//! }
//! let summary = reader.finish(&mut explainer)?;
//! explainer.end_capture(summary);
//!
//! let analysis = explainer.finish();
//! let finding = &analysis.connections[0].transfers[1].findings[0];
//! assert_eq!(finding.cause.slug(), "slow-start");
//! assert!(finding.remedy().is_some());
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![warn(clippy::disallowed_methods)]

mod assemble;
#[cfg(test)]
#[path = "../../whyslow-core/src/capture/build.rs"]
mod capture_builder;
pub mod cause_pages;
pub mod compare;
mod conclude;
pub mod condense;
pub mod estimate;
pub mod explain;
pub mod limit;
pub mod pair;
pub mod ranking;
mod rules;
pub mod series;
mod timeline;
mod together;
pub mod whatif;

pub use rules::CostOverTime;
