//! ACKs that have passed the capture point, and that their receiver cannot have had yet.
//!
//! Far from it a round trip's worth of them waits, nearly all with payload and with the words of the one before. What an ACK
//! says is kept once for all that follow one another and say the same; of each there is kept only what tells it from the others.

use super::queue::Queue;
use super::segment::{Place, Seg};
use crate::units::{Nanos, SeqNumber};
use crate::wire::{Flags, SackBlocks};

/// Marks with which an ACK is more than an acknowledgement and a window.
pub(super) const SPECIAL: u16 = Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0 | Flags::ECE.0;

/// When and where an ACK was captured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub time: Nanos,
    pub place: Place,
    /// TSval, if it is [`stamped`](Self::stamped).
    pub stamp: u32,
    /// It has timestamps: it says what it [echoes](Says::echo).
    pub stamped: bool,
    pub moved: bool,
    /// It says what the one before it says.
    pub again: bool,
}

const _: () = assert!(size_of::<Seen>() <= 24, "very many may wait");

/// What an ACK tells the sender of the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Says {
    /// What it acknowledges, in the sequence space.
    pub ack: u64,
    /// What it offers, unless the scale is not known: at most 2³⁰ bytes.
    offered: Option<u32>,
    /// The same as it is in the header.
    pub raw: u16,
    /// TSecr, if it has timestamps.
    pub echo: Option<u32>,
    /// Payload came with it.
    pub payload: bool,
    pub flags: Flags,
    /// It has SACK blocks. They are kept beside it, for few have any.
    pub sacks: bool,
}

/// An ACK, as the sender takes it in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub seen: Seen,
    pub says: Says,
}

impl Seen {
    #[inline(always)]
    pub fn of(seg: &Seg) -> Self {
        let stamp = seg.stamp();
        let (value, stamped) = (stamp.value().unwrap_or_default(), stamp.value().is_some());
        Self { time: seg.time, place: seg.place, stamp: value, stamped, moved: seg.moved(), again: false }
    }
}

impl Says {
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
            seen: Seen::of(seg),
            says: Says { ack, offered, raw: seg.window, echo, payload: seg.len > 0, flags: seg.flags, sacks },
        }
    }
}

/// An ACK by the fields of its header: another one with payload and the same fields says the same, as long as what the fields
/// stand for does not change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wording {
    number: SeqNumber,
    window: u16,
    stamped: bool,
    /// What the number stands for, in the sequence space.
    pub ack: u64,
}

impl Wording {
    /// None of a segment that must be looked at by itself.
    pub fn of(seg: &Seg, sack: &SackBlocks, ack: u64) -> Option<Self> {
        let number = seg.ack().filter(|_| can_repeat(seg, sack))?;
        Some(Self { number, window: seg.window, stamped: seg.timestamps().is_some(), ack })
    }

    #[inline(always)]
    pub fn is_of(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        seg.ack() == Some(self.number)
            && seg.window == self.window
            && seg.timestamps().is_some() == self.stamped
            && can_repeat(seg, sack)
    }
}

#[inline(always)]
fn can_repeat(seg: &Seg, sack: &SackBlocks) -> bool {
    seg.len > 0 && seg.flags.0 & SPECIAL == 0 && sack.is_empty()
}

/// ACKs in the order in which they were captured.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    seen: Queue<Seen>,
    /// What the first one says, and then what each says that does not say it again.
    says: Queue<Says>,
    sacks: Queue<SackBlocks>,
    /// Until then none has waited for long.
    pub calm_until: Nanos,
}

impl Waiting {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// All of them.
    #[inline(always)]
    pub fn seen(&self) -> &[Seen] {
        &self.seen
    }

    /// Gives back the room that is not in use.
    pub fn shrink_to_fit(&mut self) {
        self.seen.shrink_to_fit();
        self.says.shrink_to_fit();
        self.sacks.shrink_to_fit();
    }

    pub fn push(&mut self, ack: &Ack, sack: &SackBlocks) {
        self.seen.push(ack.seen);
        self.says.push(ack.says);
        if ack.says.sacks {
            self.sacks.push(*sack);
        }
    }

    /// One that says what the last one says; there must be one, without SACK blocks.
    #[inline(always)]
    pub fn push_again(&mut self, seen: Seen) {
        self.seen.push(Seen { again: true, ..seen });
    }

    /// When and where the one was captured that has waited longest.
    #[inline(always)]
    pub fn first_seen(&self) -> Option<&Seen> {
        self.seen.first()
    }

    /// The one that has waited longest.
    #[inline(always)]
    pub fn first(&self) -> Option<(&Seen, &Says)> {
        self.seen.first().zip(self.says.first())
    }

    /// All but the first.
    #[inline(always)]
    pub fn behind_first(&self) -> &[Seen] {
        self.seen.get(1..).unwrap_or_default()
    }

    /// How many of them say something else than the one before.
    #[cfg(test)]
    pub fn sayings(&self) -> usize {
        self.says.len()
    }

    /// Takes the first one out, with its SACK blocks.
    pub fn pop(&mut self) -> Option<(Ack, SackBlocks)> {
        let (&seen, &says) = self.first()?;
        let mut sack = SackBlocks::NONE;
        if says.sacks {
            sack = self.sacks.first().copied()?;
            self.sacks.skip(1);
        }
        self.skip(1);
        Some((Ack { seen, says }, sack))
    }

    /// Takes so many of the first out that all say the same, without SACK blocks. Says whether the next one says that too.
    #[inline(always)]
    pub fn skip(&mut self, count: usize) -> bool {
        self.seen.skip(count);
        let again = self.seen.first().is_some_and(|first| first.again);
        if !again {
            self.says.skip(1);
        }
        again
    }
}
