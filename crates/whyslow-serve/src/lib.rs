//! The page: an analysis to be seen, on a local web server ([`Server`]) or as one file to send to a
//! colleague ([`report`]).
//!
//! The page itself is built from `web/` into one HTML file without anything to load (`make web`),
//! and is taken into the crate by its build script; a build without Node goes without it, and
//! [`page()`] says so. What the page shows is a [`Document`]: the analysis, what each cause cost,
//! the documentation of the causes, and on demand the graphs of a connection (`graphs`, from the
//! core's `series`). The page judges nothing: it prints the analysis, as the other renderers do.
//!
//! Nothing leaves the machine. The server listens on 127.0.0.1 alone, at an address with a secret
//! that is new in each run, and answers only requests that name this address as theirs (`gate`):
//! other pages in the same browser cannot reach it.
#![forbid(unsafe_code)]

mod closeups;
mod document;
mod frames;
mod graphs;
mod gzip;
mod opening;
mod packed;
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
