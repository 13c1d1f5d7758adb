//! Connection tracking is full: packets of new connections are dropped.
//!
//! ## What it is
//! A firewall or NAT of this machine keeps an entry for each connection. When the table is full,
//! and no entry can be given up, the first packet of a new connection is dropped.
//!
//! ## How it is recognised
//! The table is full, or packets were dropped because it was full: during `--for` or `--watch`, or
//! since boot if the table is 90 % full now. A table that is 90 % full and has dropped nothing is
//! reported as possible: it will drop connections when it is full.
//!
//! ## What it is confused with
//! - `no-answer`: the same as a client sees it.
//!
//! ## The fix
//! A larger table (`net.netfilter.nf_conntrack_max`; an entry takes about 300 bytes), or fewer
//! entries: a shorter timeout for closed connections, or no tracking for traffic that does not need
//! it (`NOTRACK`).
//!
//! ## To see that it worked
//! `conntrack -S` does not count on under `drop`, and `nf_conntrack_count` stays below the most.
//!
//! ## References
//! Linux nf_conntrack-sysctl.

use crate::finding::{
    Extent, Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Since, Who, figure, fix,
};
use crate::snapshot::Snapshot;
use whyslow_analysis::Unit;
use whyslow_live::host::Conntrack;

/// Share of the table from which it counts as nearly full.
const NEARLY: f64 = 0.9;
/// An entry, bytes; and the most memory that a larger table is advised to take.
const ENTRY: u64 = 320;
const MEMORY: u64 = 512 << 20;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let table = snapshot.namespace.conntrack.filter(|table| table.max > 0);
    table.and_then(|table| report(snapshot, table)).into_iter().collect()
}

fn report(snapshot: Snapshot<'_>, table: Conntrack) -> Option<Finding> {
    let recent = snapshot.earlier.and_then(|(earlier, seconds)| {
        let dropped = table.dropped?.saturating_sub(earlier.conntrack?.dropped?);
        (dropped > 0).then_some((dropped, Since::Seconds(seconds)))
    });
    let is_nearly = table.count as f64 >= NEARLY * table.max as f64;
    let is_full = table.count >= table.max;
    let boot = table.dropped.filter(|&dropped| dropped > 0 && is_nearly && snapshot.earlier.is_none());
    let dropped = recent.or(boot.map(|dropped| (dropped, Since::Boot)));
    if dropped.is_none() && !is_nearly {
        return None;
    }
    let mut evidence = vec![
        figure("nf_conntrack_count", table.count as f64, Unit::One, (Place::Conntrack, Since::Now)),
        figure("net.netfilter.nf_conntrack_max", table.max as f64, Unit::One, (Place::Setting, Since::Now)),
    ];
    evidence.extend(
        dropped.map(|(count, since)| figure("nf_conntrack drop", count as f64, Unit::One, (Place::Conntrack, since))),
    );
    let twice = table.max.saturating_mul(2);
    let memory = twice.saturating_mul(ENTRY);
    let extent = match dropped {
        Some((count, _)) => Extent::Count { count, unit: Unit::Packets },
        None if is_full => Extent::FullNow,
        None => Extent::Filled { share: table.count as f64 / table.max as f64 },
    };
    let confidence = match dropped {
        Some(_) => 0.9,
        None if is_full => 0.75,
        None => 0.5,
    };
    let (entries, most) = (table.count, table.max);
    let statement = match dropped {
        Some((packets, since)) => HostStatement::ConntrackDropped { packets, since, entries, most },
        None => HostStatement::ConntrackFilled { entries, most },
    };
    let command =
        (memory <= MEMORY).then(|| snapshot.command(&format!("sysctl -w net.netfilter.nf_conntrack_max={twice}")));
    Some(Finding {
        namespace: snapshot.foreign_name(),
        extent: Some(extent),
        evidence,
        remedies: vec![fix(Who::Host, HostAction::EnlargeConntrack { entries: twice, bytes: memory }, command)],
        verify: Some(HostCheck::ConntrackDrops),
        ..Finding::new(HostCause::ConntrackFull, confidence, statement)
    })
}
