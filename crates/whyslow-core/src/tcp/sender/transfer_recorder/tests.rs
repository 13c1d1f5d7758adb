#![allow(clippy::unwrap_used)]

use super::*;
use crate::tcp::sender::rtt::Quantiles;
use proptest::prelude::*;

/// What may happen to a transfer, after so many microseconds.
#[derive(Clone, Copy, Debug)]
enum Event {
    Sent(u64),
    Resent(u64),
    Round,
    Held,
    Recovered,
    Long,
    Acked(u64),
    Bin(u64),
    Unseen(u64),
}

fn events() -> impl Strategy<Value = Vec<(i64, Event)>> {
    let event = prop_oneof![
        8 => (1..5_000u64).prop_map(Event::Sent),
        1 => (1..5_000u64).prop_map(Event::Resent),
        1 => Just(Event::Round),
        1 => Just(Event::Held),
        1 => Just(Event::Recovered),
        1 => Just(Event::Long),
        6 => (0..5_000u64).prop_map(Event::Acked),
        1 => (1..20_000u64).prop_map(Event::Bin),
        1 => (1..5_000u64).prop_map(Event::Unseen),
    ];
    prop::collection::vec((prop_oneof![Just(0), 0..900i64], event), 1..200)
}

/// Rates as they are found when the bytes of each bin are counted one by one.
#[derive(Default)]
struct Counted {
    since: Option<Nanos>,
    bytes: u64,
    paces: Quantiles,
}

impl Counted {
    fn add(&mut self, bytes: u64, time: Nanos, bin: u64) {
        let Some(since) = self.since else {
            self.since = Some(time);
            return;
        };
        self.bytes += bytes;
        if self.bytes >= bin && time > since {
            self.paces.push(Nanos((time - since).scale(1_048_576.0 / self.bytes as f64).0.max(1)));
            (self.bytes, self.since) = (0, Some(time));
        }
    }
}

proptest! {
    /// What is reckoned when a round or a bin ends is what counting with every segment gives.
    #[test]
    fn nothing_is_lost_by_reckoning_later(events in events(), late in 0..2_000i64) {
        let begin = Nanos::from_micros(7);
        let mut recorder = TransferRecorder::new(1, begin, Frame::default(), Nanos::from_millis(1), 10_000);
        let (mut now, mut end, mut bin) = (begin + Nanos::from_micros(late), 1, 10_000);
        let mut last: Option<(Nanos, FrameRef)> = None;
        let mut rounds = vec![(0, Nanos::ZERO)];
        let (mut sent, mut acked, mut curve) = (Counted::default(), Counted::default(), Vec::<(Nanos, u64)>::new());
        let (mut since_point, mut begun) = (0, false);
        for (after, event) in events {
            now += Nanos::from_micros(after);
            let pause_before = last.map(|(time, _)| now - time);
            let round = rounds.last_mut().unwrap();
            match event {
                Event::Sent(bytes) | Event::Resent(bytes) => {
                    match pause_before {
                        Some(length) => round.1 += length,
                        None => recorder.start_at(now),
                    }
                    if let Event::Sent(_) = event {
                        end += bytes;
                        round.0 += bytes;
                        recorder.on_send(end, now, bytes);
                    } else {
                        recorder.on_retransmit(now, Frame::default(), bytes);
                    }
                    sent.add(bytes, now, bin);
                    last = Some((now, FrameRef::default()));
                    begun = true;
                }
                Event::Held | Event::Recovered | Event::Long => {
                    let Some(length) = pause_before else { continue };
                    match event {
                        Event::Held => recorder.add_window_full_gap(length),
                        Event::Recovered => recorder.add_recovery_gap(length),
                        _ => recorder.add_gap(Gap::example(now - length, now)),
                    }
                    end += 1;
                    round.0 += 1;
                    recorder.on_send(end, now, 1);
                    sent.add(1, now, bin);
                    last = Some((now, FrameRef::default()));
                }
                Event::Round => {
                    if begun {
                        recorder.next_round(now, Frame::default(), last);
                        rounds.push((0, Nanos::ZERO));
                    }
                }
                Event::Acked(bytes) => {
                    recorder.on_ack(now, 0, AckOutcome { delivered: bytes, ..AckOutcome::default() });
                    if bytes == 0 {
                        continue;
                    }
                    acked.add(bytes, now, bin);
                    since_point += bytes;
                    match curve.last().copied() {
                        None => curve.push((now, 0)),
                        Some((time, _)) if since_point < bin || now <= time => continue,
                        Some((_, before)) => curve.push((now, before + since_point)),
                    }
                    since_point = 0;
                }
                Event::Bin(bytes) => {
                    bin = bytes;
                    recorder.set_rate_bin(bin);
                }
                Event::Unseen(bytes) => {
                    end += bytes;
                    round.0 += bytes;
                    recorder.extend(end);
                }
            }
        }
        let facts = recorder.finish(last);
        let found: Vec<_> = facts.rounds.iter().map(|round| (round.bytes, round.flowing)).collect();
        prop_assert_eq!(found, rounds);
        prop_assert_eq!(facts.delivered, curve);
        for (spread, counted) in [(facts.sent_rate, &sent), (facts.acked_rate, &acked)] {
            prop_assert_eq!(spread.bins, counted.paces.count());
            let pace = counted.paces.at([0.5]).map_or(0.0, |[pace]| 8.0 * 1_048_576.0 / pace.as_secs_f64());
            prop_assert_eq!(spread.p50, pace);
        }
    }
}

/// A recorder that goes on after a cut, the last segment before it, and the pause there.
type Cut = (TransferRecorder, Option<(Nanos, FrameRef)>, Option<Gap>);

proptest! {
    /// A boundary that is taken back leaves no trace but in the rates of the bins around it.
    #[test]
    fn what_was_cut_is_joined_again(flights in prop::collection::vec((1..40u64, 0..3_000i64), 2..12), cut in 1..11usize) {
        let floor = Nanos::from_millis(1);
        let fresh = |seq: u64, now: Nanos| TransferRecorder::new(seq, now, Frame::default(), floor, 10_000);
        let (mut whole, mut first) = (fresh(1, Nanos::ZERO), fresh(1, Nanos::ZERO));
        let mut second: Option<Cut> = None;
        let (mut now, mut end, mut last) = (Nanos::ZERO, 1, None::<(Nanos, FrameRef)>);
        for (n, (segments, pause)) in flights.into_iter().enumerate() {
            now += Nanos::from_micros(pause);
            let gap = last.map(|(time, _)| Gap::example(time, now)).filter(|gap| gap.end - gap.start > floor);
            if n > 0 {
                whole.reopen();
                whole.next_round(now, Frame::default(), last);
                gap.into_iter().for_each(|gap| whole.add_gap(gap));
            }
            match &mut second {
                _ if n == 0 => {}
                None if n == cut => second = Some((fresh(end, now), last, gap)),
                part => {
                    let part = part.as_mut().map_or(&mut first, |part| &mut part.0);
                    part.reopen();
                    part.next_round(now, Frame::default(), last);
                    gap.into_iter().for_each(|gap| part.add_gap(gap));
                }
            }
            for segment in 0..segments {
                end += 1_000;
                for part in [&mut whole, second.as_mut().map_or(&mut first, |part| &mut part.0)] {
                    if segment == 0 && (n == 0 || n == cut && part.facts.seq.1 + 1_000 == end && part.facts.segments == 0) {
                        part.start_at(now);
                    }
                    part.on_send(end, now, 1_000 * (segment + 1));
                }
                last = Some((now, FrameRef::default()));
                now += Nanos::from_micros(10);
            }
            now += Nanos::from_micros(500);
            for part in [&mut whole, second.as_mut().map_or(&mut first, |part| &mut part.0)] {
                let outcome = AckOutcome { delivered: 1_000 * segments, rtt: Some(Nanos(500)), late: Nanos::ZERO };
                part.on_ack(now, end, outcome);
            }
        }
        if let Some((more, last, pause)) = second {
            first.absorb(last, pause, more);
        }
        let (whole, joined) = (whole.finish(last), first.finish(last));
        prop_assert_eq!(format!("{:?}", joined.rounds), format!("{:?}", whole.rounds));
        prop_assert_eq!(format!("{:?}", joined.gaps), format!("{:?}", whole.gaps));
        prop_assert_eq!((joined.seq, joined.segments, joined.end), (whole.seq, whole.segments, whole.end));
        prop_assert_eq!((joined.last_send, joined.max_in_flight), (whole.last_send, whole.max_in_flight));
        prop_assert!(joined.sent_rate.bins.abs_diff(whole.sent_rate.bins) <= 1);
        prop_assert!(joined.acked_rate.bins.abs_diff(whole.acked_rate.bins) <= 1);
        for &(time, bytes) in &joined.delivered {
            prop_assert!(whole.delivered.iter().all(|&(at, told)| at != time || told == bytes));
        }
    }
}

#[test]
fn the_curve_of_delivered_bytes_stays_true_and_small() {
    let mut recorder = TransferRecorder::new(1, Nanos::ZERO, Frame::default(), Nanos::from_millis(1), 10_000);
    for n in 0..100_000 {
        // One byte a microsecond.
        let outcome = AckOutcome { delivered: 1_000, ..AckOutcome::default() };
        recorder.on_ack(Nanos::from_micros(1_000 * n), 1, outcome);
    }
    let curve = recorder.finish(None).delivered;
    assert!((200..=MAX_POINTS).contains(&curve.len()), "{}", curve.len());
    assert!(curve.iter().all(|&(time, bytes)| time.0 == 1_000 * bytes as i64), "no byte is lost by thinning");
    let last = curve.last().map_or(0, |point| point.1);
    assert!(last > 99_000_000, "{last}");
}
