use super::*;
use proptest::prelude::*;
use whyslow_analysis::Statement;

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

/// Time under these limits, one after the other, up to `end`.
fn times<const N: usize>(of: [(LimitingFactor, i64); N], end: i64) -> Vec<Stretch> {
    end_to_end(of.map(|(limit, millis)| (limit, ms(millis))).into_iter(), ms(end))
}

fn all_time<const N: usize>(within: [(LimitingFactor, i64); N], thinking: i64) -> Vec<Stretch> {
    let whole: i64 = within.iter().map(|part| part.1).sum();
    let mut time = times([(LimitingFactor::ServerThink, thinking)], 0);
    time.extend(times(within, whole).into_iter().map(|stretch| Stretch { is_before: false, ..stretch }));
    time
}

fn statement() -> CommonStatement {
    CommonStatement::CostWhileLinkFull { time_s: Nanos::ZERO }
}

fn counted(millis: i64, cause: Cause) -> Statement {
    CommonStatement::CountedUnder { time_s: ms(millis), cause }.into()
}

fn shared<const N: usize, const W: usize>(
    causes: [(Cause, i64); N],
    within: [(LimitingFactor, i64); W],
    thinking: i64,
) -> [Finding; N] {
    let mut findings = causes.map(|(cause, millis)| Finding::new(cause, ms(millis), 0.9, statement()));
    attribute(&mut findings, all_time(within, thinking));
    assert_sound(&findings);
    findings
}

fn costs<const N: usize>(findings: &[Finding; N]) -> [i64; N] {
    findings.each_ref().map(|finding| finding.cost_s.0 / 1_000_000)
}

#[test]
fn policer_claims_the_waits_that_it_causes() {
    let causes = [(Cause::Timeout, 600), (Cause::Policer, 1_400), (Cause::SlowStart, 500)];
    let within =
        [(LimitingFactor::LossRecovery, 800), (LimitingFactor::Timeout, 600), (LimitingFactor::SlowStart, 500)];
    let found = shared(causes, within, 0);
    assert_eq!(costs(&found), [0, 1_400, 500]);
    assert_eq!(found[0].details, [counted(600, Cause::Policer)]);
    assert!(found[1].details.is_empty());
}

#[test]
fn wait_is_not_counted_for_server_and_proxy() {
    let found = shared([(Cause::ProxySplit, 825), (Cause::ServerThink, 825)], [(LimitingFactor::RoundTrip, 30)], 825);
    assert_eq!(costs(&found), [0, 825]);
    let found = shared([(Cause::ProxySplit, 825)], [(LimitingFactor::RoundTrip, 30)], 825);
    assert_eq!(costs(&found), [825], "alone it has all of it");
}

#[test]
fn full_link_claims_the_time_of_its_queue() {
    let within = [(LimitingFactor::Bandwidth, 1_000), (LimitingFactor::SlowStart, 100)];
    let found = shared([(Cause::Bandwidth, 1_000), (Cause::Bufferbloat, 460)], within, 0);
    assert_eq!(costs(&found), [1_000, 100]);
    let found = shared([(Cause::Bandwidth, 1_100), (Cause::Bufferbloat, 460)], within, 0);
    assert_eq!(costs(&found), [1_100, 0], "connections together show that it was full all along");
    assert_eq!(found[1].details, [counted(460, Cause::Bandwidth)]);
}

#[test]
fn flexible_claims_leave_time_to_claims_of_one_limit() {
    let causes = [(Cause::Loss, 600), (Cause::NoSack, 300), (Cause::LostRetransmission, 200)];
    let within = [
        (LimitingFactor::CongestionAvoidance, 600),
        (LimitingFactor::LossRecovery, 300),
        (LimitingFactor::Timeout, 200),
    ];
    assert_eq!(costs(&shared(causes, within, 0)), [600, 300, 200]);
}

#[test]
fn costs_without_a_limit_stay_if_uncontradicted() {
    let found = shared([(Cause::TailLoss, 900), (Cause::Policer, 950)], [(LimitingFactor::Unknown, 1_000)], 0);
    assert_eq!(costs(&found), [50, 950]);
    assert_eq!(costs(&shared([(Cause::TailLoss, 900)], [(LimitingFactor::Unknown, 1_000)], 0)), [900]);
}

#[test]
fn costs_add_up_to_at_most_the_duration() {
    let all = Cause::ALL.iter().filter(|cause| **cause != FIRST_BYTE);
    let mut findings: Vec<Finding> = all.map(|&cause| Finding::new(cause, ms(700), 0.9, statement())).collect();
    let within = [(LimitingFactor::SlowStart, 300), (LimitingFactor::Bandwidth, 200), (LimitingFactor::Idle, 5_000)];
    attribute(&mut findings, all_time(within, 100));
    assert_sound(&findings);
    assert_eq!(findings.iter().map(|finding| finding.cost_s).sum::<Nanos>(), ms(600));
}

/// Every finding costs its spans, and no moment belongs to two.
#[track_caller]
fn assert_sound(findings: &[Finding]) {
    let mut all: Vec<CostSpan> = Vec::new();
    for finding in findings.iter().filter(|finding| finding.cause != FIRST_BYTE) {
        let spans = sum(&finding.spans);
        assert!((finding.cost_s - spans).0.abs() <= ROUNDING.0, "{:?}: {:?}", finding.cause, finding.spans);
        all.extend(&finding.spans);
    }
    all.sort_unstable_by_key(|span| span.start_s);
    assert!(all.windows(2).all(|pair| pair[0].end() <= pair[1].start_s), "{all:?}");
}

fn span(from: i64, to: i64) -> CostSpan {
    CostSpan { start_s: ms(from), seconds: ms(to - from) }
}

#[test]
fn moments_named_by_a_rule_are_its_own() {
    let mut tail = Finding::new(Cause::TailLoss, ms(300), 0.9, statement());
    tail.spans = vec![span(500, 800)];
    let mut findings = [Finding::new(Cause::Timeout, ms(400), 0.9, statement()), tail];
    let wait = |from, to| Stretch { limit: LimitingFactor::Timeout, span: span(from, to), is_before: false };
    attribute(&mut findings, [wait(0, 400), wait(500, 800)]);
    assert_sound(&findings);
    assert_eq!((&findings[0].spans[..], &findings[1].spans[..]), (&[span(0, 400)][..], &[span(500, 800)][..]));
}

#[test]
fn partial_cost_is_at_the_end_of_each_wait() {
    let mut findings = [Finding::new(Cause::SlowStart, ms(50), 0.9, statement())];
    let round = |from, to| Stretch { limit: LimitingFactor::SlowStart, span: span(from, to), is_before: false };
    attribute(&mut findings, [round(0, 60), round(100, 140)]);
    assert_eq!(findings[0].spans, [span(30, 60), span(120, 140)]);
}

#[test]
fn released_moments_cost_nothing() {
    let mut finding = Finding::new(Cause::Application, ms(600), 0.9, statement());
    finding.spans = vec![span(0, 200), span(300, 700)];
    give_up(&mut finding, &[span(300, 500)], ms(200));
    assert_eq!((finding.cost_s, &finding.spans[..]), (ms(400), &[span(0, 200), span(500, 700)][..]));
}

#[test]
fn spans_are_counted_and_the_longest_listed() {
    let mut findings = [Finding::new(Cause::DelayedAck, ms(100_000), 0.9, statement())];
    let wait =
        |n: i64| Stretch { limit: LimitingFactor::AckDelay, span: span(100 * n, 100 * n + 10 + n), is_before: false };
    attribute(&mut findings, (0..80).map(wait));
    assert_eq!((findings[0].spans.len(), findings[0].spans_total), (whyslow_analysis::MAX_COST_SPANS, Some(80)));
    assert_eq!(findings[0].spans[0], span(1_600, 1_626));
}

proptest! {
    #[test]
    fn every_moment_is_assigned_once(
        time in prop::collection::vec((0usize..LimitingFactor::ALL.len(), 0i64..400), 0..40),
        claimed in prop::collection::vec((0usize..Cause::ALL.len(), 0i64..3_000), 0..8),
        meant in prop::collection::vec((0i64..4_000, 1i64..300), 0..6),
    ) {
        let mut findings: Vec<Finding> = Vec::new();
        for &(cause, millis) in &claimed {
            let mut finding = Finding::new(Cause::ALL[cause], ms(millis), 0.5, statement());
            finding.place(meant.iter().map(|&(from, length)| span(from, from + length)).collect());
            findings.push(finding);
        }
        let all: i64 = time.iter().map(|part| part.1).sum();
        let laid = end_to_end(time.iter().map(|&(limit, millis)| (LimitingFactor::ALL[limit], ms(millis))), ms(all));
        let available: Nanos = laid.iter().filter(|part| part.limit != LimitingFactor::Idle).map(|part| part.span.seconds).sum();
        attribute(&mut findings, laid.into_iter().map(|stretch| Stretch { is_before: false, ..stretch }));
        findings.iter_mut().filter(|finding| finding.cost_s == Nanos::ZERO).for_each(|finding| finding.spans.clear());
        assert_sound(&findings);
        let cost: Nanos = findings.iter().filter(|one| one.cause != FIRST_BYTE).map(|finding| finding.cost_s).sum();
        let rounding = Nanos(ROUNDING.0 * findings.len() as i64);
        prop_assert!(cost <= available + rounding, "{cost:?} of {available:?}");
    }
}
