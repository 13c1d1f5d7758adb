//! The receiver's window was full: it allows fewer bytes in flight than the path needs.
//!
//! ## What it is
//! A receiver says with every ACK how many bytes more it will take. A sender that has that many on the way must stop and
//! wait for an ACK, so the rate cannot exceed window / round trip, however fast the path is.
//!
//! ## How it is recognised
//! Bytes in flight reach the right edge (ACK + window), and it is an ACK or a window update that starts the sender again.
//! The rate that follows, window / RTT, agrees with the measured one.
//!
//! ## What it is confused with
//! - `no-window-scaling`: the window is at most 65,535 bytes because the option was missing from a SYN.
//! - `zero-window`: the window closes because the application reads too slowly; here it stays about the same.
//! - `sender-cap`: flights stop growing below the window.
//! - autotuning: a window that grows each round and is full each time is the receiver's own slow start.
//!
//! ## The fix
//! On the receiver, let the buffer grow to 2–8 times the bandwidth-delay product: `sysctl -w net.ipv4.tcp_rmem="4096 131072
//! BYTES"`, and remove any SO_RCVBUF from the program (setting it turns autotuning off). The window is about 0.6 of
//! tcp_rmem's largest value on Linux. nginx: `listen … rcvbuf=`; HAProxy: `tune.rcvbuf.client`; Envoy:
//! `per_connection_buffer_limit_bytes`.
//!
//! ## References
//! RFC 9293 section 3.8.6, RFC 7323; Linux tcp(7).

use super::say::{evidence, finding, fix, rate, thousands, time, window_rate};
use super::{Check, Rule, TransferCase};
use crate::analysis::{Actor, Finding, Limit};
use crate::units::Nanos;

pub(super) const RULE: Rule =
    Rule { slug: "receive-window", source: include_str!("receive_window.rs"), check: Check::Transfer(check) };

/// The full window's size during the rounds that it held: the median.
pub(super) fn full_window(case: &TransferCase<'_>) -> Option<u64> {
    let held = case.transfer.rounds.iter().zip(&case.partition.rounds);
    let mut windows: Vec<u64> =
        held.filter(|(_, limit)| **limit == Limit::ReceiveWindow).filter_map(|(round, _)| round.window).collect();
    windows.sort_unstable();
    windows.get(windows.len() / 2).copied()
}

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let lost = case.time(Limit::ReceiveWindow);
    if !case.matters(lost, 0.2) || super::no_window_scaling::applies(case) {
        return None;
    }
    let window = full_window(case)?;
    let rtt = case.rtt()?;
    let predicted = window_rate(window, rtt);
    let closure = case.rate() / predicted;
    let share = case.share(lost);
    let confidence = match closure {
        closure if (0.8..=1.25).contains(&closure) && share >= 0.5 => 0.95,
        _ if share >= 0.5 => 0.8,
        _ => 0.6,
    };
    let summary = format!(
        "the receiver's window of {} B was full for {} of {}: {} B / {} = {}",
        thousands(window),
        time(lost),
        time(case.duration()),
        thousands(window),
        time(rtt),
        rate(predicted),
    );
    let mut found = finding("receive-window", lost, case.trust(confidence), summary);
    let frames = frames_of(case, Limit::ReceiveWindow);
    found.evidence.push(evidence("receive window", window as f64, "B", &frames));
    found.evidence.push(evidence("round trip", rtt.as_millis_f64(), "ms", &[]));
    found.evidence.push(evidence("window / round trip", predicted, "bit/s", &[]));
    found.evidence.push(evidence("measured rate", case.rate(), "bit/s", &[]));
    let buffer = buffer_for(rtt);
    found.fix = fix(
        Actor::Receiver,
        format!(
            "give the receiver a larger buffer: 100 Mbit/s at this round trip needs a buffer of {} B (2 × bandwidth × RTT, as Linux offers about 0.6 of it as window); remove SO_RCVBUF from the program if it sets one",
            thousands(buffer)
        ),
        Some(format!("sysctl -w net.ipv4.tcp_rmem=\"4096 131072 {buffer}\"")),
    );
    Some(found)
}

/// Twice the bandwidth-delay product of 100 Mbit/s, over the 0.6 of a buffer that Linux offers as window.
fn buffer_for(rtt: Nanos) -> u64 {
    let bytes = 2.0 * 100e6 / 8.0 * rtt.as_secs_f64() / 0.6;
    (bytes as u64).div_ceil(65_536).max(1) * 65_536
}

/// First and last frame of the rounds under a limit.
pub(super) fn frames_of(case: &TransferCase<'_>, limit: Limit) -> Vec<crate::analysis::Frame> {
    let mut held = case.transfer.rounds.iter().zip(&case.partition.rounds).filter(|(_, l)| **l == limit);
    match held.next() {
        None => Vec::new(),
        Some((first, _)) => vec![first.first_frame, held.next_back().map_or(first, |(last, _)| last).last_frame],
    }
}
