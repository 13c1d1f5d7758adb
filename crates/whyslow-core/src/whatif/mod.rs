//! `whatif`: the same transfer with one limit removed.
//!
//! [`model`] plays a transfer through; `replay` fits it to a transfer that was captured, and promises nothing where the modelled time
//! is not the measured one; `remedy` says what each cause's fix changes; `waits` promises for findings over connections, where
//! sums are enough; [`plan`] is a transfer that nobody has made yet (`whyslow predict`).

pub mod model;
pub mod plan;
mod remedy;
mod replay;
mod waits;

pub use replay::Replay;
pub use waits::promise;

use crate::analysis::{Connection, Transfer};
use crate::units::Nanos;
use model::Scenario;

/// Replays that are kept: of the transfers that lost most.
pub const MOST_REPLAYS: usize = 64;
/// Segments that all replays of an analysis may model together: about half a second of work.
const MOST_WORK: u64 = 2_000_000;
/// A change that saves less than this share of the time is no promise either.
const LEAST_GAIN: f64 = 0.02;

/// The replays of the transfers that lost most time; a bounded list, worst first.
#[derive(Debug, Default)]
pub struct Replays {
    kept: Vec<Kept>,
}

#[derive(Debug)]
struct Kept {
    lost: Nanos,
    /// Which: the connection's id, and when its transfer began.
    connection: u64,
    start: Nanos,
    replay: Replay,
}

impl Replays {
    /// Whether a transfer that lost so much would be kept.
    pub fn wants(&self, lost: Nanos) -> bool {
        lost > Nanos::ZERO && (self.kept.len() < MOST_REPLAYS || self.kept.last().is_some_and(|last| last.lost < lost))
    }

    /// Keeps a replay of a transfer of this connection that began at `start` (as its [`Transfer`] says).
    pub fn keep(&mut self, lost: Nanos, connection: u64, start: Nanos, replay: Replay) {
        let at = self.kept.partition_point(|kept| (kept.lost, kept.connection) > (lost, connection));
        self.kept.insert(at, Kept { lost, connection, start, replay });
        self.kept.truncate(MOST_REPLAYS);
    }

    /// Fills in what the model says of the transfers, worst first, as far as the work allows.
    pub fn predict(self, connections: &mut [Connection]) {
        let mut work = MOST_WORK;
        for kept in self.kept {
            let connection = connections.iter_mut().find(|connection| connection.id == kept.connection);
            let transfer = connection
                .and_then(|connection| connection.transfers.iter_mut().find(|transfer| transfer.start_s == kept.start));
            if let Some(transfer) = transfer {
                predict(&kept.replay, transfer, &mut work);
            }
        }
    }
}

/// Fits the model to a transfer, and fills in what each finding's fix would bring.
fn predict(replay: &Replay, transfer: &mut Transfer, work: &mut u64) {
    let measured = transfer.duration_s;
    let Some((fitted, modelled)) = replay.fit(work) else { return };
    transfer.model_s = Some(modelled);
    transfer.model_skipped = false;
    if transfer.model_fits() != Some(true) {
        return;
    }
    for finding in &mut transfer.findings {
        let Some(mut changed) = remedy::apply(finding.cause, replay, &fitted) else { continue };
        // Larger flights meet the rate at which the path was seen to deliver.
        changed.scenario.rate = changed.scenario.rate.or(replay.burst_rate);
        let Some(predicted) = changed.duration(work) else {
            transfer.model_skipped = true;
            return;
        };
        if predicted < measured.scale(1.0 - LEAST_GAIN) {
            finding.predicted_s = Some(predicted);
        }
    }
}

/// Takes the work of a simulation from what is left of it.
fn take(work: &mut u64, scenario: &Scenario) -> bool {
    let segments = (scenario.bytes / scenario.mss.max(1)).clamp(1, model::MOST_SEGMENTS);
    match work.checked_sub(segments) {
        Some(rest) => {
            *work = rest;
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests;
