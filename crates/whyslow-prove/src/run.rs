//! `whyslow prove` on Linux: reads the transfer, reproduces it, applies fixes, and prints the
//! outcome.

use super::args::Prove;
use super::captured::{self, Captured};
use super::keep::KeptFiles;
use super::packets::Packets;
use super::scratch::Scratch;
use super::supposition::Supposition;
use super::trial::Workshop;
use anyhow::{Context, bail, ensure};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use whyslow_analysis::{Analysis, Cause, Connection, Transfer};
use whyslow_cli::output::{Output, Sources, Target};
use whyslow_cli::place::TransferPlace;
use whyslow_cli::{SpooledInputs, reading};
use whyslow_diagnosis::compare::{TransferName, choose};
use whyslow_io::Reading;
use whyslow_lab::net;
use whyslow_lab::progress::Bar;
use whyslow_serve::{Opening, Proof};

/// Length of a judged run, seconds: a longer transfer is cut to its beginning.
const JUDGED: f64 = 8.0;
/// Maximum number of runs of a judged transfer's explanation.
const TRIES: u32 = 4;
/// The exit status where the run does not agree with the capture.
const DISAGREES: u8 = 1;

/// Reproduces the transfer, and applies fixes.
///
/// # Errors
/// When the capture cannot be read, holds no transfer that can be made again, or namespaces are
/// forbidden.
pub fn run(task: &Prove, mut out: Output) -> anyhow::Result<ExitCode> {
    let place = TransferPlace::read(&task.capture)?;
    let sources = whyslow_cli::output::sources(std::slice::from_ref(&place.input));
    sources.refuse_stdout()?;
    let target = page_target(task, &sources)?;
    let kept =
        task.keep.as_deref().filter(|_| !task.scenario).map(|folder| KeptFiles::open(folder, &sources)).transpose()?;
    // Before anything starts a thread.
    if !task.scenario {
        net::enter().context("prove runs the transfer in the lab")?;
    }
    let name = place.input.name();
    let Opened { captured, page, kept: _kept } = open(&place)?;
    let at_most = task.at_most.as_secs_f64();
    if task.scenario {
        let built = super::scenario::build(&captured, super::scenario::Choice::first(&captured), at_most);
        out.write(&super::keep::toml(&built.scenario, &captured, "captured")?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = match &kept {
        Some(kept) => prove(task, captured, &kept.runs(), at_most)?,
        None => prove(task, captured, Scratch::new()?.path(), at_most)?,
    };
    if let Some(kept) = kept {
        kept.write(&outcome, &sources)?;
    }
    let document = super::json::Document::of(&outcome, &name);
    if task.json {
        out.json(&document)?;
    } else {
        out.write(&super::page::page(&outcome, out.width()))?;
    }
    if let Some(target) = target {
        write_page(&document, page, target)?;
    }
    Ok(if outcome.agreement().agrees { ExitCode::SUCCESS } else { ExitCode::from(DISAGREES) })
}

fn prove(task: &Prove, captured: Captured, folder: &Path, at_most: f64) -> anyhow::Result<super::outcome::Outcome> {
    let bar = Bar::waiting("prove");
    let limit = Duration::from_secs_f64(task.max_time.as_secs_f64());
    let progress = |what: &str| bar.message(what);
    let shop = Workshop { folder, repeat: task.repeat, limit, began: Instant::now(), progress: &progress };
    let explained = supposed(&captured, task.suppose)?;
    let fitted = super::search::fit(&explained, "again", at_most, task.tries, &shop)?;
    let instead = super::alternatives::of(&captured, task.suppose, &fitted, at_most, &shop);
    Ok(super::outcome::Outcome::of(explained, fitted, instead, &shop))
}

/// The transfer with the explanation that is to be tested.
///
/// # Errors
/// If nothing of its time can have another cause.
fn supposed(captured: &Captured, suppose: Option<Supposition>) -> anyhow::Result<Captured> {
    let Some(other) = suppose.filter(|other| captured.own_supposition() != Some(*other)) else {
        return Ok(captured.clone());
    };
    captured.supposing(other).context("--suppose: the capture's verdict is not about the time of one transfer")
}

/// How a capture that was run again compares with its explanation.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The cause that was tested.
    pub explained: Option<Cause>,
    /// The run with it is the captured transfer.
    pub agrees: bool,
    /// Another cause whose run is the captured transfer, where the tested one's is not.
    pub behaves_like: Option<Cause>,
}

/// Runs the transfer of a capture's verdict with the explanation of the analysis, or with another,
/// and without fixes. The process must be in the lab's namespaces. `None` if the verdict is of a
/// kind that has no other explanation.
///
/// # Errors
/// When the capture cannot be read, or holds no transfer that can be made again.
pub fn judge(
    capture: &Path,
    suppose: impl FnOnce(Supposition) -> Supposition,
    limit: Duration,
) -> anyhow::Result<Option<Judgement>> {
    let place = TransferPlace::read(capture)?;
    let Opened { captured, kept: _kept, .. } = open(&place)?;
    let Some(own) = captured.own_supposition() else { return Ok(None) };
    let tested = suppose(own);
    if captured.supposing(tested).is_none() {
        return Ok(None);
    }
    let scratch = Scratch::new()?;
    let quiet = |_: &str| {};
    let shop = Workshop { folder: scratch.path(), repeat: Some(1), limit, began: Instant::now(), progress: &quiet };
    let explained = supposed(&captured, Some(tested))?;
    let fitted = super::search::fit(&explained, "again", JUDGED, TRIES, &shop)?;
    let instead = super::alternatives::of(&captured, Some(tested), &fitted, JUDGED, &shop);
    Ok(Some(Judgement {
        explained: explained.top().map(|finding| finding.cause),
        agrees: fitted.agreement.agrees,
        behaves_like: super::alternatives::behaves_like(&instead),
    }))
}

/// Where the page is to be written: made sure of before anything is run.
///
/// # Errors
/// When it cannot be written there, or the program was built without the page.
fn page_target(task: &Prove, sources: &Sources) -> anyhow::Result<Option<Target>> {
    let Some(path) = &task.report else { return Ok(None) };
    ensure!(path.as_os_str() != "-", "--report: what is printed goes to stdout; name a file for the page");
    let target = Target::open(Some(path), sources)?;
    whyslow_serve::page()?;
    Ok(Some(target))
}

/// The page of the capture, with the outcome.
fn write_page(
    document: &super::json::Document<'_>,
    (mut opening, reading): (Opening, Reading),
    target: Target,
) -> anyhow::Result<()> {
    let proof = Proof::read(&serde_json::to_vec(document)?).map_err(anyhow::Error::msg)?;
    opening.proof = Some(proof);
    reading::write_page(reading, &opening, target)
}

/// A capture that was read.
pub(super) struct Opened {
    pub captured: Captured,
    /// What the page of it is made of.
    pub page: (Opening, Reading),
    /// Input from a pipe is kept for as long as this value.
    pub kept: SpooledInputs,
}

/// Reads the transfer that is meant, and its connection's packets.
pub(super) fn open(place: &TransferPlace) -> anyhow::Result<Opened> {
    let kept = SpooledInputs::new(std::slice::from_ref(&place.input))?;
    let opening = Opening { names: kept.names(), ..Opening::of(kept.inputs().to_vec()) };
    let reading = reading::read(&opening)?;
    let captured = captured_in(&reading, place)?;
    Ok(Opened { captured, page: (opening, reading), kept })
}

fn captured_in(reading: &Reading, place: &TransferPlace) -> anyhow::Result<Captured> {
    let name = || place.input.name();
    let (connection, index) = meant(&reading.analysis, place.which).with_context(name)?;
    is_possible(&reading.analysis, connection, &connection.transfers[index]).with_context(name)?;
    let source = reading.place(connection).context("its packets are read twice, and the capture is no longer there")?;
    let packets = Packets::read(&source, connection)?;
    let first = packets.place(&connection.transfers[index]).context("the transfer's packets are not in the capture")?;
    let spanning = reading.analysis.findings.iter().filter(|finding| finding.connections == [connection.id]);
    let is_named = place.which.transfer.is_some();
    Ok(Captured {
        is_about_connection: !is_named && captured::is_about_connection(connection, index),
        connection: connection.clone(),
        index,
        packets,
        place: first,
        is_supposed: false,
        spanning: spanning.cloned().collect(),
    })
}

/// The transfer that was named, or the one that the verdict is about.
fn meant(analysis: &Analysis, which: TransferName) -> anyhow::Result<(&Connection, usize)> {
    if which.connection.is_some() && which.transfer.is_some() {
        let chosen = choose(analysis, which)?;
        return Ok((chosen.connection, chosen.number - 1));
    }
    // A missing transfer has the same error message everywhere.
    let chosen = choose(analysis, which)?;
    let of_one = |connection: &&Connection| which.connection.is_none_or(|id| connection.id == id);
    let costliest = captured::verdict(analysis, of_one);
    Ok(costliest.unwrap_or((chosen.connection, chosen.number - 1)))
}

/// # Errors
/// If the capture does not have enough data to reproduce the transfer.
fn is_possible(analysis: &Analysis, connection: &Connection, transfer: &Transfer) -> anyhow::Result<()> {
    let capture = analysis.captures.get(connection.capture);
    let has = |slug: &str| {
        let problems = connection.problems.iter().chain(capture.into_iter().flat_map(|capture| &capture.problems));
        problems.into_iter().any(|problem| problem.slug == slug)
    };
    if transfer.elided || has("elided-text") {
        bail!("packets were left out of this text, so that the transfer cannot be made again: give a pcap of it");
    }
    if has("one-direction") {
        bail!("only one direction is in the capture: what both ends did is needed to make the transfer again");
    }
    if connection.rtt_ms.min.is_none_or(|rtt| rtt <= 0.0) {
        bail!("the capture shows no round trip, without which the path cannot be built: include the handshake");
    }
    if transfer.bytes == 0 || transfer.rounds.is_empty() {
        bail!("nothing was transferred that could be made again");
    }
    Ok(())
}
