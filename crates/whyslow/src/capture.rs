//! `whyslow capture`: the command that captures on another machine, in a container or here.

pub(crate) mod args;
mod plan;
mod target;

use anyhow::{Context, bail};
use args::Capture;
use plan::Plan;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use whyslow_cli::output::Output;

/// Prints the capture command, or runs it and explains the packets.
///
/// # Errors
/// When the options do not fit the target, a program cannot be started, or stdout fails.
pub(crate) fn run(task: &Capture, mut out: Output) -> anyhow::Result<ExitCode> {
    let plan = plan::plan(task)?;
    if !task.run {
        out.write(&plan.text(&task.explain)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Plan::Stream(words) = plan else {
        bail!("--run needs a stream, and this writes files: run what `whyslow capture` prints without --run");
    };
    stream(&words, &task.explain)
}

/// Starts the capture, and a second instance of this program that reads its output.
fn stream(words: &[String], explain: &[String]) -> anyhow::Result<ExitCode> {
    let [program, rest @ ..] = words else { bail!("there is no command") };
    // Ctrl-C reaches all three: tcpdump ends, and the packets up to then are explained.
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)))?;
    let mut source = Command::new(program)
        .args(rest)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{program} cannot be started"))?;
    let packets = source.stdout.take().context("the capture has no output")?;
    let explained = std::env::current_exe()
        .and_then(|own| Command::new(own).args(explain).arg("-").stdin(packets).status())
        .context("this program cannot be started again");
    let captured = source.wait();
    let code = explained?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(whyslow_cli::exit::FAILED);
    // Packets that were explained count: `timeout` and Ctrl-C end a capture with a status of their
    // own.
    captured?;
    Ok(ExitCode::from(code))
}

#[cfg(test)]
mod tests;
