//! Results from flights: slow start, caps, a window of the application.

use super::*;

#[test]
fn flights_smaller_than_any_buffer_are_messages() {
    let cap = |flight: u64| {
        let cut = attribute_time(&flights(&[flight; 8], Release::Ack), &context(100));
        cut.time(LimitingFactor::SenderCap) > Nanos::ZERO
    };
    assert!(cap(8_000));
    assert!(!cap(2_500));
}

#[test]
fn window_after_earlier_losses_is_not_a_cap() {
    let transfer = flights(&[8_000; 8], Release::Ack);
    let at = |first_loss| {
        attribute_time(&transfer, &Context { first_loss, ..context(100) }).time(LimitingFactor::SenderCap) > Nanos::ZERO
    };
    assert!(at(None));
    assert!(at(Some(Time::from_millis(900))), "a later one");
    assert!(!at(Some(Time::from_millis(-500))));
}

#[test]
fn long_plateau_after_a_loss_is_a_cap_if_no_transfer_had_more_in_flight() {
    let first_loss = Some(Time::from_millis(-500));
    let is_cap = |rounds: usize, largest_flight: u64| {
        let transfer = flights(&vec![8_000; rounds], Release::Ack);
        let context = Context { first_loss, largest_flight, ..context(100) };
        attribute_time(&transfer, &context).time(LimitingFactor::SenderCap) > Nanos::ZERO
    };
    assert!(is_cap(24, 8_000));
    assert!(!is_cap(24, 11_000), "a buffer had more room");
    assert!(!is_cap(18, 8_000), "CUBIC is as flat");
}

#[test]
fn equal_flights_are_a_sender_cap() {
    let cut = attribute_time(&flights(&[64_000; 8], Release::Ack), &context(100));
    assert_eq!(cut.shape.plateau.map(|plateau| plateau.bytes), Some(64_000));
    assert_eq!(cut.time(LimitingFactor::SenderCap), Nanos::from_millis(700));
}

#[test]
fn slowly_rising_flights_are_not_a_cap() {
    let rising: Vec<u64> = (0..12).map(|n| 64_000 + n * 700).collect();
    let cut = attribute_time(&flights(&rising, Release::Ack), &context(100));
    assert_eq!(cut.time(LimitingFactor::SenderCap), Nanos::ZERO);
    assert!(cut.time(LimitingFactor::CongestionAvoidance) >= Nanos::from_millis(1000));
}

#[test]
fn alternating_flights_are_one_cycle() {
    let cut = attribute_time(&flights(&[50_000, 14_000].repeat(5), Release::Ack), &context(100));
    let plateau = cut.shape.plateau.unwrap();
    assert_eq!(plateau.cycle, Some((64_000, Nanos::from_millis(200))));
}

#[test]
fn pauses_ended_by_messages_are_a_protocol_window() {
    let equal = attribute_time(&credited(&[32_000; 8]), &context(100));
    assert_eq!(equal.time(LimitingFactor::ProtocolWindow), Nanos::from_millis(700));
    // A piece of the credit that is under way makes a flight smaller.
    let pieces =
        attribute_time(&credited(&[32_000, 24_000, 24_000, 32_000, 32_000, 24_000, 24_000, 32_000]), &context(100));
    assert_eq!(pieces.time(LimitingFactor::ProtocolWindow), Nanos::from_millis(700));
    assert_eq!(pieces.shape.plateau.map(|plateau| plateau.bytes), Some(32_000));
    let growing: Vec<u64> = (0..12).map(|n| 32_000 + n * 1_000).collect();
    let cut = attribute_time(&credited(&growing), &context(100));
    assert_eq!(
        cut.time(LimitingFactor::ProtocolWindow),
        Nanos::from_millis(500),
        "only the pauses that nothing else explains"
    );
}

#[test]
fn window_filled_by_a_queue_is_not_the_limit() {
    let limit_at = |rtt: i64| {
        let mut transfer = flights(&[300_000; 6], Release::WindowAck);
        for round in &mut transfer.rounds {
            (round.window, round.rtt) = (Some(300_000), Some(Nanos::from_millis(100)));
            round.window_full = Nanos::from_millis(80);
        }
        // ACKs keep coming from a queue.
        transfer.pauses.iter_mut().for_each(|gap| gap.start = gap.end - Nanos::from_millis(20));
        transfer.acked_rate = RateSpread { p10: 24e6, p50: 24e6, p90: 24e6, bins: 20 };
        attribute_time(&transfer, &context(rtt)).spans[0].limit
    };
    assert_eq!(limit_at(100), LimitingFactor::ReceiveWindow);
    assert_eq!(limit_at(14), LimitingFactor::Bandwidth, "the path alone takes 14 ms of the 100");
}

#[test]
fn spurious_retransmissions_do_not_end_slow_start() {
    let mut transfer = flights(&[10_000, 20_000, 38_000, 76_000, 150_000, 300_000, 5_000], Release::Ack);
    (transfer.rounds[2].retransmitted, transfer.retransmitted.spurious) = (1, 1);
    let seq = 30_001;
    let lost = Loss { time: transfer.rounds[1].start, seq, bytes: 1_000, spurious: true, ..Loss::default() };
    transfer.losses = vec![lost];
    let slow_start = |transfer: &TransferFacts| attribute_time(transfer, &context(100)).time(LimitingFactor::SlowStart);
    assert_eq!(slow_start(&transfer), Nanos::from_millis(600));
    (transfer.losses[0].spurious, transfer.retransmitted_bytes) = (false, 1_000);
    assert_eq!(slow_start(&transfer), Nanos::from_millis(100), "what was lost ends it");
}

#[test]
fn window_reduced_by_a_loss_is_not_a_cap() {
    let mut sizes = vec![10_000, 20_000, 40_000, 80_000, 60_000];
    sizes.extend([20_000; 20]);
    let limit_of = |resent: u32| {
        let mut transfer = flights(&sizes, Release::Ack);
        transfer.rounds[3].retransmitted = resent;
        transfer.retransmitted_bytes = u64::from(resent) * MSS;
        attribute_time(&transfer, &context(100)).rounds[15]
    };
    assert_eq!(limit_of(1), LimitingFactor::CongestionAvoidance);
    assert_eq!(limit_of(0), LimitingFactor::CongestionAvoidance, "four times as much was in flight before");
    sizes[3..5].fill(40_000);
    let twice = attribute_time(&flights(&sizes, Release::Ack), &context(100));
    assert_eq!(twice.rounds[15], LimitingFactor::SenderCap, "the same buffer holds less in small pieces");
}

#[test]
fn protocol_window_is_found_after_slow_start() {
    let mut sizes: Vec<u64> = (0..8).map(|n| 20_000 + 6_000 * n).collect();
    // Credit in pieces: the flights are not alike.
    sizes.extend((0..16).map(|n| 60_000 + 5_000 * (n % 3)));
    let transfer = credited(&sizes);
    let cut = attribute_time(&transfer, &context(100));
    let granted = cut.shape.plateau.unwrap();
    assert_eq!((cut.rounds[15], granted.bytes), (LimitingFactor::ProtocolWindow, 70_000));
    assert!(granted.first >= 4, "{granted:?}");
}

#[test]
fn doubling_flights_are_slow_start_throughout() {
    let cut = attribute_time(&flights(&[10_000, 20_000, 40_000, 80_000, 5_000], Release::Ack), &context(100));
    assert_eq!(cut.time(LimitingFactor::SlowStart), Nanos::from_millis(400));
    assert_eq!(cut.time(LimitingFactor::RoundTrip), Nanos::from_millis(100));
    assert_eq!(cut.rounds[0], LimitingFactor::SlowStart);
}
