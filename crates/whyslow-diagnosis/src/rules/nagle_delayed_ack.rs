//! Small writes waited: the sender held each back until the one before was acknowledged, and the
//! receiver delayed that acknowledgement.
//!
//! ## What it is
//! Nagle's algorithm (RFC 896) holds a small segment back while another is unacknowledged; the
//! receiver holds its ACK back in the hope of more (RFC 1122 section 4.2.3.2: up to 500 ms; Linux
//! 40 ms, others 200 ms). A program that writes a header, then a body, and then reads makes the two
//! wait for each other.
//!
//! ## How it is recognised
//! A segment shorter than the MSS follows an earlier short one only after that was acknowledged, 25
//! ms or more later than the path alone needs, at least three times with delays alike within 10 %
//! of their median.
//!
//! ## What it is confused with
//! - a long path: the minimum RTT is taken off first.
//! - `delayed-ack`: an ACK is late, but the sender waits for its window and not for Nagle.
//! - `turn-taking`: the wait is for an answer.
//! - `slow-start` from an initial window of one or two segments: the rest of a write waits for the
//!   window. If the sender has shown such a window, `slow-start` is reported; else the confidence
//!   is lower when the rest waits behind one or two whole segments.
//!
//! ## The fix
//! On the sender set TCP_NODELAY, or write once: header and body together (writev, a buffered
//! stream flushed once). nginx: `tcp_nodelay on;`. HAProxy: `option http-no-delay`. Go and Node set
//! it by default; Java and Python do not.
//!
//! ## To see that it worked
//! In a new capture the next small segment leaves without waiting for the ACK of the one before.
//!
//! ## References
//! RFC 896, RFC 1122 section 4.2.3.4; Cheshire, "TCP Performance problems caused by interaction
//! between Nagle's Algorithm and Delayed ACK", 2005.

use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Evidence, Rule, Saving};
use super::rule_input::ConnectionView;
use crate::limit;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, End, Finding, LimitingFactor, Measure, SendingAction, SendingQuestion, SendingStatement, Unit,
};
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::NagleDelayedAck, Check::Connection(check))
    .may_cost(|brief| brief.pauses >= MIN as u64)
    .certain_with(&[Evidence::Opening])
    .saves(Saving::Cost);

/// Minimum number of waits of about the same length: chance repeats a length twice, and rarely
/// three times. Half and twice change 16 and 13 of 2,061 captures.
const MIN: usize = 3;

fn check(view: &ConnectionView<'_>) -> Option<Finding> {
    let mut waits: Vec<Nanos> = Vec::new();
    let mut frames = Vec::new();
    let mut waited = [false; 2];
    // Behind one or two whole segments the rest of a write may wait for a window of that size too.
    let (mut doubtful, mut late) = (0, 0);
    for (side, transfers) in view.transfers.iter().enumerate() {
        let mss = view.facts.directions[side].mss;
        for (transfer, attribution) in transfers.iter() {
            for span in attribution.spans.iter().filter(|span| span.limit == LimitingFactor::NagleDelayedAck) {
                waits.push(span.length());
                waited[side] = true;
                let gap = transfer.pauses.iter().find(|gap| gap.start == span.start);
                doubtful += usize::from(gap.is_some_and(|gap| gap.before_len >= mss && gap.in_flight <= 2 * mss));
                late += usize::from(gap.is_some_and(|gap| gap.ack_late >= limit::DELAYED_ACK));
                if frames.len() < 6 {
                    frames.extend(gap.map(|gap| gap.frames.1));
                }
            }
        }
    }
    waits.sort_unstable();
    let median = *waits.get(waits.len() / 2)?;
    let alike = waits.iter().filter(|wait| (wait.0 - median.0).abs() * 10 <= median.0).count();
    if alike < MIN {
        return None;
    }
    let lost: Nanos = waits.iter().copied().sum();
    let doubtful = doubtful * 2 > waits.len();
    let late = late * 2 > waits.len();
    let confidence = match (doubtful || !late, alike * 10 >= waits.len() * 8) {
        (true, _) => 0.7,
        (false, true) => 0.95,
        (false, false) => 0.75,
    };
    let statement = SendingStatement::NagleWaits { segments: waits.len() as u64, typical_s: median, delayed_ack: late };
    let ends = [(End::Client, view.facts.client), (End::Server, !view.facts.client)];
    let at = ends.into_iter().filter(|&(_, side)| waited[side]).map(|(end, _)| end).collect();
    let mut found = finding(Cause::NagleDelayedAck, lost, view.trust(confidence), statement);
    found.evidence.push(evidence(Measure::SegmentsHeldBack, waits.len() as f64, Unit::Segments, &frames));
    found.evidence.push(evidence(Measure::TypicalWait, median.as_millis_f64(), Unit::Milliseconds, &[]));
    found.remedies = remedy(Actor::Application, SendingAction::NoDelay { at });
    if doubtful {
        found.to_confirm = confirm(SendingQuestion::TinyInitialWindow);
    }
    Some(found)
}
