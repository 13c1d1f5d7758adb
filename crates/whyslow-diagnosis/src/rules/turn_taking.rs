//! Client and server take turns, and every turn costs a round trip.
//!
//! ## What it is
//! A protocol that asks, waits for the answer, and only then asks again is bound by the round trip
//! and not by the rate: a hundred small questions over 100 ms take ten seconds on any link.
//! Database rows fetched one by one, SFTP or SMB with one request outstanding, chatty remote calls.
//!
//! ## How it is recognised
//! Eight or more requests with their answers one after the other on a connection, each small and
//! asked for within a round trip (or 50 ms) of the answer before it, whose round trips make up 20 %
//! of the connection's time or more, idle time left out.
//!
//! ## What it is confused with
//! - `protocol-window`: a fixed quota of bytes per small answer.
//! - `server-think`: the time between request and answer beyond the round trip.
//!
//! ## The fix
//! Ask for more at once: batch, pipeline, prefetch, send several requests before the first answer,
//! or move the two programs nearer to each other. HTTP/2 carries requests side by side on one
//! connection: nginx `http2 on`, HAProxy `alpn h2`, Envoy `http2_protocol_options`; clients: Redis
//! pipelines, SQL batches, `sftp -R 256`.
//!
//! ## To see that it worked
//! A new capture has fewer requests for the same work.
//!
//! ## References
//! Cheshire, "It's the Latency, Stupid", 1996.

use super::parts::{evidence, finding, remedy};
use super::rule::{Check, Evidence, Rule, Saving};
use super::rule_input::ConnectionView;
use super::turns::{MIN_TURNS, Turns};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, ExchangeAction, ExchangeStatement, Finding, Measure, Remedy, Unit};

pub(super) const RULE: Rule = Rule::new(Cause::TurnTaking, Check::Connection(check))
    .may_cost(|brief| brief.transfers >= MIN_TURNS)
    .certain_with(&[Evidence::Opening, Evidence::Protocol])
    .saves(Saving::Predicted);

/// Turns from which the finding may be certain. Follows from [`MIN_TURNS`]: opening protocols take
/// as many (TLS four, STARTTLS and a login as many more), and twice as many are the application's.
const SURE_TURNS: u64 = 2 * MIN_TURNS;

fn check(view: &ConnectionView<'_>) -> Option<Finding> {
    let turns = Turns::of(view)?;
    if turns.are_credited(view) {
        return None;
    }
    let statement = ExchangeStatement::RequestsOneByOne {
        requests: turns.number(),
        rtt_s: turns.rtt,
        spent_s: turns.lost,
        whole_s: turns.whole,
    };
    let is_sure = turns.share() >= 0.5 && turns.number() >= SURE_TURNS;
    let confidence = if is_sure { 0.9 } else { 0.7 };
    let mut found = finding(Cause::TurnTaking, turns.lost, view.trust(confidence), statement);
    found.evidence.push(evidence(Measure::Turns, turns.number() as f64, Unit::Turns, &turns.frames()));
    found.evidence.push(evidence(Measure::RoundTrip, turns.rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    found.remedies = remedy(Actor::Application, ExchangeAction::BatchRequests);
    found.remedies.push(Remedy::new(Actor::Application, ExchangeAction::MoveCloser));
    found.promise(turns.in_one_go(view));
    Some(found)
}
