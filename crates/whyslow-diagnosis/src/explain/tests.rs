#![allow(clippy::unwrap_used)]

//! Results do not depend on how the work is shared, nor on where a capture is cut into files.

use super::top_connections::ConnectionAccount;
use super::*;
use crate::conclude;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use whyslow_analysis::{Connection, IcmpError, MAX_CONNECTIONS};
use whyslow_core::capture::LinkType;
use whyslow_core::wire::Flags;

/// An event of one of a few connections, and the time since the previous event.
#[derive(Clone, Copy, Debug)]
struct Step {
    connection: u8,
    kind: u8,
    after: Nanos,
}

fn step() -> impl Strategy<Value = Step> {
    let after = prop_oneof![20 => 0i64..3_000, 3 => 0i64..400_000, 1 => 0i64..90_000_000];
    (0u8..9, 0u8..18, after).prop_map(|(connection, kind, after)| Step {
        connection,
        kind,
        after: Nanos::from_micros(after),
    })
}

/// How far a connection has come.
#[derive(Clone, Copy, Default)]
struct Ends {
    /// The next number of the client and of the server, and up to where the client has
    /// acknowledged.
    next: [u32; 2],
    acked: u32,
}

struct Recorded {
    time: Time,
    bytes: Vec<u8>,
    len: u32,
}

/// Packets as a capture with a snapshot length has them.
fn record(steps: &[Step]) -> Vec<Recorded> {
    let mut ends = [Ends::default(); 9];
    let mut time = Time(1_700_000_000_000_000_000);
    let mut packets: Vec<Recorded> = Vec::new();
    let mut newest = [None::<usize>; 9];
    for (number, step) in steps.iter().enumerate() {
        time += step.after;
        // A router sends an error about the newest packet of the connection.
        if let (16.., Some(about)) = (step.kind, newest[usize::from(step.connection)]) {
            let kind = if step.kind == 16 { [3, 4] } else { [3, number as u8 % 16] };
            let notice = error(&packets[about], kind, 1000 + number as u16 % 3);
            packets.push(Recorded { time, ..notice });
            continue;
        }
        newest[usize::from(step.connection)] = Some(packets.len());
        let end = &mut ends[usize::from(step.connection)];
        let (from, flags, seq, len) = match step.kind {
            0 => {
                let isn = number as u32 * 100_000;
                *end = Ends { next: [isn.wrapping_add(1), !isn], acked: !isn };
                (0, Flags::SYN, isn, 0)
            }
            1 => (1, Flags::SYN | Flags::ACK, end.next[1].wrapping_sub(1), 0),
            2 => (0, Flags::ACK | Flags::PSH, end.next[0], 100),
            3 => (1, Flags::ACK, end.next[1].wrapping_sub(1000), 1000),
            4 => (1, Flags::ACK | Flags::FIN, end.next[1], 0),
            5 => (0, Flags::ACK | Flags::FIN, end.next[0], 0),
            6 => (0, Flags::RST, end.next[0], 0),
            7..=9 => {
                end.acked = end.next[1];
                (0, Flags::ACK, end.next[0], 0)
            }
            _ => (1, Flags::ACK, end.next[1], 1000),
        };
        if step.kind == 2 || step.kind > 9 {
            end.next[from] = end.next[from].wrapping_add(len);
        }
        let ack = if from == 0 { end.acked } else { end.next[0] };
        let bytes = packet(step.connection, from, flags, [seq, ack], (len, number as u16));
        packets.push(Recorded { time, bytes, len: 54 + len });
    }
    packets
}

pub(super) fn packet(connection: u8, from: usize, flags: Flags, numbers: [u32; 2], (len, id): (u32, u16)) -> Vec<u8> {
    let mut bytes = vec![0; 12];
    bytes.extend([0x08, 0, 0x45, 0]);
    bytes.extend((40 + len as u16).to_be_bytes());
    bytes.extend(id.to_be_bytes());
    bytes.extend([0x40, 0, 64, 6, 0, 0]);
    let ends = [([10, 0, 0, connection], 40_000 + u16::from(connection)), ([10, 1, 0, connection / 2], 443)];
    let (source, destination) = (ends[from], ends[1 - from]);
    bytes.extend(source.0);
    bytes.extend(destination.0);
    bytes.extend(source.1.to_be_bytes());
    bytes.extend(destination.1.to_be_bytes());
    numbers.iter().for_each(|number| bytes.extend(number.to_be_bytes()));
    bytes.extend([0x50, flags.0 as u8, 0xff, 0xff, 0, 0, 0, 0]);
    bytes
}

/// The recorded packets.
fn given(packets: &[Recorded]) -> Vec<Packet<'_>> {
    packets
        .iter()
        .zip(1..)
        .map(|(packet, frame)| Packet {
            frame,
            time: packet.time,
            link: LinkType(1),
            data: &packet.bytes,
            original_len: packet.len,
        })
        .collect()
}

/// Summary that a reader makes of a file with these packets.
fn summary(packets: &[Packet<'_>]) -> Summary {
    let last_time = packets.last().map(|packet| packet.time);
    Summary { format: "pcap", last_time, ..Summary::default() }
}

/// Gives packets as files that were cut at these places. Frames are numbered on over all files.
fn feed(packets: &[Recorded], cuts: &[usize], explainer: &mut Explainer) {
    let given = given(packets);
    let mut cuts = cuts.to_vec();
    cuts.sort_unstable();
    let starts = [0].into_iter().chain(cuts.iter().copied());
    for (start, end) in starts.zip(cuts.iter().copied().chain([given.len()])) {
        explainer.begin_capture("");
        given[start..end].iter().for_each(|packet| explainer.packet(packet));
        explainer.end_capture(summary(&given[start..end]));
    }
}

fn explained(packets: &[Recorded], cuts: &[usize], count: usize) -> MergedAnalysis {
    explained_of(packets, cuts, count, MAX_CONNECTIONS)
}

/// Lists at most `most` connections.
fn explained_of(packets: &[Recorded], cuts: &[usize], count: usize, most: usize) -> MergedAnalysis {
    let mut explainers = Explainer::sharing(count);
    explainers.iter_mut().for_each(|explainer| explainer.accounts = AccountList::new(most));
    merged(packets, cuts, explainers, most)
}

/// As [`explained_of`], with the connections that are not listed, in the order of their numbers.
fn explained_with_omitted(packets: &[Recorded], count: usize, most: usize) -> (Analysis, Vec<Connection>) {
    let given = Arc::<Mutex<Vec<Connection>>>::default();
    let mut explainers = Explainer::sharing(count);
    for explainer in &mut explainers {
        let given = Arc::clone(&given);
        explainer.accounts = AccountList::new(most);
        explainer.give_omitted_to(OmittedSink::new(move |connection| given.lock().unwrap().push(connection)));
    }
    let mut merged = merged(packets, &[], explainers, most);
    let mut omitted = std::mem::take(&mut *given.lock().unwrap());
    omitted.sort_by_key(|connection| connection.id);
    let mut completion = merged.take_omitted();
    omitted.iter_mut().for_each(|connection| completion.complete(connection));
    (merged.finish().0, omitted)
}

/// Feeds all of them, and merges their results.
fn merged(packets: &[Recorded], cuts: &[usize], mut explainers: Vec<Explainer>, most: usize) -> MergedAnalysis {
    explainers.iter_mut().for_each(|explainer| feed(packets, cuts, explainer));
    // It must not matter whether they ask each other.
    if packets.len().is_multiple_of(2) {
        explainers.iter_mut().for_each(Explainer::close_all);
        Explainer::discard_omitted(&mut explainers);
        assert!(explainers.iter().map(|explainer| explainer.accounts.held()).sum::<usize>() <= most);
    }
    Fragment::merge_all(explainers.into_iter().map(Explainer::into_fragment).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn outcome_is_the_same_for_any_number_of_explainers(steps in prop::collection::vec(step(), 1..400)) {
        let packets = record(&steps);
        let alone = explained(&packets, &[], 1);
        let alone = (format!("{:?}", alone.fingerprints), format!("{:?}", alone.finish().0));
        for count in [2, 3, 8, 64] {
            let shared = explained(&packets, &[], count);
            prop_assert_eq!(&alone.0, &format!("{:?}", shared.fingerprints));
            prop_assert_eq!(&alone.1, &format!("{:?}", shared.finish().0));
        }
    }

    /// Packets are given in pieces, and all explainers are rebalanced between them.
    #[test]
    fn moved_connections_have_the_same_outcome(
        steps in prop::collection::vec(step(), 1..400),
        count in 2usize..6,
        piece in 1usize..50,
    ) {
        let packets = record(&steps);
        let alone = explained(&packets, &[], 1);
        let alone = (format!("{:?}", alone.fingerprints), format!("{:?}", alone.finish().0));
        let mut explainers = Explainer::sharing(count);
        for explainer in &mut explainers {
            explainer.owners.rebalance_always();
            explainer.begin_capture("");
        }
        for piece in given(&packets).chunks(piece) {
            let mut given = BTreeMap::new();
            let mut awaited = Vec::new();
            for (own, explainer) in explainers.iter_mut().enumerate() {
                piece.iter().for_each(|packet| explainer.packet(packet));
                let deal = explainer.rebalance();
                given.extend(deal.outgoing);
                awaited.extend(deal.incoming.into_iter().map(|ticket| (own, ticket)));
            }
            prop_assert_eq!(given.len(), awaited.len());
            for (own, ticket) in awaited {
                explainers[own].accept_shard(ticket, given.remove(&ticket).unwrap());
            }
        }
        let summary = summary(&given(&packets));
        explainers.iter_mut().for_each(|explainer| explainer.end_capture(summary.clone()));
        let shared = Fragment::merge_all(explainers.into_iter().map(Explainer::into_fragment).collect());
        prop_assert_eq!(alone.0, format!("{:?}", shared.fingerprints));
        prop_assert_eq!(alone.1, format!("{:?}", shared.finish().0));
    }

    /// A tag takes packets past the glance, and their segments past the way of plain ones.
    #[test]
    fn fast_path_segments_have_the_same_outcome(steps in prop::collection::vec(step(), 1..400)) {
        let mut packets = record(&steps);
        let plain = explained(&packets, &[], 1);
        let plain = (format!("{:?}", plain.fingerprints), format!("{:?}", plain.finish().0));
        for packet in &mut packets {
            packet.bytes.splice(12..12, [0x81, 0, 0, 7]);
            packet.len += 4;
        }
        let tagged = explained(&packets, &[], 1);
        prop_assert_eq!(&plain.0, &format!("{:?}", tagged.fingerprints));
        prop_assert_eq!(&plain.1, &format!("{:?}", tagged.finish().0));
    }

    #[test]
    fn costliest_connections_are_listed_for_any_number_of_explainers(
        steps in prop::collection::vec(step(), 1..600),
        most in 1usize..4,
    ) {
        let packets = record(&steps);
        let all = explained(&packets, &[], 1).finish().0;
        let some = explained_of(&packets, &[], 1, most).finish().0;
        let mut explainer = Explainer::new();
        feed(&packets, &[], &mut explainer);
        // In the order of their connections, as they are in `all`.
        let accounts = explainer.into_fragment().accounts.finish();
        let mut expected: Vec<_> = accounts.iter().zip(&all.connections).collect();
        expected.sort_unstable_by_key(|(account, _)| account.rank());
        expected.truncate(most);
        expected.sort_unstable_by_key(|(account, _)| account.id());
        let described = |connections: &mut dyn Iterator<Item = &Connection>| {
            connections.map(|connection| (connection.id, format!("{:?}", connection.directions))).collect::<Vec<_>>()
        };
        let listed = described(&mut some.connections.iter());
        prop_assert_eq!(&listed, &described(&mut expected.iter().map(|(_, connection)| *connection)));
        let problem = some.captures[0].problems.iter().find(|problem| problem.slug == "connections-not-listed");
        prop_assert_eq!(problem.map_or(0, |problem| problem.count) as usize, all.connections.len() - listed.len());
        for count in [2, 8, 64] {
            let shared = explained_of(&packets, &[], count, most).finish().0;
            prop_assert_eq!(format!("{some:?}"), format!("{shared:?}"));
        }
    }

    /// A sink for omitted connections does not change the listed ones, and its data is the same
    /// when read from a file.
    #[test]
    fn omitted_connections_are_given_away_for_any_number_of_explainers(
        steps in prop::collection::vec(step(), 1..600),
        most in 1usize..4,
    ) {
        let packets = record(&steps);
        let all = explained(&packets, &[], 1).finish().0;
        let some = explained_of(&packets, &[], 1, most).finish().0;
        let (listed, omitted) = explained_with_omitted(&packets, 1, most);
        prop_assert_eq!(format!("{some:?}"), format!("{listed:?}"));
        let described = |connection: &Connection| {
            (connection.id, connection.origin, format!("{:?} {:?}", connection.client, connection.directions))
        };
        let mut found: Vec<_> = listed.connections.iter().chain(&omitted).map(described).collect();
        found.sort_unstable_by_key(|(id, ..)| *id);
        prop_assert_eq!(found, all.connections.iter().map(described).collect::<Vec<_>>());
        for connection in &omitted {
            let read: Connection = borsh::from_slice(&borsh::to_vec(connection).unwrap()).unwrap();
            prop_assert_eq!(format!("{read:?}"), format!("{connection:?}"));
        }
        for count in [2, 8, 64] {
            let shared = explained_with_omitted(&packets, count, most);
            prop_assert_eq!(format!("{:?}", (&listed, &omitted)), format!("{:?}", (&shared.0, &shared.1)));
        }
    }

    #[test]
    fn capture_cut_into_files_equals_the_whole(
        steps in prop::collection::vec(step(), 2..400),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        count in 1usize..4,
    ) {
        let packets = record(&steps);
        let whole = explained(&packets, &[], 1).finish().0;
        let cuts: Vec<_> = cuts.iter().map(|cut| cut.index(packets.len())).collect();
        let mut parts = explained(&packets, &cuts, count).finish().0;
        let segments = packets.iter().filter(|packet| packet.bytes[23] == 6).count();
        prop_assert_eq!(parts.captures.iter().map(|capture| capture.tcp_packets).sum::<u64>(), segments as u64);
        conclude::forget_files(&mut parts.connections, &mut parts.findings);
        for connection in &mut parts.connections {
            connection.capture = 0;
        }
        prop_assert_eq!(format!("{:?}", whole.connections), format!("{:?}", parts.connections));
        prop_assert_eq!(format!("{:?}", whole.findings), format!("{:?}", parts.findings));
    }
}

/// A segment of one side: its offset from the end of its last one, its length, its first bytes, and
/// its flags.
#[derive(Clone, Copy, Debug)]
struct Sent {
    connection: u8,
    skip: i32,
    len: u32,
    begins: &'static [u8],
    flags: Flags,
    after: Nanos,
}

fn sent() -> impl Strategy<Value = Sent> {
    let skip = prop_oneof![12 => Just(0i32), 1 => -3_000i32..0, 1 => 1i32..3_000];
    let len = prop_oneof![2 => Just(0u32), 3 => Just(1_000u32), 3 => 1u32..200, 1 => 200u32..40_000];
    let begins: [&[u8]; 4] = [b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"\x17\x03\x03\x40\x00"];
    let [ack, syn] = [Flags::ACK, Flags::SYN];
    let flags = [ack, ack, ack, ack, ack | Flags::PSH, ack | Flags::FIN, ack | Flags::RST, syn, syn | ack];
    let after = prop_oneof![8 => 0i64..3_000, 3 => 0i64..400_000, 1 => 0i64..90_000_000];
    let choices = (prop::sample::select(begins.to_vec()), prop::sample::select(flags.to_vec()));
    (0u8..5, skip, len, choices, after).prop_map(|(connection, skip, len, (begins, flags), after)| Sent {
        connection,
        skip,
        len,
        begins,
        flags,
        after: Nanos::from_micros(after),
    })
}

/// Packets of the client alone, or of the server.
fn record_one_side(all: &[Sent], from: usize) -> Vec<Recorded> {
    let mut next = [7_000u32; 5];
    let mut time = Time(1_700_000_000_000_000_000);
    let mut id = 0;
    let mut packets = Vec::new();
    for sent in all {
        time += sent.after;
        id += 1;
        let next = &mut next[usize::from(sent.connection)];
        let (seq, len) = (next.wrapping_add_signed(sent.skip), sent.len);
        *next = (*next).max(seq.wrapping_add(len + u32::from(sent.flags.has(Flags::SYN))));
        let mut bytes = packet(sent.connection, from, sent.flags, [seq, 5], (len, id));
        bytes.extend(&sent.begins[..sent.begins.len().min(len as usize)]);
        packets.push(Recorded { time, bytes, len: 54 + len });
    }
    packets
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// A side that sends in order has no loss that is not accounted for; and a side that is
    /// classified so has no losses, whatever it sends (`into_fragment` checks each that is listed).
    #[test]
    fn one_direction_alone_has_no_cost(all in prop::collection::vec(sent(), 1..60), from in 0usize..2) {
        let packets = record_one_side(&all, from);
        let mut explainer = Explainer::new();
        feed(&packets, &[], &mut explainer);
        explainer.close_all();
        let free = explainer.accounts.cost_free_count();
        let accounts = explainer.into_fragment().accounts.finish();
        let is_plain = |account: &&ConnectionAccount| {
            let ports = [account.connection.client.port, account.connection.server.port];
            let own = |sent: &&Sent| ports.contains(&(40_000 + u16::from(sent.connection)));
            let plain = |sent: &Sent| sent.skip == 0 && [Flags::ACK, Flags::ACK | Flags::PSH].contains(&sent.flags);
            all.iter().filter(own).all(plain)
        };
        let plain: Vec<_> = accounts.iter().filter(is_plain).collect();
        prop_assert!(plain.iter().all(|account| account.cost() == Nanos::ZERO));
        prop_assert!(free >= plain.len(), "{} of {}", free, plain.len());
    }
}

/// An ICMP error of a router at 10.9.9.9 about this packet.
fn error(about: &Recorded, kind: [u8; 2], mtu: u16) -> Recorded {
    let quoted = &about.bytes[14..about.bytes.len().min(42)];
    let mut bytes = vec![0; 12];
    bytes.extend([0x08, 0, 0x45, 0]);
    bytes.extend((28 + quoted.len() as u16).to_be_bytes());
    bytes.extend([0, 7, 0, 0, 64, 1, 0, 0, 10, 9, 9, 9]);
    bytes.extend(&quoted[12..16]);
    bytes.extend(kind);
    bytes.extend([0; 4]);
    bytes.extend(mtu.to_be_bytes());
    bytes.extend(quoted);
    Recorded { time: about.time, len: bytes.len() as u32, bytes }
}

mod growth;
mod problems;
