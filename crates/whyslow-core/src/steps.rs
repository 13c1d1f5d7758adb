//! Counts the steps of loops whose length hostile input may choose, so that tests can check how
//! the work grows with the input. Outside of tests it does nothing.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Adds steps of this thread.
#[inline(always)]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + steps as u64);
    #[cfg(not(test))]
    let _ = steps;
}

/// Returns the number of steps that `run` takes in this thread.
#[cfg(test)]
pub(crate) fn of(run: impl FnOnce()) -> u64 {
    let before = STEPS.get();
    run();
    STEPS.get() - before
}
