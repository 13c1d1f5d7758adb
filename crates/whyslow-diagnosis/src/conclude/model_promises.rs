//! Writes the model's promises to the transfers that lost the most time.

use crate::whatif::{RankedReplay, ReplayInput, ReplayQueue, ReplayResult, Replays};
use whyslow_analysis::{Assumed, Connection, Promise, Transfer};

/// Maximum number of steps to simulate over all replays of an analysis, two a segment. Measured:
/// about a tenth of a second.
pub(crate) const MAX_WORK: u64 = 4_000_000;

/// Fills in predictions, worst transfer first, as far as `work` allows: steps to simulate. `play`
/// takes jobs, one by one or several at a time, and puts back their results.
pub(crate) fn play_models(
    work: u64,
    replays: &Replays,
    connections: &mut [Connection],
    play: impl FnOnce(&mut ReplayQueue<'_>),
) {
    let found = replays.ranked().iter().filter_map(|ranked| Some((ranked, place(ranked, connections)?)));
    let (inputs, places): (Vec<_>, Vec<_>) = found
        .map(|(ranked, (connection, transfer))| {
            let findings = &connections[connection].transfers[transfer].findings;
            let remedies = findings.iter().flat_map(|finding| &finding.remedies);
            let fixes = remedies.map(|remedy| remedy.action.changes()).collect();
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
    let remedies = transfer.findings.iter_mut().flat_map(|finding| &mut finding.remedies);
    for (remedy, promise) in remedies.zip(result.promises) {
        let Some(promise) = promise else { continue };
        let assumed = promise.assumed.map(|rate| Assumed { needed_bps: rate.needed, seen_bps: rate.seen });
        remedy.promise = Some(Promise { time_s: promise.time, range_s: Some(promise.range), assumed });
    }
}

#[cfg(test)]
mod tests;
