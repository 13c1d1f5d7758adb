//! Segments are sent again that had arrived.
//!
//! ## What it is
//! The sender took late ACKs for lost segments: the path reorders, delays in bursts, or a timer is
//! too short. The copies cost capacity, and the sender slows down as if something had been lost.
//!
//! ## How it is recognised
//! Receivers report duplicates (D-SACK): at least half of the segments that live connections
//! retransmitted to a peer, ten or more, and one in a hundred of the segments sent. Or by timers:
//! F-RTO found one in ten of ten or more timeouts needless (`TcpExt.TCPSpuriousRTOs`), and timeouts
//! are one in a thousand of the segments sent, as for `timeout`.
//!
//! ## What it is confused with
//! - `needless-tail-probes`: the copies are tail loss probes, and a setting ends them.
//! - `loss`: what was sent again was missing.
//! - two programs of one machine that wait for a processor: nothing reorders between them, and
//!   their connections are left out.
//!
//! ## The fix
//! Find what reorders or delays: links that are bonded packet by packet, a radio link, a queue.
//! Where `net.ipv4.tcp_timestamps` is off, switch it on: with timestamps a sender notices its error
//! and takes the slowdown back (Eifel).
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPDSACKRecv TcpExtTCPSpuriousRTOs` rises slowly.
//!
//! ## References
//! RFC 2883, RFC 3522, RFC 5682, RFC 8985.

use super::counted::{FEW, LOSSY, by_counter, over, passes};
use super::{needless_tail_probes, timeout};
use crate::finding::{
    Extent, Field, Finding, HostAction, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Peer, Proportion, Snapshot};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;

/// Share of the retransmissions whose original had arrived.
const HALF: f64 = 0.5;
/// Share of the timeouts that F-RTO found needless.
const TENTH: f64 = 0.1;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let timers = by_timers(snapshot);
    // Each copy has one reason.
    if needless_tail_probes::needless(snapshot).is_some() {
        return timers.into_iter().collect();
    }
    let peers = Peer::all(snapshot.live().filter(|live| !live.stays_in_memory()));
    peers.iter().filter_map(|peer| of_peer(snapshot, peer)).chain(timers).collect()
}

/// Timestamps that are off, or what reorders.
fn remedy(snapshot: Snapshot<'_>) -> whyslow_evidence::Fix {
    if snapshot.setting("net.ipv4.tcp_timestamps") == Some(0) {
        let command = snapshot.command("sysctl -w net.ipv4.tcp_timestamps=1");
        return fix(Who::Host, HostAction::TimestampsOn, Some(command));
    }
    fix(Who::Network, HostAction::FindReordering, None)
}

fn of_peer(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let copies = peer.sum(|info| info.dsack_dups.map(u64::from));
    let again = peer.sum(|info| info.total_retrans.map(u64::from));
    let sent: u64 = peer.connections.iter().filter_map(Live::sent).sum();
    let is_much = copies >= FEW && copies as f64 >= HALF * again as f64 && copies as f64 >= LOSSY * sent as f64;
    if !is_much || sent == 0 {
        return None;
    }
    let worst = peer.connections.iter().max_by_key(|live| live.grown(|info| info.dsack_dups.map(u64::from)))?;
    let since = (Place::Sockets, snapshot.since_connections());
    let mut evidence = vec![
        figure("dsack_dups", copies as f64, Unit::Segments, since),
        figure("retrans", again as f64, Unit::Segments, since),
        figure("data_segs_out", sent as f64, Unit::Segments, since),
    ];
    let reordered = peer.sum(|info| info.reord_seen.map(u64::from));
    if reordered > 0 {
        evidence.push(figure("reord_seen", reordered as f64, Unit::Times, since));
    }
    evidence.push(text("socket", worst.line(), (Place::Socket, Since::Now)));
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        extent: Some(Extent::Share { share: copies as f64 / sent as f64, of: sent, unit: Unit::Segments }),
        evidence,
        remedies: vec![remedy(snapshot)],
        verify: Some(HostCheck::Socket { peer: Some(peer.address), shows: Field::FewDsacks }),
        ..Finding::new(
            Cause::SpuriousRetransmission,
            0.85,
            HostStatement::SentTwice { peer: peer.address, copies, again },
        )
    })
}

fn by_timers(snapshot: Snapshot<'_>) -> Option<Finding> {
    let timeouts = timeout::counted(snapshot)?;
    let share: Proportion = passes(snapshot, ("TcpExt.TCPSpuriousRTOs", "Tcp.OutSegs"), 0.0)?;
    let all = over(snapshot, "TcpExt.TCPTimeouts", share)?;
    if (share.count as f64) < TENTH * all as f64 || timeouts.seconds != share.seconds {
        return None;
    }
    let needless = Proportion { all, ..share };
    let statement = HostStatement::NeedlessTimeouts { timeouts: needless.counted() };
    let names = ("TcpExt.TCPSpuriousRTOs", "Tcp.OutSegs");
    let mut found = by_counter(snapshot, Cause::SpuriousRetransmission, 0.7, statement, (names, share));
    found.evidence.push(figure("TcpExt.TCPTimeouts", all as f64, Unit::One, (Place::Counter, share.since())));
    Some(Finding {
        remedies: vec![remedy(snapshot)],
        verify: Some(HostCheck::Counters { names: &["TcpExtTCPSpuriousRTOs"], slowly: true }),
        ..found
    })
}
