//! `rules`: limits and events → findings. One file a rule; its documentation is the file's own doc comment.
//!
//! A rule sees what the `tcp` stage counted and how `limit` cut the time, never a packet. It gives a finding when a cause
//! cost enough to matter, with the evidence, a confidence, and what to do. To add one: write its file, and list it in
//! `RULES`; what it needs of a connection to tell of time must be more than `cost_nothing` lets pass.

mod amplification_risk;
mod application;
mod bad_checksums;
mod bandwidth;
mod bufferbloat;
mod calibration;
mod capture_loss;
mod case;
mod client_think;
mod clock_step;
mod coarse_times;
mod command;
mod delayed_ack;
mod duplication;
mod early_slow_start_exit;
mod ecn;
mod elided_text;
mod host_cpu;
pub(crate) mod icmp;
mod loss;
mod lost_retransmission;
mod mtu_black_hole;
mod nagle_delayed_ack;
mod new_connection_each_time;
mod no_answer;
mod no_handshake;
mod no_sack;
mod no_window_scaling;
mod offload;
mod one_direction;
mod outstanding;
mod pacing;
mod path_latency;
mod policer;
mod protocol_window;
mod proxy_split;
mod random_loss;
mod receive_window;
mod reordering;
mod reset;
mod restart_after_idle;
pub(crate) mod say;
#[cfg(test)]
mod scene;
mod sender_cap;
mod server_think;
mod shaper;
mod shared;
mod short_snaplen;
mod slow_start;
mod small_segments;
mod spurious_retransmission;
mod syn_loss;
mod tail_loss;
mod terse_text;
mod timeout;
mod tls_record_buffering;
mod together;
mod turn_taking;
mod zero_window;

pub(crate) use calibration::calibrate;
pub use case::{ConnectionCase, Outline, TransferCase};
pub use early_slow_start_exit::{Exit, exit_of};
pub use shared::{Flows, Joint};
pub use together::Together;

use crate::analysis::{Connection, Finding, HEALTHY, Limit, Problem, UNTOLD, UNTOLD_ELIDED};
use crate::limit;
use crate::tcp::Brief;
use crate::tcp::facts::Facts;
use crate::units::Nanos;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A rule: a cause, its documentation and its check.
struct Rule {
    slug: &'static str,
    source: &'static str,
    check: Check,
}

/// What a rule looks at.
enum Check {
    /// One transfer.
    Transfer(fn(&TransferCase<'_>) -> Option<Finding>),
    /// All transfers of a connection.
    Connection(fn(&ConnectionCase<'_>) -> Option<Finding>),
    /// All connections.
    Across(fn(&[Outline]) -> Vec<Finding>),
    /// One transfer, and then all connections.
    TransferAndAcross(fn(&TransferCase<'_>) -> Option<Finding>, fn(&[Outline]) -> Vec<Finding>),
    /// What the capture of a connection cannot show.
    Capture(fn(&Facts) -> Option<Problem>),
    /// Found by the capture readers, which count it in the capture's problems.
    Reader,
}

/// Every rule, in alphabetical order of slugs.
const RULES: &[Rule] = &[
    amplification_risk::RULE,
    application::RULE,
    bad_checksums::RULE,
    bandwidth::RULE,
    bufferbloat::RULE,
    capture_loss::RULE,
    client_think::RULE,
    clock_step::RULE,
    coarse_times::RULE,
    delayed_ack::RULE,
    duplication::RULE,
    early_slow_start_exit::RULE,
    ecn::RULE,
    elided_text::RULE,
    host_cpu::RULE,
    loss::RULE,
    lost_retransmission::RULE,
    mtu_black_hole::RULE,
    nagle_delayed_ack::RULE,
    new_connection_each_time::RULE,
    no_answer::RULE,
    no_handshake::RULE,
    no_sack::RULE,
    no_window_scaling::RULE,
    offload::RULE,
    one_direction::RULE,
    pacing::RULE,
    path_latency::RULE,
    policer::RULE,
    protocol_window::RULE,
    proxy_split::RULE,
    random_loss::RULE,
    receive_window::RULE,
    reordering::RULE,
    reset::RULE,
    restart_after_idle::RULE,
    sender_cap::RULE,
    server_think::RULE,
    shaper::RULE,
    short_snaplen::RULE,
    slow_start::RULE,
    small_segments::RULE,
    spurious_retransmission::RULE,
    syn_loss::RULE,
    tail_loss::RULE,
    terse_text::RULE,
    timeout::RULE,
    tls_record_buffering::RULE,
    turn_taking::RULE,
    zero_window::RULE,
];

/// What one transfer lost, and why; most seconds first.
pub fn check_transfer(case: &TransferCase<'_>) -> Vec<Finding> {
    sorted(RULES.iter().filter_map(|rule| match rule.check {
        Check::Transfer(check) | Check::TransferAndAcross(check, _) => check(case),
        _ => None,
    }))
}

/// What a connection's transfers lost together; most seconds first.
pub fn check_connection(case: &ConnectionCase<'_>) -> Vec<Finding> {
    sorted(RULES.iter().filter_map(|rule| match rule.check {
        Check::Connection(check) => check(case),
        _ => None,
    }))
}

/// Whether a connection within these bounds can have lost no time to any cause: each rule that tells of time needs more. Of a rate
/// that is steady it needs eight bins of ten segments (`limit`), and all else that takes several rounds is out of the question. Of one
/// direction alone, in order, no rule tells of any time, whoever may have been waiting: no ACK, answer or copy shows for what.
pub(crate) fn cost_nothing(brief: &Brief) -> bool {
    const STEADY: u64 = 80;
    if brief.one_direction {
        return true;
    }
    brief.sending < say::WORTH_SAYING
        && brief.pauses < nagle_delayed_ack::LEAST as u64
        && brief.late_ack < limit::DELAYED_ACK
        && brief.answer <= limit::NOTICED
        && brief.transfers < turn_taking::LEAST_TURNS
        && brief.largest < STEADY
        && brief.late_handshake <= path_latency::LATE
        && !brief.waits
}

/// What connections that ran at the same time change in what was said of each: bottlenecks that they share, and waits for one another.
pub(crate) fn check_together(flows: &Flows, connections: &mut [Connection]) -> Joint {
    shared::together(flows, connections)
}

/// What several connections lost together, and what most of a server's or of a path's have in common; most seconds first. `joint`: what
/// is known of those that ran at the same time.
pub(crate) fn check_across(outlines: &[Outline], connections: &[Connection], joint: Vec<Finding>) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES
        .iter()
        .flat_map(|rule| match rule.check {
            Check::Across(check) | Check::TransferAndAcross(_, check) => check(outlines),
            _ => Vec::new(),
        })
        .chain(joint)
        .collect();
    found.extend(shared::check(connections, &found));
    sorted(found.into_iter())
}

/// What the capture of a connection cannot show.
pub fn capture_problems(facts: &Facts) -> Vec<Problem> {
    RULES
        .iter()
        .filter_map(|rule| match rule.check {
            Check::Capture(check) => check(facts),
            _ => None,
        })
        .collect()
}

/// The verdict on a transfer in one sentence. A cause is named alone only if it took half of the time, or twice as much as
/// the next.
pub fn verdict(case: &TransferCase<'_>, findings: &[Finding]) -> String {
    // A risk costs no time: it is told below, and is not why the transfer took what it took.
    match told(findings, case.duration()) {
        Some(_) if case.transfer.told.is_some() => {
            let (shown, whole) = (say::time(case.transfer.told_for()), say::time(case.duration()));
            format!("what held it back is known for {shown} of {whole} only: packets of it were left out of the text")
        }
        Some(told) => told,
        None => without_cause(case),
    }
}

/// What findings say of a transfer that took so long; none where none of them cost time.
fn told(findings: &[Finding], whole: Nanos) -> Option<String> {
    let costly = findings.iter().take_while(|finding| finding.seconds > Nanos::ZERO).count();
    let [first, rest @ ..] = &findings[..costly] else {
        return None;
    };
    let clear = first.seconds.0 * 2 >= whole.0 || rest.first().is_none_or(|next| first.seconds.0 >= 2 * next.seconds.0);
    Some(if clear {
        format!("{}: {}", first.cause, first.summary)
    } else {
        let names: Vec<String> = findings
            .iter()
            .take(3)
            .map(|finding| format!("{} {}", finding.cause, say::time(finding.seconds)))
            .collect();
        format!("mixed: {}", names.join(", "))
    })
}

/// A share of the time that is more than a second round trip's or a tail's: of two flights the first one's wait is half.
const HELD: f64 = 0.4;
/// Of what limits took, a share that leaves nothing of note to the others.
const ALONE: f64 = 0.8;

/// The verdict where no rule claims the time. What a path needs is its round trip: where limits took two fifths
/// of the time or more, and enough of it for a person to notice, something did hold the transfer back.
fn without_cause(case: &TransferCase<'_>) -> String {
    let whole = case.duration();
    let mostly = |time: Nanos| time.0 * 2 >= whole.0.max(1);
    let needed = |limit| matches!(limit, Limit::RoundTrip | Limit::Idle);
    let held: Vec<_> = case.partition.shares().into_iter().filter(|share| !needed(share.limit)).collect();
    let sum: Nanos = held.iter().map(|share| share.seconds).sum();
    if case.facts.timeless || case.facts.doubts.one_direction || mostly(case.time(Limit::Unknown)) {
        let elided = !case.facts.timeless && case.transfer.told.is_some();
        return if elided { UNTOLD_ELIDED } else { UNTOLD }.into();
    }
    let [first, ..] = held[..] else {
        return HEALTHY.into();
    };
    if case.share(sum) < HELD || sum < say::WORTH_SAYING {
        return HEALTHY.into();
    }
    let name = |limit: Limit| limit.slug().replace('-', " ");
    if first.seconds >= sum.scale(ALONE) {
        let (taken, whole) = (say::time(first.seconds), say::time(whole));
        return format!("{} took {taken} of {whole}; no cause of it is proven", name(first.limit));
    }
    let parts: Vec<String> =
        held.iter().take(3).map(|share| format!("{} {}", name(share.limit), say::time(share.seconds))).collect();
    format!("no cause is proven for {} of {}: {}", say::time(sum), say::time(whole), parts.join(", "))
}

fn sorted(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut findings: Vec<_> = findings.collect();
    settle(&mut findings);
    findings
}

/// Most seconds first, and last what nobody is known to have waited for; each fix with what shows that it worked.
fn settle(findings: &mut [Finding]) {
    for finding in &mut *findings {
        if let Some(fix) = &mut finding.fix {
            fix.verify = VERIFY.get(finding.cause).cloned();
        }
    }
    findings.sort_by_key(|finding| (!finding.is_waited_for(), std::cmp::Reverse(finding.seconds), finding.cause));
}

/// A cause's documentation, as `help-cause` prints it.
#[derive(Clone, Copy, Debug)]
pub struct CauseDoc {
    /// Public name.
    pub slug: &'static str,
    /// The rule file's doc comment, Markdown, with the `//! ` still in front of every line of the source.
    source: &'static str,
}

impl CauseDoc {
    /// The documentation as Markdown: the first line is the cause in one sentence.
    pub fn markdown(&self) -> String {
        self.source
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .map(|line| line.trim_start_matches("//!").trim_start_matches(' '))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// What shows that the fix worked: the section of that name as a clause.
    fn verify(&self) -> Option<String> {
        let markdown = self.markdown();
        let lines = markdown.lines().skip_while(|line| *line != "## To see that it worked").skip(1);
        let words: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        let text = words.join(" ");
        let mut letters = text.trim_end_matches('.').chars();
        let first = letters.next()?;
        Some(first.to_lowercase().chain(letters).collect())
    }
}

/// What shows that a cause's fix worked.
static VERIFY: LazyLock<BTreeMap<&str, String>> =
    LazyLock::new(|| causes().iter().filter_map(|doc| Some((doc.slug, doc.verify()?))).collect());

/// Every cause that there is a rule for, in alphabetical order.
pub fn causes() -> &'static [CauseDoc] {
    static DOCS: LazyLock<Vec<CauseDoc>> =
        LazyLock::new(|| RULES.iter().map(|rule| CauseDoc { slug: rule.slug, source: rule.source }).collect());
    &DOCS
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::scene::{MSS, Scene, gap, ms};
    use super::{HEALTHY, UNTOLD};
    use crate::tcp::facts::{Release, RoundFacts};

    #[test]
    fn each_fix_is_told_with_what_shows_that_it_worked() {
        for doc in super::causes() {
            let mends = doc.markdown().contains("\n## The fix\n");
            let of_capture = super::RULES.iter().any(|rule| {
                rule.slug == doc.slug && matches!(rule.check, super::Check::Capture(_) | super::Check::Reader)
            });
            assert_eq!(super::VERIFY.contains_key(doc.slug), mends && !of_capture, "{}", doc.slug);
        }
        let scene = Scene::flights(&[10_000, 20_000, 40_000, 80_000, 160_000]);
        let fix = scene.finding("slow-start").unwrap().fix.unwrap();
        assert_eq!(fix.verify.as_ref(), super::VERIFY.get("slow-start"));
    }

    #[test]
    fn one_round_trip_is_what_the_path_needs() {
        assert_eq!(Scene::flights(&[8_000]).verdict(), HEALTHY);
    }

    #[test]
    fn a_limit_that_no_rule_explains_is_named() {
        // Too few rounds for a plateau, and none of them grows.
        let scene = Scene::flights(&[60_000, 60_000, 60_000]);
        assert!(scene.findings().iter().all(|found| found.seconds == ms(0)), "{:?}", scene.findings());
        assert_eq!(scene.verdict(), "congestion avoidance took 200 ms of 300 ms; no cause of it is proven");
    }

    #[test]
    fn limits_that_only_together_took_most_are_named_together() {
        let mut scene = Scene::flights(&[60_000, 60_000, 60_000, 60_000]);
        scene.transfer.gaps[2] = gap(ms(1200), ms(1300), Release::Peer);
        scene.transfer.gaps[1].release = Release::Nothing;
        (scene.transfer.gaps[1].idle, scene.transfer.gaps[1].ran_dry) = (true, true);
        for found in scene.findings() {
            assert!(found.seconds < ms(150), "{found:?}");
        }
        let verdict = scene.verdict();
        assert!(verdict.contains("application") && !verdict.contains("nothing held"), "{verdict}");
    }

    #[test]
    fn what_nobody_notices_is_healthy() {
        let mut scene = Scene::flights(&[60_000; 3]);
        let at = |n: i64| ms(1000) + crate::units::Nanos::from_micros(1000 * n);
        for (n, round) in (0..).zip(&mut scene.transfer.rounds) {
            *round = RoundFacts { start: at(n), last_send: at(n), ..*round };
        }
        for (n, pause) in (0..).zip(&mut scene.transfer.gaps) {
            (pause.start, pause.end) = (at(n), at(n + 1));
        }
        (scene.transfer.last_send, scene.transfer.end) = (at(2), at(3));
        scene.facts.rtt.min = Some(ms(1));
        assert_eq!(scene.verdict(), HEALTHY);
    }

    #[test]
    fn of_one_direction_or_without_times_nothing_is_called_healthy() {
        let mut scene = Scene::flights(&[5 * MSS]);
        scene.facts.doubts.one_direction = true;
        assert_eq!(scene.verdict(), UNTOLD);
        let mut scene = Scene::flights(&[5 * MSS]);
        scene.facts.timeless = true;
        assert_eq!(scene.verdict(), UNTOLD);
    }
}
