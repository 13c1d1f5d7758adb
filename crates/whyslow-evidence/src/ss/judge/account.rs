//! A socket as an [`Account`].

use super::snapshot::same;
use crate::report::{Account, Place};
use crate::ss::parse::Socket;

/// The account of a socket with all looks at it. Returns `None` without both addresses, or without
/// the kernel's figures.
pub(super) fn of(now: &Socket, looks: &[&Socket]) -> Option<Account> {
    let (local, remote) = (Place::read(&now.local)?, Place::read(&now.remote)?);
    if !now.has_info() {
        return None;
    }
    // An address that is used again is another connection.
    let looks: Vec<&&Socket> = looks.iter().filter(|look| same(look, now)).collect();
    let busy: Vec<&&&Socket> =
        looks.iter().filter(|look| look.get("unacked").is_some_and(|count| count > 0.0)).collect();
    let milliseconds = |key: &str| now.get(key).map(|ms| ms / 1e3).filter(|seconds| *seconds > 0.0);
    let mut trips: Vec<f64> = busy.iter().filter_map(|look| look.get("rtt")).map(|ms| ms / 1e3).collect();
    trips.sort_by(f64::total_cmp);
    Some(Account {
        local,
        remote,
        busy_s: now.seconds("busy"),
        rwnd_limited_s: now.seconds("rwnd_limited").unwrap_or(0.0),
        sndbuf_limited_s: now.seconds("sndbuf_limited").unwrap_or(0.0),
        looks: busy.len(),
        app_limited_looks: busy.iter().filter(|look| look.flag("app_limited")).count(),
        acked: now.get("bytes_acked").or_else(|| now.get("bytes_sent")),
        received: now.get("bytes_received"),
        unread: looks.iter().filter_map(|look| look.recv_q).max_by(f64::total_cmp),
        retransmitted: now.second("retrans").unwrap_or(0.0),
        backoff: now.get("backoff").unwrap_or(0.0),
        rtt_s: trips.get(trips.len() / 2).copied().or_else(|| milliseconds("rtt")),
        least_rtt_s: milliseconds("minrtt"),
        cwnd: now.get("cwnd"),
        ssthresh: now.get("ssthresh"),
        peer_window: now.get("snd_wnd"),
        delivery_bps: busy.last().copied().map_or(now, |look| look).rate("delivery_rate"),
        pacing_limit_bps: now.second_rate("pacing_rate").or_else(|| now.rate("max_pacing_rate")),
    })
}
