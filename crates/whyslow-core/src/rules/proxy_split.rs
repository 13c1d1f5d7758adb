//! A proxy may stand between: what is measured ends there, and the time is spent behind it.
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
//! Look at the leg behind the proxy: capture there, and give it what this tool says of it. Common:
//! keep connections to the server open, so that slow start is not paid for every answer (nginx
//! `keepalive 32;` in `upstream`, `proxy_http_version 1.1;`, `proxy_set_header Connection "";`;
//! HAProxy `http-reuse always`; Envoy keeps a pool by itself: look at
//! `max_requests_per_connection`), a larger initial window on the server
//! (`ip route change … initcwnd`), and a cache or the proxy nearer to the server.
//!
//! ## To see that it worked
//! `curl -so /dev/null -w '%{time_starttransfer} %{time_total}\n' URL` gets shorter.
//!
//! ## References
//! RFC 3135 (performance enhancing proxies), RFC 9110 section 3.7.

use super::case::TransferCase;
use super::relay::{is_two_machines, rhythm};
use super::rule::{Check, Rule};
use super::say::{confirm, count, evidence, finding, fix, time};
use crate::analysis::{Actor, Finding, Limit, Unit};
use crate::cause::Cause;
use crate::units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::ProxySplit, Check::Transfer(check));

/// A wait of so many round trips is not the path's.
const LONG_WAIT: f64 = 10.0;

/// What was waited for before the first byte, where that is no matter of this path.
fn wait(case: &TransferCase<'_>) -> Option<Nanos> {
    let think = case.before.iter().find(|phase| phase.limit == Limit::ServerThink)?.time;
    (think > case.context.rtt?.scale(LONG_WAIT).max(Nanos::from_millis(50))).then_some(think)
}

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let rtt = case.context.rtt?;
    let (lost, summary, shown) = if let Some(rhythm) = rhythm(case) {
        // What went before the first byte is said by `server-think`.
        let lost = case.time(Limit::Application);
        let summary = format!(
            "a proxy is possible: the data came in {} that grew, one every {}, as of a second connection with that round trip behind this one of {}",
            count(rhythm.bytes.len() as u64, "burst"),
            time(rhythm.interval),
            time(rtt),
        );
        let first = rhythm.bytes.first().copied().unwrap_or_default();
        let top = rhythm.bytes.last().copied().unwrap_or_default();
        let mut shown = vec![
            evidence("from burst to burst", rhythm.interval.as_millis_f64(), Unit::Milliseconds, &rhythm.frames),
            evidence("first burst", first as f64, Unit::Bytes, &rhythm.frames[..1]),
            evidence("last burst that grew", top as f64, Unit::Bytes, &rhythm.frames[1..]),
        ];
        if let Some(wait) = wait(case) {
            shown.push(evidence(
                "wait for the first byte",
                wait.as_millis_f64(),
                Unit::Milliseconds,
                &rhythm.frames[..1],
            ));
        }
        (lost, summary, shown)
    } else {
        let lost = wait(case).filter(|_| is_two_machines(case))?;
        let (syn, data) = case.facts.ttl[case.sender];
        let summary = format!(
            "a proxy is possible: the handshake took {} and the answer {}, and they came over different distances",
            time(rtt),
            time(lost),
        );
        let ttl = |value: Option<u8>| f64::from(value.unwrap_or_default());
        let shown = vec![
            evidence("time to live of its SYN", ttl(syn), Unit::One, &[]),
            evidence("time to live of its data", ttl(data), Unit::One, &[case.transfer.frames.0]),
            evidence(
                "request to first byte, less the path",
                lost.as_millis_f64(),
                Unit::Milliseconds,
                &[case.transfer.frames.0],
            ),
        ];
        (lost, summary, shown)
    };
    if lost < super::say::WORTH_SAYING || lost < case.duration().scale(0.15) {
        return None;
    }
    let mut found = finding(Cause::ProxySplit, lost, case.trust(0.5), summary);
    found.evidence = shown;
    found.evidence.push(evidence("round trip to here", rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    found.remedies = fix(
        Actor::Application,
        "look at the leg behind this address: keep its connections open, so that slow start is not paid for every answer, and capture there",
        None,
    );
    found.to_confirm = confirm(
        "a capture between this address and the server behind it proves or refutes it: two captures show both legs",
    );
    Some(found)
}
