//! Records the rounds and pauses of a current transfer in bounded memory.

use super::rate_meter::RateMeter;
use super::rtt::{MIN_PROBE_TIMER, update_min};
use crate::tcp::facts::{Release, RoundFacts, SendPause, TransferFacts};
use crate::tcp::segment::FrameRef;
use whyslow_analysis::types::Frame;
use whyslow_units::{Nanos, Time};

/// Rounds at the start of a transfer that are never merged; later ones may be merged in pairs.
const WHOLE_ROUNDS: usize = 512;
/// Maximum number of stored rounds.
const MAX_ROUNDS: usize = 8192;
/// Maximum number of stored pauses; beyond it, the shorter ones are added to the sums of their
/// rounds.
const MAX_GAPS: usize = 16_384;
/// Maximum number of points of the delivery curve (odd, so that thinning keeps the last one).
const MAX_POINTS: usize = 511;
/// Maximum number of stored frames of retransmissions.
const MAX_RESENT_FRAMES: usize = 16;

/// A current transfer.
#[derive(Clone, Debug, Default)]
pub struct TransferRecorder {
    /// See [`short_gap_limit_of`](Self::short_gap_limit).
    short_gap_limit: u64,
    /// The facts, without the last segment's part, which is added at the end of the round.
    facts: TransferFacts,
    /// The current round; its bytes and short pauses are added at its end too.
    round: RoundFacts,
    /// SND.MAX at the start of the round.
    round_from: u64,
    /// Start of the round's pauses: the time of the last segment before it.
    gaps_from: Time,
    /// Nanoseconds of the round's pauses that are recorded individually, or in another category
    /// than `flowing`.
    attributed_gap_nanos: u64,
    /// Number of rounds per entry, after merging.
    weight: u32,
    merging: Option<RoundFacts>,
    /// Bytes per rate sample.
    bin: u64,
    sent_rate: RateMeter,
    acked_rate: RateMeter,
    /// Captured bytes minus the covered sequence numbers: retransmissions increase it, uncaptured
    /// bytes decrease it.
    copies: u64,
    /// Bytes delivered.
    delivered: u64,
    /// Delivered bytes at which a bin of `acked_rate`, or an interval of the curve, ends.
    delivered_due: u64,
    /// Delivered bytes at the last point of the curve.
    point_at: u64,
    /// Bins between two points of the curve, minus one.
    thinned: u64,
}

/// Effects of an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct AckOutcome {
    /// Newly reported bytes.
    pub delivered: u64,
    /// The measured RTT, if any, and the ACK's delay over the lowest one.
    pub rtt: Option<Nanos>,
    pub late: Nanos,
}

impl TransferRecorder {
    /// Begins with the transfer's first byte; `bin`: bytes per rate sample.
    pub fn new(seq: u64, time: Time, frame: Frame, gap_floor: Nanos, bin: u64) -> Self {
        let facts = TransferFacts {
            seq: (seq, seq),
            start: time,
            end: time,
            last_send: time,
            frames: (frame, frame),
            gap_floor,
            ..TransferFacts::default()
        };
        let (round, round_from, pauses_from) = (new_round(time, frame), seq, time);
        Self {
            facts,
            short_gap_limit: short_gap_limit_of(gap_floor),
            round,
            round_from,
            gaps_from: pauses_from,
            weight: 1,
            bin,
            ..Self::default()
        }
    }

    /// Returns its sequence numbers so far.
    pub fn seq(&self) -> (u64, u64) {
        self.facts.seq
    }

    /// Changes the bytes per rate sample.
    pub fn set_rate_bin(&mut self, bin: u64) {
        self.bin = bin;
        for meter in [&mut self.sent_rate, &mut self.acked_rate] {
            meter.due = if meter.since.is_some() { meter.from + bin } else { 0 };
        }
        self.update_due();
    }

    /// Ends the round with the segment `last`, and begins the next one with the segment sent at
    /// `time`.
    pub fn next_round(&mut self, time: Time, frame: Frame, last: Option<(Time, FrameRef)>) {
        self.end_round(last);
        let done = std::mem::replace(&mut self.round, new_round(time, frame));
        self.keep_round(done);
        self.facts.rounds_total += 1;
    }

    /// Records a segment with new bytes up to `end`.
    #[inline]
    pub fn on_send(&mut self, end: u64, time: Time, in_flight: u64) {
        self.sent_rate.advance(end.wrapping_add(self.copies), time, self.bin);
        self.facts.seq.1 = end;
        self.facts.segments += 1;
        self.round.in_flight = self.round.in_flight.max(in_flight);
    }

    /// Records the window at a send.
    pub fn note_window(&mut self, window: Option<u64>) {
        if let Some(window) = window
            && self.round.window.is_none_or(|most| window > most)
        {
            self.round.window = Some(window);
        }
    }

    /// Records a retransmission of `bytes`.
    pub fn on_retransmit(&mut self, time: Time, frame: Frame, bytes: u64) {
        self.copies = self.copies.wrapping_add(bytes);
        self.sent_rate.advance(self.facts.seq.1.wrapping_add(self.copies), time, self.bin);
        self.facts.segments += 1;
        self.on_unseen_retransmit(frame);
    }

    /// Records that the next new bytes are a retransmission whose original was not captured.
    pub fn on_unseen_retransmit(&mut self, frame: Frame) {
        self.round.retransmitted += 1;
        if self.facts.retransmitted_frames.len() < MAX_RESENT_FRAMES {
            self.facts.retransmitted_frames.push(frame);
        }
    }

    /// Ends the round at its last segment, if any. Times never decrease.
    fn end_round(&mut self, last: Option<(Time, FrameRef)>) {
        let (start, first_frame) = (self.round.start, self.round.first_frame);
        let (time, frame) = last.map_or((start, first_frame), |(time, place)| (time, place.frame()));
        self.round.last_send = time;
        self.round.last_frame = frame;
        self.facts.last_send = time;
        self.facts.end = self.facts.end.max(time);
        self.facts.frames.1 = frame;
        self.facts.max_in_flight = self.max_in_flight();
        self.round.bytes = self.facts.seq.1 - self.round_from;
        self.round_from = self.facts.seq.1;
        let flowing = time.since(self.gaps_from).wrapping_sub(self.attributed_gap_nanos);
        self.round.flowing += Nanos(i64::try_from(flowing).unwrap_or(i64::MAX));
        (self.gaps_from, self.attributed_gap_nanos) = (time, 0);
    }

    /// Returns the most bytes in flight so far.
    pub fn max_in_flight(&self) -> u64 {
        self.facts.max_in_flight.max(self.round.in_flight)
    }

    /// Returns the length up to which pauses count only in their rounds. Time between sends of a
    /// round is `flowing`, except for pauses recorded by
    /// [`add_window_full_gap`](Self::add_window_full_gap),
    /// [`add_recovery_gap`](Self::add_recovery_gap) and [`add_gap`](Self::add_gap).
    pub fn gap_floor(&self) -> Nanos {
        self.facts.gap_floor
    }

    /// Returns the length, in nanoseconds, below which a pause is neither recorded nor long enough
    /// for an RTO.
    #[inline]
    pub fn short_gap_limit(&self) -> u64 {
        self.short_gap_limit
    }

    /// Disables the fast path for short pauses.
    #[cfg(test)]
    pub fn disable_short_gaps(&mut self) {
        self.short_gap_limit = 0;
    }

    /// Records the first segment: no pause precedes it.
    pub fn start_at(&mut self, time: Time) {
        self.gaps_from = time;
    }

    /// Adds a short pause with a full window.
    pub fn add_window_full_gap(&mut self, length: Nanos) {
        self.round.window_full += length;
        self.attributed_gap_nanos = self.attributed_gap_nanos.wrapping_add(length.0.cast_unsigned());
    }

    /// Adds a short pause in recovery.
    pub fn add_recovery_gap(&mut self, length: Nanos) {
        self.round.recovering += length;
        self.attributed_gap_nanos = self.attributed_gap_nanos.wrapping_add(length.0.cast_unsigned());
    }

    /// Adds a longer pause.
    pub fn add_gap(&mut self, gap: SendPause) {
        self.attributed_gap_nanos = self.attributed_gap_nanos.wrapping_add(gap.end.since(gap.start));
        self.facts.pauses.push(gap);
        if self.facts.pauses.len() > MAX_GAPS {
            self.raise_floor();
        }
    }

    /// Records an ACK at the sender's time: `delivered` more bytes are known to have arrived, by
    /// cumulative ACK or SACK.
    #[inline]
    pub fn on_ack(&mut self, time: Time, ack: u64, outcome: AckOutcome) {
        let AckOutcome { delivered, rtt, late } = outcome;
        if delivered > 0 {
            self.delivered += delivered;
            if self.delivered >= self.delivered_due {
                self.note_delivered(time);
            }
        }
        if let Some(rtt) = rtt {
            update_min(&mut self.round.rtt, rtt);
            update_min(&mut self.round.ack_late, late);
        }
        self.on_acked_up_to(time, ack);
    }

    /// Records the RTT of a segment that a SACK reported.
    pub fn on_sack(&mut self, trip: Nanos) {
        self.round.sacked.0 += 1;
        self.round.sacked.1 += trip;
    }

    #[inline(never)]
    fn note_delivered(&mut self, time: Time) {
        self.acked_rate.advance(self.delivered, time, self.bin);
        if self.delivered >= self.point_due() {
            self.add_curve_points(time);
        }
        self.update_due();
    }

    fn update_due(&mut self) {
        self.delivered_due = self.acked_rate.due.min(self.point_due());
    }

    /// Delivered bytes at which the curve gets its next point.
    fn point_due(&self) -> u64 {
        let apart = self.bin.saturating_mul(self.thinned + 1);
        if self.facts.delivered.is_empty() { 0 } else { self.point_at.saturating_add(apart) }
    }

    /// Records that everything up to `ack` is acknowledged.
    #[inline]
    pub fn on_acked_up_to(&mut self, time: Time, ack: u64) {
        if ack >= self.facts.seq.1 && !self.facts.acknowledged {
            self.facts.acknowledged = true;
            self.facts.end = self.facts.end.max(time);
        }
    }

    /// Extends the delivery curve.
    fn add_curve_points(&mut self, time: Time) {
        let curve = &mut self.facts.delivered;
        match curve.last() {
            // The bytes of the first point precede it.
            None => curve.push((time, 0)),
            Some(&(last, _)) if time <= last => return,
            Some(&(_, before)) => curve.push((time, before.saturating_add(self.delivered - self.point_at))),
        }
        self.point_at = self.delivered;
        if curve.len() >= MAX_POINTS {
            self.thin_curve();
        }
    }

    /// More bytes follow after everything was acknowledged: the end is open again.
    pub fn reopen(&mut self) {
        self.facts.acknowledged = false;
    }

    /// The facts so far, for updates.
    pub fn facts(&mut self) -> &mut TransferFacts {
        &mut self.facts
    }

    /// Extends the transfer to `end` for bytes that were acknowledged but not captured.
    pub fn extend(&mut self, end: u64) {
        let more = end.saturating_sub(self.facts.seq.1);
        self.facts.seq.1 += more;
        self.copies = self.copies.wrapping_sub(more);
    }

    /// Appends `more`, which continues this transfer; `last` is this one's last segment, and
    /// `pause` is the pause between them, if recorded individually.
    pub fn absorb(&mut self, last: Option<(Time, FrameRef)>, pause: Option<SendPause>, mut more: Self) {
        self.end_round(last);
        // A short pause between them belongs to the following round.
        if pause.is_none() {
            let between = (more.facts.start - self.facts.last_send).or_zero();
            more.facts.rounds.first_mut().unwrap_or(&mut more.round).flowing += between;
        }
        let done = std::mem::replace(&mut self.round, more.round);
        self.keep_round(done);
        self.facts.rounds_total += 1 + more.facts.rounds_total;
        for round in std::mem::take(&mut more.facts.rounds).into_iter().chain(more.merging.take()) {
            self.keep_round(round);
        }
        (self.round_from, self.gaps_from, self.attributed_gap_nanos) =
            (more.round_from, more.gaps_from, more.attributed_gap_nanos);
        let floors = [self.facts.gap_floor, more.facts.gap_floor];
        self.facts.pauses.extend(pause);
        self.facts.pauses.append(&mut more.facts.pauses);
        // The stored pauses must not depend on the time of the join, before or after a pause.
        if floors[0] != floors[1] {
            self.set_floor(floors[0].max(floors[1]));
        }
        while self.facts.pauses.len() > MAX_GAPS {
            self.raise_floor();
        }
        self.sent_rate.absorb(std::mem::take(&mut more.sent_rate), self.copies);
        self.acked_rate.absorb(std::mem::take(&mut more.acked_rate), self.delivered);
        self.copies = self.copies.wrapping_add(more.copies);
        self.absorb_curve(&more);
        self.delivered += more.delivered;
        self.bin = more.bin;
        self.update_due();
        self.facts.absorb(more.facts);
    }

    /// Appends the delivery curve of the next part.
    fn absorb_curve(&mut self, more: &Self) {
        let reach = |recorder: &Self| recorder.facts.delivered.last().map_or(0, |&(_, bytes)| bytes);
        // Bytes delivered before the first point of a curve are not in it.
        let first = self.delivered + more.point_at.saturating_sub(reach(more));
        let before = if self.facts.delivered.is_empty() { first } else { self.point_at.saturating_sub(reach(self)) };
        for &(time, bytes) in &more.facts.delivered {
            if self.facts.delivered.last().is_none_or(|&(last, _)| time > last) {
                self.facts.delivered.push((time, (first + bytes).saturating_sub(before)));
            }
        }
        if !more.facts.delivered.is_empty() {
            self.point_at = self.delivered + more.point_at;
        }
        self.thinned = self.thinned.max(more.thinned);
        while self.facts.delivered.len() >= MAX_POINTS {
            self.thin_curve();
        }
    }

    fn thin_curve(&mut self) {
        let mut index = 0;
        self.facts.delivered.retain(|_| {
            index += 1;
            index % 2 == 1
        });
        self.thinned = 2 * self.thinned + 1;
    }

    /// Finishes the transfer; `last` was its last segment.
    pub fn finish(mut self, last: Option<(Time, FrameRef)>) -> TransferFacts {
        self.end_round(last);
        let last = self.round;
        if let Some(rest) = self.merging.take() {
            self.facts.rounds.push(rest);
        }
        self.facts.rounds.push(last);
        self.facts.rounds_total += 1;
        self.facts.sent_rate = self.sent_rate.finish();
        self.facts.acked_rate = self.acked_rate.finish();
        self.facts
    }

    fn keep_round(&mut self, round: RoundFacts) {
        if self.facts.rounds.len() < WHOLE_ROUNDS || (self.weight == 1 && self.facts.rounds.len() < MAX_ROUNDS) {
            self.facts.rounds.push(round);
            return;
        }
        if self.facts.rounds.len() >= MAX_ROUNDS {
            let far = self.facts.rounds.split_off(WHOLE_ROUNDS);
            self.facts.rounds.extend(far.chunks(2).map(|pair| match pair {
                [one, two] => merge(*one, *two),
                _ => pair[0],
            }));
            self.weight *= 2;
        }
        let merged = match self.merging.take() {
            Some(first) => merge(first, round),
            None => round,
        };
        if merged.merged >= self.weight {
            self.facts.rounds.push(merged);
        } else {
            self.merging = Some(merged);
        }
    }

    /// Doubles the least length of individually stored pauses.
    fn raise_floor(&mut self) {
        self.set_floor(Nanos(self.facts.gap_floor.0.max(1).saturating_mul(2)));
    }

    /// Stores pauses above this length individually, and counts the others in their rounds.
    fn set_floor(&mut self, floor: Nanos) {
        (self.facts.gap_floor, self.short_gap_limit) = (floor, short_gap_limit_of(floor));
        let (rounds, round) = (&mut self.facts.rounds, &mut self.round);
        self.facts.pauses.retain(|gap| {
            let long = gap.end - gap.start > floor;
            if !long {
                let index = rounds.partition_point(|r| r.start <= gap.start);
                let home = if gap.start >= round.start { &mut *round } else { &mut rounds[index.max(1) - 1] };
                let held = matches!(gap.release, Release::WindowAck | Release::WindowUpdate) || gap.closed.is_some();
                add_gap_to_round(home, gap.end - gap.start, gap.recovering, held);
            }
            long
        });
    }
}

fn new_round(time: Time, frame: Frame) -> RoundFacts {
    RoundFacts {
        start: time,
        last_send: time,
        first_frame: frame,
        last_frame: frame,
        merged: 1,
        ..RoundFacts::default()
    }
}

fn add_gap_to_round(round: &mut RoundFacts, length: Nanos, recovering: bool, window_full: bool) {
    if recovering {
        round.recovering += length;
    } else if window_full {
        round.window_full += length;
    } else {
        round.flowing += length;
    }
}

/// The length below which a pause is neither recorded individually, given that pauses up to `floor`
/// are not, nor long enough for an RTO.
fn short_gap_limit_of(floor: Nanos) -> u64 {
    (floor + Nanos(1)).min(MIN_PROBE_TIMER).0.cast_unsigned()
}

fn least(one: Option<Nanos>, two: Option<Nanos>) -> Option<Nanos> {
    match (one, two) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn merge(one: RoundFacts, two: RoundFacts) -> RoundFacts {
    RoundFacts {
        start: one.start,
        last_send: two.last_send,
        first_frame: one.first_frame,
        last_frame: two.last_frame,
        bytes: one.bytes + two.bytes,
        in_flight: one.in_flight.max(two.in_flight),
        window: one.window.max(two.window),
        flowing: one.flowing + two.flowing,
        window_full: one.window_full + two.window_full,
        recovering: one.recovering + two.recovering,
        retransmitted: one.retransmitted + two.retransmitted,
        rtt: least(one.rtt, two.rtt),
        ack_late: least(one.ack_late, two.ack_late),
        sacked: (one.sacked.0 + two.sacked.0, one.sacked.1 + two.sacked.1),
        merged: one.merged + two.merged,
    }
}

#[cfg(test)]
mod tests;
