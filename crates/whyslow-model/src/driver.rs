//! The model's clock: lets packets, ACKs, pauses and timers happen in the order of their times.

use super::congestion::{Bbr, CongestionController, Cubic, Reno};
use super::event_queue::{Event, EventQueue, Wake};
use super::ledger::{FullLedger, Ledger, NoLedger};
use super::link::Link;
use super::receiver::{Ack, Receiver};
use super::sender::{Blocked, Packet, Sender};
use super::sender_settings::Algorithm;
use super::{MAX_LENGTH, MAX_SEGMENTS, MAX_STEPS, MAX_TIME, Outcome, PauseKind, Scenario};
use std::cmp::Reverse;
use whyslow_analysis::types::LimitingFactor;
use whyslow_units::{Nanos, Time};

/// Plays a transfer through.
pub fn simulate(scenario: &Scenario) -> Outcome {
    let mut played = play::<FullLedger>(scenario, MAX_STEPS);
    let mut outcome = played.outcome;
    played.ledger.carry_on(played.more);
    played.ledger.limits.sort_by_key(|&(limit, time)| (Reverse(time), limit));
    (outcome.rounds, outcome.rounds_total) = (played.ledger.rounds, played.ledger.rounds_total);
    outcome.limits = played.ledger.limits;
    outcome
}

/// The duration of a transfer, and the work that it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// [`Outcome::duration`]; `None` if it takes more steps than allowed.
    pub duration: Option<Nanos>,
    /// Packets and events that were simulated, at most as many as allowed.
    pub steps: u64,
}

/// Returns the time of a transfer, with less work than [`simulate`]. It may take `most` steps.
pub fn time(scenario: &Scenario, most: u64) -> Timed {
    let outcome = play::<NoLedger>(scenario, most).outcome;
    let duration = (outcome.steps <= most).then_some(outcome.duration);
    Timed { duration, steps: outcome.steps.min(most) }
}

/// A transfer that was played through.
struct Played<L> {
    /// The outcome, except for the ledger's part.
    outcome: Outcome,
    ledger: L,
    /// Time that was not played but reckoned.
    more: Nanos,
}

fn play<L: Ledger>(scenario: &Scenario, most: u64) -> Played<L> {
    let mss = scenario.mss.clamp(1, 1 << 20);
    let rtt = Nanos(scenario.rtt.0.clamp(1_000, 3_600_000_000_000));
    let played = scenario.bytes.clamp(1, MAX_SEGMENTS * mss);
    let scenario = Scenario { mss, rtt, ..scenario.clone() };
    match scenario.sender.algorithm {
        Algorithm::Reno => Driver::<Reno, L>::new(&scenario, played, most).play(),
        Algorithm::Cubic => Driver::<Cubic, L>::new(&scenario, played, most).play(),
        Algorithm::Bbr => Driver::<Bbr, L>::new(&scenario, played, most).play(),
    }
}

/// The progress of a simulation at some time.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    time: Time,
    acked_bytes: u64,
}

struct Driver<'a, C, L> {
    scenario: &'a Scenario,
    bytes: u64,
    now: Time,
    events: EventQueue,
    link: Link<'a>,
    sender: Sender<C>,
    receiver: Receiver<'a>,
    /// Index of the pause that comes next, and whether it is on.
    pause: usize,
    silent: Option<PauseKind>,
    ledger: L,
    /// The place at which three quarters were acknowledged.
    quarter: Place,
    three_quarters: u64,
    delivered: Time,
    /// Events so far.
    events_seen: u64,
    /// More steps than this end the simulation.
    most_steps: u64,
    /// The place at which half of those steps were taken.
    half: Option<Place>,
}

impl<'a, C: CongestionController, L: Ledger> Driver<'a, C, L> {
    fn new(scenario: &'a Scenario, bytes: u64, most_steps: u64) -> Self {
        let receiver = Receiver::new(&scenario.receiver, scenario.rtt);
        Self {
            scenario,
            bytes,
            now: Time::ZERO,
            events: EventQueue::new(bytes / scenario.mss),
            link: Link::new(scenario),
            sender: Sender::new(scenario, bytes, receiver.right_edge()),
            receiver,
            pause: 0,
            silent: None,
            ledger: L::default(),
            quarter: Place::default(),
            three_quarters: bytes / 4 * 3,
            delivered: Time::ZERO,
            events_seen: 0,
            most_steps,
            half: None,
        }
    }

    /// Simulates the first bytes of a transfer, and extrapolates the rest.
    fn play(mut self) -> Played<L> {
        self.run();
        whyslow_units::steps::add(self.steps());
        let is_cut = self.steps() > self.most_steps;
        let (from, until) = match self.half.filter(|_| is_cut) {
            Some(half) => (half, self.sender.acked_bytes()),
            None => (self.quarter, self.bytes),
        };
        let rest = self.scenario.bytes.saturating_sub(until);
        let mut more = Nanos::ZERO;
        if rest > 0 {
            let per_byte = (self.now - from.time).as_secs_f64() / (until - from.acked_bytes).max(1) as f64;
            more = Nanos::from_secs_f64(per_byte * rest as f64).min(MAX_LENGTH);
        }
        let delivered = if is_cut { self.now } else { self.delivered };
        let outcome = Outcome {
            duration: self.now - Time::ZERO + more,
            delivered: delivered - Time::ZERO + more,
            rounds: Vec::new(),
            rounds_total: 0,
            limits: Vec::new(),
            retransmitted: self.sender.retransmitted,
            cwnd: self.sender.cwnd(),
            ssthresh: self.sender.ssthresh(),
            buffer: self.sender.buffer(),
            rto: self.sender.rto(),
            extrapolated: rest > 0,
            steps: self.steps(),
        };
        Played { outcome, ledger: self.ledger, more }
    }

    fn run(&mut self) {
        self.offer();
        while self.sender.acked_bytes() < self.bytes && self.has_steps_left() {
            let held = self.send_all();
            if self.flow() {
                continue;
            }
            let Some((at, event)) = self.events.next() else {
                // Nothing can happen any more: no scenario leads here, but no scenario may hang
                // either.
                break;
            };
            self.pass(held, at);
            self.events_seen += 1;
            self.happen(event);
        }
        self.ledger.assign(None);
    }

    /// Returns the packets and events so far.
    fn steps(&self) -> u64 {
        self.events_seen + self.sender.steps()
    }

    /// Returns whether the simulation may go on, and notes where half of its steps were taken.
    fn has_steps_left(&mut self) -> bool {
        let steps = self.steps();
        if self.half.is_none() && steps > self.most_steps / 2 {
            self.half = Some(self.place());
        }
        steps <= self.most_steps
    }

    fn place(&self) -> Place {
        Place { time: self.now, acked_bytes: self.sender.acked_bytes() }
    }

    /// The time until the next event passes.
    fn pass(&mut self, held: Blocked, at: Time) {
        let at = at.min(MAX_TIME);
        if L::KEEPS {
            let limit = self.limit(held);
            // While packets wait for the narrow link, that link is the limit.
            let carried =
                if covers(limit) { (self.link.busy_until().min(at) - self.now).or_zero() } else { Nanos::ZERO };
            self.ledger.wait(limit, carried, at - self.now - carried);
        }
        self.now = at;
    }

    /// While each ACK is for the oldest segment and comes before any other event, it arrives and
    /// releases full segments: most of a transfer. Returns whether any arrived. It does the same as
    /// [`Self::happen`] and [`Self::send_all`], except for the accounts; the latter schedules the
    /// events after the last of them.
    fn flow(&mut self) -> bool {
        if L::KEEPS || self.silent.is_some() || !self.sender.is_undisturbed() {
            return false;
        }
        let mut flows = false;
        let due = self.events.first_but_timer().min(MAX_TIME);
        let mut until = due.min(self.events.timer());
        let over = self.pause >= self.scenario.pauses.len();
        while let Some((at, ack)) = self.events.first_ack() {
            if at >= until || !self.sender.expects(ack) || self.steps() > self.most_steps {
                break;
            }
            let edge = ack.right_edge;
            self.events.take_ack();
            self.events_seen += 1;
            self.now = at;
            self.sender.acknowledge_next(at, edge);
            self.note_quarter();
            flows = true;
            let allowance = self.sender.allowance();
            while let Some(packet) = self.sender.next_full(at, allowance) {
                self.put_next(packet);
            }
            if !self.sender.must_wait(allowance, over) {
                match self.send() {
                    Blocked::Pace(_) => break,
                    Blocked::Program if !over => break,
                    _ => {}
                }
            }
            // The timer was restarted.
            until = due.min(self.sender.timer_after(at));
        }
        flows
    }

    /// As [`Self::put`], for a new segment that mostly comes in order.
    #[inline]
    fn put_next(&mut self, packet: Packet) {
        if !self.receiver.awaits(packet.segment) {
            return self.put(packet);
        }
        let Some(at) = self.link.send(self.now, packet.start, packet.end, true) else { return };
        let ack = self.receiver.arrive_next(at, packet.end);
        if packet.end >= self.bytes {
            self.delivered = at;
        }
        self.answer(at, ack);
    }

    /// Sends the permitted segments; returns why no more are.
    fn send(&mut self) -> Blocked {
        loop {
            match self.sender.next(self.now) {
                Ok(packet) => self.put(packet),
                Err(held) => return held,
            }
        }
    }

    /// How much the program has given.
    fn offer(&mut self) {
        let next = self.scenario.pauses.get(self.pause);
        self.sender.offer(next.map_or(self.bytes, |pause| pause.at.min(self.bytes)));
    }

    fn wake(&mut self, at: Time, wake: Wake) {
        self.events.schedule_wake((at.max(self.now), self.now), wake);
    }

    /// Sends the permitted segments; returns why no more are.
    fn send_all(&mut self) -> Blocked {
        // While a timer runs nothing leaves, whatever arrives.
        let held = if self.silent == Some(PauseKind::Timer) { Blocked::Program } else { self.send() };
        let held = match held {
            Blocked::Program if self.silent != Some(PauseKind::Timer) && !self.begins_silence() => Blocked::Done,
            held => held,
        };
        if let Blocked::Pace(at) = held {
            self.wake(at, Wake::Pace);
        }
        // A given silence replaces the timers in it.
        match self.sender.rto_timer() {
            Some(at) if self.silent.is_none() => self.wake(at, Wake::Timer),
            _ => self.events.cancel_wake(Wake::Timer),
        }
        if let Some(at) = self.sender.recheck.take() {
            self.events.schedule_recheck((at.max(self.now), self.now));
        }
        held
    }

    /// Whether a silence is on, or begins now that everything that was offered is sent.
    fn begins_silence(&mut self) -> bool {
        let Some(pause) = self.scenario.pauses.get(self.pause) else { return false };
        // At the end only the timer's silence means anything.
        let comes = pause.at <= self.sender.sent_bytes()
            && (self.sender.sent_bytes() < self.bytes || pause.kind == PauseKind::Timer);
        if comes && self.silent.is_none() {
            self.silent = Some(pause.kind);
            self.wake(self.now + pause.length.or_zero(), Wake::PauseEnds);
        }
        comes
    }

    #[inline]
    fn put(&mut self, packet: Packet) {
        self.ledger.assign(None);
        self.ledger.send(self.now, &packet, self.sender.acked_bytes());
        if let Some(at) = self.link.send(self.now, packet.start, packet.end, packet.first_copy) {
            self.arrive(at.max(self.now), &packet);
        }
    }

    /// A segment that leaves now will arrive at `at`, and nothing overtakes it: the receiver's
    /// response is known already.
    #[inline]
    fn arrive(&mut self, at: Time, packet: &Packet) {
        while let Some((due, segment)) = self.events.due_before((at, self.now)) {
            self.answer_late(due, segment);
        }
        let ack = self.receiver.arrive(at, packet.segment, packet.end, |segment| self.sender.end_of(segment));
        if self.receiver.delivered() >= self.bytes && self.delivered == Time::ZERO {
            self.delivered = at;
        }
        match ack {
            Some(ack) => self.answer(at, ack),
            None => self.events.schedule_delayed_ack((at + self.scenario.receiver.ack_delay, at), packet.segment),
        }
    }

    fn answer_late(&mut self, at: Time, segment: usize) {
        if let Some(ack) = self.receiver.answer_late(segment) {
            self.answer(at, ack);
        }
    }

    /// The receiver sends an ACK.
    #[inline]
    fn answer(&mut self, at: Time, ack: Ack) {
        self.events.schedule_ack((Time(at.0 + self.link.way_back().0), at), ack);
    }

    fn note_quarter(&mut self) {
        if self.sender.acked_bytes() <= self.three_quarters {
            self.quarter = self.place();
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::AckDue(segment) => self.answer_late(self.now, segment),
            Event::Acked(ack) => {
                self.ledger.assign(None);
                self.sender.acknowledge(self.now, &ack);
                self.note_quarter();
            }
            Event::Wakes(Wake::PauseEnds) => {
                match self.silent.take() {
                    Some(PauseKind::Timer) => {
                        self.ledger.assign(Some(LimitingFactor::Timeout));
                        self.pause += 1;
                        self.offer();
                        // The timer's segment was lost as well: it runs again, for longer.
                        let again =
                            self.scenario.pauses.get(self.pause).is_some_and(|next| next.kind == PauseKind::Timer);
                        if !again || !self.begins_silence() {
                            self.sender.on_rto(self.now);
                        }
                        return;
                    }
                    Some(PauseKind::Idle) => {
                        self.ledger.assign(None);
                        self.sender.restart_after_idle(self.scenario.sender.initial_window);
                    }
                    _ => self.ledger.assign(None),
                }
                self.pause += 1;
                self.offer();
            }
            Event::Wakes(Wake::Timer) => {
                self.ledger.assign(Some(LimitingFactor::Timeout));
                if let Some(packet) = self.sender.on_timer(self.now) {
                    self.put(packet);
                }
            }
            Event::Recheck => self.sender.detect_losses(self.now),
            Event::Wakes(Wake::Pace) => {}
        }
    }

    /// The sender's limit from now until the next event.
    fn limit(&self, held: Blocked) -> LimitingFactor {
        match held {
            Blocked::Program => match self.silent {
                Some(PauseKind::Timer) => LimitingFactor::Timeout,
                _ => LimitingFactor::Application,
            },
            _ if self.sender.is_recovering() => LimitingFactor::LossRecovery,
            Blocked::Cap => LimitingFactor::SenderCap,
            Blocked::Pace(_) => LimitingFactor::Pacing,
            Blocked::Done => LimitingFactor::RoundTrip,
            Blocked::Receiver => LimitingFactor::ReceiveWindow,
            Blocked::Congestion if self.sender.in_slow_start() => LimitingFactor::SlowStart,
            Blocked::Congestion => LimitingFactor::CongestionAvoidance,
        }
    }
}

/// Limits behind which the path itself may stand.
fn covers(limit: LimitingFactor) -> bool {
    matches!(
        limit,
        LimitingFactor::RoundTrip
            | LimitingFactor::ReceiveWindow
            | LimitingFactor::SlowStart
            | LimitingFactor::CongestionAvoidance
    )
}
