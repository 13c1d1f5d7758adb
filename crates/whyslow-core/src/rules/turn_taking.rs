//! The two programs take turns, and every turn costs a round trip.
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

use super::case::ConnectionCase;
use super::rule::{Check, Rule};
use super::say::{WORTH_SAYING, count, evidence, finding, fix, time};
use crate::analysis::{Actor, Finding};
use crate::cause::Cause;
use crate::limit::{INITIAL_WINDOW, NOTICEABLE_WAIT, Wait, rounds_needed};
use crate::tcp::content::Protocol;
use crate::tcp::facts::TransferFacts;
use crate::units::Nanos;

pub(super) const RULE: Rule =
    Rule::new(Cause::TurnTaking, Check::Connection(check)).may_cost(|brief| brief.transfers >= MIN_TURNS);

const MIN_TURNS: u64 = 8;
/// What is sent in one flight at once is a message and not a bulk.
const SMALL_ROUNDS: u64 = 1;

/// What the turns would take if all were asked for at once: the `rounds` that their bytes need, and
/// what both programs do for them. What a turn takes beyond its round trip is such work where it is
/// long; else most of it is wake-ups, of which a batch has few, and the shortest turn shows the
/// work.
fn at_once(took: &[Nanos], rtt: Nanos, rounds: u32) -> Nanos {
    let beyond = || took.iter().map(|took| (*took - rtt).or_zero());
    let least = beyond().min().unwrap_or_default();
    rtt.scale(f64::from(rounds)) + beyond().map(|time| if time < WORTH_SAYING { least } else { time }).sum()
}

/// The round trips that all requests and all answers need when they are sent in one go: the windows
/// of both sides open at the same time.
fn rounds(case: &ConnectionCase<'_>, turns: &[&TransferFacts]) -> u32 {
    let requester = case.facts.requester;
    let asked = turns.iter().filter_map(|answer| answer.answered).map(|request| request.bytes).sum();
    let answered = turns.iter().map(|answer| answer.bytes()).sum();
    let segments = |side: usize, bytes: u64| bytes.div_ceil(case.facts.directions[side].mss.max(1));
    let needed = segments(requester, asked).max(segments(1 - requester, answered));
    rounds_needed(needed, INITIAL_WINDOW).max(1)
}

/// The answer of an exchange that is a turn: a message, asked for as `soon` as the one before it
/// was there.
fn turn<'a>(case: &ConnectionCase<'a>, wait: &Wait, soon: Nanos) -> Option<&'a TransferFacts> {
    let &(answer, _) = case.transfers[1 - case.facts.requester].get(wait.exchange.answer?)?;
    let follows = wait.is_first || (wait.client <= soon && wait.idle == Nanos::ZERO);
    (answer.answered.is_some() && answer.rounds_total <= SMALL_ROUNDS && follows).then_some(answer)
}

fn check(case: &ConnectionCase<'_>) -> Option<Finding> {
    let facts = case.facts;
    let rtt = facts.min_rtt()?;
    let soon = rtt.max(NOTICEABLE_WAIT);
    let waits = || case.waits.iter().filter_map(|wait| Some((wait, turn(case, wait, soon)?)));
    let turns: Vec<_> = waits().map(|(_, answer)| answer).collect();
    let number = turns.len() as u64;
    let idle: Nanos = case.waits.iter().map(|wait| wait.idle + wait.polled.unwrap_or_default()).sum();
    let whole = (facts.last - facts.first - idle).or_zero();
    // A clock that was set may have shortened the connection, and not the round trips.
    let lost = rtt.scale(number as f64).min(whole);
    if number < MIN_TURNS || lost.0 * 5 < whole.0 || lost < WORTH_SAYING {
        return None;
    }
    let share = lost.0 as f64 / whole.0.max(1) as f64;
    let summary = format!(
        "{} one after the other, each a round trip of {}: {} of {}",
        count(number, "request"),
        time(rtt),
        time(lost),
        time(whole),
    );
    let mut found = finding(Cause::TurnTaking, lost, case.trust(if share >= 0.5 { 0.9 } else { 0.7 }), summary);
    let frames = [turns.first()?.frames.0, turns.last()?.frames.1];
    found.evidence.push(evidence("turns", number as f64, "turns", &frames));
    found.evidence.push(evidence("round trip", rtt.as_millis_f64(), "ms", &[]));
    found.fix = fix(
        Actor::Application,
        "ask for more at once: batch or pipeline the requests, or bring the two programs nearer to each other",
        None,
    );
    // A login's turns answer each other, and cannot be asked for at once.
    if case.facts.content[case.facts.client].protocol != Some(Protocol::Ssh) {
        let before = |wait: &Wait| if wait.is_first { Nanos::ZERO } else { wait.client };
        let took: Vec<Nanos> = waits().map(|(wait, _)| wait.exchange.wait() + before(wait)).collect();
        let (whole, all) = (facts.last - facts.first, took.iter().copied().sum());
        // Turns that took longer than their connection lasted were timed by a clock that was set.
        found.predicted_s = (all <= whole).then(|| whole - all + at_once(&took, rtt, rounds(case, &turns)));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::at_once;
    use crate::rules::scene::ms;
    use crate::units::Nanos;

    #[test]
    fn at_once_a_batch_takes_a_round_trip_and_the_work() {
        let took = [101, 102, 105, 101, 101].map(ms);
        assert_eq!(at_once(&took, ms(100), 1), ms(105), "five times a millisecond, and no wake-ups");
        assert_eq!(at_once(&took, ms(100), 3), ms(305), "answers that a new window does not hold");
        assert_eq!(at_once(&[101, 160, 101].map(ms), ms(100), 1), ms(162), "what takes long is work");
        assert_eq!(at_once(&[ms(99)], ms(100), 1), ms(100));
        assert_eq!(at_once(&[], ms(100), 1) - ms(100), Nanos::ZERO);
    }
}
