//! Segments that may never have reached the other end: those with a wrong checksum, and those whose numbers lie far from all else.
//!
//! A wrong sum by itself proves nothing, for captures are rewritten and cards finish sums late. It is looked at only where the sums of
//! its side are right otherwise ([`Sums`](crate::wire::Sums)), and then the segment waits until what follows shows whether it came: what
//! was answered came; a sender that repeats what an ACK acknowledged, or says nothing before the next one, never had that ACK; and nobody who
//! closes a connection goes on with it. A damaged number is known by what follows too: if its sender goes on where it was before, the number was
//! never sent.

use super::connection::{Connection, Doubted, Settled, Stage, Why};
use super::half::Half;
use super::segment::Seg;
use crate::units::SeqNumber;
use crate::wire::{Checksum, Flags, SackBlocks};

/// Bytes by which a number may jump over what was never captured without being doubted; where the receiver's window is known, over its
/// right edge. Captures that lose packets lose more, and what follows shows it.
const JUMP: u64 = 1 << 20;
const JUMP_OVER_EDGE: u64 = 1 << 16;

/// What the wrong checksums of a connection come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongSums {
    /// How many segments have one.
    pub segments: u64,
    /// All of its segments do, as far as that was looked at.
    pub all: bool,
    /// The last of them is that of an IPv4 header.
    pub header: bool,
    /// Those of a side or of both mean damage.
    pub tell: bool,
    /// All are off by the same amount.
    pub rewritten: bool,
}

/// What is to be thought of a segment.
enum Judged {
    Believed,
    Doubtful(Why),
    /// It has a wrong sum, and says what cannot be.
    Damaged,
}

impl Half {
    /// Where the sender goes on; none before its first segment.
    #[inline(always)]
    fn next(&self) -> Option<SeqNumber> {
        Some(self.origin? + self.sent_max as u32)
    }

    /// Whether this number lies farther ahead than anything that may be sent or acknowledged now.
    fn is_jump(&self, number: SeqNumber) -> bool {
        let ahead = self.next().and_then(|next| u64::try_from(number.distance(next)).ok());
        let edge = self.edge.map(|edge| edge.saturating_sub(self.sent_max) + JUMP_OVER_EDGE);
        ahead.is_some_and(|ahead| ahead >= edge.unwrap_or(JUMP))
    }

    /// Whether a number is one of those that the sender may use now: not yet acknowledged, or the next.
    fn is_in_use(&self, number: SeqNumber) -> bool {
        let Some(behind) = self.next().map(|next| number.distance(next)) else { return true };
        let in_flight = self.sent_max.saturating_sub(self.una).saturating_add(1);
        behind <= 0 && u64::from(behind.unsigned_abs()) <= in_flight
    }
}

impl Settled {
    /// Whether a segment must be [looked at](Self::puts_aside) before it is taken in: nearly none.
    #[inline(always)]
    pub(super) fn is_odd(&self, seg: &Seg) -> bool {
        let (own, other) = (&self.halves[seg.from()], &self.halves[1 - seg.from()]);
        let is_next = own.next() == Some(seg.seq);
        let is_sent = seg.ack().is_some_and(|ack| other.place_of_sent(ack).is_some());
        !(is_next & is_sent) | self.doubted.is_some() | seg.is_wrong()
    }

    /// Whether a segment is not taken in, or not yet.
    #[inline(never)]
    pub(super) fn puts_aside(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        let aside = self.doubts_or_leaves_out(seg, sack);
        if aside {
            // A packet captured twice is that, whatever it is.
            self.recent[seg.from()].note(seg, sack);
        }
        aside
    }

    fn doubts_or_leaves_out(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        if let Some(doubted) = &self.doubted {
            match doubted.has_come(seg, self) {
                Some(true) => self.believe(),
                Some(false) => self.disbelieve(),
                None => {}
            }
        }
        let why = match self.judge(seg) {
            Judged::Believed => {
                if let Some(doubted) = self.doubted.as_mut().filter(|doubted| doubted.seg.from() != seg.from()) {
                    doubted.passed = Some(seg.time);
                }
                return false;
            }
            Judged::Damaged => {
                self.left_out.push(*seg);
                return true;
            }
            Judged::Doubtful(why) => why,
        };
        // One waits at a time.
        self.believe();
        self.doubted = Some(Box::new(Doubted { seg: *seg, sack: *sack, why, passed: None }));
        true
    }

    fn judge(&self, seg: &Seg) -> Judged {
        let (own, other) = (&self.halves[seg.from()], &self.halves[1 - seg.from()]);
        if seg.is_wrong() && self.sums_tell[seg.from()] {
            if seg.len > 0 {
                // What becomes of bytes shows in ACKs, and in copies.
                return Judged::Believed;
            }
            let may_be = own.is_in_use(seg.seq) && seg.ack().is_none_or(|ack| other.is_in_use(ack));
            return if may_be { Judged::Doubtful(Why::Sum) } else { Judged::Damaged };
        }
        if seg.flags.has(Flags::SYN) || seg.flags.has(Flags::RST) {
            return Judged::Believed;
        }
        if own.is_jump(seg.seq) {
            Judged::Doubtful(Why::Seq)
        } else if seg.ack().is_some_and(|ack| other.is_jump(ack)) {
            Judged::Doubtful(Why::Ack)
        } else {
            Judged::Believed
        }
    }

    /// Takes in the one that waits.
    pub(super) fn believe(&mut self) {
        if let Some(doubted) = self.doubted.take() {
            let Doubted { mut seg, sack, passed, .. } = *doubted;
            if let Some(passed) = passed.filter(|passed| *passed > seg.time) {
                seg.move_to(passed);
            }
            self.follow(&seg, &sack);
        }
    }

    /// The one that waits is not taken in.
    fn disbelieve(&mut self) {
        self.left_out.extend(self.doubted.take().map(|doubted| doubted.seg));
    }

    /// No more segments come.
    pub(super) fn end_doubt(&mut self) {
        match &self.doubted {
            // Nothing has gone on from there.
            Some(doubted) if !matches!(doubted.why, Why::Sum) => self.disbelieve(),
            _ => self.believe(),
        }
    }
}

impl Doubted {
    /// What the next segment tells of it, if anything.
    fn has_come(&self, next: &Seg, Settled { halves, views, .. }: &Settled) -> Option<bool> {
        let own = self.seg.from();
        match self.why {
            // The data that it acknowledges is the other side's.
            Why::Sum => self.is_answered(next, views[1 - own].near),
            Why::Seq => self.goes_on(next, own, self.seg.seq, &halves[own]),
            Why::Ack => self.goes_on(next, 1 - own, self.seg.ack()?, &halves[1 - own]),
        }
    }

    /// Whether the numbers of this `side` go on from the one that jumped, or from where they were before.
    fn goes_on(&self, next: &Seg, side: usize, number: SeqNumber, half: &Half) -> Option<bool> {
        let now = if next.from() == side { Some(next.seq) } else { next.ack() }?;
        let (there, here) = (now.distance(number).unsigned_abs(), now.distance(half.next()?).unsigned_abs());
        if there < here {
            return Some(true);
        }
        // Only its own sender's next word contradicts it: the other side's may have crossed it.
        (next.from() == self.seg.from()).then_some(false)
    }

    /// `at_receiver`: the capture stands next to the side that it was sent to, so that this side's next word answers it.
    fn is_answered(&self, next: &Seg, at_receiver: bool) -> Option<bool> {
        let (seg, same) = (&self.seg, next.from() == self.seg.from());
        if seg.flags.has(Flags::SYN) {
            return Some(true);
        }
        if seg.flags.has(Flags::RST) {
            // Who resets a connection sends nothing else in it.
            return same.then(|| next.flags.has(Flags::RST));
        }
        if seg.flags.has(Flags::FIN) {
            let behind = seg.seq + seg.space();
            let is_over = |number: SeqNumber| number.distance(behind) >= 0;
            return match same {
                true => Some(next.flags.has(Flags::FIN) || is_over(next.seq)),
                false => next.ack().filter(|ack| is_over(*ack)).map(|_| true),
            };
        }
        // An ACK. Its receiver has it if it echoes its timestamp, and had it not if it repeats what was acknowledged.
        if same {
            return Some(false);
        }
        if next.len > 0 && seg.ack().is_some_and(|ack| next.seq.distance(ack) < 0) {
            return Some(false);
        }
        match (seg.timestamps(), next.timestamps()) {
            (Some((value, _)), Some((_, echo))) if echo.wrapping_sub(value) as i32 >= 0 => Some(true),
            (Some(_), Some(_)) => at_receiver.then_some(false),
            _ => at_receiver.then_some(true),
        }
    }
}

impl Connection {
    /// A wrong checksum, off by so much.
    #[cold]
    pub(super) fn note_wrong_sum(&mut self, from: usize, by: u16) {
        self.sums[from].note(false);
        let doubts = self.doubts();
        doubts.sums_vary |= doubts.wrong_sums > 0 && doubts.sum_off != by;
        doubts.sum_off = by;
        doubts.wrong_sums += 1;
        let tell = self.wrong_sums_tell();
        if let Stage::Settled(settled) = &mut self.stage {
            settled.sums_tell = tell;
        }
        self.note_direct();
    }

    /// Whether the wrong sums that there were mean damage, by side.
    pub(super) fn wrong_sums_tell(&self) -> [bool; 2] {
        let may_tell =
            self.rare.as_ref().is_some_and(|rare| rare.doubts.wrong_sums > 0 && !rare.doubts.are_rewritten());
        self.sums.map(|sums| may_tell && sums.tell())
    }

    /// What its wrong checksums come to, if it has some.
    pub fn wrong_sums(&self) -> Option<WrongSums> {
        let doubts = self.rare.as_ref().map(|rare| &rare.doubts).filter(|doubts| doubts.wrong_sums > 0)?;
        let all = match &self.stage {
            Stage::Held(held) => held.len() as u64 == doubts.wrong_sums,
            Stage::Settled(_) => false,
        };
        Some(WrongSums {
            segments: doubts.wrong_sums,
            all,
            header: Checksum::Bad(doubts.sum_off) == Checksum::DAMAGED,
            tell: self.wrong_sums_tell() != [false; 2],
            rewritten: doubts.are_rewritten(),
        })
    }

    /// Whether this opens what has begun with another number, and is damaged.
    pub(super) fn is_damaged_syn(&self, seg: &Seg) -> bool {
        let other = self.origins[seg.from()].is_some_and(|origin| origin != seg.seq);
        other && seg.is_wrong() && self.wrong_sums_tell()[seg.from()]
    }

    /// Takes back what segments told of the connection as a whole that have not come.
    #[cold]
    #[inline(never)]
    pub(super) fn take_back(&mut self) {
        let Stage::Settled(settled) = &mut self.stage else { return };
        for seg in std::mem::take(&mut settled.left_out) {
            let (from, place) = (seg.from(), seg.place);
            let doubts = self.doubts();
            *(if seg.is_wrong() { &mut doubts.bad_checksums } else { &mut doubts.stray }) += 1;
            if self.closing[from].is_some_and(|at| at.is_at(place)) {
                self.closing[from] = None;
                if seg.flags.has(Flags::RST) {
                    self.reset = None;
                } else {
                    (self.fin[from], self.fin_acked[from]) = (None, false);
                }
            }
        }
    }
}
