//! What follows from a comparison, in plain words.

use super::{ChosenTransfer, Comparison, Lead, Phase, ReachKind, RoundSide, Times, TransferSummary};
use crate::analysis::Limit;
use crate::rules::say;
use crate::units::Nanos;

const NAMES: [&str; 2] = ["A", "B"];
/// Most phases that are named.
const PHASES: usize = 4;
/// A smaller difference is not named, nor one below a twentieth of the whole.
const MIN: Nanos = Nanos::from_millis(5);
/// Flights that differ by less are one size: the last segment may go with the next flight.
const SAME: f64 = 1.1;

/// Sentences: which is faster, how each sends, where the time went, the first byte, and at what
/// size it turns.
pub(super) fn summary(comparison: &Comparison) -> Vec<String> {
    let mut sentences = Vec::new();
    if comparison.transfers.iter().any(|one| one.elided) {
        sentences.extend(whole(comparison));
        sentences.extend(first_byte(comparison));
        return sentences;
    }
    sentences.extend(comparison.same_size.map(|same| faster(same.bytes, same.times)));
    sentences.extend(flights(comparison));
    sentences.extend(phases(comparison));
    sentences.extend(first_byte(comparison));
    sentences.extend(leads(&comparison.leads));
    for (name, reach) in NAMES.iter().zip(&comparison.reach) {
        sentences.extend(reach.as_ref().map(|reach| {
            let would = match reach.kind {
                ReachKind::Steady => "keeps to",
                ReachKind::Window => "would reach",
                ReachKind::Growing => "would reach more than",
            };
            format!("{name} {would} {}: {}", say::rate(reach.rate_bps), reach.reason)
        }));
    }
    sentences
}

/// What is known of both where packets are missing between the first and the last.
fn whole(comparison: &Comparison) -> Option<String> {
    let [a, b] = &comparison.transfers;
    let took = |one: &TransferSummary| format!("{} for {} B", say::time(one.duration_s), say::thousands(one.bytes));
    let timed = a.rate_bps.is_some() && b.rate_bps.is_some();
    timed.then(|| format!("from the first byte to the ACK of the last A took {}, B {}", took(a), took(b)))
}

fn faster(bytes: u64, times: Times) -> String {
    let [a, b] = times.seconds.map(say::time);
    let size = say::thousands(bytes);
    match times.difference_s {
        same if same.0.abs() < Nanos::from_millis(1).0 => {
            format!("the first {size} B took both the same from the request on: {a}")
        }
        less if less < Nanos::ZERO => {
            format!(
                "B is faster by {}: the first {size} B took it {b} from the request on, A {a}",
                say::time(Nanos::ZERO - less)
            )
        }
        more => {
            format!("A is faster by {}: the first {size} B took it {a} from the request on, B {b}", say::time(more))
        }
    }
}

/// How much goes out a round trip: always the same, or more and more.
fn flights(comparison: &Comparison) -> Option<String> {
    let of = |which: usize| {
        let sides: Vec<RoundSide> = comparison.rounds.iter().filter_map(|round| round[which]).collect();
        // The last round ends with the data.
        let full = if comparison.rounds_total[which] > sides.len() as u64 { &sides[..] } else { sides.split_last()?.1 };
        let (first, last) = (full.first()?, full.last()?);
        let ends = full.iter().map(|side| side.in_flight);
        let (least, most) = (ends.clone().min()?, ends.max()?);
        let rtt = comparison.transfers[which].rtt_s.map_or(String::new(), |rtt| format!(" of {}", say::time(rtt)));
        let flight = say::thousands(first.in_flight);
        Some(if most as f64 <= least as f64 * SAME {
            format!("{flight} B a round trip{rtt}, the same in {}", say::count(full.len() as u64, "round"))
        } else if last.in_flight == most && first.in_flight == least {
            format!(
                "{flight} B in its first round trip{rtt}, growing to {} B in round {}",
                say::thousands(most),
                full.len()
            )
        } else {
            let later = full.iter().skip(1).map(|side| side.in_flight);
            format!(
                "{flight} B in its first round trip{rtt}, and between {} and {} B later",
                say::thousands(later.clone().min()?),
                say::thousands(later.max()?)
            )
        })
    };
    Some(format!("A sends {}; B sends {}", of(0)?, of(1)?))
}

fn phases(comparison: &Comparison) -> Vec<String> {
    let whole = comparison.total.seconds[0].max(comparison.total.seconds[1]);
    let least = MIN.max(whole.scale(0.05));
    let mut different: Vec<&Phase> =
        comparison.phases.iter().filter(|phase| phase.times.difference_s.0.abs() >= least.0).collect();
    different.sort_by_key(|phase| std::cmp::Reverse(phase.times.difference_s.0.abs()));
    different
        .into_iter()
        .take(PHASES)
        .map(|phase| {
            let more = usize::from(phase.times.difference_s > Nanos::ZERO);
            let by = say::time(Nanos(phase.times.difference_s.0.saturating_abs()));
            let other = phase.times.seconds[1 - more];
            let rest = if other > Nanos::ZERO {
                format!(": {} against {}", say::time(phase.times.seconds[more]), say::time(other))
            } else {
                format!(", {} not at all", NAMES[1 - more])
            };
            format!("{} waited {by} more {}{rest}", NAMES[more], held(phase.limit))
        })
        .collect()
}

/// Under what a sender waits.
fn held(limit: Limit) -> &'static str {
    match limit {
        Limit::Handshake => "for the TCP handshake",
        Limit::TlsHandshake => "for the TLS handshake",
        Limit::RequestWait => "for the request's round trip",
        Limit::ServerThink => "while the server thought",
        Limit::ClientThink => "while the client's program thought",
        Limit::Idle => "while nothing was due",
        Limit::SlowStart => "in slow start",
        Limit::CongestionAvoidance => "in congestion avoidance",
        Limit::ReceiveWindow => "for the receiver's window",
        Limit::ZeroWindow => "while the receiver's window was closed",
        Limit::SenderCap => "at the sender's own cap",
        Limit::ProtocolWindow => "for the application protocol's window",
        Limit::Application => "for the sending program",
        Limit::Pacing => "for the sender's pacing",
        Limit::NagleDelayedAck => "between Nagle's algorithm and delayed ACKs",
        Limit::AckDelay => "for late ACKs",
        Limit::LossRecovery => "for lost segments",
        Limit::Timeout => "for the retransmission timer",
        Limit::Bandwidth => "for the path's rate",
        Limit::RoundTrip => "for the last round trip",
        Limit::Unknown => "for what the capture does not tell",
    }
}

fn first_byte(comparison: &Comparison) -> Option<String> {
    let [Some(a), Some(b)] = comparison.first_byte.arrived_s else { return None };
    let mut text = format!("the first byte came {} after the request in A, {} in B", say::time(a), say::time(b));
    for (which, name) in NAMES.iter().enumerate() {
        let (arrived, readable) = (comparison.first_byte.arrived_s[which], comparison.first_byte.readable_s[which]);
        if let (Some(arrived), Some(readable), Some(record)) =
            (arrived, readable, comparison.first_byte.first_record[which])
            && readable - arrived >= Nanos::from_millis(1)
        {
            text += &format!(
                "; {name}'s could be read only after {}, for its TLS record of {} B was whole {} later",
                say::time(readable),
                say::thousands(record),
                say::time(readable - arrived)
            );
        }
    }
    Some(text)
}

fn leads(leads: &[Lead]) -> Option<String> {
    let faster = |lead: &Lead| match lead.faster {
        Some(which) => format!(
            "{} is faster (by {} at most, at {} B)",
            NAMES[which.min(1)],
            say::time(lead.by_s),
            say::thousands(lead.at_bytes)
        ),
        None => "they are level".to_owned(),
    };
    let beyond = |lead: &Lead| {
        if lead.extrapolated {
            format!(", up to {} B; what lies beyond the captured bytes is extrapolated", say::thousands(lead.to_bytes))
        } else {
            String::new()
        }
    };
    match leads {
        [] => None,
        [only] => Some(format!("at every size {}{}", faster(only), beyond(only))),
        [first, middle @ .., last] => {
            let mut parts = vec![format!("up to {} B {}", say::thousands(first.to_bytes), faster(first))];
            parts.extend(middle.iter().map(|lead| {
                format!(
                    "from {} to {} B {}",
                    say::thousands(lead.from_bytes),
                    say::thousands(lead.to_bytes),
                    faster(lead)
                )
            }));
            parts.push(format!("from {} B on {}{}", say::thousands(last.from_bytes), faster(last), beyond(last)));
            Some(parts.join("; "))
        }
    }
}

/// What limits the comparison.
pub(super) fn caveats(comparison: &Comparison, both: [&ChosenTransfer<'_>; 2]) -> Vec<String> {
    let mut caveats = Vec::new();
    let (waits, names) = (comparison.first_byte.arrived_s, NAMES);
    if waits[0].is_some() != waits[1].is_some() {
        let other = if waits[0].is_some() { names[1] } else { names[0] };
        caveats.push(format!("{other} answers no request in its capture: it is told from its first byte on"));
    }
    if comparison.transfers[0].from != comparison.transfers[1].from {
        caveats.push("one is an upload, the other a download: different hosts send".to_owned());
    }
    for (which, one) in both.iter().enumerate() {
        let name = names[which];
        let direction = one.connection.directions.iter().find(|direction| direction.from == one.transfer.from);
        let retransmitted = direction.map_or(0, |direction| {
            let kinds = direction.retransmitted;
            kinds.fast.saturating_add(kinds.timeout).saturating_add(kinds.tail_probe)
        });
        if retransmitted > 0 {
            caveats.push(format!(
                "{name} lost segments ({} retransmitted): bytes are counted in the round in which they were first sent, and the last \
                 one when it was acknowledged",
                say::count(retransmitted, "segment")
            ));
        }
        if one.transfer.elided {
            caveats.push(format!(
                "packets were left out of {name}'s text: how its bytes came is not known, and not compared"
            ));
        }
        let unlisted = one.transfer.rounds_total.saturating_sub(one.transfer.rounds.len() as u64);
        if unlisted > 0 {
            caveats.push(format!("of {name}'s rounds the first {} are told one by one", one.transfer.rounds.len()));
        }
        if comparison.reach[which].is_none() && comparison.transfers.iter().all(|one| !one.elided) {
            caveats.push(format!("{name} has no full round: how it would go on cannot be told"));
        }
        if one.rtt().is_none() {
            caveats.push(format!(
                "no round trip was measured in {name}: its last byte is taken to be there when it was acknowledged"
            ));
        }
    }
    caveats
}
