//! Losses are found by timeouts: the sender was silent for 200 ms or more each time.
//!
//! ## What it is
//! When no ACK tells of a loss, the sender waits for its retransmission timer, 200 ms at least on
//! Linux, twice as long each further time, and then starts over with one segment.
//!
//! ## How it is recognised
//! - By live connections: ten timeouts or more to a peer, or one that has timed out three times in
//!   a row and still waits. Newer kernels tell how long recoveries took (`total_rto_time`); else a
//!   timeout counts as 200 ms, which is the least.
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

use super::counted::{Counted, ENOUGH, FEW, counter, when, without_syns};
use super::qdisc_drops;
use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Since, Source, Who, figure, text};
use crate::host::look::{Live, Look, Peer, Share};
use whyslow_evidence::TIMEOUTS as SHARE;
use whyslow_live::host::TimerKind;
use whyslow_live::tcp_info::TcpInfo;
use whyslow_report::text::units;

/// TCP_RTO_MIN of Linux, seconds.
const LEAST_S: f64 = 0.2;
/// What shows that it worked.
const VERIFY: &str = "`nstat -az TcpExtTCPTimeouts` rises slowly";
/// In a row.
const ROW: u8 = 3;

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    let found: Vec<Finding> = Peer::all(look.live()).into_iter().filter_map(|peer| of_peer(look, &peer)).collect();
    if found.is_empty() { by_counter(look).into_iter().collect() } else { found }
}

/// Timers that ended in a row, and one still runs.
pub(super) fn in_a_row(live: &Live<'_>) -> u8 {
    live.socket.timer.filter(|timer| timer.kind == TimerKind::Retransmission).map_or(0, |timer| timer.retransmits)
}

/// Timeouts without those of SYNs, as a share of what was sent, where they are many.
pub(super) fn counted(look: Look<'_>) -> Option<Share> {
    let all = look.counter("TcpExt.TCPTimeouts")?.share_of(look.counter("Tcp.OutSegs")?, ENOUGH)?;
    let share = Share { count: without_syns(look, "TcpExt.TCPTimeouts", all)?, ..all };
    (share.count >= FEW && share.value() >= SHARE).then_some(share)
}

fn of_peer(look: Look<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let timeouts_of = |info: &TcpInfo| info.total_rto.map(u64::from);
    let timeouts = peer.sum(timeouts_of);
    let worst = peer.connections.iter().max_by_key(|live| (in_a_row(live), live.grown(timeouts_of)))?;
    let row = in_a_row(worst);
    if timeouts < FEW && row < ROW {
        return None;
    }
    let took = peer.sum(|info| info.total_rto_time.map(u64::from)) as f64 / 1e3;
    let least = LEAST_S * timeouts.max(row.into()) as f64;
    let is_measured = took >= least;
    let seconds = took.max(least);
    let waits =
        if row >= ROW { format!("; one has timed out {row} times in a row and still waits") } else { String::new() };
    let since = (Source::Sockets, look.since_connections());
    let mut evidence = vec![figure("timeouts (total_rto)", timeouts as f64, "", since)];
    if is_measured {
        evidence.push(figure("in recovery from them (total_rto_time)", took, "s", since));
    }
    if row >= ROW {
        evidence.push(figure("worst: timeouts in a row", row.into(), "", (Source::Socket, Since::Now)));
    }
    evidence.push(text("the worst", worst.line(), (Source::Socket, Since::Now)));
    Some(Finding {
        cause: HostCause::Timeout,
        namespace: look.foreign_name(),
        peer: Some(peer.address.to_string()),
        seconds: Some(seconds),
        cost: format!("{}{}", units::figure(seconds, "s"), if is_measured { "" } else { " or more" }),
        confidence: 0.85,
        summary: format!(
            "connections to {} waited for {}, {}{}{waits}",
            peer.address,
            units::count(timeouts.max(row.into()), "retransmission timeout"),
            units::figure(seconds, "s"),
            if is_measured { "" } else { " or more" },
        ),
        evidence,
        fix: match look.device(worst).filter(|device| qdisc_drops::explains(look, Some(device), timeouts)) {
            Some(device) => Fix {
                who: Who::Host,
                what: format!("the queue in front of {} on this machine drops packets: see qdisc-drops", device.name),
                command: None,
                verify: VERIFY.to_owned(),
            },
            None => fix(
                look,
                &format!("find where the path to {} loses packets", peer.address),
                Some(format!("mtr --tcp --report {}", peer.address)),
            ),
        },
    })
}

/// A setting that is off and would find losses sooner; else the path.
fn fix(look: Look<'_>, path: &str, command: Option<String>) -> Fix {
    let off = [("net.ipv4.tcp_sack", 1), ("net.ipv4.tcp_recovery", 1), ("net.ipv4.tcp_early_retrans", 3)]
        .into_iter()
        .find(|(name, _)| look.setting(name) == Some(0));
    let verify = VERIFY.to_owned();
    match off {
        Some((name, on)) => Fix {
            who: Who::Host,
            what: format!("{name} is 0: with {on} most losses are found without a timeout"),
            command: Some(look.command(&format!("sysctl -w {name}={on}"))),
            verify,
        },
        None => Fix {
            who: Who::Network,
            what: path.to_owned(),
            command: command.map(|command| look.command(&command)),
            verify,
        },
    }
}

fn by_counter(look: Look<'_>) -> Option<Finding> {
    let share = counted(look)?;
    let seconds = share.count as f64 * LEAST_S;
    let summary = format!(
        "{} {}, each a silence of 200 ms or more: {} in all",
        units::count(share.count, "retransmission timeout"),
        when(share),
        units::figure(seconds, "s")
    );
    let fix = fix(
        look,
        "look again while transfers are slow: the connections then name the peer",
        Some("whyslow host --for 30s".to_owned()),
    );
    let names = ("TcpExt.TCPTimeouts, without SYNs".to_owned(), "Tcp.OutSegs");
    let counted = Counted { cause: HostCause::Timeout, names, share, confidence: 0.7, summary, fix };
    Some(Finding { seconds: Some(seconds), ..counted.into_finding(look, counter(look, "TcpExt.TCPSynRetrans", share)) })
}
