#![allow(clippy::unwrap_used)]

use super::Work;
use super::model::Algorithm;
use super::remedy;
use super::replay::{Fitted, Replay};
use crate::analysis::Limit;
use crate::limit::partition;
use crate::limit::tests::{MSS, context, flights};
use crate::tcp::facts::{Loss, Release, TransferFacts};
use crate::units::Nanos;

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

fn replay(transfer: &TransferFacts) -> Replay {
    let context = context(100);
    Replay::new(transfer, &partition(transfer, &context), &context, Some(200 * MSS)).unwrap()
}

fn fit(replay: &Replay) -> (Fitted, Nanos) {
    replay.fit(&mut Work::new(u64::MAX)).unwrap()
}

fn without(cause: &str, replay: &Replay) -> Nanos {
    let (fitted, _) = fit(replay);
    remedy::apply(cause, replay, &fitted).unwrap().duration(&mut Work::new(u64::MAX)).unwrap()
}

#[test]
fn a_slow_start_is_replayed_and_takes_one_round_with_a_larger_window() {
    let replay = replay(&flights(&[10_000, 20_000, 40_000, 80_000, 5_000], Release::Ack));
    let (fitted, modelled) = fit(&replay);
    assert_eq!(modelled, ms(500));
    assert_eq!(fitted.scenario.sender.initial_window, 10.0);
    assert_eq!(without("slow-start", &replay), ms(100));
    assert_eq!(without("restart-after-idle", &replay), ms(100), "a flight of 200 segments had been out before");
}

#[test]
fn the_receivers_first_window_bounds_a_larger_initial_window() {
    let mut transfer = flights(&[10_000, 20_000, 40_000, 80_000, 5_000], Release::Ack);
    transfer.rounds[0].window = Some(60_000);
    assert_eq!(without("slow-start", &replay(&transfer)), ms(200));
}

#[test]
fn a_cap_of_the_sender_is_replayed_and_removed() {
    let replay = replay(&flights(&[32_000; 20], Release::Ack));
    let (fitted, modelled) = fit(&replay);
    assert_eq!(fitted.scenario.sender.cap, Some(32_000));
    assert_eq!(modelled, ms(2000));
    assert!(without("sender-cap", &replay) <= ms(500));
}

#[test]
fn a_full_window_is_replayed_and_removed() {
    let mut transfer = flights(&[32_000; 20], Release::WindowAck);
    transfer.rounds.iter_mut().for_each(|round| round.window = Some(32_000));
    let replay = replay(&transfer);
    assert_eq!(fit(&replay).1, ms(2000));
    assert!(without("receive-window", &replay) <= ms(500));
}

#[test]
fn silences_are_kept_and_taken_out() {
    let mut transfer = flights(&[10_000, 20_000, 40_000], Release::Ack);
    // A second of nothing between the second flight and the third.
    for round in &mut transfer.rounds[2..] {
        round.start += ms(900);
    }
    transfer.gaps[1].end += ms(900);
    (transfer.gaps[1].release, transfer.gaps[1].idle, transfer.gaps[1].sent) = (Release::Nothing, true, 30_001);
    (transfer.last_send, transfer.end) = (transfer.last_send + ms(900), transfer.end + ms(900));
    let replay = replay(&transfer);
    let (_, modelled) = fit(&replay);
    assert!((modelled - ms(1200)).0.abs() <= ms(20).0, "{modelled:?}");
    assert_eq!(without("application", &replay), ms(300));
}

#[test]
fn a_lost_segment_stands_at_its_place() {
    let mut transfer = flights(&[10_000, 20_000, 40_000, 30_000], Release::Ack);
    let seq = transfer.seq.0 + 20_500;
    transfer.losses = vec![Loss { time: ms(100), until: ms(100), seq, bytes: 1_000, sent: 20_500, unseen: false }];
    let replay = replay(&transfer);
    let (fitted, modelled) = fit(&replay);
    assert!(matches!(fitted.scenario.sender.algorithm, Algorithm::Cubic | Algorithm::Reno));
    assert!(without("loss", &replay) < modelled);
}

#[test]
fn causes_that_the_model_does_not_know_change_nothing() {
    let replay = replay(&flights(&[10_000, 20_000], Release::Ack));
    let (fitted, _) = fit(&replay);
    for cause in ["bandwidth", "bufferbloat", "server-think", "no-such-cause"] {
        assert!(remedy::apply(cause, &replay, &fitted).is_none(), "{cause}");
    }
}

#[test]
fn without_a_round_trip_there_is_no_replay() {
    let transfer = flights(&[10_000, 20_000], Release::Ack);
    for context in [
        crate::limit::Context { rtt: None, ..context(100) },
        crate::limit::Context { one_direction: true, ..context(100) },
    ] {
        assert!(Replay::new(&transfer, &partition(&transfer, &context), &context, None).is_none());
    }
}

#[test]
fn work_runs_out() {
    let replay = replay(&flights(&[10_000, 20_000], Release::Ack));
    assert!(replay.fit(&mut Work::new(3)).is_none());
}

#[test]
fn kinds_of_silence_are_told_by_their_limits() {
    let mut transfer = flights(&[10_000, 20_000, 40_000], Release::Ack);
    (transfer.gaps[0].release, transfer.gaps[0].sent) = (Release::Timer, 10_001);
    let (fitted, _) = fit(&replay(&transfer));
    assert_eq!(fitted.stalls.first().map(|stall| stall.1), Some(Limit::Timeout));
}
