#![allow(clippy::unwrap_used)]

//! Reports made while packets arrive equal the analysis of the same packets.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use whyslow_analysis::Transfer;
use whyslow_core::capture::Reader;
use whyslow_core::tcp::EARLIER_TRANSFERS;
use whyslow_units::steps;

/// Identifies a transfer: its connection's client and server, its sender, and its first frame.
type Key = (String, String, &'static str, u64);

fn key(connection: &Connection, transfer: &Transfer) -> Key {
    let [client, server] = [&connection.client, &connection.server].map(|end| format!("{} {}", end.address, end.port));
    let from = if transfer.from == End::Client { "client" } else { "server" };
    (client, server, from, transfer.rounds.first().map_or(0, |round| round.first_frame.number))
}

fn ends(connection: &Connection) -> [(String, u16); 2] {
    [&connection.client, &connection.server].map(|end| (end.address.clone(), end.port))
}

fn by_key(connections: &[Connection]) -> BTreeMap<Key, String> {
    let all = connections.iter().flat_map(|connection| connection.transfers.iter().map(move |one| (connection, one)));
    all.map(|(connection, transfer)| (key(connection, transfer), format!("{transfer:#?}"))).collect()
}

/// Connections with more transfers than an analysis lists.
fn partly_listed(connections: &[Connection]) -> Vec<(String, String)> {
    let partly = connections.iter().filter(|one| one.transfers_total > one.transfers.len() as u64);
    let ends = |one: &Connection| [&one.client, &one.server].map(|end| format!("{} {}", end.address, end.port));
    partly.map(|one| ends(one).into()).collect()
}

/// The analysis of a capture, without the effects of connections on each other.
fn explain_each(bytes: &[u8]) -> Option<Vec<Connection>> {
    let (mut reader, mut explainer) = (Reader::new(), Explainer::new());
    explainer.begin_capture("whole");
    reader.push(bytes, &mut explainer).ok()?;
    let summary = reader.finish(&mut explainer).ok()?;
    explainer.end_capture(summary);
    let mut fragment = explainer.into_fragment();
    let mut connections: Vec<_> = fragment.accounts.finish().into_iter().map(|account| account.connection).collect();
    conclude::forget_files(&mut connections, &mut []);
    conclude::play_models(conclude::MAX_WORK, &fragment.replays, &mut connections, |plays| {
        while let Some(play) = plays.take() {
            plays.put(&play, play.play());
        }
    });
    conclude::finish(&mut connections, &mut [], None);
    Some(connections)
}

fn captures() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples")];
    folders.extend(whyslow_testing::captures_if_any());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_capture =
                path.extension().is_some_and(|name| ["pcap", "cap", "pcapng"].iter().any(|one| name == *one));
            if path.is_dir() {
                folders.push(path);
            } else if is_capture {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Asserts that no report of our own samples is wrong, and of others' captures few: where a capture
/// begins in mid-connection, later packets may swap client and server; of very many transfers only
/// the last are remembered; and the model has a budget. They are under 1 %.
fn assert_few(wrong: &[String], checked: usize) {
    let ours = wrong.iter().filter(|line| line.contains("/samples/")).count();
    assert!(ours == 0 && wrong.len() * 100 <= checked, "{} of {checked} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A number that looks random.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

/// The reports in order, each with the number of bytes read by then; `None` for the rest at the
/// end. Returns `None` if the bytes are not a capture.
fn live_batches(bytes: &[u8], seed: u64) -> Option<Vec<(Option<usize>, Ended)>> {
    let (mut reader, mut explainer, mut all) = (Reader::new(), LiveExplainer::new(), Vec::new());
    explainer.begin_capture("live");
    let (mut state, mut at) = (seed, 0);
    while at < bytes.len() {
        let until = bytes.len().min(at + 1 + next(&mut state) % 30_000);
        reader.push(&bytes[at..until], &mut explainer).ok()?;
        at = until;
        if !next(&mut state).is_multiple_of(3) {
            all.push((Some(at), explainer.collect(explainer.newest())));
        }
    }
    reader.finish(&mut explainer).ok()?;
    all.push((None, explainer.finish()));
    Some(all)
}

#[test]
fn each_transfer_is_reported_once_as_in_the_whole_capture() {
    let (mut at_end, mut on_the_way, mut as_whole) = (0, 0, 0);
    let mut wrong = Vec::new();
    for path in captures() {
        let bytes = fs::read(&path).unwrap();
        let (Some(whole), Some(reported)) = (explain_each(&bytes), live_batches(&bytes, bytes.len() as u64)) else {
            continue;
        };
        // The rules look back only at their last transfers.
        let long: Vec<_> = whole.iter().filter(|one| one.transfers_total > 2 * EARLIER_TRANSFERS).map(ends).collect();
        let partly_listed = partly_listed(&whole);
        let whole = by_key(&whole);
        let mut seen: BTreeMap<Key, usize> = BTreeMap::new();
        for EndedTransfers { connection, grown, over } in reported.iter().flat_map(|(_, ended)| &ended.connections) {
            for transfer in &connection.transfers {
                let key = key(connection, transfer);
                let again = std::mem::replace(seen.entry(key.clone()).or_default(), 1) > 0;
                let same = whole.get(&key) == Some(&format!("{transfer:#?}"));
                if again && !grown[transfer.from as usize] {
                    wrong.push(format!("{}: twice {key:?}", path.display()));
                }
                if *over {
                    at_end += 1;
                    if !same && !long.contains(&ends(connection)) {
                        wrong.push(format!("{}: not the same {key:?}", path.display()));
                    }
                } else {
                    on_the_way += 1;
                    as_whole += usize::from(same);
                }
            }
        }
        for key in whole.keys().filter(|key| !seen.contains_key(*key)) {
            wrong.push(format!("{}: not reported {key:?}", path.display()));
        }
        let is_listed = |key: &Key| !partly_listed.contains(&(key.0.clone(), key.1.clone()));
        for key in seen.keys().filter(|key| !whole.contains_key(*key) && is_listed(key)) {
            wrong.push(format!("{}: reported alone {key:?}", path.display()));
        }
    }
    assert!(at_end > 100 && on_the_way > 20, "{at_end} {on_the_way}");
    // Later packets add data about the path: most verdicts do not change.
    assert!(2 * as_whole > on_the_way, "{as_whole} of {on_the_way}");
    assert_few(&wrong, at_end + on_the_way);
}

#[test]
fn interim_report_is_the_analysis_of_the_packets_read() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    for path in captures() {
        let bytes = fs::read(&path).unwrap();
        let Some(reported) = live_batches(&bytes, bytes.len() as u64) else { continue };
        for (at, ended) in &reported {
            let Some(at) = at.filter(|_| !ended.connections.is_empty()) else { continue };
            let so_far = explain_each(&bytes[..at]).unwrap();
            let partly_listed = partly_listed(&so_far);
            let so_far = by_key(&so_far);
            let connections = ended.connections.iter().map(|reported| &reported.connection);
            for (connection, transfer) in connections.flat_map(|one| one.transfers.iter().map(move |t| (one, t))) {
                checked += 1;
                let key = key(connection, transfer);
                let now = format!("{transfer:#?}");
                let is_listed = !partly_listed.contains(&(key.0.clone(), key.1.clone()));
                if so_far.get(&key).map_or(is_listed, |then| *then != now) {
                    let then = so_far.get(&key).cloned().unwrap_or_default();
                    let differs = then.lines().zip(now.lines()).find(|(then, now)| then != now);
                    wrong.push(format!("{}: {key:?} {differs:?}", path.display()));
                }
            }
        }
    }
    assert!(checked > 20, "{checked}");
    assert_few(&wrong, checked);
}

/// Gives a sink the packets behind the first ones alone.
struct Behind<'a>(&'a mut LiveExplainer, u64);

impl Sink for Behind<'_> {
    fn packet(&mut self, packet: &Packet<'_>) {
        if packet.frame > self.1 {
            self.0.packet(packet);
        }
    }
}

/// The connections of a sample without its handshake, with the kernel's data if given.
fn without_handshake(name: &str, joined: Option<JoinedConnection>) -> Vec<Connection> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name);
    let (mut reader, mut explainer) = (Reader::new(), LiveExplainer::new());
    explainer.begin_capture(name);
    joined.into_iter().for_each(|joined| explainer.join(joined));
    reader.push(&fs::read(path).unwrap(), &mut Behind(&mut explainer, 3)).unwrap();
    explainer.finish().connections.into_iter().map(|reported| reported.connection).collect()
}

#[test]
fn joined_connection_has_its_handshake() {
    let name = "receive-window-client.pcap";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name);
    let whole = explain_each(&fs::read(path).unwrap()).unwrap().remove(0);
    let (shake, ends) = (whole.handshake.clone().unwrap(), [&whole.client, &whole.server]);
    let ends = ends.map(|end| (end.address.parse().unwrap(), end.port));
    let offered = [0, 1].map(|end| JoinedEnd {
        mss: shake.mss[end],
        window_scale: shake.window_scale[end],
        sack: shake.sack[end].unwrap(),
        timestamps: shake.timestamps[end].unwrap(),
        ecn: false,
    });
    let rtt = shake.rtt_ms.map(|rtt| Nanos::from_secs_f64(rtt / 1_000.0));
    let lacks = |all: &[Connection]| all[0].problems.iter().any(|problem| problem.slug == "no-handshake");
    assert!(lacks(&without_handshake(name, None)));
    // With either end first.
    for turned in [false, true] {
        let mut joined = JoinedConnection { ends, offered, client: Some(0), rtt };
        if turned {
            joined.ends.reverse();
            joined.offered.reverse();
            joined.client = Some(1);
        }
        let reported = without_handshake(name, Some(joined));
        assert!(!lacks(&reported), "{:?}", reported[0].problems);
        assert_eq!((&reported[0].client, &reported[0].server), (&whole.client, &whole.server));
        assert_eq!(reported[0].handshake.as_ref().unwrap().window_scale, shake.window_scale);
        let causes = |one: &Connection| one.transfers.last().unwrap().findings.first().map(|finding| finding.cause);
        assert_eq!(causes(&reported[0]), causes(&whole));
    }
}

#[test]
fn dropped_packets_are_reported_with_concurrent_transfers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/loss-client.pcap");
    let bytes = fs::read(path).unwrap();
    let dropped_packets = |from: i64, until: i64| {
        let (mut reader, mut explainer) = (Reader::new(), LiveExplainer::new());
        explainer.begin_capture("loss");
        reader.push(&bytes, &mut explainer).unwrap();
        let first = explainer.first_time().unwrap();
        explainer.note_drops(7, first + Nanos::from_millis(from), first + Nanos::from_millis(until));
        let problems = explainer.finish().connections.remove(0).connection.problems;
        problems.iter().filter(|problem| problem.slug == "dropped-by-capture").map(|problem| problem.count).sum::<u64>()
    };
    assert_eq!(dropped_packets(100, 200), 7);
    assert_eq!(dropped_packets(3_600_000, 3_600_100), 0);
}

/// A connection that asks and is answered again and again, every millisecond.
fn chatter(explainer: &mut LiveExplainer, exchanges: u32) -> (usize, u64) {
    use crate::explain::tests::packet;
    use whyslow_core::wire::Flags;
    let (mut time, mut frame) = (Time(1_700_000_000_000_000_000), 0);
    let (mut reported, mut unlisted) = (0, 0);
    let mut send = |explainer: &mut LiveExplainer, from, flags, numbers, len: u32| {
        time += Nanos::from_micros(250);
        frame += 1;
        let data = packet(1, from, flags, numbers, (len, frame as u16));
        explainer.packet(&Packet {
            frame,
            time,
            link: whyslow_core::capture::LinkType(1),
            data: &data,
            original_len: 54 + len,
        });
    };
    send(explainer, 0, Flags::SYN, [99, 0], 0);
    send(explainer, 1, Flags::SYN | Flags::ACK, [99, 100], 0);
    send(explainer, 0, Flags::ACK, [100, 100], 0);
    let transfers =
        |ended: Ended| ended.connections.iter().map(|reported| reported.connection.transfers.len()).sum::<usize>();
    for turn in 0..exchanges {
        let (asked, answered) = (100 + 120 * turn, 100 + 900 * turn);
        send(explainer, 0, Flags::ACK | Flags::PSH, [asked, answered], 120);
        send(explainer, 1, Flags::ACK | Flags::PSH, [answered, asked + 120], 900);
        send(explainer, 0, Flags::ACK, [asked + 120, answered + 900], 0);
        if turn % 100 == 99 {
            let ended = explainer.collect(explainer.newest());
            unlisted += ended.unlisted;
            reported += transfers(ended);
        }
    }
    (reported, unlisted)
}

#[test]
fn long_connection_uses_bounded_memory() {
    let mut explainer = LiveExplainer::new();
    let exchanges = 20_000;
    let (reported, unlisted) = chatter(&mut explainer, exchanges);
    // With 1,000 connections a second, they are reported at once, only the slowest of them.
    assert!(reported > 1_000, "{reported}");
    let mut held = Vec::new();
    explainer
        .explainer
        .table
        .for_each_since(Time::ZERO, |_, entry| held.extend(entry.value.opened().map(|tcp| tcp.held_transfers())));
    assert!(held.len() == 1 && held[0] < 5_000, "{held:?}");
    let rest = explainer.finish();
    let reported = reported + rest.connections[0].connection.transfers.len();
    assert_eq!(unlisted + rest.unlisted + reported as u64, 2 * u64::from(exchanges));
}

#[test]
fn transfer_is_reported_when_its_connection_falls_silent() {
    let mut explainer = LiveExplainer::new();
    assert_eq!(chatter(&mut explainer, 10), (0, 0));
    let end = explainer.newest();
    let count =
        |ended: Ended| ended.connections.iter().map(|reported| reported.connection.transfers.len()).sum::<usize>();
    assert_eq!(count(explainer.collect(end + Nanos::from_millis(500))), 0);
    let soon = explainer.collect(end + Nanos::from_millis(2_500));
    assert!(soon.connections.iter().all(|reported| !reported.over));
    assert_eq!(count(soon), 20);
    assert_eq!(count(explainer.collect(end + Nanos::from_millis(60_000))), 0);
    assert_eq!(count(explainer.finish()), 0);
}

#[test]
fn closed_connection_is_not_listed_as_open() {
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/healthy-server.pcap")).unwrap();
    let (mut reader, mut explainer) = (Reader::new(), LiveExplainer::new());
    explainer.begin_capture("live");
    reader.push(&bytes, &mut explainer).unwrap();
    let newest = explainer.newest();
    assert!(explainer.open_connections() > 0);
    // Its last packets may still come for some seconds; its entry in the table stays longer.
    drop(explainer.collect(newest + Nanos::from_millis(5_000)));
    assert_eq!(explainer.open_connections(), 0);
    assert!(explainer.explainer.table.count() > 0);
    drop(explainer.collect(newest + Nanos::from_millis(600_000)));
    assert_eq!((explainer.open_connections(), explainer.over), (0, 0));
}

/// Connections at the same time, each with one request and its response; or `only_syns`.
fn crowd(explainer: &mut LiveExplainer, ports: Range<u16>, only_syns: bool) {
    use crate::explain::tests::packet;
    use whyslow_core::wire::Flags;
    let (mut time, mut frame) = (explainer.newest().max(Time(1_700_000_000_000_000_000)), 0);
    let mut send = |port: u16, from, flags, numbers, len: u32| {
        time += Nanos::from_micros(10);
        frame += 1;
        let mut data = packet(1, from, flags, numbers, (len, frame as u16));
        // The client's port.
        data[34 + 2 * from..36 + 2 * from].copy_from_slice(&port.to_be_bytes());
        // A SYN is captured whole, and its sum is 0 without the sum itself.
        let sum = |bytes: &[u8]| bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum::<u32>();
        let all = sum(&data[26..]) + 6 + 20;
        let folded = (all & 0xffff) + (all >> 16);
        data[50..52].copy_from_slice(&(!(((folded & 0xffff) + (folded >> 16)) as u16)).to_be_bytes());
        let link = whyslow_core::capture::LinkType(1);
        explainer.packet(&Packet { frame, time, link, data: &data, original_len: 54 + len });
    };
    for port in ports.clone() {
        send(port, 0, Flags::SYN, [99, 0], 0);
    }
    if only_syns {
        return;
    }
    for port in ports.clone() {
        send(port, 1, Flags::SYN | Flags::ACK, [99, 100], 0);
        send(port, 0, Flags::ACK, [100, 100], 0);
        send(port, 0, Flags::ACK | Flags::PSH, [100, 100], 120);
        send(port, 1, Flags::ACK | Flags::PSH, [100, 220], 900);
        send(port, 0, Flags::ACK, [220, 1_000], 0);
    }
}

fn collect_all(explainer: &mut LiveExplainer, now: Time) -> Vec<Ended> {
    let mut parts = vec![explainer.collect(now)];
    while parts.last().is_some_and(|last| last.more) {
        parts.push(explainer.collect(now));
    }
    parts
}

#[test]
fn parts_do_not_search_the_table_again() {
    let mut explainer = LiveExplainer::new();
    crowd(&mut explainer, 1_000..2_000, false);
    explainer.newest += Nanos::from_millis(7_400_000);
    crowd(&mut explainer, 3_000..4_000, true);
    // The first ones leave, silent for two hours and four minutes; the others stay.
    let (now, mut parts) = (explainer.newest() + Nanos::from_millis(50_000), Vec::new());
    let steps = steps::steps_during(|| parts = collect_all(&mut explainer, now)).1;
    assert!(parts.len() > 3 && explainer.open_connections() == 1_000, "{}", parts.len());
    assert!(steps < 2_000, "{steps}");
}

#[test]
fn many_connections_are_reported_in_parts_each_once() {
    let count = 1_000_u64;
    let mut on_the_way = LiveExplainer::new();
    crowd(&mut on_the_way, 1_000..2_000, false);
    let later = on_the_way.newest() + Nanos::from_millis(5_000);
    let parts = collect_all(&mut on_the_way, later);
    // One part is reported on the way, and the others at the end.
    let mut in_between = LiveExplainer::new();
    crowd(&mut in_between, 1_000..2_000, false);
    let mut both = vec![in_between.collect(in_between.newest() + Nanos::from_millis(5_000))];
    assert!(both[0].more);
    in_between.finish_in_parts(|part| both.push(part));
    let mut at_end = LiveExplainer::new();
    crowd(&mut at_end, 1_000..2_000, false);
    let mut rest = Vec::new();
    at_end.finish_in_parts(|part| rest.push(part));
    for parts in [parts, both, rest] {
        assert!(parts.len() > 3 && parts.iter().all(|part| part.connections.len() <= MAX_CONNECTIONS_PER_PART));
        let mut ids: Vec<_> =
            parts.iter().flat_map(|part| &part.connections).map(|reported| reported.connection.id).collect();
        assert_eq!(ids, (1..=count).collect::<Vec<_>>());
        ids.dedup();
        assert_eq!(ids.len() as u64, count);
    }
}

#[test]
fn lone_syns_take_one_entry_and_are_not_reported() {
    let mut explainer = LiveExplainer::new();
    crowd(&mut explainer, 1_000..2_000, true);
    let (mut waiting, mut begun) = (0, 0);
    explainer.explainer.table.for_each_since(Time::ZERO, |_, entry| match entry.value.opened() {
        None => waiting += 1,
        Some(_) => begun += 1,
    });
    assert_eq!((waiting, begun), (1_000, 0));
    let ended = explainer.finish();
    assert_eq!((ended.connections.len(), ended.findings.len()), (0, 0));
}
