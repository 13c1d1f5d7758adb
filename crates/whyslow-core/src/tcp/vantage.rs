//! The position of the capture between the two ends, from times and from properties of an end's
//! host.
//!
//! A packet toward one side, and that side's reaction (an ACK, a SYN-ACK, a timestamp echo), are an
//! upper bound of the round trip from the capture point to that side; the minimum of many is that
//! round trip. The sum of both is the path's round trip, from any vantage, and their ratio is the
//! position of the capture on the path. Large segments decide if times do not: an ACK *inside* a
//! segment larger than the MSS shows that the segment was split after it was captured, so the
//! capture is at its sender (TSO). On a receiving host (GRO) the ACKs are at the ends of such
//! segments.

use super::facts::Vantage;
use super::segment::Seg;
use super::sender::rtt::{FIRST_RTO, OLD_FIRST_RTO};
use crate::wire::Flags;
use whyslow_analysis::types::{End, Near, Side, VantageReason};
use whyslow_units::{Nanos, SeqNumber, Time};

/// Timestamps stored per side until they are echoed.
const MAX_TIMESTAMPS: usize = 64;
/// Large segments stored per side until they are acknowledged.
const MAX_LARGE: usize = 64;
/// If the round trip to an end is less than this share of the whole, the capture is next to that
/// end.
const NEXT_TO: f64 = 0.1;
/// The largest payload of an Ethernet packet.
const ETHERNET_PAYLOAD: u32 = 1460;

#[derive(Clone, Debug, Default)]
struct SideSamples {
    /// A segment that waits for its ACK: its end and time.
    probe: Option<(SeqNumber, Time)>,
    /// Sequence number after the highest byte that it sent, if `has_sent`.
    highest: SeqNumber,
    has_sent: bool,
    timestamps: SentTimestamps,
    large: Option<Box<LargeSegments>>,
    /// ACKs of the other side inside a large segment, and at the end of one.
    acks_inside_large: u32,
    acks_at_large_end: u32,
    /// One more than the highest time to live of its packets; 0 before the first packet.
    max_ttl_plus_one: u16,
    /// Whether the newest window that it offers is zero.
    is_closed: bool,
}

/// Timestamps of a side, with the time of the first packet that had each.
#[derive(Clone, Debug)]
struct SentTimestamps {
    values: [u32; MAX_TIMESTAMPS],
    /// [`NO_TIME`] if the time was adjusted.
    times: [Time; MAX_TIMESTAMPS],
    seen: usize,
    /// The newest value, or [`NO_TIMESTAMP`].
    newest: u64,
    /// The last echo that was searched, or [`NO_TIMESTAMP`]: the same echo later gives no shorter
    /// round trip.
    last_echo: u64,
}

/// Segments larger than the MSS, until they are acknowledged.
#[derive(Clone, Debug)]
struct LargeSegments {
    /// Stored separately, so that several are compared at once.
    starts: [SeqNumber; MAX_LARGE],
    ends: [SeqNumber; MAX_LARGE],
    seen: usize,
    /// The last ACK that is inside none of them.
    missed: Option<SeqNumber>,
}

const NO_TIME: Time = Time::MIN;
/// Value for no timestamp.
const NO_TIMESTAMP: u64 = u64::MAX;

impl Default for SentTimestamps {
    fn default() -> Self {
        Self {
            values: [0; MAX_TIMESTAMPS],
            times: [NO_TIME; MAX_TIMESTAMPS],
            seen: 0,
            newest: NO_TIMESTAMP,
            last_echo: NO_TIMESTAMP,
        }
    }
}

/// Collects the evidence for the vantage.
#[derive(Clone, Debug)]
pub struct VantageEstimator {
    sides: [SideSamples; 2],
    /// Lowest round trip from the capture point to each side.
    pub toward: [Option<Nanos>; 2],
    /// The largest segment on the wire, as negotiated, timestamps option included.
    mss: u32,
    /// Number of larger segments.
    pub larger_than_mss: u64,
}

impl Default for VantageEstimator {
    fn default() -> Self {
        Self { sides: Default::default(), toward: [None; 2], mss: ETHERNET_PAYLOAD, larger_than_mss: 0 }
    }
}

impl VantageEstimator {
    /// Sets the segment size on the wire that the SYNs negotiated.
    pub fn on_mss_negotiated(&mut self, mss: Option<u32>) {
        self.mss = mss.unwrap_or(ETHERNET_PAYLOAD);
    }

    /// Adds a sample; returns whether it is the minimum so far.
    fn sample(&mut self, side: Side, answer: &Seg, asked: Time) -> bool {
        let time = answer.time - asked;
        // A sender without an ACK retransmits, and payload may be a later request.
        let most = if answer.len > 0 { FIRST_RTO } else { OLD_FIRST_RTO };
        let may_be = time.0 >= 0 && time <= most && !answer.time_clamped();
        let is_least = may_be && self.toward[side].is_none_or(|least| time < least) && !self.is_probe(answer);
        if is_least {
            self.toward[side] = Some(time);
        }
        is_least
    }

    /// Whether a timer may have triggered it, and not a received packet: a window probe or a
    /// keep-alive (RFC 9293 sections 3.8.4 and 3.8.6.1).
    fn is_probe(&self, seg: &Seg) -> bool {
        let (own, other) = (&self.sides[seg.from()], &self.sides[!seg.from()]);
        let repeats = seg.len <= 1 && own.has_sent && seg.seq.distance(own.highest) < 0;
        repeats || other.is_closed
    }

    /// Processes a segment. Returns whether [`toward`](Self::toward) has changed.
    #[inline(always)]
    pub fn observe(&mut self, seg: &Seg) -> bool {
        if self.sides[!seg.from()].may_learn(seg) {
            return self.observe_answer(seg);
        }
        self.note(seg);
        false
    }

    #[inline(never)]
    fn observe_answer(&mut self, seg: &Seg) -> bool {
        let changed = self.learn(seg);
        self.note(seg);
        changed
    }

    /// Like [`observe`](Self::observe), for callers that need only the [times](Self::toward), and
    /// segments that do not close a window.
    #[inline(always)]
    pub fn observe_times(&mut self, seg: &Seg) {
        if let Some(ack) = seg.ack() {
            self.learn_times(seg, ack);
        }
        self.note_times::<false>(seg);
    }

    /// Records parts of a segment to which the other side will react.
    #[inline(always)]
    fn note(&mut self, seg: &Seg) {
        self.note_times::<true>(seg);
        let side = &mut self.sides[seg.from()];
        if u16::from(seg.ttl) >= side.max_ttl_plus_one {
            side.max_ttl_plus_one = u16::from(seg.ttl) + 1;
        }
        if (seg.window == 0) != side.is_closed {
            side.is_closed = !side.is_closed && !seg.flags.has(Flags::RST);
        }
        if seg.len > self.mss && seg.seq_len() > 0 {
            self.larger_than_mss += 1;
            side.note_large(seg);
        }
    }

    /// Records their times. In a long connection few segments need this, so it is a separate
    /// function (`COLD`); in a short one most do.
    #[inline(always)]
    fn note_times<const COLD: bool>(&mut self, seg: &Seg) {
        let side = &mut self.sides[seg.from()];
        if let Some((value, _)) = seg.timestamps()
            && u64::from(value) != side.timestamps.newest
        {
            let time = if seg.time_clamped() { NO_TIME } else { seg.time };
            if COLD { side.timestamps.note_cold(value, time) } else { side.timestamps.note(value, time) }
        }
        let space = seg.seq_len();
        if space > 0 {
            let end = seg.seq + space;
            // Consecutive data, while the ACK of an earlier segment is missing.
            if side.probe.is_some() && seg.seq == side.highest {
                side.highest = end;
            } else if COLD {
                side.note_sent_cold(seg.seq, end, seg.time, seg.time_clamped());
            } else {
                side.note_sent(seg.seq, end, seg.time, seg.time_clamped());
            }
        }
    }

    /// Learns from a segment's ACK and echo about the other side's segments.
    fn learn(&mut self, seg: &Seg) -> bool {
        let Some(ack) = seg.ack() else {
            return false;
        };
        self.sides[!seg.from()].note_ack(ack);
        self.learn_times(seg, ack)
    }

    /// Takes samples of the round trip. Returns whether [`toward`](Self::toward) has changed.
    #[inline(always)]
    fn learn_times(&mut self, seg: &Seg, ack: SeqNumber) -> bool {
        let (from, to) = (seg.from(), !seg.from());
        let mut changed = false;
        if let Some((end, time)) = self.sides[to].probe
            && ack.distance(end) >= 0
        {
            self.sides[to].probe = None;
            changed |= self.sample(from, seg, time);
        }
        let asked = &mut self.sides[to].timestamps;
        if let Some((_, echo)) = seg.timestamps()
            && asked.last_echo != u64::from(echo)
        {
            let time = asked.time_of(echo);
            asked.last_echo = if time.is_none() || !seg.time_clamped() { echo.into() } else { NO_TIMESTAMP };
            changed |= time.is_some_and(|time| self.sample(from, seg, time));
        }
        changed
    }

    /// Lowers the round trips to each side to these. Returns whether that changed one.
    pub fn bound(&mut self, loops: [Option<Nanos>; 2]) -> bool {
        let mut changed = false;
        for (known, bound) in self.toward.iter_mut().zip(loops) {
            if bound.is_some_and(|bound| known.is_none_or(|known| bound < known)) {
                *known = bound;
                changed = true;
            }
        }
        changed
    }

    /// The resulting vantage, for a connection opened by `client`.
    pub fn conclude(&self, client: Side) -> Vantage {
        let server = !client;
        let ends = |side: Side| if side == client { End::Client } else { End::Server };
        let share = match (self.toward[client], self.toward[server]) {
            (Some(a), Some(b)) if a.0 + b.0 > 0 => Some(a.0 as f64 / (a.0 + b.0) as f64),
            _ => None,
        };
        let cut_after = Side::BOTH
            .into_iter()
            .find(|&side| self.sides[side].acks_inside_large > self.sides[!side].acks_inside_large);
        let joined_before = Side::BOTH
            .into_iter()
            .find(|&side| self.sides[side].acks_inside_large == 0 && self.sides[side].acks_at_large_end >= 8);
        let (near, reason) = match share {
            Some(share) if share <= NEXT_TO => (Near::Client, self.timing(client)),
            Some(share) if share >= 1.0 - NEXT_TO => (Near::Server, self.timing(server)),
            _ => match (cut_after, joined_before) {
                (Some(side), _) if share.is_some() => (near(ends(side)), VantageReason::CutAfterCaptureWithDelay),
                (Some(side), _) => (near(ends(side)), VantageReason::CutAfterCapture),
                (None, Some(side)) if share.is_none() => (near(ends(!side)), VantageReason::JoinedBeforeCapture),
                _ => self.by_ttl_or_middle(client, share),
            },
        };
        Vantage { near, reason, toward: self.toward }
    }

    fn timing(&self, side: Side) -> VantageReason {
        let [near_s, far_s] = [side, !side].map(|side| self.toward[side].unwrap_or_default());
        VantageReason::ResponseTimes { near_s, far_s }
    }

    fn by_ttl_or_middle(&self, client: Side, share: Option<f64>) -> (Near, VantageReason) {
        if let Some(client) = share {
            return (Near::Middle, VantageReason::RoundTripShare { client });
        }
        let server = !client;
        // If neither end's packets have passed a router, their times to live do not show which end
        // is near.
        let untouched = |side: Side| Some(matches!(self.sides[side].max_ttl_plus_one.checked_sub(1)?, 64 | 128 | 255));
        match (untouched(client), untouched(server)) {
            (Some(true), Some(false)) => (Near::Client, VantageReason::UntouchedTtl { end: End::Client }),
            (Some(false), Some(true)) => (Near::Server, VantageReason::UntouchedTtl { end: End::Server }),
            (None, _) | (_, None) => (Near::Unknown, VantageReason::OneEnd),
            _ if self.toward.iter().any(Option::is_some) => (Near::Unknown, VantageReason::WithinClockTick),
            _ => (Near::Unknown, VantageReason::NoPair),
        }
    }
}

fn near(end: End) -> Near {
    match end {
        End::Client => Near::Client,
        End::Server => Near::Server,
    }
}

impl SentTimestamps {
    #[inline(never)]
    fn note_cold(&mut self, value: u32, time: Time) {
        self.note(value, time);
    }

    /// Adds a timestamp other than the newest one.
    #[inline(always)]
    fn note(&mut self, value: u32, time: Time) {
        if self.newest != NO_TIMESTAMP && value.wrapping_sub(self.newest as u32) as i32 <= 0 {
            return;
        }
        self.newest = value.into();
        if self.last_echo == self.newest {
            self.last_echo = NO_TIMESTAMP;
        }
        self.values[self.seen % MAX_TIMESTAMPS] = value;
        self.times[self.seen % MAX_TIMESTAMPS] = time;
        self.seen += 1;
    }

    /// Time of the first packet with this timestamp.
    fn time_of(&self, value: u32) -> Option<Time> {
        // Timestamps only grow, and echoed ones are among the newest.
        let newest_first = (1..=self.seen.min(MAX_TIMESTAMPS)).map(|back| (self.seen - back) % MAX_TIMESTAMPS);
        let index = newest_first
            .take_while(|&index| self.values[index].wrapping_sub(value) as i32 >= 0)
            .find(|&index| self.values[index] == value)?;
        Some(self.times[index]).filter(|time| *time != NO_TIME)
    }
}

impl Default for LargeSegments {
    fn default() -> Self {
        Self { starts: [SeqNumber(0); MAX_LARGE], ends: [SeqNumber(0); MAX_LARGE], seen: 0, missed: None }
    }
}

impl LargeSegments {
    fn note(&mut self, start: SeqNumber, end: SeqNumber) {
        self.starts[self.seen % MAX_LARGE] = start;
        self.ends[self.seen % MAX_LARGE] = end;
        self.seen += 1;
        self.missed = None;
    }

    /// Finds the large segment that contains this ACK number, and returns whether it is at its end.
    /// Removes the segment.
    fn hit(&mut self, ack: SeqNumber) -> Option<bool> {
        if self.missed == Some(ack) {
            return None;
        }
        // An empty entry is a segment from 0 to 0, which contains nothing.
        let mut hit = -1;
        for (index, (&start, &end)) in (0i32..).zip(self.starts.iter().zip(&self.ends)) {
            let inside = ack.distance(start) > 0 && ack.distance(end) <= 0;
            hit = if inside { index } else { hit };
        }
        let Ok(index) = usize::try_from(hit) else {
            self.missed = Some(ack);
            return None;
        };
        self.starts[index] = SeqNumber(0);
        let end = std::mem::replace(&mut self.ends[index], SeqNumber(0));
        Some(ack == end)
    }
}

impl SideSamples {
    /// Whether the ACK or echo of this segment of the other side may show something about this
    /// side's segments.
    #[inline(always)]
    fn may_learn(&self, seg: &Seg) -> bool {
        let ends_probe = |ack: SeqNumber| self.probe.is_some_and(|(end, _)| ack.distance(end) >= 0);
        let is_in_large = |ack| self.large.as_ref().is_some_and(|large| large.missed != Some(ack));
        let is_echo = || seg.timestamps().is_some_and(|(_, echo)| self.timestamps.last_echo != u64::from(echo));
        seg.ack().is_some_and(|ack| ends_probe(ack) || is_in_large(ack) || is_echo())
    }

    fn note_ack(&mut self, ack: SeqNumber) {
        if let Some(large) = &mut self.large
            && let Some(at_end) = large.hit(ack)
        {
            *(if at_end { &mut self.acks_at_large_end } else { &mut self.acks_inside_large }) += 1;
        }
    }

    #[inline(never)]
    fn note_sent_cold(&mut self, start: SeqNumber, end: SeqNumber, time: Time, moved: bool) {
        self.note_sent(start, end, time, moved);
    }

    /// Records that it sent these sequence numbers.
    #[inline(always)]
    fn note_sent(&mut self, start: SeqNumber, end: SeqNumber, time: Time, moved: bool) {
        if !self.has_sent || end.distance(self.highest) > 0 {
            if self.probe.is_none() && !moved {
                self.probe = Some((end, time));
            }
            (self.highest, self.has_sent) = (end, true);
        } else if self.probe.is_some_and(|(probe, _)| probe.distance(start) > 0) {
            // A retransmission: its ACK would be ambiguous (Karn).
            self.probe = None;
        }
    }

    #[inline(never)]
    fn note_large(&mut self, seg: &Seg) {
        self.large.get_or_insert_with(Box::default).note(seg.seq, seg.seq + seg.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl VantageEstimator {
        /// Like [`observe`](Self::observe), without any shortcut.
        fn see_all(&mut self, seg: &Seg) -> bool {
            let changed = self.learn(seg);
            let side = &mut self.sides[seg.from()];
            side.max_ttl_plus_one = side.max_ttl_plus_one.max(u16::from(seg.ttl) + 1);
            side.is_closed = seg.window == 0 && !seg.flags.has(Flags::RST);
            if let Some((value, _)) = seg.timestamps() {
                side.timestamps.note(value, if seg.time_clamped() { NO_TIME } else { seg.time });
            }
            if seg.seq_len() > 0 {
                side.note_sent(seg.seq, seg.seq + seg.seq_len(), seg.time, seg.time_clamped());
            }
            if seg.len > self.mss {
                self.larger_than_mss += 1;
                side.note_large(seg);
            }
            changed
        }
    }

    proptest! {
        #[test]
        fn skipped_observations_change_nothing(
            origin in any::<u32>(),
            segments in prop::collection::vec(
                (prop::sample::select(&Side::BOTH), 0u32..12, 0u32..12, prop_oneof![Just(0u32), 1..3u32], any::<bool>(), (0u32..6, 0u32..6), 0u8..4),
                1..100,
            ),
        ) {
            // Pieces of 1,000 bytes, so that some segments are larger than the MSS and ACKs are
            // inside of them.
            let place = |piece: u32| SeqNumber(origin) + piece * 1000;
            let (mut short, mut general) = (VantageEstimator::default(), VantageEstimator::default());
            let mut times = VantageEstimator::default();
            for (index, (from, seq, ack, pieces, moved, stamps, rare)) in segments.into_iter().enumerate() {
                let stamps = (rare != 1).then(|| (origin.wrapping_add(stamps.0), origin.wrapping_add(stamps.1)));
                let mut seg = Seg::example(from, place(seq), place(ack), pieces * 1000, stamps);
                (seg.time, seg.ttl, seg.window) = (Time::from_millis(index as i64), 60 + rare, 1);
                if rare == 0 {
                    seg.flags = Flags::PSH;
                }
                if rare == 2 && moved {
                    seg.clamp_time(seg.time);
                }
                prop_assert_eq!(short.observe(&seg), general.see_all(&seg));
                times.observe_times(&seg);
                prop_assert_eq!(times.toward, general.toward);
            }
            prop_assert_eq!(format!("{short:?}"), format!("{general:?}"));
        }
    }
}
