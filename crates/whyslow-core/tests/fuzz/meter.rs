//! How much memory a thread holds at most while it runs something.

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
    // A thread that is ending has no more counters, and nobody asks for them.
    let _ = HELD.try_with(|held| {
        held.set(held.get().wrapping_add(bytes));
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

fn given_back(bytes: usize) {
    // What another thread took may be given back here: the count then says zero at the least.
    let _ = HELD.try_with(|held| held.set(held.get().saturating_sub(bytes)));
}

// SAFETY: every call is handed to the system's allocator as it is; counting neither allocates nor
// touches the memory.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        given_back(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        taken(size);
        given_back(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `f`, and tells how many bytes it held at most beyond what this thread held before.
pub(crate) fn peak_during<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = f();
    (result, PEAK.get() - before)
}

#[test]
fn the_meter_measures() {
    let (_, peak) = peak_during(|| vec![1_u8; 5_000_000].len());
    assert!((5_000_000..5_100_000).contains(&peak), "{peak}");
}
