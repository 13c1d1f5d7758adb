//! Counts the steps of loops whose length does not follow from the number of packets, so that tests
//! find slowness as they find a panic: the simulation, and searches within a transfer's lists.
//!
//! Counts only in tests and with the feature `steps`; a loop reports its steps once, at its end.

#[cfg(any(test, feature = "steps"))]
use std::cell::Cell;

#[cfg(any(test, feature = "steps"))]
thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Adds the steps of a loop that has ended, or is about to run.
#[cfg(any(test, feature = "steps"))]
pub fn add(steps: u64) {
    TAKEN.with(|taken| taken.set(taken.get().saturating_add(steps)));
}

/// Does nothing, because only tests read the count.
#[cfg(not(any(test, feature = "steps")))]
#[inline(always)]
pub fn add(_steps: u64) {}

/// Adds steps within a loop that each packet may enter: only in tests of the analysis, so that a
/// build with `steps` alone (the benchmarks) measures the same code as a release.
#[inline(always)]
pub fn count(steps: usize) {
    #[cfg(any(test, feature = "every-step"))]
    add(steps as u64);
    #[cfg(not(any(test, feature = "every-step")))]
    let _ = steps;
}

/// Runs `f`, and returns the steps that this thread took in it.
#[cfg(any(test, feature = "steps"))]
pub fn steps_during<T>(f: impl FnOnce() -> T) -> (T, u64) {
    let before = TAKEN.get();
    let result = f();
    (result, TAKEN.get() - before)
}
