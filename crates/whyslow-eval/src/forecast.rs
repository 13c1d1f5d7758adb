//! A lab's scenario as a question to `whyslow predict`, and how near the answer comes to what the
//! lab measured.

use std::fmt::Write;
use whyslow_lab::scenario::work::{Connection, Protocol, Transfers, Work};
use whyslow_lab::scenario::{Experiment, Scenario, units};
use whyslow_lab::truth::RunResult;
use whyslow_model::Algorithm;
use whyslow_model::plan::{Plan, Tls, Way};
use whyslow_units::Nanos;

/// The bundled experiments that a prediction is held against.
pub(super) const EXPERIMENTS: &[&str] = &["slow-start", "reuse", "idle-restart", "long-fat"];

/// Payload of a full segment with timestamps and without, bytes.
const MSS: [u64; 2] = [1460, 1448];
/// A window is about this part of the receive buffer (Linux ≥ 6.6: what overhead leaves).
const OF_RECEIVE_BUFFER: f64 = 0.6;
/// A send buffer that is set is doubled, and 4,096 bytes that are written count as 5,700; the
/// program is woken when a third is free, so that five sixths are filled on average.
const OF_SEND_BUFFER: f64 = 2.0 * 4096.0 / 5700.0 * 5.0 / 6.0;

/// The last transfer of a run as a plan; `None` if a plan cannot express the scenario.
fn plan(scenario: &Scenario) -> Option<Plan> {
    let (way, work) = match &scenario.work {
        Work::Download(work) => (Way::Download, work),
        Work::Upload(work) => (Way::Upload, work),
        _ => return None,
    };
    let (sender, receiver, link) = match way {
        Way::Download => (&scenario.server, &scenario.client, &scenario.path.down),
        Way::Upload => (&scenario.client, &scenario.server, &scenario.path.up),
    };
    let mss = MSS[usize::from(sender.timestamps && receiver.timestamps)];
    let most = (receiver.tcp_rmem[2].0 as f64 * OF_RECEIVE_BUFFER) as u64;
    let most = if sender.window_scaling && receiver.window_scaling { most } else { 65_535 };
    let first = receiver.initrwnd.map_or(65_535, |segments| u64::from(segments) * mss);
    let nanos = |time: units::Time| Nanos(i64::try_from(time.0).unwrap_or(i64::MAX));
    let (bytes, count) = last(work);
    Some(Plan {
        bytes,
        rtt: nanos(scenario.path.rtt?),
        rate: link.rate.map(|rate| rate.0 as f64),
        // The queues of these experiments never fill.
        queue: Some(u64::MAX >> 1),
        loss: 0.0,
        mss,
        way,
        tls: if matches!(work.protocol, Protocol::Plain | Protocol::Http) { Tls::None } else { Tls::V13 },
        algorithm: match sender.congestion.as_str() {
            "reno" => Algorithm::Reno,
            "bbr" => Algorithm::Bbr,
            _ => Algorithm::Cubic,
        },
        initial_window: sender.initcwnd.map_or(10, u64::from),
        ssthresh: None,
        first_window: first.min(most),
        receive_window: most,
        send_buffer: sender.sndbuf.map(|buffer| (buffer.0 as f64 * OF_SEND_BUFFER) as u64),
        think: nanos(work.think),
        reuse: work.connection == Connection::Reused && count > 1,
        earlier: count.saturating_sub(1) as u64,
        idle: nanos(work.pause),
        starts_over: sender.slow_start_after_idle,
        count: 1,
    })
}

/// Returns the size of the last transfer, and the number of transfers.
fn last(work: &Transfers) -> (u64, usize) {
    match work.sizes.last() {
        Some(size) => (size.0, work.sizes.len()),
        None => (work.size.0, work.count as usize),
    }
}

/// Predicted and measured times of the runs of these experiments, in Markdown.
pub(super) fn report(made: &[(Experiment, Vec<RunResult>)]) -> String {
    let mut page = "## Predicted without a capture, against the lab\n\n\
        | run | predicted, s | measured, s | error |\n|---|---|---|---|\n"
        .to_owned();
    let mut errors = Vec::new();
    for (experiment, results) in made {
        for run in &experiment.runs {
            let result = results.iter().find(|result| result.label == run.label && result.problems.is_empty());
            let measured = result.and_then(|result| result.figures.get("transfer.last").copied());
            let (Some(plan), Some(measured)) = (plan(&run.scenario), measured) else { continue };
            let predicted = plan.forecast().total.as_secs_f64();
            let error = (predicted / measured.max(1e-9) - 1.0) * 100.0;
            errors.push(error.abs());
            // Writing to a string cannot fail.
            let _ = writeln!(
                page,
                "| {} {} | {predicted:.3} | {measured:.3} | {error:+.1} % |",
                experiment.name, run.label
            );
        }
    }
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).map_or("–".to_owned(), |error| format!("{error:.1} %"));
    page + &format!("\nOver {} runs: median error {median}.\n", errors.len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use whyslow_lab::experiments;

    #[test]
    fn every_run_of_these_experiments_is_a_plan() {
        for name in EXPERIMENTS {
            for run in experiments::open(name, &[]).unwrap().runs {
                let plan = plan(&run.scenario).unwrap();
                assert!(plan.forecast().total >= plan.rtt, "{name} {}", run.label);
            }
        }
    }
}
