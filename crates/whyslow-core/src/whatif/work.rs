//! The work that the model may do, and what it must bring.

use super::model::{self, Scenario};
use crate::units::Nanos;

/// Segments that may yet be modelled.
#[derive(Clone, Debug)]
pub(super) struct Work<'a> {
    pub(super) left: u64,
    /// Some that were asked for were too many.
    pub(super) short: bool,
    /// How long the first simulations take, where that is known, …
    pub(super) known: &'a [Nanos],
    /// … and how long each took so far.
    pub(super) times: Vec<Nanos>,
}

impl Work<'_> {
    pub(super) fn new(left: u64) -> Self {
        Self { left, short: false, known: &[], times: Vec::new() }
    }

    /// How long the next simulation takes; none when there is not enough left for it.
    pub(super) fn time(&mut self, scenario: &Scenario) -> Option<Nanos> {
        let segments = (scenario.bytes / scenario.mss.max(1)).clamp(1, model::MAX_SEGMENTS);
        let Some(rest) = self.left.checked_sub(segments) else {
            self.short = true;
            return None;
        };
        self.left = rest;
        let time = self.known.get(self.times.len()).copied().unwrap_or_else(|| model::time(scenario));
        self.times.push(time);
        Some(time)
    }
}

/// A change that saves less than this share of the time is not predicted.
pub(crate) const MIN_GAIN: f64 = 0.02;
