//! What the model says of the transfers that lost the most time, written to their entries.

use crate::analysis::{Assumed, Connection, Finding, Transfer};
use crate::rules;
use crate::units::Nanos;
use crate::whatif::{RankedReplay, ReplayInput, ReplayQueue, ReplayResult, Replays};

/// Most steps to simulate over all replays of an analysis (two a segment): about a tenth of a
/// second.
pub(crate) const MAX_WORK: u64 = 4_000_000;

/// Fills in predictions, worst transfer first, as far as the work allows. `play` takes jobs, one by
/// one or several at a time, and puts back their results.
pub(crate) fn predict(replays: &Replays, connections: &mut [Connection], play: impl FnOnce(&mut ReplayQueue<'_>)) {
    predict_within(MAX_WORK, replays, connections, play);
}

/// As [`predict`], with this many steps to simulate.
pub(crate) fn predict_within(
    work: u64,
    replays: &Replays,
    connections: &mut [Connection],
    play: impl FnOnce(&mut ReplayQueue<'_>),
) {
    let found = replays.ranked().iter().filter_map(|ranked| Some((ranked, place(ranked, connections)?)));
    let (inputs, places): (Vec<_>, Vec<_>) = found
        .map(|(ranked, (connection, transfer))| {
            let findings = &connections[connection].transfers[transfer].findings;
            let fixes = findings.iter().map(rules::remedy_of).collect();
            (ReplayInput { replay: &ranked.replay, fixes }, (connection, transfer))
        })
        .unzip();
    let mut queue = ReplayQueue::new(&inputs, work);
    play(&mut queue);
    for ((connection, transfer), result) in places.into_iter().zip(queue.into_played()) {
        write(result, &mut connections[connection].transfers[transfer]);
    }
}

/// Returns the indices of the connection and of its transfer.
fn place(ranked: &RankedReplay, connections: &[Connection]) -> Option<(usize, usize)> {
    let connection = connections.iter().position(|connection| connection.id == ranked.connection)?;
    let transfer = connections[connection].transfers.iter().position(|t| t.start_s == ranked.start)?;
    Some((connection, transfer))
}

fn write(result: ReplayResult, transfer: &mut Transfer) {
    let Some(model) = result.model else { return };
    transfer.model_s = Some(model);
    transfer.model_skipped = result.skipped;
    let measured = transfer.duration_s;
    if !result.skipped && model.scale(CONTRADICTION_FACTOR) < measured {
        transfer
            .findings
            .iter_mut()
            .filter(|finding| finding.seconds.0 * 2 >= measured.0)
            .for_each(|finding| lower_confidence(finding, model, measured));
    }
    for (finding, promise) in transfer.findings.iter_mut().zip(result.promises) {
        let Some(promise) = promise else { continue };
        finding.predicted_s = Some(promise.time);
        finding.predicted_assumes =
            promise.assumed.map(|rate| Assumed { needed_bps: rate.needed, seen_bps: rate.seen });
    }
}

/// A transfer took so many times what the model takes with all that is said to have held it: then
/// something else did.
const CONTRADICTION_FACTOR: f64 = 2.0;
/// What is left of the confidence in a cause then.
const CONTRADICTED_CONFIDENCE: f64 = 0.6;

/// The model does not bear out that this cause took most of the time.
fn lower_confidence(finding: &mut Finding, model: Nanos, measured: Nanos) {
    if !rules::is_fully_modelled(finding.cause) {
        return;
    }
    finding.confidence = (finding.confidence * CONTRADICTED_CONFIDENCE * 100.0).round() / 100.0;
    let (model, measured) = (model.as_secs_f64(), measured.as_secs_f64());
    let doubt = format!(
        "it does not fit that the model, limited by this too, takes {model:.3} s where {measured:.3} s were measured: something else took time as well"
    );
    finding.settle = Some(match finding.settle.take() {
        Some(settle) => format!("{doubt}; {settle}"),
        None => doubt,
    });
}

#[cfg(test)]
mod tests;
