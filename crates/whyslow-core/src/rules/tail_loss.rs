//! The last packets of a burst were lost, and nothing behind them told the receiver.
//!
//! ## What it is
//! A receiver reports a hole when later segments arrive. Behind the last segment of a burst nothing
//! arrives, so the sender learns of its loss from a clock: a tail loss probe after about two round
//! trips (RFC 8985 section 7), or the retransmission timer of 200 ms and more.
//!
//! ## How it is recognised
//! After a silence the highest segment is retransmitted: by a probe if other segments are
//! outstanding too or the silence is as long as a probe's, else by the timer. Next to the receiver
//! the first copy was never seen, and the pause looks like one of the sender's program; but the
//! sender's IPv4 numbers, which Linux counts up by one for each packet of a connection, have one
//! missing then. Where there are no such numbers (IPv6, other systems), capture at the sender.
//!
//! ## What it is confused with
//! - `timeout`: the timer had to repair segments from the middle of a burst.
//! - `spurious-retransmission`: the segment had arrived, and its ACK was late: a proxy with a short
//!   round trip of its own, or a delayed ACK.
//!
//! ## The fix
//! Let the sender probe: Linux does with `net.ipv4.tcp_early_retrans=3` (the default) and SACK on;
//! older systems wait for the timer. Short answers suffer most: one more segment behind the last
//! one (a larger answer, a second stream) shows a loss at once. And find what loses the packets.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPTimeouts TcpExtTCPLossProbes` on the sender no longer rises while the
//! transfer runs.
//!
//! ## References
//! RFC 8985 section 7 (RACK-TLP), RFC 5827, RFC 6298; Flach et al., "Reducing Web Latency: the
//! Virtue of Gentle Aggression", 2013.

use super::case::TransferCase;
use super::repair::{UNSEEN, tail_waits, wait_for_tails};
use super::rule::{Check, Rule};
use super::say::{count, evidence, finding, fix, time};
use crate::analysis::{Actor, Finding};
use crate::cause::Cause;
use crate::types::ModelChange;

pub(super) const RULE: Rule = Rule::new(Cause::TailLoss, Check::Transfer(check))
    .excluded_by(&[Cause::MtuBlackHole])
    .remedied_by(&[ModelChange::RepairWithoutTimer]);

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let lost = wait_for_tails(case);
    if !case.matters(lost, 0.1) {
        return None;
    }
    let longest = tail_waits(case).max_by_key(|gap| gap.end - gap.start)?;
    let number = tail_waits(case).count() as u64;
    let probes = case.transfer.retransmitted.tail_probe;
    let by = if probes > 0 { "a tail loss probe" } else { "the retransmission timer" };
    let summary = format!(
        "the end of a burst was lost, which only {by} told the sender: {} of {} waiting, {}",
        time(lost),
        time(case.duration()),
        count(number, "time"),
    );
    let unseen = tail_waits(case).filter(|gap| gap.missing.is_some_and(|packets| packets > 0)).count() as u64;
    let confidence = if unseen == 0 { 0.85 } else { 0.75 };
    let mut found = finding(Cause::TailLoss, lost, case.trust(confidence), summary);
    let frames = [longest.frames.0, longest.frames.1];
    if unseen > 0 {
        let figure = "waits with one of the sender's IP numbers missing";
        found.evidence.push(evidence(figure, unseen as f64, "waits", &frames));
        found.settle = Some(UNSEEN.into());
    }
    found.evidence.push(evidence("longest wait", (longest.end - longest.start).as_millis_f64(), "ms", &frames));
    found.evidence.push(evidence("tail loss probes", probes as f64, "probes", &[]));
    if let Some(rtt) = case.rtt() {
        found.evidence.push(evidence("round trip", rtt.as_millis_f64(), "ms", &[]));
    }
    found.fix = if probes > 0 {
        fix(
            Actor::Network,
            "find what loses packets on the path; the sender repairs a lost tail as fast as TCP can",
            None,
        )
    } else {
        fix(
            Actor::Sender,
            "let the sender probe for lost tails (SACK and RACK-TLP on), and find what loses packets on the path",
            Some("sysctl -w net.ipv4.tcp_early_retrans=3 net.ipv4.tcp_recovery=1 net.ipv4.tcp_sack=1".into()),
        )
    };
    Some(found)
}
