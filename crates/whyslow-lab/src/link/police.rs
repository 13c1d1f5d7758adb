//! A policer: a token bucket without a queue.

use super::config::Policer;

/// Tokens are kept in bits × 10⁹, so that a rate in bits per second fills them exactly in
/// nanoseconds.
#[derive(Debug)]
pub(super) struct Bucket {
    config: Policer,
    tokens: u128,
    filled_ns: u64,
}

const SCALE: u128 = 1_000_000_000;

impl Bucket {
    /// A full bucket.
    pub(super) fn new(config: Policer, now: u64) -> Self {
        Self { config, tokens: Self::size(&config), filled_ns: now }
    }

    fn size(config: &Policer) -> u128 {
        u128::from(config.burst_bytes) * 8 * SCALE
    }

    pub(super) fn is(&self, config: &Policer) -> bool {
        self.config == *config
    }

    /// Takes the tokens for a packet, or none when there are too few.
    pub(super) fn admits(&mut self, now: u64, bytes: u64) -> bool {
        let elapsed = u128::from(now.saturating_sub(self.filled_ns));
        self.tokens = Self::size(&self.config).min(self.tokens + elapsed * u128::from(self.config.rate_bps));
        self.filled_ns = self.filled_ns.max(now);
        match self.tokens.checked_sub(u128::from(bytes) * 8 * SCALE) {
            Some(rest) => {
                self.tokens = rest;
                true
            }
            None => false,
        }
    }
}
