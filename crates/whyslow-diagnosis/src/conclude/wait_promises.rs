//! Promises for findings over a connection, and across connections.
//!
//! The cost of such a cause is waits in which nothing else happened: the fix removes them from the
//! time, without a model. This module knows the connections' times and each finding's cost. It
//! promises nothing if a fix would change later traffic (a duplicated packet, a cause that several
//! connections share), nor less than a promise is worth.

use crate::rules::{self, Saving};
use crate::whatif::MIN_GAIN;
use whyslow_analysis::{Connection, Finding};
use whyslow_units::Nanos;

/// Fills in the promises of findings over connections and across them: never more than a path of
/// the user's `path_rate` (payload bits per second) carries.
pub(super) fn predict(connections: &mut [Connection], findings: &mut [Finding], path_rate: Option<f64>) {
    let least = |connection: &Connection| least(connection, path_rate);
    for connection in connections.iter_mut() {
        let (whole, least) = (connection.duration_s, least(connection));
        // A connection without payload would have no time left.
        let carried = !connection.transfers.is_empty();
        for finding in &mut connection.findings {
            let saved = saved(finding, whole, carried);
            finding.promise(saved.and_then(|saved| without(whole, saved.min(whole - least))));
        }
    }
    let mut carried: Vec<_> = connections.iter().map(|connection| (connection.id, least(connection))).collect();
    carried.sort_unstable();
    let least_of = |id: &u64| carried.binary_search_by_key(id, |time| time.0).ok().map(|at| carried[at].1);
    for finding in findings.iter_mut().filter(|finding| rules::saving_of(finding.cause) == Some(Saving::Predicted)) {
        // One after the other, so that their times add up.
        let Some(rest) = finding.predicted() else { continue };
        let whole = rest + finding.cost_s;
        let least = finding.connections.iter().filter_map(least_of).sum();
        finding.promise(without(whole, finding.cost_s.min(whole - least)));
    }
}

/// Saving of the fix of a finding over a connection.
fn saved(finding: &Finding, whole: Nanos, carried: bool) -> Option<Nanos> {
    match rules::saving_of(finding.cause)? {
        Saving::Cost => Some(finding.cost_s),
        Saving::CostIfCarried => carried.then_some(finding.cost_s),
        Saving::Predicted => finding.predicted().map(|left| whole - left),
    }
}

/// Minimum time in which a path of that rate carries the connection's payload.
fn least(connection: &Connection, path_rate: Option<f64>) -> Nanos {
    let bytes = connection.directions.iter().map(|direction| direction.bytes).max().unwrap_or(0);
    let time = path_rate.map_or(Nanos::ZERO, |rate| Nanos::from_secs_f64(bytes as f64 * 8.0 / rate));
    time.min(connection.duration_s)
}

fn without(whole: Nanos, saved: Nanos) -> Option<Nanos> {
    let predicted = (whole - saved).or_zero();
    (saved > Nanos::ZERO && predicted < whole.scale(1.0 - MIN_GAIN)).then_some(predicted)
}

#[cfg(test)]
pub(super) mod tests;
