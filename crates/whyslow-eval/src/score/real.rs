//! `whyslow lab score --real`: real programs over the lab's path, explained, and how often the
//! explanation is right.
//!
//! Knows: how a scenario's label is compared with an explanation of either end, and how the result
//! is printed. Promises: only runs whose label the kernels' counters and the emulator's log
//! confirmed are judged, and the others are counted; a wrong capture is named, with its path.
//! Ignores: the scenarios, and how they run ([`whyslow_lab::real`]).

mod judge;
mod page;
mod promise;
mod report;

pub(crate) use promise::{Promise, promised};
pub(crate) use report::{Report, report};

#[cfg(test)]
mod tests;
