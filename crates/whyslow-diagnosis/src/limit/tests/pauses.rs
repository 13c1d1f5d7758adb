//! Classification of a pause by the event that ended it.

use super::*;

#[test]
fn small_initial_window_is_not_nagle() {
    let mut transfer = flights(&[1_000, 400], Release::Ack);
    transfer.pauses[0].after_len = 400;
    let at = |window| attribute_time(&transfer, &Context { small_window: window, ..context(100) });
    assert_eq!(at(None).time(LimitingFactor::NagleDelayedAck), Nanos::from_millis(100));
    assert_eq!(
        at(Some(2_000)).time(LimitingFactor::NagleDelayedAck),
        Nanos::from_millis(100),
        "a window of two has room left"
    );
    assert_eq!(at(Some(1_000)).time(LimitingFactor::SlowStart), Nanos::from_millis(100));
}

#[test]
fn silence_before_a_lone_segment_is_a_timer() {
    let after = |flight: u64| {
        let mut transfer = flights(&[10_000, 20_000, flight, 2 * flight], Release::Ack);
        for (round, start) in transfer.rounds.iter_mut().zip([0, 100, 500, 600]) {
            (round.start, round.last_send) = (at_ms(start), at_ms(start));
        }
        transfer.pauses[1] = SendPause { idle: true, ..gap(at_ms(100), at_ms(500), Release::Nothing) };
        transfer.pauses[2] = gap(at_ms(500), at_ms(600), Release::Ack);
        (transfer.last_send, transfer.end) = (at_ms(600), at_ms(700));
        let cut = attribute_time(&transfer, &context(100));
        (cut.time(LimitingFactor::Timeout), cut.time(LimitingFactor::Application))
    };
    assert_eq!(after(MSS), (ms(400), Nanos::ZERO), "a timer leaves a window of one segment");
    assert_eq!(after(10 * MSS), (Nanos::ZERO, ms(400)), "an idle sender begins with its initial window");
}

/// Limit of a pause of 400 ms between two flights, behind a short segment, that no visible event
/// ended.
fn pause_of(change: impl Fn(&mut TransferFacts), context: &Context) -> LimitingFactor {
    let mut transfer = flights(&[20_000, 20_000], Release::Nothing);
    for (round, start) in transfer.rounds.iter_mut().zip([0, 400]) {
        (round.start, round.last_send) = (at_ms(start), at_ms(start));
    }
    transfer.pauses[0] = SendPause {
        idle: true,
        app_limited: true,
        snd_max: 20_001,
        in_flight: 20_000,
        before_len: 500,
        ..gap(at_ms(0), at_ms(400), Release::Nothing)
    };
    (transfer.last_send, transfer.end) = (at_ms(400), at_ms(500));
    transfer.answered = Some(Default::default());
    change(&mut transfer);
    let cut = attribute_time(&transfer, context);
    cut.spans.iter().max_by_key(|span| span.length()).unwrap().limit
}

#[test]
fn pause_with_data_to_send_is_not_the_applications() {
    assert_eq!(pause_of(|_| (), &context(100)), LimitingFactor::Application);
    assert_eq!(
        pause_of(|transfer| transfer.pauses[0].is_retransmit = true, &context(100)),
        LimitingFactor::Timeout,
        "it had it all along"
    );
    assert_eq!(pause_of(|transfer| transfer.pauses[0].unseen = true, &context(100)), LimitingFactor::Unknown);
    let lost = Loss { time: Time::ZERO, seq: 15_001, bytes: 1_000, ..Loss::default() };
    let outstanding = |idle: bool| {
        move |transfer: &mut TransferFacts| {
            transfer.pauses[0].idle = idle;
            transfer.losses = vec![lost];
        }
    };
    assert_eq!(
        pause_of(outstanding(false), &context(100)),
        LimitingFactor::Timeout,
        "something of it was lost by then"
    );
    assert_eq!(pause_of(outstanding(true), &context(100)), LimitingFactor::Application, "and was there again");
    let multipath = Context { is_multipath: true, ..context(100) };
    assert_eq!(pause_of(|_| (), &multipath), LimitingFactor::Unknown, "what it had to send may have gone over another");
}

#[test]
fn event_that_ends_a_pause_decides_its_limit() {
    for (release, limit) in [
        (Release::WindowAck, LimitingFactor::ReceiveWindow),
        (Release::WindowUpdate, LimitingFactor::ReceiveWindow),
        (Release::Timer, LimitingFactor::Timeout),
        (Release::Peer, LimitingFactor::ProtocolWindow),
    ] {
        let cut = attribute_time(&flights(&[5_000; 6], release), &context(100));
        assert_eq!(cut.time(limit), Nanos::from_millis(500), "{release:?}");
    }
}

#[test]
fn late_data_next_to_the_receiver_may_be_queued() {
    let near = Context { near_receiver: true, next_to_receiver: true, ..context(20) };
    let program = |length: i64, change: fn(&mut SendPause)| {
        let mut transfer = flights(&[5_000; 6], Release::Nothing);
        for pause in &mut transfer.pauses {
            (pause.idle, pause.before_len, pause.after_len) = (true, MSS, MSS);
            change(pause);
        }
        let end = transfer.pauses[0].start + Nanos::from_millis(length);
        transfer.pauses.truncate(1);
        transfer.pauses[0].end = end;
        let cut = attribute_time(&transfer, &near);
        (cut.time(LimitingFactor::Application) > Nanos::ZERO, cut.time(LimitingFactor::Unknown) > Nanos::ZERO)
    };
    assert_eq!(program(60, |_| {}), (false, true), "between full segments");
    assert_eq!(program(60, |pause| pause.before_len = MSS - 1), (true, false), "what it was given ended there");
    assert_eq!(program(60, |pause| pause.app_limited = true), (true, false));
    let stamped: fn(&mut SendPause) = |pause| pause.sent_apart = Some(pause.end - pause.start);
    assert_eq!(program(60, stamped), (true, false), "by the sender's clock");
    assert!(program(1_200, |_| {}).0, "the timer would have run out");
}

#[test]
fn late_data_after_a_full_window_may_be_a_longer_path() {
    let windows = |length: i64, near_receiver: bool, room: u64| {
        let mut transfer = flights(&[5_000; 6], Release::Nothing);
        let start = transfer.pauses[0].start;
        let end = start + Nanos::from_millis(length);
        let full =
            SendPause { app_limited: true, idle: true, window_room: Some(room), ..gap(start, end, Release::Nothing) };
        transfer.pauses = vec![full];
        attribute_time(&transfer, &Context { near_receiver, ..context(35) }).time(LimitingFactor::ReceiveWindow)
    };
    assert_eq!(windows(75, true, 200), Nanos::from_millis(75));
    assert_eq!(windows(75, true, MSS), Nanos::ZERO, "another segment had room");
    assert_eq!(windows(75, false, 200), Nanos::ZERO, "next to the sender it is late");
    assert_eq!(windows(400, true, 200), Nanos::ZERO, "no path becomes so long");
}

#[test]
fn late_reaction_to_credit_is_a_protocol_window() {
    let mut transfer = credited(&[32_000; 10]);
    // Two messages in three find the sending host busy for 30 ms.
    for (nth, pause) in transfer.pauses.iter_mut().enumerate().filter(|(nth, _)| nth % 3 > 0) {
        (pause.release, pause.with_peer_payload, pause.app_limited) = (Release::Nothing, false, true);
        pause.peer_payload_at = Some(at_ms(100 * nth as i64 + 70));
    }
    let cut = attribute_time(&transfer, &context(60));
    assert_eq!(cut.time(LimitingFactor::Application), ms(6 * 30));
    assert_eq!(cut.time(LimitingFactor::ProtocolWindow), ms(3 * 100 + 6 * 70));
}

#[test]
fn small_messages_wait_for_nagle_or_the_application() {
    let messages = |release: Release| {
        let mut transfer = flights(&[300; 4], release);
        for (gap, size) in transfer.pauses.iter_mut().zip([300, 400, 500]) {
            (gap.in_flight, gap.before_len, gap.after_len) = (size, size, size + 100);
        }
        transfer
    };
    let time = |transfer: &TransferFacts, limit: LimitingFactor| attribute_time(transfer, &context(100)).time(limit);
    let whole = Nanos::from_millis(300);
    let held = messages(Release::Ack);
    assert_eq!(time(&held, LimitingFactor::NagleDelayedAck), whole, "each leaves with the ACK of the one before");
    let mut alike = held.clone();
    alike.pauses.iter_mut().for_each(|gap| (gap.in_flight, gap.before_len, gap.after_len) = (300, 300, 300));
    assert_eq!(time(&alike, LimitingFactor::Application), whole, "what is held back would have grown");
    let mut several = held.clone();
    several.pauses.iter_mut().for_each(|gap| gap.in_flight = 600);
    assert_eq!(time(&several, LimitingFactor::Application), whole, "Nagle lets no two be outstanding");
    let mut talks = held;
    talks.pauses.iter_mut().for_each(|gap| gap.with_peer_payload = true);
    assert_eq!(time(&talks, LimitingFactor::Application), whole);
    assert_eq!(time(&messages(Release::Peer), LimitingFactor::Application), whole, "an answer, or credit");
}

#[test]
fn last_ack_counts_only_if_a_queue_delayed_it() {
    let last = |late: i64, rounds: usize| {
        let mut transfer = flights(&vec![5_000; rounds], Release::Ack);
        transfer.segments = 5 * rounds as u64;
        transfer.end = transfer.last_send + Nanos::from_millis(100 + late);
        transfer.rounds.iter_mut().for_each(|round| round.ack_late = Some(Nanos::from_millis(60)));
        let cut = attribute_time(&transfer, &context(100));
        (cut.time(LimitingFactor::Idle).0 / 1_000_000, cut.time(LimitingFactor::Unknown).0 / 1_000_000)
    };
    // Ten more are tolerance.
    assert_eq!(last(210, 1), (140, 60));
    assert_eq!(last(210, 3), (140, 60));
    assert_eq!(last(60, 3), (0, 50));
    assert_eq!(last(900, 3), (0, 890), "no receiver holds an ACK back for so long");
}

#[test]
fn spurious_retransmissions_are_not_waited_for() {
    let mut transfer = flights(&[5_000, 5_000, 1_000], Release::Ack);
    let sent = Time::from_millis(200);
    let again = sent + Nanos::from_millis(335);
    transfer.pauses.push(SendPause { snd_max: 11_001, ..gap(sent, again, Release::Timer) });
    transfer.rounds.push(RoundFacts {
        start: again,
        last_send: again,
        retransmitted: 1,
        merged: 1,
        ..RoundFacts::default()
    });
    (transfer.last_send, transfer.end) = (again, again + Nanos::from_millis(100));
    let lost = |transfer: &TransferFacts| {
        let cut = attribute_time(transfer, &context(100));
        let whole: Nanos = cut.spans.iter().map(Span::length).sum();
        assert_eq!((whole, cut.rounds.len()), (transfer.duration(), 4));
        (cut.time(LimitingFactor::Timeout), cut.time(LimitingFactor::Idle))
    };
    assert_eq!(lost(&transfer), (Nanos::from_millis(335), Nanos::ZERO));
    transfer.tail_is_spurious = true;
    assert_eq!(lost(&transfer), (Nanos::ZERO, Nanos::from_millis(335 + 100 - 110)));
}

#[test]
fn application_pause_next_to_the_receiver_is_not_a_round_trip() {
    let near = Context { near_receiver: true, ..context(100) };
    let mut transfer = flights(&[5_000; 4], Release::Ack);
    assert_eq!(near.round_trip(&transfer, 1), Some(Nanos::from_millis(100)));
    (transfer.pauses[1].release, transfer.pauses[1].idle) = (Release::Nothing, true);
    assert_eq!(near.round_trip(&transfer, 1), None);
    assert_eq!(near.round_trip(&transfer, 0), Some(Nanos::from_millis(100)));
    (transfer.pauses[1].release, transfer.pauses[1].idle) = (Release::Peer, false);
    assert_eq!(near.round_trip(&transfer, 1), None);
}

#[test]
fn held_back_ack_differs_from_the_path() {
    let mut transfer = flights(&[5_000; 6], Release::Ack);
    transfer.pauses.iter_mut().for_each(|gap| gap.ack_late = Nanos::from_millis(40));
    let cut = attribute_time(&transfer, &context(60));
    assert_eq!(cut.time(LimitingFactor::AckDelay), Nanos::from_millis(5 * 40));
    assert_eq!(
        cut.time(LimitingFactor::Idle),
        Nanos::from_millis(34),
        "34 ms of the last ACK, after path and tolerance, are idle"
    );
    transfer.pauses.iter_mut().for_each(|gap| gap.after_len = 300);
    transfer.pauses.iter_mut().for_each(|gap| (gap.before_len, gap.in_flight) = (300, 300));
    assert_eq!(attribute_time(&transfer, &context(60)).time(LimitingFactor::NagleDelayedAck), Nanos::from_millis(500));
}

#[test]
fn window_counts_as_closed_only_while_it_was() {
    let times = |release: Release, closed: i64| {
        let mut transfer = flights(&[60_000, 60_000], Release::Ack);
        transfer.pauses[0].release = release;
        (transfer.pauses[0].idle, transfer.pauses[0].app_limited) = (true, true);
        transfer.pauses[0].closed = Some((at_ms(30), ms(closed)));
        let cut = attribute_time(&transfer, &context(100));
        [LimitingFactor::ReceiveWindow, LimitingFactor::ZeroWindow, LimitingFactor::Application]
            .map(|limit| cut.time(limit))
    };
    assert_eq!(times(Release::WindowUpdate, 70), [ms(30), ms(70), ms(0)]);
    assert_eq!(times(Release::WindowAck, 20), [ms(80), ms(20), ms(0)], "open again, and full again");
    assert_eq!(times(Release::Nothing, 20), [ms(30), ms(20), ms(50)], "open again, and nothing was written");
}

#[test]
fn many_segments_in_flight_leave_no_delayed_ack() {
    let held = |in_flight: u64, last_ack: bool| {
        let mut transfer = flights(&[50_000, 50_000], Release::Ack);
        let pause = &mut transfer.pauses[0];
        (pause.ack_late, pause.in_flight, pause.last_ack) = (Nanos::from_millis(48), in_flight, last_ack);
        attribute_time(&transfer, &context(100)).time(LimitingFactor::AckDelay)
    };
    assert_eq!(held(2_000, false), Nanos::from_millis(48));
    assert_eq!(held(50_000, false), Nanos::ZERO, "a slow link spaces them");
    assert_eq!(held(50_000, true), Nanos::from_millis(48), "nothing else was on its way");
}

#[test]
fn rest_of_a_write_that_waits_for_an_ack_is_not_slow_start() {
    let held = |flight: u64, rest: u64| {
        let mut transfer = flights(&[flight, rest], Release::Ack);
        transfer.pauses[0].in_flight = flight;
        transfer.pauses[0].after_len = rest;
        let cut = attribute_time(&transfer, &context(100));
        (cut.time(LimitingFactor::NagleDelayedAck), cut.time(LimitingFactor::SlowStart))
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
fn unrequested_messages_leave_idle_pauses() {
    let pauses = |flight: u64, asked: bool| {
        let mut transfer = flights(&[flight; 8], Release::Nothing);
        transfer.pauses.iter_mut().for_each(|gap| {
            (gap.idle, gap.app_limited, gap.in_flight, gap.before_len, gap.after_len) =
                (true, true, flight, flight.min(300), 300);
        });
        transfer.answered = asked.then(Default::default);
        let cut = attribute_time(&transfer, &context(10));
        (
            cut.time(LimitingFactor::Idle) > Nanos::from_millis(400),
            cut.time(LimitingFactor::Application) > Nanos::from_millis(400),
        )
    };
    assert_eq!(pauses(300, false), (true, false), "lines of a log");
    assert_eq!(pauses(4 * MSS, false), (true, false));
    assert_eq!(pauses(8 * MSS, false), (false, true), "a program that reads too slowly what it sends");
    assert_eq!(pauses(300, true), (true, false), "a row of messages");
    assert_eq!(pauses(2 * MSS, true), (false, true), "an answer in several writes");
}

#[test]
fn small_pushed_messages_have_idle_pauses() {
    let small = |transfer: &mut TransferFacts| transfer.max_in_flight = 2 * MSS;
    let pushed = |transfer: &mut TransferFacts| {
        small(transfer);
        transfer.answered = None;
    };
    assert_eq!(pause_of(small, &context(100)), LimitingFactor::Application);
    assert_eq!(pause_of(pushed, &context(100)), LimitingFactor::Idle);
    let either = Context { server_push: whyslow_core::message::ServerPush::Unknown, ..context(100) };
    assert_eq!(pause_of(small, &either), LimitingFactor::Idle, "of a shell it need be no answer");
    let announced = Context { is_announced: true, ..either };
    assert_eq!(pause_of(small, &announced), LimitingFactor::Application, "a part of a message is no message");
    let lossy = |transfer: &mut TransferFacts| {
        pushed(transfer);
        transfer.retransmitted.timeout = 1;
    };
    assert_eq!(pause_of(lossy, &context(100)), LimitingFactor::Unknown, "it may be a timer's silence");
}
