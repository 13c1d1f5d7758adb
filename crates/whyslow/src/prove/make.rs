//! What `whyslow prove` does, on Linux: reads the transfer, makes it again, mends it, tells it.

use super::args::Prove;
use super::captured::{self, Captured};
use super::packets::Packets;
use super::scratch::Scratch;
use super::trial::Workshop;
use crate::output::{Output, Sources};
use crate::place::TransferPlace;
use crate::spooled::SpooledInputs;
use anyhow::{Context, bail};
use std::path::Path;
use std::process::ExitCode;
use whyslow_core::analysis::{Analysis, Connection, Transfer};
use whyslow_core::compare::{TransferName, choose};
use whyslow_lab::net;
use whyslow_lab::progress::Bar;
use whyslow_serve::Opening;

/// The exit status where the run does not agree with the capture.
const DISAGREES: u8 = 1;

/// Makes the transfer again, and mends it.
///
/// # Errors
/// When the capture cannot be read, holds no transfer that can be made again, or namespaces are
/// forbidden.
pub(crate) fn run(task: &Prove, mut out: Output) -> anyhow::Result<ExitCode> {
    let place = TransferPlace::read(&task.capture)?;
    Sources::of(std::slice::from_ref(&place.input)).refuse_stdout()?;
    // Before anything starts a thread.
    if !task.scenario {
        net::enter().context("prove runs the transfer in the lab")?;
    }
    let name = place.input.name();
    let captured = read(&place)?;
    let at_most = task.at_most.as_secs_f64();
    if task.scenario {
        let built = super::built::build(&captured, super::built::Choice::first(&captured), at_most);
        out.write(&super::keep::toml(&built.scenario, &captured, "captured")?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = match &task.keep {
        Some(keep) => prove(task, captured, &keep.join("runs"), at_most)?,
        None => prove(task, captured, Scratch::new()?.path(), at_most)?,
    };
    if let Some(keep) = &task.keep {
        super::keep::write(&outcome, keep)?;
    }
    if task.json {
        out.json(&super::json::Document::of(&outcome, &name))?;
    } else {
        out.write(&super::page::page(&outcome, out.width()))?;
    }
    Ok(if outcome.agreement().agrees { ExitCode::SUCCESS } else { ExitCode::from(DISAGREES) })
}

fn prove(task: &Prove, captured: Captured, folder: &Path, at_most: f64) -> anyhow::Result<super::outcome::Outcome> {
    let bar = Bar::waiting("prove");
    let shop = Workshop { folder, repeat: task.repeat, progress: &|what| bar.message(what) };
    let fitted = super::fit::fit(&captured, at_most, task.tries, &shop)?;
    Ok(super::outcome::Outcome::of(captured, fitted, &shop))
}

/// Reads the transfer that is meant, and its connection's packets.
pub(super) fn read(place: &TransferPlace) -> anyhow::Result<Captured> {
    let kept = SpooledInputs::new(std::slice::from_ref(&place.input))?;
    let opening = Opening { names: kept.names(), ..Opening::of(kept.inputs().to_vec()) };
    let reading = crate::report::read(&opening)?;
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
        spanning: spanning.cloned().collect(),
    })
}

/// The transfer that was named, or the one that the verdict is about.
fn meant(analysis: &Analysis, which: TransferName) -> anyhow::Result<(&Connection, usize)> {
    if which.connection.is_some() && which.transfer.is_some() {
        let chosen = choose(analysis, which)?;
        return Ok((chosen.connection, chosen.number - 1));
    }
    // What is not there is told in the same words everywhere.
    let chosen = choose(analysis, which)?;
    let of_one = |connection: &&Connection| which.connection.is_none_or(|id| connection.id == id);
    let costliest = captured::verdict(analysis, of_one);
    Ok(costliest.unwrap_or((chosen.connection, chosen.number - 1)))
}

/// # Errors
/// When what is shown is not enough to make it again.
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
