//! `whatif`: the same transfer with one limit removed.
pub mod model;
