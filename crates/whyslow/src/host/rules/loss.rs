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

use super::counted::{Counted, ENOUGH, FEW, LOSSY, counter, over, when, without_syns};
use super::qdisc_drops;
use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Since, Source, Who, figure, text};
use crate::host::look::{Live, Look, Peer, Share, dst};
use whyslow_report::text::units;

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    let found: Vec<Finding> = Peer::all(look.live()).into_iter().filter_map(|peer| of_peer(look, &peer)).collect();
    if found.is_empty() { by_counter(look).into_iter().collect() } else { found }
}

/// Segments that a connection lost, as far as is known.
pub(super) fn lost(live: &Live<'_>) -> Option<u64> {
    let duplicates = live.grown(|info| info.dsack_dups.map(u64::from)).unwrap_or(0);
    Some(live.grown(|info| info.total_retrans.map(u64::from))?.saturating_sub(duplicates))
}

fn of_peer(look: Look<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let sent: u64 = peer.connections.iter().filter_map(Live::sent).sum();
    let gone: u64 = peer.connections.iter().filter_map(lost).sum();
    if gone < FEW || (gone as f64) < LOSSY * sent as f64 || sent == 0 {
        return None;
    }
    let worst = peer.connections.iter().max_by_key(|live| lost(live))?;
    let share = units::share(gone as f64 / sent as f64);
    if qdisc_drops::explains(look, look.device(worst), gone) {
        return None;
    }
    let sockets = (Source::Sockets, look.since_connections());
    let mut evidence = vec![
        figure("retransmitted, less D-SACKs", gone as f64, "segments", sockets),
        figure("segments with data sent", sent as f64, "segments", sockets),
    ];
    evidence.extend(worst.rtt().map(|rtt| figure("worst: rtt", rtt, "s", (Source::Socket, Since::Now))));
    evidence.push(text("the worst", worst.line(), (Source::Socket, Since::Now)));
    Some(Finding {
        cause: HostCause::Loss,
        namespace: look.foreign_name(),
        peer: Some(peer.address.to_string()),
        seconds: None,
        cost: format!("{share} of {}", units::count(sent, "segment")),
        confidence: 0.85,
        summary: format!(
            "{} of {} were lost on the way to {}",
            units::count(gone, "segment"),
            units::thousands(sent),
            peer.address
        ),
        evidence,
        fix: Fix {
            who: Who::Network,
            what: format!("find where the path to {} loses packets", peer.address),
            command: Some(look.command(&format!("mtr --tcp --report {}", peer.address))),
            verify: format!("`ss -tin {}` shows few `retrans` for new connections", dst(peer.address)),
        },
    })
}

fn by_counter(look: Look<'_>) -> Option<Finding> {
    let share = look.counter("Tcp.RetransSegs")?.share_of(look.counter("Tcp.OutSegs")?, ENOUGH)?;
    let duplicates =
        over(look, "TcpExt.TCPDSACKRecv", share)? + over(look, "TcpExt.TCPDSACKOfoRecv", share).unwrap_or(0);
    let gone = without_syns(look, "Tcp.RetransSegs", share)?.saturating_sub(duplicates);
    let gone = Share { count: gone, ..share };
    if gone.count < FEW || gone.value() < LOSSY {
        return None;
    }
    if look.namespace.devices.iter().any(|device| qdisc_drops::explains(look, Some(device), gone.count)) {
        return None;
    }
    let summary = format!(
        "{} of what this machine sent {} was lost on the way, by its counters; no live connection shows to whom",
        units::share(gone.value()),
        when(share)
    );
    let fix = Fix {
        who: Who::Network,
        what: "look again while transfers are slow: the connections then name the peer".to_owned(),
        command: Some(look.command("whyslow host --for 30s")),
        verify: "`nstat TcpRetransSegs TcpOutSegs`, run twice, shows few retransmissions".to_owned(),
    };
    let names = ("Tcp.RetransSegs, less D-SACKs and SYNs".to_owned(), "Tcp.OutSegs");
    let counted = Counted { cause: HostCause::Loss, names, share: gone, confidence: 0.7, summary, fix };
    let less = ["TcpExt.TCPDSACKRecv", "TcpExt.TCPSynRetrans"];
    Some(counted.into_finding(look, less.into_iter().filter_map(|name| counter(look, name, share))))
}
