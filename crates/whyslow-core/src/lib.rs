//! From a packet capture to the reason why a TCP transfer was slow.
//!
//! The data flows one way, through stages that each know only the one before:
//!
//! 1. [`capture`]: bytes pushed in any split → packets
//! 2. `wire`: a packet → a TCP segment; for QUIC, `quic`: datagrams → the TCP segments with the
//!    same content
//! 3. `flow`: segments → connections
//! 4. `tcp`: a connection's segments → facts about its TCP; with a key log, [`tls`]: sealed records
//!    → plaintext
//! 5. `message`: TCP's facts → exchanges, with their waits by party
//! 6. `estimate`: TCP's facts → the path and the hosts
//! 7. `limit`: all of these → a transfer's time by limit
//! 8. `rules`: limits and events → findings
//! 9. `timeline`: the party waited for in each span, and the finding that claims it
//! 10. `together`: connections → their effects on each other
//! 11. `conclude`: findings and all other data → their promises and confidence
//!
//! Next to these, [`pair`] compares the packets of a connection that two captures hold, [`compare`]
//! any two transfers, and [`series`] gives a connection's packets as graphs of bounded size.
//! [`analysis`] is the result: data for the renderers. The crate is pure: no file, socket, thread,
//! clock or environment; time comes from the packets alone.
//!
//! ```
//! use whyslow_core::capture::{CaptureError, Reader};
//! use whyslow_core::explain::Explainer;
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

pub mod analysis;
mod assemble;
pub mod capture;
pub mod cause;
pub mod compare;
mod conclude;
pub mod condense;
mod estimate;
pub mod explain;
mod flow;
mod limit;
mod message;
pub mod pair;
pub mod predict;
mod quic;
pub mod ranking;
mod rules;
pub mod series;
mod stats;
mod steps;
mod tcp;
mod timeline;
pub mod tls;
mod together;
pub mod types;
pub mod units;
mod whatif;
mod wire;

pub use rules::CostOverTime;

/// The stages that lie between packets and findings: for benchmarks and for tests of one stage.
///
/// Needs the feature `unstable`; its items may change in any release.
#[cfg(feature = "unstable")]
pub mod unstable {
    /// See the [crate's description](crate).
    pub mod wire {
        pub use crate::wire::*;
    }
    /// See the [crate's description](crate).
    pub mod flow {
        pub use crate::flow::*;
    }
    /// See the [crate's description](crate).
    pub mod tcp {
        pub use crate::tcp::*;
    }
    /// See the [crate's description](crate).
    pub mod estimate {
        pub use crate::estimate::*;
    }
    /// See the [crate's description](crate).
    pub mod tls {
        pub use crate::tls::{Opened, PlaintextSink, Sent, Session};
    }
    /// See the [crate's description](crate).
    pub mod quic {
        pub use crate::quic::read_frames;
    }
    /// See the [crate's description](crate).
    pub mod limit {
        pub use crate::limit::*;
    }
    /// See the [crate's description](crate).
    pub mod whatif {
        pub use crate::whatif::*;
    }
    pub use crate::steps::steps_during;
}
