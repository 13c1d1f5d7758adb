#![allow(clippy::unwrap_used)]

use super::*;
use crate::tcp::sender::rtt::Quantiles;
use proptest::prelude::*;

/// Events of a transfer; each comes some microseconds after the previous one.
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

/// Rates from counting the bytes of each bin individually.
#[derive(Default)]
struct Counted {
    since: Option<Time>,
    bytes: u64,
    paces: Quantiles,
}

impl Counted {
    fn add(&mut self, bytes: u64, time: Time, bin: u64) {
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

/// A recorder, and the result of counting every segment of the same events.
struct Recording {
    recorder: TransferRecorder,
    now: Time,
    end: u64,
    bin: u64,
    last: Option<(Time, FrameRef)>,
    rounds: Vec<(u64, Nanos)>,
    sent: Counted,
    acked: Counted,
    curve: Vec<(Time, u64)>,
    since_point: u64,
}

impl Recording {
    fn new(late: i64) -> Self {
        let (begin, bin) = (Time::from_micros(7), 10_000);
        Self {
            recorder: TransferRecorder::new(1, begin, Frame::default(), Nanos::from_millis(1), bin),
            now: begin + Nanos::from_micros(late),
            end: 1,
            bin,
            last: None,
            rounds: vec![(0, Nanos::ZERO)],
            sent: Counted::default(),
            acked: Counted::default(),
            curve: Vec::new(),
            since_point: 0,
        }
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Sent(bytes) | Event::Resent(bytes) => {
                match self.last {
                    Some((time, _)) => self.rounds.last_mut().unwrap().1 += self.now - time,
                    None => self.recorder.start_at(self.now),
                }
                match event {
                    Event::Sent(_) => self.send_new(bytes),
                    _ => self.recorder.on_retransmit(self.now, Frame::default(), bytes),
                }
                self.note_sent(bytes);
            }
            Event::Held | Event::Recovered | Event::Long => {
                let Some((time, _)) = self.last else { return };
                match event {
                    Event::Held => self.recorder.add_window_full_gap(self.now - time),
                    Event::Recovered => self.recorder.add_recovery_gap(self.now - time),
                    _ => self.recorder.add_gap(SendPause::example(time, self.now)),
                }
                self.send_new(1);
                self.note_sent(1);
            }
            Event::Round if self.last.is_some() => {
                self.recorder.next_round(self.now, Frame::default(), self.last);
                self.rounds.push((0, Nanos::ZERO));
            }
            Event::Round => {}
            Event::Acked(bytes) => self.ack(bytes),
            Event::Bin(bytes) => {
                self.bin = bytes;
                self.recorder.set_rate_bin(bytes);
            }
            Event::Unseen(bytes) => {
                self.end += bytes;
                self.rounds.last_mut().unwrap().0 += bytes;
                self.recorder.extend(self.end);
            }
        }
    }

    fn send_new(&mut self, bytes: u64) {
        self.end += bytes;
        self.rounds.last_mut().unwrap().0 += bytes;
        self.recorder.on_send(self.end, self.now, bytes);
    }

    fn note_sent(&mut self, bytes: u64) {
        self.sent.add(bytes, self.now, self.bin);
        self.last = Some((self.now, FrameRef::default()));
    }

    fn ack(&mut self, bytes: u64) {
        self.recorder.on_ack(self.now, 0, AckOutcome { delivered: bytes, ..AckOutcome::default() });
        if bytes == 0 {
            return;
        }
        self.acked.add(bytes, self.now, self.bin);
        self.since_point += bytes;
        match self.curve.last().copied() {
            None => self.curve.push((self.now, 0)),
            Some((time, _)) if self.since_point < self.bin || self.now <= time => return,
            Some((_, before)) => self.curve.push((self.now, before + self.since_point)),
        }
        self.since_point = 0;
    }
}

proptest! {
    /// Updating only at the end of a round or bin gives the same result as counting every segment.
    #[test]
    fn deferred_updates_agree_with_counting_every_segment(events in events(), late in 0..2_000i64) {
        let mut recording = Recording::new(late);
        for (after, event) in events {
            recording.now += Nanos::from_micros(after);
            recording.apply(event);
        }
        let facts = recording.recorder.finish(recording.last);
        let found: Vec<_> = facts.rounds.iter().map(|round| (round.bytes, round.flowing)).collect();
        prop_assert_eq!(found, recording.rounds);
        prop_assert_eq!(facts.delivered, recording.curve);
        for (spread, counted) in [(facts.sent_rate, &recording.sent), (facts.acked_rate, &recording.acked)] {
            prop_assert_eq!(spread.bins, counted.paces.count());
            let pace = counted.paces.at([0.5]).map_or(0.0, |[pace]| 8.0 * 1_048_576.0 / pace.as_secs_f64());
            prop_assert_eq!(spread.p50, pace);
        }
    }
}

/// A recorder that continues after a boundary, the last segment before it, and the pause there.
type Cut = (TransferRecorder, Option<(Time, FrameRef)>, Option<SendPause>);

proptest! {
    /// A removed boundary changes nothing except the rates of the bins around it.
    #[test]
    fn absorbed_transfer_equals_an_undivided_one(flights in prop::collection::vec((1..40u64, 0..3_000i64), 2..12), cut in 1..11usize) {
        let floor = Nanos::from_millis(1);
        let fresh = |seq: u64, now: Time| TransferRecorder::new(seq, now, Frame::default(), floor, 10_000);
        let (mut whole, mut first) = (fresh(1, Time::ZERO), fresh(1, Time::ZERO));
        let mut second: Option<Cut> = None;
        let (mut now, mut end, mut last) = (Time::ZERO, 1, None::<(Time, FrameRef)>);
        for (n, (segments, pause)) in flights.into_iter().enumerate() {
            now += Nanos::from_micros(pause);
            let gap = last.map(|(time, _)| SendPause::example(time, now)).filter(|gap| gap.end - gap.start > floor);
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
        prop_assert_eq!(format!("{:?}", joined.pauses), format!("{:?}", whole.pauses));
        prop_assert_eq!((joined.seq, joined.segments, joined.end), (whole.seq, whole.segments, whole.end));
        prop_assert_eq!((joined.last_send, joined.max_in_flight), (whole.last_send, whole.max_in_flight));
        prop_assert!(joined.sent_rate.bins.abs_diff(whole.sent_rate.bins) <= 1);
        prop_assert!(joined.acked_rate.bins.abs_diff(whole.acked_rate.bins) <= 1);
        for &(time, bytes) in &joined.delivered {
            prop_assert!(whole.delivered.iter().all(|&(at, delivered)| at != time || delivered == bytes));
        }
    }
}

#[test]
fn delivery_curve_stays_accurate_and_small() {
    let mut recorder = TransferRecorder::new(1, Time::ZERO, Frame::default(), Nanos::from_millis(1), 10_000);
    for n in 0..100_000 {
        // One byte per microsecond.
        let outcome = AckOutcome { delivered: 1_000, ..AckOutcome::default() };
        recorder.on_ack(Time::from_micros(1_000 * n), 1, outcome);
    }
    let curve = recorder.finish(None).delivered;
    assert!((200..=MAX_POINTS).contains(&curve.len()), "{}", curve.len());
    assert!(curve.iter().all(|&(time, bytes)| time.0 == 1_000 * bytes as i64), "no byte is lost by thinning");
    let last = curve.last().map_or(0, |point| point.1);
    assert!(last > 99_000_000, "{last}");
}
