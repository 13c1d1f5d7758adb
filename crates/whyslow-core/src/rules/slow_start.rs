//! The sender spent most of the transfer opening its congestion window.
//!
//! ## What it is
//! A TCP sender does not know what the path can carry, so it begins with a small flight (the initial window, 10 segments on
//! today's systems, RFC 6928) and about doubles it for every round trip that goes well (RFC 5681 section 3.1). A transfer
//! of B bytes needs about ⌈log2(B / (IW · MSS) + 1)⌉ round trips, however fast the path is: on a far path the round trips
//! are the time.
//!
//! ## How it is recognised
//! Flights that grow by 20 % or more from round to round, each begun by an ACK while the receiver's window still had room,
//! and no loss before. Those rounds take 15 % of the transfer's time or more.
//!
//! ## What it is confused with
//! - `restart-after-idle`: the connection was warm and started over after a pause.
//! - `application`: a program that writes more and more; its flights end in a segment shorter than the MSS.
//! - `receive-window`: the receiver's window grows each round by autotuning, and it is the window that is full.
//!
//! ## The fix
//! Keep connections open and reuse them: a warm connection sends the same bytes in one round trip. Where that is not
//! possible, raise the sender's initial window: `ip route change default via GATEWAY initcwnd N` (Linux). The receiver's
//! first window caps it (`initrwnd`, or tcp_rmem's middle value). Move the data nearer, so that a round trip costs less.
//!
//! - nginx, HAProxy and Envoy take the route's initcwnd; between them and a far origin, keep-alive pools
//!   (`keepalive 32;` in an nginx upstream block) avoid slow start altogether.
//!
//! ## References
//! RFC 5681, RFC 6928 (IW10), RFC 7661; Dukkipati et al., "An Argument for Increasing TCP's Initial Congestion Window", 2010.

use super::say::{count, evidence, finding, fix, thousands, time};
use super::{Check, Rule, TransferCase};
use crate::analysis::{Actor, Finding, Limit};

pub(super) const RULE: Rule =
    Rule { slug: "slow-start", source: include_str!("slow_start.rs"), check: Check::Transfer(check) };

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let lost = case.time(Limit::SlowStart);
    if !case.matters(lost, 0.15) || super::restart_after_idle::is_restart(case) {
        return None;
    }
    let rounds = &case.transfer.rounds;
    let shape = &case.partition.shape;
    let first = rounds.first()?;
    let mss = case.context.mss;
    let initial = first.in_flight.div_ceil(mss);
    let needed = case.transfer.bytes().div_ceil(mss);
    let summary = format!(
        "the sender spent {} of {} opening its congestion window, from {} B a round trip",
        time(lost),
        time(case.duration()),
        thousands(first.in_flight),
    );
    let confidence = if case.share(lost) >= 0.5 { 0.9 } else { 0.7 };
    let mut found = finding("slow-start", lost, case.trust(confidence), summary);
    let frames = [first.first_frame, rounds.get(shape.slow_start.max(1) - 1).unwrap_or(first).last_frame];
    found.evidence.push(evidence("rounds that opened the window", shape.slow_start as f64, "rounds", &frames));
    found.evidence.push(evidence("first flight", first.in_flight as f64, "B", &[first.first_frame, first.last_frame]));
    if let Some(rtt) = case.rtt() {
        found.evidence.push(evidence("round trip", rtt.as_millis_f64(), "ms", &[]));
    }
    let cap = first.window.filter(|&window| window < case.transfer.bytes()).map(|window| window / mss);
    let target = cap.map_or(needed, |cap| cap.min(needed)).max(initial);
    let limited = match (cap, first.window) {
        (Some(cap), Some(window)) if cap < needed => format!(
            "; the receiver's first window of {} B lets no more than {} out at once, so raise its initrwnd or tcp_rmem too to send all {} in one round trip",
            thousands(window),
            count(cap, "segment"),
            count(needed, "segment"),
        ),
        _ => String::new(),
    };
    found.fix = if target > initial {
        let what = format!(
            "keep the connection open and reuse it, or raise the sender's initial congestion window from {initial} to {target} segments{limited}",
        );
        fix(Actor::Sender, what, Some(format!("ip route change default via GATEWAY initcwnd {target}")))
    } else {
        fix(Actor::Application, format!("keep the connection open and reuse it{limited}"), None)
    };
    Some(found)
}
