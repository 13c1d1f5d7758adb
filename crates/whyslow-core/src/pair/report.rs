//! From aligned packets to what is told of a pair.

use super::align::{self, AlignError, Aligned, DirectionMatch, PacketPart};
use super::collector::ConnectionPackets;
use super::figures::{millis, percentile};
use super::fingerprint::MatchedConnection;
use super::{change, proxy, words};
use crate::analysis::{
    Analysis, Connection, End, Evidence, Leg, MAX_LOST_FRAMES, MAX_PAIRS, MatchedBy, Near, OneWay, Pair, PairClock,
    PairDirection, PathPart, Problem, Rtt,
};
use crate::cause::Cause;
use crate::rules::say;
use crate::types::Side;
use crate::units::{Nanos, SeqNumber};
use crate::wire::Flags;
use std::collections::VecDeque;

/// Of the payload of the capture that has less of it, what must be in the other for two connections
/// to be one.
const MIN_SHARED: f64 = 0.3;
/// A drift that is known less exactly is not known: clocks drift by up to 100 millionths.
const MAX_ERROR: f64 = 100e-6;
/// Data that waits for its ACK, remembered at once.
const MAX_WAITING: usize = 4096;
/// Where more than this share of the packets came twice, the capture took them twice.
const MIRRORED: f64 = 0.2;

/// Compares the packets of a connection that two captures hold, captured between `times`, and of
/// which `connections` is told.
///
/// # Errors
/// Says in plain words why they cannot be compared; none where the packets show that they are not
/// the same connection.
pub fn compare(
    found: &MatchedConnection,
    tracks: [&ConnectionPackets; 2],
    times: [(Nanos, Nanos); 2],
    connections: [&Connection; 2],
) -> Result<Pair, Option<String>> {
    let mut by = found.by;
    if by == MatchedBy::SynTimestamps && !same_syn(tracks) {
        let same_payload = found.fingerprints[0].bytes == found.fingerprints[1].bytes;
        by = if same_payload { MatchedBy::Payload } else { return Err(None) };
    }
    if connections
        .iter()
        .any(|connection| connection.problems.iter().any(|problem| problem.slug == Cause::ElidedText.slug()))
    {
        return Err(Some("one of them is a text from which packets were left out".to_owned()));
    }
    let proxied = by == MatchedBy::Payload;
    let numbers = numbers(found).ok_or(None)?;
    let aligned = align::align(tracks, numbers, proxied).map_err(|refusal| match refusal {
        AlignError::OneWay if proxied => None,
        AlignError::OneWay => Some("they have no packets in common one of the ways".to_owned()),
        AlignError::Clock => Some("one of the clocks jumps, so that no order of the packets can be told".to_owned()),
        AlignError::Tangled => Some("their segments overlap more than any sender's do".to_owned()),
    })?;
    if !shares_enough(&aligned, by) {
        return Err(None);
    }
    // The comparison ends where either capture does, or where there was no room for more of its
    // packets.
    let times = [0, 1].map(|which| match tracks[which].packets.last() {
        Some(last) if tracks[which].dropped > 0 => (times[which].0, last.time),
        _ => times[which],
    });
    let order = [aligned.nearer(Side::A), 1 - aligned.nearer(Side::A)];
    let told: Vec<DirectionReport<'_, '_>> =
        Side::BOTH.map(|from| DirectionReport::new(&aligned, from, tracks, times, proxied)).into();
    let mut directions: Vec<PairDirection> = told.iter().map(DirectionReport::to_output).collect();
    for (from, direction) in Side::BOTH.into_iter().zip(&mut directions).filter(|_| !proxied) {
        let first = connections[aligned.nearer(from)];
        let own = first.directions.iter().find(|own| own.from == direction.from);
        direction.lost_before = own.map_or(0, |own| own.retransmitted.unseen_original);
    }
    let proxy = proxied.then(|| proxy::describe_proxy(&aligned, connections.map(|c| c.transfers.as_slice())));
    let mut pair = Pair {
        connections: order.map(|which| connections[which].id),
        captures: order.map(|which| connections[which].capture),
        told: connections[reporting_capture(found, &aligned, connections)].id,
        matched_by: by,
        clock: Some(clock(&aligned, order, found)),
        legs: legs(&aligned, order, &directions),
        changes: if proxied { Vec::new() } else { change::find_changes(&aligned, found, numbers, tracks, times) },
        directions,
        proxy,
        summary: Vec::new(),
        caveats: caveats(tracks, order, &aligned, proxied),
    };
    for direction in pair.directions.iter().filter(|direction| direction.uncaptured > 0) {
        pair.caveats.push(format!(
            "{} from the {} reached the other end, which acknowledged what it holds, and is not in the capture there: that \
             capture is not complete, and packets without payload that it lacks may not have been lost",
            say::count(direction.uncaptured, "packet"),
            words::name(direction.from)
        ));
    }
    for direction in pair.directions.iter().filter(|direction| direction.unseen_before > 0) {
        pair.caveats.push(format!(
            "{} from the {who} arrived that the capture nearer to the {who} does not have: that capture is not complete",
            say::count(direction.unseen_before, "packet"),
            who = words::name(direction.from)
        ));
    }
    pair.summary = words::sentences(&pair);
    Ok(pair)
}

/// Whether both captures have a SYN of one end with one timestamp: it was not made anew on the way.
fn same_syn(tracks: [&ConnectionPackets; 2]) -> bool {
    let stamp = |track: &ConnectionPackets| {
        let syn = track.packets.iter().find(|rec| rec.flags.has(Flags::SYN) && rec.timestamps.is_some());
        syn.and_then(|syn| Some((syn.from, syn.timestamps?.0)))
    };
    stamp(tracks[0]).is_some() && stamp(tracks[0]) == stamp(tracks[1])
}

/// The number before each direction's first byte in each capture: its own SYN's, or else the one
/// that the other capture has.
fn numbers(found: &MatchedConnection) -> Option<[[SeqNumber; 2]; 2]> {
    let [a, b] = &found.fingerprints;
    let mut numbers = [[SeqNumber(0); 2]; 2];
    let [of_a, of_b] = &mut numbers;
    for (from, (here, there)) in of_a.iter_mut().zip(of_b).enumerate() {
        let (own, other) = (a.numbers[from], b.numbers[from]);
        *here = if a.opened[from] || !b.opened[from] { own } else { other }?;
        *there = if b.opened[from] { other? } else { *here };
    }
    Some(numbers)
}

/// Whether what matched is as much as there must be if the connections are one.
fn shares_enough(aligned: &Aligned<'_>, by: MatchedBy) -> bool {
    let matched = |way: &DirectionMatch| way.matches.iter().map(|m| (m.sent.end - m.sent.start) as u64).sum::<u64>();
    let shared: u64 = aligned.ways.iter().map(matched).sum();
    let payload = |which: usize| aligned.placed[which].recs.iter().map(|rec| u64::from(rec.len)).sum::<u64>();
    let less = payload(0).min(payload(1));
    if by == MatchedBy::SequenceNumbers {
        // Numbers may overlap by chance; that all segments begin and end alike is none.
        let whole = aligned.ways.iter().flat_map(|way| way.matches.iter().map(move |m| (way, m)));
        let alike = whole.filter(|(_, m)| m.sent.end > m.sent.start).count();
        return alike >= 8 && shared as f64 >= 0.8 * less as f64;
    }
    shared as f64 >= MIN_SHARED * less as f64
}

/// Which capture's findings are told: next to the end that sent most.
fn reporting_capture(found: &MatchedConnection, aligned: &Aligned<'_>, connections: [&Connection; 2]) -> usize {
    let bytes = |from: Side| found.fingerprints.iter().map(|fingerprint| fingerprint.bytes[from]).max().unwrap_or(0);
    let sender = if bytes(Side::B) >= bytes(Side::A) { Side::B } else { Side::A };
    let nearer = aligned.nearer(sender);
    // Where the two are at one place, the one that stands next to the end by itself.
    let wanted = if sender == Side::A { Near::Client } else { Near::Server };
    if aligned.clock.round_trip == 0 && connections[1 - nearer].near == wanted && connections[nearer].near != wanted {
        return 1 - nearer;
    }
    nearer
}

/// The clock of the capture nearer to the server, by that of the one nearer to the client.
fn clock(aligned: &Aligned<'_>, order: [usize; 2], found: &MatchedConnection) -> PairClock {
    let clock = aligned.clock;
    let since = found.fingerprints[0].time.0 - Nanos(clock.zero);
    let at_start = clock.offset as f64 + clock.drift * since.0 as f64;
    let sign = if order[0] == 0 { 1.0 } else { -1.0 };
    let millionths = |value: f64| (value * 1e7).round() / 10.0;
    let error = clock.drift_error.filter(|error| *error <= MAX_ERROR);
    PairClock {
        offset_s: Nanos((sign * at_start).round() as i64),
        drift_ppm: error.map(|_| millionths(sign * clock.drift) + 0.0),
        drift_error_ppm: error.map(|error| millionths(error).max(0.1)),
    }
}

/// One direction's packets between the captures.
struct DirectionReport<'a, 'b> {
    aligned: &'b Aligned<'a>,
    from: Side,
    /// The capture nearer to the sender.
    first: usize,
    way: &'b DirectionMatch,
    /// When the second capture ran, by the first capture's clock.
    running: (Nanos, Nanos),
    /// Of what arrived, in the order of arriving: which packet, when, and how long it took where
    /// that is sure.
    arrivals: Vec<(u32, Nanos, Option<Nanos>)>,
    /// Packets that came twice, and those with a wrong checksum, in the first capture and in the
    /// second.
    again: [u64; 2],
    damaged: [u64; 2],
    proxied: bool,
}

impl<'a, 'b> DirectionReport<'a, 'b> {
    fn new(
        aligned: &'b Aligned<'a>,
        from: Side,
        tracks: [&ConnectionPackets; 2],
        times: [(Nanos, Nanos); 2],
        proxied: bool,
    ) -> Self {
        let first = aligned.nearer(from);
        let second = 1 - first;
        let way = &aligned.ways[from];
        let by_first = |time: Nanos| if second == 0 { time } else { aligned.clock.to_first(time) };
        // Of a packet that arrived as a part of a larger one, or in parts, its first byte counts.
        let mut seen = vec![false; aligned.placed[second].recs.len()];
        let mut arrivals: Vec<(u32, u32, Nanos, Option<Nanos>)> = Vec::new();
        for m in &way.matches {
            if std::mem::replace(&mut seen[m.arrived as usize], true) {
                continue;
            }
            let sent = aligned.time(first, aligned.placed[first].rec(m.sent.rec));
            let arrived = aligned.time(second, aligned.placed[second].rec(m.arrived));
            arrivals.push((m.arrived, m.sent.rec, arrived, m.sure.then(|| arrived - sent)));
        }
        arrivals.sort_unstable();
        Self {
            aligned,
            from,
            first,
            way,
            running: (by_first(times[second].0), by_first(times[second].1)),
            arrivals: arrivals.into_iter().map(|(_, sent, arrived, delay)| (sent, arrived, delay)).collect(),
            again: [first, second].map(|which| tracks[which].again[from]),
            damaged: [first, second].map(|which| tracks[which].damaged[from]),
            proxied,
        }
    }

    fn to_output(&self) -> PairDirection {
        let mut delays: Vec<Nanos> = self.arrivals.iter().filter_map(|&(.., delay)| delay).collect();
        delays.sort_unstable();
        let least = delays.first().copied().unwrap_or_default();
        let mut told = PairDirection {
            from: if self.from == Side::A { End::Client } else { End::Server },
            sent: 0,
            sent_bytes: 0,
            lost: 0,
            lost_with_payload: 0,
            lost_bytes: 0,
            lost_share: 0.0,
            lost_frames: Vec::new(),
            damaged: self.damaged[1].saturating_sub(self.damaged[0]),
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
            uncorrected_ms: self.uncorrected(),
        };
        if !self.proxied {
            let typical_late = percentile(&delays, 0.95).unwrap_or_default();
            self.count_sent(typical_late, &mut told);
            self.count_order(&mut told);
            told.duplicated = self.way.duplicated.len() as u64 + self.again[1].saturating_sub(self.again[0]);
            told.unseen_before = self.unseen();
            told.resent = self.segments(&self.way.retransmitted);
            told.resent_for_loss = self.segments(&self.way.retransmitted_for_loss);
        }
        told
    }

    /// Parts of packets as the segments that they are on the wire: a large one is cut up behind the
    /// capture. Gives the packet, how many segments are meant, and how many bytes.
    fn pieces<'p>(&'p self, parts: &'p [PacketPart]) -> impl Iterator<Item = (u32, u64, u64)> + use<'p> {
        let size = i64::from(self.way.mss);
        let place = move |part: &PacketPart| {
            let start = self.aligned.placed[self.first].bytes(part.rec).0;
            (part.rec, (part.start - start) / size)
        };
        parts.chunk_by(move |a, b| place(a) == place(b)).map(move |chunk| {
            // A cell of a large segment may itself be several segments long.
            let bytes = chunk.iter().map(|part| (part.end - part.start).unsigned_abs()).sum::<u64>();
            let rec = chunk.first().map_or(0, |part| part.rec);
            (rec, bytes.div_ceil(u64::from(self.way.mss)).max(1), bytes)
        })
    }

    fn segments(&self, parts: &[PacketPart]) -> u64 {
        self.pieces(parts).map(|(_, segments, _)| segments).sum()
    }

    fn count_sent(&self, typical_late: Nanos, told: &mut PairDirection) {
        let placed = &self.aligned.placed[self.first];
        let mut arrived = vec![false; placed.recs.len()];
        for m in &self.way.matches {
            arrived[m.sent.rec as usize] = true;
        }
        // What was sent between two packets that arrived should have arrived.
        let (first, last) = (arrived.iter().position(|a| *a), arrived.iter().rposition(|a| *a));
        let judged = |rec: u32| {
            let (index, time) = (rec as usize, self.aligned.time(self.first, placed.rec(rec)));
            let begun = first.is_some_and(|first| index >= first)
                || time + Nanos(self.aligned.clock.round_trip / 2) >= self.running.0;
            let going_on = last.is_some_and(|last| index <= last) || time + typical_late <= self.running.1;
            begun && going_on
        };
        for (rec, segments, bytes) in self.pieces(&self.way.missing) {
            if !judged(rec) {
                told.unjudged += segments;
                continue;
            }
            told.sent += segments;
            told.sent_bytes += bytes;
            told.lost += segments;
            told.lost_with_payload += if bytes > 0 { segments } else { 0 };
            told.lost_bytes += bytes;
            let frame = placed.rec(rec).frame;
            if told.lost_frames.len() < MAX_LOST_FRAMES && told.lost_frames.last() != Some(&frame) {
                told.lost_frames.push(frame);
            }
        }
        let arrived: Vec<PacketPart> = self.way.matches.iter().map(|m| m.sent).collect();
        for (_, segments, bytes) in self.pieces(&arrived) {
            told.sent += segments;
            told.sent_bytes += bytes;
        }
        let uncaptured = self.pieces(&self.way.uncaptured).filter(|&(rec, ..)| judged(rec));
        told.uncaptured = uncaptured.map(|(_, segments, _)| segments).sum();
        told.lost_share = if told.sent > 0 { told.lost as f64 / told.sent as f64 } else { 0.0 };
    }

    fn count_order(&self, told: &mut PairDirection) {
        // The packets that were the latest sent so far when they arrived.
        let mut leaders: Vec<(u32, Nanos)> = Vec::new();
        for &(sent, arrived, _) in &self.arrivals {
            if leaders.last().is_none_or(|&(leader, _)| sent >= leader) {
                leaders.push((sent, arrived));
                continue;
            }
            told.reordered += 1;
            let overtook = leaders.partition_point(|&(leader, _)| leader <= sent);
            if let Some(&(_, since)) = leaders.get(overtook) {
                told.reordered_s = told.reordered_s.max(arrived - since);
            }
        }
    }

    /// Packets in the second capture alone, between two that both have.
    fn unseen(&self) -> u64 {
        let matched = self.way.matches.iter().map(|m| m.arrived);
        let (Some(first), Some(last)) = (matched.clone().min(), matched.max()) else { return 0 };
        self.way.unseen.iter().filter(|rec| (first..=last).contains(*rec)).count() as u64
    }

    /// The least delay by the clocks as they are, milliseconds.
    fn uncorrected(&self) -> Option<f64> {
        let second = 1 - self.first;
        let delay = |m: &align::Match| {
            let sent = self.aligned.placed[self.first].rec(m.sent.rec).time;
            self.aligned.placed[second].rec(m.arrived).time - sent
        };
        self.way.matches.iter().filter(|m| m.sure).map(delay).min().map(millis)
    }
}

/// The figures of sorted delays, over `base`.
fn one_way(sorted: &[Nanos], base: Nanos) -> OneWay {
    let at = |share: f64| percentile(sorted, share).map(|delay| millis(delay - base));
    OneWay { min: at(0.0), p50: at(0.5), p95: at(0.95), samples: sorted.len() as u64 }
}

/// The path's three parts.
fn legs(aligned: &Aligned<'_>, order: [usize; 2], directions: &[PairDirection]) -> Vec<Leg> {
    // Toward the client it is the server's data that is acknowledged, and the other way round.
    let outer = |place: PathPart, which: usize, sender: Side| {
        let mut loops = loops(&aligned.placed[which], sender);
        loops.sort_unstable();
        let at = |share: f64| percentile(&loops, share).map(millis);
        Leg { place, rtt_ms: Rtt { min: at(0.0), p50: at(0.5), p95: at(0.95), samples: loops.len() as u64 } }
    };
    let sum = |figure: fn(&OneWay) -> Option<f64>| -> Option<f64> {
        let both: Option<f64> = directions.iter().map(|direction| figure(&direction.delay_ms)).sum();
        both.map(|sum| (sum * 1000.0).round() / 1000.0)
    };
    let between = Rtt {
        min: sum(|delay| delay.min),
        p50: sum(|delay| delay.p50),
        p95: sum(|delay| delay.p95),
        samples: directions.iter().map(|direction| direction.delay_ms.samples).min().unwrap_or(0),
    };
    vec![
        outer(PathPart::Client, order[0], Side::B),
        Leg { place: PathPart::Between, rtt_ms: between },
        outer(PathPart::Server, order[1], Side::A),
    ]
}

/// From a packet of `sender` to the ACK that first covers it, at one capture; none for what was
/// sent again (Karn and Partridge, "Improving round-trip time estimates in reliable transport
/// protocols", 1987).
fn loops(placed: &align::PlacedPackets<'_>, sender: Side) -> Vec<Nanos> {
    let mut loops = Vec::new();
    let mut waiting: VecDeque<(i64, Nanos)> = VecDeque::new();
    let mut high = i64::MIN;
    for (rec, &(seq, ack)) in placed.recs.iter().zip(&placed.at) {
        let space = i64::from(rec.len) + i64::from((rec.flags.0 & (Flags::SYN | Flags::FIN).0) != 0);
        if rec.from == sender {
            let end = seq + space;
            if space > 0 && end > high {
                high = end;
                if waiting.len() < MAX_WAITING {
                    waiting.push_back((end, rec.time));
                }
            } else if space > 0 {
                waiting.clear();
            }
            continue;
        }
        let mut covered = None;
        while let Some(&(end, time)) = waiting.front()
            && rec.ack.is_some()
            && end <= ack
        {
            covered = Some(time);
            waiting.pop_front();
        }
        loops.extend(covered.map(|time| (rec.time - time).or_zero()));
    }
    loops
}

fn caveats(tracks: [&ConnectionPackets; 2], order: [usize; 2], aligned: &Aligned<'_>, proxied: bool) -> Vec<String> {
    let mut caveats = Vec::new();
    for (which, place) in order.into_iter().zip(["the client", "the server"]) {
        let track = tracks[which];
        if track.dropped > 0 {
            caveats.push(format!(
                "only the first {} that the capture nearer to {place} has of it were compared",
                say::count(track.packets.len() as u64, "packet")
            ));
        }
        let again: u64 = track.again.iter().sum();
        if again as f64 > MIRRORED * track.packets.len() as f64 {
            caveats.push(format!(
                "the capture nearer to {place} has {} twice: it took them twice (several interfaces or mirror ports), and the \
                 network duplicated none of these",
                say::count(again, "packet")
            ));
        }
    }
    if aligned.clock.round_trip < 100_000 && !proxied {
        caveats.push("the two captures stand at one place: less than 0.1 ms lies between them".to_owned());
    }
    caveats
}

/// Puts pairs into an analysis: beside it, and as evidence of the findings that they bear on.
/// `uncompared` are the connections that two captures hold and that could not be compared, with
/// why.
pub fn attach(analysis: &mut Analysis, mut pairs: Vec<Pair>, uncompared: Vec<(u64, String)>, untold: u64) {
    for pair in &pairs {
        let Some(connection) = analysis.connections.iter_mut().find(|connection| connection.id == pair.told) else {
            continue;
        };
        for direction in pair.directions.iter().filter(|direction| direction.resent > 0) {
            let transfers = connection.transfers.iter_mut().filter(|transfer| transfer.from == direction.from);
            let findings = transfers.flat_map(|transfer| &mut transfer.findings);
            for finding in findings.filter(|finding| RESENDING.contains(&finding.cause)) {
                finding.evidence.push(Evidence {
                    frames: direction.lost_frames.first().copied().into_iter().collect(),
                    figure: format!(
                        "of {} sent again, earlier copies that never arrived",
                        say::thousands(direction.resent)
                    ),
                    value: direction.resent_for_loss as f64,
                    unit: "segments",
                });
            }
        }
    }
    analysis.pairs_total = pairs.len() as u64 + uncompared.len() as u64 + untold;
    for (id, why) in uncompared {
        if let Some(connection) = analysis.connections.iter_mut().find(|connection| connection.id == id) {
            connection.problems.push(Problem::new(
                "not-compared",
                1,
                format!("another capture has this connection too, and the two cannot be compared: {why}"),
            ));
        }
    }
    pairs.truncate(MAX_PAIRS);
    analysis.pairs = pairs;
}

/// Causes that speak of what was sent again.
const RESENDING: [Cause; 8] = [
    Cause::Loss,
    Cause::Timeout,
    Cause::TailLoss,
    Cause::SpuriousRetransmission,
    Cause::LostRetransmission,
    Cause::RandomLoss,
    Cause::Policer,
    Cause::MtuBlackHole,
];
