//! The first packets of the connection took far longer than all later ones.
//!
//! ## What it is
//! The first packet of a connection, or the first in a while, may have to wait for a setup: an
//! address is resolved (ARP, neighbour discovery), a firewall or NAT makes its entry, a VPN dials,
//! a mobile radio or a power-saving link wakes up, a load balancer or SYN proxy opens its own
//! connection first, a controller looks up a route. Later packets find all that done.
//!
//! ## How it is recognised
//! The handshake took more than twice as long as later round trips, and 50 ms more than those,
//! though no SYN was lost. Or the first flight of data did; for a single segment, whose ACK a
//! receiver may delay, only the time beyond any delayed ACK counts (500 ms, RFC 1122).
//!
//! ## What it is confused with
//! - `syn-loss`: the SYN was sent twice.
//! - `delayed-ack`: the receiver held the ACK back, by 500 ms at most.
//! - `bufferbloat`: round trips grow with the bytes in flight; here they fall.
//! - `proxy-split`: a proxy that answers the SYN only when its own connection is open shows the far
//!   path in the handshake, and is near from then on.
//! - A client's host that delays the last ACK of the handshake until it has data to send (seen from
//!   the server).
//!
//! ## The fix
//! Find the part that is set up: send several pings after a pause; if only the first is slow, it is
//! the path. Keep that state warm (keep-alives, longer ARP and flow timeouts, static neighbours,
//! power saving off), and keep connections open.
//!
//! ## To see that it worked
//! `curl -so /dev/null -w '%{time_connect}\n' URL` takes no longer after a pause than right after
//! another.
//!
//! ## References
//! RFC 826, RFC 4861 section 7.2 (address resolution); 3GPP TS 36.331 and TS 38.331 (radio resource
//! control: idle to connected); no threshold is standard: 50 ms is where people begin to notice.

use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Rule, Saving};
use super::rule_input::ConnectionView;
use crate::limit;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::Side;
use whyslow_analysis::{
    Actor, ExchangeAction, ExchangeQuestion, ExchangeStatement, Finding, FirstReply, Frame, Measure, Near, Remedy,
    SendingAction, Unit,
};
use whyslow_core::message::NOTICEABLE_WAIT;
use whyslow_core::tcp::facts::Facts;
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::PathLatency, Check::Connection(check))
    .may_cost(|brief| brief.handshake_late > LATE)
    .saves(Saving::Cost);

/// Minimum excess of the first reply over later round trips: the least delay that is noticed.
/// Follows from `NOTICEABLE_WAIT`.
const LATE: Nanos = NOTICEABLE_WAIT;
/// Minimum ratio of the first reply to later round trips: round trips rarely vary as much (RFC 6298
/// section 2.2 assumes half of the first). Half and twice the excess over 1 change 1 and 1 of 2,061
/// captures.
const TIMES: f64 = 2.0;
/// Minimum number of later round trips, …
const MIN_SAMPLES: u64 = 2;
/// … and the number from which their median is typical; of fewer the longest one counts. Follows
/// from the 95th percentile: one of 20. Half and twice change 1 and 0 of 2,061 captures.
const MANY_SAMPLES: u64 = 20;

/// The slow reply.
struct Slow {
    reply: FirstReply,
    took: Nanos,
    frame: Frame,
    sure: f64,
}

fn check(view: &ConnectionView<'_>) -> Option<Finding> {
    let facts = view.facts;
    if facts.timeless || facts.capture_defects.one_direction || facts.rtt.samples < MIN_SAMPLES {
        return None;
    }
    let (typical, longest) = (facts.rtt.p50?, facts.rtt.p95?);
    let few = facts.rtt.samples < MANY_SAMPLES;
    let later = if few { longest } else { typical };
    let of_handshake = handshake(facts).filter(|slow| is_slow(facts, slow.took, later));
    // The first flight is among the round trips that were measured.
    let of_data =
        || first_flight(facts).filter(|slow| facts.rtt.samples > MIN_SAMPLES && is_slow(facts, slow.took, typical));
    let (slow, later) = of_handshake.map(|slow| (slow, later)).or_else(|| Some((of_data()?, typical)))?;
    let lost = slow.took - later;
    let statement = ExchangeStatement::FirstReplySlow { reply: slow.reply, took_s: slow.took, later_s: later };
    let mut found = finding(Cause::PathLatency, lost, view.trust(slow.sure), statement);
    let kind = match slow.reply {
        FirstReply::SynAck => Measure::SynAckTime,
        FirstReply::HandshakeAck => Measure::HandshakeAckTime,
        FirstReply::Handshake => Measure::HandshakeTime,
        FirstReply::DataAck => Measure::FirstDataAckTime,
    };
    found.evidence.push(evidence(kind, slow.took.as_millis_f64(), Unit::Milliseconds, &[slow.frame]));
    found.evidence.push(evidence(Measure::LaterRoundTripMedian, typical.as_millis_f64(), Unit::Milliseconds, &[]));
    found.evidence.push(evidence(Measure::LaterRoundTripP95, longest.as_millis_f64(), Unit::Milliseconds, &[]));
    found.remedies = remedy(Actor::Network, ExchangeAction::KeepPathWarm);
    found.remedies.push(Remedy::new(Actor::Application, SendingAction::ReuseConnection { cap: None }));
    let server = facts.endpoints[!facts.client].0.to_string();
    found.to_confirm = confirm(ExchangeQuestion::FirstPacketSlow { server });
    Some(found)
}

fn is_slow(facts: &Facts, took: Nanos, later: Nanos) -> bool {
    // If round trips vary as much at all times, a slow first one is not remarkable.
    let varies = facts.rtt.samples >= MANY_SAMPLES && facts.rtt.p95.is_some_and(|p95| took <= p95);
    took - later > LATE && took > later.scale(TIMES) && !varies
}

/// The part of the handshake that was on the path: next to an end, the other part is that end's
/// own.
fn handshake(facts: &Facts) -> Option<Slow> {
    let handshake = &facts.handshake;
    if handshake.retries != [0, 0] || handshake.time_clamped {
        return None;
    }
    let syn = handshake.answered_syn?;
    let (answered, frame) = handshake.syn_ack?;
    match facts.vantage.near {
        Near::Client => Some(Slow { reply: FirstReply::SynAck, took: answered - syn, frame, sure: 0.8 }),
        near => {
            let (ack, frame) = handshake.ack?;
            let from = if near == Near::Server { answered } else { syn };
            let reply = if near == Near::Server { FirstReply::HandshakeAck } else { FirstReply::Handshake };
            Some(Slow { reply, took: ack - from, frame, sure: 0.65 })
        }
    }
}

/// The first flight of data of either side.
fn first_flight(facts: &Facts) -> Option<Slow> {
    let first = |side: Side| {
        let direction = &facts.directions[side];
        let transfer = direction.transfers.first()?;
        let round = transfer.rounds.first().filter(|round| round.retransmitted == 0 && round.merged == 1)?;
        let took = round.rtt?;
        // A second full segment is acknowledged at once (RFC 9293 section 3.8.6.3).
        let lone = round.bytes < 2 * direction.mss;
        let seen = !lone || took > limit::MAX_DELAYED_ACK;
        seen.then_some(Slow { reply: FirstReply::DataAck, took, frame: round.first_frame, sure: 0.6 })
    };
    [facts.client, !facts.client].into_iter().filter_map(first).max_by_key(|slow| slow.took)
}

#[cfg(test)]
mod tests;
