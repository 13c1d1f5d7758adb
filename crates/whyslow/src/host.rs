//! `whyslow host`: what of this machine makes transfers slow.
//!
//! `args` is the command line; whyslow-host reads the machine, judges it and lays the findings out.

pub(crate) mod args;

use anyhow::Context;
use args::{HostArgs, Pace};
use std::process::ExitCode;
use std::thread::sleep;
use whyslow_cli::exit::FOUND;
use whyslow_cli::language;
use whyslow_cli::output::{Output, complain};
use whyslow_host::{History, HostReport, Look, Settings, json, page};

/// Looks at this machine, and prints what makes transfers slow.
///
/// # Errors
/// When it cannot be read, or nothing can be printed.
pub(crate) fn run(task: &HostArgs, mut out: Output) -> anyhow::Result<ExitCode> {
    let settings = task.settings();
    let mut history = History::default();
    let mut found = false;
    let (pause, mut left) = match task.pace() {
        Pace::Once => (None, Some(1)),
        Pace::Over(time) => {
            history.add(read(&settings)?);
            sleep(time);
            (None, Some(1))
        }
        Pace::Watch(time, count) => (Some(time), count),
    };
    let is_stream = pause.is_some();
    while left != Some(0) {
        let look = read(&settings)?;
        let judged = history.judge(&look, &settings);
        found |= task.fail_on.iter().any(|cause| cause.is_in(&judged.findings));
        print(task, &mut out, &judged, is_stream)?;
        history.add(look);
        left = left.map(|left| left - 1);
        if let Some(pause) = pause.filter(|_| left != Some(0)) {
            sleep(pause);
        }
    }
    Ok(if found { ExitCode::from(FOUND) } else { ExitCode::SUCCESS })
}

/// Reads the machine.
fn read(settings: &Settings) -> anyhow::Result<Look> {
    let look = whyslow_host::look(settings)?;
    if settings.is_part() && look.host.namespaces.iter().all(|namespace| namespace.sockets.is_empty()) {
        complain("no socket is of that peer or process");
    }
    Ok(look)
}

fn print(task: &HostArgs, out: &mut Output, judged: &HostReport, is_stream: bool) -> anyhow::Result<()> {
    match (task.json, is_stream) {
        (true, true) => out.raw(|out| json::line(judged, task.words, out)).context("stdout"),
        (true, false) => out.raw(|out| json::write(judged, task.words, out)).context("stdout"),
        (false, _) => {
            let mut page = page(judged, task.full, out.width(), language::chosen(task.lang));
            if is_stream {
                page.push('\n');
            }
            out.write(&page).context("stdout")
        }
    }
}
