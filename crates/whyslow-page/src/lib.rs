//! The page's input, from any source: a local server, a worker of the browser, or the
//! report's own file.
//!
//! The page gets a [`Document`]: the analysis, the cost of each cause, and the documentation of the
//! causes. What it wants to see closer it asks of the [`OpenCaptures`] ([`answer`]): graphs of a
//! connection (from the core's `series`), the headers of a packet, two transfers side by side.
//! It prints the analysis and judges nothing, as the other renderers.
#![forbid(unsafe_code)]

mod differences;
mod document;
mod embedded_series;
mod frames;
mod graphs;
mod gzip;
mod open_captures;
mod opening;
mod packet;
mod proof;
mod query;
mod questions;
mod repeats;
mod rows;
mod slice;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod worded;

pub use document::{Doc, Document, MAX_CONNECTIONS, docs, prepare, shown};
pub use graphs::{Graphs, GraphsAnswer, GraphsBuilder};
pub use gzip::compress_quickly;
pub use open_captures::OpenCaptures;
pub use opening::{Opening, SoughtTransfer, TransferSpot};
pub use proof::Proof;
pub use query::Query;
pub use questions::{COLUMNS, answer, is_question, range, slice_name};
pub use rows::resent;
pub use slice::Slice;
