//! Segments that may not have reached the other end: those with a wrong checksum, and those with
//! implausible sequence or acknowledgment numbers.
//!
//! A wrong checksum alone shows nothing: captures are rewritten, and network cards complete
//! checksums late. It counts only if other checksums of that side are correct
//! ([`ChecksumTally`](crate::wire::ChecksumTally)). Then the segment waits until later ones show
//! whether it arrived. An answered segment arrived. A sender that repeats data which an ACK
//! acknowledged, or sends nothing before the next one, did not receive that ACK. No end sends data
//! after closing. Later segments also show a damaged number: if its sender continues from its
//! previous position, it did not send that number.

use super::connection::{Connection, Stage, SuspectReason, SuspectSegment, Tracking};
use super::segment::Seg;
use super::sender::SenderState;
use crate::wire::{Checksum, Flags, SackBlocks};
use whyslow_analysis::types::Side;
use whyslow_units::SeqNumber;

/// Largest jump of a sequence number over uncaptured bytes that is not suspect, measured from the
/// receiver's right edge if known. A capture may lose more, but then later segments show it.
const MAX_SEQ_JUMP: u64 = 1 << 20;
const MAX_JUMP_OVER_EDGE: u64 = 1 << 16;

/// Summary of a connection's wrong checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadChecksums {
    /// Segments with a wrong checksum.
    pub segments: u64,
    /// Whether all verified segments have one.
    pub all: bool,
    /// Whether the last of them is in an IPv4 header.
    pub header: bool,
    /// Whether wrong checksums of at least one side indicate damage.
    pub mean_damage: bool,
    /// Whether all have the same difference.
    pub rewritten: bool,
}

/// Result of examining a segment's header.
enum SegmentVerdict {
    Plausible,
    Suspect(SuspectReason),
    /// It has a wrong checksum and impossible numbers.
    Damaged,
}

impl SenderState {
    /// SND.NXT; `None` before the first segment.
    #[inline]
    pub(super) fn snd_nxt(&self) -> Option<SeqNumber> {
        Some(self.isn? + self.snd_max as u32)
    }

    /// Returns whether this number is beyond everything that may be sent or acknowledged now.
    fn is_sequence_jump(&self, number: SeqNumber) -> bool {
        let ahead = self.snd_nxt().and_then(|next| u64::try_from(number.distance(next)).ok());
        let edge = self.window.room(self.snd_max).map(|room| room + MAX_JUMP_OVER_EDGE);
        ahead.is_some_and(|ahead| ahead >= edge.unwrap_or(MAX_SEQ_JUMP))
    }

    /// Returns whether the sender may use this number now: not yet acknowledged, or the next one.
    fn is_acceptable_seq(&self, number: SeqNumber) -> bool {
        let Some(ahead) = self.snd_nxt().map(|next| number.distance(next)) else { return true };
        let in_flight = self.snd_max.saturating_sub(self.snd_una).saturating_add(1);
        ahead <= 0 && u64::from(ahead.unsigned_abs()) <= in_flight
    }
}

impl Tracking {
    /// Returns whether a segment must be [examined](Self::defers_or_drops) before it is processed,
    /// which is rare.
    #[inline]
    pub(super) fn needs_check(&self, seg: &Seg) -> bool {
        let (own, other) = (&self.senders[seg.from()], &self.senders[!seg.from()]);
        let is_next = own.snd_nxt() == Some(seg.seq);
        let is_sent = seg.ack().is_some_and(|ack| other.unwrap_ack_of_sent(ack).is_some());
        !(is_next & is_sent) | self.suspect.is_some() | self.early.is_waiting() | seg.has_bad_checksum()
    }

    /// Returns whether to drop or defer a segment.
    #[inline(never)]
    pub(super) fn defers_or_drops(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        let aside = self.checks_and_defers(seg, sack) || self.waits_for_data(seg, sack);
        if aside {
            // A duplicate frame needs no examination.
            self.recent[seg.from()].note(seg, sack);
        }
        aside
    }

    fn checks_and_defers(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        if let Some(suspect) = &self.suspect {
            match suspect.was_received(seg, self) {
                Some(true) => self.accept_suspect(),
                Some(false) => self.drop_suspect(),
                None => {}
            }
        }
        let why = match self.judge(seg) {
            SegmentVerdict::Plausible => {
                if let Some(suspect) = self.suspect.as_mut().filter(|suspect| suspect.seg.from() != seg.from()) {
                    suspect.passed = Some(seg.time);
                }
                return false;
            }
            SegmentVerdict::Damaged => {
                self.dropped.push(*seg);
                return true;
            }
            SegmentVerdict::Suspect(why) => why,
        };
        // Only one segment waits at a time.
        self.accept_suspect();
        self.suspect = Some(Box::new(SuspectSegment { seg: *seg, sack: *sack, reason: why, passed: None }));
        true
    }

    fn judge(&self, seg: &Seg) -> SegmentVerdict {
        let (own, other) = (&self.senders[seg.from()], &self.senders[!seg.from()]);
        if seg.has_bad_checksum() && self.checksums_reliable[seg.from()] {
            if seg.len > 0 {
                // ACKs and retransmissions show whether payload arrived.
                return SegmentVerdict::Plausible;
            }
            let may_be = own.is_acceptable_seq(seg.seq) && seg.ack().is_none_or(|ack| other.is_acceptable_seq(ack));
            return if may_be { SegmentVerdict::Suspect(SuspectReason::Sum) } else { SegmentVerdict::Damaged };
        }
        if seg.flags.has(Flags::SYN) || seg.flags.has(Flags::RST) {
            return SegmentVerdict::Plausible;
        }
        if own.is_sequence_jump(seg.seq) {
            SegmentVerdict::Suspect(SuspectReason::Seq)
        } else if seg.ack().is_some_and(|ack| other.is_sequence_jump(ack)) {
            SegmentVerdict::Suspect(SuspectReason::Ack)
        } else {
            SegmentVerdict::Plausible
        }
    }

    /// Processes the suspect segment: it arrived.
    pub(super) fn accept_suspect(&mut self) {
        if let Some(suspect) = self.suspect.take() {
            let SuspectSegment { mut seg, sack, passed, .. } = *suspect;
            if let Some(passed) = passed.filter(|passed| *passed > seg.time) {
                seg.clamp_time(passed);
            }
            self.track(&seg, &sack);
        }
    }

    /// Drops the suspect segment: it did not arrive.
    fn drop_suspect(&mut self) {
        self.dropped.extend(self.suspect.take().map(|suspect| suspect.seg));
    }

    /// Decides about the suspect segment at the end of the connection.
    pub(super) fn finish_suspect(&mut self) {
        self.release_early_acks(|_, _| true);
        match &self.suspect {
            // No later segment has continued from there.
            Some(suspect) if !matches!(suspect.reason, SuspectReason::Sum) => self.drop_suspect(),
            _ => self.accept_suspect(),
        }
    }
}

impl SuspectSegment {
    /// Returns whether the segment arrived, if the next one shows it.
    fn was_received(&self, next: &Seg, Tracking { senders, paths, .. }: &Tracking) -> Option<bool> {
        let own = self.seg.from();
        match self.reason {
            // It acknowledges the other side's data.
            SuspectReason::Sum => self.is_answered(next, paths[!own].near),
            SuspectReason::Seq => self.continues_from(next, own, self.seg.seq, &senders[own]),
            SuspectReason::Ack => self.continues_from(next, !own, self.seg.ack()?, &senders[!own]),
        }
    }

    /// Returns whether this `side` continues from the jump (`true`) or from its previous position.
    fn continues_from(&self, next: &Seg, side: Side, number: SeqNumber, sender: &SenderState) -> Option<bool> {
        let now = if next.from() == side { Some(next.seq) } else { next.ack() }?;
        let (there, here) = (now.distance(number).unsigned_abs(), now.distance(sender.snd_nxt()?).unsigned_abs());
        if there < here {
            return Some(true);
        }
        // Only the next segment of the same sender contradicts it: the other side's may have
        // crossed it.
        (next.from() == self.seg.from()).then_some(false)
    }

    /// `at_receiver`: the capture is next to the receiver, so that its next segment answers this
    /// one.
    fn is_answered(&self, next: &Seg, at_receiver: bool) -> Option<bool> {
        let (seg, same) = (&self.seg, next.from() == self.seg.from());
        if seg.flags.has(Flags::SYN) {
            return Some(true);
        }
        if seg.flags.has(Flags::RST) {
            // After a RST its sender sends only RSTs.
            return same.then(|| next.flags.has(Flags::RST));
        }
        if seg.flags.has(Flags::FIN) {
            let end = seg.seq + seg.seq_len();
            let is_over = |number: SeqNumber| number.distance(end) >= 0;
            return match same {
                true => Some(next.flags.has(Flags::FIN) || is_over(next.seq)),
                false => next.ack().filter(|ack| is_over(*ack)).map(|_| true),
            };
        }
        // An ACK arrived if its receiver echoes its timestamp, and did not if the receiver
        // retransmits data that it acknowledged.
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
    /// Records a wrong checksum with the difference `by`.
    #[cold]
    pub(super) fn note_bad_checksum(&mut self, from: Side, by: u16) {
        self.checksums[from].note(false);
        let defects = self.capture_defects();
        defects.checksum_offsets_vary |= defects.all_bad_checksums > 0 && defects.checksum_offset != by;
        defects.checksum_offset = by;
        defects.all_bad_checksums += 1;
        let reliable = self.bad_checksums_mean_damage();
        if let Stage::Tracking(tracking) = &mut self.stage {
            tracking.checksums_reliable = reliable;
        }
        self.update_fast_path();
    }

    /// Returns whether wrong checksums indicate damage, by side.
    pub(super) fn bad_checksums_mean_damage(&self) -> [bool; 2] {
        let any_correct = self
            .rare
            .as_ref()
            .is_some_and(|rare| rare.capture_defects.all_bad_checksums > 0 && !rare.capture_defects.are_rewritten());
        self.checksums.map(|sums| any_correct && sums.is_reliable())
    }

    /// Summarizes the connection's wrong checksums, if there are any.
    pub fn bad_checksums(&self) -> Option<BadChecksums> {
        let defects =
            self.rare.as_ref().map(|rare| &rare.capture_defects).filter(|defects| defects.all_bad_checksums > 0)?;
        let all = match &self.stage {
            Stage::Buffering(held) => held.len() as u64 == defects.all_bad_checksums,
            Stage::Tracking(_) => false,
        };
        Some(BadChecksums {
            segments: defects.all_bad_checksums,
            all,
            header: Checksum::Bad(defects.checksum_offset) == Checksum::DAMAGED,
            mean_damage: self.bad_checksums_mean_damage() != [false; 2],
            rewritten: defects.are_rewritten(),
        })
    }

    /// Returns whether this SYN is damaged: the connection began with another sequence number.
    pub(super) fn is_damaged_syn(&self, seg: &Seg) -> bool {
        let other = self.isns[seg.from()].is_some_and(|origin| origin != seg.seq);
        other && seg.has_bad_checksum() && self.bad_checksums_mean_damage()[seg.from()]
    }

    /// Reverts the effects of dropped segments on the connection.
    #[cold]
    #[inline(never)]
    pub(super) fn undo_dropped(&mut self) {
        let Stage::Tracking(tracking) = &mut self.stage else { return };
        for seg in std::mem::take(&mut tracking.dropped) {
            let (from, place) = (seg.from(), seg.frame_ref);
            let defects = self.capture_defects();
            *(if seg.has_bad_checksum() { &mut defects.bad_checksums } else { &mut defects.stray }) += 1;
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
