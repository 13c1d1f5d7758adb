//! A send buffer that the kernel sizes, as Linux does (`tcp_sndbuf_expand` and `tcp_check_space` in
//! `tcp_input.c`).
//!
//! It has room for twice the congestion window, counted in the memory that segments take, and is
//! only ever made larger when an ACK finds a program that waits to write. A connection that carried
//! little at the end therefore keeps a small buffer, and the next transfer on it stops there for a
//! round trip, however large its window is.

/// Memory that Linux accounts for a segment, bytes: its payload and headers rounded up to a power
/// of two, and the kernel's own record (`SKB_TRUESIZE`).
const SKB_TRUESIZE: f64 = 2304.0;
/// Windows for which the buffer has room (Linux `tcp_sndbuf_expand`).
const BUFFERED_WINDOWS: f64 = 2.0;
/// Memory of a segment of a large write over its payload.
const TRUESIZE_OVERHEAD: f64 = 1.014;
/// Largest packet that a write fills, bytes; the last one may exceed the buffer.
const LARGEST_WRITE: u64 = 65_536;

/// Payload that a new connection's buffer holds, with an initial window of `initial_window`
/// segments.
pub fn initial_buffer(initial_window: f64, mss: u64) -> u64 {
    room_for(initial_window, mss)
}

fn room_for(window: f64, mss: u64) -> u64 {
    let memory = BUFFERED_WINDOWS * window.max(10.0) * SKB_TRUESIZE;
    let packet = (LARGEST_WRITE / mss.max(1)).max(1) * mss;
    let packets = (memory / TRUESIZE_OVERHEAD / packet as f64).ceil();
    packets as u64 * packet
}

#[derive(Debug)]
pub(super) struct SendBuffer {
    /// Payload that it holds, bytes.
    pub(super) room: u64,
    /// Bytes that the application has written into it, and will have written.
    pub(super) written: u64,
    whole: u64,
}

impl SendBuffer {
    pub(super) fn new(room: u64, whole: u64) -> Self {
        Self { room, written: room.min(whole), whole }
    }

    /// An ACK came: the program goes on writing, into a buffer that has grown with the window.
    pub(super) fn refill(&mut self, acknowledged: u64, window: f64, mss: u64) {
        if self.written < self.whole {
            self.room = self.room.max(room_for(window, mss));
            self.written = self.written.max(acknowledged.saturating_add(self.room)).min(self.whole);
        }
    }
}
