//! Divides a transfer's time among the findings that claim it.
//!
//! A rule counts its cost by itself and does not use other rules' results, so several may count the
//! same seconds: a policer and the timer that its drops start, a proxy and the server behind it.
//! Here each moment goes to one of them, in the order of [`precedence`](super::precedence), and a
//! finding costs the time that it received: its `spans` add up to its `cost_s`.
//!
//! A rule may name its moments (its finding has spans already). In other time a finding that costs
//! less than a span takes the span's end: a wait is at the end of its round.

use super::precedence::{self, Rank};
use std::cmp::Reverse;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::MIN_NOTICEABLE_DELAY;
use whyslow_analysis::{CommonStatement, CostSpan, Finding, LimitingFactor};
use whyslow_units::Nanos;

/// It delays the first byte that can be read, and no transfer as a whole.
const FIRST_BYTE: Cause = Cause::TlsRecordBuffering;

/// A stretch of a transfer's time under one limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub limit: LimitingFactor,
    pub span: CostSpan,
    /// It passed before the transfer's first byte.
    pub is_before: bool,
}

/// Phases before a transfer with known lengths: they are laid end to end, up to its `start`.
pub(crate) fn end_to_end(
    phases: impl DoubleEndedIterator<Item = (LimitingFactor, Nanos)>,
    start: Nanos,
) -> Vec<Stretch> {
    let mut end = start;
    let mut laid: Vec<Stretch> = Vec::new();
    for (limit, seconds) in phases.rev() {
        end -= seconds;
        laid.push(Stretch { limit, span: CostSpan { start_s: end, seconds }, is_before: true });
    }
    laid.reverse();
    laid
}

/// Gives each finding the moments that it claims and no other finding has; they are its cost.
/// `time`: the transfer's stretches, in its order.
pub(crate) fn attribute(findings: &mut [Finding], time: impl IntoIterator<Item = Stretch>) {
    let mut claims: Vec<Claim> = findings.iter().enumerate().filter_map(|(at, found)| Claim::of(at, found)).collect();
    if claims.is_empty() {
        return;
    }
    let mut parts = parts(time, &claims);
    // Moments named by a rule are left to it while there is other time.
    let pointed_at = union(claims.iter().flat_map(|claim| claim.meant.iter().copied()));
    for claim in &mut claims {
        let named: Nanos = parts.iter().filter(|part| claim.names(part)).map(|part| part.left).sum();
        claim.beyond = (claim.due - named).or_zero();
    }
    claims.sort_by_key(|claim| {
        (claim.rank, claim.limits.map_or(usize::MAX, <[LimitingFactor]>::len), Reverse(claim.due))
    });
    let first_readings = claims.partition_point(|claim| claim.rank != Rank::SecondReading);
    let (first, second) = claims.split_at_mut(first_readings);
    first.iter_mut().for_each(|claim| claim.take(&mut parts, &pointed_at, Nanos::MAX, Claim::names));
    // A cost that was not counted by limits gets the rest of the transfer.
    first.iter_mut().for_each(|claim| claim.take(&mut parts, &pointed_at, claim.beyond, |_, part| !part.is_before));
    second.iter_mut().for_each(|claim| claim.take(&mut parts, &pointed_at, Nanos::MAX, Claim::names));
    for claim in claims {
        let takers = parts.iter().filter(|part| claim.names(part)).filter_map(|part| part.taker);
        let other = takers.into_iter().find(|cause| *cause != claim.cause);
        let finding = &mut findings[claim.at];
        finding.place(claim.got);
        if claim.due > ROUNDING {
            reduce(finding, claim.due, other);
        }
    }
}

/// The time of a transfer, by limit: limits with few claims first, so that flexible claims take
/// other time; and among these the longest first.
fn parts(time: impl IntoIterator<Item = Stretch>, claims: &[Claim]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for Stretch { limit, span, is_before } in time {
        if limit == LimitingFactor::Idle || span.seconds <= Nanos::ZERO {
            continue;
        }
        let known = parts.iter_mut().find(|part| part.limit == limit && part.is_before == is_before);
        match known {
            Some(part) => part.add(span),
            None => parts.push(Part::new(limit, is_before, span)),
        }
    }
    for part in &mut parts {
        part.claims = claims.iter().filter(|claim| claim.names(part)).count();
    }
    parts.sort_by_key(|part| (part.claims, part.is_before, Reverse(part.left), part.limit));
    parts
}

/// The claim of a finding.
struct Claim {
    /// Its place among the findings.
    at: usize,
    cause: Cause,
    rank: Rank,
    limits: Option<&'static [LimitingFactor]>,
    /// The moments that its rule means, in time order; none if it means no certain ones.
    meant: Vec<CostSpan>,
    /// Time still to be assigned.
    due: Nanos,
    /// Its cost beyond all the time under the limits that it names.
    beyond: Nanos,
    /// Assigned spans.
    got: Vec<CostSpan>,
}

impl Claim {
    fn of(at: usize, finding: &Finding) -> Option<Self> {
        let cause = finding.cause;
        if cause == FIRST_BYTE || finding.cost_s <= Nanos::ZERO {
            return None;
        }
        let (rank, limits) = precedence::of(cause);
        let meant = finding.spans.clone();
        Some(Self { at, cause, rank, limits, meant, due: finding.cost_s, beyond: Nanos::ZERO, got: Vec::new() })
    }

    fn names(&self, part: &Part) -> bool {
        self.limits.is_none_or(|limits| limits.contains(&part.limit))
    }

    /// Takes the claimed time, up to `most`, from these parts.
    fn take(
        &mut self,
        parts: &mut [Part],
        pointed_at: &[CostSpan],
        most: Nanos,
        is_wanted: impl Fn(&Self, &Part) -> bool,
    ) {
        let mut wanted = self.due.min(most);
        for part in parts {
            if !is_wanted(self, part) {
                continue;
            }
            let taken = part.left.min(wanted);
            if taken <= Nanos::ZERO {
                continue;
            }
            part.take(taken, [&self.meant, pointed_at], &mut self.got);
            wanted -= taken;
            self.due -= taken;
            part.taker.get_or_insert(self.cause);
        }
    }
}

/// Time under one limit.
struct Part {
    limit: LimitingFactor,
    /// It passed before the transfer's first byte.
    is_before: bool,
    /// Spans that no finding has taken yet, in time order, …
    free: Vec<CostSpan>,
    /// … and their total time.
    left: Nanos,
    /// How many findings name its limit.
    claims: usize,
    /// The first cause that took some of it.
    taker: Option<Cause>,
}

impl Part {
    fn new(limit: LimitingFactor, is_before: bool, span: CostSpan) -> Self {
        Self { limit, is_before, free: vec![span], left: span.seconds, claims: 0, taker: None }
    }

    fn add(&mut self, span: CostSpan) {
        self.left += span.seconds;
        match self.free.last_mut() {
            Some(last) if last.end() == span.start_s => last.seconds += span.seconds,
            _ => self.free.push(span),
        }
    }

    /// Moves `amount` of it, which it has, to `got`: the moments that are `meant` first, then those
    /// that no rule points at, of each the same share, at its end.
    fn take(&mut self, amount: Nanos, [meant, pointed_at]: [&[CostSpan]; 2], got: &mut Vec<CostSpan>) {
        self.left -= amount;
        if self.left <= Nanos::ZERO {
            got.append(&mut self.free);
            return;
        }
        let before = got.len();
        self.free = split(&self.free, meant, amount, got);
        let due = amount - sum(&got[before..]);
        let mut pointed = Vec::new();
        let mut open = split(&self.free, pointed_at, Nanos::MAX, &mut pointed);
        let of_open = due.min(sum(&open));
        take_ends(&mut open, of_open, got);
        take_ends(&mut pointed, due - of_open, got);
        open.append(&mut pointed);
        open.sort_unstable_by_key(|span| span.start_s);
        self.free = open;
    }
}

/// Moves the parts of `spans` within `moments`, up to `most`, to `got`; returns the rest. All are
/// in time order and do not overlap.
fn split(spans: &[CostSpan], moments: &[CostSpan], most: Nanos, got: &mut Vec<CostSpan>) -> Vec<CostSpan> {
    let mut due = most;
    let mut rest = Vec::with_capacity(spans.len());
    for &span in spans {
        let mut from = span.start_s;
        let first = moments.partition_point(|one| one.end() <= span.start_s);
        for one in moments[first..].iter().take_while(|one| one.start_s < span.end()) {
            let start = one.start_s.max(from);
            let length = (one.end().min(span.end()) - start).or_zero().min(due);
            if length > Nanos::ZERO {
                push(&mut rest, from, start);
                push(got, start, start + length);
                due -= length;
                from = start + length;
            }
        }
        push(&mut rest, from, span.end());
    }
    rest
}

/// The same moments in time order, each once.
fn union(spans: impl Iterator<Item = CostSpan>) -> Vec<CostSpan> {
    let mut all: Vec<CostSpan> = spans.collect();
    all.sort_unstable_by_key(|span| span.start_s);
    let mut merged: Vec<CostSpan> = Vec::with_capacity(all.len());
    for span in all {
        let from = merged.last().map_or(span.start_s, |last| last.end().max(span.start_s));
        push(&mut merged, from, span.end());
    }
    merged
}

fn sum(spans: &[CostSpan]) -> Nanos {
    spans.iter().map(|span| span.seconds).sum()
}

fn push(spans: &mut Vec<CostSpan>, start_s: Nanos, end: Nanos) {
    if end > start_s {
        spans.push(CostSpan { start_s, seconds: end - start_s });
    }
}

/// Moves `amount` from the ends of `spans`, of each the same share.
fn take_ends(spans: &mut Vec<CostSpan>, amount: Nanos, got: &mut Vec<CostSpan>) {
    let all: i128 = spans.iter().map(|span| i128::from(span.seconds.0)).sum();
    if all <= 0 || amount <= Nanos::ZERO {
        return;
    }
    let (mut passed, mut given) = (0_i128, 0_i64);
    for span in spans.iter_mut() {
        passed += i128::from(span.seconds.0);
        // Rounded over all so far, so that the sum is exact.
        let until = i64::try_from(i128::from(amount.0) * passed / all).unwrap_or(i64::MAX);
        let part = Nanos(until - given).min(span.seconds);
        given += part.0;
        span.seconds -= part;
        push(got, span.end(), span.end() + part);
    }
    spans.retain(|span| span.seconds > Nanos::ZERO);
}

/// Error of scaled times. Follows from the resolution of most captures: a microsecond
/// (draft-ietf-opsawg-pcap).
const ROUNDING: Nanos = Nanos::from_micros(1);

/// Takes time from a finding that `other` has as well, or that was not there.
fn reduce(finding: &mut Finding, by: Nanos, other: Option<Cause>) {
    let rest = (finding.cost_s - by).or_zero();
    let rest = if rest < MIN_NOTICEABLE_DELAY { Nanos::ZERO } else { rest };
    if let Some(other) = other {
        finding.details.push(CommonStatement::CountedUnder { time_s: finding.cost_s - rest, cause: other }.into());
    }
    finding.cost_s = rest;
    if rest == Nanos::ZERO {
        finding.place(Vec::new());
    }
}

/// Lowers the cost of a finding to `rest`, and shortens its spans accordingly.
pub(crate) fn reduce_to(finding: &mut Finding, rest: Nanos) {
    let mut kept = Vec::new();
    let all = finding.spans_total;
    let had = sum(&finding.spans);
    take_ends(&mut finding.spans, rest.min(had), &mut kept);
    finding.cost_s = rest;
    finding.place(kept);
    finding.spans_total = finding.spans_total.or(all);
}

/// Takes these moments from a finding, as another has them: it costs `time` less.
pub(crate) fn give_up(finding: &mut Finding, moments: &[CostSpan], time: Nanos) {
    let mut kept = Vec::new();
    for span in &finding.spans {
        let mut from = span.start_s;
        for gone in moments.iter().filter(|gone| gone.start_s < span.end() && gone.end() > span.start_s) {
            push(&mut kept, from, gone.start_s);
            from = from.max(gone.end());
        }
        push(&mut kept, from, span.end());
    }
    finding.place(kept);
    let rest = (finding.cost_s - time).or_zero();
    reduce_to(finding, rest);
}

#[cfg(test)]
mod tests;
