use super::*;
use crate::wire::{Fate, Icmp};
use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr};

fn error(by: u8, fate: Fate, seq: u32) -> Icmp {
    let address = |last| IpAddr::V4(Ipv4Addr::new(192, 0, 2, last));
    Icmp { fate, kind: (3, 1), by: address(by), from: (address(1), 1), to: (address(2), 2), seq, size: Some(1040) }
}

fn note(connection: &mut Connection, error: &Icmp) -> bool {
    connection.on_icmp_error(error, B, Time::from_millis(300), Frame { file: None, number: 9 })
}

/// Side B sends this number of segments, of which `acked` are acknowledged.
fn sending(segments: u32, acked: u32) -> Connection {
    let mut script = Script::asked();
    for at in 0..segments {
        script.line(200.0, B, [1 + at * MSS, 101], MSS);
        if at + 1 == acked {
            script.line(200.0, A, [101, 1 + acked * MSS], 0);
        }
    }
    script.connection()
}

#[test]
fn error_about_a_segment_not_in_flight_is_ignored() {
    // While the first segments are buffered, and later.
    for (segments, acked) in [(10, 4), (400, 396)] {
        let isn = Script::new().isn[1];
        let first = 1 + acked * MSS;
        let behind = 1 + segments * MSS;
        for (seq, may_be) in [
            (first, true),
            (behind - MSS, true),
            // A keep-alive, and an empty ACK.
            (first - 1, true),
            (behind, true),
            (first - MSS, false),
            (1, false),
            (behind + 5_000_000, false),
            (behind + 0x8000_0000, false),
        ] {
            let mut connection = sending(segments, acked);
            let accepted = note(&mut connection, &error(9, Fate::HostUnreachable, isn.wrapping_add(seq)));
            assert_eq!(accepted, may_be, "{seq} of {first} to {behind}");
            assert_eq!(connection.finish([end(A), end(B)]).notices.total, u64::from(may_be));
        }
    }
}

#[test]
fn error_about_an_uncaptured_direction_is_accepted() {
    let mut script = Script::new();
    script.line(0.0, A, [5000, 77_000], 0);
    let mut connection = script.connection();
    assert!(note(&mut connection, &error(9, Fate::HostUnreachable, script.isn[1] + 77_000)));
    assert!(note(&mut connection, &error(9, Fate::HostUnreachable, script.isn[1] + 900_000)));
    assert!(!note(&mut connection, &error(9, Fate::HostUnreachable, script.isn[1] + 1000)), "acknowledged before");
}

#[test]
fn equal_errors_are_merged_and_bounded() {
    let mut connection = sending(10, 4);
    let seq = Script::new().isn[1] + 1 + 5 * MSS;
    for by in 0..100 {
        for size in [900, 1400, 1000] {
            let error = Icmp { size: Some(size), ..error(by, Fate::TooBig(Some(800)), seq) };
            assert!(note(&mut connection, &error));
        }
    }
    let notices = connection.finish([end(A), end(B)]).notices;
    assert_eq!((notices.list.len(), notices.total), (super::super::icmp_notices::MAX_NOTICES, 300));
    assert!(notices.list.iter().all(|notice| (notice.count, notice.size) == (3, Some(1400))));
}

/// Side B sends ten segments, of which nine are too long for the path. Its router reports that, and
/// they are retransmitted in pieces of 800 B a millisecond later, or after a timeout.
fn refused(after: f64) -> Script {
    let mut script = Script::asked();
    for at in 0..10 {
        script.line(100.1, B, [1 + at * MSS, 101], MSS);
    }
    let mut next = 1;
    while next < 1 + 10 * MSS {
        let len = 800.min(1 + 10 * MSS - next);
        script.line(100.1 + after, B, [next, 101], len);
        next += len;
    }
    script.line(200.5 + after, A, [101, 1 + 10 * MSS], 0);
    for at in 0..20 {
        script.line(200.5 + after, B, [1 + 10 * MSS + at * 800, 101], 800);
    }
    script.line(301.0 + after, A, [101, 1 + 10 * MSS + 20 * 800], 0);
    script
}

/// Adds the error after the flight, while the first segments are buffered or after tracking has
/// started.
fn facts_with_error(script: &Script, mtu: u32, tracked: bool) -> Facts {
    let lines = Cell::new(0);
    let connection = script.play(false, |connection| {
        lines.set(lines.get() + 1);
        if lines.get() != 14 {
            return;
        }
        if tracked {
            connection.start_tracking();
        }
        let error = error(9, Fate::TooBig(Some(mtu)), script.isn[1] + 1);
        assert!(connection.on_icmp_error(&error, B, Time::from_micros(100_500), Frame { file: None, number: 9 }));
    });
    connection.finish([end(A), end(B)])
}

#[test]
fn mtu_retransmission_is_not_a_loss() {
    let script = refused(1.0);
    let unaware = script.run();
    let before = &unaware.directions[1].transfers[0];
    assert!(before.losses.len() > 5 && before.retransmitted_bytes > 5_000, "without the error it looks like loss");

    for tracked in [false, true] {
        // 800 bytes, and 40 bytes of headers.
        let facts = facts_with_error(&script, 840, tracked);
        let (direction, transfer) = (&facts.directions[1], &facts.directions[1].transfers[0]);
        assert_eq!((transfer.losses.len(), transfer.retransmitted_bytes, transfer.retransmitted.fast), (0, 0, 0));
        assert!(transfer.rounds.iter().all(|round| round.retransmitted == 0 && round.recovering == Nanos::ZERO));
        // They still count as retransmissions, and from then on the MSS is 800 bytes.
        assert_eq!((direction.retransmitted.fast, direction.retransmissions.len()), (13, 13));
        assert_eq!((direction.retransmitted.timeout, direction.mss), (0, 800));
        assert_eq!(direction.unacknowledged, 0);
    }
}

#[test]
fn retransmission_by_timer_or_above_the_mtu_is_a_loss() {
    let facts = facts_with_error(&refused(400.0), 840, false);
    assert_eq!(facts.directions[1].retransmitted.timeout, 13);
    assert!(facts.directions[1].transfers[0].retransmitted_bytes > 0);
    // Errors with an MTU below the minimum are forged.
    let facts = facts_with_error(&refused(1.0), 60, false);
    assert!(!facts.directions[1].transfers[0].losses.is_empty());
    // The retransmissions are longer than the reported MTU allows.
    let facts = facts_with_error(&refused(1.0), 640, false);
    assert!(!facts.directions[1].transfers[0].losses.is_empty());
}
