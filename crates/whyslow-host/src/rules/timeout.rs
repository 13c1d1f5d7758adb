//! Losses are found by timeouts: the sender was silent for 200 ms or more each time.
//!
//! ## What it is
//! If no ACK reveals a loss, the sender waits for its retransmission timer, at least 200 ms on
//! Linux, doubled each further time, and then starts over with one segment.
//!
//! ## How it is recognised
//! - By live connections: ten timeouts or more to a peer, or one that has timed out three times in
//!   a row and still waits. Newer kernels record the duration of recoveries (`total_rto_time`);
//!   otherwise a timeout counts as 200 ms, the minimum.
//! - By counters: `TcpExt.TCPTimeouts` without SYNs (`TcpExt.TCPSynRetrans`) is one in a thousand
//!   of `Tcp.OutSegs`: a timeout costs ten times as much as a repair by SACK over 20 ms, so a tenth
//!   of what makes `loss`.
//!
//! ## What it is confused with
//! - `spurious-retransmission`: what the timer sent again had arrived.
//! - `no-answer`: the peer never answered at all.
//!
//! ## The fix
//! Find the loss, as for `loss`. SACK, RACK and tail loss probes (`net.ipv4.tcp_sack=1`,
//! `tcp_recovery=1`, `tcp_early_retrans=3`) find most losses sooner: the finding names one that is
//! off.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPTimeouts` rises slowly.
//!
//! ## References
//! RFC 6298, RFC 8985; Linux TCP_RTO_MIN.

use super::counted::{ENOUGH, FEW, by_counter, counter, without_syns};
use super::qdisc_drops;
use crate::finding::{Extent, Finding, HostAction, HostCheck, HostStatement, Place, Since, Who, figure, fix, text};
use crate::snapshot::{Peer, Proportion, Snapshot};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;
use whyslow_evidence::TIMEOUTS as SHARE;
use whyslow_live::tcp_info::TcpInfo;

/// TCP_RTO_MIN of Linux, seconds.
const LEAST_S: f64 = 0.2;
/// The check of the fix.
const VERIFY: HostCheck = HostCheck::Counters { names: &["TcpExtTCPTimeouts"], slowly: true };
/// In a row.
const ROW: u8 = 3;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let found: Vec<Finding> =
        Peer::all(snapshot.live()).into_iter().filter_map(|peer| of_peer(snapshot, &peer)).collect();
    if found.is_empty() { by_counters(snapshot).into_iter().collect() } else { found }
}

/// Timeouts except those of SYNs, as a share of the segments sent, if there are many.
pub(super) fn counted(snapshot: Snapshot<'_>) -> Option<Proportion> {
    let all = snapshot.counter("TcpExt.TCPTimeouts")?.share_of(snapshot.counter("Tcp.OutSegs")?, ENOUGH)?;
    let share = Proportion { count: without_syns(snapshot, "TcpExt.TCPTimeouts", all)?, ..all };
    (share.count >= FEW && share.value() >= SHARE).then_some(share)
}

fn of_peer(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let timeouts_of = |info: &TcpInfo| info.total_rto.map(u64::from);
    let timeouts = peer.sum(timeouts_of);
    let worst = peer.connections.iter().max_by_key(|live| (live.timeouts_in_a_row(), live.grown(timeouts_of)))?;
    let row = worst.timeouts_in_a_row();
    if timeouts < FEW && row < ROW {
        return None;
    }
    let took = peer.sum(|info| info.total_rto_time.map(u64::from)) as f64 / 1e3;
    let least = LEAST_S * timeouts.max(row.into()) as f64;
    let is_measured = took >= least;
    let seconds = took.max(least);
    let since = (Place::Sockets, snapshot.since_connections());
    let mut evidence = vec![figure("total_rto", timeouts as f64, Unit::One, since)];
    if is_measured {
        evidence.push(figure("total_rto_time", took, Unit::Seconds, since));
    }
    if row >= ROW {
        evidence.push(figure("timeouts in a row", row.into(), Unit::One, (Place::Socket, Since::Now)));
    }
    evidence.push(text("socket", worst.line(), (Place::Socket, Since::Now)));
    let statement = HostStatement::TimedOut {
        peer: peer.address,
        timeouts: timeouts.max(row.into()),
        seconds,
        at_least: !is_measured,
        row: (row >= ROW).then_some(row.into()),
    };
    let remedy = match snapshot.device(worst).filter(|device| qdisc_drops::explains(snapshot, Some(device), timeouts)) {
        Some(device) => fix(Who::Host, HostAction::SeeQdiscDrops { device: device.name.clone() }, None),
        None => remedy(
            snapshot,
            HostAction::FindLoss { peer: peer.address },
            &format!("mtr --tcp --report {}", peer.address),
        ),
    };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        cost_s: Some(seconds),
        extent: Some(Extent::Took { seconds, at_least: !is_measured }),
        evidence,
        remedies: vec![remedy],
        verify: Some(VERIFY),
        ..Finding::new(Cause::Timeout, 0.85, statement)
    })
}

/// A setting that is off and would find losses sooner; else the path.
fn remedy(snapshot: Snapshot<'_>, path: HostAction, command: &str) -> whyslow_evidence::Fix {
    let off = [("net.ipv4.tcp_sack", 1), ("net.ipv4.tcp_recovery", 1), ("net.ipv4.tcp_early_retrans", 3)]
        .into_iter()
        .find(|(name, _)| snapshot.setting(name) == Some(0));
    match off {
        Some((name, value)) => {
            let command = snapshot.command(&format!("sysctl -w {name}={value}"));
            fix(Who::Host, HostAction::LossDetectionOn { name, value }, Some(command))
        }
        None => fix(Who::Network, path, Some(snapshot.command(command))),
    }
}

fn by_counters(snapshot: Snapshot<'_>) -> Option<Finding> {
    let share = counted(snapshot)?;
    let seconds = share.count as f64 * LEAST_S;
    let statement = HostStatement::TimeoutsCounted { timeouts: share.counted(), seconds };
    let names = ("TcpExt.TCPTimeouts - SYNs", "Tcp.OutSegs");
    let mut found = by_counter(snapshot, Cause::Timeout, 0.7, statement, (names, share));
    found.evidence.extend(counter(snapshot, "TcpExt.TCPSynRetrans", share));
    Some(Finding {
        cost_s: Some(seconds),
        remedies: vec![remedy(snapshot, HostAction::LookWhileSlow, "whyslow host --for 30s")],
        verify: Some(VERIFY),
        ..found
    })
}
