//! Divides a transfer's time among the findings that claim it, so that their costs never add up to
//! more than there was.
//!
//! A rule counts its cost by itself and knows no other rule, so several may count the same seconds:
//! a policer and the timer that its drops set off, a proxy and the server behind it. Each second
//! belongs to one of them here: first to causes that explain others, then to those that name a
//! limit, then to the rest, and last to second readings of the same facts.

use super::say::WORTH_SAYING;
use crate::analysis::{CommonStatement, Finding, Limit};
use crate::cause::Cause;
use crate::limit::LimitTime;
use crate::units::Nanos;
use std::cmp::Reverse;

/// It delays the first byte that can be read, and no transfer as a whole.
const FIRST_BYTE: Cause = Cause::TlsRecordBuffering;

/// The order in which findings get their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Explains others, which would not be there without it.
    Root,
    /// Claims the time under certain limits.
    Limit,
    /// Claims time wherever some is left.
    Any,
    /// Reads facts that another finding may explain too.
    SecondReading,
}

/// What a cause claims: its rank, and the limits whose time it takes; `None` for any of them.
fn claim(cause: Cause) -> (Rank, Option<&'static [Limit]>) {
    use Limit as L;
    let limits: &'static [Limit] = match cause {
        Cause::Policer => {
            let losses = &[L::LossRecovery, L::Timeout, L::Bandwidth, L::CongestionAvoidance, L::SenderCap];
            return (Rank::Root, Some(losses));
        }
        Cause::Bandwidth | Cause::Shaper => return (Rank::Root, Some(&[L::Bandwidth])),
        Cause::MtuBlackHole => return (Rank::Root, None),
        Cause::SmallSegments => {
            let rounds = &[L::SlowStart, L::CongestionAvoidance, L::LossRecovery, L::Bandwidth, L::ReceiveWindow];
            return (Rank::Root, Some(rounds));
        }
        // Round trips that a queue makes longer: where the link is full the link takes that time.
        Cause::Bufferbloat => {
            return (Rank::SecondReading, Some(&[L::SlowStart, L::CongestionAvoidance, L::Unknown]));
        }
        Cause::ProxySplit => return (Rank::SecondReading, Some(&[L::Application, L::ServerThink])),
        Cause::HostCpu => return (Rank::SecondReading, None),
        Cause::Application => &[L::Application],
        Cause::DelayedAck => &[L::AckDelay],
        Cause::EarlySlowStartExit | Cause::Ecn => &[L::CongestionAvoidance],
        Cause::Loss | Cause::RandomLoss | Cause::Reordering => &[L::LossRecovery, L::CongestionAvoidance],
        Cause::LostRetransmission | Cause::TailLoss => &[L::Timeout, L::LossRecovery],
        Cause::SpuriousRetransmission => &[L::Timeout, L::LossRecovery, L::CongestionAvoidance],
        Cause::NoSack => &[L::LossRecovery],
        Cause::NoWindowScaling | Cause::ReceiveWindow => &[L::ReceiveWindow],
        Cause::Pacing => &[L::Pacing],
        Cause::ProtocolWindow => &[L::ProtocolWindow],
        Cause::RestartAfterIdle | Cause::SlowStart => &[L::SlowStart],
        Cause::SenderCap => &[L::SenderCap],
        Cause::ServerThink => &[L::ServerThink],
        Cause::Timeout => &[L::Timeout],
        Cause::ZeroWindow => &[L::ZeroWindow],
        _ => return (Rank::Any, None),
    };
    (Rank::Limit, Some(limits))
}

/// Bounds the costs of a transfer's findings by the time that there was: under the limits that held
/// it, and before its first byte.
pub(super) fn share_time(
    findings: &mut [Finding],
    within: impl IntoIterator<Item = LimitTime>,
    before: impl IntoIterator<Item = LimitTime>,
) {
    let part =
        |is_before| move |LimitTime { limit, time }| Part { limit, left: time, is_before, claims: 0, taker: None };
    let parts = within.into_iter().map(part(false)).chain(before.into_iter().map(part(true)));
    let mut parts: Vec<Part> = parts.filter(|part| part.limit != Limit::Idle).collect();
    let mut claims: Vec<Claim> = findings.iter().enumerate().filter_map(|(at, found)| Claim::of(at, found)).collect();
    for claim in &claims {
        parts.iter_mut().filter(|part| claim.names(part)).for_each(|part| part.claims += 1);
    }
    // What few claim goes first, so that those who may take other time do.
    parts.sort_by_key(|part| part.claims);
    for claim in &mut claims {
        let named: Nanos = parts.iter().filter(|part| claim.names(part)).map(|part| part.left).sum();
        claim.beyond = (claim.due - named).or_zero();
    }
    claims.sort_by_key(|claim| (claim.rank, claim.limits.map_or(usize::MAX, <[Limit]>::len), Reverse(claim.due)));
    let first_readings = claims.partition_point(|claim| claim.rank != Rank::SecondReading);
    let (first, second) = claims.split_at_mut(first_readings);
    first.iter_mut().for_each(|claim| claim.take(&mut parts, Nanos::MAX, Claim::names));
    // A cost that was not counted by limits has what is left of the transfer.
    first.iter_mut().for_each(|claim| claim.take(&mut parts, claim.beyond, |_, part| !part.is_before));
    second.iter_mut().for_each(|claim| claim.take(&mut parts, Nanos::MAX, Claim::names));
    for claim in claims.iter().filter(|claim| claim.due > ROUNDING) {
        let takers = parts.iter().filter(|part| claim.names(part)).filter_map(|part| part.taker);
        reduce(&mut findings[claim.at], claim.due, takers.into_iter().find(|cause| *cause != claim.cause));
    }
}

/// What a finding claims.
struct Claim {
    /// Its place among the findings.
    at: usize,
    cause: Cause,
    rank: Rank,
    limits: Option<&'static [Limit]>,
    /// What it has not got yet.
    due: Nanos,
    /// Its cost beyond all the time under the limits that it names.
    beyond: Nanos,
}

impl Claim {
    fn of(at: usize, finding: &Finding) -> Option<Self> {
        let cause = finding.cause;
        let (rank, limits) = claim(cause);
        (cause != FIRST_BYTE).then_some(Self { at, cause, rank, limits, due: finding.cost_s, beyond: Nanos::ZERO })
    }

    fn names(&self, part: &Part) -> bool {
        self.limits.is_none_or(|limits| limits.contains(&part.limit))
    }

    /// Takes what is due, up to `most`, from these parts.
    fn take(&mut self, parts: &mut [Part], most: Nanos, is_wanted: impl Fn(&Self, &Part) -> bool) {
        let mut wanted = self.due.min(most);
        for part in parts {
            if !is_wanted(self, part) {
                continue;
            }
            let taken = part.left.min(wanted);
            part.left -= taken;
            wanted -= taken;
            self.due -= taken;
            if taken > Nanos::ZERO {
                part.taker.get_or_insert(self.cause);
            }
        }
    }
}

/// Time under one limit.
struct Part {
    limit: Limit,
    /// What no finding has taken yet.
    left: Nanos,
    /// It passed before the transfer's first byte.
    is_before: bool,
    /// How many findings name its limit.
    claims: usize,
    /// The first cause that took some of it.
    taker: Option<Cause>,
}

/// Times are rounded when they are scaled.
const ROUNDING: Nanos = Nanos::from_micros(1);

/// Takes time from a finding that `other` has as well, or that was not there.
fn reduce(finding: &mut Finding, by: Nanos, other: Option<Cause>) {
    let rest = (finding.cost_s - by).or_zero();
    let rest = if rest < WORTH_SAYING { Nanos::ZERO } else { rest };
    if let Some(other) = other {
        finding.details.push(CommonStatement::CountedUnder { time_s: finding.cost_s - rest, cause: other }.into());
    }
    finding.cost_s = rest;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Statement;
    use crate::rules::say::finding;

    fn ms(millis: i64) -> Nanos {
        Nanos::from_millis(millis)
    }

    fn times<const N: usize>(of: [(Limit, i64); N]) -> [LimitTime; N] {
        of.map(|(limit, millis)| LimitTime { limit, time: ms(millis) })
    }

    fn statement() -> CommonStatement {
        CommonStatement::CostWhileLinkFull { time_s: Nanos::ZERO }
    }

    fn counted(millis: i64, cause: Cause) -> Statement {
        CommonStatement::CountedUnder { time_s: ms(millis), cause }.into()
    }

    fn shared<const N: usize, const W: usize>(
        causes: [(Cause, i64); N],
        within: [(Limit, i64); W],
        thinking: i64,
    ) -> [Finding; N] {
        let mut findings = causes.map(|(cause, millis)| finding(cause, ms(millis), 0.9, statement()));
        share_time(&mut findings, times(within), times([(Limit::ServerThink, thinking)]));
        findings
    }

    fn costs<const N: usize>(findings: &[Finding; N]) -> [i64; N] {
        findings.each_ref().map(|finding| finding.cost_s.0 / 1_000_000)
    }

    #[test]
    fn a_policer_takes_the_waits_that_it_causes() {
        let causes = [(Cause::Timeout, 600), (Cause::Policer, 1_400), (Cause::SlowStart, 500)];
        let within = [(Limit::LossRecovery, 800), (Limit::Timeout, 600), (Limit::SlowStart, 500)];
        let found = shared(causes, within, 0);
        assert_eq!(costs(&found), [0, 1_400, 500]);
        assert_eq!(found[0].details, [counted(600, Cause::Policer)]);
        assert!(found[1].details.is_empty());
    }

    #[test]
    fn one_wait_is_not_counted_for_the_server_and_for_a_proxy() {
        let found = shared([(Cause::ProxySplit, 825), (Cause::ServerThink, 825)], [(Limit::RoundTrip, 30)], 825);
        assert_eq!(costs(&found), [0, 825]);
        let found = shared([(Cause::ProxySplit, 825)], [(Limit::RoundTrip, 30)], 825);
        assert_eq!(costs(&found), [825], "alone it has all of it");
    }

    #[test]
    fn a_full_link_has_the_time_of_its_queue() {
        let within = [(Limit::Bandwidth, 1_000), (Limit::SlowStart, 100)];
        let found = shared([(Cause::Bandwidth, 1_000), (Cause::Bufferbloat, 460)], within, 0);
        assert_eq!(costs(&found), [1_000, 100]);
        let found = shared([(Cause::Bandwidth, 1_100), (Cause::Bufferbloat, 460)], within, 0);
        assert_eq!(costs(&found), [1_100, 0], "connections together show that it was full all along");
        assert_eq!(found[1].details, [counted(460, Cause::Bandwidth)]);
    }

    #[test]
    fn what_may_take_other_time_leaves_that_of_one_limit_to_those_that_name_it() {
        let causes = [(Cause::Loss, 600), (Cause::NoSack, 300), (Cause::LostRetransmission, 200)];
        let within = [(Limit::CongestionAvoidance, 600), (Limit::LossRecovery, 300), (Limit::Timeout, 200)];
        assert_eq!(costs(&shared(causes, within, 0)), [600, 300, 200]);
    }

    #[test]
    fn costs_that_no_limit_names_stay_where_nothing_contradicts() {
        let found = shared([(Cause::TailLoss, 900), (Cause::Policer, 950)], [(Limit::Unknown, 1_000)], 0);
        assert_eq!(costs(&found), [50, 950]);
        assert_eq!(costs(&shared([(Cause::TailLoss, 900)], [(Limit::Unknown, 1_000)], 0)), [900]);
    }

    #[test]
    fn costs_never_add_up_to_more_than_there_was() {
        let all = Cause::ALL.iter().filter(|cause| **cause != FIRST_BYTE);
        let mut findings: Vec<Finding> = all.map(|&cause| finding(cause, ms(700), 0.9, statement())).collect();
        let within = times([(Limit::SlowStart, 300), (Limit::Bandwidth, 200), (Limit::Idle, 5_000)]);
        share_time(&mut findings, within, times([(Limit::ServerThink, 100)]));
        assert_eq!(findings.iter().map(|finding| finding.cost_s).sum::<Nanos>(), ms(600));
    }
}
