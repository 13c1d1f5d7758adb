//! Lines of JSON: the contract `whyslow-watch/2`, described by
//! `docs/schema/whyslow-watch-2.schema.json`.

use super::batch::Counts;
use super::closed::{Account, Address, ClosedConnection, ClosedTotals};
use super::holder::{Holder, Holders};
use super::record::Record;
use super::tally::{Loss, Tally};
use serde::Serialize;
use std::io::{self, Write};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Connection, Finding, Problem};
use whyslow_report::render::json;
use whyslow_units::{Nanos, Time, iso_8601};

/// The version of the contract.
const SCHEMA: &str = "whyslow-watch/2";

/// What a line is about.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Event<'a> {
    /// A transfer has ended.
    Transfer {
        revised: bool,
        over: bool,
        process: Option<&'a str>,
        holders: &'a Holders,
        connection: &'a Connection,
    },
    /// A connection is over that lost time as a whole.
    Connection {
        process: Option<&'a str>,
        holders: &'a Holders,
        connection: &'a Connection,
    },
    /// Connections of a minute have this in common.
    Together {
        finding: &'a Finding,
    },
    /// A connection of this machine has closed.
    Closed {
        process: Option<&'a str>,
        holder: Option<&'a Holder>,
        local: Address,
        remote: Address,
        account: &'a Account,
    },
    Summary(Box<Summary<'a>>),
}

#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    time: String,
    #[serde(flatten)]
    event: Event<'a>,
}

/// All of it, at the end.
#[derive(Serialize)]
struct Summary<'a> {
    duration_s: f64,
    packets: u64,
    tcp_packets: u64,
    dropped_by_ring: u64,
    dropped_by_interface: u64,
    cut_packets: u64,
    transfers: u64,
    transfers_with_cause: u64,
    transfers_not_listed: u64,
    bytes: u64,
    servers: Vec<ServerLoss<'a>>,
    causes: Vec<CauseLoss>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed: Option<ClosedTotals>,
    problems: &'a [Problem],
}

#[derive(Serialize)]
struct ServerLoss<'a> {
    server: &'a str,
    transfers: u64,
    seconds: Nanos,
}

#[derive(Serialize)]
struct CauseLoss {
    cause: Cause,
    transfers: u64,
    seconds: Nanos,
}

/// Writes a line for a report.
///
/// # Errors
/// Errors of `out`.
pub(super) fn record(record: &Record, out: &mut impl Write) -> io::Result<()> {
    let (process, holders, connection) = (record.holders.process(), &record.holders, &record.connection);
    let event = match record.transfer() {
        Some(_) => Event::Transfer { revised: record.revised, over: record.over, process, holders, connection },
        None => Event::Connection { process, holders, connection },
    };
    json::line(&Line { schema: SCHEMA, time: record.end_utc(), event }, out)
}

/// Writes a line for what connections had in common until `now`.
///
/// # Errors
/// Errors of `out`.
pub(super) fn together(finding: &Finding, now: Time, out: &mut impl Write) -> io::Result<()> {
    json::line(&Line { schema: SCHEMA, time: iso_8601(now), event: Event::Together { finding } }, out)
}

/// Writes a line for a connection that has closed.
///
/// # Errors
/// Those of `out`.
pub(super) fn closed(closed: &ClosedConnection, out: &mut impl Write) -> io::Result<()> {
    let holder = closed.holder.as_deref();
    let event = Event::Closed {
        process: holder.and_then(|holder| holder.process.as_deref()),
        holder,
        local: closed.local.into(),
        remote: closed.remote.into(),
        account: &closed.account,
    };
    json::line(&Line { schema: SCHEMA, time: iso_8601(closed.time), event }, out)
}

/// What the summary is made of.
pub(super) struct Totals<'a> {
    pub tally: &'a Tally,
    pub counts: Counts,
    pub problems: &'a [Problem],
    /// For how long packets were watched, by their clock.
    pub lasted: Nanos,
    pub now: Time,
    pub top: usize,
}

impl Totals<'_> {
    /// The sums over closed connections; `None` if they are not reported.
    pub(super) fn closed(&self) -> Option<ClosedTotals> {
        self.counts.closed_missed.map(|missed| ClosedTotals { missed, ..self.tally.closed })
    }
}

/// Writes the last line.
///
/// # Errors
/// Errors of `out`.
pub(super) fn summary(totals: &Totals<'_>, out: &mut impl Write) -> io::Result<()> {
    let Totals { tally, counts, problems, .. } = totals;
    let summary = Summary {
        duration_s: totals.lasted.as_secs_f64(),
        packets: counts.packets,
        tcp_packets: counts.segments,
        dropped_by_ring: counts.drops.ring,
        dropped_by_interface: counts.drops.interface,
        cut_packets: counts.drops.cut,
        transfers: tally.transfers,
        transfers_with_cause: tally.slow,
        transfers_not_listed: counts.unlisted,
        bytes: tally.bytes,
        servers: tally.total.worst_servers(totals.top).into_iter().map(ServerLoss::of).collect(),
        causes: tally.total.worst_causes(totals.top).into_iter().map(CauseLoss::of).collect(),
        closed: totals.closed(),
        problems,
    };
    let event = Event::Summary(Box::new(summary));
    json::line(&Line { schema: SCHEMA, time: iso_8601(totals.now), event }, out)
}

impl<'a> ServerLoss<'a> {
    fn of((server, Loss { transfers, seconds }): (&'a str, Loss)) -> Self {
        Self { server, transfers, seconds }
    }
}

impl CauseLoss {
    fn of((cause, Loss { transfers, seconds }): (Cause, Loss)) -> Self {
        Self { cause, transfers, seconds }
    }
}
