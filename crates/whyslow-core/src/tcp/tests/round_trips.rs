//! Which ACKs are RTT samples.

use super::*;

/// Requests at these times (milliseconds), each answered with one segment after a millisecond; no
/// handshake was captured. The next request acknowledges each response.
fn requests(times: &[f64]) -> Script {
    let mut script = Script::new();
    for (nth, &ms) in (0u32..).zip(times) {
        script.line(ms, A, [1 + 100 * nth, 1 + 1000 * nth], 100);
        script.line(ms + 1.0, B, [1 + 1000 * nth, 101 + 100 * nth], 1000);
    }
    script
}

#[test]
fn ack_in_a_later_request_is_not_an_rtt_sample() {
    let rtt = requests(&[0.0, 60_000.0, 88_000.0]).run().rtt;
    assert!(rtt.min.is_none_or(|rtt| rtt <= Nanos::from_millis(10)), "{rtt:?}");
    assert!(rtt.p95.is_none_or(|rtt| rtt <= Nanos::from_millis(10)), "{rtt:?}");
    // The delay of an ACK cannot be separated from the network's.
    assert!(requests(&[0.0, 300.0, 600.0]).run().rtt.p50.is_some_and(|rtt| rtt < Nanos::from_millis(400)));
}

#[test]
fn ack_after_the_retransmission_timeout_is_not_an_rtt_sample() {
    let late = |ms: f64| {
        let mut script = Script::asked();
        script.line(ms, B, [1, 101], 0);
        script.run()
    };
    assert_eq!(late(40_000.0).rtt.p95, Some(Nanos::from_millis(100)), "the handshake's");
    let mut slow = Script::new();
    slow.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    slow.line(1.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
    slow.line(12_000.0, A, [1, 1], 100);
    let facts = slow.run();
    assert!(facts.rtt.min.is_none_or(|rtt| rtt <= Nanos::from_millis(10)), "{:?}", facts.rtt);
}

#[test]
fn round_trips_with_queueing_delay_are_measured() {
    let mut script = Script::opened();
    let (mut ms, mut trip) = (100.0, 100.0);
    for nth in 0..40 {
        script.line(ms, B, [1 + 1000 * nth, 1], 1000);
        script.line(ms + trip, A, [1, 1001 + 1000 * nth], 0);
        ms += trip;
        trip *= 1.1;
    }
    let rtt = script.run().rtt;
    assert!(rtt.p95.is_some_and(|rtt| rtt > Nanos::from_millis(3_000)), "{rtt:?}");
}

#[test]
fn response_times_include_dropped_transfers() {
    let mut script = Script::asked();
    let mut ms = 100.0;
    for nth in 0..3_000u32 {
        // One response in ten is slow.
        let wait = if nth % 10 == 0 { 400.0 } else { 110.0 };
        script.line(ms + wait, B, [1 + 1000 * nth, 101 + 100 * nth], 1000);
        ms += wait + 10.0;
        script.line(ms, A, [101 + 100 * nth, 1001 + 1000 * nth], 100);
    }
    let server = &script.run().directions[B];
    let kept = server.transfers.len();
    assert!(kept < 3_000, "{kept}");
    let times = server.response_times.unwrap();
    assert_eq!((times.count, times.p50), (3_000, Nanos::from_millis(110)));
    assert_eq!(times.p95, Nanos::from_millis(400));
}

#[test]
fn late_ack_of_a_segment_recorded_out_of_order_is_late() {
    let mut script = Script::asked();
    script.line(200.0, B, [1, 101], MSS);
    script.line(200.0, B, [1 + MSS, 101], MSS);
    script.line(300.0, A, [101, 1 + 2 * MSS], 0);
    script.line(299.95, B, [1 + 2 * MSS, 101], MSS);
    script.line(440.0, A, [101, 1 + 3 * MSS], 0);
    script.line(440.1, B, [1 + 3 * MSS, 101], MSS);
    script.line(540.1, A, [101, 1 + 4 * MSS], 0);
    let facts = script.run();
    let pause = facts.directions[1].transfers[0].pauses.last().unwrap();
    assert!((pause.ack_late - Nanos::from_millis(40)).0.abs() < 200_000, "{pause:?}");
    assert_eq!(facts.directions[1].ack_delay_min, Some(Nanos::from_millis(100)));
}
