//! `whyslow host`: what of this machine makes transfers slow.
//!
//! ```text
//!   whyslow_live::host::Host ─▶ scope ─▶ look ─▶ rules ─▶ findings ─▶ page, JSON
//!     (what there is)         (--peer)  (one namespace)              └ groups (peers)
//! ```
//!
//! `args` is the command line; `history` takes looks together and has them judged; `causes` names
//! what can be found, `rules` has a file for each; a finding exists only where a live connection or
//! a counter shows that it costs. Nothing is changed.

pub(crate) mod args;
pub(crate) mod causes;
mod finding;
mod groups;
mod history;
mod json;
mod page;
mod report;
mod rules;
mod scope;
mod snapshot;

use crate::exit::FOUND;
use crate::language;
use crate::output::{Output, complain};
use anyhow::{Context, bail};
use args::{HostArgs, Pace};
use history::History;
use report::HostReport;
use std::process::ExitCode;
use std::thread::sleep;
use whyslow_live::host::Host;

/// Looks at this machine, and prints what makes transfers slow.
///
/// # Errors
/// When it cannot be read, or nothing can be printed.
pub(crate) fn run(task: &HostArgs, mut out: Output) -> anyhow::Result<ExitCode> {
    let mut history = History::default();
    let mut found = false;
    let (pause, mut left) = match task.pace() {
        Pace::Once => (None, Some(1)),
        Pace::Over(time) => {
            history.add(read(task)?);
            sleep(time);
            (None, Some(1))
        }
        Pace::Watch(time, count) => (Some(time), count),
    };
    let is_stream = pause.is_some();
    while left != Some(0) {
        let judged = history.judge(read(task)?, task);
        found |= task.fail_on.iter().any(|cause| cause.is_in(&judged.findings));
        print(task, &mut out, &judged, is_stream)?;
        history.add(judged.host);
        left = left.map(|left| left - 1);
        if let Some(pause) = pause.filter(|_| left != Some(0)) {
            sleep(pause);
        }
    }
    Ok(if found { ExitCode::from(FOUND) } else { ExitCode::SUCCESS })
}

/// Reads the machine.
fn read(task: &HostArgs) -> anyhow::Result<Host> {
    let mut host = Host::read(&task.options());
    if host.namespaces.is_empty() {
        let why: Vec<String> =
            host.missing.iter().map(|missing| format!("{}: {}", missing.what, missing.why)).collect();
        bail!("no network namespace could be read: {}", why.join("; "));
    }
    scope::narrow(&mut host, task);
    if task.is_part() && host.namespaces.iter().all(|namespace| namespace.sockets.is_empty()) {
        complain("no socket is of that peer or process");
    }
    Ok(host)
}

fn print(task: &HostArgs, out: &mut Output, judged: &HostReport, is_stream: bool) -> anyhow::Result<()> {
    match (task.json, is_stream) {
        (true, true) => out.raw(|out| json::line(judged, task.words, out)).context("stdout"),
        (true, false) => out.raw(|out| json::write(judged, task.words, out)).context("stdout"),
        (false, _) => {
            let mut page = page::page(judged, task.full, out.width(), language::chosen(task.lang));
            if is_stream {
                page.push('\n');
            }
            out.write(&page).context("stdout")
        }
    }
}
