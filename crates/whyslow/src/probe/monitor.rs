//! `whyslow probe --every`: a line for each request, and metrics, until it is stopped.

use super::args::{Probe, Style};
use super::rights;
use anyhow::Context;
use prometheus_client::registry::Registry;
use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};
use whyslow_cli::exit::{FAILED, FOUND};
use whyslow_cli::interrupt::Interrupt;
use whyslow_cli::output::{complain, print_line};
use whyslow_probe::report::{json, monitor_line};
use whyslow_probe::{Metrics, Plan, Request, Results, Schedule, monitor};

/// Makes requests until Ctrl-C, or as many as are wanted. The status is that of all of them.
///
/// # Errors
/// Returns an error if the address for the metrics is not available, or stdout cannot be written.
pub(super) fn run(task: &Probe, plan: &Plan, every: Duration) -> anyhow::Result<ExitCode> {
    let mut interrupt = Interrupt::listen()?;
    // The requests that were made are complete: Ctrl-C ends the waiting without a failure.
    interrupt.has_read();
    let mut registry = Registry::default();
    let metrics = Metrics::register(&mut registry);
    rights::give_up(task, None)?;
    if let Some(address) = task.metrics {
        whyslow_watch::serve_metrics(address, registry)?;
    }
    let (mut has_failed, mut has_exceeded) = (false, false);
    let schedule = Schedule { every, is_over: &|| interrupt.is_asked() };
    let mut each = |request: &Request| {
        metrics.add(request);
        let exceeded = Results::passed_by(request, &task.fail_on);
        exceeded.iter().for_each(|exceeded| complain(exceeded));
        has_exceeded |= !exceeded.is_empty();
        has_failed |= request.complaint().is_some();
        if let Some(complaint) = request.complaint() {
            complain(&complaint);
        }
        if task.style() == Style::Json {
            let mut line = Vec::new();
            json::write_line(request, &mut line)?;
            print_line(String::from_utf8_lossy(&line).trim_end());
        } else if let Ok(exchange) = &request.outcome {
            let began = exchange.began_at.duration_since(UNIX_EPOCH).unwrap_or_default();
            print_line(&monitor_line(request, exchange, began));
        }
        Ok(())
    };
    let left_out = monitor(plan, &schedule, &mut each).context("monitoring")?;
    if left_out > 0 {
        complain(&format!("{left_out} rounds were left out: the one before took longer than --every"));
    }
    Ok(match (has_failed, has_exceeded) {
        (true, _) => ExitCode::from(FAILED),
        (_, true) => ExitCode::from(FOUND),
        _ => ExitCode::SUCCESS,
    })
}
