//! Rounds and pauses of one transfer while it goes on, in bounded memory.

use super::facts::{Gap, RateSpread, Release, RoundFacts, TransferFacts};
use super::rtt::Quantiles;
use super::segment::Place;
use crate::analysis::Frame;
use crate::units::Nanos;

/// Rounds kept one by one at the start of a transfer; those after may be merged in pairs.
const WHOLE_ROUNDS: usize = 512;
/// Most rounds held.
const MOST_ROUNDS: usize = 8192;
/// Most pauses held; beyond that the shorter ones go into their rounds' sums.
const MOST_GAPS: usize = 16_384;
/// Points of the curve of delivered bytes at most (odd, so that thinning keeps the last one).
const MOST_POINTS: usize = 511;
/// First frames sent again that are remembered as evidence.
const MOST_RESENT_FRAMES: usize = 16;

/// A transfer that is going on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    /// But for what follows from the last segment, which is added when the round ends.
    facts: TransferFacts,
    round: RoundFacts,
    /// The last segment.
    last: (Nanos, Place),
    /// How many rounds one entry stands for, after merging.
    weight: u32,
    merging: Option<RoundFacts>,
    sent_rate: RateMeter,
    acked_rate: RateMeter,
    /// Delivered since the last point of the curve, bytes.
    since_point: u64,
    /// How many bins lie between two points of it, less one.
    thinned: u64,
}

/// Rates over successive equal amounts of bytes: alike when one rate governs them all, whatever the rounds do.
#[derive(Clone, Debug, Default)]
struct RateMeter {
    since: Option<Nanos>,
    bytes: u64,
    /// Nanoseconds per mebibyte, so that the quantiles are of a time.
    paces: Quantiles,
}

impl RateMeter {
    #[inline(always)]
    fn add(&mut self, bytes: u64, time: Nanos, bin: u64) {
        let Some(since) = self.since else {
            // The first bytes open the first bin: their own time is before it.
            self.since = Some(time);
            return;
        };
        self.bytes += bytes;
        if self.bytes >= bin && time > since {
            self.end_bin(since, time);
        }
    }

    #[inline(never)]
    fn end_bin(&mut self, since: Nanos, time: Nanos) {
        self.paces.push(Nanos((time - since).scale(1_048_576.0 / self.bytes as f64).0.max(1)));
        self.bytes = 0;
        self.since = Some(time);
    }

    fn finish(&self) -> RateSpread {
        let rate = |pace: Nanos| 8.0 * 1_048_576.0 / pace.as_secs_f64();
        let [p90, p50, p10] = self.paces.at([0.1, 0.5, 0.9]).map_or([0.0; 3], |paces| paces.map(rate));
        RateSpread { p10, p50, p90, bins: self.paces.count() }
    }
}

impl Recorder {
    /// Begins with the transfer's first byte.
    pub fn new(seq: u64, time: Nanos, frame: Frame, gap_floor: Nanos) -> Self {
        let facts = TransferFacts {
            seq: (seq, seq),
            start: time,
            end: time,
            last_send: time,
            frames: (frame, frame),
            gap_floor,
            ..TransferFacts::default()
        };
        Self { facts, round: new_round(time, frame), last: (time, frame.into()), weight: 1, ..Self::default() }
    }

    /// The round that is going on ends; the next begins with the segment sent at `time`.
    pub fn next_round(&mut self, time: Nanos, frame: Frame) {
        self.end_round();
        let done = std::mem::replace(&mut self.round, new_round(time, frame));
        self.keep(done);
        self.facts.rounds_total += 1;
    }

    /// A segment with new bytes up to `end`. Rates are taken over `bin` bytes.
    #[inline(always)]
    pub fn sent(&mut self, end: u64, time: Nanos, place: Place, in_flight: u64, window: Option<u64>, bin: u64) {
        let bytes = end.saturating_sub(self.facts.seq.1);
        self.sent_rate.add(bytes, time, bin);
        self.round.bytes += bytes;
        self.facts.seq.1 = self.facts.seq.1.max(end);
        self.facts.segments += 1;
        self.round.in_flight = self.round.in_flight.max(in_flight);
        self.round.window = self.round.window.max(window);
        self.last = (time, place);
    }

    /// A segment of `bytes` sent again.
    pub fn resent(&mut self, time: Nanos, frame: Frame, bytes: u64, bin: u64) {
        self.sent_rate.add(bytes, time, bin);
        self.facts.segments += 1;
        self.resent_unseen(frame);
        self.last = (time, frame.into());
    }

    /// What [`sent`](Self::sent) is told of as new was sent again, its first copy not captured.
    pub fn resent_unseen(&mut self, frame: Frame) {
        self.round.resent += 1;
        if self.facts.resent_frames.len() < MOST_RESENT_FRAMES {
            self.facts.resent_frames.push(frame);
        }
    }

    /// The last segment of the round is known. Times never go back.
    fn end_round(&mut self) {
        let (time, place) = self.last;
        let frame = place.frame();
        self.round.last_send = time;
        self.round.last_frame = frame;
        self.facts.last_send = time;
        self.facts.end = self.facts.end.max(time);
        self.facts.frames.1 = frame;
        self.facts.max_in_flight = self.facts.max_in_flight.max(self.round.in_flight);
    }

    /// Pauses up to this long are counted in their rounds only: [`short_gap`](Self::short_gap) takes them.
    pub fn gap_floor(&self) -> Nanos {
        self.facts.gap_floor
    }

    /// A short pause that has just ended, in recovery or not, with the window full or not.
    pub fn short_gap(&mut self, length: Nanos, recovering: bool, window_full: bool) {
        fold(&mut self.round, length, recovering, window_full);
    }

    /// A longer pause that has just ended.
    pub fn gap(&mut self, gap: Gap) {
        self.facts.gaps.push(gap);
        if self.facts.gaps.len() > MOST_GAPS {
            self.raise_floor();
        }
    }

    /// An ACK reached the sender: `delivered` bytes more are known to have arrived, by it or by its SACKs.
    #[inline(always)]
    pub fn acked(&mut self, time: Nanos, ack: u64, delivered: u64, rtt: Option<Nanos>, late: Nanos, bin: u64) {
        if delivered > 0 {
            self.acked_rate.add(delivered, time, bin);
            self.point(time, delivered, bin);
        }
        if let Some(rtt) = rtt {
            self.round.rtt = least(self.round.rtt, Some(rtt));
            self.round.ack_late = least(self.round.ack_late, Some(late));
        }
        self.reached(time, ack);
    }

    /// All up to here is acknowledged.
    #[inline(always)]
    pub fn reached(&mut self, time: Nanos, ack: u64) {
        if ack >= self.facts.seq.1 && !self.facts.acknowledged {
            self.facts.acknowledged = true;
            self.facts.end = self.facts.end.max(time);
        }
    }

    /// Takes the curve of delivered bytes on.
    #[inline(always)]
    fn point(&mut self, time: Nanos, delivered: u64, bin: u64) {
        self.since_point += delivered;
        if self.since_point >= bin.saturating_mul(self.thinned + 1) || self.facts.delivered.is_empty() {
            self.take_point(time);
        }
    }

    #[inline(never)]
    fn take_point(&mut self, time: Nanos) {
        let curve = &mut self.facts.delivered;
        let Some(&(last, before)) = curve.last() else {
            // The bytes of the first point are before it.
            self.since_point = 0;
            curve.push((time, 0));
            return;
        };
        if time <= last {
            return;
        }
        curve.push((time, before.saturating_add(self.since_point)));
        self.since_point = 0;
        if curve.len() >= MOST_POINTS {
            let mut index = 0;
            curve.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.thinned = 2 * self.thinned + 1;
        }
    }

    /// More bytes follow after all were acknowledged: the end is open again.
    pub fn reopen(&mut self) {
        self.facts.acknowledged = false;
    }

    /// What was recorded so far, to count in.
    pub fn facts(&mut self) -> &mut TransferFacts {
        &mut self.facts
    }

    /// Bytes were acknowledged that were never captured: the transfer reaches at least to `end`.
    pub fn extend(&mut self, end: u64) {
        let more = end.saturating_sub(self.facts.seq.1);
        self.round.bytes += more;
        self.facts.seq.1 += more;
    }

    /// The transfer is over.
    pub fn finish(mut self) -> TransferFacts {
        self.end_round();
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

    fn keep(&mut self, round: RoundFacts) {
        if self.facts.rounds.len() < WHOLE_ROUNDS || (self.weight == 1 && self.facts.rounds.len() < MOST_ROUNDS) {
            self.facts.rounds.push(round);
            return;
        }
        if self.facts.rounds.len() >= MOST_ROUNDS {
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

    /// Doubles the length from which a pause is kept on its own.
    fn raise_floor(&mut self) {
        let floor = Nanos(self.facts.gap_floor.0.max(1).saturating_mul(2));
        self.facts.gap_floor = floor;
        let (rounds, round) = (&mut self.facts.rounds, &mut self.round);
        self.facts.gaps.retain(|gap| {
            let long = gap.end - gap.start > floor;
            if !long {
                let index = rounds.partition_point(|r| r.start <= gap.start);
                let home = if gap.start >= round.start { &mut *round } else { &mut rounds[index.max(1) - 1] };
                let held = matches!(gap.release, Release::WindowAck | Release::WindowUpdate) || gap.zero_window;
                fold(home, gap.end - gap.start, gap.recovering, held);
            }
            long
        });
    }
}

fn new_round(time: Nanos, frame: Frame) -> RoundFacts {
    RoundFacts {
        start: time,
        last_send: time,
        first_frame: frame,
        last_frame: frame,
        merged: 1,
        ..RoundFacts::default()
    }
}

fn fold(round: &mut RoundFacts, length: Nanos, recovering: bool, window_full: bool) {
    let length = length.or_zero();
    if recovering {
        round.recovering += length;
    } else if window_full {
        round.window_full += length;
    } else {
        round.flowing += length;
    }
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
        resent: one.resent + two.resent,
        rtt: least(one.rtt, two.rtt),
        ack_late: least(one.ack_late, two.ack_late),
        merged: one.merged + two.merged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_of_delivered_bytes_stays_true_and_small() {
        let mut recorder = Recorder::new(1, Nanos::ZERO, Frame::default(), Nanos::from_millis(1));
        for n in 0..100_000 {
            // One byte a microsecond.
            recorder.acked(Nanos::from_micros(1_000 * n), 1, 1_000, None, Nanos::ZERO, 10_000);
        }
        let curve = recorder.finish().delivered;
        assert!((200..=MOST_POINTS).contains(&curve.len()), "{}", curve.len());
        assert!(curve.iter().all(|&(time, bytes)| time.0 == 1_000 * bytes as i64), "no byte is lost by thinning");
        let last = curve.last().map_or(0, |point| point.1);
        assert!(last > 99_000_000, "{last}");
    }
}
