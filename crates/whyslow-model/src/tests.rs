#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

/// A transfer at 100 ms, limited only by its window.
fn plain(bytes: u64) -> Scenario {
    Scenario {
        bytes,
        mss: 1448,
        rtt: Nanos::from_millis(100),
        rate: None,
        queue: None,
        losses: Losses::NONE,
        sender: SenderSettings::usual(Algorithm::Cubic),
        receiver: ReceiverSettings { window: Window::Unlimited, ack_delay: DELACK_MIN },
        pauses: Vec::new(),
    }
}

fn rtts(scenario: &Scenario) -> f64 {
    simulate(scenario).duration.as_secs_f64() / scenario.rtt.as_secs_f64()
}

/// 1 Gbit/s as payload: 1448 of 1514 bytes.
const GIGABIT: f64 = 1e9 * 1448.0 / 1514.0;

#[test]
fn slow_start_rounds_match_the_closed_form() {
    for bytes in [1u64, 14_480, 14_481, 43_440, 43_441, 100_000, 300_000, 1_000_000, 3_000_000] {
        let segments = bytes.div_ceil(1448);
        let rounds = (1..).find(|n| 10 * ((1u64 << n) - 1) >= segments).unwrap();
        let outcome = simulate(&plain(bytes));
        assert_eq!(outcome.rounds_total, rounds, "{bytes} B");
        // The last ACK may be held back, the last byte not.
        assert_eq!(outcome.delivered, Nanos::from_millis(100 * rounds as i64 - 50), "{bytes} B");
        assert_eq!(outcome.rounds.iter().map(|round| round.1).sum::<u64>(), bytes);
    }
}

/// Measured times of Linux at 100 ms and 1 Gbit/s, in round trips.
#[test]
fn model_matches_kernel_measurements() {
    let measured = [
        (100_000, 3.02),
        (300_000, 5.03),
        (1_000_000, 7.07),
        (3_000_000, 8.19),
        (10_000_000, 10.5),
        (30_000_000, 13.1),
    ];
    for (bytes, expected) in measured {
        let modelled = rtts(&Scenario { rate: Some(GIGABIT), ..plain(bytes) });
        assert!((modelled / expected - 1.0).abs() < 0.1, "{bytes} B: {modelled:.2} round trips, measured {expected}");
    }
    let measured = [
        (100_000, 4.13),
        (300_000, 5.76),
        (1_000_000, 7.52),
        (3_000_000, 9.17),
        (10_000_000, 11.2),
        (30_000_000, 13.4),
    ];
    for (bytes, expected) in measured {
        let mut scenario = Scenario { rate: Some(GIGABIT), ..plain(bytes) };
        scenario.sender.algorithm = Algorithm::Bbr;
        let modelled = rtts(&scenario);
        assert!(
            (modelled / expected - 1.0).abs() < 0.15,
            "bbr, {bytes} B: {modelled:.2} round trips, measured {expected}"
        );
    }
}

#[test]
fn window_limited_rate_is_window_over_round_trip() {
    let mut scenario = plain(4_000_000);
    scenario.receiver.window = Window::Advertised(vec![(0, 65_536)]);
    let rate = 4e6 / simulate(&scenario).duration.as_secs_f64();
    assert!((rate / 655_360.0 - 1.0).abs() < 0.1, "{rate} B/s");
    let mut scenario = plain(4_000_000);
    scenario.sender.cap = Some(32_768);
    let outcome = simulate(&scenario);
    let rate = 4e6 / outcome.duration.as_secs_f64();
    assert!((rate / 318_560.0 - 1.0).abs() < 0.1, "{rate} B/s");
    assert_eq!(outcome.limits[0].0, LimitingFactor::SenderCap);
}

/// No segment is empty, however little room there is.
#[test]
fn tiny_segments_terminate() {
    for mss in 1..=16 {
        let mut scenario = Scenario { mss, ..plain(2_000) };
        scenario.receiver.window = Window::Advertised(vec![(0, 10 * mss + mss / 2)]);
        let outcome = simulate(&scenario);
        assert!(outcome.delivered > Nanos::ZERO && outcome.retransmitted == 0, "{mss} B");
    }
}

#[test]
fn narrow_link_sets_the_rate() {
    let outcome = simulate(&Scenario { rate: Some(8e6), ..plain(4_000_000) });
    assert!((outcome.duration.as_secs_f64() / 4.1 - 1.0).abs() < 0.1, "{outcome:?}");
    assert_eq!(outcome.limits[0].0, LimitingFactor::Bandwidth);
    assert_eq!(outcome.retransmitted, 0);
}

#[test]
fn short_queue_drops_segments() {
    let outcome = simulate(&Scenario { rate: Some(8e6), queue: Some(20_000), ..plain(4_000_000) });
    assert!(outcome.retransmitted > 0);
    assert!(outcome.duration > Nanos::from_millis(4_100));
}

/// Mathis et al. 1997: MSS/RTT · √(3/2p), within a factor of two.
#[test]
fn random_loss_follows_mathis() {
    for (algorithm, probability) in [(Algorithm::Reno, 0.01), (Algorithm::Reno, 0.003)] {
        let mut scenario = plain(10_000_000);
        scenario.rtt = Nanos::from_millis(20);
        scenario.sender.algorithm = algorithm;
        let times: Vec<f64> = (0..9)
            .map(|seed| {
                scenario.losses = Losses::Random { probability, seed };
                simulate(&scenario).duration.as_secs_f64()
            })
            .collect();
        let rate = 10e6 / (times.iter().sum::<f64>() / times.len() as f64);
        let expected = 1448.0 / 0.02 * (1.5f64 / probability).sqrt();
        assert!((0.5..2.0).contains(&(rate / expected)), "{probability}: {rate} B/s, Mathis {expected}");
    }
}

/// BBR under random loss: 0.95·C·(1 − p).
#[test]
fn bbr_ignores_random_loss() {
    let mut scenario = Scenario { rate: Some(50e6), ..plain(60_000_000) };
    scenario.rtt = Nanos::from_millis(40);
    scenario.sender.algorithm = Algorithm::Bbr;
    scenario.losses = Losses::Random { probability: 0.01, seed: 1 };
    let rate = 480e6 / simulate(&scenario).duration.as_secs_f64();
    assert!((0.85..1.0).contains(&(rate / 50e6)), "{rate} bit/s");
}

#[test]
fn lost_segment_costs_a_round_trip_and_lost_tail_a_probe() {
    let whole = simulate(&plain(43_440)).delivered;
    let middle = simulate(&Scenario { losses: Losses::At(vec![20_000]), ..plain(43_440) });
    assert_eq!(middle.retransmitted, 1);
    assert_eq!(middle.delivered, whole + Nanos::from_millis(100));
    let tail = simulate(&Scenario { losses: Losses::At(vec![43_000]), ..plain(43_440) });
    let probe = tail.limits.iter().find(|limit| limit.0 == LimitingFactor::Timeout).unwrap().1;
    assert!(probe >= Nanos::from_millis(150), "{tail:?}");
    assert!(tail.delivered > whole + Nanos::from_millis(150), "{tail:?}");
}

#[test]
fn given_pauses_are_kept() {
    let pause = |at, kind| Pause { at, length: Nanos::from_millis(500), kind };
    let base = simulate(&plain(14_480)).duration;
    let paused = simulate(&Scenario { pauses: vec![pause(1448, PauseKind::Program)], ..plain(14_480) });
    assert_eq!(paused.duration, base + Nanos::from_millis(500));
    assert_eq!(paused.limits[0], (LimitingFactor::Application, Nanos::from_millis(500)));
    let timed = simulate(&Scenario { pauses: vec![pause(14_480, PauseKind::Timer)], ..plain(43_440) });
    assert_eq!(timed.limits[0].0, LimitingFactor::Timeout);
    assert!(timed.duration > Nanos::from_millis(800), "from one segment on: {timed:?}");
}

/// Measured time of Linux at 25.07 ms when the third flight, the probe and two copies of its first
/// segment were lost: 2.009 s.
#[test]
fn flight_repaired_by_the_timer_matches_kernel_measurements() {
    let pause = |at, millis: f64, kind| Pause { at, length: Nanos::from_secs_f64(millis / 1e3), kind };
    let timer = |millis| pause(102_808, millis, PauseKind::Timer);
    let scenario = Scenario {
        rtt: Nanos::from_micros(25_072),
        losses: Losses::At((0..41).map(|n| 43_440 + 1448 * n).collect()),
        pauses: vec![pause(101_360, 58.155, PauseKind::Program), timer(232.011), timer(463.987), timer(928.015)],
        ..plain(298_983)
    };
    let outcome = simulate(&scenario);
    assert!((outcome.duration.as_secs_f64() / 2.009 - 1.0).abs() < 0.05, "{outcome:?}");
    assert_eq!(outcome.retransmitted, 41);
    let waited = outcome.limits.iter().find(|limit| limit.0 == LimitingFactor::Timeout).unwrap().1;
    assert_eq!(waited, Nanos::from_micros(1_624_013), "three silences in a row, and no other");
}

#[test]
fn very_long_transfers_are_extrapolated() {
    let scenario = Scenario { rate: Some(GIGABIT), ..plain(10_000_000_000) };
    let outcome = simulate(&scenario);
    assert!(outcome.extrapolated);
    assert!((outcome.duration.as_secs_f64() / 84.0 - 1.0).abs() < 0.1, "{:?}", outcome.duration);
    assert_eq!(outcome.limits.iter().map(|limit| limit.1).sum::<Nanos>(), outcome.duration);
}

/// 800 MB in segments of one byte, two steps each: the steps are bounded, not the bytes.
#[test]
fn one_byte_window_is_extrapolated_at_the_step_limit() {
    let mut scenario = Scenario { mss: 65_000, ..plain(800_000_000) };
    scenario.receiver = ReceiverSettings { window: Window::Advertised(vec![(0, 1)]), ack_delay: Nanos::ZERO };
    assert_eq!(time(&scenario, MAX_STEPS), Timed { duration: None, steps: MAX_STEPS });
    let outcome = simulate(&scenario);
    assert!(outcome.extrapolated && outcome.steps <= MAX_STEPS + 2, "{outcome:?}");
    // A round trip of 100 ms for each byte.
    assert!((outcome.duration.as_secs_f64() / 8e7 - 1.0).abs() < 0.01, "{:?}", outcome.duration);
    assert_eq!(outcome.limits.iter().map(|limit| limit.1).sum::<Nanos>(), outcome.duration);
}

/// The next segment would leave after the latest time that the model knows.
#[test]
fn extremely_slow_pace_terminates() {
    let mut scenario = plain(1_000_000);
    scenario.sender.pacing = Some(1e-3);
    assert_eq!(time(&scenario, MAX_STEPS).duration, None);
    assert!(simulate(&scenario).steps <= MAX_STEPS + 2);
}

/// Nearly every retransmission is lost too, and each timer looks at the 1,000 segments that are
/// outstanding.
#[test]
fn segments_examined_by_timers_count_as_steps() {
    let mut scenario = Scenario { losses: Losses::Random { probability: 0.95, seed: 1 }, ..plain(1_448_000) };
    scenario.sender.initial_window = 1_000.0;
    let outcome = simulate(&scenario);
    assert!(outcome.extrapolated && outcome.steps > 50 * outcome.retransmitted, "{outcome:?}");
}

fn algorithm() -> impl Strategy<Value = Algorithm> {
    prop::sample::select(vec![Algorithm::Reno, Algorithm::Cubic, Algorithm::Bbr])
}

prop_compose! {
    fn any_scenario()(
        bytes in 0u64..3_000_000,
        mss in 1u64..9000,
        rtt in prop_oneof![Just(0), Just(i64::MIN), Just(i64::MAX), 1_000i64..300_000_000],
        rate in prop::option::of(prop_oneof![Just(0.0), Just(f64::NAN), 1e5..1e10]),
        queue in prop::option::of(0u64..1_000_000),
        losses in prop_oneof![
            prop::collection::vec(0u64..3_000_000, 0..40).prop_map(|mut at| { at.sort_unstable(); Losses::At(at) }),
            (0.0..0.3, any::<u64>()).prop_map(|(probability, seed)| Losses::Random { probability, seed }),
        ],
        algorithm in algorithm(),
        initial_window in 0.0..200.0,
        ssthresh in prop_oneof![Just(f64::INFINITY), 0.0..100.0],
        growth in 0.5..3.0,
        cap in prop::option::of(0u64..500_000),
        pacing in prop::option::of(prop_oneof![Just(0.0), 1e6..1e9]),
        window in prop_oneof![
            Just(Window::Unlimited),
            (1u64..100_000, 1u64..1_000_000).prop_map(|(initial, most)| Window::Autotuned { initial, most }),
            prop::collection::vec((0u64..3_000_000, 1u64..1_000_000), 0..9).prop_map(|mut steps| { steps.sort_unstable(); Window::Advertised(steps) }),
        ],
        pauses in prop::collection::vec((0u64..3_000_000, -5i64..3_000, any::<bool>()), 0..6),
    ) -> Scenario {
        let mut pauses: Vec<Pause> = pauses.into_iter().map(|(at, ms, timer)| Pause {
            at,
            length: Nanos::from_millis(ms),
            kind: if timer { PauseKind::Timer } else { PauseKind::Program },
        }).collect();
        pauses.sort_by_key(|pause| pause.at);
        // A tiny segment makes many: bounded, but slow in a test.
        let bytes = bytes.min(mss * 3_000);
        let hystart = initial_window > 20.0;
        Scenario {
            bytes, mss, rtt: Nanos(rtt), rate, queue, losses,
            sender: SenderSettings { algorithm, initial_window, ssthresh, slow_start_growth: growth, hystart, cap, pacing, buffer: None },
            receiver: ReceiverSettings { window, ack_delay: DELACK_MIN },
            pauses,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn every_scenario_ends_with_all_bytes_and_all_time_accounted_for(scenario in any_scenario()) {
        let outcome = simulate(&scenario);
        prop_assert_eq!(outcome.limits.iter().map(|limit| limit.1).sum::<Nanos>(), outcome.duration);
        prop_assert!(outcome.delivered > Nanos::ZERO && outcome.delivered <= outcome.duration, "{:?}", outcome);
        if outcome.rounds_total <= 64 {
            prop_assert_eq!(outcome.rounds.iter().map(|round| round.1).sum::<u64>(), scenario.bytes.max(1));
        }
        prop_assert_eq!(simulate(&scenario), outcome);
    }

    /// The time alone is found another way, straight from ACK to ACK where nothing else happens.
    #[test]
    fn time_equals_the_duration_of_simulate(scenario in any_scenario(), delays in any::<bool>(), silences in any::<bool>()) {
        let mut scenario = scenario;
        if !delays {
            scenario.receiver.ack_delay = Nanos::ZERO;
        }
        if !silences {
            scenario.pauses.clear();
        }
        prop_assert_eq!(time(&scenario, u64::MAX).duration, Some(simulate(&scenario).duration));
    }

    #[test]
    fn simulation_is_cut_exactly_at_the_step_limit(scenario in any_scenario(), share in 0.0..1.0) {
        let whole = time(&scenario, u64::MAX);
        prop_assert_eq!(time(&scenario, whole.steps), whole);
        let fewer = (whole.steps as f64 * share) as u64;
        prop_assert_eq!(time(&scenario, fewer), Timed { duration: None, steps: fewer });
    }

    #[test]
    fn larger_window_or_rate_is_never_slower(bytes in 1u64..3_000_000, window in 1448u64..200_000, rate in 1e6..1e9, first in 1.0..50.0) {
        let mut small = plain(bytes);
        small.sender.algorithm = Algorithm::Reno;
        small.sender.initial_window = first;
        small.receiver.window = Window::Advertised(vec![(0, window)]);
        let small = Scenario { rate: Some(rate), ..small };
        let mut large = small.clone();
        large.receiver.window = Window::Advertised(vec![(0, window * 2)]);
        let slack = Nanos::from_millis(1) + Nanos::from_secs_f64(3.0 * 1448.0 * 8.0 / rate) + DELACK_MIN;
        let time = |scenario: &Scenario| simulate(scenario).duration;
        prop_assert!(time(&large) <= time(&small) + slack);
        large.rate = Some(rate * 2.0);
        prop_assert!(time(&large) <= time(&small) + slack);
        large.sender.initial_window *= 2.0;
        prop_assert!(time(&large) <= time(&small) + slack);
    }
}
