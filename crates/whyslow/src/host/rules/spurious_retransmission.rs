//! Segments are sent again that had arrived.
//!
//! ## What it is
//! The sender took late ACKs for lost segments: the path reorders, delays in bursts, or a timer is
//! too short. The copies cost capacity, and the sender slows down as if something had been lost.
//!
//! ## How it is recognised
//! Receivers report what they got twice (D-SACK): from half of what live connections sent again to
//! a peer, ten segments at least, and from one in a hundred of the segments sent. Or by timers:
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

use super::counted::{Counted, FEW, LOSSY, over, passes, when};
use super::{needless_tail_probes, timeout};
use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Since, Source, Who, figure, text};
use crate::host::look::{Live, Look, Peer, Share, dst};
use whyslow_report::text::units;

/// Of the retransmissions, what had arrived.
const HALF: f64 = 0.5;
/// Of the timeouts, what F-RTO found needless.
const TENTH: f64 = 0.1;

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    let timers = by_timers(look);
    // Each copy has one reason.
    if needless_tail_probes::needless(look).is_some() {
        return timers.into_iter().collect();
    }
    let peers = Peer::all(look.live().filter(|live| !live.stays_in_memory()));
    peers.iter().filter_map(|peer| of_peer(look, peer)).chain(timers).collect()
}

fn fix(look: Look<'_>, who: Who, verify: String) -> Fix {
    let off = look.setting("net.ipv4.tcp_timestamps") == Some(0);
    if off {
        return Fix {
            who: Who::Host,
            what: "switch timestamps on, so that a sender notices its error and takes the slowdown back".to_owned(),
            command: Some(look.command("sysctl -w net.ipv4.tcp_timestamps=1")),
            verify,
        };
    }
    let what = "find what reorders or delays packets: bonded links, radio, a queue".to_owned();
    Fix { who, what, command: None, verify }
}

fn of_peer(look: Look<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let copies = peer.sum(|info| info.dsack_dups.map(u64::from));
    let again = peer.sum(|info| info.total_retrans.map(u64::from));
    let sent: u64 = peer.connections.iter().filter_map(Live::sent).sum();
    let is_much = copies >= FEW && copies as f64 >= HALF * again as f64 && copies as f64 >= LOSSY * sent as f64;
    if !is_much || sent == 0 {
        return None;
    }
    let worst = peer.connections.iter().max_by_key(|live| live.grown(|info| info.dsack_dups.map(u64::from)))?;
    let since = (Source::Sockets, look.since_connections());
    let mut evidence = vec![
        figure("D-SACKs, received twice", copies as f64, "segments", since),
        figure("retransmitted", again as f64, "segments", since),
        figure("segments with data sent", sent as f64, "segments", since),
    ];
    let reordered = peer.sum(|info| info.reord_seen.map(u64::from));
    if reordered > 0 {
        evidence.push(figure("reordering noticed", reordered as f64, "times", since));
    }
    evidence.push(text("the worst", worst.line(), (Source::Socket, Since::Now)));
    let verify = format!("`ss -tin {}` shows few `dsack_dups` for new connections", dst(peer.address));
    Some(Finding {
        cause: HostCause::SpuriousRetransmission,
        namespace: look.foreign_name(),
        peer: Some(peer.address.to_string()),
        seconds: None,
        cost: format!("{} of {}", units::share(copies as f64 / sent as f64), units::count(sent, "segment")),
        confidence: 0.85,
        summary: format!(
            "{} were sent again to {} that had arrived, of {} sent again",
            units::count(copies, "segment"),
            peer.address,
            units::thousands(again)
        ),
        evidence,
        fix: fix(look, Who::Network, verify),
    })
}

fn by_timers(look: Look<'_>) -> Option<Finding> {
    let timeouts = timeout::counted(look)?;
    let share: Share = passes(look, ("TcpExt.TCPSpuriousRTOs", "Tcp.OutSegs"), 0.0)?;
    let all = over(look, "TcpExt.TCPTimeouts", share)?;
    if (share.count as f64) < TENTH * all as f64 || timeouts.seconds != share.seconds {
        return None;
    }
    let summary = format!(
        "{} of {} {} were needless: what they sent again had arrived",
        units::thousands(share.count),
        units::count(all, "timeout"),
        when(share)
    );
    let fix = fix(look, Who::Network, "`nstat -az TcpExtTCPSpuriousRTOs` rises slowly".to_owned());
    let names = ("TcpExt.TCPSpuriousRTOs".to_owned(), "Tcp.OutSegs");
    let counted = Counted { cause: HostCause::SpuriousRetransmission, names, share, confidence: 0.7, summary, fix };
    Some(
        counted
            .into_finding(look, Some(figure("TcpExt.TCPTimeouts", all as f64, "", (Source::Counter, share.since())))),
    )
}
