//! Packets to a peer are lost on the way, and are sent again.
//!
//! ## What it is
//! A lost segment costs a round trip at least, and the sender slows down. With a loss rate p the
//! rate cannot exceed about MSS · √1.5 / (RTT · √p).
//!
//! ## How it is recognised
//! Of the segments with data that live connections sent to a peer, one in a hundred or more had to
//! be sent again, ten at least; what the peer reported as received twice (D-SACK) was not lost and
//! does not count. Where no live connection shows it, the counters do: `Tcp.RetransSegs` less
//! D-SACKs and less SYNs (`TcpExt.TCPSynRetrans`: a dead address is not loss), of `Tcp.OutSegs`.
//! Both thresholds are those of captures. With `--for` or `--watch` only segments of that time
//! count.
//!
//! ## What it is confused with
//! - `spurious-retransmission`: what was sent again had arrived.
//! - `timeout`: the same losses, found late.
//! - `qdisc-drops`: the queue of this machine's own device drops. Where it dropped at least half as
//!   many packets as were sent again, the network is not blamed.
//!
//! ## The fix
//! Find where the path loses: `mtr --tcp`, `ip -s link`, `ethtool -S`; a policer on the path; a
//! link that is full.
//!
//! ## To see that it worked
//! `nstat TcpRetransSegs TcpOutSegs`, run twice, shows few retransmissions.
//!
//! ## References
//! Mathis et al., "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", 1997; RFC
//! 5681, RFC 8985.

use super::counted::{ENOUGH, FEW, LOSSY, by_counter, counter, over, without_syns};
use super::qdisc_drops;
use crate::finding::{
    Extent, Field, Finding, HostAction, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Peer, Proportion, Snapshot};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let found: Vec<Finding> =
        Peer::all(snapshot.live()).into_iter().filter_map(|peer| of_peer(snapshot, &peer)).collect();
    if found.is_empty() { counted(snapshot).into_iter().collect() } else { found }
}

/// Segments that a connection lost, as far as is known.
pub(super) fn lost(live: &Live<'_>) -> Option<u64> {
    let duplicates = live.grown(|info| info.dsack_dups.map(u64::from)).unwrap_or(0);
    Some(live.grown(|info| info.total_retrans.map(u64::from))?.saturating_sub(duplicates))
}

fn of_peer(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let sent: u64 = peer.connections.iter().filter_map(Live::sent).sum();
    let gone: u64 = peer.connections.iter().filter_map(lost).sum();
    if gone < FEW || (gone as f64) < LOSSY * sent as f64 || sent == 0 {
        return None;
    }
    let worst = peer.connections.iter().max_by_key(|live| lost(live))?;
    if qdisc_drops::explains(snapshot, snapshot.device(worst), gone) {
        return None;
    }
    let sockets = (Place::Sockets, snapshot.since_connections());
    let mut evidence = vec![
        figure("retrans - dsack_dups", gone as f64, Unit::Segments, sockets),
        figure("data_segs_out", sent as f64, Unit::Segments, sockets),
    ];
    evidence.extend(worst.rtt().map(|rtt| figure("rtt", rtt, Unit::Seconds, (Place::Socket, Since::Now))));
    evidence.push(text("socket", worst.line(), (Place::Socket, Since::Now)));
    let command = snapshot.command(&format!("mtr --tcp --report {}", peer.address));
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        extent: Some(Extent::Share { share: gone as f64 / sent as f64, of: sent, unit: Unit::Segments }),
        evidence,
        remedies: vec![fix(Who::Network, HostAction::FindLoss { peer: peer.address }, Some(command))],
        verify: Some(HostCheck::Socket { peer: Some(peer.address), shows: Field::FewRetrans }),
        ..Finding::new(Cause::Loss, 0.85, HostStatement::LostToPeer { peer: peer.address, lost: gone, sent })
    })
}

fn counted(snapshot: Snapshot<'_>) -> Option<Finding> {
    let share = snapshot.counter("Tcp.RetransSegs")?.share_of(snapshot.counter("Tcp.OutSegs")?, ENOUGH)?;
    let duplicates =
        over(snapshot, "TcpExt.TCPDSACKRecv", share)? + over(snapshot, "TcpExt.TCPDSACKOfoRecv", share).unwrap_or(0);
    let gone = without_syns(snapshot, "Tcp.RetransSegs", share)?.saturating_sub(duplicates);
    let gone = Proportion { count: gone, ..share };
    if gone.count < FEW || gone.value() < LOSSY {
        return None;
    }
    if snapshot.namespace.devices.iter().any(|device| qdisc_drops::explains(snapshot, Some(device), gone.count)) {
        return None;
    }
    let statement = HostStatement::LostByCounters { segments: gone.counted() };
    let names = ("Tcp.RetransSegs - D-SACKs - SYNs", "Tcp.OutSegs");
    let mut found = by_counter(snapshot, Cause::Loss, 0.7, statement, (names, gone));
    let less = ["TcpExt.TCPDSACKRecv", "TcpExt.TCPSynRetrans"];
    found.evidence.extend(less.into_iter().filter_map(|name| counter(snapshot, name, share)));
    Some(Finding {
        remedies: vec![fix(Who::Network, HostAction::LookWhileSlow, Some(snapshot.command("whyslow host --for 30s")))],
        verify: Some(HostCheck::FewRetransmissions),
        ..found
    })
}
