//! [`Outcome`]: all that was found out, for the page and for programs.

use super::agreement::Agreement;
use super::alternatives::{self, Alternative};
use super::captured::Captured;
use super::remedy::{How, Remedy};
use super::scenario::TransferScenario;
use super::search::Fitted;
use super::trial::{Sought, Trial, Workshop};
use whyslow_analysis::Cause;

/// With a fix a transfer that takes less than this part of its time is quicker.
const HELPS: f64 = 0.93;
/// What is often tried is tried where a run takes less, seconds.
const SHORT: f64 = 8.0;

/// A fix that was tried, or could not be.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub remedy: Remedy,
    /// Its run.
    pub trial: Option<Trial>,
    /// Why there is none.
    pub why_not: Option<String>,
    /// The finding's promise for the part that was run, seconds.
    pub promised_s: Option<f64>,
    /// What it brought, in words of one kind.
    pub verdict: Verdict,
}

/// What a fix brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    /// It is quicker.
    Helps,
    /// It is about as slow.
    NoHelp,
    /// It is slower.
    Harms,
    /// It was not run.
    NotRun,
}

/// The captured transfer, its reproduction, and the fixes.
pub(super) struct Outcome {
    pub captured: Captured,
    pub fitted: Fitted,
    /// Other explanations that were run, because the tested one does not agree.
    pub instead: Vec<Alternative>,
    /// One at a time.
    pub fixes: Vec<Tried>,
    /// All that help, together.
    pub together: Option<Tried>,
    /// What people often try.
    pub often_tried: Vec<Tried>,
}

impl Outcome {
    /// Tries every fix on a run that agrees, and no fix on one that does not.
    ///
    /// # Errors
    /// `None`: a fix that cannot be run is reported.
    pub fn of(captured: Captured, fitted: Fitted, instead: Vec<Alternative>, shop: &Workshop<'_>) -> Self {
        let mut outcome =
            Self { captured, fitted, instead, fixes: Vec::new(), together: None, often_tried: Vec::new() };
        if !outcome.fitted.agreement.agrees {
            return outcome;
        }
        let remedies = super::remedy::of(&outcome.captured);
        let try_fix = |(fix, n): (&Remedy, usize)| {
            (shop.progress)(&format!("fix {n} of {}: {}", remedies.len(), fix.what));
            outcome.try_one(&format!("fix-{n}"), fix, shop)
        };
        outcome.fixes = remedies.iter().zip(1..).map(try_fix).collect();
        outcome.together = outcome.try_together(shop);
        if outcome.fitted.trial.seconds <= SHORT && outcome.captured.top().is_some() {
            let often = super::remedy::often_tried(&outcome.captured, &remedies);
            let try_often = |(fix, n): (&Remedy, usize)| {
                (shop.progress)(&format!("often tried, {n} of {}: {}", often.len(), fix.what));
                outcome.try_one(&format!("tried-{n}"), fix, shop)
            };
            outcome.often_tried = often.iter().zip(1..).map(try_often).collect();
        }
        outcome
    }

    /// The cause whose run is the captured transfer, where that of the tested cause is not.
    pub fn behaves_like(&self) -> Option<Cause> {
        alternatives::behaves_like(&self.instead)
    }

    pub fn agreement(&self) -> &Agreement {
        &self.fitted.agreement
    }

    pub fn built(&self) -> &TransferScenario {
        &self.fitted.built
    }

    fn try_one(&self, name: &str, remedy: &Remedy, shop: &Workshop<'_>) -> Tried {
        let promised_s = self.promise(remedy);
        if let How::Not(why) = &remedy.how {
            let verdict = Verdict::NotRun;
            return Tried { remedy: remedy.clone(), trial: None, why_not: Some(why.clone()), promised_s, verdict };
        }
        Tried { promised_s, ..self.run(name, &[remedy], remedy.clone(), shop) }
    }

    /// All helpful fixes for different causes together, if there are several.
    fn try_together(&self, shop: &Workshop<'_>) -> Option<Tried> {
        let mut causes: Vec<Option<Cause>> = Vec::new();
        let mut all: Vec<&Remedy> = Vec::new();
        for tried in self.fixes.iter().filter(|tried| tried.verdict == Verdict::Helps) {
            if !causes.contains(&tried.remedy.cause) {
                causes.push(tried.remedy.cause);
                all.push(&tried.remedy);
            }
        }
        if all.len() < 2 {
            return None;
        }
        let what = all.iter().map(|remedy| remedy.what.as_str()).collect::<Vec<_>>().join("; ");
        let as_one = Remedy { cause: None, what, command: None, how: How::Not(String::new()), promised_s: None };
        Some(self.run("together", &all, as_one, shop))
    }

    fn run(&self, name: &str, all: &[&Remedy], shown: Remedy, shop: &Workshop<'_>) -> Tried {
        let mut scenario = self.built().scenario.clone();
        all.iter().for_each(|remedy| remedy.apply(self.captured.from(), &mut scenario));
        let sought = Sought::of(&self.captured, self.built());
        let trial = shop.run(name, &scenario, sought).and_then(|first| {
            let is_no_help = |seconds| self.verdict(seconds) == Verdict::NoHelp;
            // One run is enough for a fix that changes nothing, whatever the machine has added.
            if is_no_help(first.seconds) && is_no_help(first.seconds - first.added) {
                return Ok(first);
            }
            shop.repeat(name, &scenario, sought)
        });
        match trial {
            Ok(trial) => {
                let verdict = self.verdict(trial.seconds);
                Tried { remedy: shown, trial: Some(trial), why_not: None, promised_s: None, verdict }
            }
            Err(error) => {
                let why_not = Some(format!("{error:#}"));
                Tried { remedy: shown, trial: None, why_not, promised_s: None, verdict: Verdict::NotRun }
            }
        }
    }

    /// How a fix compares that takes this long.
    fn verdict(&self, seconds: f64) -> Verdict {
        match seconds / self.fitted.trial.seconds.max(1e-9) {
            part if part <= HELPS => Verdict::Helps,
            part if part < 1.0 / HELPS => Verdict::NoHelp,
            _ => Verdict::Harms,
        }
    }

    /// A finding's promise for the part that is run: the transfer's time, and the server's
    /// processing before it unless that is the fixed part.
    fn promise(&self, remedy: &Remedy) -> Option<f64> {
        let promised = remedy.promised_s?;
        if self.captured.is_about_connection {
            // It is of the whole connection, but the measurement ends with the last transfer.
            let after = self.captured.connection.duration_s.as_secs_f64() - self.captured.seconds();
            return Some((promised - after.max(0.0)) / self.built().factor);
        }
        let thinks = remedy.cause.is_some_and(|cause| cause.slug() == "server-think");
        let thought = if thinks { 0.0 } else { self.captured.thought() };
        Some(promised / self.built().factor + thought)
    }
}
