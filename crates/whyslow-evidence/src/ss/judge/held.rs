//! Windows, buffers and timers that hold a sender.

use super::snapshot::{RECENT_S, SocketSnapshot};
use crate::limits::{HELD_LEAST_US, HELD_SHARE, in_queue};
use crate::report::{Advice, Finding, Limitation, Statement};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Unit};

/// Number of timeouts in a row that is not chance: as for `whyslow host`.
const ROW: f64 = 3.0;
/// A window of less lets no full segment come, bytes: the smallest usual one.
const SEGMENT: f64 = 536.0;
/// Unread bytes that no reader leaves between two reads.
const UNREAD: f64 = 65_536.0;

pub(super) fn timing_out(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let by_timer = snapshot.now.timer().filter(|(kind, _)| *kind == "on").map_or(0.0, |(_, row)| row);
    let row = by_timer.max(snapshot.now.get("backoff").unwrap_or(0.0));
    let is_probe = snapshot.now.timer().is_some_and(|(kind, _)| kind == "persist");
    if row < ROW || is_probe || snapshot.unacked() == 0.0 {
        return None;
    }
    // Each timeout doubles the next: 200 ms, 400 ms, … (RFC 6298), TCP_RTO_MIN of Linux.
    let least = 0.2 * (2.0_f64.powf(row.min(20.0)) - 1.0);
    Some(
        Finding::new(Cause::Timeout, 0.85, Statement::TimingOut { row })
            .costs(least)
            .shown("backoff", row, Unit::Times)
            .advised(Actor::Network, Advice::CheckReach),
    )
}

pub(super) fn is_shut(snapshot: SocketSnapshot<'_>) -> bool {
    let probes = snapshot.now.timer().is_some_and(|(kind, _)| kind == "persist");
    let small = snapshot.now.get("snd_wnd").is_some_and(|window| window < SEGMENT);
    let waiting = snapshot.now.send_q.unwrap_or(0.0).max(snapshot.now.get("notsent").unwrap_or(0.0));
    waiting > 0.0 && (probes || (small && !snapshot.is_recent("lastsnd")))
}

pub(super) fn shut(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let waiting = snapshot.now.send_q.unwrap_or(0.0).max(snapshot.now.get("notsent").unwrap_or(0.0));
    let certain = if snapshot.now.timer().is_some_and(|(kind, _)| kind == "persist") { 0.85 } else { 0.7 };
    is_shut(snapshot).then(|| {
        let finding = Finding::new(Cause::ZeroWindow, certain, Statement::PeerShut { waiting })
            .shown("Send-Q", waiting, Unit::Bytes)
            .advised(Actor::Receiver, Advice::PeerReads);
        match snapshot.seconds("rwnd_limited").filter(|seconds| *seconds > 0.0) {
            Some(seconds) => finding.costs(seconds).shown("rwnd_limited", seconds, Unit::Seconds),
            None => finding,
        }
    })
}

pub(super) fn unread(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let bytes = snapshot.now.recv_q?;
    let fills =
        snapshot.now.memory("rb").zip(snapshot.now.memory("r")).is_some_and(|(rb, r)| rb > 0.0 && r >= rb / 2.0);
    let stays = snapshot.before.and_then(|before| before.recv_q).is_some_and(|before| before >= UNREAD);
    let silent = snapshot.now.seconds("lastrcv").is_some_and(|seconds| seconds >= RECENT_S);
    if !(bytes >= UNREAD || (fills && bytes > 0.0)) {
        return None;
    }
    let confidence = match (fills, stays || silent) {
        (true, true) => 0.8,
        (true, false) | (false, true) => 0.65,
        (false, false) => 0.5,
    };
    Some(
        Finding::new(Cause::ZeroWindow, confidence, Statement::Unread { bytes })
            .shown("Recv-Q", bytes, Unit::Bytes)
            .advised(Actor::Application, Advice::ReadHere),
    )
}

/// A limit's part of the time with data to send, if it is worth a report.
pub(super) fn held(snapshot: SocketSnapshot<'_>, key: &str) -> Option<(f64, f64)> {
    let limited = snapshot.seconds(key)?;
    // Old versions print the share alone behind it.
    let busy = snapshot.seconds("busy").unwrap_or(limited).max(limited);
    (limited * 1e6 >= HELD_LEAST_US as f64 && limited >= HELD_SHARE * busy).then_some((limited, busy))
}

pub(super) fn peer_window(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let (limited_s, busy_s) = held(snapshot, "rwnd_limited")?;
    if is_shut(snapshot) || snapshot.queued() || snapshot.is_local() {
        return None;
    }
    let window = snapshot.now.get("snd_wnd");
    let statement = Statement::PeerWindow { limited_s, busy_s, window };
    let mut finding = Finding::new(Cause::ReceiveWindow, 0.9, statement)
        .costs(limited_s)
        .shown("rwnd_limited", limited_s, Unit::Seconds)
        .shown("busy", busy_s, Unit::Seconds)
        .advised(Actor::Receiver, Advice::EnlargePeerWindow)
        .open(Limitation::WindowOrReader);
    if let Some(window) = window {
        finding = finding.shown("snd_wnd", window, Unit::Bytes);
    }
    Some(finding)
}

pub(super) fn send_buffer(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let (limited_s, busy_s) = held(snapshot, "sndbuf_limited")?;
    if snapshot.queued() || snapshot.is_local() {
        return None;
    }
    Some(
        Finding::new(Cause::SenderCap, 0.85, Statement::SendBuffer { limited_s, busy_s })
            .costs(limited_s)
            .shown("sndbuf_limited", limited_s, Unit::Seconds)
            .shown("busy", busy_s, Unit::Seconds)
            .advised(Actor::Sender, Advice::EnlargeSendBuffer),
    )
}

/// `ss` prints `wscale` where both ends scale; the text before `rto` must be present.
pub(super) fn no_scaling(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let now = snapshot.now;
    let is_whole = (now.flag("ts") || now.flag("sack")) && now.get("rto").is_some();
    let rtt_s = snapshot.least().or(snapshot.rtt())?;
    let flight = snapshot.unacked() * now.get("mss")?;
    let is_full = held(snapshot, "rwnd_limited").is_some() || (50_000.0..=65_535.0).contains(&flight);
    (is_whole && !now.values.contains_key("wscale") && is_full && rtt_s >= 0.01).then(|| {
        Finding::new(Cause::NoWindowScaling, 0.7, Statement::NoScaling { rtt_s })
            .shown("unacked × mss", flight, Unit::Bytes)
            .advised(Actor::Receiver, Advice::WindowScaling)
    })
}

/// As `whyslow host` has it: the receiver's window is equal to the bytes of a round trip.
pub(super) fn own_window(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let now = snapshot.now;
    let (window, space) = (now.get("rcv_wnd").or_else(|| now.get("rcv_ssthresh"))?, now.get("rcv_space")?);
    let rtt = now.get("rcv_rtt")? / 1e3;
    let has_come = now.get("bytes_received").is_some_and(|bytes| bytes >= 10.0 * window);
    let is_read = now.recv_q.unwrap_or(0.0) * 4.0 <= window;
    let has_grown = now.memory("rb").is_none_or(|buffer| window >= 0.45 * buffer);
    let in_queue = snapshot.least().is_some_and(|least| in_queue(rtt, least));
    let is_full = space >= 0.6 * window && has_come && is_read && has_grown && snapshot.is_recent("lastrcv");
    (is_full && rtt >= 0.002 && !in_queue && now.get("rcv_wnd").is_some()).then(|| {
        let rate_bps = window * 8.0 / rtt;
        Finding::new(Cause::ReceiveWindow, 0.6, Statement::OwnWindow { window, rate_bps })
            .shown("rcv_space", space, Unit::Bytes)
            .shown("rcv_rtt", rtt, Unit::Seconds)
            .advised(Actor::Receiver, Advice::EnlargeOwnWindow)
    })
}
