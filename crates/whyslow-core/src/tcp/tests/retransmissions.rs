//! Why a segment was retransmitted, and which copies are not retransmissions.

use super::*;

#[test]
fn sacks_after_a_hole_are_rtt_samples() {
    let facts = third_lost().run();
    let rounds = facts.directions[1].transfers.iter().flat_map(|transfer| &transfer.rounds);
    let (trips, whole) = rounds.fold((0, Nanos::ZERO), |(n, sum), round| (n + round.sacked.0, sum + round.sacked.1));
    assert_eq!((trips, whole), (3, Nanos::from_millis(300)));
}

#[test]
fn retransmission_after_duplicate_acks_is_fast() {
    let mut script = third_lost();
    script.line(305.1, B, [2001, 101], MSS);
    script.line(405.1, A, [101, 6001], 0);
    let facts = script.run();
    let kinds = facts.directions[1].retransmitted;
    assert_eq!((kinds.fast, kinds.timeout, kinds.tail_probe, kinds.spurious), (1, 0, 0, 0));
    assert_eq!(facts.directions[1].duplicate_acks, 3);
}

#[test]
fn retransmission_above_all_sacks_in_recovery_is_not_a_probe() {
    let mut script = third_lost();
    script.line(305.1, B, [2001, 101], MSS);
    // Sent after the lost segment, and lost as well: no SACK shows that, but the ACK of the
    // retransmission does, a round trip later.
    script.lines.insert(script.lines.len() - 5, Line { ms: 206.0, seq: 6001, ..script.lines[4] });
    script.line(405.1, A, [101, 6001], 0);
    script.line(405.2, B, [6001, 101], MSS);
    script.line(505.2, A, [101, 7001], 0);
    let kinds = script.run().directions[1].retransmitted;
    assert_eq!((kinds.fast, kinds.timeout, kinds.tail_probe), (2, 0, 0));
}

#[test]
fn retransmission_released_by_an_ack_after_a_timeout_is_not_a_wait() {
    let mut script = Script::asked();
    for n in 0..3 {
        script.line(200.0 + f64::from(n), B, [1 + n * MSS, 101], MSS);
    }
    script.line(900.0, B, [1, 101], MSS);
    for n in 1..3 {
        let ms = 900.0 + 100.0 * f64::from(n);
        script.line(ms, A, [101, 1 + n * MSS], 0);
        script.line(ms, B, [1 + n * MSS, 101], MSS);
    }
    script.line(1200.0, A, [101, 3001], 0);
    let facts = script.run();
    let kinds = facts.directions[1].retransmitted;
    assert_eq!((kinds.fast, kinds.timeout, kinds.tail_probe), (0, 3, 0));
    let timers = bulk(&facts).pauses.iter().filter(|gap| gap.release == Release::Timer).count();
    assert_eq!(timers, 1);
    assert!(bulk(&facts).pauses.iter().all(|gap| !gap.tail));
}

#[test]
fn retransmission_after_silence_is_a_timeout() {
    let mut script = Script::asked();
    for n in 0..3 {
        script.line(200.0 + f64::from(n), B, [1 + n * MSS, 101], MSS);
    }
    script.line(900.0, B, [1, 101], MSS);
    script.line(1000.0, A, [101, 3001], 0);
    let facts = script.run();
    let kinds = facts.directions[1].retransmitted;
    assert_eq!((kinds.fast, kinds.timeout, kinds.tail_probe), (0, 1, 0));
    assert_eq!(bulk(&facts).pauses[0].release, Release::Timer);
}

#[test]
fn highest_segment_after_two_round_trips_is_a_tail_loss_probe() {
    let mut script = Script::asked();
    doubling(&mut script, 0.0, 0.0);
    let last = script.lines.last().unwrap().ms;
    for n in 0..4 {
        script.line(last + f64::from(n), B, [14_001 + n * MSS, 101], MSS);
    }
    script.line(last + 100.0, A, [101, 16_001], 0);
    script.line(last + 220.0, B, [17_001, 101], MSS);
    script.line(last + 320.0, A, [101, 18_001], 0);
    let kinds = script.run().directions[1].retransmitted;
    assert_eq!((kinds.fast, kinds.timeout, kinds.tail_probe), (0, 0, 1));
}

#[test]
fn sender_with_only_the_handshake_rtt_probes_before_its_timeout() {
    let mut script = Script::asked();
    // One large segment (offload): ACKs of parts of it are not RTT samples.
    script.line(100.0, B, [1, 101], 3 * MSS);
    script.line(200.0, A, [101, 2001], 0);
    script.line(500.0, B, [2001, 101], MSS);
    script.line(800.0, B, [2001, 101], MSS);
    script.line(900.0, A, [101, 3001], 0);
    let kinds = script.run().directions[1].retransmitted;
    assert_eq!((kinds.fast, kinds.timeout, kinds.tail_probe), (0, 1, 1));
}

#[test]
fn retransmission_reported_by_dsack_is_spurious() {
    let mut script = third_lost();
    script.line(305.1, B, [2001, 101], MSS);
    script.line(306.0, A, [101, 6001], 0);
    script.line(405.1, A, [101, 6001], 0).sack = &[(2001, 3001)];
    let kinds = script.run().directions[1].retransmitted;
    assert_eq!((kinds.fast, kinds.spurious), (0, 1));
}

#[test]
fn echo_of_the_original_timestamp_makes_a_retransmission_spurious() {
    let mut script = Script::asked();
    script.line(200.0, B, [1, 101], MSS).stamps = Some((200, 100));
    script.line(900.0, B, [1, 101], MSS).stamps = Some((900, 100));
    script.line(901.0, A, [101, 1001], 0).stamps = Some((901, 200));
    let kinds = script.run().directions[1].retransmitted;
    assert_eq!((kinds.timeout + kinds.tail_probe, kinds.spurious), (0, 1));
}

#[test]
fn echo_of_an_earlier_segment_in_the_same_tick_is_not_spurious() {
    let mut script = Script::asked();
    for n in 0..2 {
        script.line(200.0, B, [1 + n * MSS, 101], MSS).stamps = Some((200, 100));
    }
    script.line(300.0, A, [101, 1001], 0).stamps = Some((250, 200));
    // Two more; the last is lost, and the ACK of the previous one is delayed until the probe
    // arrives.
    for n in 2..4 {
        script.line(300.0, B, [1 + n * MSS, 101], MSS).stamps = Some((300, 250));
    }
    script.line(301.0, A, [101, 2001], 0).stamps = Some((251, 200));
    script.line(550.0, B, [3001, 101], MSS).stamps = Some((550, 251));
    script.line(650.0, A, [101, 4001], 0).stamps = Some((600, 300));
    let kinds = script.run().directions[1].retransmitted;
    assert_eq!((kinds.tail_probe, kinds.spurious), (1, 0));
}

#[test]
fn hole_filled_by_an_older_packet_is_reordering() {
    let mut script = Script::asked();
    for (ms, n, id) in [(200.0, 0, 10), (200.2, 2, 12), (200.4, 1, 11), (200.6, 3, 13)] {
        script.line(ms, B, [1 + n * MSS, 101], MSS).ip_id = id;
    }
    let direction = &script.run().directions[1];
    assert_eq!((direction.out_of_order, direction.retransmitted.fast), (1, 0));
    assert_eq!(direction.reorder_extent, Nanos::from_micros(200));
}

#[test]
fn hole_filled_by_a_newer_packet_is_a_loss_before_the_capture() {
    let mut script = Script::asked();
    for (ms, n, id) in [(200.0, 0, 10), (200.2, 2, 12), (200.3, 3, 13), (200.4, 4, 14)] {
        script.line(ms, B, [1 + n * MSS, 101], MSS).ip_id = id;
    }
    script.line(300.2, A, [101, 1001], 0).sack = &[(2001, 3001)];
    script.line(300.3, A, [101, 1001], 0).sack = &[(2001, 5001)];
    script.line(300.5, B, [1001, 101], MSS).ip_id = 15;
    let direction = &script.run().directions[1];
    assert_eq!(
        (direction.out_of_order, direction.retransmitted.fast, direction.retransmitted.unseen_original),
        (0, 1, 1)
    );
}

#[test]
fn hole_closed_without_a_retransmission_is_reordering_after_the_capture() {
    let mut script = third_lost();
    script.line(306.0, A, [101, 6001], 0);
    let direction = &script.run().directions[1];
    assert_eq!((direction.healed_holes, direction.retransmitted.fast), (1, 0));
}

#[test]
fn new_ack_with_the_first_sack_of_a_hole_heals_none() {
    // One ACK for the first two segments also SACKs the fourth: no hole below it was reported
    // before.
    let mut script = Script::asked();
    for n in 0..4 {
        script.line(200.0 + f64::from(n), B, [1 + n * MSS, 101], MSS);
    }
    script.line(300.0, A, [101, 2001], 0).sack = &[(3001, 4001)];
    script.line(300.1, B, [2001, 101], MSS);
    script.line(400.0, A, [101, 4001], 0);
    let direction = &script.run().directions[1];
    assert_eq!((direction.healed_holes, direction.retransmitted.fast), (0, 1));
}

#[test]
fn retransmission_directly_after_an_ack_is_not_a_timeout() {
    let mut script = third_lost();
    // The sender's application was silent for two seconds; then a late ACK with SACKs came, and the
    // retransmission that it triggered.
    script.line(2_500.0, A, [101, 2001], 0).sack = &[(3001, 6001)];
    script.line(2_500.1, B, [2001, 101], MSS);
    script.line(2_600.0, A, [101, 6001], 0);
    let kinds = script.run().directions[1].retransmitted;
    assert_eq!((kinds.fast, kinds.timeout), (1, 0));
}

#[test]
fn highest_of_several_segments_is_a_probe_after_any_silence() {
    let mut script = Script::opened();
    script.line(100.0, A, [1, 1], 100);
    script.line(200.0, B, [1, 101], MSS);
    script.line(300.0, A, [101, 1001], 0);
    for n in 1..4 {
        script.line(300.0 + f64::from(n), B, [1 + n * MSS, 101], MSS);
    }
    script.line(2_000.0, B, [3001, 101], MSS);
    script.line(4_000.0, B, [1001, 101], MSS);
    let kinds = script.run().directions[1].retransmitted;
    assert_eq!((kinds.tail_probe, kinds.timeout), (1, 1), "the timer would send the first of them");
}

#[test]
fn dsack_reports_the_newest_unreported_copy() {
    let mut script = third_lost();
    script.line(305.1, B, [2001, 101], MSS);
    script.line(306.0, A, [101, 6001], 0);
    // Already unnecessary when it is sent: the D-SACK reports this copy, and the first one was
    // necessary.
    script.line(310.0, B, [2001, 101], MSS);
    script.line(410.0, A, [101, 6001], 0).sack = &[(2001, 3001)];
    let kinds = script.run().directions[1].retransmitted;
    assert_eq!((kinds.fast, kinds.spurious), (1, 1));
}

#[test]
fn original_after_its_retransmission_is_reordered_and_spurious_once() {
    let mut script = Script::asked();
    let stamps = |ms: f64| Some((ms as u32, 100));
    for (ms, n) in [(200.0, 0), (200.2, 2), (200.3, 3), (200.4, 4)] {
        script.line(ms, B, [1 + n * MSS, 101], MSS).stamps = stamps(200.0);
    }
    script.line(200.5, A, [101, 1001], 0).sack = &[(2001, 5001)];
    // Sent at 300 in response to the ACK of 200, but captured before it.
    script.line(300.6, B, [1001, 101], MSS).stamps = stamps(300.0);
    script.line(300.7, A, [101, 5001], 0);
    script.line(320.0, B, [1001, 101], MSS).stamps = stamps(200.0);
    script.line(320.1, A, [101, 5001], 0).sack = &[(1001, 2001)];
    let direction = &script.run().directions[1];
    let kinds = direction.retransmitted;
    assert_eq!((direction.out_of_order, kinds.fast, kinds.spurious, kinds.unseen_original), (1, 0, 1, 0));
}
