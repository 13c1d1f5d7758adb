//! Connections that wait while another one of the same two hosts works for them: FTP's control
//! connection between "150" and "226", that of a speed test, an application that requests on one
//! connection the data that arrives on another. Their waits cost nothing in addition to the cost of
//! the other one.
//!
//! The others' work must begin within the wait, because the requested work begins after that, fill
//! most of it, and end when it ends. Work that merely runs at the same time is not evidence.

use super::influence::{Influence, Together};
use crate::timeline::{Explainer, is_explained_by};
use std::collections::BTreeMap;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::MIN_NOTICEABLE_DELAY;
use whyslow_analysis::{Connection, CostSpan, Finding, LimitingFactor, Transfer};
use whyslow_units::Nanos;

/// The limits under which they wait.
const WAITING: &[LimitingFactor] = &[LimitingFactor::Application, LimitingFactor::ServerThink];
/// Minimum share of a wait that the other connections' work fills: most of it. Half and twice
/// change 3 and 12 of 2,061 captures.
const FILLED: f64 = 0.5;
/// Longest processing time between the two, without round trips. Follows from the least delay that
/// is noticed (`NOTICEABLE_WAIT`). Half and twice change 1 and 3 of 2,061 captures.
const MOMENT: Nanos = Nanos::from_millis(50);
/// Round trips between the two: opening the other connection (RFC 9293 section 3.5), TLS (RFC 8446
/// section 2), the request, the last ACK. Half and twice change 3 and 1 of 2,061 captures.
const TRIPS: f64 = 4.0;
/// Maximum number of stretches of work that are examined for one wait. Follows from the bound on
/// work.
const MAX: usize = 128;

/// Work of a connection: from, to, whose.
type Work = (Nanos, Nanos, u64);

/// Finds waits of a program, or for one, that were another connection's work.
pub(super) fn find(connections: &[Connection], together: &mut Together) {
    let mut pairs: BTreeMap<[String; 2], Vec<usize>> = BTreeMap::new();
    for (place, connection) in connections.iter().enumerate() {
        let mut hosts = [connection.client.address.clone(), connection.server.address.clone()];
        hosts.sort_unstable();
        pairs.entry(hosts).or_default().push(place);
    }
    for places in pairs.values().filter(|places| places.len() > 1) {
        let waits =
            |place: &usize| connections[*place].transfers.iter().flat_map(|transfer| &transfer.findings).any(is_wait);
        if !places.iter().any(waits) {
            continue;
        }
        let mut work: Vec<Work> = places.iter().flat_map(|&place| worked(&connections[place])).collect();
        work.sort_unstable();
        places.iter().for_each(|&place| find_in(place, &connections[place], &work, together));
    }
}

/// When a connection worked: opened, or carried payload without waiting for a program.
fn worked(connection: &Connection) -> Vec<Work> {
    let mut work = Vec::new();
    if let Some(first) = connection.transfers.first() {
        // It may have been opened long before it was used.
        work.push((connection.start_s, first.start_s.min(connection.start_s + slack(connection).1), connection.id));
    }
    for transfer in &connection.transfers {
        let mut from = transfer.start_s;
        for span in transfer.timeline.iter().filter(|span| WAITING.contains(&span.limit) && span.seconds >= MOMENT) {
            work.push((from, span.start_s, connection.id));
            from = span.start_s + span.seconds;
        }
        work.push((from, transfer.start_s + transfer.duration_s, connection.id));
    }
    work.retain(|(from, to, _)| to > from);
    work
}

/// A typical round trip, and the longest time between one connection's last message and another
/// one's first.
fn slack(connection: &Connection) -> (Nanos, Nanos) {
    let rtt = connection.rtt_ms.p50.or(connection.rtt_ms.min).unwrap_or_default();
    let trip = Nanos::from_secs_f64(rtt / 1e3);
    (trip, MOMENT + trip.scale(TRIPS))
}

fn is_wait(finding: &Finding) -> bool {
    is_explained_by(Explainer::OthersWork, finding.cause)
}

fn find_in(place: usize, connection: &Connection, work: &[Work], together: &mut Together) {
    let (id, slack) = (connection.id, slack(connection));
    let is_filled = |span: &CostSpan| is_filled(id, (span.start_s, span.end()), slack, work);
    for (number, transfer) in connection.transfers.iter().enumerate() {
        let mut causes: Vec<Cause> =
            transfer.findings.iter().filter(|&one| is_wait(one)).map(|one| one.cause).collect();
        causes.dedup();
        for cause in causes {
            let moments: Vec<CostSpan> = waits(transfer, cause).into_iter().filter(is_filled).collect();
            if !moments.is_empty() {
                together.add((place, number), Influence::OtherWork(cause, moments));
            }
        }
    }
}

/// When a transfer waited for a program, as the findings of this cause count it.
fn waits(transfer: &Transfer, cause: Cause) -> Vec<CostSpan> {
    if cause == Cause::ServerThink {
        let thought = transfer.before.iter().find(|phase| phase.limit == LimitingFactor::ServerThink);
        let start = |seconds| transfer.start_s - seconds;
        return thought
            .map(|phase| CostSpan { start_s: start(phase.seconds), seconds: phase.seconds })
            .into_iter()
            .collect();
    }
    let spans = transfer.timeline.iter().filter(|span| span.limit == LimitingFactor::Application);
    spans.map(|span| CostSpan { start_s: span.start_s, seconds: span.seconds }).collect()
}

/// Whether work of others begins within a wait, fills most of it, and ends as it does. `work` is in
/// the order of its beginnings.
fn is_filled(id: u64, (from, to): (Nanos, Nanos), (trip, slack): (Nanos, Nanos), work: &[Work]) -> bool {
    if to - from < MIN_NOTICEABLE_DELAY {
        return false;
    }
    // Work that began long before the wait may reach into it: it is unrelated.
    let behind = work.partition_point(|&(start, ..)| start < to);
    let (mut filled, mut until, mut last) = (Nanos::ZERO, from, from);
    let first = work[..behind].partition_point(|&(start, ..)| start < from - slack);
    let reaches = |&&(_, end, whose): &&Work| whose != id && end > from + slack;
    if work[..first].iter().rev().take(MAX).any(|one| reaches(&one)) || behind - first > MAX {
        return false;
    }
    for &(start, end, whose) in &work[first..behind] {
        // The wait was not for work that goes on after it.
        if whose == id || end <= from || end > to + slack {
            continue;
        }
        last = last.max(end);
        // The word that it is wanted, and the last of it, have to come to the other end.
        let (start, end) = ((start - trip).max(until), (end + trip).min(to));
        if end > start {
            filled += end - start;
            until = end;
        }
    }
    filled >= (to - from).scale(FILLED) && last >= to - slack
}
