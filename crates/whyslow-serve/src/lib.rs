//! The page: shows an analysis on a local web server ([`Server`]), or as one file to send
//! ([`report`]).
//!
//! `make web` builds the page from `web/` into one HTML file that loads nothing, and the build
//! script embeds it. A build without Node has no page, and [`page()`] says so. The page gets a
//! [`Document`]: the analysis, the cost of each cause, the documentation of the causes, and on
//! demand the graphs of a connection (`graphs`, from the core's `series`). It prints the analysis
//! and judges nothing, as the other renderers.
//!
//! Packets that do not end have a page too ([`live`]): it asks for what is new.
//!
//! Nothing leaves the machine. The server listens on 127.0.0.1 alone, at an address with a secret
//! that is new in each run. It answers only requests that name this address as theirs
//! (`request_guard`), so other pages in the same browser cannot reach it.
#![forbid(unsafe_code)]

mod closeups;
mod differences;
mod document;
mod frames;
mod graphs;
mod gzip;
pub mod live;
mod opening;
mod packet;
mod page;
mod query;
mod repeats;
mod request_guard;
mod rows;
mod server;
mod session;
mod slice;
#[cfg(test)]
mod testing;

pub use document::{Document, MAX_CONNECTIONS};
pub use opening::{Opening, SoughtTransfer, TransferSpot};
pub use page::{NoPage, page, report};
pub use server::{Server, ServerError, Stopper};
