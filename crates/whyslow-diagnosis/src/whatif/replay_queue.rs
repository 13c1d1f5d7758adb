//! [`ReplayQueue`]: the transfers that the model plays, in order, until the work that is allowed is
//! done.
//!
//! Several can be played at the same time; the caller has the threads. The results are the same as
//! one after the other: a replay that used more work than those before it left is cut back to that.

use super::remedy;
use super::replay::Replay;
use super::work::{MIN_GAIN, Work};
use whyslow_analysis::is_model_near;
use whyslow_analysis::types::ModelChange;
use whyslow_model::{Scenario, Timed};
use whyslow_units::Nanos;

/// A captured transfer, and the questions to the model.
#[derive(Clone, Debug)]
pub struct ReplayInput<'a> {
    /// The transfer.
    pub(crate) replay: &'a Replay,
    /// The fixes to play it with, one after the other; `None` if the model cannot show one.
    pub(crate) fixes: Vec<Option<&'static [ModelChange]>>,
}

/// Transfers for the model to play, the worst first.
#[derive(Debug)]
pub struct ReplayQueue<'a> {
    all: &'a [ReplayInput<'a>],
    /// Steps left for the model, after the first `given_work` replays.
    work: u64,
    given_work: usize,
    /// Number of replays taken, and their results, with the work that each was allowed.
    taken: usize,
    played: Vec<Option<(u64, ReplayResult)>>,
}

impl<'a> ReplayQueue<'a> {
    /// Queue of these, in this order; together they may take `work` steps.
    pub(crate) fn new(all: &'a [ReplayInput<'a>], work: u64) -> Self {
        let played = all.iter().map(|_| None).collect();
        Self { all, work, given_work: 0, taken: 0, played }
    }

    /// The next replay; `None` when all were taken.
    pub fn take(&mut self) -> Option<ReplayJob<'a>> {
        let place = self.taken;
        let input = self.all.get(place)?;
        self.taken += 1;
        Some(ReplayJob { input, place, work: self.work, known: &[] })
    }

    /// Returns the result of one that was taken.
    pub fn put(&mut self, play: &ReplayJob<'_>, played: ReplayResult) {
        if let Some(place) = self.played.get_mut(play.place) {
            *place = Some((play.work, played));
        }
        while let Some(Some((allowed, played))) = self.played.get_mut(self.given_work) {
            let (work, place) = (self.work, self.given_work);
            // It would not have had the work that others took. It knows all that it needs for that.
            if work < *allowed && (played.cut || played.work > work) {
                let input = &self.all[place];
                let known = std::mem::take(&mut played.results);
                *played = ReplayJob { input, place, work, known: &known }.play();
            }
            self.work -= played.work.min(work);
            self.given_work += 1;
        }
    }

    /// Results of all that were put back, in order.
    pub(crate) fn into_played(self) -> Vec<ReplayResult> {
        self.played.into_iter().map_while(|played| Some(played?.1)).collect()
    }
}

/// A transfer for the model to simulate, with and without its limits.
#[derive(Clone, Copy, Debug)]
pub struct ReplayJob<'a> {
    pub(super) input: &'a ReplayInput<'a>,
    /// Its place among all.
    pub(super) place: usize,
    /// Maximum number of steps that it may take.
    pub(super) work: u64,
    /// Results of the first simulations, from an earlier play of it.
    pub(super) known: &'a [Timed],
}

/// Effect of a fix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Promise {
    pub(crate) time: Nanos,
    /// The range that contains the result in nine of ten cases.
    pub(crate) range: [Nanos; 2],
    /// The path must carry more for it than was seen of it.
    pub(crate) assumed: Option<AssumedRate>,
}

/// A rate that a path must carry, above its measured rate, payload bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AssumedRate {
    pub(crate) needed: f64,
    pub(crate) seen: f64,
}

/// Share by which a transfer with a fix takes less or more than the model's time: nine of ten lie
/// within, with what [`range`] adds (`whyslow lab score --each 2 --seed 112701`: 33 of 37).
const ERROR: f64 = 0.05;

/// The range of a time after a fix. It may be longer by the model's unexplained part of the
/// transfer as it was, and by a round trip, as a last segment may wait for an ACK (Nagle's
/// algorithm, RFC 896, which a capture does not show while windows limit the sender). It is not
/// shorter than the path needs for the bytes.
fn range(time: Nanos, changed: &Scenario, [modelled, measured]: [Nanos; 2]) -> [Nanos; 2] {
    let carried = changed.rate.map_or(0.0, |rate| changed.bytes as f64 * 8.0 / rate.max(1.0));
    let low = time.scale(1.0 - ERROR).max(Nanos::from_secs_f64(carried));
    let unexplained = (measured - modelled).or_zero();
    let high = time.scale(1.0 + ERROR) + unexplained + changed.rtt;
    [low.min(time), high.min(measured).max(time)]
}

/// The rate that a path needs to carry these bytes in this time, if it is above the largest one
/// that was seen.
pub(super) fn assumed(bytes: u64, time: Nanos, seen: f64) -> Option<AssumedRate> {
    let needed = bytes as f64 * 8.0 / time.as_secs_f64().max(1e-9);
    (needed > seen).then(|| AssumedRate { needed: needed.round(), seen: seen.round() })
}

/// The model's result for a transfer.
#[derive(Debug, Default)]
pub struct ReplayResult {
    /// Time of the unchanged transfer; `None` if the work did not suffice.
    pub(crate) model: Option<Nanos>,
    /// Promises by fix; `None` if the fix has no effect.
    pub(crate) promises: Vec<Option<Promise>>,
    /// Steps that it took.
    pub(super) work: u64,
    /// The work limit cut it short.
    cut: bool,
    /// Whether a fix was not modelled for this reason.
    pub(crate) skipped: bool,
    /// The result of each simulation, in order.
    pub(super) results: Vec<Timed>,
}

impl ReplayJob<'_> {
    /// Fits the model to the transfer, and finds the effect of each fix.
    pub fn play(&self) -> ReplayResult {
        let mut work = Work { known: self.known, ..Work::new(self.work) };
        let mut played = ReplayResult::default();
        // Results before the work was used up count.
        let _ = self.fill(&mut played, &mut work);
        played.cut = work.short;
        played.work = self.work - work.left;
        played.results = work.results;
        played
    }

    /// Returns `None` when the work is used up.
    fn fill(&self, played: &mut ReplayResult, work: &mut Work<'_>) -> Option<()> {
        let ReplayInput { replay, fixes } = self.input;
        let measured = replay.measured;
        let (fitted, modelled) = replay.fit(work)?;
        played.model = Some(modelled);
        if !is_model_near(modelled, measured) {
            // Variants that were not tried might have been closer.
            played.skipped = work.short;
            return Some(());
        }
        played.skipped = true;
        for fix in fixes {
            let mut predicted = None;
            if let Some(mut changed) = fix.and_then(|changes| remedy::apply(changes, replay, &fitted)) {
                // Larger flights meet the path's rate.
                let seen = replay.hold_to_path(&mut changed.scenario);
                let time = changed.duration(work)?;
                predicted = (time < measured.scale(1.0 - MIN_GAIN)).then(|| Promise {
                    time,
                    range: range(time, &changed.scenario, [modelled, measured]),
                    assumed: seen.and_then(|seen| assumed(replay.bytes(), time, seen)),
                });
            }
            played.promises.push(predicted);
        }
        played.skipped = false;
        Some(())
    }
}
