//! The receiver acknowledged data late, and the sender waited for the acknowledgement.
//!
//! ## What it is
//! A receiver may hold an ACK back in the hope of a second segment or of an answer to send it with
//! (RFC 1122 section 4.2.3.2: up to 500 ms; Linux 40 ms and more, macOS and Windows up to 200 ms).
//! When the last segment of a flight is a lone one and the sender can send nothing until it is
//! acknowledged, the delay is added to the round trip.
//!
//! ## How it is recognised
//! The ACK for all that was in flight comes 25 ms or more later than the path needs, while other
//! ACKs of the same round do not, and new data follows it at once.
//!
//! ## What it is confused with
//! - `nagle-delayed-ack`: the sender held back a small segment although it might have sent more.
//! - a slow link, which spaces many segments on their way, and so their ACKs.
//! - `bufferbloat`: all ACKs are late, by an amount that follows the bytes in flight.
//!
//! ## The fix
//! Let the sender have more in flight, so that no flight ends in a lone segment (see `sender-cap`,
//! `receive-window`). On a Linux receiver, `ip route change … quickack 1`, or TCP_QUICKACK set
//! again after every read. HAProxy as the receiver: leave `option tcp-smart-accept` out. Windows:
//! `TcpAckFrequency=1`.
//!
//! ## To see that it worked
//! `ip route show` on the receiver names `quickack 1`, and in a new capture no ACK comes later
//! than a round trip.
//!
//! ## References
//! RFC 1122 section 4.2.3.2, RFC 5681 section 4.2; Linux tcp(7).

use super::parts::{evidence, finding, remedy};
use super::rule::{Check, Rule};
use super::rule_input::TransferView;
use crate::limit::DELAYED_ACK;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Finding, LimitingFactor, Measure, SendingAction, SendingStatement, Unit};
use whyslow_units::stats::median;

pub(super) const RULE: Rule =
    Rule::new(Cause::DelayedAck, Check::Transfer(check)).may_cost(|brief| brief.max_ack_late >= DELAYED_ACK);

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let lost = view.time(LimitingFactor::AckDelay);
    if !view.matters(lost, 0.1) {
        return None;
    }
    let spans: Vec<_> = view.attribution.spans.iter().filter(|span| span.limit == LimitingFactor::AckDelay).collect();
    let typical = median(spans.iter().map(|span| span.length()).collect())?;
    let longest = spans.iter().max_by_key(|span| span.length())?;
    let frames: Vec<_> = view
        .transfer
        .pauses
        .iter()
        .find(|gap| gap.end == longest.end)
        .and_then(|gap| gap.ack_frame)
        .into_iter()
        .collect();
    let number = spans.len() as u64;
    let statement = SendingStatement::DelayedAcks { acks: number, typical_s: typical };
    let mut found = finding(Cause::DelayedAck, lost, view.trust(if number >= 3 { 0.85 } else { 0.6 }), statement);
    found.evidence.push(evidence(Measure::LateAcks, number as f64, Unit::Acks, &frames));
    found.evidence.push(evidence(Measure::TypicalDelay, typical.as_millis_f64(), Unit::Milliseconds, &[]));
    let ipv6 = view.facts.endpoints[view.sender].0.is_ipv6();
    found.remedies = remedy(Actor::Receiver, SendingAction::QuickAck { ipv6 });
    Some(found)
}
