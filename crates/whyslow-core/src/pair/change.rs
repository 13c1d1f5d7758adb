//! What the path between two captures changed.

use super::align::{Aligned, DirectionMatch};
use super::collector::{ConnectionPackets, PacketRecord};
use super::fingerprint::MatchedConnection;
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
    times: [(Nanos, Nanos); 2],
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
    let way = &aligned.ways[from];
    let (first, second) = (aligned.nearer(from), 1 - aligned.nearer(from));
    let mut hops: BTreeMap<(u8, u8), u64> = BTreeMap::new();
    let [mut ce, mut ecn, mut windows, mut compared] = [0_u64; 4];
    for m in &way.matches {
        let (sent, arrived) = (aligned.placed[first].rec(m.sent.rec), aligned.placed[second].rec(m.arrived));
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
    let compared_packets = say::count(way.matches.len() as u64, "packet");
    add("ce-marks", ce, format!("{} marked as congested (CE)", say::count(ce, "packet")));
    add("ecn", ecn, format!("the ECN bits of {} were changed", say::count(ecn, "packet")));
    if windows * 10 > compared {
        add("window", windows, format!("the window of {} without payload was changed", say::count(windows, "packet")));
    }
    if way.preserved.had_timestamps && !way.preserved.timestamps {
        add(
            "timestamp-values",
            way.matches.len() as u64,
            format!("the timestamps of {compared_packets} were rewritten"),
        );
    }
    if way.preserved.had_ip_ids && !way.preserved.ip_ids {
        add("ip-id", way.matches.len() as u64, "the IP numbers were rewritten".to_owned());
    }
    let (split, merged) = boundaries(aligned, way, first);
    add("split", split.0, cut("cut up", split, way.mss, "by the sending host, behind its capture (TSO)"));
    add(
        "merged",
        merged.0,
        cut("put together", merged, way.mss, "by the receiving host, before its capture (GRO, LRO)"),
    );
}

/// Resets that arrived although their sender's side was captured and sent none: a middlebox made
/// them.
fn resets(aligned: &Aligned<'_>, from: Side, running: (Nanos, Nanos), changes: &mut Vec<Change>) {
    let (first, second) = (aligned.nearer(from), 1 - aligned.nearer(from));
    let by_first = |time: Nanos| if first == 0 { time } else { aligned.clock.to_first(time) };
    let running = by_first(running.0)..=by_first(running.1);
    let delay = Nanos(aligned.clock.round_trip / 2);
    let made = aligned.ways[from]
        .unseen
        .iter()
        .map(|&rec| aligned.placed[second].rec(rec))
        .filter(|rec| rec.flags.has(Flags::RST) && running.contains(&(aligned.time(second, rec) - delay)));
    let frames: Vec<Frame> = made.map(|rec| rec.frame).collect();
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

/// Segments that arrived as several, and those that arrived as a part of one; of each how many are
/// no offload's.
fn boundaries(aligned: &Aligned<'_>, way: &DirectionMatch, first: usize) -> ((u64, u64), (u64, u64)) {
    let (sent, arrived) = (&aligned.placed[first], &aligned.placed[1 - first]);
    let (mut split, mut merged) = ((0, 0), (0, 0));
    let payload: Vec<_> = way.matches.iter().filter(|m| m.sent.end > m.sent.start).collect();
    let larger = |rec: &PacketRecord| u64::from(rec.len <= way.mss);
    for parts in payload.chunk_by(|a, b| a.sent.rec == b.sent.rec) {
        if parts.windows(2).any(|pair| pair[0].arrived != pair[1].arrived) {
            split = (split.0 + 1, split.1 + larger(sent.rec(parts[0].sent.rec)));
        }
    }
    let mut by_arrival: Vec<(u32, u32)> = payload.iter().map(|m| (m.arrived, m.sent.rec)).collect();
    by_arrival.sort_unstable();
    for parts in by_arrival.chunk_by(|a, b| a.0 == b.0) {
        if parts.windows(2).any(|pair| pair[0].1 != pair[1].1) {
            merged = (merged.0 + 1, merged.1 + larger(arrived.rec(parts[0].0)));
        }
    }
    (split, merged)
}

fn cut(how: &str, (all, small): (u64, u64), mss: u32, by_offload: &str) -> String {
    let what = say::count(all, "segment");
    if small * 2 > all {
        format!("{what} {how} on the way, though none is larger than {mss} B")
    } else {
        format!("{what} {how} {by_offload}")
    }
}
