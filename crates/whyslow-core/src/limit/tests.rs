#![allow(clippy::unwrap_used)]

use super::*;
use crate::tcp::facts::{Loss, RateSpread, RoundFacts};
use proptest::prelude::*;

pub(crate) const MSS: u64 = 1000;

pub(crate) fn context(rtt_ms: i64) -> Context {
    Context {
        mss: MSS,
        rtt: Some(Nanos::from_millis(rtt_ms)),
        epsilon: Nanos::from_millis(rtt_ms.max(10) / 10),
        one_direction: false,
        elided: false,
        near_receiver: false,
        has_timestamps: true,
        next_to_receiver: false,
        opening_seen: true,
        small_window: None,
        announces_length: false,
        first_loss: None,
        server_push: Default::default(),
        is_multipath: false,
        path_rate: None,
        pooled_rate: None,
    }
}

/// A transfer of these flights, a round trip of 100 ms apart, each but the last followed by a wait
/// for an ACK.
pub(crate) fn flights(sizes: &[u64], release: Release) -> TransferFacts {
    let at = |index: usize| Nanos::from_millis(100 * index as i64);
    let rounds: Vec<RoundFacts> = sizes
        .iter()
        .enumerate()
        .map(|(index, &bytes)| RoundFacts {
            start: at(index),
            last_send: at(index),
            bytes,
            in_flight: bytes,
            window: Some(1_000_000),
            merged: 1,
            ..RoundFacts::default()
        })
        .collect();
    let gaps = (1..sizes.len()).map(|index| gap(at(index - 1), at(index), release)).collect();
    TransferFacts {
        seq: (1, 1 + sizes.iter().sum::<u64>()),
        end: at(sizes.len()),
        last_send: at(sizes.len() - 1),
        acknowledged: true,
        rounds_total: sizes.len() as u64,
        max_in_flight: sizes.iter().copied().max().unwrap_or(0),
        rounds,
        gaps,
        ..TransferFacts::default()
    }
}

pub(crate) fn gap(start: Nanos, end: Nanos, release: Release) -> Gap {
    Gap {
        release,
        in_flight: MSS,
        window_room: Some(100_000),
        before_len: MSS,
        last_ack: true,
        after_len: MSS,
        ..Gap::example(start, end)
    }
}

#[test]
fn doubling_flights_are_slow_start_to_the_end() {
    let cut = partition(&flights(&[10_000, 20_000, 40_000, 80_000, 5_000], Release::Ack), &context(100));
    assert_eq!(cut.time(Limit::SlowStart), Nanos::from_millis(400));
    assert_eq!(cut.time(Limit::RoundTrip), Nanos::from_millis(100));
    assert_eq!(cut.rounds[0], Limit::SlowStart);
}

#[test]
fn a_reader_that_leaves_the_window_closed_is_no_full_path() {
    let mut transfer = flights(&[60_000; 20], Release::WindowAck);
    transfer.acked_rate = RateSpread { p10: 4.7e6, p50: 4.8e6, p90: 4.9e6, bins: 100 };
    transfer.rounds.iter_mut().for_each(|round| round.rtt = Some(Nanos::from_millis(100)));
    let bandwidth = |transfer: &TransferFacts| partition(transfer, &context(40)).time(Limit::Bandwidth);
    assert!(bandwidth(&transfer) > Nanos::ZERO);
    for gap in transfer.gaps.iter_mut().step_by(2) {
        gap.closed = Some((gap.end - Nanos::from_millis(20), Nanos::from_millis(20)));
    }
    assert_eq!(bandwidth(&transfer), Nanos::ZERO);
    let cut = partition(&transfer, &context(40));
    assert_eq!(cut.time(Limit::ZeroWindow), Nanos::from_millis(200));
    assert!(cut.time(Limit::ReceiveWindow) > Nanos::from_millis(1_500));
}

#[test]
fn the_rest_of_a_write_that_waits_for_an_ack_is_no_slow_start() {
    let held = |flight: u64, rest: u64| {
        let mut transfer = flights(&[flight, rest], Release::Ack);
        transfer.gaps[0].in_flight = flight;
        transfer.gaps[0].after_len = rest;
        let cut = partition(&transfer, &context(100));
        (cut.time(Limit::NagleDelayedAck), cut.time(Limit::SlowStart))
    };
    let whole = (Nanos::from_millis(100), Nanos::ZERO);
    assert_eq!(held(1_500, 400), whole);
    assert_eq!(held(7_300, 400), whole, "more than any initial window but ten segments, and less than those");
    let none = (Nanos::ZERO, Nanos::from_millis(100));
    assert_eq!(held(4_000, 400), none, "an initial window of four segments, used up");
    assert_eq!(held(10_000, 400), none, "and of ten");
    assert_eq!(held(2_000, 1_000), none, "Nagle holds no full segment");
}

#[test]
fn a_sender_that_begins_with_a_small_window_is_not_held_by_nagle() {
    let mut transfer = flights(&[1_000, 400], Release::Ack);
    transfer.gaps[0].after_len = 400;
    let at = |window| partition(&transfer, &Context { small_window: window, ..context(100) });
    assert_eq!(at(None).time(Limit::NagleDelayedAck), Nanos::from_millis(100));
    assert_eq!(at(Some(2_000)).time(Limit::NagleDelayedAck), Nanos::from_millis(100), "a window of two has room left");
    assert_eq!(at(Some(1_000)).time(Limit::SlowStart), Nanos::from_millis(100));
}

#[test]
fn a_silence_after_which_one_segment_goes_alone_is_the_timers() {
    let ms = Nanos::from_millis;
    let after = |flight: u64| {
        let mut transfer = flights(&[10_000, 20_000, flight, 2 * flight], Release::Ack);
        for (round, start) in transfer.rounds.iter_mut().zip([0, 100, 500, 600]) {
            (round.start, round.last_send) = (ms(start), ms(start));
        }
        transfer.gaps[1] = Gap { idle: true, ..gap(ms(100), ms(500), Release::Nothing) };
        transfer.gaps[2] = gap(ms(500), ms(600), Release::Ack);
        (transfer.last_send, transfer.end) = (ms(600), ms(700));
        let cut = partition(&transfer, &context(100));
        (cut.time(Limit::Timeout), cut.time(Limit::Application))
    };
    assert_eq!(after(MSS), (ms(400), Nanos::ZERO), "a timer leaves a window of one segment");
    assert_eq!(after(10 * MSS), (Nanos::ZERO, ms(400)), "an idle sender begins with its initial window");
}

/// Two flights with a pause of 400 ms between them that nothing seen ended, behind a short segment:
/// what it counts as.
fn pause_of(change: impl Fn(&mut TransferFacts), context: &Context) -> Limit {
    let ms = Nanos::from_millis;
    let mut transfer = flights(&[20_000, 20_000], Release::Nothing);
    for (round, start) in transfer.rounds.iter_mut().zip([0, 400]) {
        (round.start, round.last_send) = (ms(start), ms(start));
    }
    transfer.gaps[0] = Gap {
        idle: true,
        app_limited: true,
        snd_max: 20_001,
        in_flight: 20_000,
        before_len: 500,
        ..gap(ms(0), ms(400), Release::Nothing)
    };
    (transfer.last_send, transfer.end) = (ms(400), ms(500));
    transfer.answered = Some(Default::default());
    change(&mut transfer);
    let cut = partition(&transfer, context);
    cut.spans.iter().max_by_key(|span| span.length()).unwrap().limit
}

#[test]
fn a_pause_is_the_programs_only_where_it_had_nothing_to_send() {
    assert_eq!(pause_of(|_| (), &context(100)), Limit::Application);
    assert_eq!(
        pause_of(|transfer| transfer.gaps[0].is_retransmit = true, &context(100)),
        Limit::Timeout,
        "it had it all along"
    );
    assert_eq!(pause_of(|transfer| transfer.gaps[0].unseen = true, &context(100)), Limit::Unknown);
    let lost = Loss { time: Nanos::ZERO, seq: 15_001, bytes: 1_000, ..Loss::default() };
    let outstanding = |idle: bool| {
        move |transfer: &mut TransferFacts| {
            transfer.gaps[0].idle = idle;
            transfer.losses = vec![lost];
        }
    };
    assert_eq!(pause_of(outstanding(false), &context(100)), Limit::Timeout, "something of it was lost by then");
    assert_eq!(pause_of(outstanding(true), &context(100)), Limit::Application, "and was there again");
    let multipath = Context { is_multipath: true, ..context(100) };
    assert_eq!(pause_of(|_| (), &multipath), Limit::Unknown, "what it had to send may have gone over another");
}

#[test]
fn what_is_pushed_in_small_messages_waits_for_nobody() {
    let small = |transfer: &mut TransferFacts| transfer.max_in_flight = 2 * MSS;
    let pushed = |transfer: &mut TransferFacts| {
        small(transfer);
        transfer.answered = None;
    };
    assert_eq!(pause_of(small, &context(100)), Limit::Application);
    assert_eq!(pause_of(pushed, &context(100)), Limit::Idle);
    let either = Context { server_push: ServerPush::Unknown, ..context(100) };
    assert_eq!(pause_of(small, &either), Limit::Idle, "of a shell it need be no answer");
    let lossy = |transfer: &mut TransferFacts| {
        pushed(transfer);
        transfer.retransmitted.timeout = 1;
    };
    assert_eq!(pause_of(lossy, &context(100)), Limit::Unknown, "it may be a timer's silence");
}

#[test]
fn flights_smaller_than_any_buffer_are_messages() {
    let cap = |flight: u64| {
        let cut = partition(&flights(&[flight; 8], Release::Ack), &context(100));
        cut.time(Limit::SenderCap) > Nanos::ZERO
    };
    assert!(cap(8_000));
    assert!(!cap(2_500));
}

#[test]
fn a_window_that_earlier_losses_left_is_no_cap() {
    let transfer = flights(&[8_000; 8], Release::Ack);
    let at =
        |first_loss| partition(&transfer, &Context { first_loss, ..context(100) }).time(Limit::SenderCap) > Nanos::ZERO;
    assert!(at(None));
    assert!(at(Some(Nanos::from_millis(900))), "a later one");
    assert!(!at(Some(Nanos::from_millis(-500))));
}

#[test]
fn equal_flights_are_a_cap_of_the_sender() {
    let cut = partition(&flights(&[64_000; 8], Release::Ack), &context(100));
    assert_eq!(cut.shape.plateau.map(|plateau| plateau.bytes), Some(64_000));
    assert_eq!(cut.time(Limit::SenderCap), Nanos::from_millis(700));
}

#[test]
fn slowly_rising_flights_are_no_cap() {
    let rising: Vec<u64> = (0..12).map(|n| 64_000 + n * 700).collect();
    let cut = partition(&flights(&rising, Release::Ack), &context(100));
    assert_eq!(cut.time(Limit::SenderCap), Nanos::ZERO);
    assert!(cut.time(Limit::CongestionAvoidance) >= Nanos::from_millis(1000));
}

#[test]
fn a_large_and_a_small_flight_in_turn_are_one_cycle() {
    let cut = partition(&flights(&[50_000, 14_000].repeat(5), Release::Ack), &context(100));
    let plateau = cut.shape.plateau.unwrap();
    assert_eq!(plateau.cycle, Some((64_000, Nanos::from_millis(200))));
}

#[test]
fn what_ended_a_pause_names_its_limit() {
    for (release, limit) in [
        (Release::WindowAck, Limit::ReceiveWindow),
        (Release::WindowUpdate, Limit::ReceiveWindow),
        (Release::Timer, Limit::Timeout),
        (Release::Peer, Limit::ProtocolWindow),
    ] {
        let cut = partition(&flights(&[5_000; 6], release), &context(100));
        assert_eq!(cut.time(limit), Nanos::from_millis(500), "{release:?}");
    }
}

/// Flights whose pauses end with a message of the receiver, one in two of which acknowledges all.
fn credited(sizes: &[u64]) -> TransferFacts {
    let mut transfer = flights(sizes, Release::Peer);
    transfer.gaps.iter_mut().for_each(|gap| gap.with_peer_payload = true);
    transfer.gaps.iter_mut().step_by(2).for_each(|gap| gap.release = Release::Ack);
    transfer
}

#[test]
fn messages_that_end_the_pauses_are_a_window_of_the_programs() {
    let equal = partition(&credited(&[32_000; 8]), &context(100));
    assert_eq!(equal.time(Limit::ProtocolWindow), Nanos::from_millis(700));
    // A piece of the credit that is under way makes a flight smaller.
    let pieces = partition(&credited(&[32_000, 24_000, 24_000, 32_000, 32_000, 24_000, 24_000, 32_000]), &context(100));
    assert_eq!(pieces.time(Limit::ProtocolWindow), Nanos::from_millis(700));
    assert_eq!(pieces.shape.plateau.map(|plateau| plateau.bytes), Some(32_000));
    let growing: Vec<u64> = (0..12).map(|n| 32_000 + n * 1_000).collect();
    let cut = partition(&credited(&growing), &context(100));
    assert_eq!(cut.time(Limit::ProtocolWindow), Nanos::from_millis(500), "only the pauses that nothing else explains");
}

#[test]
fn a_link_s_rate_within_flights_is_no_limit_between_them() {
    // 400 kB in 10 ms, and then 90 ms of waiting.
    let mut transfer = flights(&[400_000; 8], Release::Ack);
    for (round, gap) in transfer.rounds.iter_mut().zip(&mut transfer.gaps) {
        round.last_send = round.start + Nanos::from_millis(10);
        gap.start = round.last_send;
    }
    transfer.acked_rate = RateSpread { p10: 310e6, p50: 320e6, p90: 330e6, bins: 300 };
    let cut = partition(&transfer, &context(100));
    assert_eq!(cut.time(Limit::SenderCap), Nanos::from_millis(700));
    // The same flights one after the other are the link's doing, where they queue.
    transfer.acked_rate = RateSpread { p10: 31e6, p50: 32e6, p90: 33e6, bins: 300 };
    assert_eq!(partition(&transfer, &context(100)).time(Limit::Bandwidth), Nanos::ZERO);
    transfer.rounds.iter_mut().for_each(|round| round.rtt = Some(Nanos::from_millis(100)));
    assert!(partition(&transfer, &context(50)).time(Limit::Bandwidth) >= Nanos::from_millis(700));
}

#[test]
fn an_empty_buffer_is_the_applications() {
    let mut transfer = flights(&[5_000; 6], Release::Nothing);
    transfer.gaps.iter_mut().for_each(|gap| gap.idle = true);
    assert_eq!(partition(&transfer, &context(20)).time(Limit::Application), Nanos::from_millis(500));
    // Unless what lies between was never captured.
    transfer.gaps.iter_mut().for_each(|gap| gap.unseen = true);
    let elided = Context { elided: true, ..context(20) };
    assert_eq!(partition(&transfer, &elided).time(Limit::Application), Nanos::ZERO);
}

#[test]
fn what_came_late_next_to_the_receiver_may_have_stood_in_a_queue() {
    let near = Context { near_receiver: true, next_to_receiver: true, ..context(20) };
    let program = |length: i64, change: fn(&mut Gap)| {
        let mut transfer = flights(&[5_000; 6], Release::Nothing);
        for pause in &mut transfer.gaps {
            (pause.idle, pause.before_len, pause.after_len) = (true, MSS, MSS);
            change(pause);
        }
        let end = transfer.gaps[0].start + Nanos::from_millis(length);
        transfer.gaps.truncate(1);
        transfer.gaps[0].end = end;
        let cut = partition(&transfer, &near);
        (cut.time(Limit::Application) > Nanos::ZERO, cut.time(Limit::Unknown) > Nanos::ZERO)
    };
    assert_eq!(program(60, |_| {}), (false, true), "between full segments");
    assert_eq!(program(60, |pause| pause.before_len = MSS - 1), (true, false), "what it was given ended there");
    assert_eq!(program(60, |pause| pause.app_limited = true), (true, false));
    let stamped: fn(&mut Gap) = |pause| pause.sent_apart = Some(pause.end - pause.start);
    assert_eq!(program(60, stamped), (true, false), "the sender's clock tells");
    assert!(program(1_200, |_| {}).0, "the timer would have run out");
}

#[test]
fn a_program_that_answers_credit_late_had_waited_for_it() {
    let ms = Nanos::from_millis;
    let mut transfer = credited(&[32_000; 10]);
    // Two messages in three find the sending host busy for 30 ms.
    for (nth, pause) in transfer.gaps.iter_mut().enumerate().filter(|(nth, _)| nth % 3 > 0) {
        (pause.release, pause.with_peer_payload, pause.app_limited) = (Release::Nothing, false, true);
        pause.peer_payload_at = Some(ms(100 * nth as i64 + 70));
    }
    let cut = partition(&transfer, &context(60));
    assert_eq!(cut.time(Limit::Application), ms(6 * 30));
    assert_eq!(cut.time(Limit::ProtocolWindow), ms(3 * 100 + 6 * 70));
}

#[test]
fn small_messages_are_held_by_nagle_or_by_their_program() {
    let messages = |release: Release| {
        let mut transfer = flights(&[300; 4], release);
        transfer.gaps.iter_mut().for_each(|gap| (gap.in_flight, gap.before_len, gap.after_len) = (300, 300, 300));
        transfer
    };
    let time = |transfer: &TransferFacts, limit: Limit| partition(transfer, &context(100)).time(limit);
    let whole = Nanos::from_millis(300);
    let held = messages(Release::Ack);
    assert_eq!(time(&held, Limit::NagleDelayedAck), whole, "each leaves with the ACK of the one before");
    let mut several = held.clone();
    several.gaps.iter_mut().for_each(|gap| gap.in_flight = 600);
    assert_eq!(time(&several, Limit::Application), whole, "Nagle lets no two be outstanding");
    let mut talks = held;
    talks.gaps.iter_mut().for_each(|gap| gap.with_peer_payload = true);
    assert_eq!(time(&talks, Limit::Application), whole);
    assert_eq!(time(&messages(Release::Peer), Limit::Application), whole, "an answer, or credit");
}

#[test]
fn the_last_ack_of_a_message_is_waited_for_only_if_a_queue_made_it_late() {
    let last = |late: i64, rounds: usize| {
        let mut transfer = flights(&vec![5_000; rounds], Release::Ack);
        transfer.segments = 5 * rounds as u64;
        transfer.end = transfer.last_send + Nanos::from_millis(100 + late);
        transfer.rounds.iter_mut().for_each(|round| round.ack_late = Some(Nanos::from_millis(60)));
        let cut = partition(&transfer, &context(100));
        (cut.time(Limit::Idle).0 / 1_000_000, cut.time(Limit::Unknown).0 / 1_000_000)
    };
    // Ten more are tolerance.
    assert_eq!(last(210, 1), (140, 60));
    assert_eq!(last(210, 3), (140, 60));
    assert_eq!(last(60, 3), (0, 50));
    assert_eq!(last(900, 3), (0, 890), "no receiver holds an ACK back for so long");
}

#[test]
fn copies_of_what_had_arrived_are_waited_for_by_nobody() {
    let mut transfer = flights(&[5_000, 5_000, 1_000], Release::Ack);
    let sent = Nanos::from_millis(200);
    let again = sent + Nanos::from_millis(335);
    transfer.gaps.push(Gap { snd_max: 11_001, ..gap(sent, again, Release::Timer) });
    transfer.rounds.push(RoundFacts {
        start: again,
        last_send: again,
        retransmitted: 1,
        merged: 1,
        ..RoundFacts::default()
    });
    (transfer.last_send, transfer.end) = (again, again + Nanos::from_millis(100));
    let lost = |transfer: &TransferFacts| {
        let cut = partition(transfer, &context(100));
        let whole: Nanos = cut.spans.iter().map(Span::length).sum();
        assert_eq!((whole, cut.rounds.len()), (transfer.duration(), 4));
        (cut.time(Limit::Timeout), cut.time(Limit::Idle))
    };
    assert_eq!(lost(&transfer), (Nanos::from_millis(335), Nanos::ZERO));
    transfer.tail_is_spurious = true;
    assert_eq!(lost(&transfer), (Nanos::ZERO, Nanos::from_millis(335 + 100 - 110)));
}

#[test]
fn messages_that_nobody_asked_for_leave_nobody_waiting() {
    let pauses = |flight: u64, asked: bool| {
        let mut transfer = flights(&[flight; 8], Release::Nothing);
        transfer.gaps.iter_mut().for_each(|gap| {
            (gap.idle, gap.app_limited, gap.in_flight, gap.before_len, gap.after_len) =
                (true, true, flight, flight.min(300), 300);
        });
        transfer.answered = asked.then(Default::default);
        let cut = partition(&transfer, &context(10));
        (cut.time(Limit::Idle) > Nanos::from_millis(400), cut.time(Limit::Application) > Nanos::from_millis(400))
    };
    assert_eq!(pauses(300, false), (true, false), "lines of a log");
    assert_eq!(pauses(4 * MSS, false), (true, false));
    assert_eq!(pauses(8 * MSS, false), (false, true), "a program that reads too slowly what it sends");
    assert_eq!(pauses(300, true), (true, false), "a row of messages");
    assert_eq!(pauses(2 * MSS, true), (false, true), "an answer in several writes");
}

#[test]
fn a_programs_pause_is_no_round_trip_next_to_the_receiver() {
    let near = Context { near_receiver: true, ..context(100) };
    let mut transfer = flights(&[5_000; 4], Release::Ack);
    assert_eq!(near.round_trip(&transfer, 1), Some(Nanos::from_millis(100)));
    (transfer.gaps[1].release, transfer.gaps[1].idle) = (Release::Nothing, true);
    assert_eq!(near.round_trip(&transfer, 1), None);
    assert_eq!(near.round_trip(&transfer, 0), Some(Nanos::from_millis(100)));
    (transfer.gaps[1].release, transfer.gaps[1].idle) = (Release::Peer, false);
    assert_eq!(near.round_trip(&transfer, 1), None);
}

#[test]
fn a_held_back_ack_is_told_from_the_path() {
    let mut transfer = flights(&[5_000; 6], Release::Ack);
    transfer.gaps.iter_mut().for_each(|gap| gap.ack_late = Nanos::from_millis(40));
    let cut = partition(&transfer, &context(60));
    assert_eq!(cut.time(Limit::AckDelay), Nanos::from_millis(5 * 40));
    assert_eq!(
        cut.time(Limit::Idle),
        Nanos::from_millis(34),
        "of the last ACK, 34 ms after path and tolerance, nobody has anything"
    );
    transfer.gaps.iter_mut().for_each(|gap| gap.after_len = 300);
    transfer.gaps.iter_mut().for_each(|gap| (gap.before_len, gap.in_flight) = (300, 300));
    assert_eq!(partition(&transfer, &context(60)).time(Limit::NagleDelayedAck), Nanos::from_millis(500));
}

#[test]
fn one_steady_rate_is_bandwidth() {
    let mut transfer = flights(&[100_000; 10], Release::Nothing);
    transfer.acked_rate = RateSpread { p10: 7.9e6, p50: 8e6, p90: 8.1e6, bins: 50 };
    transfer.rounds.iter_mut().for_each(|round| round.rtt = Some(Nanos::from_millis(100)));
    let cut = partition(&transfer, &context(20));
    assert_eq!(cut.shape.steady, Some(8e6));
    assert!(cut.time(Limit::Bandwidth) >= Nanos::from_millis(900));
}

#[test]
fn with_one_direction_only_nothing_is_known() {
    let cut = partition(&flights(&[64_000; 8], Release::Ack), &Context { one_direction: true, ..context(100) });
    assert_eq!(cut.times().len(), 1);
    assert_eq!(cut.times()[0].limit, Limit::Unknown);
}

#[test]
fn a_window_counts_as_closed_while_it_was() {
    let ms = Nanos::from_millis;
    let times = |release: Release, closed: i64| {
        let mut transfer = flights(&[60_000, 60_000], Release::Ack);
        transfer.gaps[0].release = release;
        (transfer.gaps[0].idle, transfer.gaps[0].app_limited) = (true, true);
        transfer.gaps[0].closed = Some((ms(30), ms(closed)));
        let cut = partition(&transfer, &context(100));
        [Limit::ReceiveWindow, Limit::ZeroWindow, Limit::Application].map(|limit| cut.time(limit))
    };
    assert_eq!(times(Release::WindowUpdate, 70), [ms(30), ms(70), ms(0)]);
    assert_eq!(times(Release::WindowAck, 20), [ms(80), ms(20), ms(0)], "open again, and full again");
    assert_eq!(times(Release::Nothing, 20), [ms(30), ms(20), ms(50)], "open again, and nothing was written");
}

#[test]
fn many_segments_on_their_way_leave_no_ack_to_be_held_back() {
    let held = |in_flight: u64, last_ack: bool| {
        let mut transfer = flights(&[50_000, 50_000], Release::Ack);
        let pause = &mut transfer.gaps[0];
        (pause.ack_late, pause.in_flight, pause.last_ack) = (Nanos::from_millis(48), in_flight, last_ack);
        partition(&transfer, &context(100)).time(Limit::AckDelay)
    };
    assert_eq!(held(2_000, false), Nanos::from_millis(48));
    assert_eq!(held(50_000, false), Nanos::ZERO, "a slow link spaces them");
    assert_eq!(held(50_000, true), Nanos::from_millis(48), "nothing else was on its way");
}

#[test]
fn a_window_that_is_full_because_a_queue_is_does_not_hold_the_path() {
    let limit_at = |rtt: i64| {
        let mut transfer = flights(&[300_000; 6], Release::WindowAck);
        for round in &mut transfer.rounds {
            (round.window, round.rtt) = (Some(300_000), Some(Nanos::from_millis(100)));
        }
        transfer.acked_rate = RateSpread { p10: 24e6, p50: 24e6, p90: 24e6, bins: 20 };
        partition(&transfer, &context(rtt)).spans[0].limit
    };
    assert_eq!(limit_at(100), Limit::ReceiveWindow);
    assert_eq!(limit_at(14), Limit::Bandwidth, "the path alone takes 14 ms of the 100");
}

#[test]
fn copies_of_what_had_arrived_leave_slow_start_as_it_was() {
    let mut transfer = flights(&[10_000, 20_000, 38_000, 76_000, 150_000, 300_000, 5_000], Release::Ack);
    (transfer.rounds[2].retransmitted, transfer.retransmitted.spurious) = (1, 1);
    let seq = 30_001;
    let lost = Loss { time: transfer.rounds[1].start, seq, bytes: 1_000, spurious: true, ..Loss::default() };
    transfer.losses = vec![lost];
    let slow_start = |transfer: &TransferFacts| partition(transfer, &context(100)).time(Limit::SlowStart);
    assert_eq!(slow_start(&transfer), Nanos::from_millis(600));
    (transfer.losses[0].spurious, transfer.retransmitted_bytes) = (false, 1_000);
    assert_eq!(slow_start(&transfer), Nanos::from_millis(100), "what was lost ends it");
}

#[test]
fn a_window_that_a_loss_cut_is_no_cap_however_long_it_stays() {
    let mut sizes = vec![10_000, 20_000, 40_000, 80_000, 60_000];
    sizes.extend([20_000; 20]);
    let limit_of = |resent: u32| {
        let mut transfer = flights(&sizes, Release::Ack);
        transfer.rounds[3].retransmitted = resent;
        transfer.retransmitted_bytes = u64::from(resent) * MSS;
        partition(&transfer, &context(100)).rounds[15]
    };
    assert_eq!(limit_of(1), Limit::CongestionAvoidance);
    assert_eq!(limit_of(0), Limit::CongestionAvoidance, "four times as much was in flight before");
    sizes[3..5].fill(40_000);
    let twice = partition(&flights(&sizes, Release::Ack), &context(100));
    assert_eq!(twice.rounds[15], Limit::SenderCap, "the same buffer holds less in small pieces");
}

#[test]
fn a_programs_window_is_seen_behind_one_of_tcps_that_opens() {
    let mut sizes: Vec<u64> = (0..8).map(|n| 20_000 + 6_000 * n).collect();
    // Credit in pieces: the flights are not alike.
    sizes.extend((0..16).map(|n| 60_000 + 5_000 * (n % 3)));
    let transfer = credited(&sizes);
    let cut = partition(&transfer, &context(100));
    let granted = cut.shape.plateau.unwrap();
    assert_eq!((cut.rounds[15], granted.bytes), (Limit::ProtocolWindow, 70_000));
    assert!(granted.first >= 4, "{granted:?}");
}

fn any_release() -> impl Strategy<Value = Release> {
    prop::sample::select(vec![
        Release::WindowAck,
        Release::Ack,
        Release::WindowUpdate,
        Release::Peer,
        Release::Timer,
        Release::Nothing,
    ])
}

prop_compose! {
    /// Rounds and pauses at any times, overlapping or not.
    fn any_transfer()(
        starts in prop::collection::vec((0i64..1000, 0u64..200_000, 0u32..3), 1..20),
        pauses in prop::collection::vec((0i64..1000, 0i64..300, any_release(), any::<[bool; 5]>(), 0i64..400), 0..30),
        tail in 0i64..500,
        steady in any::<bool>(),
    ) -> TransferFacts {
        let ms = Nanos::from_millis;
        let mut starts = starts;
        starts.sort_unstable();
        let first = ms(starts[0].0);
        let rounds: Vec<RoundFacts> = starts.iter().map(|&(start, bytes, resent)| RoundFacts {
            start: ms(start), last_send: ms(start), bytes, in_flight: bytes, retransmitted: resent, merged: 1, ..RoundFacts::default()
        }).collect();
        let last_send = rounds.last().unwrap().start + ms(tail / 2);
        let mut gaps: Vec<Gap> = pauses.iter().map(|&(start, length, release, flags, late)| Gap {
            closed: flags[0].then_some((ms(start), ms(length))), recovering: flags[1], app_limited: flags[2], with_peer_payload: flags[0], tail: flags[2], idle: flags[3], last_ack: flags[4],
            ack_late: ms(late), ..gap(ms(start).max(first), ms(start + length).max(first).min(last_send), release)
        }).filter(|gap| gap.end > gap.start).collect();
        gaps.sort_by_key(|gap| gap.start);
        let rate = if steady { RateSpread { p10: 1e6, p50: 1e6, p90: 1e6, bins: 20 } } else { RateSpread::default() };
        TransferFacts {
            seq: (1, 1 + rounds.iter().map(|round| round.bytes).sum::<u64>()),
            start: first, end: last_send + ms(tail), last_send, acknowledged: true,
            rounds_total: rounds.len() as u64, rounds, gaps, acked_rate: rate, ..TransferFacts::default()
        }
    }
}

proptest! {
    #[test]
    fn the_parts_meet_and_make_up_the_whole(transfer in any_transfer(), rtt in 0i64..200, most in 1usize..20) {
        let cut = partition(&transfer, &context(rtt));
        let mut at = transfer.start;
        for span in &cut.spans {
            prop_assert_eq!(span.start, at);
            prop_assert!(span.end > span.start);
            at = span.end;
        }
        prop_assert_eq!(at, transfer.end);
        prop_assert_eq!(cut.rounds.len(), transfer.rounds.len());
        prop_assert_eq!(cut.times().iter().map(|part| part.time).sum::<Nanos>(), transfer.duration());
        let line = cut.timeline(most);
        prop_assert!(line.len() <= most);
        prop_assert_eq!(line.iter().map(Span::length).sum::<Nanos>(), transfer.duration());
    }
}
