//! The model's clock: lets packets, ACKs, pauses and timers happen in the order of their times.

use super::link::Link;
use super::receiver::{Ack, Receiver};
use super::sender::{Held, Packet, Sender};
use super::{MOST_ROUNDS, MOST_SEGMENTS, Outcome, Scenario, Silence};
use crate::analysis::Limit;
use crate::units::Nanos;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    Arrives(usize),
    Acked(Ack),
    /// The ACK that is held back since this segment arrived is due.
    AckDue(usize),
    PauseEnds,
    Timer,
    Recheck,
    Pace,
}

#[derive(Clone, Copy, Debug)]
struct Due {
    at: Nanos,
    order: u64,
    event: Event,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Due {}
impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// Plays a transfer through.
pub fn simulate(scenario: &Scenario) -> Outcome {
    let mss = scenario.mss.clamp(1, 1 << 20);
    let most = MOST_SEGMENTS * mss;
    let played = scenario.bytes.clamp(1, most);
    let rtt = Nanos(scenario.rtt.0.clamp(1_000, 3_600_000_000_000));
    let scenario = Scenario { mss, rtt, ..scenario.clone() };
    let mut driver = Driver::new(&scenario, played);
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
    outcome.limits.retain(|&(_, time)| time > Nanos::ZERO);
    outcome.limits.sort_by_key(|&(limit, time)| (Reverse(time), limit));
    outcome
}

struct Driver<'a> {
    scenario: &'a Scenario,
    bytes: u64,
    now: Nanos,
    queue: BinaryHeap<Reverse<Due>>,
    order: u64,
    link: Link,
    sender: Sender,
    receiver: Receiver,
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
    /// Times for which an event is in the queue already.
    timer: Option<Nanos>,
    pace: Option<Nanos>,
}

impl<'a> Driver<'a> {
    fn new(scenario: &'a Scenario, bytes: u64) -> Self {
        let receiver = Receiver::new(&scenario.receiver, scenario.rtt);
        Self {
            scenario,
            bytes,
            now: Nanos::ZERO,
            queue: BinaryHeap::new(),
            order: 0,
            link: Link::new(scenario),
            sender: Sender::new(scenario, receiver.edge()),
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
            timer: None,
            pace: None,
        }
    }

    fn run(&mut self) -> Outcome {
        self.offer();
        while self.sender.acknowledged() < self.bytes {
            let held = self.send_all();
            let limit = self.limit(held);
            let Some(Reverse(due)) = self.queue.pop() else {
                // Nothing can happen any more: no scenario leads here, but no scenario may hang either.
                break;
            };
            // While packets wait for the narrow link, that is what holds the transfer.
            let carried =
                if covers(limit) { (self.link.busy_until().min(due.at) - self.now).or_zero() } else { Nanos::ZERO };
            add(&mut self.stretch, Limit::Bandwidth, carried);
            add(&mut self.stretch, limit, due.at - self.now - carried);
            self.last_limit = if carried > Nanos::ZERO { Limit::Bandwidth } else { limit };
            self.now = due.at;
            self.happen(due.event);
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
            timer: self.sender.rto(),
            extrapolated: false,
        }
    }

    /// How much the program has given.
    fn offer(&mut self) {
        let next = self.scenario.pauses.get(self.pause);
        self.sender.offer(next.map_or(self.bytes, |pause| pause.at.min(self.bytes)));
    }

    fn schedule(&mut self, at: Nanos, event: Event) {
        self.queue.push(Reverse(Due { at: at.max(self.now), order: self.order, event }));
        self.order += 1;
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
        if let Held::Pace(at) = held
            && self.pace != Some(at)
        {
            self.pace = Some(at);
            self.schedule(at, Event::Pace);
        }
        if let Some(at) = self.sender.timer
            && self.silent.is_none()
            && self.timer.is_none_or(|known| known > at)
        {
            self.timer = Some(at);
            self.schedule(at, Event::Timer);
        }
        if let Some(at) = self.sender.recheck.take() {
            self.schedule(at, Event::Recheck);
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
            self.schedule(self.now + pause.length.or_zero(), Event::PauseEnds);
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
            self.schedule(at, Event::Arrives(packet.segment));
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrives(segment) => {
                let ack = self.receiver.arrive(self.now, segment, |segment| self.sender.end_of(segment));
                if self.receiver.delivered() >= self.bytes && self.delivered == Nanos::ZERO {
                    self.delivered = self.now;
                }
                match ack {
                    Some(ack) => self.schedule(self.now + self.link.way_back(), Event::Acked(ack)),
                    None => self.schedule(self.now + self.scenario.receiver.ack_delay, Event::AckDue(segment)),
                }
            }
            Event::AckDue(segment) => {
                if let Some(ack) = self.receiver.answer_late(segment) {
                    self.schedule(self.now + self.link.way_back(), Event::Acked(ack));
                }
            }
            Event::Acked(ack) => {
                self.settle(None);
                self.sender.acknowledge(self.now, &ack);
                if self.sender.acknowledged() <= self.bytes / 4 * 3 {
                    self.quarter = (self.now, self.sender.acknowledged());
                }
            }
            Event::PauseEnds => {
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
            Event::Timer => {
                self.timer = None;
                // A silence that is given stands for what timers did in it.
                if self.silent.is_none() && self.sender.timer.is_some_and(|at| at <= self.now) {
                    self.settle(Some(Limit::Timeout));
                    if let Some(packet) = self.sender.time_out(self.now) {
                        self.put(packet);
                    }
                }
            }
            Event::Recheck => self.sender.find_losses(self.now),
            Event::Pace => {}
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
        for (limit, time) in std::mem::take(&mut self.stretch) {
            add(&mut self.limits, as_limit.unwrap_or(limit), time);
        }
    }
}

/// Limits behind which the path itself may stand.
fn covers(limit: Limit) -> bool {
    matches!(limit, Limit::RoundTrip | Limit::ReceiveWindow | Limit::SlowStart | Limit::CongestionAvoidance)
}

fn add(sums: &mut Vec<(Limit, Nanos)>, limit: Limit, time: Nanos) {
    match sums.iter_mut().find(|(known, _)| *known == limit) {
        Some((_, sum)) => *sum += time,
        None => sums.push((limit, time)),
    }
}
