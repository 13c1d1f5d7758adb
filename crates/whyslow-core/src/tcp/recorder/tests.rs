#![allow(clippy::unwrap_used)]

use super::*;
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
        let mut recorder = Recorder::new(1, begin, Frame::default(), Nanos::from_millis(1), 10_000);
        let (mut now, mut end, mut bin) = (begin + Nanos::from_micros(late), 1, 10_000);
        let mut last: Option<(Nanos, Place)> = None;
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
                        None => recorder.begins(now),
                    }
                    if let Event::Sent(_) = event {
                        end += bytes;
                        round.0 += bytes;
                        recorder.sent(end, now, bytes);
                    } else {
                        recorder.resent(now, Frame::default(), bytes);
                    }
                    sent.add(bytes, now, bin);
                    last = Some((now, Place::default()));
                    begun = true;
                }
                Event::Held | Event::Recovered | Event::Long => {
                    let Some(length) = pause_before else { continue };
                    match event {
                        Event::Held => recorder.held(length),
                        Event::Recovered => recorder.recovered(length),
                        _ => recorder.gap(Gap::example(now - length, now)),
                    }
                    end += 1;
                    round.0 += 1;
                    recorder.sent(end, now, 1);
                    sent.add(1, now, bin);
                    last = Some((now, Place::default()));
                }
                Event::Round => {
                    if begun {
                        recorder.next_round(now, Frame::default(), last);
                        rounds.push((0, Nanos::ZERO));
                    }
                }
                Event::Acked(bytes) => {
                    recorder.acked(now, 0, bytes, None, Nanos::ZERO);
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
                    recorder.take_rates_over(bin);
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

#[test]
fn the_curve_of_delivered_bytes_stays_true_and_small() {
    let mut recorder = Recorder::new(1, Nanos::ZERO, Frame::default(), Nanos::from_millis(1), 10_000);
    for n in 0..100_000 {
        // One byte a microsecond.
        recorder.acked(Nanos::from_micros(1_000 * n), 1, 1_000, None, Nanos::ZERO);
    }
    let curve = recorder.finish(None).delivered;
    assert!((200..=MOST_POINTS).contains(&curve.len()), "{}", curve.len());
    assert!(curve.iter().all(|&(time, bytes)| time.0 == 1_000 * bytes as i64), "no byte is lost by thinning");
    let last = curve.last().map_or(0, |point| point.1);
    assert!(last > 99_000_000, "{last}");
}
