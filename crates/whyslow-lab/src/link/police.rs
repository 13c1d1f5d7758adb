//! The token bucket of a policer, which has no queue, and of a shaper, which has one.

use super::config::TokenBucket;

/// Tokens are kept in bits × 10⁹, so that a rate in bits per second fills them exactly in
/// nanoseconds.
#[derive(Debug)]
pub(super) struct Bucket {
    config: TokenBucket,
    tokens: u128,
    filled_ns: u64,
}

const SCALE: u128 = 1_000_000_000;

impl Bucket {
    /// A full bucket.
    pub(super) fn new(config: TokenBucket, now: u64) -> Self {
        Self { config, tokens: Self::size(&config), filled_ns: now }
    }

    fn size(config: &TokenBucket) -> u128 {
        u128::from(config.burst_bytes) * 8 * SCALE
    }

    pub(super) fn is(&self, config: &TokenBucket) -> bool {
        self.config == *config
    }

    /// Takes the tokens for a packet, or takes nothing if there are too few.
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

    /// From when on there are tokens for a packet, at `now` at the earliest.
    pub(super) fn ready_at(&self, now: u64, bytes: u64) -> u64 {
        let lacks = (u128::from(bytes) * 8 * SCALE).saturating_sub(self.tokens);
        let fills = lacks.div_ceil(u128::from(self.config.rate_bps.max(1)));
        now.max(self.filled_ns.saturating_add(u64::try_from(fills).unwrap_or(u64::MAX)))
    }
}
