//! Short exchanges that stood in the queue which a large transfer between the same hosts had made:
//! a late ACK, a late answer or a slow handshake is the queue's then. The finding about the queue
//! is that of the transfer that makes it (`bufferbloat`).
//!
//! In either direction of the large transfer: data in the same direction stands in the queue
//! itself, and data in the other direction has its ACK stand in it.

use super::flows::{Flow, LargestFlows};
use super::influence::{Influence, Together};
use crate::timeline::{Explainer, is_explained_by};
use std::net::IpAddr;
use whyslow_analysis::{Connection, Finding};
use whyslow_units::Nanos;

/// Finds the queues in which exchanges and handshakes stood whose waits a queue may explain.
pub(super) fn find(flows: &LargestFlows, connections: &[Connection], together: &mut Together) {
    let queued: Vec<&Flow> = flows.iter().filter(|flow| flow.makes_queue()).collect();
    if queued.is_empty() {
        return;
    }
    for (place, connection) in connections.iter().enumerate() {
        let id = connection.id;
        let by_transfers = connection.transfers.iter().any(|transfer| may_be_queueing(&transfer.findings));
        if !by_transfers && !may_be_queueing(&connection.findings) {
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
            together.of_handshakes.insert(place, delay);
        }
        for (number, transfer) in connection.transfers.iter().enumerate() {
            let before: Nanos = transfer.before.iter().map(|phase| phase.seconds).sum();
            let (start, end) = (transfer.start_s - before, transfer.start_s + transfer.duration_s);
            if may_be_queueing(&transfer.findings)
                && let Some(delay) = delay(start, end)
            {
                together.add((place, number), Influence::Queue(delay));
            }
        }
    }
}

fn may_be_queueing(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| is_explained_by(Explainer::OthersQueue, finding.cause))
}

fn address(text: &str) -> Result<IpAddr, std::net::AddrParseError> {
    text.parse()
}
