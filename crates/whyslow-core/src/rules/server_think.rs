//! The server had the whole request and took its time to begin the answer.
//!
//! ## What it is
//! Between the last byte of a request and the first byte of the answer lie one round trip and the server's own time: a
//! query, a computation, or another server that it asks in turn.
//!
//! ## How it is recognised
//! The first byte of the answer comes later than a round trip after the request, by more than a round trip and 50 ms. The
//! request was acknowledged at once, so the network had delivered it.
//!
//! ## What it is confused with
//! - `proxy-split`: a proxy near the client has acknowledged the request and fetches the answer from afar. From one side the
//!   two look the same.
//! - `loss`: the request or the first answer was lost and sent again.
//!
//! ## The fix
//! Profile the server for this request; if it is a proxy, capture behind it. Its log knows more: nginx `$upstream_response_time` beside
//! `$request_time`, HAProxy's timers `%Tw/%Tc/%Tr`, Envoy `%RESPONSE_DURATION%`; a client: `curl -w '%{time_starttransfer}'`.
//!
//! ## References
//! RFC 9110 (semantics of requests and answers); no threshold is standard: 50 ms is where people begin to notice.

use super::say::{evidence, finding, fix, time};
use super::{Check, Rule, TransferCase};
use crate::analysis::{Actor, Finding, Limit};
use crate::units::Nanos;

pub(super) const RULE: Rule =
    Rule { slug: "server-think", source: include_str!("server_think.rs"), check: Check::Transfer(check) };

pub(super) const NOTICED: Nanos = Nanos::from_millis(50);

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let think = case.before.iter().find(|phase| phase.limit == Limit::ServerThink)?.seconds;
    let rtt = case.context.rtt?;
    if think <= rtt.max(NOTICED) || think < case.duration().scale(0.2) {
        return None;
    }
    let summary =
        format!("the server took {} to begin its answer, beside the round trip of {}", time(think), time(rtt));
    // It may be a proxy, and then the time is spent behind it.
    let split = super::proxy_split::is_relayed(case) || super::proxy_split::is_two_machines(case);
    let mut found = finding("server-think", think, case.trust(if split { 0.5 } else { 0.85 }), summary);
    found.evidence.push(evidence(
        "request to first byte, less the path",
        think.as_secs_f64(),
        "s",
        &[case.transfer.frames.0],
    ));
    found.evidence.push(evidence("round trip", rtt.as_millis_f64(), "ms", &[]));
    found.fix = fix(Actor::Application, "look at what the server does for this request, or at what it waits for", None);
    found.settle = Some("if this address is a proxy, the time may be spent behind it: capture there".into());
    Some(found)
}
