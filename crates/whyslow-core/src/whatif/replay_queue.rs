//! [`ReplayQueue`]: the transfers that the model plays, in order, until the work that is allowed is
//! done.
//!
//! Several can be played at the same time, by whoever takes them up; it knows of no threads. It
//! promises that what comes out is the same as one after the other: what was played with more work
//! than those before it left over is cut back to that.

use super::remedy;
use super::replay::Replay;
use super::work::{MIN_GAIN, Work};
use crate::analysis::{Actor, Assumed, Finding, Transfer};
use crate::cause::Cause;
use crate::units::Nanos;

/// Transfers for the model to play, the worst first.
#[derive(Debug)]
pub struct ReplayQueue<'a> {
    all: Vec<(&'a Replay, &'a Transfer)>,
    /// Segments that may yet be modelled, when the first so many are told.
    work: u64,
    given_work: usize,
    /// How many were taken up, and what came of them, with the work that each was allowed.
    taken: usize,
    played: Vec<Option<(u64, ReplayResult)>>,
}

impl<'a> ReplayQueue<'a> {
    /// Of these, in this order; together they may model so many segments.
    pub(super) fn new(all: Vec<(&'a Replay, &'a Transfer)>, work: u64) -> Self {
        let played = all.iter().map(|_| None).collect();
        Self { all, work, given_work: 0, taken: 0, played }
    }

    /// The next one to be played; none when all were taken up.
    pub fn take(&mut self) -> Option<ReplayJob<'a>> {
        let place = self.taken;
        let &(replay, transfer) = self.all.get(place)?;
        self.taken += 1;
        Some(ReplayJob { replay, transfer, place, work: self.work, known: &[] })
    }

    /// What came of one that was taken up.
    pub fn put(&mut self, play: &ReplayJob<'_>, played: ReplayResult) {
        if let Some(place) = self.played.get_mut(play.place) {
            *place = Some((play.work, played));
        }
        while let Some(Some((allowed, played))) = self.played.get_mut(self.given_work) {
            let (work, place) = (self.work, self.given_work);
            // What others took meanwhile it would not have had. All that it needs to know it does.
            if work < *allowed && (played.cut || played.work > work) {
                let (replay, transfer) = self.all[place];
                let known = std::mem::take(&mut played.times);
                *played = ReplayJob { replay, transfer, place, work, known: &known }.play();
            }
            self.work -= played.work.min(work);
            self.given_work += 1;
        }
    }

    /// What came of all that were put back, in order.
    pub(super) fn into_played(self) -> Vec<ReplayResult> {
        self.played.into_iter().map_while(|played| Some(played?.1)).collect()
    }
}

/// A transfer for the model to play, with and without what held it.
#[derive(Clone, Copy, Debug)]
pub struct ReplayJob<'a> {
    pub(super) replay: &'a Replay,
    pub(super) transfer: &'a Transfer,
    /// Its place among all.
    pub(super) place: usize,
    /// Segments that may be modelled.
    pub(super) work: u64,
    /// How long the first simulations took, from an earlier play of it.
    pub(super) known: &'a [Nanos],
}

/// What a fix brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Promise {
    pub(super) time: Nanos,
    /// The path must carry more for it than was seen of it.
    pub(super) assumed: Option<Assumed>,
}

/// What it takes of a path to carry these bytes in this time, where that is more than was ever seen
/// of it.
pub(super) fn assumed(bytes: u64, time: Nanos, seen: f64) -> Option<Assumed> {
    let needed = bytes as f64 * 8.0 / time.as_secs_f64().max(1e-9);
    (needed > seen).then(|| Assumed { needed_bps: needed.round(), seen_bps: seen.round() })
}

/// What the model said of a transfer.
#[derive(Debug, Default)]
pub struct ReplayResult {
    model: Option<Nanos>,
    /// By finding.
    pub(super) promises: Vec<Option<Promise>>,
    /// Segments that were modelled.
    pub(super) work: u64,
    /// More would have been, but for the limit.
    cut: bool,
    /// And so a fix was not modelled.
    pub(super) skipped: bool,
    /// How long each simulation took, in order.
    pub(super) times: Vec<Nanos>,
}

impl ReplayJob<'_> {
    /// Fits the model to the transfer, and finds what each finding's fix would bring.
    pub fn play(&self) -> ReplayResult {
        let mut work = Work { known: self.known, ..Work::new(self.work) };
        let mut played = ReplayResult::default();
        // What was found before the work was used up counts.
        let _ = self.fill(&mut played, &mut work);
        played.cut = work.short;
        played.work = self.work - work.left;
        played.times = work.times;
        played
    }

    /// None when the work is used up.
    fn fill(&self, played: &mut ReplayResult, work: &mut Work<'_>) -> Option<()> {
        let Self { replay, transfer, .. } = *self;
        let measured = transfer.duration_s;
        let (fitted, modelled) = replay.fit(work)?;
        played.model = Some(modelled);
        if !transfer.is_fitted_by(modelled) {
            // What was not tried any more might have come nearer.
            played.skipped = work.short;
            return Some(());
        }
        played.skipped = true;
        for finding in &transfer.findings {
            let mut predicted = None;
            if let Some(mut changed) =
                remedy::apply(finding.cause, replay, &fitted).filter(|_| is_modelled_fix(finding))
            {
                // Larger flights meet what the path carries.
                let seen = replay.hold_to_path(&mut changed.scenario);
                predicted = Some(changed.duration(work)?)
                    .filter(|time| *time < measured.scale(1.0 - MIN_GAIN))
                    .map(|time| Promise { time, assumed: seen.and_then(|seen| assumed(transfer.bytes, time, seen)) });
            }
            played.promises.push(predicted);
        }
        played.skipped = false;
        Some(())
    }
}

/// Whether what is advised is what the model changes: no buffer helps where a program reads too
/// slowly, or a queue is full.
fn is_modelled_fix(finding: &Finding) -> bool {
    finding.cause != Cause::ReceiveWindow || finding.fix.as_ref().is_some_and(|fix| fix.who == Actor::Receiver)
}

impl ReplayResult {
    /// Writes it down.
    pub(super) fn write_to(self, transfer: &mut Transfer) {
        let Some(model) = self.model else { return };
        transfer.model_s = Some(model);
        transfer.model_skipped = self.skipped;
        let measured = transfer.duration_s;
        if !self.skipped && model.scale(CONTRADICTION_FACTOR) < measured {
            transfer
                .findings
                .iter_mut()
                .filter(|finding| finding.seconds.0 * 2 >= measured.0)
                .for_each(|finding| lower_confidence(finding, model, measured));
        }
        for (finding, predicted) in transfer.findings.iter_mut().zip(self.promises) {
            let Some(Promise { time, assumed }) = predicted else { continue };
            finding.predicted_s = Some(time);
            finding.predicted_assumes = assumed;
        }
    }
}

/// A transfer took so many times what the model takes with all that is said to have held it: then
/// something else did.
const CONTRADICTION_FACTOR: f64 = 2.0;
/// What is left of the confidence in a cause then.
const CONTRADICTED_CONFIDENCE: f64 = 0.6;
/// Causes whose whole story the model plays: what TCP itself lets be in flight. Losses, queues,
/// programs and their buffers it knows in part only.
const MODELLED_CAUSES: &[Cause] = &[Cause::ReceiveWindow, Cause::NoWindowScaling, Cause::SlowStart];

/// The model does not bear out that this cause took most of the time.
fn lower_confidence(finding: &mut Finding, model: Nanos, measured: Nanos) {
    if !MODELLED_CAUSES.contains(&finding.cause) {
        return;
    }
    finding.confidence = (finding.confidence * CONTRADICTED_CONFIDENCE * 100.0).round() / 100.0;
    let (model, measured) = (model.as_secs_f64(), measured.as_secs_f64());
    let doubt = format!(
        "it does not fit that the model, held by this too, takes {model:.3} s where {measured:.3} s were measured: something else took time as well"
    );
    finding.settle = Some(match finding.settle.take() {
        Some(settle) => format!("{doubt}; {settle}"),
        None => doubt,
    });
}
