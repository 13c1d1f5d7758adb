//! ACKs that have passed the capture point, and that their receiver cannot have had yet.
//!
//! Far from it a round trip's worth of them waits, nearly all with payload and with the words of
//! the one before. What an ACK says is kept once for all that follow one another and say the same;
//! of each there is kept only what tells it from the others.

use super::segment::{FrameRef, Seg};
use super::slice_queue::SliceQueue;
use crate::units::{Nanos, SeqNumber};
use crate::wire::{Flags, SackBlocks};

/// Marks with which an ACK is more than an acknowledgement and a window.
pub(super) const SPECIAL_FLAGS: u16 = Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0 | Flags::ECE.0;

/// When and where an ACK was captured.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckArrival {
    pub time: Nanos,
    pub frame_ref: FrameRef,
    /// TSval, if it is [`has_timestamps`](Self::has_timestamps).
    pub tsval: u32,
    /// It has timestamps: it says what it [echoes](AckFields::tsecr).
    pub has_timestamps: bool,
    pub time_clamped: bool,
    /// It says what the one before it says.
    pub repeats_previous: bool,
}

const _: () = assert!(size_of::<AckArrival>() <= 24, "very many may wait");

/// What an ACK tells the sender of the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckFields {
    /// What it acknowledges, in the sequence space.
    pub ack: u64,
    /// What it offers, unless the scale is not known: at most 2³⁰ bytes.
    offered: Option<u32>,
    /// The same as it is in the header.
    pub raw_window: u16,
    /// TSecr, if it has timestamps.
    pub tsecr: Option<u32>,
    /// Payload came with it.
    pub with_payload: bool,
    pub flags: Flags,
    /// It has SACK blocks. They are kept beside it, for few have any.
    pub sacks: bool,
}

/// An ACK, as the sender takes it in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub arrival: AckArrival,
    pub fields: AckFields,
}

impl AckArrival {
    #[inline(always)]
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
    /// The window that it offers, bytes; none when its scale is not known.
    #[inline(always)]
    pub fn window(&self) -> Option<u64> {
        self.offered.map(u64::from)
    }
}

impl Ack {
    #[inline(always)]
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

/// An ACK by the fields of its header: another one with payload and the same fields says the same,
/// as long as what the fields stand for does not change.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckHeaderKey {
    number: SeqNumber,
    window: u16,
    has_timestamps: bool,
    /// What the number stands for, in the sequence space.
    pub ack: u64,
}

impl AckHeaderKey {
    /// None of a segment that must be looked at by itself.
    pub fn of(seg: &Seg, sack: &SackBlocks, ack: u64) -> Option<Self> {
        let number = seg.ack().filter(|_| may_repeat(seg, sack))?;
        Some(Self { number, window: seg.window, has_timestamps: seg.timestamps().is_some(), ack })
    }

    #[inline(always)]
    pub fn matches(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        seg.ack() == Some(self.number)
            && seg.window == self.window
            && seg.timestamps().is_some() == self.has_timestamps
            && may_repeat(seg, sack)
    }
}

#[inline(always)]
fn may_repeat(seg: &Seg, sack: &SackBlocks) -> bool {
    seg.len > 0 && seg.flags.0 & SPECIAL_FLAGS == 0 && sack.is_empty()
}

/// ACKs in the order in which they were captured.
#[derive(Debug, Default)]
pub(super) struct PendingAcks {
    arrivals: SliceQueue<AckArrival>,
    /// What the first one says, and then what each says that does not say it again.
    fields: SliceQueue<AckFields>,
    sacks: SliceQueue<SackBlocks>,
    /// Until then none has waited for long.
    pub none_overdue_until: Nanos,
}

impl PendingAcks {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// All of them.
    #[inline(always)]
    pub fn arrivals(&self) -> &[AckArrival] {
        &self.arrivals
    }

    /// Gives back the room that is not in use.
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

    /// One that says what the last one says; there must be one, without SACK blocks.
    #[inline(always)]
    pub fn push_repeat(&mut self, arrival: AckArrival) {
        self.arrivals.push(AckArrival { repeats_previous: true, ..arrival });
    }

    /// When and where the one was captured that has waited longest.
    #[inline(always)]
    pub fn first_arrival(&self) -> Option<&AckArrival> {
        self.arrivals.first()
    }

    /// The one that has waited longest.
    #[inline(always)]
    pub fn first(&self) -> Option<(&AckArrival, &AckFields)> {
        self.arrivals.first().zip(self.fields.first())
    }

    /// All but the first.
    #[inline(always)]
    pub fn arrivals_after_first(&self) -> &[AckArrival] {
        self.arrivals.get(1..).unwrap_or_default()
    }

    /// How many of them say something else than the one before.
    #[cfg(test)]
    pub fn distinct_len(&self) -> usize {
        self.fields.len()
    }

    /// Takes the first one out, with its SACK blocks.
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

    /// Takes so many of the first out that all say the same, without SACK blocks. Says whether the
    /// next one says that too.
    #[inline(always)]
    pub fn drop_repeats(&mut self, count: usize) -> bool {
        self.arrivals.drop_first(count);
        let again = self.arrivals.first().is_some_and(|first| first.repeats_previous);
        if !again {
            self.fields.drop_first(1);
        }
        again
    }
}
