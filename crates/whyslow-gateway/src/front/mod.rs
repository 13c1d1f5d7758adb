//! The endpoint that clients see: S3 over HTTP, and a form.
//!
//! ```text
//!   Front ─▶ wire (bytes) ─▶ hyper ─▶ service ─┬▶ s3s ─▶ access ─▶ s3 ─▶ SealedStore
//!     └ connections                            └▶ form ─────────────────┘
//!   body ─▶ chunks ─▶ checksums ─▶ content: what is stored, verified before its end
//!   call ─▶ record ─▶ Sink: what became of a request
//! ```
//!
//! `s3s` reads requests, verifies the header's signature and writes answers. It gets no body of an
//! object, because it would hold each chunk in memory until the signature arrives, and verifies no
//! checksum. `s3` has the operations, in the terms of S3; it calls [`crate::sealed`] alone.

mod access;
mod answer;
mod body;
mod call;
mod checksums;
mod chunks;
mod connections;
mod content;
mod cors;
mod errors;
mod form;
mod options;
mod pace;
mod record;
mod rights;
mod s3;
mod server;
mod service;
mod tls;
mod wire;

pub use options::{Access, FrontOptions, Limits};
pub use record::{NoSink, Record, Request, Sink, Times};
pub use rights::{AccessKey, AccessKeys, Grant, Right};
pub use server::{Drained, Front};
pub use tls::{Tls, TlsFileError};
