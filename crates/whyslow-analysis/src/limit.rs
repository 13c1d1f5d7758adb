//! Limits of a transfer, with their times.

use crate::types::LimitingFactor;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// Time under one limit, while the whole is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitTime {
    /// Which.
    pub limit: LimitingFactor,
    /// How long.
    pub time: Nanos,
}

/// Time under one limit.
#[derive(Clone, Copy, Debug, Serialize, BorshSerialize, BorshDeserialize)]
pub struct LimitShare {
    /// Which.
    pub limit: LimitingFactor,
    /// Length.
    pub seconds: Nanos,
    /// Share of the whole, 0–1.
    pub share: f64,
}

impl LimitShare {
    /// Returns these times with their shares of their sum.
    pub fn of(times: &[LimitTime]) -> Vec<Self> {
        let whole: Nanos = times.iter().map(|part| part.time).sum();
        let share = |time: Nanos| time.0 as f64 / whole.0.max(1) as f64;
        times.iter().map(|part| Self { limit: part.limit, seconds: part.time, share: share(part.time) }).collect()
    }
}

/// A stretch of time under one limit.
#[derive(Clone, Copy, Debug, Serialize, BorshSerialize, BorshDeserialize)]
pub struct LimitSpan {
    /// Which.
    pub limit: LimitingFactor,
    /// From.
    pub start_s: Nanos,
    /// Length.
    pub seconds: Nanos,
}
