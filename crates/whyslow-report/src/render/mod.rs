//! The renderers: each a pure function of what it prints.

pub mod compare;
pub mod forecast;
pub mod json;
pub mod markdown;
pub mod terminal;

#[cfg(test)]
pub(crate) mod example;
