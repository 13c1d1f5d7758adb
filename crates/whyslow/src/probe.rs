//! `whyslow probe`: make a request, and report where its time went.
//!
//! `args` and `threshold` read the command line; `rights` gives up what a probe of root could do;
//! `web` is the page in a browser; `monitor` makes requests until it is stopped; `meter` shows how
//! far a series is. `whyslow_probe` makes the requests, and prints the results.

pub(crate) mod args;
mod meter;
mod monitor;
mod rights;
mod threshold;
mod web;

use anyhow::Context;
use args::{Probe, Style};
use meter::Meter;
use std::process::ExitCode;
use web::Wanted;
use whyslow_cli::exit::{FAILED, FOUND};
use whyslow_cli::output::{Output, Sources, complain};
use whyslow_io::Scratch;
use whyslow_probe::report::{formats, json, page};
use whyslow_probe::{Capture, Recording, Request, Requests, Results};

/// Makes the requests, and prints the results.
///
/// # Errors
/// If the arguments are invalid, or an output cannot be written.
pub(crate) fn run(task: &Probe, mut out: Output) -> anyhow::Result<ExitCode> {
    let plan = task.plan()?;
    let scratch = Scratch::default();
    let sources = Sources::default().and_files(plan.files()).and_files(task.secrets());
    sources.refuse_stdout()?;
    if let Some(every) = task.every() {
        return monitor::run(task, &plan, every);
    }
    let wanted = Wanted::by(task, &scratch, &sources)?;
    let capture = match (&wanted, &task.capture) {
        (Some(wanted), _) => Some(Capture { file: wanted.packets(), name: wanted.name(), sources: &sources }),
        (None, Some(file)) => Some(Capture { file, name: None, sources: &sources }),
        (None, None) => None,
    };
    let give_up_rights = || rights::give_up(task, wanted.as_ref().map(Wanted::packets));
    let recording = Recording::start(capture, task.snaplen, give_up_rights)?;
    let meter = Meter::new();
    let observe = |request: &Request| meter.add(request);
    let requests = Requests::new(&plan, recording.recorder(), &observe).make()?;
    drop(meter);
    let results = Results { requests, recorded: recording.finish()? };
    let failures = results.failures();
    failures.iter().for_each(|failure| complain(failure));
    results.not_reused().iter().chain(&results.not_followed()).for_each(|note| complain(note));
    let exceeded = results.exceeded(&task.fail_on);
    exceeded.iter().for_each(|exceeded| complain(exceeded));
    match task.style() {
        // That tool has a line for what failed.
        Style::Httptest => out.write(&formats::httptest(&results)).context("stdout")?,
        _ if !results.is_any_answered() => {}
        Style::Curl => out.write(&formats::curl(&results)).context("stdout")?,
        Style::Json => out.raw(|out| json::write(&results, out)).context("stdout")?,
        Style::Page => {
            let page = page::page(&results, out.width(), task.detail());
            out.write(&page).context("stdout")?;
        }
    }
    if let Some(wanted) = wanted.filter(|_| results.is_any_answered()) {
        wanted.deliver(&results)?;
    }
    Ok(match (failures.is_empty(), exceeded.is_empty()) {
        (false, _) => ExitCode::from(FAILED),
        (_, false) => ExitCode::from(FOUND),
        _ => ExitCode::SUCCESS,
    })
}
