//! An exchange, cut into spans of one wait each.
//!
//! From the client's point of view: the request goes out, then come the round trip and the server's
//! time, then the response. If captured elsewhere, the spans of the messages are those of the
//! capture, and the path between them fills the rest, so that the spans add up to the exchange.

use super::waiting::{grade, party};
use crate::limit::{Span, SpanCutter, merge_runs};
use whyslow_analysis::types::{End, LimitingFactor};
use whyslow_analysis::{MAX_WAIT_SPANS, WaitSpan};
use whyslow_units::{Nanos, Time};

/// Parts of an exchange.
pub(crate) struct ExchangeParts<'a> {
    /// Time of the first byte.
    pub start: Time,
    /// From its first byte to its last, as the client lives it.
    pub whole: Nanos,
    /// Spans of the request, and the time of its last byte; `None` for a push.
    pub request: Option<(&'a [Span], Time)>,
    /// Spans of the response, its first byte and its last; `None` without a response.
    pub answer: Option<(&'a [Span], Time, Time)>,
    /// There and back.
    pub rtt: Nanos,
    /// Why the answer's first byte came later than a round trip after the request.
    pub between: LimitingFactor,
}

/// An exchange's time, without gaps.
pub(crate) struct ExchangeCut {
    /// While the request was sent.
    sent: Vec<Span>,
    /// Time spans from there on.
    got: Vec<Span>,
}

impl ExchangeCut {
    /// Divides the exchange into its parts.
    pub(crate) fn new(parts: &ExchangeParts<'_>) -> Self {
        let end = parts.start + parts.whole;
        let Some((answer, from, to)) = parts.answer else {
            let mut sent = SpanCutter::new(parts.start, end);
            if let Some((request, _)) = parts.request {
                copy(&mut sent, request, Nanos::ZERO, end);
            }
            return Self { sent: sent.finish(), got: Vec::new() };
        };
        let answer_at = end - (to - from).or_zero().min(parts.whole);
        let asked = parts.request.map_or(parts.start, |(_, sent)| sent.max(parts.start).min(answer_at));
        let mut sent = SpanCutter::new(parts.start, asked);
        if let Some((request, _)) = parts.request {
            copy(&mut sent, request, Nanos::ZERO, asked);
        }
        let mut got = SpanCutter::new(asked, end);
        got.add(LimitingFactor::RequestWait, (asked + parts.rtt).min(answer_at));
        got.add(parts.between, answer_at);
        copy(&mut got, answer, answer_at - from, end);
        Self { sent: sent.finish(), got: got.finish() }
    }

    /// How long the client waited.
    pub(crate) fn waited(&self) -> Nanos {
        self.sent.iter().chain(&self.got).filter(|span| span.limit != LimitingFactor::Idle).map(Span::length).sum()
    }

    /// Spans by the party that was waited for; and their number before the shortest were added to
    /// their neighbours, if any were. Times count from `first`.
    pub(crate) fn spans(&self, requester: End, first: Time) -> (Vec<WaitSpan>, Option<u64>) {
        let of = |spans: &[Span], sender: End| {
            // Each message by itself, so that a run is one sender's.
            merge_runs(spans, MAX_WAIT_SPANS / 2).into_iter().map(move |span| WaitSpan {
                start_s: span.start - first,
                seconds: span.length(),
                party: party(span.limit, sender),
                reason: span.limit,
                grade: grade(span.limit),
            })
        };
        let runs = [&self.sent, &self.got].map(|spans| merge_runs(spans, usize::MAX).len());
        let total = runs.iter().any(|&runs| runs > MAX_WAIT_SPANS / 2).then_some(runs.iter().sum::<usize>() as u64);
        (of(&self.sent, requester).chain(of(&self.got, requester.other())).collect(), total)
    }
}

/// Adds a message's spans, `later` than they were, up to `until`.
fn copy(spans: &mut SpanCutter, of: &[Span], later: Nanos, until: Time) {
    for span in of {
        spans.add(span.limit, (span.end + later).min(until));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_analysis::Party;

    fn at(millis: i64) -> Time {
        Time::from_millis(millis)
    }

    fn span(limit: LimitingFactor, from: i64, to: i64) -> Span {
        Span { limit, start: at(from), end: at(to) }
    }

    fn cut(parts: &ExchangeParts<'_>) -> Vec<(i64, i64, Party, LimitingFactor)> {
        let (listed, total) = ExchangeCut::new(parts).spans(End::Client, Time::ZERO);
        assert_eq!(total, None);
        let millis = |time: Nanos| time.0 / 1_000_000;
        listed.iter().map(|one| (millis(one.start_s), millis(one.seconds), one.party, one.reason)).collect()
    }

    fn parts<'a>(request: &'a [Span], answer: &'a [Span]) -> ExchangeParts<'a> {
        ExchangeParts {
            start: at(0),
            whole: Nanos::from_millis(1_000),
            request: Some((request, at(100))),
            answer: Some((answer, at(500), at(1_000))),
            rtt: Nanos::from_millis(40),
            between: LimitingFactor::ServerThink,
        }
    }

    #[test]
    fn exchange_at_the_client_is_request_round_trip_server_and_answer() {
        let request = [span(LimitingFactor::ReceiveWindow, 0, 130), span(LimitingFactor::RoundTrip, 130, 140)];
        let answer = [span(LimitingFactor::SlowStart, 500, 900), span(LimitingFactor::Timeout, 900, 1_020)];
        let expected = [
            (0, 100, Party::Server, LimitingFactor::ReceiveWindow),
            (100, 40, Party::Network, LimitingFactor::RequestWait),
            (140, 360, Party::Server, LimitingFactor::ServerThink),
            (500, 400, Party::Server, LimitingFactor::SlowStart),
            (900, 100, Party::Network, LimitingFactor::Timeout),
        ];
        assert_eq!(cut(&parts(&request, &answer)), expected);
    }

    #[test]
    fn exchange_at_the_server_includes_the_clients_path() {
        let (request, answer) =
            ([span(LimitingFactor::RoundTrip, 0, 100)], [span(LimitingFactor::Bandwidth, 460, 960)]);
        let at_server = ExchangeParts { answer: Some((&answer, at(460), at(960))), ..parts(&request, &answer) };
        let expected = [
            (0, 100, Party::Network, LimitingFactor::RoundTrip),
            (100, 40, Party::Network, LimitingFactor::RequestWait),
            (140, 360, Party::Server, LimitingFactor::ServerThink),
            (500, 500, Party::Network, LimitingFactor::Bandwidth),
        ];
        assert_eq!(cut(&at_server), expected);
    }

    #[test]
    fn idle_time_within_an_exchange_is_not_waited() {
        let answer = [span(LimitingFactor::Application, 500, 700), span(LimitingFactor::Idle, 700, 1_000)];
        assert_eq!(ExchangeCut::new(&parts(&[], &answer)).waited(), Nanos::from_millis(700));
    }

    #[test]
    fn request_without_a_response_has_spans_to_the_end() {
        let request = [span(LimitingFactor::SlowStart, 0, 600), span(LimitingFactor::Idle, 600, 1_000)];
        let alone = ExchangeParts { answer: None, ..parts(&request, &[]) };
        assert_eq!(
            cut(&alone),
            [(0, 600, Party::Client, LimitingFactor::SlowStart), (600, 400, Party::Nobody, LimitingFactor::Idle)]
        );
    }

    #[test]
    fn very_many_spans_are_counted_and_the_shortest_merged() {
        let limit = |n: i64| if n % 2 == 0 { LimitingFactor::SlowStart } else { LimitingFactor::Idle };
        let answer: Vec<Span> = (0..50).map(|n| span(limit(n), 500 + 10 * n, 510 + 10 * n)).collect();
        let (listed, total) = ExchangeCut::new(&parts(&[], &answer)).spans(End::Client, Time::ZERO);
        assert!(listed.len() <= MAX_WAIT_SPANS, "{}", listed.len());
        assert_eq!(total, Some(1 + 2 + 50));
    }

    #[test]
    fn answer_that_overlaps_its_request_never_makes_the_exchange_longer() {
        let answer = [span(LimitingFactor::Bandwidth, 0, 5_000)];
        let overlapping = ExchangeParts { answer: Some((&answer, at(0), at(5_000))), ..parts(&[], &answer) };
        assert_eq!(cut(&overlapping), [(0, 1_000, Party::Network, LimitingFactor::Bandwidth)]);
    }
}
