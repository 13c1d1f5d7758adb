//! The rules: each judges a [`Snapshot`] by itself, and this module collects their findings.
//!
//! A finding exists only where a live connection or a counter shows that something costs. No two
//! findings give the same advice, and none enlarges buffers where round trips grow with them.

mod bufferbloat;
mod buffers;
mod checksum_errors;
mod close_wait;
mod conntrack_full;
mod counted;
mod cpu_throttled;
mod host_cpu;
mod idle_beyond_peer;
mod listen_overflow;
mod loss;
mod lost_retransmission;
mod mtu_black_hole;
mod needless_tail_probes;
mod new_connection_each_time;
mod nic_drops;
mod no_answer;
mod no_sack;
mod no_window_scaling;
mod port_exhaustion;
mod qdisc_drops;
mod receive_drops;
mod receive_window;
mod restart_after_idle;
mod sender_cap;
mod slow_start;
mod softnet_drops;
mod spurious_retransmission;
mod stale_ssthresh;
mod timeout;
mod unpaced_bbr;
mod zero_window;

use crate::finding::{Finding, HostAction, HostCause, Slug, command, command_mut};
use crate::snapshot::Snapshot;
pub(crate) use sender_cap::is_full as is_suspect;
use std::collections::BTreeSet;
use std::net::IpAddr;
use whyslow_analysis::cause::Cause;
use whyslow_evidence::Fix;

/// A rule returns its findings, the worst first.
type Rule = fn(Snapshot<'_>) -> Vec<Finding>;

const RULES: &[Rule] = &[
    no_answer::check,
    listen_overflow::check,
    port_exhaustion::check,
    conntrack_full::check,
    mtu_black_hole::check,
    close_wait::check,
    idle_beyond_peer::check,
    stale_ssthresh::check,
    receive_window::check,
    no_window_scaling::check,
    sender_cap::check,
    zero_window::check,
    bufferbloat::check,
    loss::check,
    timeout::check,
    lost_retransmission::check,
    needless_tail_probes::check,
    spurious_retransmission::check,
    no_sack::check,
    restart_after_idle::check,
    slow_start::check,
    new_connection_each_time::check,
    unpaced_bbr::check,
    checksum_errors::check,
    receive_drops::check,
    qdisc_drops::check,
    nic_drops::check,
    softnet_drops::check,
    host_cpu::check,
    cpu_throttled::check,
];

/// The findings of all rules in all namespaces: failures first, then the largest cost.
pub(crate) fn judge(looks: &[Snapshot<'_>]) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        looks.iter().flat_map(|snapshot| RULES.iter().flat_map(|rule| rule(*snapshot))).collect();
    remove_duplicates_of_other_findings(&mut findings);
    enlarge_no_queue(&mut findings);
    let cost = |finding: &Finding| finding.cost_s.unwrap_or(0.0);
    findings.sort_by(|a, b| {
        fails(b).cmp(&fails(a)).then(cost(b).total_cmp(&cost(a))).then(b.confidence.total_cmp(&a.confidence))
    });
    join_losses_of_a_peer(&mut findings);
    keep_each_advice_once(&mut findings);
    findings
}

/// From this confidence on a finding is likely.
const LIKELY: f64 = 0.6;

/// Connections fail, or wait for seconds before they begin. A finding that is only possible does
/// not become the headline for that.
fn fails(finding: &Finding) -> bool {
    use HostCause::{ConntrackFull, ListenOverflow, PortExhaustion};
    let is_severe = match finding.cause {
        Some(Slug::Known(cause)) => matches!(cause, Cause::MtuBlackHole | Cause::NoAnswer),
        Some(Slug::Host(cause)) => matches!(cause, ConntrackFull | ListenOverflow | PortExhaustion),
        None => false,
    };
    is_severe && finding.confidence >= LIKELY
}

/// A cause that another one explains, in the same namespace and of the same connections.
fn remove_duplicates_of_other_findings(findings: &mut Vec<Finding>) {
    let explained: [(Cause, Slug); 4] = [
        // A window without scaling is full as any other is.
        (Cause::ReceiveWindow, Cause::NoWindowScaling.into()),
        // Full segments that vanish end in timeouts.
        (Cause::Timeout, Cause::MtuBlackHole.into()),
        // Without SACK losses are repaired late.
        (Cause::Loss, Cause::NoSack.into()),
        (Cause::Loss, HostCause::UnpacedBbr.into()),
    ];
    let found: Vec<(Option<Slug>, Option<String>, Option<IpAddr>)> =
        findings.iter().map(|finding| (finding.cause, finding.namespace.clone(), finding.peer)).collect();
    findings.retain(|finding| {
        !explained.iter().any(|(cause, by)| {
            let same = |(other, namespace, peer): &(Option<Slug>, Option<String>, Option<IpAddr>)| {
                *other == Some(*by) && *namespace == finding.namespace && *peer == finding.peer
            };
            finding.cause == Some(Slug::Known(*cause)) && found.iter().any(same)
        })
    });
}

/// Losses and the timeouts that repaired them are one matter, if both ask to find the losses on the
/// way to a peer: the one that costs most stays, with the evidence of the other.
fn join_losses_of_a_peer(findings: &mut Vec<Finding>) {
    let sought = |finding: &Finding| match finding.remedies.first() {
        Some(Fix::OfHost { action: HostAction::FindLoss { peer }, .. }) => Some((finding.namespace.clone(), *peer)),
        _ => None,
    };
    let mut index = 0;
    while index < findings.len() {
        let first = sought(&findings[index])
            .and_then(|of| findings[..index].iter().position(|other| sought(other).as_ref() == Some(&of)));
        match first {
            Some(first) => {
                let evidence = findings.remove(index).evidence;
                let kept = &mut findings[first].evidence;
                let more: Vec<_> = evidence.into_iter().filter(|figure| !kept.contains(figure)).collect();
                kept.extend(more);
            }
            None => index += 1,
        }
    }
}

/// A setting applies to all connections: if a queue on the way grows with the data sent, send
/// buffers stay as they are.
fn enlarge_no_queue(findings: &mut [Finding]) {
    let is = |finding: &Finding, cause: Cause| finding.cause == Some(Slug::Known(cause));
    let queued = findings.iter().filter(|finding| is(finding, Cause::Bufferbloat));
    let queued: Vec<(Option<String>, Option<IpAddr>)> =
        queued.map(|finding| (finding.namespace.clone(), finding.peer)).collect();
    for finding in findings.iter_mut().filter(|finding| is(finding, Cause::SenderCap)) {
        let queue = queued.iter().find(|(namespace, _)| *namespace == finding.namespace);
        let Some(peer) = queue.and_then(|(_, peer)| *peer) else { continue };
        if let Some(Fix::OfHost { action: HostAction::GrowSendBuffer { after, .. }, command, .. }) =
            finding.remedies.first_mut()
        {
            (*after, *command) = (Some(peer), None);
        }
    }
}

/// A command that changes something stands once, with the finding that costs most.
fn keep_each_advice_once(findings: &mut [Finding]) {
    let mut seen: BTreeSet<(Option<String>, String)> = BTreeSet::new();
    for index in 0..findings.len() {
        let Some(own) = command(&findings[index]).cloned() else { continue };
        let namespace = findings[index].namespace.clone();
        // Of a setting the largest value is enough for all; of equals the one that sets more
        // figures.
        let (advice, kept) = match setting(&own) {
            Some(name) => {
                let commands = findings.iter().filter(|other| other.namespace == namespace).filter_map(command);
                let same = commands.filter(|other| setting(other) == Some(name));
                let most = same.max_by_key(|other| (largest_number(other), other.len()));
                (name.to_owned(), most.cloned())
            }
            None => (own.clone(), Some(own)),
        };
        let is_new = seen.insert((namespace, advice));
        if let Some(command) = command_mut(&mut findings[index]) {
            *command = kept.filter(|_| is_new);
        }
    }
}

/// The setting that a command changes.
fn setting(command: &str) -> Option<&str> {
    let (_, rest) = command.split_once("sysctl -w ")?;
    rest.split_once('=').map(|(name, _)| name)
}

fn largest_number(command: &str) -> u64 {
    command.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).max().unwrap_or(0)
}

#[cfg(test)]
mod confusions;
#[cfg(test)]
mod states;
#[cfg(test)]
pub(crate) mod synthetic_host;
#[cfg(test)]
mod tests;
