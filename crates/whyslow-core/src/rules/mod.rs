//! `rules`: limits and events → findings. One file a rule; its documentation is the file's own doc comment.
//!
//! A rule sees what the `tcp` stage counted and how `limit` cut the time, never a packet. It gives a finding when a cause
//! cost enough to matter, with the evidence, a confidence, and what to do. To add one: write its file, and list it in
//! `RULES`.

mod amplification_risk;
mod application;
mod bandwidth;
mod bufferbloat;
mod capture_loss;
mod case;
mod clock_step;
mod delayed_ack;
mod duplication;
mod early_slow_start_exit;
mod ecn;
mod elided_text;
mod host_cpu;
mod loss;
mod lost_retransmission;
mod mtu_black_hole;
mod nagle_delayed_ack;
mod new_connection_each_time;
mod no_handshake;
mod no_sack;
mod no_window_scaling;
mod offload;
mod one_direction;
mod pacing;
mod policer;
mod protocol_window;
mod proxy_split;
mod random_loss;
mod receive_window;
mod reordering;
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
mod timeout;
mod tls_record_buffering;
mod turn_taking;
mod zero_window;

pub use case::{ConnectionCase, Outline, TransferCase};
pub use early_slow_start_exit::{Exit, exit_of};

use crate::analysis::{Connection, Finding, HEALTHY, Limit, Problem, UNTOLD};
use crate::tcp::facts::Facts;
use crate::units::Nanos;
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
    bandwidth::RULE,
    bufferbloat::RULE,
    capture_loss::RULE,
    clock_step::RULE,
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
    no_handshake::RULE,
    no_sack::RULE,
    no_window_scaling::RULE,
    offload::RULE,
    one_direction::RULE,
    pacing::RULE,
    policer::RULE,
    protocol_window::RULE,
    proxy_split::RULE,
    random_loss::RULE,
    receive_window::RULE,
    reordering::RULE,
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

/// What several connections lost together, and what most of a server's or of a path's have in common; most seconds first.
pub fn check_across(outlines: &[Outline], connections: &[Connection]) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES
        .iter()
        .flat_map(|rule| match rule.check {
            Check::Across(check) | Check::TransferAndAcross(_, check) => check(outlines),
            _ => Vec::new(),
        })
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
    let costly = findings.iter().take_while(|finding| finding.seconds > Nanos::ZERO).count();
    let [first, rest @ ..] = &findings[..costly] else {
        return without_cause(case);
    };
    let whole = case.duration();
    let clear = first.seconds.0 * 2 >= whole.0 || rest.first().is_none_or(|next| first.seconds.0 >= 2 * next.seconds.0);
    if clear {
        format!("{}: {}", first.cause, first.summary)
    } else {
        let names: Vec<String> = findings
            .iter()
            .take(3)
            .map(|finding| format!("{} {}", finding.cause, say::time(finding.seconds)))
            .collect();
        format!("mixed: {}", names.join(", "))
    }
}

/// The verdict where no rule claims the time. What a path needs is its round trip: where limits took most of the rest, and enough of it
/// for a person to notice, something did hold the transfer back.
fn without_cause(case: &TransferCase<'_>) -> String {
    let whole = case.duration();
    let mostly = |time: Nanos| time.0 * 2 >= whole.0.max(1);
    let held: Vec<_> = case.partition.shares().into_iter().filter(|share| share.limit != Limit::RoundTrip).collect();
    let sum: Nanos = held.iter().map(|share| share.seconds).sum();
    let [first, ..] = held[..] else {
        return HEALTHY.into();
    };
    if mostly(case.time(Limit::Unknown)) {
        return UNTOLD.into();
    }
    if !mostly(sum) || sum < say::WORTH_SAYING {
        return HEALTHY.into();
    }
    let name = |limit: Limit| limit.slug().replace('-', " ");
    if mostly(first.seconds) {
        let (taken, whole) = (say::time(first.seconds), say::time(whole));
        return format!("{} took {taken} of {whole}; no cause of it is proven", name(first.limit));
    }
    let parts: Vec<String> =
        held.iter().take(3).map(|share| format!("{} {}", name(share.limit), say::time(share.seconds))).collect();
    format!("no cause is proven for {} of {}: {}", say::time(sum), say::time(whole), parts.join(", "))
}

fn sorted(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut findings: Vec<_> = findings.collect();
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.seconds), finding.cause));
    findings
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
}

/// Every cause that there is a rule for, in alphabetical order.
pub fn causes() -> &'static [CauseDoc] {
    static DOCS: LazyLock<Vec<CauseDoc>> =
        LazyLock::new(|| RULES.iter().map(|rule| CauseDoc { slug: rule.slug, source: rule.source }).collect());
    &DOCS
}
