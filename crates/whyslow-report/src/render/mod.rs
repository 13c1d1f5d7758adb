//! The renderers: each a pure function of its input.

pub mod answers;
pub mod brief;
pub mod compare;
pub mod digest;
pub mod evidence;
pub mod forecast;
pub mod json;
pub mod markdown;
pub mod packets;
pub mod picture;
pub mod summary;
pub mod table;
pub mod terminal;
pub mod xplot;

#[cfg(test)]
pub(crate) mod example;
#[cfg(test)]
mod tests;
