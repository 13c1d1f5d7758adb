//! Changes by the path between two captures.

use super::align::Aligned;
use super::collector::{ConnectionPackets, PacketRecord};
use super::fingerprint::MatchedConnection;
use super::matcher::{DirectionMatch, Match};
use super::span::TimeSpan;
use std::collections::BTreeMap;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Change, ChangeKind, End, Frame, OptionChange, OptionEdit, Resegmentation};
use whyslow_core::tcp::facts::Offer;
use whyslow_core::wire::Flags;
use whyslow_units::{Nanos, SeqNumber};

/// The ECN bits that mark a congested queue (RFC 3168 section 5).
const CE: u8 = 3;

/// Everything that differs, but time.
pub(super) fn find_changes(
    aligned: &Aligned<'_>,
    found: &MatchedConnection,
    numbers: [[SeqNumber; 2]; 2],
    tracks: [&ConnectionPackets; 2],
    times: [TimeSpan; 2],
) -> Vec<Change> {
    let near_client = aligned.nearer(Side::A);
    let mut changes = Vec::new();
    addresses(found, near_client, &mut changes);
    if numbers[0] != numbers[1] {
        changes.push(Change { from: None, count: 1, kind: ChangeKind::SequenceNumbers });
    }
    for from in Side::BOTH {
        let first = aligned.nearer(from);
        let offers = [tracks[first].offers[from], tracks[1 - first].offers[from]];
        if let [Some(sent), Some(arrived)] = offers {
            options(from, sent, arrived, &mut changes);
        }
        packets(aligned, from, &mut changes);
        resets(aligned, from, times[first], &mut changes);
    }
    changes
}

fn end(from: Side) -> End {
    if from == Side::A { End::Client } else { End::Server }
}

fn addresses(found: &MatchedConnection, near_client: usize, changes: &mut Vec<Change>) {
    let ends = [found.fingerprints[near_client].ends, found.fingerprints[1 - near_client].ends];
    for side in Side::BOTH {
        let [near_client, near_server] = ends.map(|ends| ends[side]).map(|(address, port)| (address.to_string(), port));
        if near_client != near_server {
            let kind = ChangeKind::Addresses { near_client, near_server };
            changes.push(Change { from: Some(end(side)), count: 1, kind });
        }
    }
}

/// Differences of a SYN's options in the two captures.
fn options(from: Side, sent: Offer, arrived: Offer, changes: &mut Vec<Change>) {
    let mut add = |kind: ChangeKind| changes.push(Change { from: Some(end(from)), count: 1, kind });
    if sent.mss != arrived.mss {
        add(ChangeKind::Mss(OptionChange { sent: sent.mss, arrived: arrived.mss }));
    }
    if sent.window_scale != arrived.window_scale {
        add(ChangeKind::WindowScale(OptionChange { sent: sent.window_scale, arrived: arrived.window_scale }));
    }
    let edit = |is_sent: bool| if is_sent { OptionEdit::Removed } else { OptionEdit::Added };
    if sent.sack != arrived.sack {
        add(ChangeKind::Sack { edit: edit(sent.sack) });
    }
    if sent.timestamps != arrived.timestamps {
        add(ChangeKind::Timestamps { edit: edit(sent.timestamps) });
    }
}

/// Differences between the packets that arrived and those that were sent.
fn packets(aligned: &Aligned<'_>, from: Side, changes: &mut Vec<Change>) {
    let found = &aligned.directions[from];
    let (first, second) = (aligned.nearer(from), 1 - aligned.nearer(from));
    let mut hops: BTreeMap<(u8, u8), u64> = BTreeMap::new();
    let [mut ce, mut ecn, mut windows, mut compared] = [0_u64; 4];
    for m in &found.matches {
        let (sent, arrived) = (aligned.placed[first].record(m.sent.packet), aligned.placed[second].record(m.arrived));
        *hops.entry((sent.ttl, arrived.ttl)).or_default() += 1;
        ce += u64::from(arrived.ecn == CE && sent.ecn != CE);
        ecn += u64::from(arrived.ecn != sent.ecn && arrived.ecn != CE);
        // A merged segment has the window of one of those that it was merged of.
        if sent.len == 0 && !sent.flags.has(Flags::SYN) {
            compared += 1;
            windows += u64::from(sent.window != arrived.window);
        }
    }
    let mut add = |kind: ChangeKind, count: u64| {
        if count > 0 {
            changes.push(Change { from: Some(end(from)), count, kind });
        }
    };
    if let Some((&(sent, arrived), &count)) = hops.iter().max_by_key(|(_, count)| **count)
        && sent != arrived
    {
        add(ChangeKind::Ttl { sent, arrived }, count);
    }
    let all = found.matches.len() as u64;
    add(ChangeKind::CeMarks, ce);
    add(ChangeKind::Ecn, ecn);
    if windows * 10 > compared {
        add(ChangeKind::Window, windows);
    }
    if found.preserved.had_timestamps && !found.preserved.timestamps {
        add(ChangeKind::TimestampValues, all);
    }
    if found.preserved.had_ip_ids && !found.preserved.ip_ids {
        add(ChangeKind::IpId, all);
    }
    let Boundaries { split, merged } = boundaries(aligned, found, first);
    add(ChangeKind::Split { place: split.place(found.mss) }, split.all);
    add(ChangeKind::Merged { place: merged.place(found.mss) }, merged.all);
}

/// Resets that arrived although their sender's side was captured and sent none: a middlebox made
/// them.
fn resets(aligned: &Aligned<'_>, from: Side, running: TimeSpan, changes: &mut Vec<Change>) {
    let (first, second) = (aligned.nearer(from), 1 - aligned.nearer(from));
    let TimeSpan { first: start, last: end_time } = running.map(|time| aligned.clock.by_first(first, time));
    let running = start..=end_time;
    let delay = Nanos(aligned.clock.round_trip.0 / 2);
    let made = aligned.directions[from]
        .unseen
        .iter()
        .map(|&packet| aligned.placed[second].record(packet))
        .filter(|record| record.flags.has(Flags::RST) && running.contains(&(aligned.time(second, record) - delay)));
    let frames: Vec<Frame> = made.map(|record| record.frame).collect();
    if let Some(&first) = frames.first() {
        let count = frames.len() as u64;
        changes.push(Change { from: Some(end(from)), count, kind: ChangeKind::Resets { first } });
    }
}

/// Segments that have other boundaries in the second capture.
#[derive(Default)]
struct Boundaries {
    /// Segments that arrived as several.
    split: ChangedSegments,
    /// Segments that arrived as a part of one.
    merged: ChangedSegments,
}

#[derive(Default)]
struct ChangedSegments {
    all: u64,
    /// Segments that are not larger than one on the wire, so that offload did not merge them.
    small: u64,
}

impl ChangedSegments {
    fn add(&mut self, record: &PacketRecord, mss: u32) {
        self.all += 1;
        self.small += u64::from(record.len <= mss);
    }

    fn place(&self, mss: u32) -> Resegmentation {
        if self.small * 2 > self.all { Resegmentation::Network { mss } } else { Resegmentation::Host }
    }
}

fn boundaries(aligned: &Aligned<'_>, found: &DirectionMatch, first: usize) -> Boundaries {
    let (sent, arrived) = (&aligned.placed[first], &aligned.placed[1 - first]);
    let mut boundaries = Boundaries::default();
    let mut payload: Vec<&Match> = found.matches.iter().filter(|m| m.sent.end > m.sent.start).collect();
    for parts in payload.chunk_by(|a, b| a.sent.packet == b.sent.packet) {
        if parts.windows(2).any(|pair| pair[0].arrived != pair[1].arrived) {
            boundaries.split.add(sent.record(parts[0].sent.packet), found.mss);
        }
    }
    payload.sort_unstable_by_key(|m| (m.arrived, m.sent.packet));
    for parts in payload.chunk_by(|a, b| a.arrived == b.arrived) {
        if parts.windows(2).any(|pair| pair[0].sent.packet != pair[1].sent.packet) {
            boundaries.merged.add(arrived.record(parts[0].arrived), found.mss);
        }
    }
    boundaries
}
