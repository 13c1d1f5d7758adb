//! At most 65,535 bytes can be in flight at once, because window scaling is off.
//!
//! ## What it is
//! The window field of a TCP header has 16 bits. Larger windows need the scale option in both SYNs
//! (RFC 7323). Where one lacks it, at most 65,535 bytes can be in flight: 4 MB take 10 s over a
//! path of 150 ms, on any link.
//!
//! ## How it is recognised
//! The option is missing from the SYN or the SYN-ACK as captured, and the flights reach the
//! unscaled window. Without the handshake in the capture it is never asserted.
//!
//! ## What it is confused with
//! - `receive-window`: scaling is on and the buffer is small.
//! - `sender-cap`: 65,535 bytes in flight below a larger window.
//!
//! ## The fix
//! `sysctl -w net.ipv4.tcp_window_scaling=1` on the end whose SYN lacks it. If that end has it on,
//! a balancer, firewall or proxy between strips the option: capture on both sides of it. A balancer
//! that ends connections offers its own host's options: look at the sysctl where nginx, HAProxy or
//! Envoy runs. Note that SYN cookies without timestamps lose it too
//! (`nstat -az TcpExtSyncookiesSent`).
//!
//! ## To see that it worked
//! `ss -tin` at either end shows `wscale` for a new connection.
//!
//! ## References
//! RFC 7323 section 2.

use super::parts::{evidence, finding, remedy, window_rate};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, End, Finding, LimitingFactor, Measure, SendingAction, SendingStatement, Unit};

pub(super) const RULE: Rule =
    Rule::new(Cause::NoWindowScaling, Check::Transfer(check)).shown_by(applies).fully_modelled().proof(Proof::Model);

/// The option is known to be missing, and the cost of the windows is large enough to come from
/// that.
fn applies(view: &TransferView<'_>) -> bool {
    let offers = &view.facts.handshake.offers;
    let missing =
        view.facts.handshake.is_complete() && offers.iter().flatten().any(|offer| offer.window_scale.is_none());
    // A window far below the field's limit is small for another reason.
    missing && view.direction().max_window.is_some_and(|window| window >= 32_768)
}

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let lost = view.time(LimitingFactor::ReceiveWindow);
    if !applies(view) || !view.matters(lost, 0.2) {
        return None;
    }
    let window = view.direction().max_window?;
    let rtt = view.rtt()?;
    let offers = &view.facts.handshake.offers;
    let missing: Vec<End> = [(End::Client, view.facts.client), (End::Server, !view.facts.client)]
        .into_iter()
        .filter(|&(_, side)| offers[side].is_some_and(|offer| offer.window_scale.is_none()))
        .map(|(end, _)| end)
        .collect();
    let count = missing.len();
    // A server may offer it only to a client that did (RFC 7323 section 2.2).
    let on = missing.first().copied().unwrap_or(End::Client);
    let statement = SendingStatement::NoWindowScaling { missing, window, rtt_s: rtt };
    let mut found = finding(Cause::NoWindowScaling, lost, view.trust(0.95), statement);
    let syns: Vec<_> = [view.facts.handshake.syn, view.facts.handshake.syn_ack].iter().flatten().map(|s| s.1).collect();
    found.evidence.push(evidence(Measure::SynsWithoutOption, count as f64, Unit::Syns, &syns));
    found.evidence.push(evidence(Measure::LargestWindow, window as f64, Unit::Bytes, &[]));
    found.evidence.push(evidence(Measure::WindowRate, window_rate(window, rtt), Unit::BitsPerSecond, &[]));
    found.remedies = remedy(Actor::Network, SendingAction::EnableWindowScaling { on });
    Some(found)
}
