//! Lost retransmissions, recoveries, and duplicate packets.

use super::*;
use crate::tcp::facts::{LostRetransmits, Recoveries};

#[test]
fn repeated_retransmission_is_a_lost_retransmission() {
    let mut script = third_lost();
    script.line(305.1, B, [2001, 101], MSS);
    // More SACKs arrive, and the hole is still open a round trip later.
    script.line(305.2, B, [6001, 101], MSS);
    script.line(405.3, A, [101, 2001], 0).sack = &[(3001, 7001)];
    script.line(405.4, B, [2001, 101], MSS);
    script.line(505.4, A, [101, 7001], 0);
    let facts = script.run();
    let transfer = bulk(&facts);
    let LostRetransmits { count: copies, waited, frames } = &transfer.lost_retransmits;
    assert_eq!((*copies, frames.len()), (1, 1));
    assert_eq!(*waited, Nanos::from_secs_f64(0.1003));
    let Recoveries { count: recoveries, took } = transfer.recoveries;
    assert_eq!((recoveries, took), (1, Nanos::from_secs_f64(0.2003)));
    assert_eq!(facts.directions[1].retransmitted.fast, 2);
}

#[test]
fn arrived_retransmission_is_not_lost() {
    let mut script = third_lost();
    script.line(305.1, B, [2001, 101], MSS);
    script.line(405.3, A, [101, 6001], 0);
    let facts = script.run();
    assert_eq!(bulk(&facts).lost_retransmits.count, 0);
    assert_eq!(bulk(&facts).recoveries.count, 1);
}

/// A segment of the server, captured twice with the same IP ID, the second time `later`
/// milliseconds after the first.
fn twice(later: f64, reported: bool) -> Facts {
    let mut script = Script::asked();
    for ms in [200.0, 200.0 + later] {
        script.line(ms, B, [1, 101], MSS).ip_id = 7;
    }
    let ack = script.line(300.0 + later, A, [101, 1001], 0);
    ack.sack = if reported { &[(1, 1001)] } else { &[] };
    script.run()
}

#[test]
fn duplicate_packet_is_from_the_network_only_with_a_dsack() {
    for reported in [true, false] {
        let facts = twice(0.1, reported);
        assert_eq!(facts.capture_defects.duplicate_frames, 1);
        assert_eq!(facts.directions[1].duplicated, u64::from(reported));
        assert_eq!(facts.directions[1].retransmitted, Default::default());
    }
}

#[test]
fn packets_a_timeout_apart_with_equal_ip_ids_are_a_retransmission() {
    let facts = twice(400.0, true);
    assert_eq!((facts.capture_defects.duplicate_frames, facts.directions[1].duplicated), (0, 0));
    assert_eq!(facts.directions[1].retransmitted.spurious, 1);
}

#[test]
fn parts_of_a_large_segment_are_each_retransmitted_once() {
    let mut script = Script::asked();
    script.line(200.0, B, [1, 101], MSS);
    // Two segments on the wire that were captured as one (TSO), both lost.
    script.line(200.1, B, [1001, 101], 2 * MSS);
    for n in 3..6 {
        script.line(200.2, B, [1 + n * MSS, 101], MSS);
    }
    script.line(300.0, A, [101, 1001], 0).sack = &[(3001, 6001)];
    script.line(300.1, B, [1001, 101], MSS);
    script.line(300.2, B, [2001, 101], MSS);
    script.line(400.1, A, [101, 6001], 0);
    let facts = script.run();
    let transfer = bulk(&facts);
    assert_eq!((facts.directions[1].retransmitted.fast, transfer.lost_retransmits.count), (2, 0));
    let at: Vec<_> = transfer.losses.iter().map(|loss| (loss.time, loss.passed_before, loss.unseen)).collect();
    let first = (Time::from_micros(200_100), 1000, false);
    assert_eq!(at, [first, first]);
}
