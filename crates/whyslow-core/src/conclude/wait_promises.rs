//! Promises for findings over a connection, and across connections.
//!
//! What such a cause costs is waits in which nothing else happened: they come out of the time, and
//! no model is needed. It knows the connections' times and what each finding lost; it promises
//! nothing where a fix would change what follows (a duplicated packet, a cause that several
//! connections share), and nothing that would save less than a promise is worth.

use crate::analysis::{Connection, Finding};
use crate::rules::{self, Saving};
use crate::units::Nanos;
use crate::whatif::MIN_GAIN;

/// Fills in what the findings over connections and across them promise: never more than a path
/// carries of which somebody said that (`path_rate`, payload bits per second).
pub(super) fn predict(connections: &mut [Connection], findings: &mut [Finding], path_rate: Option<f64>) {
    let least = |connection: &Connection| least(connection, path_rate);
    for connection in connections.iter_mut() {
        let (whole, least) = (connection.duration_s, least(connection));
        // Of one that never carried anything no time would be left.
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

/// What the fix of a finding over a connection saves.
fn saved(finding: &Finding, whole: Nanos, carried: bool) -> Option<Nanos> {
    match rules::saving_of(finding.cause)? {
        Saving::Cost => Some(finding.cost_s),
        Saving::CostIfCarried => carried.then_some(finding.cost_s),
        Saving::Predicted => finding.predicted().map(|left| whole - left),
    }
}

/// What a path of that rate takes for what was carried, at the least.
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
