//! After BBR version 1 (Cardwell et al., "BBR: Congestion-Based Congestion Control", 2016): sends
//! at the rate that it measures, and keeps two round trips' worth in flight. Left out: the search
//! for a smaller round trip every ten seconds, and long-term rates of policers.

use super::{AckSample, CongestionController, RenoWindow, SenderSettings};
use std::collections::VecDeque;
use whyslow_units::{Nanos, Time};

/// 2/ln 2: the least gain with which the rate doubles each round.
const STARTUP_GAIN: f64 = 2.885;
/// Rounds over which the largest rate counts.
const MAX_BW_ROUNDS: usize = 10;
/// The path is full when the rate grew less than this …
const FULL_BW_GROWTH: f64 = 1.25;
/// … for this number of rounds.
const FULL_BW_ROUNDS: u32 = 3;
/// Gains of the phases of a cycle, one a round trip.
const PACING_GAIN_CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    Probe { phase: usize, since: Time },
}

#[derive(Debug)]
pub(in super::super) struct Bbr {
    mode: Mode,
    /// Largest delivery rates of the last rounds, segments per nanosecond.
    rates: VecDeque<f64>,
    min_rtt: Nanos,
    cwnd: f64,
    full_bw: f64,
    full_bw_rounds: u32,
}

impl Bbr {
    fn max_bw(&self) -> f64 {
        self.rates.iter().copied().fold(0.0, f64::max)
    }

    /// Bandwidth-delay product of the path, segments.
    fn bdp(&self) -> f64 {
        self.max_bw() * self.min_rtt.0 as f64
    }

    fn gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => STARTUP_GAIN,
            Mode::Drain => 1.0 / STARTUP_GAIN,
            Mode::Probe { phase, .. } => PACING_GAIN_CYCLE[phase % PACING_GAIN_CYCLE.len()],
        }
    }

    fn update_mode(&mut self, acked: &AckSample) {
        match self.mode {
            Mode::Startup if acked.new_round && acked.cwnd_limited => {
                if self.max_bw() >= self.full_bw * FULL_BW_GROWTH {
                    self.full_bw = self.max_bw();
                    self.full_bw_rounds = 0;
                } else {
                    self.full_bw_rounds += 1;
                    if self.full_bw_rounds >= FULL_BW_ROUNDS {
                        self.mode = Mode::Drain;
                    }
                }
            }
            Mode::Drain if acked.in_flight <= self.bdp() => {
                self.mode = Mode::Probe { phase: 2, since: acked.now };
            }
            Mode::Probe { phase, since } if acked.now - since >= self.min_rtt => {
                self.mode = Mode::Probe { phase: (phase + 1) % PACING_GAIN_CYCLE.len(), since: acked.now };
            }
            _ => {}
        }
    }
}

impl CongestionController for Bbr {
    const NEEDS_DELIVERY_RATE: bool = true;

    fn new(sending: &SenderSettings, rtt: Nanos) -> Self {
        Self {
            mode: Mode::Startup,
            rates: VecDeque::from([0.0]),
            min_rtt: rtt.max(Nanos(1)),
            cwnd: RenoWindow::new(sending).cwnd,
            full_bw: 0.0,
            full_bw_rounds: 0,
        }
    }

    fn on_ack(&mut self, acked: &AckSample) {
        if let Some(rtt) = acked.rtt {
            self.min_rtt = self.min_rtt.min(rtt.max(Nanos(1)));
        }
        if acked.new_round {
            self.rates.push_back(0.0);
            if self.rates.len() > MAX_BW_ROUNDS {
                self.rates.pop_front();
            }
        }
        if let Some(last) = self.rates.back_mut() {
            *last = last.max(acked.delivery_rate);
        }
        self.update_mode(acked);
        let gain = if self.mode == Mode::Startup || self.mode == Mode::Drain { STARTUP_GAIN } else { 2.0 };
        let target = (self.bdp() * gain).max(4.0);
        self.cwnd = if self.mode == Mode::Startup && self.full_bw_rounds == 0 {
            (self.cwnd + acked.segments).min(target.max(self.cwnd))
        } else {
            target.min(self.cwnd + acked.segments)
        };
    }

    fn on_loss(&mut self, _now: Time) {}

    fn on_timeout(&mut self, _now: Time) {
        self.cwnd = 4.0;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn pacing(&self) -> Option<f64> {
        let rate = self.max_bw();
        // Before the first measurement: the initial window within a round trip, at startup's gain.
        let rate = if rate > 0.0 { rate } else { self.cwnd / self.min_rtt.0 as f64 };
        Some(rate * self.gain())
    }

    fn uses_prr(&self) -> bool {
        false
    }
}
