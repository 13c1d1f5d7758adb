//! `whyslow probe`: make a request, and say where its time went.
//!
//! `args` is the command line; `requests` makes the requests; `recording` hands the packets to the
//! explainer; `figures`, `floor` and `kernel` say what came of them; `page`, `formats` and `json`
//! print it.

mod args;
mod beside;
mod figures;
mod floor;
mod formats;
mod json;
mod kernel;
mod page;
mod picture;
mod recording;
mod requests;
mod threshold;

pub(crate) use args::Probe;

use crate::exit::{FAILED, FOUND};
use crate::output::{Output, complain};
use anyhow::Context;
use args::Style;
use recording::Recording;
use requests::{Request, Requests};
use std::process::ExitCode;
use whyslow_core::analysis::Analysis;

/// All that is known at the end.
pub(crate) struct Probed {
    requests: Vec<Request>,
    /// What the packets say; or why there are none.
    explained: Result<Explained, String>,
}

/// What the recorded packets say.
pub(crate) struct Explained {
    analysis: Analysis,
    packets: u64,
    dropped: u64,
}

/// Makes the requests, and prints what came of them.
///
/// # Errors
/// When the arguments make no sense, or something cannot be written.
pub(crate) fn run(task: &Probe, mut out: Output) -> anyhow::Result<ExitCode> {
    let plan = task.plan()?;
    let recording = Recording::start(task.capture.as_deref(), task.snaplen)?;
    let requests = Requests::new(&plan, recording.recorder()).make()?;
    let explained = recording.finish()?;
    let probed = Probed { requests, explained };
    let failures: Vec<String> = probed.requests.iter().filter_map(Request::complaint).collect();
    failures.iter().for_each(|failure| complain(failure));
    let exceeded = threshold::exceeded(&task.fail_on, &probed);
    exceeded.iter().for_each(|exceeded| complain(exceeded));
    let is_answered = probed.requests.iter().any(|request| request.outcome.is_ok());
    match task.style() {
        // That tool has a line for what failed.
        Style::Httptest => out.write(&formats::httptest(&probed)).context("stdout")?,
        _ if !is_answered => {}
        Style::Curl => out.write(&formats::curl(&probed)).context("stdout")?,
        Style::Json => out.raw(|out| json::write(&probed, out)).context("stdout")?,
        Style::Page => {
            let page = page::page(&probed, out.width());
            out.write(&page).context("stdout")?;
        }
    }
    Ok(match (failures.is_empty(), exceeded.is_empty()) {
        (false, _) => ExitCode::from(FAILED),
        (_, false) => ExitCode::from(FOUND),
        _ => ExitCode::SUCCESS,
    })
}
