//! Connections that were idle start over with a small window, though they had opened it.
//!
//! ## What it is
//! Linux halves the congestion window for each retransmission timeout that a connection was idle,
//! down to the initial window (`net.ipv4.tcp_slow_start_after_idle=1`). A kept-open connection then
//! sends its next answer as slowly as a new one.
//!
//! ## How it is recognised
//! By a connection that lost nothing, sends more than a few bytes, and whose window stands below a
//! threshold: without a loss the kernel sets a threshold at three quarters of the window when it
//! takes the window back after idle time. What it costs is the doublings from the window's
//! beginning to that size, a round trip each; told from 50 ms on. Thresholds that `ip tcp_metrics`
//! or a route remembers say nothing, and BBR keeps its window.
//!
//! ## What it is confused with
//! - HyStart: it ends slow start without a loss, too, but leaves the window at the threshold.
//!
//! ## The fix
//! `net.ipv4.tcp_slow_start_after_idle=0` keeps the window over idle times. It suits servers whose
//! paths do not change while a connection is idle.
//!
//! ## To see that it worked
//! `ss -tin` shows `cwnd` at or above `ssthresh` after idle times.
//!
//! ## References
//! RFC 2861, RFC 7661, RFC 9293; Linux tcp_cwnd_restart, ip-sysctl.

use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Since, Source, Who, figure, text};
use crate::host::look::{Live, Look, Peer};
use whyslow_report::text::units;

/// RFC 6928.
const INITIAL_WINDOW: f64 = 10.0;
/// What a restart must cost, seconds.
const WORTH_S: f64 = 0.05;

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    if look.setting("net.ipv4.tcp_slow_start_after_idle") != Some(1) {
        return Vec::new();
    }
    let restarted =
        look.live().filter(|live| has_restarted(look, live) && cost(live).is_some_and(|cost| cost >= WORTH_S));
    let lives: Vec<Live<'_>> = restarted.collect();
    report(look, &lives).into_iter().collect()
}

fn has_restarted(look: Look<'_>, live: &Live<'_>) -> bool {
    let info = live.info;
    let (Some(ssthresh), Some(cwnd)) = (info.snd_ssthresh, info.snd_cwnd) else { return false };
    let is_remembered = look.namespace.metrics.iter().any(|entry| {
        entry.address.to_canonical() == live.peer() && entry.ssthresh.is_some_and(|remembered| remembered > 0)
    });
    let of_route = live.socket.route.and_then(|route| look.namespace.routes.get(route));
    let is_of_route = of_route.is_some_and(|route| route.text.split_whitespace().any(|word| word == "ssthresh"));
    let is_bbr = live.socket.congestion_control.as_deref().is_none_or(|name| name.starts_with("bbr"));
    info.total_retrans == Some(0) && cwnd < ssthresh && !is_remembered && !is_of_route && !is_bbr
}

/// The doublings from the initial window to what the connection had, seconds.
fn cost(live: &Live<'_>) -> Option<f64> {
    // The threshold is three quarters of that window.
    let window = f64::from(live.info.snd_ssthresh?) / 0.75;
    let rtt = live.min_rtt().or(live.rtt())?;
    Some((window / INITIAL_WINDOW).log2().ceil().max(0.0) * rtt)
}

fn report(look: Look<'_>, lives: &[Live<'_>]) -> Option<Finding> {
    let worst = lives.iter().max_by(|a, b| cost(a).unwrap_or(0.0).total_cmp(&cost(b).unwrap_or(0.0)))?;
    let (seconds, ssthresh, cwnd) = (cost(worst)?, worst.info.snd_ssthresh?, worst.info.snd_cwnd?);
    let peers = Peer::all(lives.iter().copied()).len() as u64;
    let had = units::count((f64::from(ssthresh) / 0.75) as u64, "segment");
    let now = (Source::Socket, Since::Now);
    let mut evidence = vec![
        figure("worst: cwnd", cwnd.into(), "segments", now),
        figure("worst: ssthresh, without a loss", ssthresh.into(), "segments", now),
    ];
    evidence.extend(worst.info.last_data_sent.map(|ms| figure("worst: last sent", f64::from(ms) / 1e3, "s", now)));
    evidence.push(figure("net.ipv4.tcp_slow_start_after_idle", 1.0, "", (Source::Setting, Since::Now)));
    evidence.push(text("the worst", worst.line(), now));
    Some(Finding {
        cause: HostCause::RestartAfterIdle,
        namespace: look.foreign_name(),
        peer: None,
        seconds: Some(seconds),
        cost: format!("{} after each pause", units::figure(seconds, "s")),
        confidence: 0.75,
        summary: format!(
            "{} with {} started over after idle time: one had opened its window to {had} and then had {cwnd}",
            units::count(lives.len() as u64, "connection"),
            units::count(peers, "peer"),
        ),
        evidence,
        fix: Fix {
            who: Who::Host,
            what: "keep windows over idle times".to_owned(),
            command: Some(look.command("sysctl -w net.ipv4.tcp_slow_start_after_idle=0")),
            verify: "`ss -tin` shows cwnd at or above ssthresh after idle times".to_owned(),
        },
    })
}
