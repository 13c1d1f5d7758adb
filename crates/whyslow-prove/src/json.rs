//! The outcome for programs: schema whyslow-prove/1.

use super::agreement::Agreement;
use super::curves::{self, Curve};
use super::outcome::{Outcome, Tried, Verdict};
use super::page;
use super::remedy::{How, Key};
use serde::Serialize;
use whyslow_analysis::End;
use whyslow_lab::scenario::Scenario;

/// The version of the contract.
pub(super) const SCHEMA: &str = "whyslow-prove/1";

/// All of it.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    capture: &'a str,
    connection: u64,
    /// From 1; null where the verdict is about the connection.
    transfer: Option<usize>,
    from: End,
    bytes: u64,
    bytes_run: u64,
    /// The capture has this many times the bytes of the run.
    factor: f64,
    /// The verdict in a sentence.
    headline: String,
    /// The path and the hosts, in words.
    built: String,
    /// The scenario that came nearest.
    scenario: &'a Scenario,
    /// How many were run to find it.
    tries: usize,
    agrees: bool,
    /// The compared quantities.
    agreement: Compared<'a>,
    /// The cause whose run agrees, where that of the tested cause does not.
    behaves_like: Option<&'static str>,
    /// Other explanations that were run.
    instead: Vec<Instead<'a>>,
    /// Upper bound of the run's time that this machine's late packets can have added.
    noise_s: f64,
    /// How long each run took.
    all_again: &'a [f64],
    fixes: Vec<Fix<'a>>,
    together: Option<Fix<'a>>,
    often_tried: Vec<Fix<'a>>,
    curves: Vec<Curve>,
}

/// The compared quantities, with the differences in words.
#[derive(Serialize)]
struct Compared<'a> {
    #[serde(flatten)]
    agreement: &'a Agreement,
    differs: Vec<String>,
}

/// Another explanation, and how its run compares with the capture.
#[derive(Serialize)]
struct Instead<'a> {
    cause: &'static str,
    agreement: Compared<'a>,
}

/// A fix and its effect.
#[derive(Serialize)]
struct Fix<'a> {
    cause: Option<&'static str>,
    what: &'a str,
    command: Option<&'a str>,
    /// The host on which the command was run.
    host: Option<End>,
    /// The key of the scenario that was changed instead.
    key: Option<Key>,
    predicted: Option<f64>,
    measured: Option<f64>,
    all_measured: &'a [f64],
    verdict: Verdict,
    why_not: Option<&'a str>,
}

impl<'a> Document<'a> {
    pub fn of(outcome: &'a Outcome, capture: &'a str) -> Self {
        let built = outcome.built();
        let captured = &outcome.captured;
        Self {
            schema: SCHEMA,
            capture,
            connection: captured.connection.id,
            transfer: (!captured.is_about_connection).then_some(captured.index + 1),
            from: captured.from(),
            bytes: captured.transfer().bytes,
            bytes_run: built.bytes,
            factor: built.factor,
            headline: page::headline(outcome),
            built: page::built(outcome),
            scenario: &built.scenario,
            tries: outcome.fitted.tries,
            agrees: outcome.agreement().agrees,
            agreement: Compared::of(outcome.agreement()),
            behaves_like: outcome.behaves_like().map(|cause| cause.slug()),
            instead: outcome
                .instead
                .iter()
                .map(|it| Instead { cause: it.cause.slug(), agreement: Compared::of(&it.agreement) })
                .collect(),
            noise_s: outcome.fitted.trial.added,
            all_again: &outcome.fitted.trial.all_seconds,
            fixes: outcome.fixes.iter().map(Fix::of).collect(),
            together: outcome.together.as_ref().map(Fix::of),
            often_tried: outcome.often_tried.iter().map(Fix::of).collect(),
            curves: curves::of(outcome),
        }
    }
}

impl<'a> Compared<'a> {
    fn of(agreement: &'a Agreement) -> Self {
        Self { agreement, differs: agreement.differs.iter().map(page::difference).collect() }
    }
}

impl<'a> Fix<'a> {
    fn of(tried: &'a Tried) -> Self {
        let (host, key) = match &tried.remedy.how {
            How::Command(host, _) => (Some(*host), None),
            How::Key(key) => (None, Some(*key)),
            How::Not(_) => (None, None),
        };
        Self {
            cause: tried.remedy.cause.map(|cause| cause.slug()),
            what: &tried.remedy.what,
            command: tried.remedy.command.as_deref(),
            host,
            key,
            predicted: tried.promised_s,
            measured: tried.trial.as_ref().map(|trial| trial.seconds),
            all_measured: tried.trial.as_ref().map_or(&[], |trial| &trial.all_seconds),
            verdict: tried.verdict,
            why_not: tried.why_not.as_deref(),
        }
    }
}
