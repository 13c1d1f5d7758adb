//! The work limit of the model, and the gain that it must find.

use whyslow_model::{self as model, MAX_STEPS, Scenario, Timed};
use whyslow_units::Nanos;

/// A budget of simulation steps: packets that are sent, and events.
#[derive(Clone, Debug)]
pub(super) struct Work<'a> {
    /// Steps left.
    pub(super) left: u64,
    /// Whether a simulation needed more steps than were left, or than one may take.
    pub(super) short: bool,
    /// Results of the first simulations, from an earlier run with at least as many steps.
    pub(super) known: &'a [Timed],
    /// Results so far.
    pub(super) results: Vec<Timed>,
}

impl Work<'_> {
    pub(super) fn new(left: u64) -> Self {
        Self { left, short: false, known: &[], results: Vec::new() }
    }

    /// Returns the duration of the next simulation, and charges the steps that it took; `None` if
    /// it needs more than are left, or than one simulation may take, and from then on.
    pub(super) fn time(&mut self, scenario: &Scenario) -> Option<Nanos> {
        if self.short {
            return None;
        }
        let most = self.left.min(MAX_STEPS);
        let known = self.known.get(self.results.len()).copied();
        let timed = known.unwrap_or_else(|| model::time(scenario, most));
        let duration = timed.duration.filter(|_| timed.steps <= most);
        // A simulation that was cut used all that it was allowed.
        self.left -= if duration.is_some() { timed.steps } else { most };
        self.short = duration.is_none();
        self.results.push(timed);
        duration
    }
}

/// A change that saves less than this share of the time is not predicted.
pub(crate) const MIN_GAIN: f64 = 0.02;
