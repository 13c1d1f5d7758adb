//! `whyslow explain`: read, print, and evaluate `--fail-on`.

use crate::ci;
use crate::ci::baseline::{self, Baseline, Change};
use crate::evidence;
use crate::fail_on::FailOn;
use crate::settings::{ExplainTask, Format};
use crate::table;
use anyhow::bail;
use std::io::{IsTerminal, stdin};
use std::process::ExitCode;
use whyslow_analysis::{Analysis, PARTIAL, Problem};
use whyslow_cli::exit::FOUND;
use whyslow_cli::interrupt::{INTERRUPTED, Interrupt};
use whyslow_cli::output::{Output, complain, is_broken_pipe, sources};
use whyslow_cli::place::Readable;
use whyslow_cli::{Meter, keylog};
use whyslow_evidence::Report;
use whyslow_io::{ExplainOptions, Input};
use whyslow_report::render::{answers, brief, digest, json, terminal};
use whyslow_report::words::Lang;

/// Reads the inputs and prints the findings.
///
/// # Errors
/// When an input could not be read, there is no such connection, or stdout fails.
pub(crate) fn run(task: &ExplainTask, out: Output) -> anyhow::Result<ExitCode> {
    let keys = keylog::options()?.keys;
    let task = &ExplainTask { how: ExplainOptions { keys, ..task.how.clone() }, ..task.clone() };
    if task.format == Format::Table {
        return table::run(task, out);
    }
    sources(&task.inputs).refuse_stdout()?;
    if !task.stitched {
        let sorted = evidence::sort(&task.inputs)?;
        if let Some(report) = sorted.report {
            if sorted.is_stopped {
                complain("reading was stopped: this is what is known of what was read");
            }
            let code = with_evidence(task, &report, sorted.captures, out)?;
            return Ok(if sorted.is_stopped { ExitCode::from(INTERRUPTED) } else { code });
        }
    }
    captures(task, None, out)
}

/// Prints the analysis of captures, if there are any; then how other tools' output supports it;
/// then findings from that output.
fn with_evidence(task: &ExplainTask, report: &Report, inputs: Vec<Input>, mut out: Output) -> anyhow::Result<ExitCode> {
    if !inputs.is_empty() && task.format == Format::Tsv {
        bail!("--tsv has no columns for the output of other tools: use --json, or give the captures alone");
    }
    let code = if inputs.is_empty() {
        evidence::print(report, task.format, &mut out)?;
        ExitCode::SUCCESS
    } else {
        captures(&ExplainTask { inputs, ..task.clone() }, Some(report), out)?
    };
    let is_found = task.fail_on.iter().any(|cause| cause.is_in_evidence(report));
    Ok(if is_found && code == ExitCode::SUCCESS { ExitCode::from(FOUND) } else { code })
}

/// Explains captures, and compares other tools' output with their findings.
fn captures(task: &ExplainTask, other: Option<&Report>, out: Output) -> anyhow::Result<ExitCode> {
    if task.inputs.contains(&Input::Stdin) && stdin().is_terminal() {
        complain("reading from the terminal: paste what tcpdump printed, and end with Ctrl-D");
    }
    // A condensed capture that cannot be read is part of the explanation.
    let readable = match task.stitched {
        true => Readable { inputs: task.inputs.clone(), is_part: false },
        false => Readable::of(&task.inputs)?,
    };
    let mut interrupt = Interrupt::listen()?;
    let stop = interrupt.stop();
    let mut analysis = {
        let mut meter = Meter::new();
        let explain = if task.stitched { whyslow_io::stitch } else { whyslow_io::explain_on };
        explain(task.how.clone(), &readable.inputs, &stop, &mut |progress| {
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
    analysis.threshold_s = task.threshold;
    task.selection.apply(&mut analysis)?;
    let changes = match &task.baseline {
        Some(path) => Baseline::read(path)?.changes(&analysis),
        None => Vec::new(),
    };
    let is_slower = |rule: &FailOn| changes.iter().any(|change| rule.is_slower(change));
    let code = match task.fail_on.iter().any(|rule| rule.is_in(&analysis) || is_slower(rule)) {
        _ if analysis.partial => ExitCode::from(INTERRUPTED),
        true => ExitCode::from(FOUND),
        false => readable.status(),
    };
    let printed = print(&analysis, task, &changes, other, out);
    // The program ends anyway. With very many connections, freeing many small allocations would
    // cost time.
    std::mem::forget(analysis);
    match printed {
        // Findings count even if a part of the input was not read.
        Err(error) if is_broken_pipe(&error) => Ok(code),
        Err(error) => Err(error.context("stdout")),
        Ok(()) => Ok(code),
    }
}

fn print(
    analysis: &Analysis,
    task: &ExplainTask,
    changes: &[Change],
    other: Option<&Report>,
    mut out: Output,
) -> anyhow::Result<()> {
    let baseline = task.baseline.as_ref().map(|_| baseline::text(changes));
    let cases = || ci::cases(analysis, &task.fail_on, changes);
    match (task.format, other) {
        (Format::Junit, _) => out.raw(|out| ci::junit(&cases(), out))?,
        (Format::Github, _) => out.write(&ci::github(analysis, &cases()))?,
        (Format::Markdown, _) => out.write(&ci::markdown(analysis, &cases(), baseline.as_deref()))?,
        (_, Some(report)) => print_both(analysis, task, report, out)?,
        (format, None) => {
            print_analysis(analysis, task, &mut out)?;
            if let (Format::Terminal { .. } | Format::Summary { .. } | Format::Brief, Some(text)) = (format, baseline) {
                out.write(&format!("\n{text}"))?;
            }
        }
    }
    Ok(())
}

/// Prints the analysis, then the answers of the other output, then its own page; or one JSON.
fn print_both(analysis: &Analysis, task: &ExplainTask, report: &Report, mut out: Output) -> anyhow::Result<()> {
    let answers = whyslow_evidence::answers(analysis, report);
    match task.format {
        Format::Json { words } => {
            out.raw(|out| json::with_evidence(analysis, words, (report, &answers), out))?;
        }
        Format::JsonLines => out.raw(|out| {
            json::lines(analysis, out)?;
            json::evidence_lines(report, &answers, out)
        })?,
        format => {
            print_analysis(analysis, task, &mut out)?;
            let lang = if let Format::Terminal { lang, .. } = format { lang } else { Lang::En };
            let text = answers::terminal(&answers, out.width(), lang);
            out.write(&if text.is_empty() { text } else { format!("\n{text}") })?;
            out.write("\n")?;
            evidence::print(report, format, &mut out)?;
        }
    }
    Ok(())
}

fn print_analysis(analysis: &Analysis, task: &ExplainTask, out: &mut Output) -> anyhow::Result<()> {
    match task.format {
        Format::Json { words: false } => out.raw(|out| json::pretty(analysis, out))?,
        Format::Json { words: true } => out.raw(|out| json::with_words(analysis, out))?,
        Format::JsonLines => out.raw(|out| json::lines(analysis, out))?,
        Format::Summary { lang } => out.write(&digest::three_lines(analysis, lang))?,
        Format::Brief => out.write(&brief::terminal(analysis, out.table_width()))?,
        Format::Tsv => out.raw(|out| brief::tsv(analysis, out))?,
        // Printed as its files are read, or by their own writers.
        Format::Table | Format::Junit | Format::Github | Format::Markdown => {}
        Format::Terminal { top, lang } => {
            let (connection, transfer) = (task.selection.connection, task.selection.transfer);
            let view = terminal::View { width: out.width(), top, full: connection.is_some(), transfer, lang };
            out.write(&terminal::page(analysis, view))?;
        }
    }
    Ok(())
}
