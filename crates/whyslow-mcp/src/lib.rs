//! whyslow for assistants: a server of the Model Context Protocol (`whyslow mcp`).
//!
//! ```text
//!   stdio, HTTP ─▶ server ─▶ tools ─────▶ captures ─▶ whyslow-io (explains, reads packets again)
//!   (guard, token)   ├▶ reports ─────────┘   └▶ folders (which files)
//!                    └▶ prompts
//! ```
//!
//! An assistant walks from a question to an answer: `explain` gives ids of findings, `finding` the
//! frames that show one, `packets` what these frames are, `predict` what a fix would bring. Every
//! answer is text and the same as data, and small: lists are cut, and name the next page.
//!
//! Promises: it reads files in the given folders and no others ([`Folders`]), it writes nothing,
//! and no payload of a packet leaves it. What reaches further is off unless it is turned on
//! ([`Allowed`]).
#![forbid(unsafe_code)]

mod allowed;
mod captures;
mod caught;
mod child;
mod clip;
mod failure;
mod findings;
mod folders;
mod guard;
mod http_server;
mod prompts;
mod reply;
mod reports;
mod server;
mod settings;
mod stdio;
mod token;
mod tools;
mod work;

pub use allowed::Allowed;
pub use folders::Folders;
pub use http_server::HttpServer;
pub use server::INSTRUCTIONS;
pub use settings::Settings;
pub use stdio::serve_stdio;
pub use token::Token;
