//! Packets that were not captured, by the part that dropped them: the ring, the interface, the
//! snaplen.

/// Counts since the ring was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCounts {
    /// Packets that were handed out.
    pub packets: u64,
    /// Packets longer than the snaplen: their first bytes were handed out.
    pub cut: u64,
    /// Packets that another device had already shown; not handed out.
    pub duplicates: u64,
    /// Packets that passed the filter and for which the ring had no room (`tp_drops`).
    pub ring_drops: u64,
    /// How often the ring was full (`tp_freeze_q_cnt`).
    pub ring_full: u64,
    /// Packets that the watched interfaces dropped before any filter: the driver had no room for
    /// them, or the kernel had none (`drop` and `fifo` of `/proc/net/dev`).
    pub interface_drops: u64,
}
