//! After BBR version 1 (Cardwell et al., "BBR: Congestion-Based Congestion Control", 2016): sends at the rate that it measures, and
//! keeps two round trips' worth in flight. Left out: the search for a smaller round trip every ten seconds, and long-term rates of
//! policers.

use super::{Acked, Control, Sending, SlowStart};
use crate::units::Nanos;
use std::collections::VecDeque;

/// 2/ln 2: the least gain with which the rate doubles each round.
const STARTUP: f64 = 2.885;
/// Rounds over which the largest rate counts.
const RATE_ROUNDS: usize = 10;
/// The path is full when the rate grew less than this …
const FULL: f64 = 1.25;
/// … for so many rounds.
const FULL_ROUNDS: u32 = 3;
/// Gains of the phases of a cycle, one a round trip.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    Probe { phase: usize, since: Nanos },
}

#[derive(Debug)]
pub(in super::super) struct Bbr {
    mode: Mode,
    /// Largest delivery rates of the last rounds, segments per nanosecond.
    rates: VecDeque<f64>,
    least: Nanos,
    window: f64,
    full: f64,
    full_rounds: u32,
}

impl Bbr {
    fn rate(&self) -> f64 {
        self.rates.iter().copied().fold(0.0, f64::max)
    }

    /// What the path holds without a queue, segments.
    fn product(&self) -> f64 {
        self.rate() * self.least.0 as f64
    }

    fn gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => STARTUP,
            Mode::Drain => 1.0 / STARTUP,
            Mode::Probe { phase, .. } => CYCLE[phase % CYCLE.len()],
        }
    }

    fn move_on(&mut self, acked: &Acked) {
        match self.mode {
            Mode::Startup if acked.new_round && acked.limited => {
                if self.rate() >= self.full * FULL {
                    self.full = self.rate();
                    self.full_rounds = 0;
                } else {
                    self.full_rounds += 1;
                    if self.full_rounds >= FULL_ROUNDS {
                        self.mode = Mode::Drain;
                    }
                }
            }
            Mode::Drain if acked.in_flight <= self.product() => {
                self.mode = Mode::Probe { phase: 2, since: acked.now };
            }
            Mode::Probe { phase, since } if acked.now - since >= self.least => {
                self.mode = Mode::Probe { phase: (phase + 1) % CYCLE.len(), since: acked.now };
            }
            _ => {}
        }
    }
}

impl Control for Bbr {
    const RATED: bool = true;

    fn new(sending: &Sending, rtt: Nanos) -> Self {
        Self {
            mode: Mode::Startup,
            rates: VecDeque::from([0.0]),
            least: rtt.max(Nanos(1)),
            window: SlowStart::new(sending).window,
            full: 0.0,
            full_rounds: 0,
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.least = self.least.min(rtt.max(Nanos(1)));
        }
        if acked.new_round {
            self.rates.push_back(0.0);
            if self.rates.len() > RATE_ROUNDS {
                self.rates.pop_front();
            }
        }
        if let Some(last) = self.rates.back_mut() {
            *last = last.max(acked.delivery_rate);
        }
        self.move_on(acked);
        let gain = if self.mode == Mode::Startup || self.mode == Mode::Drain { STARTUP } else { 2.0 };
        let target = (self.product() * gain).max(4.0);
        self.window = if self.mode == Mode::Startup && self.full_rounds == 0 {
            (self.window + acked.segments).min(target.max(self.window))
        } else {
            target.min(self.window + acked.segments)
        };
    }

    fn on_loss(&mut self, _now: Nanos) {}

    fn on_timeout(&mut self, _now: Nanos) {
        self.window = 4.0;
    }

    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        f64::INFINITY
    }

    fn pacing(&self) -> Option<f64> {
        let rate = self.rate();
        // Before the first measurement: the initial window within a round trip, at startup's gain.
        let rate = if rate > 0.0 { rate } else { self.window / self.least.0 as f64 };
        Some(rate * self.gain())
    }

    fn reduces(&self) -> bool {
        false
    }
}
