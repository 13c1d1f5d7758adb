//! [`Span`]: a stretch of time under one limit; sums of such times.

use whyslow_analysis::LimitTime;
use whyslow_analysis::types::LimitingFactor;
use whyslow_units::{Nanos, Time};

/// A stretch of time under one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which.
    pub limit: LimitingFactor,
    /// From.
    pub start: Time,
    /// To.
    pub end: Time,
}

impl Span {
    /// How long.
    pub fn length(&self) -> Nanos {
        (self.end - self.start).or_zero()
    }

    /// The same without its place in time.
    pub fn limit_time(&self) -> LimitTime {
        LimitTime { limit: self.limit, time: self.length() }
    }
}

/// Cuts a stretch of time into spans.
///
/// Each span starts where the previous one ended, and none reaches beyond the end of the stretch,
/// so that they add up to it whatever the times of packets are.
#[derive(Debug)]
pub(crate) struct SpanCutter {
    spans: Vec<Span>,
    start: Time,
    end: Time,
}

impl SpanCutter {
    /// Starts at the beginning of the stretch from `start` to `end`.
    pub(crate) fn new(start: Time, end: Time) -> Self {
        Self { spans: Vec::new(), start, end }
    }

    /// Adds a span up to this time, if it takes any.
    pub(crate) fn add(&mut self, limit: LimitingFactor, until: Time) {
        let start = self.spans.last().map_or(self.start, |last| last.end);
        let end = until.min(self.end);
        if end > start {
            self.spans.push(Span { limit, start, end });
        }
    }

    /// Removes the spans after this time.
    pub(crate) fn truncate(&mut self, until: Time) {
        self.spans.truncate(self.spans.partition_point(|span| span.start < until));
        if let Some(last) = self.spans.last_mut() {
            last.end = last.end.min(until);
        }
    }

    /// Returns the spans so far.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Returns the spans of the whole stretch: the rest of it is unknown.
    pub(crate) fn finish(mut self) -> Vec<Span> {
        self.add(LimitingFactor::Unknown, self.end);
        self.spans
    }
}

/// The spans up to the end of the last wait: without the idle time at the end, such as
/// the wait for the ACK of bytes that had all arrived.
pub fn without_idle_end(spans: &[Span]) -> &[Span] {
    let idle = spans.iter().rev().take_while(|span| span.limit == LimitingFactor::Idle).count();
    spans.get(..spans.len() - idle).unwrap_or(spans)
}

/// The same as at most about `most` runs of one limit, in time order: the shortest are added to
/// their neighbours.
pub(crate) fn merge_runs(spans: &[Span], most: usize) -> Vec<Span> {
    let mut runs: Vec<Span> = Vec::new();
    let push = |runs: &mut Vec<Span>, span: Span| match runs.last_mut() {
        Some(last) if last.limit == span.limit => last.end = span.end,
        _ => runs.push(span),
    };
    for &span in spans {
        push(&mut runs, span);
    }
    let mut shortest = Nanos::from_micros(100);
    while runs.len() > most {
        let mut fewer: Vec<Span> = Vec::with_capacity(runs.len());
        for span in runs {
            match fewer.last_mut() {
                Some(last) if span.length() < shortest => last.end = span.end,
                _ => push(&mut fewer, span),
            }
        }
        runs = fewer;
        shortest = shortest.scale(2.0);
    }
    runs
}

/// Sums times by limit, most first.
pub fn sum_by_limit(times: impl Iterator<Item = LimitTime>) -> Vec<LimitTime> {
    let mut sums: Vec<LimitTime> = Vec::new();
    for part in times {
        match sums.iter_mut().find(|known| known.limit == part.limit) {
            Some(sum) => sum.time += part.time,
            None => sums.push(part),
        }
    }
    sums.retain(|sum| sum.time > Nanos::ZERO);
    sums.sort_by_key(|sum| (std::cmp::Reverse(sum.time), sum.limit));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_end_is_not_part_of_a_transfer() {
        let at = Time::from_millis;
        let span = |limit, start, end| Span { limit, start: at(start), end: at(end) };
        let spans = [
            span(LimitingFactor::SlowStart, 0, 40),
            span(LimitingFactor::Idle, 40, 50),
            span(LimitingFactor::RoundTrip, 50, 60),
            span(LimitingFactor::Idle, 60, 90),
            span(LimitingFactor::Idle, 90, 8_700),
        ];
        assert_eq!(without_idle_end(&spans), &spans[..3]);
        assert!(without_idle_end(&spans[3..]).is_empty());
    }
}
