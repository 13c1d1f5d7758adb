//! `whyslow prove`: the transfer that was captured, made again on this machine's own TCP, without
//! and with its fix.
//!
//! ```text
//!   capture ─▶ Analysis, packets ─▶ scenario ─▶ lab ─▶ captures ─▶ Analysis
//!                      └──────────── compared ────────────────────────┘
//! ```
//!
//! The lab knows nothing of the explanation, and the explanation nothing of the lab: only here they
//! meet.

mod agreement;
mod alike;
mod alternatives;
mod args;
mod captured;
mod conversation;
mod curves;
mod ecn;
mod hosts;
mod json;
mod keep;
mod mtu_black_hole;
mod outcome;
mod packets;
mod page;
mod path;
mod remedy;
mod reordering;
mod run;
mod scenario;
mod scratch;
mod search;
mod supposition;
#[cfg(test)]
mod tests;
mod trial;

pub use alike::are_alike;
pub use args::Prove;
pub use run::{Judgement, judge, run};
pub use supposition::Supposition;
