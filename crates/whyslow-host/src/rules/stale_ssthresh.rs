//! The kernel remembers a small slow-start threshold for a peer, and new connections to it stop
//! speeding up there.
//!
//! ## What it is
//! When a connection ends, Linux may keep its slow-start threshold with the peer's address (`ip
//! tcp_metrics`), and the next connection starts with it. After one bad moment all later ones leave
//! slow start at a few segments, and then grow by a segment a round trip.
//!
//! ## How it is recognised
//! By an entry that is in effect, and by its cost: the model of `whyslow predict` runs 1 MB and 10
//! MB with the entry's own round trip, with the threshold and without it. An entry is reported when
//! 10 MB take a fifth longer, and 100 ms or more: 361 segments at 40 µs cost nothing. It is in
//! effect where
//! - the kernel uses thresholds: it does before Linux 5.6, and later with
//!   `net.ipv4.tcp_no_ssthresh_metrics_save=0`; its default, 1, neither saves nor uses them;
//! - and it was written within the last hour: an older one is reset when it is next used
//!   (TCP_METRICS_TIMEOUT);
//! - or a live connection to that peer has the entry's threshold and has lost nothing: then it has
//!   acted, whatever else is known.
//!
//! ## What it is confused with
//! - HyStart, which finds a new threshold for each connection.
//! - a threshold that `ip route` sets: the finding mentions it, because deleting the entry does not
//!   remove it.
//!
//! ## The fix
//! Have the kernel save none, and delete the entry: `tcp_no_ssthresh_metrics_save=1`, and before
//! Linux 5.6 `tcp_no_metrics_save=1` (that ends the saving, not the use).
//!
//! ## To see that it worked
//! `ip tcp_metrics show PEER` names no ssthresh, and `ss -tin` none for a new connection.
//!
//! ## References
//! Linux net/ipv4/tcp_metrics.c (tcpm_check_stamp, tcp_init_metrics), commit 65e6d90168f3
//! (tcp_no_ssthresh_metrics_save); RFC 9040 section 7 (how shared state ages).

use crate::finding::{
    Evidence, Extent, Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Since, Takes, Who, figure, fix,
    text,
};
use crate::snapshot::{Snapshot, live as with_info};
use std::net::IpAddr;
use whyslow_analysis::Unit;
use whyslow_live::host::PeerMetrics;
use whyslow_model::plan::Plan;
use whyslow_units::Nanos;

/// TCP_METRICS_TIMEOUT, milliseconds.
const TIMEOUT_MS: u64 = 3_600_000;
/// Minimum addition of an entry to the time of the larger transfer: a share, and seconds.
const WORTH: (f64, f64) = (0.2, 0.1);
/// The transfers that are played, bytes.
const SIZES: [u64; 2] = [1_000_000, 10_000_000];
/// Entries that are played, those that can cost most first.
const PLAYED: usize = 16;
/// More than this are removed with one command.
const FEW: usize = 3;

/// An entry that acts, and the seconds of both sizes with it and without it.
#[derive(Clone, Debug)]
struct Costly<'a> {
    entry: &'a PeerMetrics,
    ssthresh: u32,
    with: [f64; 2],
    without: [f64; 2],
    is_proven: bool,
}

impl Costly<'_> {
    fn costs(&self) -> f64 {
        self.with[1] - self.without[1]
    }
}

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let mut acting: Vec<(&PeerMetrics, u32, u32, bool)> = snapshot
        .namespace
        .metrics
        .iter()
        .filter_map(|entry| {
            let (ssthresh, rtt) = (entry.ssthresh?, entry.rtt_us?);
            let is_proven = has_acted(snapshot, entry.address, ssthresh);
            (is_proven || acts(snapshot, entry)).then_some((entry, ssthresh, rtt, is_proven))
        })
        .collect();
    // The cost for 10 MB is about a round trip for each segment that the window lacks.
    acting
        .sort_by_key(|(_, ssthresh, rtt, _)| std::cmp::Reverse(u64::from(*rtt) * 1_000_000 / u64::from(*ssthresh + 1)));
    acting.truncate(PLAYED);
    let mut costly: Vec<Costly<'_>> = acting.into_iter().filter_map(play).collect();
    costly.sort_by(|a, b| b.costs().total_cmp(&a.costs()));
    report(snapshot, &costly).into_iter().collect()
}

/// Whether the next connection to the peer starts with the entry's threshold.
fn acts(snapshot: Snapshot<'_>, entry: &PeerMetrics) -> bool {
    let is_used = match (snapshot.kernel_at_least(5, 6), snapshot.setting("net.ipv4.tcp_no_ssthresh_metrics_save")) {
        (_, Some(setting)) => setting == 0,
        (Some(false), None) => true,
        // Unknown, so not reported.
        _ => false,
    };
    is_used && entry.age_ms.is_some_and(|age| age < TIMEOUT_MS)
}

/// Whether a live connection has it, which found no threshold of its own by a loss.
fn has_acted(snapshot: Snapshot<'_>, peer: IpAddr, ssthresh: u32) -> bool {
    let lives =
        snapshot.namespace.sockets.iter().filter_map(with_info).filter(|live| live.peer() == peer.to_canonical());
    let mut same = lives.filter(|live| live.info.snd_ssthresh == Some(ssthresh));
    same.any(|live| live.info.total_retrans == Some(0) && live.info.snd_cwnd.is_some_and(|cwnd| cwnd >= ssthresh))
}

fn play((entry, ssthresh, rtt, is_proven): (&PeerMetrics, u32, u32, bool)) -> Option<Costly<'_>> {
    let time = |bytes: u64, threshold: Option<u64>| {
        let rtt = Nanos(i64::from(rtt) * 1_000);
        let plan = Plan { ssthresh: threshold, ..Plan::new(bytes, rtt) };
        plan.forecast().total.as_secs_f64()
    };
    let with = SIZES.map(|bytes| time(bytes, Some(ssthresh.into())));
    let without = SIZES.map(|bytes| time(bytes, None));
    let costly = Costly { entry, ssthresh, with, without, is_proven };
    let (share, least) = WORTH;
    (costly.costs() >= least && costly.costs() >= share * costly.without[1]).then_some(costly)
}

fn report(snapshot: Snapshot<'_>, costly: &[Costly<'_>]) -> Option<Finding> {
    let worst = costly.first()?;
    let peer = worst.entry.address;
    let others = costly.len() - 1;
    let takes =
        |index: usize| Takes { bytes: SIZES[index], with_s: worst.with[index], without_s: worst.without[index] };
    let statement = HostStatement::Remembered {
        peer,
        segments: worst.ssthresh.into(),
        others: others as u64,
        takes: vec![takes(0), takes(1)],
    };
    let confidence = if worst.is_proven { 0.95 } else { 0.85 };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer),
        cost_s: Some(worst.costs()),
        extent: Some(Extent::OfEach { seconds: worst.costs(), bytes: SIZES[1] }),
        evidence: evidence(snapshot, worst),
        remedies: vec![remedy(snapshot, costly)],
        verify: Some(HostCheck::Metrics),
        ..Finding::new(HostCause::StaleSsthresh, confidence, statement)
    })
}

fn evidence(snapshot: Snapshot<'_>, worst: &Costly<'_>) -> Vec<Evidence> {
    let metrics = (Place::Metrics, Since::Now);
    let seconds = |us: u32| f64::from(us) / 1e6;
    let mut out = vec![figure("ssthresh", worst.ssthresh.into(), Unit::Segments, metrics)];
    out.extend(worst.entry.rtt_us.map(|rtt| figure("rtt", seconds(rtt), Unit::Seconds, metrics)));
    out.extend(worst.entry.age_ms.map(|age| figure("age", age as f64 / 1e3, Unit::Seconds, metrics)));
    let name = "net.ipv4.tcp_no_ssthresh_metrics_save";
    out.push(match snapshot.setting(name) {
        Some(setting) => figure(name, setting as f64, Unit::One, (Place::Setting, Since::Now)),
        None => text("kernel", &snapshot.host.kernel, (Place::Kernel, Since::Now)),
    });
    for (index, name) in ["saved of 1 MB", "saved of 10 MB"].into_iter().enumerate() {
        let saved = (worst.with[index] - worst.without[index]).max(0.0);
        out.push(figure(name, saved, Unit::Seconds, (Place::Model, Since::Now)));
    }
    out
}

fn remedy(snapshot: Snapshot<'_>, costly: &[Costly<'_>]) -> whyslow_evidence::Fix {
    let is_new = snapshot.setting("net.ipv4.tcp_no_ssthresh_metrics_save").is_some();
    let setting = if is_new { "tcp_no_ssthresh_metrics_save" } else { "tcp_no_metrics_save" };
    let delete = if costly.len() > FEW {
        "ip tcp_metrics flush all".to_owned()
    } else {
        let each = costly.iter().map(|costly| format!("ip tcp_metrics delete {}", costly.entry.address));
        each.collect::<Vec<_>>().join("; ")
    };
    let sets = |text: &str| text.split_whitespace().any(|word| word == "ssthresh");
    let route = snapshot.namespace.routes.iter().find(|route| sets(&route.text)).map(|route| route.to.clone());
    let command = snapshot.command(&format!("sysctl -w net.ipv4.{setting}=1; {delete}"));
    fix(Who::Host, HostAction::ForgetThresholds { route }, Some(command))
}
