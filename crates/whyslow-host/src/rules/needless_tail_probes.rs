//! Tail loss probes are sent for segments that are not lost: responses take longer than the
//! connection's round trip.
//!
//! ## What it is
//! If the end of a burst is not acknowledged within two round trips, Linux sends its last segment
//! again (tail loss probe). A proxy that answers the handshake itself, in front of distant servers,
//! makes the first round trips much shorter than the later ones. The probe's timer is then too
//! short for the first responses, and each request is sent twice.
//!
//! ## How it is recognised
//! By counters: of the probes (`TcpExt.TCPLossProbes`) half or more were needless, ten at least and
//! one in a hundred of the segments sent. Needless are at least as many as there are D-SACKs beyond
//! those that all other retransmissions can account for, so the figure is a lower bound. A live
//! connection with a D-SACK whose round trip is four times its least one is what a proxy makes of
//! it: then the finding is certain enough to act on. Counters are of all connections together:
//! where most bytes went over the loopback device and no such connection is there, nothing is
//! reported, because programs of one machine that wait for a processor cause needless probes as
//! well.
//!
//! ## What it is confused with
//! - tail loss: the probe repaired something (`TcpExt.TCPLossProbeRecovery`). Where it does so for
//!   one in ten or more, no setting is advised.
//! - `spurious-retransmission`: copies that other timers or reordering make.
//!
//! ## The fix
//! `net.ipv4.tcp_early_retrans=0` ends the probes (3 is the default). It is this machine's for all
//! peers: a tail that is really lost then waits for the retransmission timeout.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPLossProbes TcpExtTCPDSACKRecv` no longer rises.
//!
//! ## References
//! RFC 8985 section 7, RFC 2883, RFC 3135; Linux ip-sysctl (tcp_early_retrans).

use super::counted::{FEW, LOSSY, by_counter, counter, over, passes};
use crate::finding::{
    Evidence, Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Proportion, Snapshot};
use whyslow_analysis::Unit;

/// Share of needless probes; and share of bytes from which counters belong to loopback.
const HALF: f64 = 0.5;
/// Share of the probes that may have repaired a loss, up to which disabling them is advised.
const REPAIRED: f64 = 0.1;
/// A proxy's round trip is shorter than its server's by this factor.
const TIMES: f64 = 4.0;

/// The least number of needless probes, and the probes' share of the segments sent.
pub(super) fn needless(snapshot: Snapshot<'_>) -> Option<(u64, Proportion)> {
    let probes = passes(snapshot, ("TcpExt.TCPLossProbes", "Tcp.OutSegs"), LOSSY)?;
    let copies = over(snapshot, "TcpExt.TCPDSACKRecv", probes)?;
    let others = over(snapshot, "Tcp.RetransSegs", probes)?.saturating_sub(probes.count);
    let needless = copies.saturating_sub(others).min(probes.count);
    let is_of_loopback =
        snapshot.loopback_share().is_some_and(|share| share >= HALF) && behind_proxy(snapshot).is_none();
    let is_much = needless >= FEW && needless as f64 >= HALF * probes.count as f64;
    (is_much && !is_of_loopback).then_some((needless, probes))
}

/// A connection whose first answers came from nearer than the later ones.
fn behind_proxy<'a>(snapshot: Snapshot<'a>) -> Option<Live<'a>> {
    snapshot.live().filter(|live| !live.stays_in_memory()).find(|live| {
        let (Some(rtt), Some(least)) = (live.rtt(), live.min_rtt()) else { return false };
        live.info.dsack_dups.is_some_and(|copies| copies > 0) && rtt >= TIMES * least
    })
}

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let Some((needless, probes)) = needless(snapshot) else { return Vec::new() };
    let repaired = over(snapshot, "TcpExt.TCPLossProbeRecovery", probes);
    let proxy = behind_proxy(snapshot);
    let is_on = snapshot.setting("net.ipv4.tcp_early_retrans").is_some_and(|setting| setting != 0);
    let may_end = is_on && repaired.is_some_and(|repaired| (repaired as f64) < REPAIRED * probes.count as f64);
    let statement = HostStatement::NeedlessProbes {
        needless,
        probes: probes.count,
        since: probes.since(),
        behind_proxy: proxy.is_some(),
    };
    let setting = snapshot.setting("net.ipv4.tcp_early_retrans");
    let mut more: Vec<Evidence> =
        vec![figure("needless", needless as f64, Unit::One, (Place::Counter, probes.since()))];
    more.extend(counter(snapshot, "TcpExt.TCPDSACKRecv", probes));
    more.extend(counter(snapshot, "TcpExt.TCPLossProbeRecovery", probes));
    more.extend(
        setting.map(|on| figure("net.ipv4.tcp_early_retrans", on as f64, Unit::One, (Place::Setting, Since::Now))),
    );
    if let Some(live) = proxy {
        let times = [("rtt", live.rtt()), ("minrtt", live.min_rtt())];
        let times = times.into_iter().filter_map(|(name, time)| Some((name, time?)));
        more.extend(times.map(|(name, time)| figure(name, time, Unit::Seconds, (Place::Socket, Since::Now))));
        more.push(text("socket", live.line(), (Place::Socket, Since::Now)));
    }
    let (who, action) =
        if may_end { (Who::Host, HostAction::ProbesOff) } else { (Who::Network, HostAction::MoveProxy) };
    let command = may_end.then(|| snapshot.command("sysctl -w net.ipv4.tcp_early_retrans=0"));
    let names = ("TcpExt.TCPLossProbes", "Tcp.OutSegs");
    let confidence = if proxy.is_some() { 0.9 } else { 0.7 };
    let mut found = by_counter(snapshot, HostCause::NeedlessTailProbes, confidence, statement, (names, probes));
    found.evidence.extend(more);
    vec![Finding {
        remedies: vec![fix(who, action, command)],
        verify: Some(HostCheck::Counters { names: &["TcpExtTCPLossProbes", "TcpExtTCPDSACKRecv"], slowly: false }),
        ..found
    }]
}
