//! What the path between two captures changed.

use super::align::Aligned;
use super::collector::{ConnectionPackets, PacketRecord};
use super::fingerprint::MatchedConnection;
use super::matcher::{DirectionMatch, Match};
use super::span::TimeSpan;
use crate::analysis::{Change, Detail, End, Frame};
use crate::rules::say;
use crate::tcp::facts::Offer;
use crate::types::Side;
use crate::units::{Nanos, SeqNumber};
use crate::wire::Flags;
use std::collections::BTreeMap;

/// The ECN bits that say that a queue was congested (RFC 3168 section 5).
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
        changes.push(Change {
            what: "sequence-numbers",
            from: None,
            count: 1,
            detail: "the initial sequence numbers were rewritten".into(),
        });
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
    for (side, who) in [(Side::A, "client"), (Side::B, "server")] {
        let [(address, port), (other, other_port)] = [ends[0][side], ends[1][side]];
        if (address, port) != (other, other_port) {
            changes.push(Change {
                what: "addresses",
                from: Some(end(side)),
                count: 1,
                detail: format!(
                    "the {who} is {address} port {port} near the client and {other} port {other_port} near the server"
                )
                .into(),
            });
        }
    }
}

/// What a SYN offers here and there.
fn options(from: Side, sent: Offer, arrived: Offer, changes: &mut Vec<Change>) {
    let syn = ["SYN", "SYN-ACK"][from];
    let mut add = |what: &'static str, detail: String| {
        changes.push(Change { what, from: Some(end(from)), count: 1, detail: format!("the {syn}'s {detail}").into() });
    };
    if sent.mss != arrived.mss {
        add(
            "mss",
            describe_change("MSS", sent.mss.map(|mss| format!("{mss} B")), arrived.mss.map(|mss| format!("{mss} B"))),
        );
    }
    if sent.window_scale != arrived.window_scale {
        let [sent, arrived] = [sent, arrived].map(|offer| offer.window_scale.map(|shift| shift.to_string()));
        add("window-scale", describe_change("window scale", sent, arrived));
    }
    let yes = |offered: bool| offered.then(|| "offered".to_owned());
    if sent.sack != arrived.sack {
        add("sack", describe_change("SACK", yes(sent.sack), yes(arrived.sack)));
    }
    if sent.timestamps != arrived.timestamps {
        add("timestamps", describe_change("timestamps", yes(sent.timestamps), yes(arrived.timestamps)));
    }
}

fn describe_change(what: &str, sent: Option<String>, arrived: Option<String>) -> String {
    match (sent, arrived) {
        (Some(sent), Some(arrived)) => format!("{what} was changed from {sent} to {arrived}"),
        (Some(sent), None) => format!("{what} ({sent}) was taken out"),
        (None, arrived) => format!("{what} ({}) was put in", arrived.unwrap_or_default()),
    }
}

/// What differs between the packets that arrived and those that were sent.
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
    let mut add = |what: &'static str, count: u64, detail: String| {
        if count > 0 {
            changes.push(Change { what, from: Some(end(from)), count, detail: detail.into() });
        }
    };
    if let Some((&(sent, arrived), &count)) = hops.iter().max_by_key(|(_, count)| **count)
        && sent != arrived
    {
        let detail = match sent.checked_sub(arrived) {
            Some(routers) => format!("TTL {sent} became {arrived}: {} between", say::count(routers.into(), "router")),
            None => format!("TTL {sent} became {arrived}: something in the middle sends packets of its own"),
        };
        add("ttl", count, detail);
    }
    let compared_packets = say::count(found.matches.len() as u64, "packet");
    add("ce-marks", ce, format!("{} marked as congested (CE)", say::count(ce, "packet")));
    add("ecn", ecn, format!("the ECN bits of {} were changed", say::count(ecn, "packet")));
    if windows * 10 > compared {
        add("window", windows, format!("the window of {} without payload was changed", say::count(windows, "packet")));
    }
    if found.preserved.had_timestamps && !found.preserved.timestamps {
        add(
            "timestamp-values",
            found.matches.len() as u64,
            format!("the timestamps of {compared_packets} were rewritten"),
        );
    }
    if found.preserved.had_ip_ids && !found.preserved.ip_ids {
        add("ip-id", found.matches.len() as u64, "the IP numbers were rewritten".to_owned());
    }
    let Boundaries { split, merged } = boundaries(aligned, found, first);
    let by_sender = "by the sending host, behind its capture (TSO)";
    add("split", split.all, split.describe("cut up", found.mss, by_sender));
    let by_receiver = "by the receiving host, before its capture (GRO, LRO)";
    add("merged", merged.all, merged.describe("put together", found.mss, by_receiver));
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
        let what = say::count(count, "reset");
        changes.push(Change {
            what: "resets",
            from: Some(end(from)),
            count,
            detail: Detail::naming(
                format!("{what} (first in frame "),
                first,
                ") that it did not send: something in the middle did",
            ),
        });
    }
}

/// Segments that have other boundaries in the second capture.
#[derive(Default)]
struct Boundaries {
    /// Those that arrived as several.
    split: ChangedSegments,
    /// Those that arrived as a part of one.
    merged: ChangedSegments,
}

#[derive(Default)]
struct ChangedSegments {
    all: u64,
    /// Those that are no larger than a segment on the wire: no offload's.
    small: u64,
}

impl ChangedSegments {
    fn add(&mut self, record: &PacketRecord, mss: u32) {
        self.all += 1;
        self.small += u64::from(record.len <= mss);
    }

    fn describe(&self, how: &str, mss: u32, by_offload: &str) -> String {
        let what = say::count(self.all, "segment");
        if self.small * 2 > self.all {
            format!("{what} {how} on the way, though none is larger than {mss} B")
        } else {
            format!("{what} {how} {by_offload}")
        }
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
