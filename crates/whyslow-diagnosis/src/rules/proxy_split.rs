//! A proxy may terminate the connection: the capture shows only the leg up to it, and the time is
//! spent behind it.
//!
//! ## What it is
//! A proxy, balancer or CDN node near the client ends its TCP connection and fetches the answer
//! over a second one, from a server that may be far away. To the client the path is short and the
//! server slow; loss, windows and slow start of the second leg show up as pauses.
//!
//! ## How it is recognised
//! - The data comes in bursts that grow by half or more each time, at even intervals many round
//!   trips long: the slow start of a second connection with that round trip. A program of its own
//!   writes in no such rhythm.
//! - Or the answer takes ten round trips to begin, and the far end's SYN and its data carry a
//!   different time to live: two machines answered, one the handshake and another the request.
//!
//! One capture cannot prove it, so the confidence is never above 0.5.
//!
//! ## What it is confused with
//! - `server-think`, `application`: the program itself is slow. It is one set: a proxy that waits
//!   for its server is just that, from here.
//! - a route that changes within the connection changes the time to live too.
//!
//! ## The fix
//! Look at the leg behind the proxy: capture there, and analyse that capture. Common fixes: keep
//! connections to the server open, so that not every response pays for slow start (nginx `keepalive
//! 32;` in `upstream`, `proxy_http_version 1.1;`, `proxy_set_header Connection "";`; HAProxy
//! `http-reuse always`; Envoy keeps a pool by itself: look at `max_requests_per_connection`), a
//! larger initial window on the server (`ip route change … initcwnd`), and a cache or the proxy
//! nearer to the server.
//!
//! ## To see that it worked
//! `curl -so /dev/null -w '%{time_starttransfer} %{time_total}\n' URL` gets shorter.
//!
//! ## References
//! RFC 3135 (performance enhancing proxies), RFC 9110 section 3.7.

use super::parts::{confirm, evidence, finding, remedy};
use super::proxy_evidence::{Rhythm, is_two_machines, rhythm};
use super::rule::{Check, Proof, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, ExchangeAction, ExchangeQuestion, ExchangeStatement, Finding, LimitingFactor, Measure, Measurement, Unit,
};
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::ProxySplit, Check::Transfer(check)).proof(Proof::Pattern);

/// Minimum wait, in round trips, that the path does not explain. Half and twice change 2 and 2 of
/// 2,061 captures.
const LONG_WAIT: f64 = 10.0;

/// The wait before the first byte, if this path does not explain it.
fn wait(view: &TransferView<'_>) -> Option<Nanos> {
    let think = view.before.iter().find(|phase| phase.limit == LimitingFactor::ServerThink)?.time;
    (think > view.context.rtt?.scale(LONG_WAIT).max(Nanos::from_millis(50))).then_some(think)
}

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let rtt = view.context.rtt?;
    // `server-think` has the time before the first byte.
    let (lost, statement, shown) = match rhythm(view) {
        Some(rhythm) => {
            let bursts = rhythm.bytes.len() as u64;
            let statement = ExchangeStatement::BurstsOfProxy { bursts, interval_s: rhythm.interval, rtt_s: rtt };
            (view.time(LimitingFactor::Application), statement, bursts_shown(view, &rhythm))
        }
        None => {
            let lost = wait(view).filter(|_| is_two_machines(view))?;
            let statement = ExchangeStatement::HopsDiffer { handshake_s: rtt, response_s: lost };
            (lost, statement, hops_shown(view, lost))
        }
    };
    if lost < whyslow_analysis::types::MIN_NOTICEABLE_DELAY || lost < view.duration().scale(0.15) {
        return None;
    }
    let mut found = finding(Cause::ProxySplit, lost, view.trust(0.5), statement);
    found.evidence = shown;
    found.evidence.push(evidence(Measure::RoundTrip, rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    found.remedies = remedy(Actor::Application, ExchangeAction::KeepUpstreamConnections);
    found.to_confirm = confirm(ExchangeQuestion::ProxyBetween);
    Some(found)
}

fn bursts_shown(view: &TransferView<'_>, rhythm: &Rhythm) -> Vec<Measurement> {
    let Rhythm { interval, bytes, frames } = rhythm;
    let burst = |bytes: Option<&u64>| bytes.copied().unwrap_or_default() as f64;
    let mut shown = vec![
        evidence(Measure::BurstInterval, interval.as_millis_f64(), Unit::Milliseconds, frames),
        evidence(Measure::FirstBurst, burst(bytes.first()), Unit::Bytes, &frames[..1]),
        evidence(Measure::LastGrowingBurst, burst(bytes.last()), Unit::Bytes, &frames[1..]),
    ];
    if let Some(wait) = wait(view) {
        let kind = Measure::RequestToFirstByte;
        shown.push(evidence(kind, wait.as_millis_f64(), Unit::Milliseconds, &frames[..1]));
    }
    shown
}

fn hops_shown(view: &TransferView<'_>, lost: Nanos) -> Vec<Measurement> {
    let (syn, data) = view.facts.ttl[view.sender];
    let ttl = |value: Option<u8>| f64::from(value.unwrap_or_default());
    let first = [view.transfer.frames.0];
    vec![
        evidence(Measure::SynTtl, ttl(syn), Unit::One, &[]),
        evidence(Measure::DataTtl, ttl(data), Unit::One, &first),
        evidence(Measure::RequestToFirstByte, lost.as_millis_f64(), Unit::Milliseconds, &first),
    ]
}
