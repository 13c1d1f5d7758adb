//! `conclude`: findings as they are printed.
//!
//! A rule makes a finding from one transfer or connection. Other data is added here, and nothing
//! else changes a finding after its rule made it:
//!
//! - [`own`]: data of its connection: the hosts that its remedies are for, and the capture's
//!   spelling of addresses (`hosts`, `written`);
//! - [`together`]: effects of other connections on it (`transfer`);
//! - [`finish`]: the promises of its remedies, by the model (`model_promises`) or as waits that are
//!   removed from the time (`wait_promises`), and its confidence (`confidence`).

mod confidence;
mod hosts;
mod model_promises;
mod transfer;
mod wait_promises;
mod written;

pub(crate) use model_promises::{MAX_WORK, play_models};
pub(crate) use written::Names;

use crate::rules::{self, ConnectionSummary};
use crate::together::{self, LargestFlows};
use whyslow_analysis::{Connection, Finding, Frame};
use whyslow_core::tcp::facts::Facts;
use whyslow_units::Nanos;

/// Completes the findings of one connection with the names and addresses of its ends.
pub(crate) fn own(connection: &mut Connection, facts: &Facts, names: &Names) {
    written::restore(connection, facts, names);
    hosts::fill(connection);
}

/// Findings over several connections.
#[derive(Debug, Default)]
pub(crate) struct Across {
    /// Most seconds first.
    pub findings: Vec<Finding>,
    /// Transfers without a possible promise: their connections, and their starts.
    pub unpredictable: Vec<(u64, Nanos)>,
}

/// Applies how connections affect each other, and finds the causes that they share.
pub(crate) fn together(
    flows: &LargestFlows,
    summaries: &[ConnectionSummary],
    connections: &mut [Connection],
) -> Across {
    let found = together::find(flows, connections);
    for (&(connection, transfer), influences) in &found.of_transfers {
        transfer::conclude(&mut connections[connection].transfers[transfer], influences);
    }
    for (&connection, &delay) in &found.of_handshakes {
        connections[connection].findings.retain(|finding| !transfer::is_late_handshake(finding, delay));
    }
    let mut findings = rules::check_across(summaries);
    findings.extend(found.findings);
    findings.extend(together::check_common(connections, &findings));
    rules::sort_by_cost(&mut findings);
    Across { findings, unpredictable: found.unpredictable }
}

/// Sets the promises that need no model, and each finding's confidence, after all other changes.
/// `path_rate`: payload bits per second.
pub(crate) fn finish(connections: &mut [Connection], across: &mut [Finding], path_rate: Option<f64>) {
    wait_promises::predict(connections, across, path_rate);
    confidence::set(connections, across);
}

/// With one input a frame's number is enough.
pub(crate) fn forget_files(connections: &mut [Connection], findings: &mut [Finding]) {
    for connection in connections {
        connection.for_each_frame(forget);
    }
    findings.iter_mut().for_each(|finding| finding.for_each_frame(forget));
}

fn forget(frame: &mut Frame) {
    frame.file = None;
}

#[cfg(test)]
mod tests;
