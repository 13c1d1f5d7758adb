//! Fate of one direction's packets between the captures.

use super::align::Aligned;
use super::cells::PacketPart;
use super::collector::ConnectionPackets;
use super::figures::{millis, percentile};
use super::matcher::{DirectionMatch, Match};
use super::span::TimeSpan;
use whyslow_analysis::types::Side;
use whyslow_analysis::{End, MAX_LOST_FRAMES, OneWay, PairDirection};
use whyslow_units::{Nanos, Time};

/// One direction's packets between the captures.
pub(super) struct DirectionReport<'a, 'b> {
    aligned: &'b Aligned<'a>,
    from: Side,
    /// The capture nearer to the sender.
    first: usize,
    found: &'b DirectionMatch,
    /// When the second capture ran, by the first capture's clock.
    running: TimeSpan,
    /// In the order of arriving.
    arrivals: Vec<Arrival>,
    tracks: [&'b ConnectionPackets; 2],
    proxied: bool,
}

/// A packet that arrived.
struct Arrival {
    /// The packet in the capture nearer to its sender.
    sent: u32,
    time: Time,
    /// Delay of the packet, if it is certain.
    delay: Option<Nanos>,
}

/// Segments on the wire that a capture holds as one packet, or as a part of one.
struct WireSegments {
    /// The packet that holds them.
    packet: u32,
    segments: u64,
    bytes: u64,
}

impl<'a, 'b> DirectionReport<'a, 'b> {
    pub fn new(
        aligned: &'b Aligned<'a>,
        from: Side,
        tracks: [&'b ConnectionPackets; 2],
        times: [TimeSpan; 2],
        proxied: bool,
    ) -> Self {
        let first = aligned.nearer(from);
        let second = 1 - first;
        let found = &aligned.directions[from];
        Self {
            aligned,
            from,
            first,
            found,
            running: times[second].map(|time| aligned.clock.by_first(second, time)),
            arrivals: arrivals(aligned, first, found),
            tracks: [tracks[first], tracks[second]],
            proxied,
        }
    }

    pub fn to_output(&self) -> PairDirection {
        let mut delays: Vec<Nanos> = self.arrivals.iter().filter_map(|arrival| arrival.delay).collect();
        delays.sort_unstable();
        let least = delays.first().copied().unwrap_or_default();
        let [near, far] = self.tracks;
        let mut output = PairDirection {
            from: if self.from == Side::A { End::Client } else { End::Server },
            sent: 0,
            sent_bytes: 0,
            lost: 0,
            lost_with_payload: 0,
            lost_bytes: 0,
            lost_share: 0.0,
            lost_frames: Vec::new(),
            damaged: far.damaged[self.from].saturating_sub(near.damaged[self.from]),
            unjudged: 0,
            uncaptured: 0,
            unseen_before: 0,
            duplicated: 0,
            reordered: 0,
            reordered_s: Nanos::ZERO,
            resent: 0,
            resent_for_loss: 0,
            lost_before: 0,
            delay_ms: one_way(&delays, Nanos::ZERO),
            queue_ms: one_way(&delays, least),
            uncorrected_ms: self.uncorrected_ms(),
        };
        if !self.proxied {
            let typical_late = percentile(&delays, 0.95).unwrap_or_default();
            self.count_sent(typical_late, &mut output);
            self.count_order(&mut output);
            output.duplicated = self.found.duplicated.len() as u64
                + far.duplicates[self.from].saturating_sub(near.duplicates[self.from]);
            output.unseen_before = self.unseen();
            output.resent = self.segments(&self.found.retransmitted);
            output.resent_for_loss = self.segments(&self.found.retransmitted_for_loss);
        }
        output
    }

    /// Parts of packets as the segments that they are on the wire: a large one is cut up behind the
    /// capture.
    fn wire_segments<'p>(&'p self, parts: &'p [PacketPart]) -> impl Iterator<Item = WireSegments> + use<'p> {
        let mss = self.found.mss;
        let place = move |part: &PacketPart| {
            let start = self.aligned.placed[self.first].bytes(part.packet).start;
            (part.packet, (part.start - start) / i64::from(mss))
        };
        parts.chunk_by(move |a, b| place(a) == place(b)).map(move |chunk| {
            // A cell of a large segment may itself be several segments long.
            let bytes = chunk.iter().map(|part| (part.end - part.start).unsigned_abs()).sum::<u64>();
            let packet = chunk.first().map_or(0, |part| part.packet);
            WireSegments { packet, segments: bytes.div_ceil(u64::from(mss)).max(1), bytes }
        })
    }

    fn segments(&self, parts: &[PacketPart]) -> u64 {
        self.wire_segments(parts).map(|piece| piece.segments).sum()
    }

    fn count_sent(&self, typical_late: Nanos, output: &mut PairDirection) {
        let placed = &self.aligned.placed[self.first];
        let mut arrived = vec![false; placed.records.len()];
        for m in &self.found.matches {
            arrived[m.sent.packet as usize] = true;
        }
        // A packet that was sent between two that arrived should have arrived.
        let (first, last) = (arrived.iter().position(|a| *a), arrived.iter().rposition(|a| *a));
        let judged = |packet: u32| {
            let (index, time) = (packet as usize, self.aligned.time(self.first, placed.record(packet)));
            let begun = first.is_some_and(|first| index >= first)
                || time + Nanos(self.aligned.clock.round_trip.0 / 2) >= self.running.first;
            let going_on = last.is_some_and(|last| index <= last) || time + typical_late <= self.running.last;
            begun && going_on
        };
        for WireSegments { packet, segments, bytes } in self.wire_segments(&self.found.missing) {
            if !judged(packet) {
                output.unjudged += segments;
                continue;
            }
            output.sent += segments;
            output.sent_bytes += bytes;
            output.lost += segments;
            output.lost_with_payload += if bytes > 0 { segments } else { 0 };
            output.lost_bytes += bytes;
            let frame = placed.record(packet).frame;
            if output.lost_frames.len() < MAX_LOST_FRAMES && output.lost_frames.last() != Some(&frame) {
                output.lost_frames.push(frame);
            }
        }
        let arrived: Vec<PacketPart> = self.found.matches.iter().map(|m| m.sent).collect();
        for WireSegments { segments, bytes, .. } in self.wire_segments(&arrived) {
            output.sent += segments;
            output.sent_bytes += bytes;
        }
        let uncaptured = self.wire_segments(&self.found.uncaptured).filter(|piece| judged(piece.packet));
        output.uncaptured = uncaptured.map(|piece| piece.segments).sum();
        output.lost_share = if output.sent > 0 { output.lost as f64 / output.sent as f64 } else { 0.0 };
    }

    fn count_order(&self, output: &mut PairDirection) {
        // The packets that were the latest sent so far when they arrived.
        let mut leaders: Vec<&Arrival> = Vec::new();
        for arrival in &self.arrivals {
            if leaders.last().is_none_or(|leader| arrival.sent >= leader.sent) {
                leaders.push(arrival);
                continue;
            }
            output.reordered += 1;
            let overtook = leaders.partition_point(|leader| leader.sent <= arrival.sent);
            if let Some(leader) = leaders.get(overtook) {
                output.reordered_s = output.reordered_s.max(arrival.time - leader.time);
            }
        }
    }

    /// Packets in the second capture alone, between two that both have.
    fn unseen(&self) -> u64 {
        let matched = self.found.matches.iter().map(|m| m.arrived);
        let (Some(first), Some(last)) = (matched.clone().min(), matched.max()) else { return 0 };
        self.found.unseen.iter().filter(|packet| (first..=last).contains(*packet)).count() as u64
    }

    /// The least delay by the clocks as they are, milliseconds.
    fn uncorrected_ms(&self) -> Option<f64> {
        let second = 1 - self.first;
        let delay = |m: &Match| {
            let sent = self.aligned.placed[self.first].record(m.sent.packet).time;
            self.aligned.placed[second].record(m.arrived).time - sent
        };
        self.found.matches.iter().filter(|m| m.is_certain).map(delay).min().map(millis)
    }
}

/// Arrived packets, in the order of arrival. A packet that arrived as a part of a larger one, or in
/// parts, counts by its first byte.
fn arrivals(aligned: &Aligned<'_>, first: usize, found: &DirectionMatch) -> Vec<Arrival> {
    let second = 1 - first;
    let mut seen = vec![false; aligned.placed[second].records.len()];
    let firsts = found.matches.iter().filter(|m| !std::mem::replace(&mut seen[m.arrived as usize], true));
    let mut arrivals: Vec<(u32, Arrival)> = firsts
        .map(|m| {
            let sent = aligned.time(first, aligned.placed[first].record(m.sent.packet));
            let time = aligned.time(second, aligned.placed[second].record(m.arrived));
            let delay = m.is_certain.then(|| time - sent);
            (m.arrived, Arrival { sent: m.sent.packet, time, delay })
        })
        .collect();
    // Each packet arrives once here.
    arrivals.sort_unstable_by_key(|(packet, _)| *packet);
    arrivals.into_iter().map(|(_, arrival)| arrival).collect()
}

/// The figures of sorted delays, over `base`.
fn one_way(sorted: &[Nanos], base: Nanos) -> OneWay {
    let at = |share: f64| percentile(sorted, share).map(|delay| millis(delay - base));
    OneWay { min: at(0.0), p50: at(0.5), p95: at(0.95), samples: sorted.len() as u64 }
}
