//! Output: an [`Analysis`](whyslow_analysis::Analysis) as a page for the
//! terminal or as JSON.
//!
//! Everything here is a pure function of the analysis: a renderer prints findings and finds
//! nothing of its own. The one thing that is added up is [`ranking`], the time that each cause cost
//! over all connections.
//!
//! - [`render::terminal`]: the verdict for a person, as wide as the terminal, in colour and
//!   readable without it;
//! - [`render::json`]: the contract `whyslow/2` for programs; its JSON Schema is
//!   `docs/schema/whyslow-2.schema.json`;
//! - [`render::markdown`]: the documentation of a cause, for `whyslow causes`.
//!
//! Text from a capture (host names, request paths, file names) is hostile: [`text::harmless`]
//! writes out what steers a terminal, turns the reading order round or hides, and every renderer
//! asks it.
#![forbid(unsafe_code)]

pub mod headline;
pub mod problems;
pub mod ranking;
pub mod render;
pub mod text;
pub mod words;
