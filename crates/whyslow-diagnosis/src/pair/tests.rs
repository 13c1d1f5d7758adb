#![allow(clippy::unwrap_used)]

//! Downloads over a known path, recorded by two captures in many ways: the report must match the
//! path.

mod path;

use super::{find, shares};
use path::{Captured, MS, MSS, Path, Pkt, Trace, View, compared, explained, feed, found, merged};
use proptest::prelude::*;
use std::collections::BTreeSet;
use whyslow_analysis::{
    Change, ChangeKind, End, MatchedBy, NotCompared, OptionEdit, Pair, PairCaveat, PairDirection, PairStatement,
    PathPart, Resegmentation, WayLoss,
};

fn set(numbers: &[u32]) -> BTreeSet<u32> {
    numbers.iter().copied().collect()
}

/// A path with losses of both kinds.
fn lossy() -> Path {
    Path { lost: set(&[3, 17, 18, 90, 199]), lost_acks: set(&[5, 60]), ..Path::default() }
}

fn both(seen: &[Trace; 2], client: &View, server: &View) -> Pair {
    compared([&client.capture(&seen[0]), &server.capture(&seen[1])]).unwrap()
}

fn ways(pair: &Pair) -> (&PairDirection, &PairDirection) {
    (&pair.directions[0], &pair.directions[1])
}

/// The losses of `lossy` are reported exactly, and nothing else.
#[track_caller]
fn assert_losses(pair: &Pair) {
    let (up, down) = ways(pair);
    assert_eq!((up.lost, up.lost_with_payload, up.sent), (2, 0, 202), "{pair:#?}");
    assert_eq!((down.lost, down.lost_with_payload, down.sent), (5, 5, 206), "{pair:#?}");
    assert_eq!(down.lost_bytes, 5 * u64::from(MSS));
    assert_eq!((down.resent, down.resent_for_loss), (5, 5));
    assert_eq!((up.unjudged, down.unjudged, up.unseen_before, down.unseen_before), (0, 0, 0, 0));
    assert_eq!((down.uncaptured, down.duplicated, down.reordered), (0, 0, 0));
}

#[track_caller]
fn close(value: Option<f64>, wanted: f64) {
    assert!((value.unwrap() - wanted).abs() < 0.15, "{value:?} is not {wanted}");
}

#[test]
fn losses_and_delays_between_captures_are_found() {
    let pair = both(&lossy().run(), &View::default(), &View::default());
    assert_eq!((pair.matched_by, pair.connections, pair.captures), (MatchedBy::Addresses, [1, 1], [0, 0]));
    assert_losses(&pair);
    let (up, down) = ways(&pair);
    for way in [up, down] {
        close(way.delay_ms.min, 10.0);
        close(way.delay_ms.p95, 10.0);
        close(way.uncorrected_ms, 10.0);
    }
    let clock = pair.clock.unwrap();
    assert!(clock.offset_s.0.abs() < 50_000 && clock.drift_ppm.is_none(), "{clock:?}");
    let leg = |place: PathPart| pair.legs.iter().find(|leg| leg.place == place).unwrap().rtt_ms;
    close(leg(PathPart::Between).min, 20.0);
    close(leg(PathPart::Client).min, 0.0);
    assert!(pair.changes.is_empty() && pair.caveats.is_empty(), "{pair:#?}");
    // The frames are those of the server's capture: the fourth segment follows the handshake, the
    // request and three others.
    assert_eq!(down.lost_frames[0].to_string(), "2:7");
    assert_eq!((up.lost_frames.len(), down.lost_frames.len()), (2, 5));
    assert_eq!(up.lost_frames[0].file, Some(0));
    let PairStatement::Lost { ways } = &pair.statements[0] else { panic!("{:?}", pair.statements) };
    assert_eq!(ways.len(), 2);
    assert_eq!(ways[1], WayLoss { to: End::Client, lost: 5, sent: 206, share: 5.0 / 206.0 });
}

#[test]
fn capture_order_does_not_matter() {
    let [client, server] = lossy().run();
    let [a, b] = [View::default().capture(&client), View { offset: 77 * MS, ..View::default() }.capture(&server)];
    let (one, other) = (compared([&a, &b]).unwrap(), compared([&b, &a]).unwrap());
    assert_losses(&one);
    assert_losses(&other);
    for pair in [one, other] {
        let offset = pair.clock.unwrap().offset_s;
        assert!((offset.0 - 77 * MS).abs() < 50_000, "{offset:?}");
        assert!(pair.directions.iter().all(|way| (way.delay_ms.min.unwrap() - 10.0).abs() < 0.15));
    }
}

#[test]
fn clock_offset_and_drift_are_estimated() {
    // 20 s.
    let path = Path { every: 100 * MS, bursts: 200, ..lossy() };
    for (offset, ppm) in [(-3_600_000 * MS, 80.0), (250 * MS, -200.0), (12_345, 0.0)] {
        let server = View { offset, drift: ppm * 1e-6, ..View::default() };
        let pair = both(&path.run(), &View::default(), &server);
        let clock = pair.clock.unwrap();
        assert!((clock.offset_s.0 - offset).abs() < 200_000, "{clock:?}");
        assert!((clock.drift_ppm.unwrap() - ppm).abs() <= clock.drift_error_ppm.unwrap() + 0.1, "{clock:?}");
        assert!(clock.drift_error_ppm.unwrap() < 15.0, "{clock:?}");
        assert_eq!(clock.drift_ppm == Some(0.0), ppm == 0.0);
        assert_eq!((ways(&pair).0.lost, ways(&pair).1.lost), (2, 5));
        close(ways(&pair).1.delay_ms.min, 10.0);
        close(ways(&pair).1.delay_ms.p95, 10.0);
    }
}

#[test]
fn asymmetric_delays_are_reported_by_the_clocks() {
    let path = Path { delay: [10 * MS, 30 * MS], ..Path::default() };
    let pair = both(&path.run(), &View::default(), &View::default());
    let (up, down) = ways(&pair);
    close(up.delay_ms.min, 20.0);
    close(down.delay_ms.min, 20.0);
    close(up.uncorrected_ms, 10.0);
    close(down.uncorrected_ms, 30.0);
}

#[test]
fn address_translation_does_not_hide_a_connection() {
    let server = View { client: ([203, 0, 113, 9], 61_000), ttl: [58, 64], ..View::default() };
    let client = View { ttl: [64, 52], mss: 1480, ..View::default() };
    let pair = both(&lossy().run(), &client, &server);
    assert_eq!(pair.matched_by, MatchedBy::InitialNumbers);
    assert_losses(&pair);
    let kinds: Vec<_> = pair.changes.iter().map(|change| &change.kind).collect();
    let [addresses, ChangeKind::Mss(_), ttl, ChangeKind::Mss(_), ChangeKind::Ttl { .. }] = kinds[..] else {
        panic!("{kinds:?}")
    };
    let near = ("203.0.113.9".to_owned(), 61_000);
    assert!(matches!(addresses, ChangeKind::Addresses { near_server, .. } if *near_server == near), "{addresses:?}");
    assert_eq!(*ttl, ChangeKind::Ttl { sent: 64, arrived: 58 });
}

#[test]
fn rewritten_sequence_numbers_do_not_hide_a_connection() {
    let server = View { isn: [5, 0xffff_ff00], ..View::default() };
    let pair = both(&lossy().run(), &View::default(), &server);
    assert_eq!(pair.matched_by, MatchedBy::SynTimestamps);
    assert_losses(&pair);
    assert_eq!(pair.changes[0].kind, ChangeKind::SequenceNumbers);
}

#[test]
fn retransmissions_match_without_timestamps_or_numbers() {
    for (stamps, ids) in [(false, true), (true, false), (false, false)] {
        let view = View { stamps, ids, ..View::default() };
        assert_losses(&both(&lossy().run(), &view, &view));
    }
    // And where the path takes them out.
    let pair = both(&lossy().run(), &View::default(), &View { stamps: false, ids: false, ..View::default() });
    assert_losses(&pair);
    let removed = ChangeKind::Timestamps { edit: OptionEdit::Removed };
    assert!(pair.changes.iter().any(|change| change.kind == removed), "{:?}", pair.changes);
}

#[test]
fn offload_at_either_host_changes_no_count() {
    let [client, server] = lossy().run();
    for (client, server) in [
        (client.clone(), merged(&server, 4)),
        (merged(&client, 3), server.clone()),
        (merged(&client, 2), merged(&server, 4)),
    ] {
        let cut = server.iter().any(|(_, packet)| packet.len > MSS);
        let put = client.iter().any(|(_, packet)| packet.len > MSS);
        assert!(cut || put);
        let pair = both(&[client, server], &View::default(), &View::default());
        let (up, down) = ways(&pair);
        assert_eq!((down.sent, down.lost, down.lost_bytes), (206, 5, 5 * u64::from(MSS)), "{pair:#?}");
        assert_eq!((down.resent, down.resent_for_loss, up.lost), (5, 5, 2));
        assert_eq!((down.unseen_before, down.uncaptured), (0, 0));
        let has = |kind: ChangeKind| pair.changes.iter().any(|change| change.kind == kind);
        let place = Resegmentation::Host;
        let (split, merged) = (ChangeKind::Split { place }, ChangeKind::Merged { place });
        // The capture shows only that packets sent as four and arriving as two twice were cut up.
        assert_eq!((has(split), has(merged)), (cut, put && !cut), "{:#?}", pair.changes);
        assert_eq!(pair.changes.len(), 1, "{:#?}", pair.changes);
    }
}

#[test]
fn duplicated_or_late_packets_are_not_lost() {
    let path = Path { doubled: set(&[8, 9, 100]), late: set(&[20, 41]), ..Path::default() };
    for ids in [true, false] {
        let view = View { ids, ..View::default() };
        let pair = both(&path.run(), &view, &view);
        let (up, down) = ways(&pair);
        assert_eq!((down.duplicated, down.lost, up.lost), (3, 0, 0), "{pair:#?}");
        assert_eq!(down.reordered, 2);
        assert!((down.reordered_s.as_millis_f64() - 3.0).abs() < 0.1, "{:?}", down.reordered_s);
        assert_eq!(pair.statements[0], PairStatement::Lost { ways: Vec::new() });
    }
}

#[test]
fn packets_outside_the_other_capture_are_not_lost() {
    let [client, server] = lossy().run();
    // The client's capture begins and ends while the transfer goes on, in a quiet moment.
    let running = 72 * MS..121 * MS;
    let part: Trace = client.iter().copied().filter(|(time, _)| running.contains(time)).collect();
    let pair = both(&[part.clone(), server.clone()], &View::default(), &View::default());
    let (_, down) = ways(&pair);
    assert_eq!(pair.matched_by, MatchedBy::Addresses);
    // From these five, the resent copies of 3, 17 and 18 are within that time, and the loss of 90
    // is beyond it.
    let within = |time: i64| running.contains(&(time + 10 * MS));
    let lost: Vec<i64> = server
        .iter()
        .filter(|(_, p)| p.from == 1 && !client.iter().any(|(_, q)| (q.from, q.id) == (1, p.id)))
        .map(|(time, _)| *time)
        .filter(|time| within(*time))
        .collect();
    assert_eq!(down.lost, lost.len() as u64, "{pair:#?}");
    assert!(down.unjudged > 30, "{pair:#?}");
    assert!(pair.statements.contains(&PairStatement::Unjudged { from: End::Server, packets: down.unjudged }));
    // The server's capture lacks the handshake: its later half alone is compared.
    let late: Trace = server.into_iter().filter(|(time, _)| *time > 80 * MS).collect();
    let pair = both(&[client, late], &View::default(), &View::default());
    let (up, down) = ways(&pair);
    assert_eq!((down.lost, up.lost_with_payload), (1, 0), "{pair:#?}");
    assert!(up.unjudged > 0 && down.unseen_before == 0);
}

#[test]
fn packets_dropped_by_a_capture_are_not_lost() {
    let [client, server] = lossy().run();
    // Data packets that the client acknowledges, and its capture lacks.
    let mut data = 0;
    let holed: Trace = client
        .into_iter()
        .filter(|(_, packet)| {
            data += u32::from(packet.len == MSS);
            packet.len != MSS || !(60..63).contains(&data)
        })
        .collect();
    let pair = both(&[holed, server], &View::default(), &View::default());
    let (_, down) = ways(&pair);
    assert_eq!((down.lost, down.uncaptured), (5, 3), "{pair:#?}");
    assert_eq!(pair.caveats, [PairCaveat::MissingAtReceiver { from: End::Server, packets: 3 }]);
}

#[test]
fn packets_dropped_by_the_senders_capture_are_reported() {
    let [client, mut server] = Path::default().run();
    let data =
        server.iter().enumerate().filter(|(_, (_, packet))| packet.len == MSS).map(|(index, _)| index).nth(40).unwrap();
    server.drain(data..data + 2);
    let pair = both(&[client, server], &View::default(), &View::default());
    assert_eq!((ways(&pair).1.unseen_before, ways(&pair).1.lost), (2, 0), "{pair:#?}");
    assert_eq!(pair.caveats, [PairCaveat::MissingAtSender { from: End::Server, packets: 2 }]);
}

#[test]
fn reset_missing_at_the_sender_is_a_middleboxs() {
    let [client, mut server] = Path::default().run();
    let reset = |time: i64| {
        let flags = whyslow_core::wire::Flags::RST;
        (time, Pkt { from: 0, seq: 101, ack: 0, len: 0, flags, stamp: 0, echo: 0, id: 1 })
    };
    let is_reset = |change: &Change| matches!(change.kind, ChangeKind::Resets { .. });
    let has_reset = |pair: &Pair| pair.changes.iter().any(is_reset);
    // Behind the client's whole capture, no packet can be matched.
    let mut late = server.clone();
    late.push(reset(5_000 * MS));
    assert!(!has_reset(&both(&[client.clone(), late], &View::default(), &View::default())));
    server.push(reset(100 * MS));
    server.sort_by_key(|(time, _)| *time);
    let pair = both(&[client.clone(), server.clone()], &View::default(), &View::default());
    assert!(has_reset(&pair), "{:#?}", pair.changes);
    // A FIN of the client is not.
    let mut client = client;
    client.push(reset(90 * MS));
    client.sort_by_key(|(time, _)| *time);
    assert!(!has_reset(&both(&[client, server], &View::default(), &View::default())));
}

/// The two connections of a proxy in the middle: other numbers, other segments, the same bytes
/// later.
fn proxied(server: &[(i64, Pkt)]) -> Trace {
    let [client, _] = Path { every: 5 * MS, ..Path::default() }.run();
    assert!(server.len() > 100);
    client.into_iter().map(|(time, packet)| (time + 30 * MS, packet)).collect()
}

#[test]
fn proxied_connections_share_one_payload() {
    let [_, server] = Path { lost: set(&[9]), ..Path::default() }.run();
    let client = proxied(&server);
    let near_client = View { isn: [1, 2], server: ([198, 51, 100, 3], 8080), ..View::default() };
    let near_server = View { client: ([10, 0, 0, 1], 5_555), ..View::default() };
    let pair = compared([&near_client.capture(&client), &near_server.capture(&server)]).unwrap();
    assert_eq!(pair.matched_by, MatchedBy::Payload);
    let proxy = pair.proxy.unwrap();
    assert!(proxy.held_most_bytes >= proxy.held_bytes && proxy.held_bytes > 0, "{proxy:?}");
    // Each leg has its own losses: no loss between the captures is reported.
    assert!(pair.directions.iter().all(|way| (way.sent, way.lost, way.resent) == (0, 0, 0)));
    assert!(pair.changes.is_empty());
}

#[test]
fn similar_connections_are_not_paired() {
    let [client, server] = Path::default().run();
    let here = View::default().capture(&client);
    // Another server, another port, other numbers, and a little more payload.
    let other = View { isn: [9, 8], client: ([192, 0, 2, 1], 40_001), ..View::default() };
    let more = Path { bursts: 51, ..Path::default() }.run();
    assert!(found([&here, &other.capture(&more[1])]).is_empty());
    // The same amounts, but twice: the two cannot be distinguished.
    let mut twice = other.capture(&server);
    twice.extend(View { isn: [4, 5], client: ([192, 0, 2, 1], 40_002), ..View::default() }.capture(&server));
    assert!(found([&here, &twice]).is_empty());
    // The same amounts, at another time.
    let later = View { offset: 3_600_000 * MS, ..other };
    assert!(found([&here, &later.capture(&server)]).is_empty());
    // The same four-tuple once more, later.
    let reused = View { isn: [9, 8], offset: 3_600_000 * MS, ..View::default() };
    assert!(found([&here, &reused.capture(&server)]).is_empty());
}

#[test]
fn translated_connections_match_without_a_handshake() {
    let [client, server] = lossy().run();
    let opened = |seen: Trace| -> Trace { seen.into_iter().filter(|(time, _)| *time > 19 * MS).collect() };
    let server_view = View { client: ([203, 0, 113, 9], 61_000), ..View::default() };
    let pair = both(&[opened(client), opened(server)], &View::default(), &server_view);
    assert_eq!(pair.matched_by, MatchedBy::SequenceNumbers);
    assert_eq!((ways(&pair).0.lost, ways(&pair).1.lost), (2, 5));
}

#[test]
fn captures_at_one_place_are_reported() {
    let [_, server] = lossy().run();
    let pair = both(&[server.clone(), server], &View::default(), &View { offset: 5, ..View::default() });
    assert!(pair.caveats.contains(&PairCaveat::OnePlace), "{:?}", pair.caveats);
    assert_eq!((ways(&pair).0.lost, ways(&pair).1.lost), (0, 0));
}

#[test]
fn stepping_clock_is_refused() {
    let [client, server] = Path { every: 20 * MS, ..Path::default() }.run();
    let client = View::default().capture(&client);
    let mut server = View::default().capture(&server);
    for packet in server.iter_mut().skip(150) {
        packet.time.0 += 500 * MS;
    }
    assert_eq!(compared([&client, &server]).unwrap_err(), Some(NotCompared::ClockJumps));
}

#[test]
fn packet_limit_is_shared_by_all_pairs() {
    assert_eq!(shares([10, 20]), [10, 20]);
    let large = shares([u64::MAX, u64::MAX, 5]);
    assert!(large[0] > large[1] && large[1] > 0 && large[2] == 5);
    assert!(large.iter().sum::<usize>() <= 1 << 21);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Losses on the way are reported exactly.
    #[test]
    fn loss_counts_are_exact(lost in prop::collection::btree_set(0u32..200, 0..40),
                        lost_acks in prop::collection::btree_set(0u32..190, 0..40),
                        stamps in any::<bool>(), tso in any::<bool>(), gro in any::<bool>()) {
        let path = Path { lost: lost.clone(), lost_acks: lost_acks.clone(), ..Path::default() };
        let [client, server] = path.run();
        let client = if gro { merged(&client, 2) } else { client };
        let server = if tso { merged(&server, 4) } else { server };
        let view = View { stamps, ..View::default() };
        let pair = both(&[client, server], &view, &view);
        let (up, down) = ways(&pair);
        prop_assert_eq!(down.lost, lost.len() as u64);
        prop_assert_eq!(down.resent_for_loss, lost.len() as u64);
        prop_assert_eq!(up.lost + up.unjudged, lost_acks.len() as u64);
    }

    /// Hostile packets neither stop nor swell it.
    #[test]
    fn any_input_is_accepted(packets in prop::collection::vec(
        (0usize..2, any::<u32>(), any::<u32>(), 0u32..70_000, 0u16..32, any::<u32>(), -1_000i64..100_000, any::<bool>()),
        0..120,
    )) {
        let seen: Trace = packets
            .iter()
            .map(|&(from, seq, ack, len, flags, stamp, time, _)| {
                // Mostly near one another, so that they overlap.
                let seq = if seq % 4 == 0 { seq } else { seq % 5_000 };
                (time * 1_000, Pkt { from, seq, ack, len, flags: whyslow_core::wire::Flags(flags), stamp, echo: ack, id: stamp as u16 })
            })
            .collect();
        let other: Trace = seen.iter().zip(&packets).filter(|(_, p)| p.7).map(|((time, p), _)| (time + 5_000_000, *p)).collect();
        let [a, b] = [View::default().capture(&seen), View::default().capture(&other)];
        if let Ok(pair) = compared([&a, &b]) {
            for way in &pair.directions {
                prop_assert!(way.lost <= way.sent && (0.0..=1.0).contains(&way.lost_share));
            }
        }
    }
}

#[test]
fn tangled_segments_are_refused() {
    // Thousands of segments, each beginning a byte after the one before and holding all the later
    // bytes.
    let seen: Trace = (0..4_000_u32)
        .map(|n| {
            let flags = whyslow_core::wire::Flags::ACK;
            let packet =
                Pkt { from: (n % 2) as usize, seq: 1 + n, ack: 1, len: 9_000, flags, stamp: n, echo: 0, id: n as u16 };
            (i64::from(n) * 1_000, packet)
        })
        .collect();
    let capture: Captured = View::default().capture(&seen);
    let refused = compared([&capture, &capture]).unwrap_err();
    assert_eq!(refused, Some(NotCompared::Overlaps), "they were compared");
}

#[test]
fn empty_capture_shares_nothing() {
    let empty: Captured = Vec::new();
    let (connections, fingerprints) = explained(&empty);
    assert!(connections.is_empty() && find(&fingerprints, &fingerprints).is_empty());
    feed(&empty, &mut super::PacketCollector::new(0, []));
}
