//! The page: shows an analysis on a local web server ([`Server`]), or as one file to send
//! ([`report`]).
//!
//! `make web` builds the page from `web/` into one HTML file that loads nothing, and the build
//! script embeds it. A build without Node has no page, which [`page()`] reports. Its input
//! comes from `whyslow-page`.
//!
//! Packets that do not end have a page too ([`live`]): it asks for news.
//!
//! Nothing leaves the machine. The server listens on 127.0.0.1 alone, at an address with a secret
//! that is new in each run. It answers only requests that name this address as theirs
//! (`request_guard`), so other pages in the same browser cannot reach it.
#![forbid(unsafe_code)]

pub mod live;
mod page;
mod request_guard;
mod server;
mod session;

pub use page::{NoPage, page, report};
pub use server::{Server, ServerError, Stopper};
pub use whyslow_page::{Document, MAX_CONNECTIONS, Opening, Proof, SoughtTransfer, TransferSpot, shown};
