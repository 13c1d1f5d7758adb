//! [`Conclusion`]: whether anything in the captures was slow.

use super::{CauseCost, MainCause, by_cause, causes, is_waited_for, of_cause};
use serde::Serialize;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Analysis, Connection, Problem};
use whyslow_units::Nanos;

/// Less than this is not called slow: up to 0.1 s a person takes for instantaneous (Miller:
/// "Response time in man-computer conversational transactions", 1968).
pub const DEFAULT_THRESHOLD: Nanos = Nanos::from_millis(100);
/// One part in this number of the wait, or more, is called slow: less is within the variation of
/// repeated transfers.
const COST_PART: i64 = 10;
/// Problems that count the packets of a text that could not be read.
const UNREAD: [&str; 3] = ["unread-line", "unread-info", "cut-header"];

/// Whether anything was slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A cause cost at least the threshold, and a tenth of the waiting time.
    Slow,
    /// Nothing did.
    Healthy,
    /// The captures do not show it.
    Unknown,
}

/// Packets of a text that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// How many.
    pub packets: u64,
    /// Number of all.
    pub of: u64,
}

/// The conclusion from an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Conclusion {
    /// Whether anything was slow.
    pub status: Status,
    /// Minimum cost that is called slow.
    pub threshold_s: Nanos,
    /// Half of the packets of a text or more, if they could not be read: the rest proves nothing
    /// healthy.
    pub unread: Option<Unread>,
}

impl Conclusion {
    /// Conclusion of an analysis.
    pub fn of(analysis: &Analysis) -> Self {
        let unread = mostly_unread(analysis);
        let mut transfers = analysis.connections.iter().flat_map(|one| &one.transfers);
        let is_wait = |cost: &CauseCost| cost.seconds > Nanos::ZERO && is_waited_for(cost.cause);
        let status = if slow_by_cause(analysis).iter().any(is_wait) {
            Status::Slow
        } else if unread.is_some()
            || analysis.connections.is_empty()
            || transfers.any(|one| one.findings.is_empty() && one.is_verdict_unknown())
        {
            Status::Unknown
        } else {
            Status::Healthy
        };
        Self { status, threshold_s: analysis.threshold_s, unread }
    }
}

fn mostly_unread(analysis: &Analysis) -> Option<Unread> {
    let of: u64 = analysis.captures.iter().map(|capture| capture.packets).sum();
    let problems = analysis.captures.iter().flat_map(|capture| &capture.problems);
    let is_unread = |problem: &&Problem| UNREAD.contains(&&*problem.slug);
    let packets: u64 = problems.filter(is_unread).map(|problem| problem.count).sum();
    (packets > 0 && packets.saturating_mul(2) >= of).then_some(Unread { packets, of: of.max(packets) })
}

/// Whether a cost counts as slow, compared with its wait. With a threshold of zero every cost does.
fn is_slow(cost: Nanos, waited: Nanos, threshold: Nanos) -> bool {
    let is_part = threshold == Nanos::ZERO || cost.0.saturating_mul(COST_PART) >= waited.0;
    cost > Nanos::ZERO && cost >= threshold && is_part
}

/// Whether a cause that cost a connection `seconds` slowed it: the whole connection, one transfer,
/// or the part of the connection's own finding.
fn slows(connection: &Connection, cause: Cause, seconds: Nanos, threshold: Nanos) -> bool {
    let waited: Nanos = connection.transfers.iter().map(|transfer| transfer.waited()).sum();
    let slows_transfer = connection.transfers.iter().any(|transfer| {
        let mut found = transfer.findings.iter().filter(|finding| finding.cause == cause);
        found.any(|finding| is_slow(finding.cost_s, transfer.waited(), threshold))
    });
    let mut own = connection.findings.iter().filter(|finding| finding.cause == cause);
    slows_transfer
        || is_slow(seconds, waited.min(connection.duration_s), threshold)
        || own.any(|finding| is_slow(finding.cost_s, finding.cost_s, threshold))
}

/// The cause that slowed a connection most; `None` if it is not called slow.
pub fn slow_cause(connection: &Connection, threshold: Nanos) -> Option<MainCause<'_>> {
    let slow = causes(connection).into_iter().find(|&(cause, cost)| slows(connection, cause, cost, threshold));
    slow.and_then(|(cause, seconds)| of_cause(connection, cause, seconds))
}

/// The causes by cost, as [`by_cause`], without connections that they did not slow, and without
/// causes that slowed nothing.
pub fn slow_by_cause(analysis: &Analysis) -> Vec<CauseCost> {
    let threshold = analysis.threshold_s;
    let mut costs = by_cause(analysis);
    costs.retain_mut(|cost| {
        let across = || analysis.findings.iter().filter(|finding| finding.cause == cost.cause);
        if across().any(|finding| !finding.shared && is_slow(finding.cost_s, finding.cost_s, threshold)) {
            return true;
        }
        let find = |id: u64| analysis.connections.iter().find(|connection| connection.id == id);
        // The others lost too little time to notice.
        cost.connections.retain(|&(id, seconds)| {
            seconds == Nanos::ZERO && across().any(|finding| finding.connections.contains(&id))
                || find(id).is_some_and(|connection| slows(connection, cost.cause, seconds, threshold))
        });
        cost.connections.iter().any(|&(_, seconds)| seconds > Nanos::ZERO)
    });
    costs
}
