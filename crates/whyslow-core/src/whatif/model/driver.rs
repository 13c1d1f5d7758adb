//! The model's clock: lets packets, ACKs, pauses and timers happen in the order of their times.

use super::agenda::{Agenda, Event, Wake};
use super::congestion::{Algorithm, Bbr, Control, Cubic, Reno};
use super::link::Link;
use super::receiver::{Ack, Receiver};
use super::sender::{Held, Packet, Sender};
use super::{MOST_ROUNDS, MOST_SEGMENTS, Outcome, Scenario, Silence};
use crate::analysis::Limit;
use crate::units::Nanos;
use std::cmp::Reverse;

/// Plays a transfer through.
pub fn simulate(scenario: &Scenario) -> Outcome {
    let mss = scenario.mss.clamp(1, 1 << 20);
    let most = MOST_SEGMENTS * mss;
    let played = scenario.bytes.clamp(1, most);
    let rtt = Nanos(scenario.rtt.0.clamp(1_000, 3_600_000_000_000));
    let scenario = Scenario { mss, rtt, ..scenario.clone() };
    match scenario.sender.algorithm {
        Algorithm::Reno => play::<Reno>(&scenario, played),
        Algorithm::Cubic => play::<Cubic>(&scenario, played),
        Algorithm::Bbr => play::<Bbr>(&scenario, played),
    }
}

/// Plays so many of a transfer's bytes, and reckons the rest.
fn play<C: Control>(scenario: &Scenario, played: u64) -> Outcome {
    let mut driver = Driver::<C>::new(scenario, played);
    let mut outcome = driver.run();
    if scenario.bytes > played {
        let (at, bytes) = driver.quarter;
        let took = (outcome.duration - at).as_secs_f64() / (played - bytes).max(1) as f64;
        let more = Nanos::from_secs_f64(took * (scenario.bytes - played) as f64);
        outcome.duration += more;
        outcome.delivered += more;
        let last = driver.last_limit;
        add(&mut outcome.limits, last, more);
        outcome.extrapolated = true;
    }
    outcome.limits.sort_by_key(|&(limit, time)| (Reverse(time), limit));
    outcome
}

struct Driver<'a, C> {
    scenario: &'a Scenario,
    bytes: u64,
    now: Nanos,
    agenda: Agenda,
    link: Link<'a>,
    sender: Sender<C>,
    receiver: Receiver<'a>,
    /// Index of the pause that comes next, and whether it is on.
    pause: usize,
    silent: Option<Silence>,
    /// Time since the last send or ACK, by what held the sender: a timer that fires takes all of it.
    stretch: Vec<(Limit, Nanos)>,
    limits: Vec<(Limit, Nanos)>,
    last_limit: Limit,
    rounds: Vec<(Nanos, u64)>,
    rounds_total: u64,
    /// Bytes that end the round, and that began it.
    round: (u64, u64),
    /// When three quarters were acknowledged, and how much that was.
    quarter: (Nanos, u64),
    delivered: Nanos,
}

impl<'a, C: Control> Driver<'a, C> {
    fn new(scenario: &'a Scenario, bytes: u64) -> Self {
        let receiver = Receiver::new(&scenario.receiver, scenario.rtt);
        Self {
            scenario,
            bytes,
            now: Nanos::ZERO,
            agenda: Agenda::new(),
            link: Link::new(scenario),
            sender: Sender::new(scenario, bytes, receiver.edge()),
            receiver,
            pause: 0,
            silent: None,
            stretch: Vec::new(),
            limits: Vec::new(),
            last_limit: Limit::Unknown,
            rounds: Vec::new(),
            rounds_total: 0,
            round: (0, 0),
            quarter: (Nanos::ZERO, 0),
            delivered: Nanos::ZERO,
        }
    }

    fn run(&mut self) -> Outcome {
        self.offer();
        while self.sender.acknowledged() < self.bytes {
            let held = self.send_all();
            let limit = self.limit(held);
            let Some((at, event)) = self.agenda.next() else {
                // Nothing can happen any more: no scenario leads here, but no scenario may hang either.
                break;
            };
            // While packets wait for the narrow link, that is what holds the transfer.
            let carried =
                if covers(limit) { (self.link.busy_until().min(at) - self.now).or_zero() } else { Nanos::ZERO };
            add(&mut self.stretch, Limit::Bandwidth, carried);
            add(&mut self.stretch, limit, at - self.now - carried);
            self.last_limit = if carried > Nanos::ZERO { Limit::Bandwidth } else { limit };
            self.now = at;
            self.happen(event);
        }
        self.settle(None);
        Outcome {
            duration: self.now,
            delivered: self.delivered,
            rounds: std::mem::take(&mut self.rounds),
            rounds_total: self.rounds_total,
            limits: std::mem::take(&mut self.limits),
            resent: self.sender.resent,
            window: self.sender.window(),
            threshold: self.sender.threshold(),
            buffer: self.sender.buffer(),
            timer: self.sender.rto(),
            extrapolated: false,
        }
    }

    /// How much the program has given.
    fn offer(&mut self) {
        let next = self.scenario.pauses.get(self.pause);
        self.sender.offer(next.map_or(self.bytes, |pause| pause.at.min(self.bytes)));
    }

    fn wake(&mut self, at: Nanos, wake: Wake) {
        self.agenda.wake((at.max(self.now), self.now), wake);
    }

    /// Sends what may be sent; why no more.
    fn send_all(&mut self) -> Held {
        let held = loop {
            // While a timer runs nothing leaves, whatever arrives.
            if self.silent == Some(Silence::Timer) {
                break Held::Program;
            }
            match self.sender.next(self.now) {
                Ok(packet) => self.put(packet),
                Err(Held::Program) if self.begins_silence() => break Held::Program,
                Err(Held::Program) => break Held::Done,
                Err(held) => break held,
            }
        };
        if let Held::Pace(at) = held {
            self.wake(at, Wake::Pace);
        }
        // A silence that is given stands for what timers did in it.
        match self.sender.timer() {
            Some(at) if self.silent.is_none() => self.wake(at, Wake::Timer),
            _ => self.agenda.forget(Wake::Timer),
        }
        if let Some(at) = self.sender.recheck.take() {
            self.agenda.recheck((at.max(self.now), self.now));
        }
        held
    }

    /// Whether a silence is on, or begins now that everything that was offered is sent.
    fn begins_silence(&mut self) -> bool {
        let Some(pause) = self.scenario.pauses.get(self.pause) else { return false };
        // At the end only the timer's silence means anything.
        let comes = pause.at <= self.sender.sent() && (self.sender.sent() < self.bytes || pause.kind == Silence::Timer);
        if comes && self.silent.is_none() {
            self.silent = Some(pause.kind);
            self.wake(self.now + pause.length.or_zero(), Wake::PauseEnds);
        }
        comes
    }

    fn put(&mut self, packet: Packet) {
        self.settle(None);
        if packet.first_copy {
            // A round begins with the first segment sent after the ACK of the one that began the last.
            if self.sender.acknowledged() >= self.round.0 || self.rounds_total == 0 {
                self.round = (packet.end, packet.start);
                self.rounds_total += 1;
                if self.rounds.len() < MOST_ROUNDS {
                    self.rounds.push((self.now, 0));
                }
            }
            if self.rounds_total as usize == self.rounds.len()
                && let Some(round) = self.rounds.last_mut()
            {
                round.1 += packet.end - packet.start;
            }
        }
        if let Some(at) = self.link.send(self.now, packet.start, packet.end, packet.first_copy) {
            self.arrive(at.max(self.now), packet.segment);
        }
    }

    /// A segment that leaves now will arrive at `at`, and nothing overtakes it: what the receiver answers is known already.
    fn arrive(&mut self, at: Nanos, segment: usize) {
        while let Some((due, segment)) = self.agenda.due_before((at, self.now)) {
            self.answer_late(due, segment);
        }
        let ack = self.receiver.arrive(at, segment, |segment| self.sender.end_of(segment));
        if self.receiver.delivered() >= self.bytes && self.delivered == Nanos::ZERO {
            self.delivered = at;
        }
        match ack {
            Some(ack) => self.answer(at, ack),
            None => self.agenda.ack_due((at + self.scenario.receiver.ack_delay, at), segment),
        }
    }

    fn answer_late(&mut self, at: Nanos, segment: usize) {
        if let Some(ack) = self.receiver.answer_late(segment) {
            self.answer(at, ack);
        }
    }

    /// The receiver sends an ACK.
    fn answer(&mut self, at: Nanos, ack: Ack) {
        self.agenda.acked((at + self.link.way_back(), at), ack);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::AckDue(segment) => self.answer_late(self.now, segment),
            Event::Acked(ack) => {
                self.settle(None);
                self.sender.acknowledge(self.now, &ack);
                if self.sender.acknowledged() <= self.bytes / 4 * 3 {
                    self.quarter = (self.now, self.sender.acknowledged());
                }
            }
            Event::Wakes(Wake::PauseEnds) => {
                match self.silent.take() {
                    Some(Silence::Timer) => {
                        self.settle(Some(Limit::Timeout));
                        self.pause += 1;
                        self.offer();
                        // What the timer sent was lost as well: it runs again, for longer.
                        let again =
                            self.scenario.pauses.get(self.pause).is_some_and(|next| next.kind == Silence::Timer);
                        if !again || !self.begins_silence() {
                            self.sender.give_up(self.now);
                        }
                        return;
                    }
                    Some(Silence::Idle) => {
                        self.settle(None);
                        self.sender.start_anew(self.scenario.sender.initial_window);
                    }
                    _ => self.settle(None),
                }
                self.pause += 1;
                self.offer();
            }
            Event::Wakes(Wake::Timer) => {
                self.settle(Some(Limit::Timeout));
                if let Some(packet) = self.sender.time_out(self.now) {
                    self.put(packet);
                }
            }
            Event::Recheck => self.sender.find_losses(self.now),
            Event::Wakes(Wake::Pace) => {}
        }
    }

    /// What holds the sender from now until something happens.
    fn limit(&self, held: Held) -> Limit {
        match held {
            Held::Program => match self.silent {
                Some(Silence::Timer) => Limit::Timeout,
                _ => Limit::Application,
            },
            _ if self.sender.is_recovering() => Limit::LossRecovery,
            Held::Cap => Limit::SenderCap,
            Held::Pace(_) => Limit::Pacing,
            Held::Done => Limit::RoundTrip,
            Held::Receiver => Limit::ReceiveWindow,
            Held::Congestion if self.sender.in_slow_start() => Limit::SlowStart,
            Held::Congestion => Limit::CongestionAvoidance,
        }
    }

    /// The time since the last send or ACK is known for what it was.
    fn settle(&mut self, as_limit: Option<Limit>) {
        for (limit, time) in self.stretch.drain(..) {
            add(&mut self.limits, as_limit.unwrap_or(limit), time);
        }
    }
}

/// Limits behind which the path itself may stand.
fn covers(limit: Limit) -> bool {
    matches!(limit, Limit::RoundTrip | Limit::ReceiveWindow | Limit::SlowStart | Limit::CongestionAvoidance)
}

fn add(sums: &mut Vec<(Limit, Nanos)>, limit: Limit, time: Nanos) {
    if time == Nanos::ZERO {
        return;
    }
    match sums.iter_mut().find(|(known, _)| *known == limit) {
        Some((_, sum)) => *sum += time,
        None => sums.push((limit, time)),
    }
}
