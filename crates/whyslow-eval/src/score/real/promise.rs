//! The promise of a fix, and the duration that it refers to.

use super::super::name;
use super::judge::{explain, judge};
use serde::Serialize;
use std::path::Path;
use whyslow_analysis::{Actor, Analysis, Connection, End, Finding, Transfer};
use whyslow_lab::draws::drawn;
use whyslow_lab::net::config::Host;
use whyslow_lab::real::{Fix, RealRuns};
use whyslow_lab::run::folder;
use whyslow_lab::truth::RunResult;
use whyslow_report::words::{self, Lang};
use whyslow_units::Nanos;

/// The promised time of a fix, and the measured time with the fix applied as printed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Promise {
    pub(super) label: String,
    pub(super) end: &'static str,
    pub(super) cause: &'static str,
    pub(super) command: Option<String>,
    /// The fix in words.
    pub(super) what: String,
    /// The time as it was, as was promised, and with the fix, seconds.
    pub(super) before_s: f64,
    pub(super) promised_s: f64,
    pub(super) measured_s: Option<f64>,
    /// Nine of ten such times lie between these, seconds; `None` if no model gave the time.
    pub(super) range_s: Option<[f64; 2]>,
    /// Reasons for a missing measurement; empty if there is one.
    pub(super) problems: Vec<String>,
    #[serde(skip)]
    pub(super) host: Option<Host>,
    #[serde(skip)]
    pub(super) of: PromiseScope,
}

/// The kind of a promise.
#[derive(Clone, Copy, Debug)]
pub(super) enum PromiseScope {
    /// A transfer from this end: which of those of about its size. The end had sent `before` bytes.
    Transfer { from: End, nth: usize, bytes: u64, before: u64 },
    /// The connection that took longest.
    Connection,
    /// Several connections, one after the other.
    Series,
}

impl PromiseScope {
    /// How long it took, seconds.
    pub(super) fn took(self, analysis: &Analysis) -> Option<f64> {
        let connections = || analysis.connections.iter();
        let took = match self {
            Self::Transfer { from, nth, bytes, before } => {
                let transfer = alike(analysis, from, bytes).nth(nth)?;
                (transfer.duration_s - lead(analysis, transfer, before)).or_zero()
            }
            Self::Connection => connections().map(|connection| connection.duration_s).max()?,
            // No user waits for their closing.
            Self::Series => connections().map(used).sum(),
        };
        Some(took.as_secs_f64())
    }
}

/// Bytes that its end had sent on the connection when a transfer began.
fn sent_before(analysis: &Analysis, transfer: &Transfer) -> u64 {
    let connection = analysis.connections.iter().find(|it| it.transfers.iter().any(|it| std::ptr::eq(it, transfer)));
    let transfers = connection.into_iter().flat_map(|connection| &connection.transfers);
    let earlier = transfers.filter(|it| it.from == transfer.from && it.start_s < transfer.start_s);
    earlier.map(|earlier| earlier.bytes).sum()
}

/// How long a transfer took until its end had sent `before` bytes: a program that waits less may
/// join a separate earlier transfer to the next one.
fn lead(analysis: &Analysis, transfer: &Transfer, before: u64) -> Nanos {
    let joined = before.saturating_sub(sent_before(analysis, transfer));
    // A greeting more or less is the programs'.
    if joined * 100 < transfer.bytes {
        return Nanos::ZERO;
    }
    let mut sent = 0;
    let rounds = transfer.rounds.iter().take_while(|round| {
        sent += round.bytes;
        sent <= joined
    });
    rounds.map(|round| round.duration_s).sum()
}

/// From a connection's first packet to the end of the last that it carried.
fn used(connection: &Connection) -> Nanos {
    let ends = connection.transfers.iter().map(|transfer| transfer.start_s + transfer.duration_s);
    (ends.max().unwrap_or(connection.start_s) - connection.start_s).or_zero()
}

/// The promises that come with a fix, one at most for each run that is explained rightly: that of
/// the cause that cost most, at the end that sends.
///
/// # Errors
/// When a capture cannot be read.
pub(crate) fn promised(drawing: &RealRuns, results: &[RunResult], out: &Path) -> anyhow::Result<Vec<Promise>> {
    let mut all = Vec::new();
    for run in &drawing.experiment.runs {
        let result = results.iter().find(|result| result.label == run.label && result.confirmed);
        let (Some(result), Some(label)) = (result, drawing.labels.get(drawn(&run.label))) else { continue };
        for (end, host) in [(End::Server, Host::Server), (End::Client, Host::Client)] {
            let capture =
                folder(out, &drawing.experiment.name, run, result.repetition).join(format!("{}.pcap", host.name()));
            let analysis = explain(&capture)?;
            let judged = judge(label, end, capture, &analysis);
            let Some(reported) = judged.reported.filter(|_| judged.wrong.is_none()) else { continue };
            let promise = of_transfers(&run.label, reported.cause, end, &analysis)
                .max_by(|a, b| a.before_s.total_cmp(&b.before_s))
                .or_else(|| of_connections(&run.label, reported.cause, end, &analysis));
            if let Some(promise) = promise {
                all.push(promise);
                break;
            }
        }
    }
    Ok(all)
}

fn of_transfers(label: &str, cause: &'static str, end: End, analysis: &Analysis) -> impl Iterator<Item = Promise> {
    transfers(analysis).filter(move |transfer| transfer.from == end).filter_map(move |transfer| {
        let finding = transfer.findings.iter().find(|finding| finding.cause.slug() == cause)?;
        let before = alike(analysis, end, transfer.bytes).take_while(|other| other.start_s < transfer.start_s);
        let of = PromiseScope::Transfer {
            from: end,
            nth: before.count(),
            bytes: transfer.bytes,
            before: sent_before(analysis, transfer),
        };
        Promise::new(label, end, finding, of, analysis)
    })
}

fn of_connections(label: &str, cause: &'static str, end: End, analysis: &Analysis) -> Option<Promise> {
    let connections = analysis.connections.iter();
    let findings =
        connections.flat_map(|connection| &connection.findings).map(|finding| (finding, PromiseScope::Connection));
    let across = analysis.findings.iter().map(|finding| (finding, PromiseScope::Series));
    let (finding, of) = findings.chain(across).find(|(finding, _)| finding.cause.slug() == cause)?;
    Promise::new(label, end, finding, of, analysis)
}

fn transfers(analysis: &Analysis) -> impl Iterator<Item = &Transfer> {
    analysis.connections.iter().flat_map(|connection| &connection.transfers)
}

/// The transfers from this end that carry about as much, in order.
fn alike(analysis: &Analysis, from: End, bytes: u64) -> impl Iterator<Item = &Transfer> {
    let mut all: Vec<&Transfer> = transfers(analysis)
        .filter(|transfer| transfer.from == from && (bytes * 9 / 10..=bytes * 11 / 10).contains(&transfer.bytes))
        .collect();
    all.sort_by_key(|transfer| transfer.start_s);
    all.into_iter()
}

impl Promise {
    /// The promise of a finding as seen from this end; `None` if it promises nothing.
    fn new(label: &str, end: End, finding: &Finding, of: PromiseScope, analysis: &Analysis) -> Option<Self> {
        let remedy = finding.remedies.iter().find(|remedy| remedy.promise.is_some())?;
        let (sender, receiver) = match end {
            End::Client => (Host::Client, Host::Server),
            End::Server => (Host::Server, Host::Client),
        };
        let host = match (remedy.actor, remedy.action.runs_on()) {
            (_, Some(End::Client)) => Some(Host::Client),
            (_, Some(End::Server)) => Some(Host::Server),
            (Actor::Sender, None) => Some(sender),
            (Actor::Receiver, None) => Some(receiver),
            _ => None,
        };
        Some(Self {
            label: label.to_owned(),
            end: name(end),
            cause: finding.cause.slug(),
            command: remedy.action.command(),
            what: words::action(&remedy.action, Lang::En),
            before_s: of.took(analysis)?,
            promised_s: remedy.promise?.time_s.as_secs_f64(),
            measured_s: None,
            range_s: remedy.promise?.range_s.map(|range| range.map(Nanos::as_secs_f64)),
            problems: Vec::new(),
            host,
            of,
        })
    }

    /// The change that it needs.
    pub(crate) fn fix(&self) -> Fix {
        // Words that are not a command of a host concern a program: they name the change it needs.
        let words = [self.what.as_str(), self.command.as_deref().unwrap_or_default()].join(" ");
        Fix { label: self.label.clone(), command: self.host.zip(self.command.clone()), words }
    }

    /// Whether the measured time lies in the range.
    pub(super) fn is_in_range(&self) -> Option<bool> {
        let [low, high] = self.range_s?;
        Some((low..=high).contains(&self.measured_s?))
    }

    /// Distance from the measured value, as a share of it.
    pub(super) fn error(&self) -> Option<f64> {
        Some((self.promised_s / self.measured_s?.max(1e-9) - 1.0).abs())
    }
}
