//! `whyslow explain`: read, tell, and answer `--fail-on`.

use crate::exit::FOUND;
use crate::interrupt::{INTERRUPTED, Interrupt};
use crate::output::{Output, Sources, complain, is_broken_pipe};
use crate::progress::Meter;
use crate::settings::{ExplainTask, Format};
use anyhow::bail;
use std::io::{IsTerminal, stdin};
use std::process::ExitCode;
use whyslow_core::analysis::{Analysis, PARTIAL, Problem};
use whyslow_io::Input;
use whyslow_report::ranking;
use whyslow_report::render::{json, terminal};

/// Reads the inputs and prints what is found.
///
/// # Errors
/// When an input could not be read, there is no such connection, or stdout fails.
pub(crate) fn run(task: &ExplainTask, out: Output) -> anyhow::Result<ExitCode> {
    Sources::of(&task.inputs).refuse_stdout()?;
    if task.inputs.contains(&Input::Stdin) && stdin().is_terminal() {
        complain("reading from the terminal: paste what tcpdump printed, and end with Ctrl-D");
    }
    let mut interrupt = Interrupt::listen()?;
    let stop = interrupt.stop();
    let mut analysis = {
        let mut meter = Meter::new();
        whyslow_io::explain_on(task.how, &task.inputs, &stop, &mut |progress| {
            interrupt.has_read();
            meter.update(progress);
        })?
    };
    interrupt.is_done();
    if analysis.partial {
        complain("reading was stopped: this is what is known of what was read");
    }
    if let Some(why) = &task.cut {
        analysis.partial = true;
        for capture in &mut analysis.captures {
            capture.problems.insert(0, Problem::new(PARTIAL, 1, why.clone()));
        }
    }
    if let Some(id) = task.connection {
        keep(&mut analysis, id)?;
    }
    let code = match is_found(&analysis, &task.fail_on) {
        _ if analysis.partial => ExitCode::from(INTERRUPTED),
        true => ExitCode::from(FOUND),
        false => ExitCode::SUCCESS,
    };
    let printed = print(&analysis, task, out);
    // The program ends with it: of very many connections it is many small pieces of memory, which
    // nobody waits for.
    std::mem::forget(analysis);
    match printed {
        // What was found counts, whether or not all of it was read.
        Err(error) if is_broken_pipe(&error) => Ok(code),
        Err(error) => Err(error.context("stdout")),
        Ok(()) => Ok(code),
    }
}

fn print(analysis: &Analysis, task: &ExplainTask, mut out: Output) -> anyhow::Result<()> {
    match task.format {
        Format::Json => out.raw(|out| json::pretty(analysis, out))?,
        Format::JsonLines => out.raw(|out| json::lines(analysis, out))?,
        Format::Terminal { top } => {
            let view = terminal::View { width: out.width(), top, full: task.connection.is_some() };
            out.write(&terminal::page(analysis, view))?;
        }
    }
    Ok(())
}

/// Leaves one connection, and what concerns it.
///
/// # Errors
/// When there is no connection of that number.
fn keep(analysis: &mut Analysis, id: u64) -> anyhow::Result<()> {
    let total = analysis.connections.len();
    analysis.connections.retain(|connection| connection.id == id);
    if analysis.connections.is_empty() {
        match total {
            0 => bail!("there is no connection {id}: the input holds no TCP connection"),
            1 => bail!("there is no connection {id}: the input holds one, which is 1"),
            total => bail!("there is no connection {id}: the input holds 1 to {total}"),
        }
    }
    analysis.findings.retain(|finding| finding.connections.contains(&id));
    analysis.pairs.retain(|pair| pair.connections.contains(&id));
    Ok(())
}

/// Whether one of these causes is among the findings or the problems of the captures.
fn is_found(analysis: &Analysis, causes: &[String]) -> bool {
    let of_connections = analysis.connections.iter().flat_map(ranking::findings);
    let findings = of_connections.chain(&analysis.findings).map(|finding| finding.cause.slug());
    let captures = analysis.captures.iter().map(|capture| &capture.problems);
    let connections = analysis.connections.iter().map(|connection| &connection.problems);
    let problems = captures.chain(connections).flatten().map(|problem| problem.slug.as_str());
    findings.chain(problems).any(|slug| causes.iter().any(|cause| cause == slug))
}
