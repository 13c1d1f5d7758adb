//! One cause that most connections of a server, or of a path, have: a finding for all of them.
//!
//! Two hundred connections that the same receive window or the same lossy link slowed are one
//! problem with one owner. Reads findings that were made: a shared finding sums up theirs, names
//! their connections, and has the fix of the costliest. Concurrent costs are not added up. Groups
//! are the connections to one server (address and port), and else those between two addresses.
//! Causes that `new-connection-each-time` explains already (repeated slow start) are not repeated.

use crate::rules::CostOverTime;
use crate::rules::parts::{evidence, finding};
use std::collections::{BTreeMap, BTreeSet};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::MIN_NOTICEABLE_DELAY;
use whyslow_analysis::{CommonStatement, Connection, Finding, Group, Measure, Unit};
use whyslow_units::Nanos;
use whyslow_units::stats::{median, median_f64};

/// Minimum number of connections that make a cause shared: two may agree by chance. Half and twice
/// change 13 and 13 of 2,061 captures.
const MIN: usize = 3;
/// Minimum share of the connections with payload that have it: most, with room for those too short
/// to show it. Half and twice the distance to 1 change 6 and 2 of 2,061 captures.
const SHARE: f64 = 0.7;

/// A cause on one connection.
struct Cost<'a> {
    id: u64,
    seconds: Nanos,
    /// Times, with the cost in each.
    spans: Vec<(Nanos, Nanos, Nanos)>,
    /// Its costliest finding.
    worst: &'a Finding,
}

/// The shared causes, one for each group at most. `known`: findings across connections of other
/// rules.
pub(crate) fn check(connections: &[Connection], known: &[Finding]) -> Vec<Finding> {
    let mut servers: BTreeMap<(&str, u16), Vec<&Connection>> = BTreeMap::new();
    let mut paths: BTreeMap<(&str, &str), Vec<&Connection>> = BTreeMap::new();
    for connection in connections.iter().filter(|connection| connection.transfers_total > 0) {
        let (client, server) = (&connection.client.address, &connection.server);
        servers.entry((&server.address, server.port)).or_default().push(connection);
        paths.entry((client, &server.address)).or_default().push(connection);
    }
    let mut found: Vec<Finding> = servers.values().filter_map(|group| check_group(group, known, true)).collect();
    // A path is reported only if none of its servers was.
    let covered: BTreeSet<u64> = found.iter().flat_map(ids).collect();
    let uncovered = paths.values().filter(|group| !group.iter().any(|connection| covered.contains(&connection.id)));
    found.extend(uncovered.filter_map(|group| check_group(group, known, false)));
    found
}

fn ids(finding: &Finding) -> impl Iterator<Item = u64> {
    finding.connections.iter().copied()
}

fn check_group(group: &[&Connection], known: &[Finding], of_server: bool) -> Option<Finding> {
    if group.len() < MIN {
        return None;
    }
    let mut causes: BTreeMap<Cause, Vec<Cost<'_>>> = BTreeMap::new();
    for connection in group {
        let mut own: BTreeMap<Cause, Cost<'_>> = BTreeMap::new();
        for (finding, (start, end)) in found_in(connection) {
            let fresh = || Cost { id: connection.id, seconds: Nanos::ZERO, spans: Vec::new(), worst: finding };
            let cost = own.entry(finding.cause).or_insert_with(fresh);
            cost.seconds += finding.cost_s;
            cost.spans.push((start, end, finding.cost_s));
            if finding.cost_s > cost.worst.cost_s {
                cost.worst = finding;
            }
        }
        for (cause, cost) in own {
            causes.entry(cause).or_default().push(cost);
        }
    }
    let again: BTreeSet<u64> = known.iter().filter(|known| !known.shared).flat_map(ids).collect();
    let explained = |cause: Cause, costs: &[Cost<'_>]| {
        let is_covered = |known: &Finding| {
            known.shared && known.cause == cause && costs.iter().any(|cost| known.connections.contains(&cost.id))
        };
        let over_and_over = cause == Cause::SlowStart && group.iter().any(|connection| again.contains(&connection.id));
        over_and_over || known.iter().any(is_covered)
    };
    let shared = causes.into_iter().filter(|(cause, costs)| {
        costs.len() >= MIN && costs.len() as f64 >= SHARE * group.len() as f64 && !explained(*cause, costs)
    });
    let whole = |costs: &[Cost<'_>]| costs.iter().map(|cost| cost.seconds).sum::<Nanos>();
    let (cause, costs) = shared.max_by_key(|(_, costs)| whole(costs))?;
    let mut lost = CostOverTime::default();
    for (start, end, seconds) in costs.iter().flat_map(|cost| cost.spans.iter().copied()) {
        lost.add(start, end, seconds);
    }
    if lost.elapsed() < MIN_NOTICEABLE_DELAY {
        return None;
    }
    Some(shared_finding(cause, &lost, &costs, group, of_server))
}

/// All findings of a connection, each with its time: a transfer's begins with the waits before it.
fn found_in(connection: &Connection) -> impl Iterator<Item = (&Finding, (Nanos, Nanos))> {
    let of_transfers = connection.transfers.iter().flat_map(|transfer| {
        let before: Nanos = transfer.before.iter().map(|wait| wait.seconds).sum();
        let span = (transfer.start_s - before, transfer.start_s + transfer.duration_s);
        transfer.findings.iter().map(move |finding| (finding, span))
    });
    let span = (connection.start_s, connection.start_s + connection.duration_s);
    of_transfers.chain(connection.findings.iter().map(move |finding| (finding, span)))
}

fn shared_finding(
    cause: Cause,
    lost: &CostOverTime,
    costs: &[Cost<'_>],
    group: &[&Connection],
    of_server: bool,
) -> Finding {
    let server = &group[0].server;
    let name = server.name.as_ref().unwrap_or(&server.address);
    let group_of = if of_server {
        Group::Server { server: server.host_and_port() }
    } else {
        Group::Hosts { client: group[0].client.address.clone(), server: name.clone() }
    };
    let each = || costs.iter().map(|cost| cost.seconds);
    let typical = median(each().collect()).unwrap_or_default();
    let worst = costs.iter().map(|cost| cost.worst).max_by_key(|finding| finding.cost_s);
    let confidence = median_f64(costs.iter().map(|cost| cost.worst.confidence).collect()).unwrap_or_default();
    let statement = CommonStatement::Shared {
        sharing: costs.len() as u64,
        of: group.len() as u64,
        group: group_of,
        cost: lost.spread(),
        worst: worst.map(|finding| Box::new(finding.statement.clone())),
    };
    let mut found = finding(cause, lost.elapsed(), confidence, statement);
    let frames: Vec<_> = worst
        .iter()
        .flat_map(|finding| &finding.evidence)
        .find(|evidence| !evidence.frames.is_empty())
        .map(|evidence| evidence.frames.clone())
        .unwrap_or_default();
    found.evidence.push(evidence(Measure::ConnectionsSharing, costs.len() as f64, Unit::Connections, &[]));
    found.evidence.push(evidence(Measure::TypicalCost, typical.as_secs_f64(), Unit::Seconds, &[]));
    found.evidence.push(evidence(
        Measure::WorstCost,
        each().max().unwrap_or_default().as_secs_f64(),
        Unit::Seconds,
        &frames,
    ));
    found.remedies = worst.map(|finding| finding.remedies.clone()).unwrap_or_default();
    found.remedies.iter_mut().for_each(|remedy| remedy.promise = None);
    found.to_confirm = worst.map(|finding| finding.to_confirm.clone()).unwrap_or_default();
    found.connections = costs.iter().map(|cost| cost.id).collect();
    found.shared = true;
    found
}

#[cfg(test)]
mod tests;
