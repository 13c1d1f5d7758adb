//! ACKs that have passed the capture point but have not reached the sender yet.
//!
//! Far from the sender, a round trip of ACKs is pending. Nearly all of them come with payload and
//! repeat the previous one. Their common fields are stored once per run of repeats; each ACK only
//! has its own time, frame and timestamp.

use super::slice_queue::SliceQueue;
use crate::tcp::segment::{FrameRef, Seg};
use crate::wire::{Flags, SackBlocks};
use whyslow_units::{SeqNumber, Time};

/// Flags that make an ACK more than an acknowledgment and a window.
const SPECIAL_FLAGS: u16 = Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0 | Flags::ECE.0;

/// Capture time and frame of an ACK.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct AckArrival {
    pub time: Time,
    pub frame_ref: FrameRef,
    /// TSval, if [`has_timestamps`](Self::has_timestamps).
    pub tsval: u32,
    /// The ACK has timestamps; its TSecr is in [`AckFields::tsecr`].
    pub has_timestamps: bool,
    pub time_clamped: bool,
    /// Whether it repeats the fields of the previous ACK.
    pub repeats_previous: bool,
}

const _: () = assert!(size_of::<AckArrival>() <= 24, "very many may wait");

/// The fields of an ACK that concern the data's sender.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct AckFields {
    /// The acknowledgment number as an unwrapped sequence number.
    pub ack: u64,
    /// The offered window, at most 2³⁰ bytes; `None` if the scale is unknown.
    offered: Option<u32>,
    /// The window field of the header.
    pub raw_window: u16,
    /// TSecr, if it has timestamps.
    pub tsecr: Option<u32>,
    /// Whether the segment contained payload.
    pub with_payload: bool,
    pub flags: Flags,
    /// It has SACK blocks, which are stored separately because few ACKs have any.
    pub sacks: bool,
}

/// An ACK as the sender receives it.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Ack {
    pub arrival: AckArrival,
    pub fields: AckFields,
}

impl AckArrival {
    #[inline]
    pub fn of(seg: &Seg) -> Self {
        let stamp = seg.tsval_sample();
        let (value, stamped) = (stamp.tsval().unwrap_or_default(), stamp.tsval().is_some());
        Self {
            time: seg.time,
            frame_ref: seg.frame_ref,
            tsval: value,
            has_timestamps: stamped,
            time_clamped: seg.time_clamped(),
            repeats_previous: false,
        }
    }
}

impl AckFields {
    /// Returns the offered window in bytes; `None` if the scale is unknown.
    #[inline]
    pub fn window(&self) -> Option<u64> {
        self.offered.map(u64::from)
    }
}

impl Ack {
    #[inline]
    pub fn new(seg: &Seg, ack: u64, offered: Option<u32>, sacks: bool) -> Self {
        let echo = seg.timestamps().map(|(_, echo)| echo);
        Self {
            arrival: AckArrival::of(seg),
            fields: AckFields {
                ack,
                offered,
                raw_window: seg.window,
                tsecr: echo,
                with_payload: seg.len > 0,
                flags: seg.flags,
                sacks,
            },
        }
    }
}

/// The header fields of an ACK with payload. A later segment with the same fields repeats it, if
/// window scale and base sequence number stay the same.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct AckHeaderKey {
    number: SeqNumber,
    window: u16,
    has_timestamps: bool,
    /// The unwrapped acknowledgment number.
    pub ack: u64,
}

impl AckHeaderKey {
    /// Returns `None` for a segment that must be processed individually.
    pub fn of(seg: &Seg, sack: &SackBlocks, ack: u64) -> Option<Self> {
        let number = seg.ack().filter(|_| may_repeat(seg, sack))?;
        Some(Self { number, window: seg.window, has_timestamps: seg.timestamps().is_some(), ack })
    }

    #[inline]
    pub fn matches(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        seg.ack() == Some(self.number)
            && seg.window == self.window
            && seg.timestamps().is_some() == self.has_timestamps
            && may_repeat(seg, sack)
    }
}

#[inline]
fn may_repeat(seg: &Seg, sack: &SackBlocks) -> bool {
    seg.len > 0 && seg.flags.0 & SPECIAL_FLAGS == 0 && sack.is_empty()
}

/// Pending ACKs in capture order.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct PendingAcks {
    arrivals: SliceQueue<AckArrival>,
    /// The fields of the first ACK, and of each later ACK that is not a repeat.
    fields: SliceQueue<AckFields>,
    sacks: SliceQueue<SackBlocks>,
    /// No ACK is overdue before this time.
    pub none_overdue_until: Time,
}

impl PendingAcks {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// All arrivals.
    #[inline]
    pub fn arrivals(&self) -> &[AckArrival] {
        &self.arrivals
    }

    /// Releases unused memory.
    pub fn shrink_to_fit(&mut self) {
        self.arrivals.shrink_to_fit();
        self.fields.shrink_to_fit();
        self.sacks.shrink_to_fit();
    }

    pub fn push(&mut self, ack: &Ack, sack: &SackBlocks) {
        self.arrivals.push(ack.arrival);
        self.fields.push(ack.fields);
        if ack.fields.sacks {
            self.sacks.push(*sack);
        }
    }

    /// Adds a repeat of the last ACK, which must exist and have no SACK blocks.
    #[inline]
    pub fn push_repeat(&mut self, arrival: AckArrival) {
        self.arrivals.push(AckArrival { repeats_previous: true, ..arrival });
    }

    /// The arrival of the oldest pending ACK.
    #[inline]
    pub fn first_arrival(&self) -> Option<&AckArrival> {
        self.arrivals.first()
    }

    /// The oldest pending ACK.
    #[inline]
    pub fn first(&self) -> Option<(&AckArrival, &AckFields)> {
        self.arrivals.first().zip(self.fields.first())
    }

    /// All arrivals except the first.
    #[inline]
    pub fn arrivals_after_first(&self) -> &[AckArrival] {
        self.arrivals.get(1..).unwrap_or_default()
    }

    /// Number of pending ACKs that are not repeats.
    #[cfg(test)]
    pub fn distinct_len(&self) -> usize {
        self.fields.len()
    }

    /// Removes the first ACK and returns it with its SACK blocks.
    pub fn pop(&mut self) -> Option<(Ack, SackBlocks)> {
        let (&arrival, &fields) = self.first()?;
        let mut sack = SackBlocks::NONE;
        if fields.sacks {
            sack = self.sacks.first().copied()?;
            self.sacks.drop_first(1);
        }
        self.drop_repeats(1);
        Some((Ack { arrival, fields }, sack))
    }

    /// Removes the first `count` ACKs, which repeat each other and have no SACK blocks. Returns
    /// whether the next one is a repeat too.
    #[inline]
    pub fn drop_repeats(&mut self, count: usize) -> bool {
        self.arrivals.drop_first(count);
        let again = self.arrivals.first().is_some_and(|first| first.repeats_previous);
        if !again {
            self.fields.drop_first(1);
        }
        again
    }
}
