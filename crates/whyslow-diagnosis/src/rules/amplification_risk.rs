//! A small request triggers a huge burst of packets at once: attackers can abuse that, and much of
//! it may be lost.
//!
//! ## What it is
//! Before the first ACK a sender knows nothing about the path, so it may send no more than an
//! initial congestion window: 10 segments (RFC 6928). Some senders fill whatever window the
//! receiver advertises: a stack with an initial window of hundreds of segments, or a proxy or
//! balancer that forwards the bytes from its own fast side and ignores congestion control. One
//! small request then triggers a burst of hundreds of kilobytes toward the address that it claims
//! to come from, which attackers exploit. On a slow link most of the burst is lost.
//!
//! ## How it is recognised
//! More than 50 segments left in the first flight of a server's response, beyond the window that
//! the connection's earlier bytes had earned (a window grows by acknowledged bytes), and the
//! handshake is in the capture, so that no earlier traffic was missed. Most content networks stay
//! below 50 segments, and the largest value found is 100 (Rüth and Hohlfeld). It cost no time here:
//! it is reported as a risk.
//!
//! ## What it is confused with
//! - a warm connection whose beginning was not captured: without the handshake nothing is reported.
//! - ACKs missing from the capture: then bytes were acknowledged that look like one flight.
//!
//! ## The fix
//! Cap the initial window at 10 to 32 segments: Linux `ip route change … initcwnd 10`, Windows
//! `Set-NetTCPSetting -InitialCongestionWindow 10`, the TCP profile of a balancer (F5: "Initial
//! Congestion Window Size"). Where it is on purpose, inside a data centre, pace the first flight
//! (`fq`, `tcp_pacing_ss_ratio`).
//!
//! ## To see that it worked
//! In a new capture the server's first flight has at most 10 segments.
//!
//! ## References
//! RFC 6928, RFC 5681 section 3.1; Rüth and Hohlfeld, "Demystifying TCP Initial Window
//! Configurations of Content Distribution Networks", TMA 2018; Kührer et al., "Hell of a Handshake:
//! Abusing TCP for Reflective Amplification DDoS Attacks", WOOT 2014.

use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Rule};
use super::rule_input::TransferView;
use crate::estimate::INITIAL_WINDOW;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Finding, Measure, SendingAction, SendingQuestion, SendingStatement, Unit};
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::AmplificationRisk, Check::Transfer(check));

/// Largest first flight that is not reported, segments: nearly all known servers send fewer (Rüth
/// and Hohlfeld 2018, a paper on content networks).
const MAX_USUAL: u64 = 50;

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let (facts, transfer) = (view.facts, view.transfer);
    let defects = &facts.capture_defects;
    if view.sender == facts.client
        || facts.handshake.is_joined
        || !facts.handshake.is_complete()
        || defects.one_direction
        || defects.unseen_bytes > 0
        || !facts.elided.is_empty()
    {
        return None;
    }
    let mut requests = facts.directions[facts.client].transfers.iter().filter(|asked| asked.start <= transfer.start);
    let request = requests.next_back()?.bytes();
    let first = transfer.rounds.first()?;
    // Earlier bytes of the connection were acknowledged, and have opened the window by as much.
    let earned = transfer.seq.0.saturating_sub(1);
    let mss = view.context.mss;
    let flight = first.in_flight;
    if flight <= MAX_USUAL * mss + earned {
        return None;
    }
    let times = flight as f64 / request.max(1) as f64;
    let window = first.window.filter(|window| *window <= flight + 3 * mss);
    let statement = SendingStatement::Amplification {
        request,
        flight,
        filled_window: window.is_some(),
        segments: flight.div_ceil(mss),
    };
    let mut found = finding(Cause::AmplificationRisk, Nanos::ZERO, view.trust(0.8), statement);
    let frames = [first.first_frame, first.last_frame];
    found.evidence.push(evidence(Measure::SentBeforeFirstAck, flight as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence(Measure::Request, request as f64, Unit::Bytes, &[]));
    found.evidence.push(evidence(Measure::TimesRequest, times, Unit::Times, &[]));
    if let Some(window) = first.window {
        found.evidence.push(evidence(Measure::WindowThen, window as f64, Unit::Bytes, &[]));
    }
    found.remedies = remedy(
        Actor::Sender,
        SendingAction::CapInitialWindow {
            segments: INITIAL_WINDOW,
            bytes: INITIAL_WINDOW * mss,
            ipv6: view.facts.endpoints[!view.sender].0.is_ipv6(),
        },
    );
    found.to_confirm = confirm(SendingQuestion::ServerInitialWindow);
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::SyntheticTransfer;
    use whyslow_analysis::cause::Cause;
    use whyslow_units::Nanos;

    #[test]
    fn first_flight_above_fifty_segments_is_a_risk_without_cost() {
        let found = SyntheticTransfer::flights(&[60_000, 5_000]).finding(Cause::AmplificationRisk).unwrap();
        assert_eq!(found.cost_s, Nanos::ZERO);
        assert_eq!(found.evidence[2].value, 600.0, "60,000 B for 100 B");
        assert!(SyntheticTransfer::flights(&[50_000, 5_000]).finding(Cause::AmplificationRisk).is_none());
    }

    #[test]
    fn window_earned_by_earlier_bytes_is_not_a_risk() {
        let mut scene = SyntheticTransfer::flights(&[60_000, 5_000]);
        scene.transfer.seq = (10_001, 75_001);
        assert!(scene.finding(Cause::AmplificationRisk).is_none(), "10,000 B had been acknowledged");
        let mut scene = SyntheticTransfer::flights(&[60_000, 5_000]);
        scene.facts.handshake.offers[0] = None;
        assert!(scene.finding(Cause::AmplificationRisk).is_none(), "what went before is not known");
    }
}
