//! The sender never had more than a certain amount on its way, though the receiver allowed more.
//!
//! ## What it is
//! A sending program hands data to a socket whose buffer (SO_SNDBUF, tcp_wmem) holds what is on the
//! way until it is acknowledged. A full buffer stops the sender like a full window does, and the
//! rate cannot exceed buffer / round trip. A proxy's own buffer, or a clamped congestion window,
//! does the same.
//!
//! ## How it is recognised
//! Four rounds or more whose flights are within 3 segments of each other and do not rise, no loss,
//! room left in the receiver's window, and ACKs that start the sender again. The rate that follows,
//! cap / RTT, agrees with the measured one.
//!
//! ## What it is confused with
//! - messages: flights of less than 4,096 B are no buffer's.
//! - `protocol-window` (SSH, HTTP/2, SFTP): a small message of the other side starts it again, not
//!   an ACK. With such messages encrypted inside large ones the two look the same.
//! - `receive-window`: the flights reach the right edge.
//! - `receive-window` again, where the handshake was not captured: that a window of an unknown unit
//!   is full cannot be told. The finding is a possible one then.
//! - a congestion window: behind a loss it stays where the loss left it for a while, below flights
//!   that were larger before.
//! - congestion avoidance: flights rise by a segment every one or two rounds.
//!
//! ## The fix
//! On the sender, let the buffer grow: remove SO_SNDBUF from the program (no sysctl reaches one
//! that sets it), raise the third figure of `net.ipv4.tcp_wmem` (about 0.94 of it can be in flight
//! on Linux). For proxies: nginx `sndbuf=` of `listen` and `proxy_buffers`; HAProxy
//! `tune.sndbuf.client`, `tune.bufsize`; Envoy `per_connection_buffer_limit_bytes`.
//!
//! ## To see that it worked
//! While the transfer runs, `ss -tin` on the sender shows little or no `sndbuf_limited`.
//!
//! ## References
//! Linux tcp(7), socket(7); Rüth et al. 2017 and Araujo et al. 2016 on transfers limited by their
//! hosts.

use super::case::TransferCase;
use super::command;
use super::rule::{Check, Rule};
use super::say::{count, evidence, finding, fix, rate, thousands, time, window_rate};
use crate::analysis::{Actor, Evidence, Finding, Limit};
use crate::cause::Cause;
use crate::limit::Plateau;
use crate::tcp::facts::Release;
use crate::types::ModelChange;
use crate::units::Nanos;

// Between a policer's losses a window may stand still at the policed rate.
pub(super) const RULE: Rule = Rule::new(Cause::SenderCap, Check::Transfer(check))
    .excluded_by(&[Cause::Policer])
    .remedied_by(&[ModelChange::NoSenderCap, ModelChange::GrowingReceiveWindow])
    .inferred();

/// One in so many pauses may end with payload of the receiver by chance.
const MESSAGES: u64 = 5;

/// One byte in so many that had to be retransmitted is a loss that matters, as for `loss`.
const LOSSY: u64 = 100;

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let lost = case.time(Limit::SenderCap);
    // Between losses CUBIC's window is flat by itself (RFC 9438 section 4.1), at whatever the last
    // one left.
    let is_lossy = case.transfer.retransmitted_bytes * LOSSY >= case.transfer.bytes();
    if !case.matters(lost, 0.2) || is_lossy {
        return None;
    }
    let plateau = case.plateau()?;
    let rtt = case.rtt()?;
    // What leaves in a cycle of a large and a small flight is the buffer's size; else the flight
    // itself.
    let (cap, time_of_it) = plateau.cycle.unwrap_or((plateau.bytes, rtt));
    let predicted = window_rate(cap, time_of_it);
    let share = case.share(lost);
    let closes = (0.8..=1.25).contains(&(case.rate() / predicted));
    let pauses = case.transfer.gaps.iter().filter(|gap| matches!(gap.release, Release::Ack | Release::Peer));
    let (all, with_message) = pauses.fold((0, 0), |(all, n), gap| (all + 1, n + u64::from(gap.with_peer_payload)));
    let confidence: f64 = match (closes, share >= 0.5) {
        (true, true) => 0.9,
        (false, true) => 0.75,
        _ => 0.6,
    };
    let flight = match plateau.cycle {
        None => format!("had more than {} B in flight", thousands(cap)),
        Some(_) => format!("sent more than {} B in two round trips (a large flight and a small one)", thousands(cap)),
    };
    let allowed = match plateau.window {
        Some(window) => format!("though the receiver allowed {} B", thousands(window)),
        None => "and whether the receiver allowed more is not in the capture".into(),
    };
    let summary = format!(
        "the sender never {flight}, {allowed}: {} B / {} = {}",
        thousands(cap),
        time(time_of_it),
        rate(predicted),
    );
    // Credit of a program's own window would come as payload: without any, that is no such window.
    let confidence = if with_message * MESSAGES > all { confidence.min(0.7) } else { confidence };
    // A full window of the receiver looks the same where the windows are unknown.
    let confidence = if plateau.window.is_some() { confidence } else { 0.4 };
    let mut found = finding(Cause::SenderCap, lost, case.trust(confidence), summary);
    found.evidence = plateau_evidence(case, &plateau, rtt);
    found.evidence.push(evidence("cap / round trip", predicted, "bit/s", &[]));
    found.evidence.push(evidence("measured rate", case.rate(), "bit/s", &[]));
    let (buffer, whence) = command::buffer_for(case)?;
    found.fix = fix(
        Actor::Sender,
        format!(
            "{}: where the program or proxy sets its own buffer (SO_SNDBUF: nginx `sndbuf=`) take that out, for no sysctl reaches it; and let the kernel's grow: {whence}",
            candidates(cap, case.context.mss),
        ),
        Some(command::send_buffer(buffer)),
    );
    let alike = if plateau.window.is_some() { "" } else { "a full window of the receiver, " };
    found.settle = Some(format!(
        "{alike}a full send buffer, a proxy's buffer and a window of the application's protocol look alike after {}: look at `ss -tmi` on the sender while it runs",
        count((plateau.after - plateau.first) as u64, "round")
    ));
    Some(found)
}

fn plateau_evidence(case: &TransferCase<'_>, plateau: &Plateau, rtt: Nanos) -> Vec<Evidence> {
    let rounds = plateau.after - plateau.first;
    let frames = case.frames_of(Limit::SenderCap);
    let mut shown = Vec::new();
    if let Some((bytes, cycle)) = plateau.cycle {
        shown.push(evidence("bytes in two rounds", bytes as f64, "B", &frames));
        shown.push(evidence("time of two rounds", cycle.as_millis_f64(), "ms", &[]));
    }
    shown.push(evidence("most in flight", plateau.bytes as f64, "B", &frames));
    shown.push(evidence("rounds with that flight", rounds as f64, "rounds", &frames));
    if let Some(window) = plateau.window {
        shown.push(evidence("least window of the receiver meanwhile", window as f64, "B", &[]));
    }
    shown.push(evidence("round trip", rtt.as_millis_f64(), "ms", &[]));
    shown
}

/// Who commonly stops at this value.
fn candidates(bytes: u64, mss: u64) -> String {
    let near = |value: u64| bytes.abs_diff(value) <= mss.min(value / 20 + 1);
    let known: Option<(u64, &str)> = [
        (16_384, "16 KiB: a default SO_SNDBUF or a TLS record at a time"),
        (32_768, "32 KiB: a proxy's or balancer's send buffer"),
        (65_535, "64 KiB − 1: a middlebox or stack that ignores window scaling"),
        (65_536, "64 KiB: a socket or copy buffer"),
        (131_072, "128 KiB: a socket or copy buffer"),
        (262_144, "256 KiB: a socket or copy buffer"),
        (524_288, "512 KiB: a socket or copy buffer"),
        (1_048_576, "1 MiB: a socket or copy buffer"),
        (2_097_152, "2 MiB: an SSH or HTTP/2 window"),
        (4_194_304, "4 MiB: Linux' default tcp_wmem limit"),
    ]
    .into_iter()
    .find(|&(value, _)| near(value));
    match known {
        Some((_, who)) => format!("find what stops the sender at {} B ({who})", thousands(bytes)),
        None => format!(
            "find what stops the sender at {} B (SO_SNDBUF or tcp_wmem, a proxy's buffer, a clamped congestion window)",
            thousands(bytes)
        ),
    }
}
