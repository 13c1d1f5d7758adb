//! The client's own application took its time before it sent the request.
//!
//! ## What it is
//! A connection is open, or an answer has come, and the program that is to send the next request is
//! busy: it reads a file, computes, waits for another service, resolves another name. Neither the
//! network nor the server can make that shorter.
//!
//! ## How it is recognised
//! Between the handshake and the first request, or between a response and the next request of an
//! evident series (two such pauses or more), everything was acknowledged and the client sent
//! nothing, for longer than a round trip and 50 ms. Pauses of seconds are separate occasions
//! without a cost. So is a connection that was opened ahead of its use and carried nothing for 10
//! s.
//!
//! It is reported, but never ranked above delays within the exchanges: the capture does not show
//! whether the application was waiting.
//!
//! ## What it is confused with
//! - `server-think`: the request is there, and the answer is late.
//! - `application`: the sending application pauses in the middle of a message.
//! - `path-latency`: the first packets are late on their way.
//!
//! ## The fix
//! Look at the client's application between the responses and its next requests: do its own work in
//! parallel with the transfers (threads, async), request ahead, and prepare the request before the
//! connection is opened. `curl -w '%{time_pretransfer} %{time_starttransfer}'`; `strace -rtt -f -e
//! trace=network` shows what the application does in the pause.
//!
//! ## To see that it worked
//! In a new capture the time before the client's requests is shorter.
//!
//! ## References
//! RFC 9293 (a sender with nothing to send); no threshold is standard: 50 ms is where people begin
//! to notice.

use super::parts::{evidence, finding, remedy};
use super::rule::{Check, Evidence, Rule};
use super::rule_input::ConnectionView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, ExchangeAction, ExchangeStatement, Finding, Frame, Measure, Pauses, Unit};
use whyslow_core::message::{NOTICEABLE_WAIT, Wait};
use whyslow_core::tcp::payload::Protocol;
use whyslow_units::Nanos;

pub(super) const RULE: Rule =
    Rule::new(Cause::ClientThink, Check::Connection(check)).certain_with(&[Evidence::Opening, Evidence::Protocol]);

/// Minimum number of pauses between requests that make a series. Follows from the word: one pause
/// is not repeated. Half and twice change 56 and 44 of 2,061 captures.
const MIN_SERIES: usize = 2;

/// Ports of SSH (RFC 4253 section 4.1) and Telnet (RFC 854).
const SHELLS: [u16; 2] = [22, 23];

/// A request and a response below this size are a keystroke and its echo, or a keep-alive, bytes:
/// SSH's are 36 to 52 (RFC 4253 section 6: padding and MAC), WebSocket's pings a few (RFC 6455
/// section 5.5). Half and twice change 13 and 24 of 2,061 captures.
const MAX_KEYSTROKE_LEN: u64 = 100;

/// Whether a program asks for something, and gets it.
fn asks(view: &ConnectionView<'_>, wait: &Wait) -> bool {
    let answer = wait.exchange.answer.and_then(|index| view.answers().get(index));
    answer.is_some_and(|answer| answer.bytes().max(answer.answered.map_or(0, |asked| asked.bytes)) >= MAX_KEYSTROKE_LEN)
}

fn check(view: &ConnectionView<'_>) -> Option<Finding> {
    let facts = view.facts;
    // A person types.
    let is_shell = SHELLS.contains(&facts.endpoints[!facts.client].1)
        || facts.content.iter().any(|content| content.protocol == Some(Protocol::Ssh));
    if facts.requester != facts.client || is_shell {
        return None;
    }
    let least = facts.min_rtt()?.max(NOTICEABLE_WAIT);
    let pauses: Vec<&Wait> = view.waits.iter().filter(|wait| wait.client > least && asks(view, wait)).collect();
    let (first, between): (Vec<&Wait>, Vec<&Wait>) = pauses.into_iter().partition(|wait| wait.is_first);
    let between = if between.len() >= MIN_SERIES { between } else { Vec::new() };
    let lost: Nanos = first.iter().chain(&between).map(|wait| wait.client).sum();
    let longest = first.iter().chain(&between).max_by_key(|wait| wait.client)?;
    let sum = |pauses: &[&Wait]| pauses.iter().map(|wait| wait.client).sum::<Nanos>();
    let statement = ExchangeStatement::RequestsLate {
        first_s: (!first.is_empty()).then(|| sum(&first)),
        later: (!between.is_empty()).then(|| Pauses { count: between.len() as u64, sum_s: sum(&between) }),
    };
    // If the first packets are not in the capture, another connection may have had its turn.
    let mut found = finding(Cause::ClientThink, lost, view.trust(0.8), statement);
    let frames = |wait: &Wait| -> Vec<Frame> {
        let request = wait.exchange.request.and_then(|index| facts.directions[facts.client].transfers.get(index));
        request.map(|request| request.frames.0).into_iter().collect()
    };
    found.evidence.push(evidence(
        Measure::LongestPauseBeforeRequest,
        longest.client.as_secs_f64(),
        Unit::Seconds,
        &frames(longest),
    ));
    found.evidence.push(evidence(Measure::Pauses, (first.len() + between.len()) as f64, Unit::Pauses, &[]));
    found.remedies = remedy(Actor::Application, ExchangeAction::RequestEarlier);
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::rules::synthetic_transfer::{SyntheticTransfer, at_ms, ms};
    use whyslow_core::message::waits;
    use whyslow_core::tcp::facts::{ExchangeFacts, TransferFacts};

    /// A pause before a keystroke.
    const KEY: i64 = 170;

    fn found(pauses: &[i64]) -> Option<Finding> {
        let mut scene = SyntheticTransfer::flights(&[8_000]);
        scene.facts.directions[1].transfers =
            vec![scene.transfer.clone(), TransferFacts { seq: (1, 37), ..TransferFacts::default() }];
        let wait = |(index, &pause): (usize, &i64)| Wait {
            exchange: ExchangeFacts {
                request: Some(0),
                answer: Some(usize::from(pause == KEY)),
                ..ExchangeFacts::default()
            },
            is_first: index == 0,
            client: ms(pause),
            idle: Nanos::ZERO,
            server: None,
            polled: None,
        };
        let waits: Vec<Wait> = pauses.iter().enumerate().map(wait).collect();
        check(&ConnectionView { facts: &scene.facts, transfers: [&[], &[]], waits: &waits })
    }

    #[test]
    fn client_time_before_requests_is_reported() {
        let first = found(&[1_345]).unwrap();
        assert_eq!(first.statement, ExchangeStatement::RequestsLate { first_s: Some(ms(1_345)), later: None }.into());
        let series = found(&[0, 300, 20, 400]).unwrap();
        let later = Some(Pauses { count: 2, sum_s: ms(700) });
        assert_eq!(series.statement, ExchangeStatement::RequestsLate { first_s: None, later }.into());
        assert_eq!(series.cost_s, ms(700));
        assert!(found(&[0, KEY, KEY, KEY]).is_none(), "keystrokes");
        assert!(found(&[90, 60, 400]).is_none(), "one pause is no series, and no more than a round trip is none");
    }

    #[test]
    fn shell_has_no_client_think() {
        let mut scene = SyntheticTransfer::flights(&[8_000]);
        scene.facts.directions[1].transfers = vec![scene.transfer.clone()];
        let wait = Wait {
            exchange: ExchangeFacts { request: Some(0), answer: Some(0), ..ExchangeFacts::default() },
            is_first: false,
            client: ms(400),
            idle: Nanos::ZERO,
            server: None,
            polled: None,
        };
        let is_found = |scene: &SyntheticTransfer| {
            check(&ConnectionView { facts: &scene.facts, transfers: [&[], &[]], waits: &[wait, wait] }).is_some()
        };
        assert!(is_found(&scene));
        scene.facts.endpoints[1].1 = 22;
        assert!(!is_found(&scene));
        scene.facts.endpoints[1].1 = 2_222;
        scene.facts.content[0].protocol = Some(Protocol::Ssh);
        assert!(!is_found(&scene));
    }

    /// Exchanges of one request and a small response each: the time before each, and the server's
    /// time, milliseconds.
    fn scene(exchanges: &[(i64, i64)]) -> Vec<Wait> {
        let mut scene = SyntheticTransfer::flights(&[500]);
        let message =
            |n: usize| TransferFacts { seq: (1 + 100 * n as u64, 101 + 100 * n as u64), ..TransferFacts::default() };
        for side in 0..2 {
            scene.facts.directions[side].transfers = (0..exchanges.len()).map(message).collect();
        }
        scene.facts.exchanges = exchanges
            .iter()
            .enumerate()
            .map(|(n, &(before, server))| ExchangeFacts {
                request: Some(n),
                answer: Some(n),
                start: at_ms(0),
                end: at_ms(server + 100),
                before: Some(ms(before)),
                server: Some(ms(server)),
            })
            .collect();
        waits(&scene.facts)
    }

    #[test]
    fn pauses_of_a_series_are_the_clients_and_longer_ones_idle() {
        let waits = scene(&[(1_345, 0), (300, 0), (900, 0), (5_000, 0)]);
        let waits: Vec<_> = waits.iter().map(|wait| (wait.client.0 / 1_000_000, wait.idle.0 / 1_000_000)).collect();
        assert_eq!(waits, [(1_345, 0), (300, 0), (900, 0), (0, 5_000)]);
        assert_eq!(scene(&[(30_000, 0)])[0].idle, ms(30_000), "a spare connection");
    }

    #[test]
    fn long_poll_is_idle_and_a_late_response_is_not() {
        let polls = scene(&[(0, 25_000), (0, 25_000), (0, 4_000), (0, 25_000)]);
        assert!(
            polls.iter().all(|wait| wait.polled == Some(wait.exchange.end - at_ms(100)) && wait.waited() == ms(100))
        );
        assert!(scene(&[(0, 40_000)])[0].polled.is_none(), "one is no habit");
        let late = scene(&[(0, 20), (0, 30_000), (0, 15), (0, 30_000), (0, 10)]);
        assert!(late.iter().all(|wait| wait.polled.is_none()), "others are prompt");
    }
}
