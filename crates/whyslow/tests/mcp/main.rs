//! `whyslow mcp`, driven as assistants' clients drive it, with no model: from a question to an
//! answer on captures with known causes, over stdio and over HTTP; and what clients must not do.
#![allow(clippy::unwrap_used)]

mod captures;
mod client;
mod documented;
mod http;
mod limits;
mod machine;
mod protocol;
mod sizes;
mod walk;
