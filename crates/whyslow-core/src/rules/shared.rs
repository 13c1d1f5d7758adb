//! One cause that most connections of a server, or of a path, share: said once for all of them.
//!
//! Two hundred connections that the same receive window or the same lossy link held back are one problem with one owner. Looks at
//! findings that were made, and makes none of its own: a shared finding sums up theirs, names their connections, and has the fix of
//! the costliest. Groups are the connections to one server (address and port), and else those between two addresses. What
//! `new-connection-each-time` explains already (slow start, over and over) is not said twice.

use super::say::{WORTH_SAYING, count, evidence, finding, time};
use crate::analysis::{Connection, Finding};
use crate::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// So many connections, and this share of those that carried anything, make a cause shared.
const LEAST: usize = 3;
const SHARE: f64 = 0.7;

/// A cause on one connection.
struct Cost<'a> {
    id: u64,
    seconds: Nanos,
    /// Its costliest finding.
    worst: &'a Finding,
}

/// The shared causes, one for each group at most. `known`: what was found across connections by rules of their own.
pub(super) fn check(connections: &[Connection], known: &[Finding]) -> Vec<Finding> {
    let mut servers: BTreeMap<(&str, u16), Vec<&Connection>> = BTreeMap::new();
    let mut paths: BTreeMap<(&str, &str), Vec<&Connection>> = BTreeMap::new();
    for connection in connections.iter().filter(|connection| connection.transfers_total > 0) {
        let (client, server) = (&connection.client.address, &connection.server);
        servers.entry((&server.address, server.port)).or_default().push(connection);
        paths.entry((client, &server.address)).or_default().push(connection);
    }
    let known = ids(known);
    let mut found: Vec<Finding> = servers.values().filter_map(|group| check_group(group, &known, true)).collect();
    // A path is worth saying where no server on it was.
    let said = ids(&found);
    let untold = paths.values().filter(|group| !group.iter().any(|connection| said.contains(&connection.id)));
    found.extend(untold.filter_map(|group| check_group(group, &known, false)));
    found
}

fn ids(findings: &[Finding]) -> BTreeSet<u64> {
    findings.iter().flat_map(|finding| finding.connections.iter().copied()).collect()
}

fn check_group(group: &[&Connection], known: &BTreeSet<u64>, of_server: bool) -> Option<Finding> {
    if group.len() < LEAST {
        return None;
    }
    let mut causes: BTreeMap<&'static str, Vec<Cost<'_>>> = BTreeMap::new();
    for connection in group {
        let mut own: BTreeMap<&'static str, Cost<'_>> = BTreeMap::new();
        for finding in connection.transfers.iter().flat_map(|transfer| &transfer.findings).chain(&connection.findings) {
            let cost =
                own.entry(finding.cause).or_insert(Cost { id: connection.id, seconds: Nanos::ZERO, worst: finding });
            cost.seconds += finding.seconds;
            if finding.seconds > cost.worst.seconds {
                cost.worst = finding;
            }
        }
        for (cause, cost) in own {
            causes.entry(cause).or_default().push(cost);
        }
    }
    let explained =
        |cause: &str| cause == "slow-start" && group.iter().any(|connection| known.contains(&connection.id));
    let shared = causes.into_iter().filter(|(cause, costs)| {
        costs.len() >= LEAST && costs.len() as f64 >= SHARE * group.len() as f64 && !explained(cause)
    });
    let whole = |costs: &[Cost<'_>]| costs.iter().map(|cost| cost.seconds).sum::<Nanos>();
    let (cause, costs) = shared.max_by_key(|(_, costs)| whole(costs))?;
    let seconds = whole(&costs);
    if seconds < WORTH_SAYING {
        return None;
    }
    Some(tell(cause, seconds, &costs, group, of_server))
}

fn tell(cause: &'static str, seconds: Nanos, costs: &[Cost<'_>], group: &[&Connection], of_server: bool) -> Finding {
    let server = &group[0].server;
    let name = server.name.as_ref().unwrap_or(&server.address);
    let whose = if of_server {
        format!("connections to {name}:{}", server.port)
    } else {
        format!("connections between {} and {name}", group[0].client.address)
    };
    let mut each: Vec<Nanos> = costs.iter().map(|cost| cost.seconds).collect();
    each.sort_unstable();
    let typical = each.get(each.len() / 2).copied().unwrap_or_default();
    let worst = costs.iter().map(|cost| cost.worst).max_by_key(|finding| finding.seconds);
    let mut sure: Vec<f64> = costs.iter().map(|cost| cost.worst.confidence).collect();
    sure.sort_unstable_by(f64::total_cmp);
    let confidence = sure.get(sure.len() / 2).copied().unwrap_or_default();
    let summary = format!(
        "{} of {} {whose} have this in common, {} in all; at its worst: {}",
        costs.len(),
        group.len(),
        time(seconds),
        worst.map_or("", |finding| finding.summary.as_str()),
    );
    let mut found = finding(cause, seconds, confidence, summary);
    let frames: Vec<_> = worst
        .iter()
        .flat_map(|finding| &finding.evidence)
        .find(|evidence| !evidence.frames.is_empty())
        .map(|evidence| evidence.frames.clone())
        .unwrap_or_default();
    found.evidence.push(evidence("connections that share it", costs.len() as f64, "connections", &[]));
    found.evidence.push(evidence("typical cost of one", typical.as_secs_f64(), "s", &[]));
    found.evidence.push(evidence(
        format!("cost of the worst of {}", count(costs.len() as u64, "connection")),
        each.last().copied().unwrap_or_default().as_secs_f64(),
        "s",
        &frames,
    ));
    found.fix = worst.and_then(|finding| finding.fix.clone());
    found.settle = worst.and_then(|finding| finding.settle.clone());
    found.connections = costs.iter().map(|cost| cost.id).collect();
    found.shared = true;
    found
}

#[cfg(test)]
mod tests;
