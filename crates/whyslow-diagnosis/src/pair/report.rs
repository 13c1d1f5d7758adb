//! The comparison of a connection's packets in two captures.

use super::align::{self, AlignError, Aligned};
use super::caveats::caveats;
use super::collector::ConnectionPackets;
use super::direction::DirectionReport;
use super::fingerprint::MatchedConnection;
use super::legs::legs;
use super::matcher::DirectionMatch;
use super::span::TimeSpan;
use super::{change, proxy, statements};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Connection, MatchedBy, Near, NotCompared, Pair, PairClock, PairDirection, Problem};
use whyslow_core::wire::Flags;
use whyslow_units::{Nanos, SeqNumber};

/// Minimum share of the payload of the smaller capture that is in the other one, for two
/// connections to be one.
const MIN_SHARED: f64 = 0.3;
/// Largest error of a drift that is reported: clocks drift by up to 100 millionths.
const MAX_ERROR: f64 = 100e-6;

/// Compares the packets of a connection that two captures hold, captured between `times`.
/// `connections` are its ids, with the reported one.
///
/// # Errors
/// Returns why they cannot be compared; `None` if the packets show that they are not the same
/// connection.
pub fn compare(
    found: &MatchedConnection,
    tracks: [&ConnectionPackets; 2],
    times: [TimeSpan; 2],
    connections: [&Connection; 2],
) -> Result<Pair, Option<NotCompared>> {
    let by = matched_by(found, tracks).ok_or(None)?;
    let is_elided = |problem: &Problem| problem.slug == Cause::ElidedText.slug();
    if connections.iter().any(|connection| connection.problems.iter().any(is_elided)) {
        return Err(Some(NotCompared::LeftOutOfText));
    }
    let proxied = by == MatchedBy::Payload;
    let numbers = numbers(found).ok_or(None)?;
    let aligned = align::align(tracks, numbers, proxied).map_err(|error| refusal(error, proxied))?;
    if !shares_enough(&aligned, by) {
        return Err(None);
    }
    // The comparison ends where either capture does, or where there was no room for more of its
    // packets.
    let times = [0, 1].map(|which| match tracks[which].packets.last() {
        Some(last) if tracks[which].dropped > 0 => TimeSpan { last: last.time, ..times[which] },
        _ => times[which],
    });
    let order = [aligned.nearer(Side::A), 1 - aligned.nearer(Side::A)];
    let mut directions: Vec<PairDirection> =
        Side::BOTH.map(|from| DirectionReport::new(&aligned, from, tracks, times, proxied).to_output()).into();
    for (from, direction) in Side::BOTH.into_iter().zip(&mut directions).filter(|_| !proxied) {
        let first = connections[aligned.nearer(from)];
        let own = first.directions.iter().find(|own| own.from == direction.from);
        direction.lost_before = own.map_or(0, |own| own.retransmitted.unseen_original);
    }
    let proxy = proxied.then(|| proxy::describe_proxy(&aligned, connections.map(|c| c.transfers.as_slice())));
    let mut pair = Pair {
        connections: order.map(|which| connections[which].id),
        captures: order.map(|which| connections[which].capture),
        shown: connections[reporting_capture(found, &aligned, connections)].id,
        matched_by: by,
        clock: Some(clock(&aligned, order, found)),
        legs: legs(&aligned, order, &directions),
        changes: if proxied { Vec::new() } else { change::find_changes(&aligned, found, numbers, tracks, times) },
        caveats: caveats(tracks, order, &aligned, &directions, proxied),
        directions,
        proxy,
        statements: Vec::new(),
    };
    pair.statements = statements::statements(&pair);
    Ok(pair)
}

/// Evidence that they belong together, from their packets; `None` if the packets contradict it.
fn matched_by(found: &MatchedConnection, tracks: [&ConnectionPackets; 2]) -> Option<MatchedBy> {
    if found.by != MatchedBy::SynTimestamps || same_syn(tracks) {
        return Some(found.by);
    }
    let same_payload = found.fingerprints[0].bytes == found.fingerprints[1].bytes;
    same_payload.then_some(MatchedBy::Payload)
}

/// Why nothing can be compared; `None` if the two are not one connection.
fn refusal(error: AlignError, proxied: bool) -> Option<NotCompared> {
    match error {
        AlignError::OneWay if proxied => None,
        AlignError::OneWay => Some(NotCompared::NothingInCommon),
        AlignError::Clock => Some(NotCompared::ClockJumps),
        AlignError::Tangled => Some(NotCompared::Overlaps),
    }
}

/// Whether both captures have a SYN of one end with one timestamp: it was not recreated on the way.
fn same_syn(tracks: [&ConnectionPackets; 2]) -> bool {
    let stamp = |track: &ConnectionPackets| {
        let syn = track.packets.iter().find(|record| record.flags.has(Flags::SYN) && record.timestamps.is_some());
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

/// Whether enough matched for the connections to be one.
fn shares_enough(aligned: &Aligned<'_>, by: MatchedBy) -> bool {
    let matched =
        |direction: &DirectionMatch| direction.matches.iter().map(|m| (m.sent.end - m.sent.start) as u64).sum::<u64>();
    let shared: u64 = aligned.directions.iter().map(matched).sum();
    let payload = |which: usize| aligned.placed[which].records.iter().map(|record| u64::from(record.len)).sum::<u64>();
    let less = payload(0).min(payload(1));
    if by == MatchedBy::SequenceNumbers {
        // Numbers may overlap by chance; that all segments begin and end alike is none.
        let whole = aligned.directions.iter().flat_map(|direction| &direction.matches);
        let alike = whole.filter(|m| m.sent.end > m.sent.start).count();
        return alike >= 8 && shared as f64 >= 0.8 * less as f64;
    }
    shared as f64 >= MIN_SHARED * less as f64
}

/// The capture whose findings are reported: next to the end that sent most.
fn reporting_capture(found: &MatchedConnection, aligned: &Aligned<'_>, connections: [&Connection; 2]) -> usize {
    let bytes = |from: Side| found.fingerprints.iter().map(|fingerprint| fingerprint.bytes[from]).max().unwrap_or(0);
    let sender = if bytes(Side::B) >= bytes(Side::A) { Side::B } else { Side::A };
    let nearer = aligned.nearer(sender);
    // If both captures are at one place, the one that is next to the end by its own evidence.
    let wanted = if sender == Side::A { Near::Client } else { Near::Server };
    if aligned.clock.round_trip == Nanos::ZERO
        && connections[1 - nearer].near == wanted
        && connections[nearer].near != wanted
    {
        return 1 - nearer;
    }
    nearer
}

/// The clock of the capture nearer to the server, by that of the one nearer to the client.
fn clock(aligned: &Aligned<'_>, order: [usize; 2], found: &MatchedConnection) -> PairClock {
    let clock = aligned.clock;
    let since = found.fingerprints[0].time.first - clock.zero;
    let at_start = clock.offset.0 as f64 + clock.drift * since.0 as f64;
    let sign = if order[0] == 0 { 1.0 } else { -1.0 };
    let millionths = |value: f64| (value * 1e7).round() / 10.0;
    let error = clock.drift_error.filter(|error| *error <= MAX_ERROR);
    PairClock {
        offset_s: Nanos((sign * at_start).round() as i64),
        drift_ppm: error.map(|_| millionths(sign * clock.drift) + 0.0),
        drift_error_ppm: error.map(|error| millionths(error).max(0.1)),
    }
}
