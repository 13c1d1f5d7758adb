#![allow(clippy::unwrap_used)]

use super::span::merge_runs;
use super::*;
use crate::estimate::synthetic_transfer::{MSS, context, flights, gap};
use proptest::prelude::*;
use whyslow_core::tcp::facts::{Loss, RateSpread, Release, RoundFacts, SendPause};
use whyslow_units::{Nanos, Time};

mod pauses;
mod rounds;

fn ms(milliseconds: i64) -> Nanos {
    Nanos::from_millis(milliseconds)
}

/// The instant `milliseconds` after the origin of times.
fn at_ms(milliseconds: i64) -> Time {
    Time::from_millis(milliseconds)
}

/// Flights whose pauses end with a message of the receiver, one in two of which acknowledges all.
fn credited(sizes: &[u64]) -> TransferFacts {
    let mut transfer = flights(sizes, Release::Peer);
    transfer.pauses.iter_mut().for_each(|gap| gap.with_peer_payload = true);
    transfer.pauses.iter_mut().step_by(2).for_each(|gap| gap.release = Release::Ack);
    transfer
}

#[test]
fn messages_below_a_frame_do_not_fill_an_http2_window() {
    let of = |bytes: u64, is_http2: bool| {
        let mut transfer = credited(&[bytes; 20]);
        transfer.max_in_flight = bytes;
        attribute_time(&transfer, &Context { is_http2, ..context(100) }).time(LimitingFactor::ProtocolWindow)
    };
    assert!(of(6_000, false) > Nanos::ZERO && of(65_000, true) > Nanos::ZERO);
    assert_eq!(of(6_000, true), Nanos::ZERO);
}

#[test]
fn slow_reader_is_not_a_full_link() {
    let mut transfer = flights(&[60_000; 20], Release::WindowAck);
    transfer.acked_rate = RateSpread { p10: 4.7e6, p50: 4.8e6, p90: 4.9e6, bins: 100 };
    transfer.rounds.iter_mut().for_each(|round| round.rtt = Some(Nanos::from_millis(100)));
    let bandwidth = |transfer: &TransferFacts| attribute_time(transfer, &context(40)).time(LimitingFactor::Bandwidth);
    assert!(bandwidth(&transfer) > Nanos::ZERO);
    for gap in transfer.pauses.iter_mut().step_by(2) {
        gap.closed = Some((gap.end - Nanos::from_millis(20), Nanos::from_millis(20)));
    }
    assert_eq!(bandwidth(&transfer), Nanos::ZERO);
    let cut = attribute_time(&transfer, &context(40));
    assert_eq!(cut.time(LimitingFactor::ZeroWindow), Nanos::from_millis(200));
    assert!(cut.time(LimitingFactor::ReceiveWindow) > Nanos::from_millis(1_500));
}

#[test]
fn wait_for_a_timeouts_retransmission_is_not_the_links() {
    let mut transfer = flights(&[60_000; 20], Release::WindowAck);
    transfer.acked_rate = RateSpread { p10: 4.7e6, p50: 4.8e6, p90: 4.9e6, bins: 100 };
    transfer.rounds.iter_mut().for_each(|round| round.rtt = Some(ms(100)));
    (transfer.pauses[9].release, transfer.pauses[10].release) = (Release::Timer, Release::Ack);
    transfer.pauses[10].recovering = true;
    let cut = attribute_time(&transfer, &context(40));
    assert_eq!((cut.time(LimitingFactor::Timeout), cut.time(LimitingFactor::LossRecovery)), (ms(100), ms(100)));
    // Without the timeout the link works while segments are sent again.
    transfer.pauses[9].release = Release::WindowAck;
    assert_eq!(attribute_time(&transfer, &context(40)).time(LimitingFactor::LossRecovery), Nanos::ZERO);
}

#[test]
fn link_rate_within_flights_is_not_the_limit_between_them() {
    // 400 kB in 10 ms, and then 90 ms of waiting.
    let mut transfer = flights(&[400_000; 8], Release::Ack);
    for (round, gap) in transfer.rounds.iter_mut().zip(&mut transfer.pauses) {
        round.last_send = round.start + Nanos::from_millis(10);
        gap.start = round.last_send;
    }
    transfer.acked_rate = RateSpread { p10: 310e6, p50: 320e6, p90: 330e6, bins: 300 };
    let cut = attribute_time(&transfer, &context(100));
    assert_eq!(cut.time(LimitingFactor::SenderCap), Nanos::from_millis(700));
    // The same flights one after the other are the link's doing, where they queue.
    transfer.acked_rate = RateSpread { p10: 31e6, p50: 32e6, p90: 33e6, bins: 300 };
    assert_eq!(attribute_time(&transfer, &context(100)).time(LimitingFactor::Bandwidth), Nanos::ZERO);
    transfer.rounds.iter_mut().for_each(|round| round.rtt = Some(Nanos::from_millis(100)));
    assert!(attribute_time(&transfer, &context(50)).time(LimitingFactor::Bandwidth) >= Nanos::from_millis(700));
}

#[test]
fn empty_buffer_is_application_limited() {
    let mut transfer = flights(&[5_000; 6], Release::Nothing);
    transfer.pauses.iter_mut().for_each(|gap| gap.idle = true);
    assert_eq!(attribute_time(&transfer, &context(20)).time(LimitingFactor::Application), Nanos::from_millis(500));
    // Unless the packets between were never captured.
    transfer.pauses.iter_mut().for_each(|gap| gap.unseen = true);
    let elided = Context { elided: true, ..context(20) };
    assert_eq!(attribute_time(&transfer, &elided).time(LimitingFactor::Application), Nanos::ZERO);
}

#[test]
fn one_steady_rate_is_bandwidth() {
    let mut transfer = flights(&[100_000; 10], Release::Nothing);
    transfer.acked_rate = RateSpread { p10: 7.9e6, p50: 8e6, p90: 8.1e6, bins: 50 };
    transfer.rounds.iter_mut().for_each(|round| round.rtt = Some(Nanos::from_millis(100)));
    let cut = attribute_time(&transfer, &context(20));
    assert_eq!(cut.shape.steady, Some(8e6));
    assert!(cut.time(LimitingFactor::Bandwidth) >= Nanos::from_millis(900));
}

#[test]
fn one_direction_alone_has_unknown_limits() {
    let cut = attribute_time(&flights(&[64_000; 8], Release::Ack), &Context { one_direction: true, ..context(100) });
    assert_eq!(cut.times().len(), 1);
    assert_eq!(cut.times()[0].limit, LimitingFactor::Unknown);
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
    /// Rounds and pauses at any times, overlapping or not, and also after the transfer's end:
    /// clocks jump back.
    fn any_transfer()(
        starts in prop::collection::vec((0i64..1000, 0u64..200_000, 0u32..3), 1..20),
        pauses in prop::collection::vec((0i64..1000, 0i64..300, any_release(), any::<[bool; 5]>(), 0i64..400), 0..30),
        tail in 0i64..500,
        cut_short in prop_oneof![Just(0), 0i64..1000],
        steady in any::<bool>(),
    ) -> TransferFacts {
        let mut starts = starts;
        starts.sort_unstable();
        let first = at_ms(starts[0].0);
        let rounds: Vec<RoundFacts> = starts.iter().map(|&(start, bytes, resent)| RoundFacts {
            start: at_ms(start), last_send: at_ms(start), bytes, in_flight: bytes, retransmitted: resent, merged: 1, ..RoundFacts::default()
        }).collect();
        let last_send = rounds.last().unwrap().start + ms(tail / 2);
        let mut gaps: Vec<SendPause> = pauses.iter().map(|&(start, length, release, flags, late)| SendPause {
            closed: flags[0].then_some((at_ms(start), ms(length))), recovering: flags[1], app_limited: flags[2], with_peer_payload: flags[0], tail: flags[2], idle: flags[3], last_ack: flags[4],
            ack_late: ms(late), ..gap(at_ms(start).max(first), at_ms(start + length).max(first).min(last_send + ms(cut_short)), release)
        }).filter(|gap| gap.end > gap.start).collect();
        gaps.sort_by_key(|gap| gap.start);
        let rate = if steady { RateSpread { p10: 1e6, p50: 1e6, p90: 1e6, bins: 20 } } else { RateSpread::default() };
        TransferFacts {
            seq: (1, 1 + rounds.iter().map(|round| round.bytes).sum::<u64>()),
            start: first, end: (last_send + ms(tail - cut_short)).max(first), last_send, acknowledged: true,
            rounds_total: rounds.len() as u64, rounds, pauses: gaps, acked_rate: rate, ..TransferFacts::default()
        }
    }
}

proptest! {
    #[test]
    fn spans_are_contiguous_and_add_up(transfer in any_transfer(), rtt in 0i64..200, most in 1usize..20) {
        let cut = attribute_time(&transfer, &context(rtt));
        let mut at = transfer.start;
        for span in &cut.spans {
            prop_assert_eq!(span.start, at);
            prop_assert!(span.end > span.start);
            at = span.end;
        }
        prop_assert_eq!(at, transfer.end);
        prop_assert_eq!(cut.rounds.len(), transfer.rounds.len());
        prop_assert_eq!(cut.times().iter().map(|part| part.time).sum::<Nanos>(), transfer.duration());
        let line = merge_runs(&cut.spans, most);
        prop_assert!(line.len() <= most);
        prop_assert_eq!(line.iter().map(Span::length).sum::<Nanos>(), transfer.duration());
    }
}
