//! Two transfers side by side.

use crate::words::letter::letter as name;
use crate::words::quantity::{count, rate, thousands, time};
use whyslow_analysis::LimitingFactor;
use whyslow_diagnosis::compare::{
    ComparisonCaveat, ComparisonStatement, FlightCourse, Flights, LateRecord, Lead, Reach, ReachKind, SameSize,
};
use whyslow_units::Nanos;

pub(in crate::words) fn statement(statement: &ComparisonStatement) -> String {
    match statement {
        ComparisonStatement::FirstByte { arrived_s: [a, b], late } => {
            let mut text = format!("the first byte came {} after the request in A, {} in B", time(*a), time(*b));
            late.iter().for_each(|one| text += &readable_late(one));
            text
        }
        ComparisonStatement::Flights { flights: [a, b] } => {
            format!("A sends {}; B sends {}", flights(a), flights(b))
        }
        ComparisonStatement::Leads { leads } => self::leads(leads),
        ComparisonStatement::LongerPhase { which, limit, by_s, wait_s, other_s } => {
            let rest = if *other_s > Nanos::ZERO {
                format!(": {} compared with {}", time(*wait_s), time(*other_s))
            } else {
                format!(", {} not at all", name(1 - which.min(&1)))
            };
            format!("{} waited {} longer {}{rest}", name(*which), time(*by_s), held(*limit))
        }
        ComparisonStatement::Reach { which, reach } => format!("{} {}", name(*which), self::reach(reach)),
        ComparisonStatement::SameSize { same } => faster(same),
        ComparisonStatement::WholeTransfers { seconds: [a, b], bytes: [of_a, of_b] } => format!(
            "from the first byte to the ACK of the last A took {} for {} B, B {} for {} B",
            time(*a),
            thousands(*of_a),
            time(*b),
            thousands(*of_b)
        ),
    }
}

fn readable_late(late: &LateRecord) -> String {
    format!(
        "; {}'s could be read only after {}, because its TLS record of {} B was complete {} later",
        name(late.which),
        time(late.readable_s),
        thousands(late.record),
        time(late.later_s)
    )
}

fn flights(flights: &Flights) -> String {
    let rtt = flights.rtt_s.map_or(String::new(), |rtt| format!(" of {}", time(rtt)));
    let first = thousands(flights.first);
    match flights.course {
        FlightCourse::Same { rounds } => {
            format!("{first} B per round trip{rtt}, the same in {}", count(rounds, "round"))
        }
        FlightCourse::Growing { to, round } => {
            format!("{first} B in its first round trip{rtt}, growing to {} B in round {round}", thousands(to))
        }
        FlightCourse::Varying { least, most } => format!(
            "{first} B in its first round trip{rtt}, and between {} and {} B later",
            thousands(least),
            thousands(most)
        ),
    }
}

fn faster(same: &SameSize) -> String {
    let [a, b] = same.times.seconds.map(time);
    let (size, difference) = (thousands(same.bytes), same.times.difference_s);
    if difference.0.abs() < Nanos::from_millis(1).0 {
        format!("the first {size} B took both the same from the request on: {a}")
    } else if difference < Nanos::ZERO {
        let by = time(Nanos::ZERO - difference);
        format!("B is faster by {by}: it had the first {size} B {b} after the request, A {a}")
    } else {
        format!("A is faster by {}: it had the first {size} B {a} after the request, B {b}", time(difference))
    }
}

fn reach(reach: &Reach) -> String {
    let (rate, flight, round) = (rate(reach.rate_bps), thousands(reach.flight), time(reach.round_s));
    match reach.kind {
        ReachKind::Steady => format!("keeps to {rate}: {flight} B in a round of {round} in its later half"),
        ReachKind::Window => format!(
            "would reach {rate}: it was still growing ({flight} B in its last full round), and the receiver's window of {} B per round trip of {round} would stop it",
            thousands(reach.window.unwrap_or(reach.flight))
        ),
        ReachKind::Growing => {
            format!("would reach more than {rate}: it was still growing ({flight} B in its last full round of {round})")
        }
    }
}

fn leads(leads: &[Lead]) -> String {
    match leads {
        [] => String::new(),
        [only] => format!("at every size {}{}", leader(only), extrapolation(only)),
        [first, middle @ .., last] => {
            let mut parts = vec![format!("up to {} B {}", thousands(first.to_bytes), leader(first))];
            parts.extend(middle.iter().map(|lead| {
                format!("from {} to {} B {}", thousands(lead.from_bytes), thousands(lead.to_bytes), leader(lead))
            }));
            parts.push(format!("from {} B on {}{}", thousands(last.from_bytes), leader(last), extrapolation(last)));
            parts.join("; ")
        }
    }
}

fn leader(lead: &Lead) -> String {
    match lead.faster {
        Some(which) => {
            format!("{} is faster (by up to {}, at {} B)", name(which), time(lead.by_s), thousands(lead.at_bytes))
        }
        None => "they are equal".to_owned(),
    }
}

fn extrapolation(lead: &Lead) -> String {
    if lead.extrapolated {
        format!(", up to {} B; beyond the captured bytes it is extrapolated", thousands(lead.to_bytes))
    } else {
        String::new()
    }
}

/// What a sender waits for.
const fn held(limit: LimitingFactor) -> &'static str {
    match limit {
        LimitingFactor::Handshake => "to open the connection",
        LimitingFactor::TlsHandshake => "for the TLS handshake",
        LimitingFactor::RequestWait => "for the request's round trip",
        LimitingFactor::ServerThink => "for the server's processing",
        LimitingFactor::ClientThink => "for the client's processing",
        LimitingFactor::Idle => "while nothing was due",
        LimitingFactor::SlowStart => "in slow start",
        LimitingFactor::CongestionAvoidance => "in congestion avoidance",
        LimitingFactor::ReceiveWindow => "for the receiver's window",
        LimitingFactor::ZeroWindow => "while the receiver's window was closed",
        LimitingFactor::SenderCap => "at the sender's own cap",
        LimitingFactor::ProtocolWindow => "for the application protocol's window",
        LimitingFactor::Application => "for the sending application",
        LimitingFactor::Pacing => "for the sender's pacing",
        LimitingFactor::NagleDelayedAck => "between Nagle's algorithm and delayed ACKs",
        LimitingFactor::AckDelay => "for late ACKs",
        LimitingFactor::LossRecovery => "for lost segments",
        LimitingFactor::Timeout => "for the retransmission timer",
        LimitingFactor::Bandwidth => "for the rate of the link",
        LimitingFactor::RoundTrip => "for the last round trip",
        LimitingFactor::Unknown => "for a reason that the capture does not show",
    }
}

pub(in crate::words) fn caveat(caveat: &ComparisonCaveat) -> String {
    match caveat {
        ComparisonCaveat::Elided { which } => format!(
            "packets were left out of {}'s text: the timing of its bytes is unknown and not compared",
            name(*which)
        ),
        ComparisonCaveat::Encrypted { which } => format!(
            "{} is QUIC, which encrypts ACKs, windows and losses: only sizes and times are compared, and its last byte counts as received one round trip after it passed",
            name(*which)
        ),
        ComparisonCaveat::FirstRounds { which, listed } => {
            format!("only the first {} of {} are listed", count(*listed, "round"), name(*which))
        }
        ComparisonCaveat::Lost { which, segments } => format!(
            "{} lost segments ({} retransmitted): bytes count in the round in which they were first sent, and the last one when it was acknowledged",
            name(*which),
            count(*segments, "segment")
        ),
        ComparisonCaveat::NoFullRound { which } => {
            format!("{} has no full round: its further course is unknown", name(*which))
        }
        ComparisonCaveat::NoRequest { which } => {
            format!("{} answers no request in its capture: its times start at its first byte", name(*which))
        }
        ComparisonCaveat::NoRoundTrip { which } => format!(
            "no round trip was measured in {}: its last byte counts as received when it was acknowledged",
            name(*which)
        ),
        ComparisonCaveat::OppositeDirections => {
            "one is an upload, the other a download: different hosts send".to_owned()
        }
    }
}
