//! Short exchanges that stood in the queue which a large transfer between the same hosts had made:
//! a late ACK, a late answer or a slow handshake is the queue's then, and nobody else's. The queue
//! itself is told of the transfer that makes it (`bufferbloat`).
//!
//! Whichever way the large transfer goes: what goes the same way stands in the queue itself, and
//! what goes the other way has its ACK stand in it.

use super::flows::{Flow, LargestFlows};
use crate::analysis::{Connection, Finding, Measure, Transfer, Verdict};
use crate::cause::Cause;
use crate::units::Nanos;
use std::net::IpAddr;

/// Causes that a queue is taken for.
const TAKEN_FOR: &[Cause] = &[Cause::DelayedAck, Cause::PathLatency, Cause::ServerThink];
/// A queue may have been so much longer than the transfer's round trips mostly tell.
const LONGER: f64 = 1.25;
/// Beside the queue.
const MOMENT: Nanos = Nanos::from_millis(10);

/// Takes back what was said of waits that a queue explains.
pub(super) fn apply(flows: &LargestFlows, connections: &mut [Connection]) {
    let queued: Vec<&Flow> = flows.iter().filter(|flow| flow.makes_queue()).collect();
    if queued.is_empty() {
        return;
    }
    for connection in connections {
        let id = connection.id;
        let taken_for = |findings: &[Finding]| findings.iter().any(|finding| TAKEN_FOR.contains(&finding.cause));
        let by_transfers = connection.transfers.iter().any(|transfer| taken_for(&transfer.findings));
        if !by_transfers && !taken_for(&connection.findings) {
            continue;
        }
        let (Ok(client), Ok(server)) = (address(&connection.client.address), address(&connection.server.address))
        else {
            continue;
        };
        // How long the queue was at most between the two times.
        let delay = |from: Nanos, to: Nanos| {
            let of_path = |flow: &&&Flow| {
                let hosts = [(flow.sender, flow.receiver), (flow.receiver, flow.sender)];
                let (start, end) = flow.span();
                // It runs empty behind the last segment.
                let empty = end + flow.delay + flow.rtt;
                flow.connection != id && hosts.contains(&(client, server)) && start < to && empty > from
            };
            queued.iter().filter(of_path).map(|flow| flow.delay).max()
        };
        let start = connection.start_s;
        let opened = connection.handshake.as_ref().and_then(|handshake| handshake.rtt_ms).unwrap_or_default();
        if let Some(delay) = delay(start, start + Nanos::from_secs_f64(opened / 1e3)) {
            connection
                .findings
                .retain(|finding| !(finding.cause == Cause::PathLatency && explains_wait(finding.cost_s, delay)));
        }
        for transfer in connection.transfers.iter_mut().filter(|transfer| taken_for(&transfer.findings)) {
            let before: Nanos = transfer.before.iter().map(|phase| phase.seconds).sum();
            if let Some(delay) = delay(transfer.start_s - before, transfer.start_s + transfer.duration_s) {
                take_back(transfer, delay);
            }
        }
    }
}

fn address(text: &str) -> Result<IpAddr, std::net::AddrParseError> {
    text.parse()
}

fn explains_wait(wait: Nanos, delay: Nanos) -> bool {
    wait <= delay.scale(LONGER) + MOMENT
}

/// A single wait of a finding: what is typical of several.
fn wait(finding: &Finding) -> Nanos {
    let typical = finding.evidence.iter().find(|evidence| evidence.kind == Measure::TypicalDelay);
    typical.map_or(finding.cost_s, |evidence| Nanos::from_secs_f64(evidence.value / 1e3))
}

fn take_back(transfer: &mut Transfer, delay: Nanos) {
    let before = transfer.findings.len();
    transfer.findings.retain(|finding| !(TAKEN_FOR.contains(&finding.cause) && explains_wait(wait(finding), delay)));
    if transfer.findings.len() < before {
        transfer.model_skipped = false;
        let verdict = crate::rules::verdict::verdict_of_findings(&transfer.findings, transfer.duration_s);
        transfer.verdict = verdict.unwrap_or(Verdict::QueuedBehindOther);
    }
}

#[cfg(test)]
mod tests;
