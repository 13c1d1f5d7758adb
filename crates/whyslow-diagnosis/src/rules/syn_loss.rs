//! A packet of the connection's opening (SYN or SYN-ACK) was lost, so that the connection opened
//! late.
//!
//! ## What it is
//! A SYN or SYN-ACK that is lost is retransmitted after a second, then two, then four (RFC 6298
//! with an initial timer of 1 s): the opening takes seconds before a byte is sent. The transfer
//! after it is slow too: an end that had to send its SYN or SYN-ACK twice begins with a congestion
//! window of one segment instead of ten (RFC 5681 section 3.1, RFC 6298 section 5.7). Linux does so
//! from the second retransmission on.
//!
//! ## How it is recognised
//! The same SYN or SYN-ACK again, later than any timer is short: two within 190 ms were captured
//! twice. It cost the time from the first to the last that the opening waited for.
//!
//! ## What it is confused with
//! - `no-answer`: nothing ever comes back, or no answer to a SYN is ever acknowledged.
//! - A SYN-ACK lost on its way back looks the same at the client as a SYN lost on its way there. A
//!   capture at the server shows which.
//!
//! ## The fix
//! Look for a full accept backlog (`nstat -az TcpExtListenOverflows`, `net.core.somaxconn`,
//! `net.ipv4.tcp_max_syn_backlog`; nginx `listen … backlog=`, HAProxy `backlog`, Envoy
//! `tcp_backlog_size`), a firewall that drops, or loss on the path.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPSynRetrans` on the client no longer rises as connections open.
//!
//! ## References
//! RFC 6298 sections 2.1 and 5.7; RFC 5681 section 3.1; Linux `tcp_init_transfer`; listen(2).

use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Evidence, Rule, Saving};
use super::rule_input::{ConnectionView, is_half_open};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, ExchangeAction, ExchangeQuestion, ExchangeStatement, Finding, Frame, Measure, Opening, State, Unit,
};

/// The handshake is then one round trip. A connection without payload would have no time left.
pub(super) const RULE: Rule =
    Rule::new(Cause::SynLoss, Check::Connection(check)).certain_with(&[Evidence::Opening]).saves(Saving::CostIfCarried);

fn check(view: &ConnectionView<'_>) -> Option<Finding> {
    let facts = view.facts;
    let handshake = &facts.handshake;
    let [a, b] = handshake.retries;
    // SYNs that were never answered are not only lost, nor are SYN-ACKs that never reach the
    // client.
    if a + b == 0 || matches!(facts.state, State::Unanswered | State::Refused) || is_half_open(facts) {
        return None;
    }
    // SYN-ACKs alone may answer any SYN, and whether the client has them is not in the capture.
    if handshake.syn.is_none() && handshake.ack.is_none() {
        return None;
    }
    // A client that answers SYN-ACKs by RSTs does not want them; they came.
    let is_unwanted = facts.reset.as_ref().is_some_and(|reset| reset.from == facts.client);
    if handshake.retries[facts.client] == 0 && handshake.ack.is_none() && is_unwanted {
        return None;
    }
    let (syn, first) = handshake.syn.or(handshake.syn_ack)?;
    let done = handshake.ack.map_or(facts.last, |(time, _)| time);
    // For the SYN-ACK alone, the way there and back came before it. Retransmissions after the last
    // ACK delayed neither end.
    let only_answers = handshake.retries[facts.client] == 0;
    let waited_from = handshake.syn_ack.filter(|_| only_answers).map_or(syn, |(time, _)| time);
    let lost = (handshake.last_retry? - waited_from).or_zero();
    if lost < whyslow_analysis::types::MIN_NOTICEABLE_DELAY {
        return None;
    }
    let again = handshake.retries[facts.client];
    let answers = handshake.retries[!facts.client];
    let statement = ExchangeStatement::HandshakeRetransmitted {
        syns: again,
        syn_acks: answers,
        took_s: done - syn,
        opening: if handshake.ack.is_some() { Opening::Opened } else { Opening::NeverOpened },
    };
    let mut found = finding(Cause::SynLoss, lost, view.trust(0.9), statement);
    let frames: Vec<Frame> = [Some(first), handshake.ack.map(|(_, frame)| frame)].into_iter().flatten().collect();
    found.evidence.push(evidence(Measure::SynsRetransmitted, again as f64, Unit::Syns, &frames));
    found.evidence.push(evidence(Measure::SynAcksRetransmitted, answers as f64, Unit::SynAcks, &[]));
    found.remedies = remedy(Actor::Network, ExchangeAction::FindSynDrops);
    found.to_confirm = confirm(ExchangeQuestion::SynOrSynAckLost);
    Some(found)
}
