//! Repeatable randomness. Each knob has its own ChaCha stream, so changing one does not change what
//! another draws.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::config::{Distribution, Jitter};

/// One knob's stream of chance.
#[derive(Clone, Debug)]
pub(super) struct ChanceStream(ChaCha8Rng);

/// Which knob a die is for; the number is its stream, so it must never change.
#[derive(Clone, Copy)]
pub(super) enum Knob {
    Loss = 1,
    Corrupt = 2,
    Duplicate = 3,
    Jitter = 4,
    Reorder = 5,
    Red = 6,
    Mark = 7,
    Late = 8,
}

impl ChanceStream {
    pub(super) fn new(seed: u64, knob: Knob) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(knob as u64);
        Self(rng)
    }

    /// True with probability `p`. Draws nothing for 0, so that a knob that is off costs nothing.
    pub(super) fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && self.0.random::<f64>() < p
    }

    /// As [`chance`](Self::chance), correlated by this much with the previous draw: a Markov chain
    /// whose share of true is `p` for any correlation.
    pub(super) fn correlated(&mut self, p: f64, correlation: f64, before: bool) -> bool {
        let kept = if before { correlation } else { 0.0 };
        self.chance(p * (1.0 - correlation) + kept)
    }

    /// `delay` as the jitter varies it.
    pub(super) fn vary(&mut self, delay: u64, jitter: &Jitter) -> u64 {
        let spread = match jitter.distribution {
            Distribution::Uniform => 2.0 * self.0.random::<f64>() - 1.0,
            Distribution::Normal => {
                // Box–Muller; 1 − u is in (0, 1], whose logarithm is finite.
                let radius = (-2.0 * (1.0 - self.0.random::<f64>()).ln()).sqrt();
                radius * (std::f64::consts::TAU * self.0.random::<f64>()).cos()
            }
        };
        // Casts saturate: below zero is zero.
        (delay as f64 + spread * jitter.amount_ns as f64) as u64
    }
}
