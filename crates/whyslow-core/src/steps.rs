//! Counts the steps of loops whose length does not follow from the number of packets, so that tests
//! find slowness as they find a panic: the simulation, and searches within a transfer's lists.
//!
//! Counts only in tests and with the feature `unstable`; a loop reports its steps once, at its end.

#[cfg(any(test, feature = "unstable"))]
use std::cell::Cell;

#[cfg(any(test, feature = "unstable"))]
thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Adds the steps of a loop that has ended, or is about to run.
#[cfg(any(test, feature = "unstable"))]
pub(crate) fn add(steps: u64) {
    TAKEN.with(|taken| taken.set(taken.get().saturating_add(steps)));
}

/// Does nothing, because only tests read the count.
#[cfg(not(any(test, feature = "unstable")))]
#[inline(always)]
pub(crate) fn add(_steps: u64) {}

/// Adds steps within a loop that each packet may enter: only in this crate's own tests, so that a
/// build with `unstable` (the benchmarks) measures the same code as a release.
#[inline(always)]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    add(steps as u64);
    #[cfg(not(test))]
    let _ = steps;
}

/// Runs `f`, and returns the steps that this thread took in it.
#[cfg(any(test, feature = "unstable"))]
pub fn steps_during<T>(f: impl FnOnce() -> T) -> (T, u64) {
    let before = TAKEN.get();
    let result = f();
    (result, TAKEN.get() - before)
}
