#![allow(clippy::unwrap_used)]

use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, at_ms, ms};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{ExchangeStatement, FirstReply, Frame, Near};
use whyslow_core::tcp::facts::Vantage;

/// A handshake that took `answer`, and round trips of 100 ms from then on.
fn opened(answer: i64) -> SyntheticTransfer {
    let mut scene = SyntheticTransfer::flights(&[8 * MSS, 8 * MSS, 8 * MSS]);
    let at = |time: i64| Some((at_ms(time), Frame::default()));
    let handshake = &mut scene.facts.handshake;
    (handshake.syn, handshake.answered_syn) = (at(0), Some(at_ms(0)));
    (handshake.syn_ack, handshake.ack) = (at(answer), at(answer + 1));
    scene.facts.vantage = Vantage { near: Near::Client, ..scene.facts.vantage };
    scene
}

#[test]
fn slow_handshake_is_reported() {
    let found = opened(500).finding_over_connection(Cause::PathLatency).unwrap();
    assert_eq!((found.cost_s, found.confidence), (ms(400), 0.8));
    let slow = ExchangeStatement::FirstReplySlow { reply: FirstReply::SynAck, took_s: ms(500), later_s: ms(100) };
    assert_eq!(found.statement, slow.into());
    assert!(opened(190).finding_over_connection(Cause::PathLatency).is_none(), "not twice as long");
    let mut short = opened(45);
    (short.facts.rtt.p50, short.facts.rtt.p95) = (Some(ms(10)), Some(ms(10)));
    short.transfer.rounds.iter_mut().for_each(|round| round.rtt = Some(ms(10)));
    assert!(short.finding_over_connection(Cause::PathLatency).is_none(), "35 ms are nothing");
}

#[test]
fn client_delay_next_to_the_client_is_not_path_latency() {
    let mut scene = opened(100);
    scene.facts.handshake.ack = Some((at_ms(700), Frame::default()));
    assert!(scene.finding_over_connection(Cause::PathLatency).is_none());
    scene.facts.vantage.near = Near::Server;
    let found = scene.finding_over_connection(Cause::PathLatency).unwrap();
    assert_eq!((found.cost_s, found.confidence), (ms(500), 0.65));
}

#[test]
fn lost_syn_or_varying_round_trips_are_not_path_latency() {
    let mut lost = opened(1_100);
    lost.facts.handshake.retries = [1, 0];
    assert!(lost.finding_over_connection(Cause::PathLatency).is_none());
    let mut varied = opened(500);
    (varied.facts.rtt.p95, varied.facts.rtt.samples) = (Some(ms(520)), 50);
    assert!(varied.finding_over_connection(Cause::PathLatency).is_none());
    let mut few = opened(500);
    few.facts.rtt.p95 = Some(ms(400));
    assert!(few.finding_over_connection(Cause::PathLatency).is_none(), "of few the longest counts");
}

#[test]
fn slow_first_flight_is_reported() {
    let mut scene = opened(100);
    scene.transfer.rounds[0].rtt = Some(ms(700));
    let found = scene.finding_over_connection(Cause::PathLatency).unwrap();
    assert_eq!((found.cost_s, found.confidence), (ms(600), 0.6));
    // A lone segment's ACK may have been held back.
    scene.transfer.rounds[0].bytes = 200;
    scene.transfer.rounds[0].rtt = Some(ms(300));
    assert!(scene.finding_over_connection(Cause::PathLatency).is_none());
}
