#![allow(clippy::unwrap_used)]

use super::carried_window::CarriedWindow;
use super::remedy;
use super::replay::{EarlierTransfers, Fitted, Replay};
use super::replay_queue::{AssumedRate, ReplayInput, ReplayJob};
use super::work::Work;
use crate::estimate::synthetic_transfer::{context, flights};
use crate::limit::attribute_time;
use whyslow_analysis::types::{LimitingFactor, ModelChange};
use whyslow_core::tcp::facts::{Loss, Release, TransferFacts};
use whyslow_model::{Algorithm, Losses, PauseKind, Timed, Window};
use whyslow_units::{Nanos, Time};

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

/// The instant `milliseconds` after the origin of times.
fn at_ms(milliseconds: i64) -> Time {
    Time::from_millis(milliseconds)
}

fn replay(transfer: &TransferFacts) -> Replay {
    let context = context(100);
    Replay::new(
        transfer,
        &attribute_time(transfer, &context),
        &context,
        EarlierTransfers { carried: Some(CarriedWindow { cwnd: 200.0, grows: true }), ..EarlierTransfers::default() },
    )
    .unwrap()
}

fn fit(replay: &Replay) -> (Fitted, Nanos) {
    replay.fit(&mut Work::new(u64::MAX)).unwrap()
}

fn without(fix: &[ModelChange], replay: &Replay) -> Nanos {
    let (fitted, _) = fit(replay);
    remedy::apply(fix, replay, &fitted).unwrap().duration(&mut Work::new(u64::MAX)).unwrap()
}

#[test]
fn slow_start_replay_is_shorter_with_a_larger_window() {
    let replay = replay(&flights(&[10_000, 20_000, 40_000, 80_000, 5_000], Release::Ack));
    let (fitted, modelled) = fit(&replay);
    assert_eq!(modelled, ms(500));
    assert_eq!(fitted.scenario.sender.initial_window, 10.0);
    assert_eq!(without(&[ModelChange::LargeInitialWindow], &replay), ms(300), "32, 64 and 59 segments");
    assert_eq!(
        without(&[ModelChange::WindowKeptWhenIdle], &replay),
        ms(100),
        "the transfers before had opened a window of 200 segments"
    );
}

#[test]
fn first_receive_window_bounds_the_initial_window() {
    let mut transfer = flights(&[10_000, 20_000, 40_000, 80_000, 5_000], Release::Ack);
    transfer.rounds[0].window = Some(20_000);
    assert_eq!(without(&[ModelChange::LargeInitialWindow], &replay(&transfer)), ms(400));
}

#[test]
fn sender_cap_is_replayed_and_removed() {
    let replay = replay(&flights(&[32_000; 20], Release::Ack));
    let (fitted, modelled) = fit(&replay);
    assert_eq!(fitted.scenario.sender.cap, Some(32_000));
    assert_eq!(modelled, ms(2000));
    assert!(without(&[ModelChange::NoSenderCap, ModelChange::GrowingReceiveWindow], &replay) <= ms(500));
}

#[test]
fn receive_window_keeps_growing_without_the_sender_cap() {
    let without_cap = |windows: [u64; 2]| {
        let mut transfer = flights(&[32_000; 20], Release::Ack);
        transfer.rounds.iter_mut().for_each(|round| round.window = Some(windows[1]));
        transfer.rounds[0].window = Some(windows[0]);
        without(&[ModelChange::NoSenderCap, ModelChange::GrowingReceiveWindow], &replay(&transfer))
    };
    let (grew, stood) = (without_cap([64_000, 66_000]), without_cap([66_000, 66_000]));
    assert!(grew <= ms(600) && stood >= ms(900), "{grew:?} {stood:?}");
}

#[test]
fn outgrown_flight_is_not_a_cap() {
    let cap = |last: u64| {
        let mut sizes = [32_000; 20];
        sizes[15..].fill(last);
        replay(&flights(&sizes, Release::Ack)).candidates().swap_remove(0).scenario.sender.cap
    };
    assert!(cap(40_000).is_some());
    assert_eq!(cap(60_000), None);
}

#[test]
fn full_window_is_replayed_and_removed() {
    let mut transfer = flights(&[32_000; 20], Release::WindowAck);
    transfer.rounds.iter_mut().for_each(|round| round.window = Some(32_000));
    let replay = replay(&transfer);
    assert_eq!(fit(&replay).1, ms(2000));
    assert!(without(&[ModelChange::UnlimitedReceiveWindow], &replay) <= ms(500));
}

#[test]
fn silences_are_replayed_and_removed() {
    let mut transfer = flights(&[10_000, 20_000, 40_000], Release::Ack);
    // A second of nothing between the second flight and the third.
    for round in &mut transfer.rounds[2..] {
        round.start += ms(900);
    }
    transfer.pauses[1].end += ms(900);
    (transfer.pauses[1].release, transfer.pauses[1].idle, transfer.pauses[1].snd_max) =
        (Release::Nothing, true, 30_001);
    (transfer.last_send, transfer.end) = (transfer.last_send + ms(900), transfer.end + ms(900));
    let replay = replay(&transfer);
    let (_, modelled) = fit(&replay);
    assert!((modelled - ms(1200)).0.abs() <= ms(20).0, "{modelled:?}");
    assert_eq!(
        without(
            &[
                ModelChange::SameFlights,
                ModelChange::GrowingReceiveWindow,
                ModelChange::NoSilence(LimitingFactor::Application)
            ],
            &replay
        ),
        ms(300)
    );
}

#[test]
fn ambiguous_silence_next_to_application_pauses_is_the_applications() {
    let saved = |programs: usize, is_idle: bool| {
        let mut transfer = flights(&[10_000, 20_000, 40_000, 30_000], Release::Ack);
        let mut context = context(100);
        (context.near_receiver, context.next_to_receiver, context.has_timestamps) = (true, true, false);
        // Half a second of nothing behind each flight: behind a full segment it may be a queue's.
        for pause in 0..3 {
            transfer.rounds[pause + 1..].iter_mut().for_each(|round| {
                round.start += ms(400);
                round.last_send += ms(400);
            });
            let (start, end) = (transfer.rounds[pause].last_send, transfer.rounds[pause + 1].start);
            let gap = &mut transfer.pauses[pause];
            (gap.start, gap.end, gap.release, gap.idle) = (start, end, Release::Nothing, is_idle);
            gap.app_limited = pause < programs;
            gap.snd_max = 1 + [10_000, 30_000, 70_000][pause];
        }
        (transfer.last_send, transfer.end) = (transfer.last_send + ms(1_200), transfer.end + ms(1_200));
        let attribution = attribute_time(&transfer, &context);
        let replay = Replay::new(&transfer, &attribution, &context, EarlierTransfers::default()).unwrap();
        let changes = [ModelChange::SameFlights, ModelChange::NoSilence(LimitingFactor::Application)];
        fit(&replay).1 - without(&changes, &replay)
    };
    assert!((saved(2, true) - ms(1_500)).0.abs() < ms(350).0, "{:?}", saved(2, true));
    assert!(saved(0, true) < ms(50), "of none it is known: {:?}", saved(0, true));
}

#[test]
fn lost_segment_keeps_its_place() {
    let mut transfer = flights(&[10_000, 20_000, 40_000, 30_000], Release::Ack);
    let seq = transfer.seq.0 + 20_500;
    transfer.losses =
        vec![Loss { time: at_ms(100), until: at_ms(100), seq, bytes: 1_000, passed_before: 20_500, ..Loss::default() }];
    let (unknown, fitted) = (replay(&transfer), fit(&replay(&transfer)).0);
    assert!(
        remedy::apply(&[ModelChange::NoLosses, ModelChange::HeldToPathRate], &unknown, &fitted).is_none(),
        "larger flights meet an unknown rate"
    );
    transfer.rounds[1].last_send = transfer.rounds[1].start + ms(1);
    let replay = replay(&transfer);
    let (fitted, modelled) = fit(&replay);
    assert!(matches!(fitted.scenario.sender.algorithm, Algorithm::Cubic | Algorithm::Reno));
    assert!(without(&[ModelChange::NoLosses, ModelChange::HeldToPathRate], &replay) < modelled);
}

#[test]
fn replay_requires_a_round_trip() {
    let transfer = flights(&[10_000, 20_000], Release::Ack);
    for context in [
        crate::estimate::Context { rtt: None, ..context(100) },
        crate::estimate::Context { one_direction: true, ..context(100) },
    ] {
        assert!(
            Replay::new(&transfer, &attribute_time(&transfer, &context), &context, EarlierTransfers::default())
                .is_none()
        );
    }
}

/// The steps that one play of `slow_start()` takes: each of its 155 segments leaves, and its ACK
/// arrives.
pub(crate) const STEPS: u64 = 2 * 155;
/// Fixes to play it with: the second one changes nothing.
const FIXES: [&[ModelChange]; 2] = [&[ModelChange::LargeInitialWindow], &[ModelChange::SameFlights]];

pub(crate) fn slow_start() -> Replay {
    replay(&flights(&[10_000, 20_000, 40_000, 80_000, 5_000], Release::Ack))
}

fn input(replay: &Replay) -> ReplayInput<'_> {
    ReplayInput { replay, fixes: FIXES.map(Some).into() }
}

/// The model's times, with `work` steps.
fn with_work(work: u64) -> (Option<Nanos>, [Option<Nanos>; 2], bool) {
    let replay = slow_start();
    let played = ReplayJob { input: &input(&replay), place: 0, work, known: &[] }.play();
    assert!(played.work <= work);
    let promises = [0, 1].map(|index| Some(played.promises.get(index).copied()??.time));
    (played.model, promises, played.skipped)
}

#[test]
fn unmodelled_transfers_are_reported() {
    assert_eq!(with_work(STEPS - 1), (None, [None; 2], false), "not even as it was");
    assert_eq!(with_work(2 * STEPS - 1), (Some(ms(500)), [None; 2], true), "no fix");
    assert_eq!(with_work(3 * STEPS - 1), (Some(ms(500)), [Some(ms(300)), None], true), "one of two");
    assert_eq!(with_work(3 * STEPS), (Some(ms(500)), [Some(ms(300)), None], false), "the other would bring nothing");
}

#[test]
fn model_cut_by_the_work_limit_is_reported() {
    let mut facts = flights(&[10_000, 20_000, 40_000, 30_000], Release::Ack);
    let seq = facts.seq.0 + 20_500;
    facts.losses =
        vec![Loss { time: at_ms(100), until: at_ms(100), seq, bytes: 1_000, passed_before: 20_500, ..Loss::default() }];
    let mut replay = replay(&facts);
    replay.measured = ms(60_000);
    assert!(replay.candidates().len() > 1);
    let played = |work| ReplayJob { input: &input(&replay), place: 0, work, known: &[] }.play();
    let whole = played(u64::MAX);
    assert!(!whole.skipped, "nothing comes near");
    assert!(played(whole.results[0].steps).skipped);
}

#[test]
fn promised_time_has_a_range_with_what_the_model_leaves_unexplained() {
    let mut replay = slow_start();
    let range = |replay: &Replay| {
        let played = ReplayJob { input: &input(replay), place: 0, work: u64::MAX, known: &[] }.play();
        played.promises[0].map(|promise| promise.range).unwrap()
    };
    // Modelled 500 ms as it was and 300 ms with the fix, at a round trip of 100 ms.
    assert_eq!(range(&replay), [ms(285), ms(415)]);
    replay.measured = ms(550);
    assert_eq!(range(&replay), [ms(285), ms(465)]);
    replay.measured = ms(450);
    assert_eq!(range(&replay), [ms(285), ms(415)], "a model that is too slow explains all");
    let limited = windowed(Some(4e6), None);
    const FIX: &[ModelChange] = &[ModelChange::UnlimitedReceiveWindow];
    let played = ReplayJob {
        input: &ReplayInput { replay: &limited, fixes: vec![Some(FIX)] },
        place: 0,
        work: u64::MAX,
        known: &[],
    }
    .play();
    let promise = played.promises[0].unwrap();
    assert!(promise.range[0] >= ms(1_200), "600,000 B at 4 Mbit/s: {promise:?}");
}

#[test]
fn known_results_are_not_simulated_again() {
    let replay = slow_start();
    let play = ReplayJob { input: &input(&replay), place: 0, work: u64::MAX, known: &[] };
    let results = play.play().results;
    assert_eq!(results.len(), 3, "as it was, and with each of two fixes");
    // The queue returns the result that it was given, right or wrong.
    let later = Timed { duration: results[1].duration.map(|time| time + ms(1)), ..results[1] };
    let known = [results[0], later];
    let played = ReplayJob { known: &known, ..play }.play();
    assert_eq!(played.results, [known[0], known[1], results[2]]);
    assert_eq!(played.promises[0].map(|promise| promise.time), Some(ms(301)));
    let results = ReplayJob { known: &known, work: 2 * STEPS, ..play }.play().results;
    assert_eq!((&results[..2], results[2].duration), (&known[..], None), "no more than the work allows");
}

#[test]
fn exhausted_work_gives_no_result() {
    let replay = replay(&flights(&[10_000, 20_000], Release::Ack));
    assert!(replay.fit(&mut Work::new(3)).is_none());
}

/// `flights` with a longer wait after the second one.
fn waits_after_the_second(transfer: &mut TransferFacts, more: Nanos) {
    for round in &mut transfer.rounds[2..] {
        (round.start, round.last_send) = (round.start + more, round.last_send + more);
    }
    transfer.pauses[1].end += more;
    transfer.pauses[1].snd_max = 30_001;
    (transfer.last_send, transfer.end) = (transfer.last_send + more, transfer.end + more);
}

#[test]
fn timer_waits_longer_than_a_round_trip() {
    let mut transfer = flights(&[10_000, 20_000, 40_000], Release::Ack);
    transfer.pauses[1].release = Release::Timer;
    transfer.pauses[1].snd_max = 30_001;
    assert!(fit(&replay(&transfer)).0.stalls.is_empty(), "a repair after the timer goes on with each ACK");
    waits_after_the_second(&mut transfer, ms(200));
    let (fitted, _) = fit(&replay(&transfer));
    let (pause, limit) = fitted.stalls[0];
    assert_eq!(
        (pause.kind, pause.at, pause.length, limit),
        (PauseKind::Timer, 30_000, ms(300), LimitingFactor::Timeout)
    );
}

#[test]
fn uncaptured_data_was_sent_before_the_timer() {
    let mut transfer = flights(&[10_000, 20_000, 40_000], Release::Ack);
    waits_after_the_second(&mut transfer, ms(200));
    transfer.pauses[1].release = Release::Timer;
    let lost = |place| Loss {
        seq: 1 + place,
        bytes: 1_000,
        unseen: true,
        time: at_ms(400),
        until: at_ms(400),
        passed_before: place,
        ..Loss::default()
    };
    transfer.losses = [31_000, 32_000, 33_000, 40_000].map(lost).to_vec();
    let fitted = replay(&transfer).candidates().swap_remove(0);
    assert_eq!(fitted.stalls[0].0.at, 34_000, "the run ends where something came");
    assert_eq!(fitted.scenario.losses, Losses::At(vec![31_000, 32_000, 33_000, 40_000]));
}

#[test]
fn pause_at_a_cap_is_not_an_application_silence() {
    let mut transfer = flights(&[32_000; 20], Release::Ack);
    for gap in &mut transfer.pauses {
        (gap.snd_max, gap.idle) = (32_001, true);
    }
    transfer.pauses[7].release = Release::Nothing;
    transfer.pauses[7].snd_max = 256_001;
    assert!(fit(&replay(&transfer)).0.stalls.is_empty());
}

#[test]
fn reader_that_keeps_up_has_its_largest_window() {
    let mut transfer = flights(&[10_000, 20_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000], Release::Ack);
    for (round, window) in
        transfer.rounds.iter_mut().zip([40_000, 40_000, 30_000, 30_000, 30_000, 30_000, 30_000, 9_000])
    {
        round.window = Some(window);
    }
    let replay = replay(&transfer);
    let (fitted, _) = fit(&replay);
    let changed = remedy::apply(
        &[
            ModelChange::PromptReader,
            ModelChange::NoSilence(LimitingFactor::ZeroWindow),
            ModelChange::NoSilence(LimitingFactor::Unknown),
        ],
        &replay,
        &fitted,
    )
    .unwrap();
    let Window::Advertised(steps) = changed.scenario.receiver.window else { panic!("windows were seen") };
    assert_eq!(steps.last().map(|step| step.1), Some(40_000), "{steps:?}");
}

/// A flight that comes within 2 ms of a round trip of 100 ms: 39 of its 40 segments after the first
/// one.
#[test]
fn burst_gives_the_path_rate() {
    let mut transfer = flights(&[10_000, 20_000, 40_000, 80_000], Release::Ack);
    transfer.segments = 150;
    transfer.rounds[2].last_send = transfer.rounds[2].start + ms(2);
    let at = |near_receiver| {
        let context = crate::estimate::Context { near_receiver, ..context(100) };
        Replay::new(&transfer, &attribute_time(&transfer, &context), &context, EarlierTransfers::default())
            .unwrap()
            .burst_rate
    };
    assert_eq!(at(true), Some(39_000.0 * 8.0 / 2e-3));
    // There the ACKs of the flight before release it: of 20 segments, the first two with the first
    // ACK.
    assert_eq!(at(false), Some(18_000.0 * 8.0 / 2e-3));
}

#[test]
fn rate_without_pacing_is_the_paths_and_unknown_without_a_burst() {
    let mut transfer = flights(&[10_000, 20_000, 40_000, 80_000], Release::Ack);
    assert!(remedy::apply(&[ModelChange::NoPacing], &replay(&transfer), &fit(&replay(&transfer)).0).is_none());
    transfer.rounds[2].last_send = transfer.rounds[2].start + ms(2);
    let replay = replay(&transfer);
    let changed = remedy::apply(&[ModelChange::NoPacing], &replay, &fit(&replay).0).unwrap();
    assert_eq!((changed.scenario.rate, changed.scenario.sender.pacing), (replay.burst_rate, None));
}

/// A window that a larger buffer would free: 20 flights of 30,000 B, a round trip of 100 ms apart.
fn windowed(path_rate: Option<f64>, earlier: Option<f64>) -> Replay {
    let mut transfer = flights(&[30_000; 20], Release::WindowAck);
    transfer.rounds.iter_mut().for_each(|round| round.window = Some(30_000));
    let context = crate::estimate::Context { path_rate, ..context(100) };
    let earlier = EarlierTransfers { rate: earlier, ..EarlierTransfers::default() };
    Replay::new(&transfer, &attribute_time(&transfer, &context), &context, earlier).unwrap()
}

#[test]
fn promise_never_exceeds_the_path_rate() {
    let held = |path_rate, earlier| {
        let replay = windowed(path_rate, earlier);
        let mut changed = remedy::apply(&[ModelChange::UnlimitedReceiveWindow], &replay, &fit(&replay).0).unwrap();
        let seen = replay.hold_to_path(&mut changed.scenario);
        let took = changed.duration(&mut Work::new(u64::MAX)).unwrap();
        (changed.scenario.rate, seen, took)
    };
    // 600,000 B at 4 Mbit/s are 1.2 s, and on the way for a round trip.
    let (rate, seen, took) = held(Some(4e6), None);
    assert_eq!((rate, seen), (Some(4e6), None));
    assert!(took >= ms(1_200) && took < ms(1_500), "{took:?}");
    let (rate, seen, _) = held(None, Some(6e6));
    assert_eq!((rate, seen), (Some(6e6), None), "what an earlier transfer met");
    assert_eq!(held(Some(5e6), Some(6e6)).0, Some(5e6), "the given rate counts");
    // Each round trip carried 30,000 B: 2.4 Mbit/s.
    let (rate, seen, _) = held(None, None);
    assert_eq!((rate, seen), (None, Some(2.4e6)));
    let assumed = super::replay_queue::assumed;
    assert_eq!(assumed(600_000, ms(500), 2.4e6), Some(AssumedRate { needed: 9.6e6, seen: 2.4e6 }));
    assert_eq!(assumed(600_000, ms(2_000), 2.4e6), None, "it was seen to carry that");
    // A rate at which a queue stood stays as it is, and is not reported as more than given.
    let replay = windowed(Some(4e6), None);
    let mut scenario = fit(&replay).0.scenario;
    scenario.rate = Some(3e6);
    assert_eq!((replay.hold_to_path(&mut scenario), scenario.rate), (None, Some(3e6)));
    scenario.rate = Some(9e6);
    assert_eq!((replay.hold_to_path(&mut scenario), scenario.rate), (None, Some(4e6)));
}
