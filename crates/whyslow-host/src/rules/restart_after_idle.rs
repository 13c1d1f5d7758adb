//! Connections that were idle start over with a small window, though they had opened it.
//!
//! ## What it is
//! Linux halves the congestion window for each retransmission timeout that a connection was idle,
//! down to the initial window (`net.ipv4.tcp_slow_start_after_idle=1`). A kept-open connection then
//! sends its next answer as slowly as a new one.
//!
//! ## How it is recognised
//! Thresholds that `ip tcp_metrics` or a route remembers prove nothing, and BBR keeps its window.
//! Any of three, if the round trips that it costs add up to 50 ms:
//! - an earlier look (`--for`, `--watch`) saw the connection idle with an open window, and now,
//!   after it has sent again and lost nothing, the window is half of that or less;
//! - a connection that lost nothing and whose window stands below a threshold: without a loss the
//!   kernel sets a threshold at three quarters of the window when it takes the window back;
//! - a connection that is idle for longer than its retransmission timeout still shows the window
//!   that it had: the kernel takes it back when the connection sends again. It counts if the
//!   connection was asked at least twice, and if an answer of its average size takes more round
//!   trips from the initial window than from the open one.
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

use crate::finding::{
    Evidence, Extent, Field, Finding, HostAction, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Peer, Snapshot};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;
use whyslow_live::tcp_info::TcpInfo;

/// RFC 6928.
const INITIAL_WINDOW: f64 = 10.0;
/// Minimum cost of a restart, seconds.
const WORTH_S: f64 = 0.05;
/// Maximum share of its earlier window that a connection has after a restart.
const LEFT: f64 = 0.5;
/// Segments with data that came from a peer that asked more than once.
const ASKED: u32 = 2;
/// More doublings than any window has.
const MOST_ROUNDS: u32 = 32;

/// How a restart is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    /// The connection is idle, and starts over when it sends again.
    Expected,
    /// Recognised by its threshold.
    Threshold,
    /// Between two looks.
    Seen,
}

/// A connection that starts over.
#[derive(Clone, Copy, Debug)]
struct Restart<'a> {
    live: Live<'a>,
    known: Known,
    /// The window that it had, segments.
    had: f64,
    /// The window that it has after idle time, segments.
    initial: f64,
    /// Cost of a restart, seconds.
    cost: f64,
}

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    if snapshot.setting("net.ipv4.tcp_slow_start_after_idle") != Some(1) {
        return Vec::new();
    }
    let restarts: Vec<Restart<'_>> = snapshot
        .live()
        .filter(|live| live.socket.congestion_control.as_deref().is_some_and(|name| !name.starts_with("bbr")))
        .filter_map(|live| {
            let initial = window_after_idle(snapshot, &live);
            restarted_since_earlier_look(&live, initial)
                .or_else(|| by_threshold(snapshot, &live, initial))
                .or_else(|| expected(&live, initial))
        })
        .filter(|restart| restart.cost >= WORTH_S)
        .collect();
    report(snapshot, &restarts).into_iter().collect()
}

/// Whether nothing is in flight or waits, for longer than the retransmission timeout.
fn is_idle(info: &TcpInfo) -> bool {
    let (Some(sent), Some(rto)) = (info.last_data_sent, info.rto) else { return false };
    info.unacked == Some(0) && info.notsent_bytes == Some(0) && u64::from(sent) * 1_000 > u64::from(rto)
}

/// An earlier look had the window open, and it was taken back since.
fn restarted_since_earlier_look<'a>(live: &Live<'a>, initial: f64) -> Option<Restart<'a>> {
    let (before, now) = (live.before?, live.info);
    let has_sent = now.data_segs_out? > before.data_segs_out?;
    let is_unhurt = now.total_retrans? == before.total_retrans? && now.delivered_ce == before.delivered_ce;
    let (had, has) = (f64::from(before.snd_cwnd?), f64::from(now.snd_cwnd?));
    let is_back = is_idle(before) && has_sent && is_unhurt && has <= LEFT * had;
    is_back.then_some(Restart {
        live: *live,
        known: Known::Seen,
        had,
        initial,
        cost: doublings(had / initial) * round_trip(live)?,
    })
}

/// The window is below a threshold that no loss has set.
fn by_threshold<'a>(snapshot: Snapshot<'_>, live: &Live<'a>, initial: f64) -> Option<Restart<'a>> {
    let info = live.info;
    let (ssthresh, cwnd) = (info.snd_ssthresh?, info.snd_cwnd?);
    let is_remembered = snapshot.namespace.metrics.iter().any(|entry| {
        entry.address.to_canonical() == live.peer() && entry.ssthresh.is_some_and(|remembered| remembered > 0)
    });
    let of_route = live.socket.route.and_then(|route| snapshot.namespace.routes.get(route));
    let is_of_route = of_route.is_some_and(|route| route.text.split_whitespace().any(|word| word == "ssthresh"));
    let is_restart = info.total_retrans == Some(0) && cwnd < ssthresh && !is_remembered && !is_of_route;
    // The threshold is three quarters of the window.
    let had = f64::from(ssthresh) / 0.75;
    is_restart.then_some(Restart {
        live: *live,
        known: Known::Threshold,
        had,
        initial,
        cost: doublings(had / initial) * round_trip(live)?,
    })
}

/// An idle connection, by what its answers were so far.
fn expected<'a>(live: &Live<'a>, initial: f64) -> Option<Restart<'a>> {
    let info = live.info;
    let (asked, mss) = (info.data_segs_in.filter(|&asked| asked >= ASKED)?, info.snd_mss.filter(|&mss| mss > 0)?);
    if !is_idle(info) {
        return None;
    }
    let average = info.bytes_acked? as f64 / f64::from(asked) / f64::from(mss);
    let had = f64::from(info.snd_cwnd?);
    let more = rounds(average, initial).saturating_sub(rounds(average, had.max(initial)));
    Some(Restart { live: *live, known: Known::Expected, had, initial, cost: f64::from(more) * round_trip(live)? })
}

fn round_trip(live: &Live<'_>) -> Option<f64> {
    live.min_rtt().or(live.rtt())
}

/// The window that a connection has after idle time, segments: the initial one of its route.
fn window_after_idle(snapshot: Snapshot<'_>, live: &Live<'_>) -> f64 {
    let route = live.socket.route.and_then(|route| snapshot.namespace.routes.get(route));
    route.and_then(|route| route.initcwnd).filter(|&segments| segments > 0).map_or(INITIAL_WINDOW, f64::from)
}

/// Round trips until a window is `times` as large.
fn doublings(times: f64) -> f64 {
    times.log2().ceil().max(0.0)
}

/// Round trips for this many segments with a window that doubles in each.
fn rounds(segments: f64, window: f64) -> u32 {
    (1..=MOST_ROUNDS).find(|rounds| window * (2_f64.powi(*rounds as i32) - 1.0) >= segments).unwrap_or(MOST_ROUNDS)
}

fn report(snapshot: Snapshot<'_>, restarts: &[Restart<'_>]) -> Option<Finding> {
    let worst = restarts.iter().max_by(|a, b| a.known.cmp(&b.known).then(a.cost.total_cmp(&b.cost)))?;
    let info = worst.live.info;
    let (cwnd, known) = (info.snd_cwnd?, worst.known);
    let peers = Peer::all(restarts.iter().map(|restart| restart.live)).len() as u64;
    let (connections, had) = (restarts.len() as u64, worst.had as u64);
    let statement = match known {
        Known::Seen | Known::Threshold => HostStatement::Restarted { connections, peers, had, has: cwnd.into() },
        Known::Expected => HostStatement::WillRestart { connections, peers, had, initial: worst.initial as u64 },
    };
    let confidence = match known {
        Known::Seen => 0.9,
        Known::Threshold => 0.75,
        Known::Expected => 0.65,
    };
    let command = snapshot.command("sysctl -w net.ipv4.tcp_slow_start_after_idle=0");
    Some(Finding {
        namespace: snapshot.foreign_name(),
        cost_s: Some(worst.cost),
        extent: Some(Extent::AfterEachPause { seconds: worst.cost }),
        evidence: evidence(worst),
        remedies: vec![fix(Who::Host, HostAction::KeepWindows, Some(command))],
        verify: Some(HostCheck::Socket { peer: None, shows: Field::CwndAfterIdle }),
        ..Finding::new(Cause::RestartAfterIdle, confidence, statement)
    })
}

fn evidence(worst: &Restart<'_>) -> Vec<Evidence> {
    let (info, now) = (worst.live.info, (Place::Socket, Since::Now));
    let mut evidence = Vec::new();
    evidence.extend(info.snd_cwnd.map(|cwnd| figure("cwnd", cwnd.into(), Unit::Segments, now)));
    match worst.known {
        Known::Seen => evidence.push(figure("cwnd before", worst.had, Unit::Segments, now)),
        Known::Threshold => {
            let ssthresh = info.snd_ssthresh.map(f64::from);
            evidence.extend(ssthresh.map(|value| figure("ssthresh", value, Unit::Segments, now)));
        }
        Known::Expected => {
            let average = info.bytes_acked.zip(info.data_segs_in).map(|(bytes, asked)| bytes as f64 / f64::from(asked));
            let since = (Place::Socket, Since::Connection);
            evidence.extend(average.map(|bytes| figure("bytes_acked / data_segs_in", bytes, Unit::Bytes, since)));
        }
    }
    evidence.extend(info.last_data_sent.map(|ms| figure("last_data_sent", f64::from(ms) / 1e3, Unit::Seconds, now)));
    evidence.push(figure("net.ipv4.tcp_slow_start_after_idle", 1.0, Unit::One, (Place::Setting, Since::Now)));
    evidence.push(text("socket", worst.live.line(), now));
    evidence
}
