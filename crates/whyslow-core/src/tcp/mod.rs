//! `tcp`: what TCP did.

pub mod content;
