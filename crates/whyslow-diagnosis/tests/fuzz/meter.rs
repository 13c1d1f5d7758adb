//! Measures the peak memory of a thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Meter;

#[global_allocator]
static METER: Meter = Meter;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

fn taken(bytes: usize) {
    // A thread that is ending has no counters anymore, and they are not needed.
    let _ = HELD.try_with(|held| {
        held.set(held.get().wrapping_add(bytes));
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

fn given_back(bytes: usize) {
    // Memory of another thread may be freed here: the counter stops at 0.
    let _ = HELD.try_with(|held| held.set(held.get().saturating_sub(bytes)));
}

// SAFETY: every call is passed to the system's allocator unchanged; counting neither allocates nor
// accesses the memory.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        given_back(layout.size());
        // SAFETY: as the caller guarantees.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        taken(size);
        given_back(layout.size());
        // SAFETY: as the caller guarantees.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `f`, and returns the peak of the bytes that this thread allocated in addition.
pub(crate) fn peak_during<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = f();
    (result, PEAK.get() - before)
}

#[test]
fn meter_measures_the_peak() {
    let (_, peak) = peak_during(|| vec![1_u8; 5_000_000].len());
    assert!((5_000_000..5_100_000).contains(&peak), "{peak}");
}
