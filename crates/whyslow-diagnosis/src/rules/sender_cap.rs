//! The sender never had more than a certain amount of data in flight, though the receiver allowed
//! more.
//!
//! ## What it is
//! A sending application writes data to a socket whose buffer (SO_SNDBUF, tcp_wmem) holds the bytes
//! in flight until they are acknowledged. A full buffer stops the sender like a full window does,
//! and the rate cannot exceed buffer / round trip. A proxy's own buffer, or a clamped congestion
//! window, has the same effect.
//!
//! ## How it is recognised
//! Four rounds or more whose flights are within 3 segments of each other and do not rise, no loss,
//! room left in the receiver's window, and ACKs that start the sender again. The rate that follows,
//! cap / RTT, agrees with the measured one.
//!
//! ## What it is confused with
//! - messages: flights of less than 4,096 B are smaller than any buffer.
//! - `protocol-window` (SSH, HTTP/2, SFTP): a small message of the other side starts it again, not
//!   an ACK. With such messages encrypted inside large ones the two look the same.
//! - `receive-window`: the flights reach the right edge.
//! - `receive-window` again, if the handshake was not captured: whether a window of an unknown unit
//!   is full is unknown. The finding is then a possible one.
//! - a congestion window: behind a loss it stays where the loss left it for a while, below flights
//!   that were larger before.
//! - BBR's least window of four segments. The finding is then a possible one.
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

use super::command;
use super::parts::{confirm, evidence, finding, remedy, window_rate};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use crate::limit::Plateau;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, LimitingFactor, Measure, Measurement, SendingAction, SendingQuestion, SendingStatement, Unit,
    UsualCap,
};
use whyslow_core::tcp::facts::Release;
use whyslow_units::Nanos;

// Between a policer's losses a window may stay the same at the policed rate.
pub(super) const RULE: Rule = Rule::new(Cause::SenderCap, Check::Transfer(check)).proof(Proof::Model);

/// One in this number of pauses may end with payload of the receiver by chance. Half and twice
/// change none of 2,061 captures.
const MESSAGES: u64 = 5;

/// One retransmitted byte in this number is a loss that matters. Follows from 1 / √p (Mathis et al.
/// 1997): at 1 % the window has about 12 segments. Half and twice change none of 2,061 captures.
const LOSSY: u64 = 100;

/// BBR sends as many segments a round trip when it has found the path to be slow or lossy.
/// Source: BBRMinPipeCwnd, draft-ietf-ccwg-bbr section 2.8.
const BBR_LEAST_WINDOW: u64 = 4;

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let lost = view.time(LimitingFactor::SenderCap);
    // Between losses CUBIC's window is flat by itself (RFC 9438 section 4.1), at whatever the last
    // one left.
    let is_lossy = view.transfer.retransmitted_bytes * LOSSY >= view.transfer.bytes();
    if !view.matters(lost, 0.2) || is_lossy {
        return None;
    }
    let plateau = view.plateau()?;
    let rtt = view.rtt()?;
    // The data of a cycle of a large and a small flight is the buffer's size; else the flight
    // itself.
    let (cap, time_of_it) = plateau.cycle.unwrap_or((plateau.bytes, rtt));
    let predicted = window_rate(cap, time_of_it);
    let share = view.share(lost);
    let closes = (0.8..=1.25).contains(&(view.rate() / predicted));
    let pauses = view.transfer.pauses.iter().filter(|gap| matches!(gap.release, Release::Ack | Release::Peer));
    let (all, with_message) = pauses.fold((0, 0), |(all, n), gap| (all + 1, n + u64::from(gap.with_peer_payload)));
    let confidence: f64 = match (closes, share >= 0.5) {
        (true, true) => 0.9,
        (false, true) => 0.75,
        _ => 0.6,
    };
    // A congestion window that is at its least looks the same as a buffer of that size.
    let is_least = cap <= BBR_LEAST_WINDOW * view.context.mss;
    let confidence = if is_least { confidence.min(0.5) } else { confidence };
    let statement = SendingStatement::SenderCap {
        bytes: cap,
        alternating: plateau.cycle.is_some(),
        window: plateau.window,
        time_s: time_of_it,
    };
    // Credit of a program's own window would come as payload: without any, that is no such window.
    let confidence = if with_message * MESSAGES > all { confidence.min(0.7) } else { confidence };
    // A full window of the receiver looks the same where the windows are unknown.
    let confidence = if plateau.window.is_some() { confidence } else { 0.4 };
    let mut found = finding(Cause::SenderCap, lost, view.trust(confidence), statement);
    found.evidence = plateau_evidence(view, &plateau, rtt);
    found.evidence.push(evidence(Measure::CapRate, predicted, Unit::BitsPerSecond, &[]));
    found.evidence.push(evidence(Measure::MeasuredRate, view.rate(), Unit::BitsPerSecond, &[]));
    let need = command::buffer_for(view)?;
    let usual = usual_cap(cap, view.context.mss);
    found.remedies = remedy(Actor::Sender, SendingAction::RaiseSendBuffer { bytes: cap, usual, need });
    found.to_confirm = confirm(SendingQuestion::WhichCap {
        rounds: (plateau.after - plateau.first) as u64,
        window_known: plateau.window.is_some(),
    });
    Some(found)
}

fn plateau_evidence(view: &TransferView<'_>, plateau: &Plateau, rtt: Nanos) -> Vec<Measurement> {
    let rounds = plateau.after - plateau.first;
    let frames = view.frames_of(LimitingFactor::SenderCap);
    let mut shown = Vec::new();
    if let Some((bytes, cycle)) = plateau.cycle {
        shown.push(evidence(Measure::BytesInTwoRounds, bytes as f64, Unit::Bytes, &frames));
        shown.push(evidence(Measure::TimeOfTwoRounds, cycle.as_millis_f64(), Unit::Milliseconds, &[]));
    }
    shown.push(evidence(Measure::MostInFlight, plateau.bytes as f64, Unit::Bytes, &frames));
    shown.push(evidence(Measure::RoundsAtCap, rounds as f64, Unit::Rounds, &frames));
    if let Some(window) = plateau.window {
        shown.push(evidence(Measure::LeastWindowMeanwhile, window as f64, Unit::Bytes, &[]));
    }
    shown.push(evidence(Measure::RoundTrip, rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    shown
}

/// A common limit of this size.
fn usual_cap(bytes: u64, mss: u64) -> Option<UsualCap> {
    let near = |value: u64| bytes.abs_diff(value) <= mss.min(value / 20 + 1);
    [
        (16_384, UsualCap::SmallSendBuffer),
        (32_768, UsualCap::ProxyBuffer),
        (65_535, UsualCap::UnscaledWindow),
        (65_536, UsualCap::CopyBuffer),
        (131_072, UsualCap::CopyBuffer),
        (262_144, UsualCap::CopyBuffer),
        (524_288, UsualCap::CopyBuffer),
        (1_048_576, UsualCap::CopyBuffer),
        (2_097_152, UsualCap::ProtocolWindow),
        (4_194_304, UsualCap::TcpWmem),
    ]
    .into_iter()
    .find(|&(value, _)| near(value))
    .map(|(_, usual)| usual)
}
