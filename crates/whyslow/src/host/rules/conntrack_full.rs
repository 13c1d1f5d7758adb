//! Connection tracking is full: packets of new connections are dropped.
//!
//! ## What it is
//! A firewall or NAT of this machine keeps an entry for each connection. When the table is full,
//! and no entry can be given up, the first packet of a new connection is dropped.
//!
//! ## How it is recognised
//! The table holds as many entries as it may, or packets were dropped for want of one: in the time
//! of `--for` or `--watch`, or since boot where the table is nine tenths full now. A table that is
//! nine tenths full and has dropped nothing is reported as possible: connections will be dropped
//! when it is full.
//!
//! ## What it is confused with
//! - `no-answer`: the same as a client sees it.
//!
//! ## The fix
//! A larger table (`net.netfilter.nf_conntrack_max`; an entry takes about 300 bytes), or fewer
//! entries: a shorter time for connections that are gone, or no tracking for what needs none
//! (`NOTRACK`).
//!
//! ## To see that it worked
//! `conntrack -S` does not count on under `drop`, and `nf_conntrack_count` stays below the most.
//!
//! ## References
//! Linux nf_conntrack-sysctl.

use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Since, Source, Who, figure};
use crate::host::look::Look;
use whyslow_live::host::Conntrack;
use whyslow_report::text::units;

/// Of the table, what is nearly full.
const NEARLY: f64 = 0.9;
/// An entry, bytes; and the most memory that a larger table is advised to take.
const ENTRY: u64 = 320;
const MEMORY: u64 = 512 << 20;

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    let table = look.namespace.conntrack.filter(|table| table.max > 0);
    table.and_then(|table| report(look, table)).into_iter().collect()
}

fn report(look: Look<'_>, table: Conntrack) -> Option<Finding> {
    let recent = look.earlier.and_then(|(earlier, seconds)| {
        let dropped = table.dropped?.saturating_sub(earlier.conntrack?.dropped?);
        (dropped > 0).then_some((dropped, Since::Seconds(seconds)))
    });
    let is_nearly = table.count as f64 >= NEARLY * table.max as f64;
    let is_full = table.count >= table.max;
    let boot = table.dropped.filter(|&dropped| dropped > 0 && is_nearly && look.earlier.is_none());
    let dropped = recent.or(boot.map(|dropped| (dropped, Since::Boot)));
    if dropped.is_none() && !is_nearly {
        return None;
    }
    let mut evidence = vec![
        figure("nf_conntrack_count", table.count as f64, "entries", (Source::Conntrack, Since::Now)),
        figure("net.netfilter.nf_conntrack_max", table.max as f64, "entries", (Source::Setting, Since::Now)),
    ];
    evidence
        .extend(dropped.map(|(count, since)| figure("packets dropped", count as f64, "", (Source::Conntrack, since))));
    let twice = table.max.saturating_mul(2);
    let memory = twice.saturating_mul(ENTRY);
    Some(Finding {
        cause: HostCause::ConntrackFull,
        namespace: look.foreign_name(),
        peer: None,
        seconds: None,
        cost: match dropped {
            Some((count, _)) => units::count(count, "packet"),
            None if is_full => "full now".to_owned(),
            None => format!("{} full", units::share(table.count as f64 / table.max as f64)),
        },
        confidence: match dropped {
            Some(_) => 0.9,
            None if is_full => 0.75,
            None => 0.5,
        },
        summary: summary(table, dropped),
        evidence,
        fix: Fix {
            who: Who::Host,
            what: format!(
                "let the table be larger: {} entries take about {}",
                units::thousands(twice),
                units::bytes(memory)
            ),
            command: (memory <= MEMORY)
                .then(|| look.command(&format!("sysctl -w net.netfilter.nf_conntrack_max={twice}"))),
            verify: "`conntrack -S` does not count on under drop".to_owned(),
        },
    })
}

fn summary(table: Conntrack, dropped: Option<(u64, Since)>) -> String {
    let [count, max] = [table.count, table.max].map(units::thousands);
    match dropped {
        Some((packets, since)) => format!(
            "connection tracking dropped {} {}: its table holds {count} of {max} entries",
            units::count(packets, "packet"),
            since.words(Source::Conntrack),
        ),
        None if table.count < table.max => format!(
            "connection tracking is nearly full ({count} of {max} entries): when it is full, new connections are dropped"
        ),
        None => format!("connection tracking is full ({max} entries): new connections may be dropped"),
    }
}
