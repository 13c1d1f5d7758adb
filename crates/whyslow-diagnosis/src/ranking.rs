//! Cost of each cause over all connections, and the costs that are called slow. A renderer needs
//! these sums, and an analysis does not hold them.

mod conclusion;

pub use conclusion::{Conclusion, DEFAULT_THRESHOLD, Status, Unread, slow_by_cause, slow_cause};

use crate::rules::CostOverTime;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use whyslow_analysis::{Analysis, Cause, Connection, End, Finding, LimitingFactor, Message};
use whyslow_units::Nanos;

/// A larger message than an initial window (RFC 6928) is not interactive.
pub(crate) const BULK: u64 = 14_600;

/// The time that one cause cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CauseCost {
    /// The cause.
    pub cause: Cause,
    /// Over all connections; simultaneous costs count once.
    pub seconds: Nanos,
    /// The connections that it slowed, with the cost of each, the worst first. For a finding that
    /// spans connections and is in none of them alone, all are listed without a time.
    pub connections: Vec<(u64, Nanos)>,
}

/// Every finding of one connection: its transfers' and its own.
pub fn findings(connection: &Connection) -> impl Iterator<Item = &Finding> {
    connection.transfers.iter().flat_map(|transfer| &transfer.findings).chain(&connection.findings)
}

/// Time that a connection lost over its findings, without the client's own application. Concurrent
/// costs count once, so that it is never more than the connection lasted.
pub fn cost(connection: &Connection) -> Nanos {
    elapsed(connection, Finding::is_waited_for)
}

/// The time that passed while some of these findings cost time.
fn elapsed(connection: &Connection, is_wanted: impl Fn(&Finding) -> bool) -> Nanos {
    let mut lost = CostOverTime::default();
    for (start, end, findings) in in_time(connection) {
        lost.add(start, end, findings.iter().filter(|one| is_wanted(one)).map(|one| one.cost_s).sum());
    }
    lost.elapsed()
}

/// Payload bytes that a connection carried from the client, and from the server.
pub fn payload(connection: &Connection) -> [u64; 2] {
    [End::Client, End::Server].map(|end| {
        connection.directions.iter().filter(|one| one.from == end).map(|one| one.bytes).fold(0, u64::saturating_add)
    })
}

/// The cause that cost a connection most.
#[derive(Clone, Copy, Debug)]
pub struct MainCause<'a> {
    /// Cost of all findings of this cause.
    pub seconds: Nanos,
    /// Number of these findings.
    pub times: usize,
    /// The costliest one.
    pub finding: &'a Finding,
    /// The place of its transfer; `None` for a finding over the connection.
    pub transfer: Option<usize>,
}

/// The cause with the highest cost of a connection; `None` without a finding.
pub fn main_cause(connection: &Connection) -> Option<MainCause<'_>> {
    let &(cause, seconds) = causes(connection).first()?;
    of_cause(connection, cause, seconds)
}

/// Cost of one cause for a connection.
fn of_cause(connection: &Connection, cause: Cause, seconds: Nanos) -> Option<MainCause<'_>> {
    let places = connection.transfers.iter().enumerate();
    let of_transfers = places.flat_map(|(index, one)| one.findings.iter().map(move |finding| (Some(index), finding)));
    let own = connection.findings.iter().map(|finding| (None, finding));
    let of_cause: Vec<_> = own.chain(of_transfers).filter(|(_, finding)| finding.cause == cause).collect();
    let &(transfer, finding) = of_cause.iter().rev().max_by_key(|(_, finding)| finding.cost_s)?;
    Some(MainCause { seconds, times: of_cause.len(), finding, transfer })
}

/// The causes of one connection with the cost of each over its transfers, the worst first; the
/// client's own program comes last.
pub fn causes(connection: &Connection) -> Vec<(Cause, Nanos)> {
    let found: HashSet<Cause> = findings(connection).map(|finding| finding.cause).collect();
    let cost = |cause| (cause, elapsed(connection, |finding| finding.cause == cause));
    let mut causes: Vec<_> = found.into_iter().map(cost).collect();
    causes.sort_by_key(|&(cause, seconds)| (!is_waited_for(cause), Reverse(seconds), cause));
    causes
}

/// The limit that held a connection longest, over its transfers and the waits before them; `None`
/// without a transfer.
pub fn main_limit(connection: &Connection) -> Option<LimitingFactor> {
    let mut sums: Vec<(LimitingFactor, Nanos)> = Vec::new();
    for transfer in &connection.transfers {
        let before = transfer.before.iter().map(|wait| (wait.limit, wait.seconds));
        for (limit, seconds) in before.chain(transfer.limits.iter().map(|one| (one.limit, one.seconds))) {
            match sums.iter_mut().find(|(known, _)| *known == limit) {
                Some((_, sum)) => *sum += seconds,
                None => sums.push((limit, seconds)),
            }
        }
    }
    // The first of equally long ones.
    sums.into_iter().rev().max_by_key(|(_, seconds)| *seconds).map(|(limit, _)| limit)
}

/// Connections by the time that they lost to one cause, the worst first; those without a finding
/// are left out. So a transfer that one cause slowed comes before an interactive session that lost
/// a little to everything. Interactive sessions come last in any case.
pub fn worst(analysis: &Analysis) -> Vec<&Connection> {
    let first = |connection| {
        let &(cause, seconds) = causes(connection).first()?;
        Some((is_interactive(connection), !is_waited_for(cause), Reverse(seconds)))
    };
    let mut worst: Vec<_> =
        analysis.connections.iter().filter_map(|connection| Some((first(connection)?, connection))).collect();
    worst.sort_by_key(|(rank, connection)| (*rank, connection.id));
    worst.into_iter().map(|(_, connection)| connection).collect()
}

/// Whether a person, or something as slow, is at the client: no message is large, and most of the
/// time passes before requests. Its losses are short waits now and then.
fn is_interactive(connection: &Connection) -> bool {
    let is_bulk = |message: &Message| message.bytes > BULK;
    let messages = connection.exchanges.iter().flat_map(|exchange| exchange.request.iter().chain(&exchange.answer));
    let between: Nanos = connection.exchanges.iter().map(|exchange| exchange.client_s + exchange.idle_s).sum();
    connection.exchanges_total >= 2
        && connection.exchanges.iter().skip(1).any(|exchange| exchange.idle_s > Nanos::ZERO)
        && between.0 * 2 > connection.duration_s.0
        && !messages.into_iter().any(is_bulk)
}

/// The causes that findings over several connections sum up, each with a connection that has it.
pub fn shared(analysis: &Analysis) -> HashSet<(Cause, u64)> {
    let shared = analysis.findings.iter().filter(|finding| finding.shared);
    shared.flat_map(|finding| finding.connections.iter().map(|&id| (finding.cause, id))).collect()
}

/// The connections that another capture, closer to the sender, shows too.
pub fn repeats(analysis: &Analysis) -> HashSet<u64> {
    let ids: HashSet<u64> = analysis.connections.iter().map(|connection| connection.id).collect();
    // The two connections of a proxy have findings of their own.
    let pairs = || analysis.pairs.iter().filter(|pair| pair.proxy.is_none());
    let shown: HashSet<u64> = pairs().map(|pair| pair.shown).filter(|id| ids.contains(id)).collect();
    pairs()
        .filter(|pair| shown.contains(&pair.shown))
        .flat_map(|pair| pair.connections)
        .filter(|id| !shown.contains(id))
        .collect()
}

/// The analysis without the connections that another capture, closer to the sender, shows too.
pub fn without_duplicates(analysis: &Analysis) -> Cow<'_, Analysis> {
    without(analysis, &repeats(analysis))
}

/// The analysis without these connections, and without the findings that concern only them.
pub fn without<'a>(analysis: &'a Analysis, connections: &HashSet<u64>) -> Cow<'a, Analysis> {
    if connections.is_empty() {
        return Cow::Borrowed(analysis);
    }
    let mut others = analysis.clone();
    others.connections.retain(|connection| !connections.contains(&connection.id));
    others.findings.retain(|finding| {
        finding.connections.is_empty() || !finding.connections.iter().all(|id| connections.contains(id))
    });
    Cow::Owned(others)
}

/// The findings of each transfer, and those of the connection, with the stretch of time that they
/// are about. A transfer's begins with the waits before it.
fn in_time(connection: &Connection) -> impl Iterator<Item = (Nanos, Nanos, &[Finding])> {
    let of_transfers = connection.transfers.iter().map(|transfer| {
        let before: Nanos = transfer.before.iter().map(|wait| wait.seconds).sum();
        (transfer.start_s - before, transfer.start_s + transfer.duration_s, transfer.findings.as_slice())
    });
    let end = connection.start_s + connection.duration_s;
    of_transfers.chain([(connection.start_s, end, connection.findings.as_slice())])
}

/// The time that all connections lost, without the client's own programs.
pub fn total_cost(analysis: &Analysis) -> CostOverTime {
    let mut lost = CostOverTime::default();
    for (start, end, findings) in analysis.connections.iter().flat_map(in_time) {
        let seconds: Nanos = findings.iter().filter(|one| one.is_waited_for()).map(|one| one.cost_s).sum();
        if seconds > Nanos::ZERO {
            lost.add(start, end, seconds);
        }
    }
    lost
}

/// The causes by cost, the worst first; simultaneous costs count once.
pub fn by_cause(analysis: &Analysis) -> Vec<CauseCost> {
    #[derive(Default)]
    struct Sum {
        lost: CostOverTime,
        /// The costliest finding's.
        least: Nanos,
        connections: HashMap<u64, Nanos>,
    }
    let mut sums: HashMap<Cause, Sum> = HashMap::new();
    // Each connection has a part of a shared finding, which names them all.
    let named = |finding: &'_ Finding| (finding.cause, finding.connections.clone());
    let wholes: HashSet<_> = analysis.findings.iter().filter(|finding| finding.shared).map(named).collect();
    let mut parted = HashSet::new();
    for connection in &analysis.connections {
        for (cause, seconds) in causes(connection) {
            sums.entry(cause).or_default().connections.insert(connection.id, seconds);
        }
        for (start, end, findings) in in_time(connection) {
            for finding in findings {
                let sum = sums.entry(finding.cause).or_default();
                sum.least = sum.least.max(finding.cost_s);
                if !finding.connections.is_empty() && wholes.contains(&named(finding)) {
                    parted.insert(named(finding));
                } else {
                    sum.lost.add(start, end, finding.cost_s);
                }
            }
        }
    }
    let ran: HashMap<u64, (Nanos, Nanos)> =
        analysis.connections.iter().map(|one| (one.id, (one.start_s, one.start_s + one.duration_s))).collect();
    for finding in &analysis.findings {
        let sum = sums.entry(finding.cause).or_default();
        if finding.shared && !parted.contains(&named(finding)) {
            // It sums up findings that were counted already.
            sum.least = sum.least.max(finding.cost_s);
        } else {
            let spans = || finding.connections.iter().filter_map(|id| ran.get(id));
            let start = spans().map(|span| span.0).min().unwrap_or_default();
            let end = spans().map(|span| span.1).max().unwrap_or_default();
            sum.lost.add(start, end.max(start + finding.cost_s), finding.cost_s);
        }
        for &id in &finding.connections {
            sum.connections.entry(id).or_default();
        }
    }
    let mut costs: Vec<_> = sums
        .into_iter()
        .map(|(cause, sum)| {
            let mut connections: Vec<_> = sum.connections.into_iter().collect();
            connections.sort_by_key(|&(id, seconds)| (Reverse(seconds), id));
            CauseCost { cause, seconds: sum.lost.elapsed().max(sum.least), connections }
        })
        .collect();
    costs.sort_by_key(|cost| (!is_waited_for(cost.cause), Reverse(cost.seconds), cost.cause));
    costs
}

/// See [`Finding::is_waited_for`].
fn is_waited_for(cause: Cause) -> bool {
    cause != Cause::ClientThink
}
