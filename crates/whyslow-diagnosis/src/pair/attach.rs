//! Pairs in an analysis.

use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Analysis, MAX_PAIRS, Measure, Measurement, NotCompared, Pair, Problem, ProblemDetail, Unit};

/// A connection that two captures hold and that could not be compared.
#[derive(Clone, Debug)]
pub struct Uncompared {
    /// Its id.
    pub connection: u64,
    /// Why not.
    pub reason: NotCompared,
}

/// Adds pairs to an analysis, and to the evidence of the findings that they concern. `omitted`
/// connections are in two captures, and are not listed.
pub fn attach(analysis: &mut Analysis, mut pairs: Vec<Pair>, uncompared: Vec<Uncompared>, omitted: u64) {
    for pair in &pairs {
        let Some(connection) = analysis.connections.iter_mut().find(|connection| connection.id == pair.shown) else {
            continue;
        };
        for direction in pair.directions.iter().filter(|direction| direction.resent > 0) {
            let transfers = connection.transfers.iter_mut().filter(|transfer| transfer.from == direction.from);
            let findings = transfers.flat_map(|transfer| &mut transfer.findings);
            for finding in findings.filter(|finding| OF_RETRANSMISSIONS.contains(&finding.cause)) {
                finding.evidence.push(Measurement {
                    frames: direction.lost_frames.first().copied().into_iter().collect(),
                    kind: Measure::RetransmissionsOfLost,
                    value: direction.resent_for_loss as f64,
                    unit: Unit::Segments,
                });
            }
        }
    }
    analysis.pairs_total = pairs.len() as u64 + uncompared.len() as u64 + omitted;
    for Uncompared { connection: id, reason } in uncompared {
        if let Some(connection) = analysis.connections.iter_mut().find(|connection| connection.id == id) {
            connection.problems.push(Problem::new("not-compared", 1, ProblemDetail::NotCompared { reason }));
        }
    }
    pairs.truncate(MAX_PAIRS);
    analysis.pairs = pairs;
}

/// Causes of retransmissions.
const OF_RETRANSMISSIONS: [Cause; 8] = [
    Cause::Loss,
    Cause::Timeout,
    Cause::TailLoss,
    Cause::SpuriousRetransmission,
    Cause::LostRetransmission,
    Cause::RandomLoss,
    Cause::Policer,
    Cause::MtuBlackHole,
];
