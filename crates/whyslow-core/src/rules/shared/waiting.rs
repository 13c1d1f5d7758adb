//! Connections that wait while another one of the same two hosts works for them: FTP's control
//! connection between "150" and "226", that of a speed test, a program that asks on one connection
//! for what comes on another. Their waits cost nobody anything beside what the other one costs.
//!
//! The other ones' work must begin within the wait, as what is asked for begins after that, fill
//! most of it, and end as it ends, as that is what was waited for. Work that merely goes on at the
//! same time says nothing.

use crate::analysis::{Connection, CostSpan, Limit, Transfer, Verdict};
use crate::cause::Cause;
use crate::timeline;
use crate::types::MIN_NOTICEABLE_DELAY;
use crate::units::Nanos;
use std::collections::BTreeMap;

/// Causes that are waits of a program, or for one.
const WAITS: &[Cause] = &[Cause::Application, Cause::ServerThink];
/// The limits under which they wait.
const WAITING: &[Limit] = &[Limit::Application, Limit::ServerThink];
/// Of a wait, what the other connections' work must fill.
const FILLED: f64 = 0.5;
/// Programs need a moment between the two, beside round trips.
const MOMENT: Nanos = Nanos::from_millis(50);
/// Round trips between the two: opening the other connection, asking, the last ACK.
const TRIPS: f64 = 4.0;
/// Stretches of work that are looked at for one wait.
const MAX: usize = 128;

/// Work of a connection: from, to, whose.
type Work = (Nanos, Nanos, u64);

/// Takes back what was said of waits that were another connection's work.
pub(super) fn apply(connections: &mut [Connection]) {
    let mut pairs: BTreeMap<[String; 2], Vec<usize>> = BTreeMap::new();
    for (place, connection) in connections.iter().enumerate() {
        let mut hosts = [connection.client.address.clone(), connection.server.address.clone()];
        hosts.sort_unstable();
        pairs.entry(hosts).or_default().push(place);
    }
    for places in pairs.values().filter(|places| places.len() > 1) {
        let waits = |place: &usize| {
            let findings = |transfer: &Transfer| transfer.findings.iter().any(|finding| WAITS.contains(&finding.cause));
            connections[*place].transfers.iter().any(findings)
        };
        if !places.iter().any(waits) {
            continue;
        }
        let mut work: Vec<Work> = places.iter().flat_map(|&place| worked(&connections[place])).collect();
        work.sort_unstable();
        places.iter().for_each(|&place| take_back(&mut connections[place], &work));
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

/// A typical round trip, and what passes at most between one connection's last word and another
/// one's first.
fn slack(connection: &Connection) -> (Nanos, Nanos) {
    let rtt = connection.rtt_ms.p50.or(connection.rtt_ms.min).unwrap_or_default();
    let trip = Nanos::from_secs_f64(rtt / 1e3);
    (trip, MOMENT + trip.scale(TRIPS))
}

fn take_back(connection: &mut Connection, work: &[Work]) {
    let (id, slack) = (connection.id, slack(connection));
    for transfer in &mut connection.transfers {
        let start = transfer.start_s;
        let own = |transfer: &Transfer, cause: Cause| -> Vec<CostSpan> {
            let is_filled = |span: &CostSpan| is_filled(id, (span.start_s, span.end()), slack, work);
            if cause == Cause::ServerThink {
                let thought = transfer.before.iter().find(|phase| phase.limit == Limit::ServerThink);
                let thought = thought.map(|phase| CostSpan { start_s: start - phase.seconds, seconds: phase.seconds });
                return thought.into_iter().filter(is_filled).collect();
            }
            let spans = transfer.timeline.iter().filter(|span| span.limit == Limit::Application);
            spans.map(|span| CostSpan { start_s: span.start_s, seconds: span.seconds }).filter(is_filled).collect()
        };
        let mut changed = false;
        let explained: Vec<Vec<CostSpan>> = transfer
            .findings
            .iter()
            .map(|finding| if WAITS.contains(&finding.cause) { own(transfer, finding.cause) } else { Vec::new() })
            .collect();
        let mut explained = explained.into_iter();
        transfer.findings.retain_mut(|finding| {
            let moments = explained.next().unwrap_or_default();
            let of_others: Nanos = moments.iter().map(|span| span.seconds).sum();
            if of_others.0 * 2 < finding.cost_s.0.max(1) {
                return true;
            }
            changed = true;
            timeline::give_up(finding, &moments, of_others);
            finding.cost_s >= MIN_NOTICEABLE_DELAY.max(of_others.scale(0.25))
        });
        if changed {
            crate::rules::order::settle(&mut transfer.findings);
            transfer.model_skipped = false;
            transfer.verdict = crate::rules::verdict::verdict_of_findings(&transfer.findings, transfer.duration_s)
                .unwrap_or(Verdict::WaitedForOther);
        }
    }
}

/// Whether work of others begins within a wait, fills most of it, and ends as it does. `work` is in
/// the order of its beginnings.
fn is_filled(id: u64, (from, to): (Nanos, Nanos), (trip, slack): (Nanos, Nanos), work: &[Work]) -> bool {
    if to - from < MIN_NOTICEABLE_DELAY {
        return false;
    }
    // What began long before the wait may reach into it: such work is another matter.
    let behind = work.partition_point(|&(start, ..)| start < to);
    let (mut filled, mut until, mut last) = (Nanos::ZERO, from, from);
    let first = work[..behind].partition_point(|&(start, ..)| start < from - slack);
    let reaches = |&&(_, end, whose): &&Work| whose != id && end > from + slack;
    if work[..first].iter().rev().take(MAX).any(|one| reaches(&one)) || behind - first > MAX {
        return false;
    }
    for &(start, end, whose) in &work[first..behind] {
        // What goes on when the wait is over was not waited for.
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

#[cfg(test)]
mod tests;
