//! The recorder's memory, as the allocator counts it. A program of its own: nothing else allocates.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::unwrap_used, missing_docs)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use whyslow_live::watch::{ETHERNET, Recorder, RingPacket};

thread_local! {
    /// Bytes that this thread holds, and how often it asked for some.
    static HELD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

struct Counting;

// SAFETY: the system's allocator does it all; cells that need no destructor are counted with.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.with(|held| held.set((held.get().0.wrapping_add(layout.size()), held.get().1 + 1)));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.with(|held| held.set((held.get().0.wrapping_sub(layout.size()), held.get().1)));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A TCP segment from one of very many ends.
fn segment(number: u32, flags: u8) -> [u8; 100] {
    let mut out = [0; 100];
    out[12..14].copy_from_slice(&[8, 0]);
    out[14] = 0x45;
    out[23] = 6;
    out[26..30].copy_from_slice(&number.to_be_bytes());
    out[34..36].copy_from_slice(&(number as u16).to_be_bytes());
    (out[46], out[47]) = (0x50, flags);
    out
}

#[test]
fn a_flood_takes_no_memory_beyond_the_bound() {
    for bound in [1 << 20, 7_654_321, 32 << 20] {
        let (before, _) = HELD.get();
        let mut recorder = Recorder::new(bound).unwrap();
        let (with_recorder, asked) = HELD.get();
        // Memory that the test's runner allocated may have been freed here.
        let heap = with_recorder.wrapping_sub(before);
        assert_eq!(heap + size_of::<Recorder>(), recorder.memory());
        assert!(recorder.memory() <= bound && recorder.memory() > bound / 100 * 99, "{} of {bound}", recorder.memory());
        for number in 0..100_000 {
            for (number, flags) in [(number, 2), (number / 2, 0x12), (number / 7, 0x10), (number % 1000, 0x11)] {
                let bytes = &segment(number, flags)[..54 + number as usize % 46];
                let (time_ns, length) = (u64::from(number), 1514);
                let interface = 1;
                let link_type = ETHERNET;
                let (segment_size, outgoing) = (None, false);
                recorder.record(
                    &RingPacket { time_ns, link_type, interface, length, bytes, segment_size, outgoing },
                    time_ns,
                );
            }
        }
        assert_eq!(HELD.get(), (with_recorder, asked), "nothing was allocated or freed");
        let counts = recorder.counts();
        assert_eq!(counts.packets, 400_000);
        assert!(counts.evicted > 0 && counts.forgotten > 0, "{counts:?}");
    }
}
