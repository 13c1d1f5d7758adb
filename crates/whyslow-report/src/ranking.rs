//! What each cause cost over all connections: the one sum that a renderer needs and an analysis does not hold.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use whyslow_core::analysis::{Analysis, Connection, Finding};
use whyslow_core::units::Nanos;

/// The time that one cause cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CauseCost {
    /// Its public name.
    pub cause: &'static str,
    /// Over all connections.
    pub seconds: Nanos,
    /// Connections that it cost time, with how much each, the worst first. Of a finding that spans connections and was
    /// made of none of them alone, all are here with no time.
    pub connections: Vec<(u64, Nanos)>,
}

/// Every finding of one connection: its transfers' and its own.
pub fn findings(connection: &Connection) -> impl Iterator<Item = &Finding> {
    connection.transfers.iter().flat_map(|transfer| &transfer.findings).chain(&connection.findings)
}

/// The time that a connection lost, over its findings.
pub fn cost(connection: &Connection) -> Nanos {
    findings(connection).map(|finding| finding.seconds).sum()
}

/// The causes of one connection with the time that each cost over its transfers, the worst first.
pub fn causes(connection: &Connection) -> Vec<(&'static str, Nanos)> {
    let mut sums: HashMap<&'static str, Nanos> = HashMap::new();
    for finding in findings(connection) {
        *sums.entry(finding.cause).or_default() += finding.seconds;
    }
    let mut causes: Vec<_> = sums.into_iter().collect();
    causes.sort_by_key(|&(cause, seconds)| (Reverse(seconds), cause));
    causes
}

/// Connections by the time that they lost to one cause, the worst first; those without a finding are left out. A transfer
/// that one cause held back so comes before an interactive session with a little of everything.
pub fn worst(analysis: &Analysis) -> Vec<&Connection> {
    let first = |connection| causes(connection).first().map(|&(_, seconds)| seconds);
    let mut worst: Vec<_> =
        analysis.connections.iter().filter_map(|connection| Some((first(connection)?, connection))).collect();
    worst.sort_by_key(|(seconds, connection)| (Reverse(*seconds), connection.id));
    worst.into_iter().map(|(_, connection)| connection).collect()
}

/// The causes that findings over several connections sum up, each with a connection that shares it.
pub fn shared(analysis: &Analysis) -> HashSet<(&'static str, u64)> {
    let shared = analysis.findings.iter().filter(|finding| finding.shared);
    shared.flat_map(|finding| finding.connections.iter().map(|&id| (finding.cause, id))).collect()
}

/// The causes by the time that they cost, the worst first.
pub fn by_cause(analysis: &Analysis) -> Vec<CauseCost> {
    #[derive(Default)]
    struct Sum {
        seconds: Nanos,
        connections: HashMap<u64, Nanos>,
    }
    let mut sums: HashMap<&'static str, Sum> = HashMap::new();
    for connection in &analysis.connections {
        for finding in findings(connection) {
            let sum = sums.entry(finding.cause).or_default();
            sum.seconds += finding.seconds;
            *sum.connections.entry(connection.id).or_default() += finding.seconds;
        }
    }
    // A shared finding sums up what was counted already.
    for finding in analysis.findings.iter().filter(|finding| !finding.shared) {
        let sum = sums.entry(finding.cause).or_default();
        sum.seconds += finding.seconds;
        for &id in &finding.connections {
            sum.connections.entry(id).or_default();
        }
    }
    let mut costs: Vec<_> = sums
        .into_iter()
        .map(|(cause, sum)| {
            let mut connections: Vec<_> = sum.connections.into_iter().collect();
            connections.sort_by_key(|&(id, seconds)| (Reverse(seconds), id));
            CauseCost { cause, seconds: sum.seconds, connections }
        })
        .collect();
    costs.sort_by_key(|cost| (Reverse(cost.seconds), cost.cause));
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::example;

    #[test]
    fn causes_are_ranked_by_the_time_that_they_cost() {
        let analysis = example::many();
        let causes = by_cause(&analysis);
        assert!(causes.is_sorted_by_key(|cost| Reverse(cost.seconds)));
        let whole: Nanos = causes.iter().map(|cost| cost.seconds).sum();
        let of_connections: Nanos = analysis.connections.iter().map(cost).sum();
        assert_eq!(whole, of_connections + analysis.findings[0].seconds);
        for cause in &causes {
            assert!(cause.connections.is_sorted_by_key(|&(id, seconds)| (Reverse(seconds), id)));
        }
        let spanning = causes.iter().find(|cost| cost.cause == "new-connection-each-time");
        assert_eq!(spanning.map(|cost| cost.connections.len()), Some(40));
    }

    #[test]
    fn the_worst_connections_come_first_and_healthy_ones_not_at_all() {
        let analysis = example::many();
        let worst = worst(&analysis);
        assert_eq!(worst.len(), 30);
        assert!(worst.is_sorted_by_key(|connection| Reverse(causes(connection)[0].1)));
        assert!(super::worst(&example::healthy()).is_empty());
    }
}
