//! Conclusions from a comparison, and its limits.

use super::{
    ChosenTransfer, Comparison, ComparisonCaveat, ComparisonStatement, FlightCourse, Flights, LateRecord, Phase,
    RoundSide,
};
use whyslow_units::Nanos;

/// Maximum number of phases that are named.
const PHASES: usize = 4;
/// Minimum difference that is named, next to a twentieth of the whole.
const MIN: Nanos = Nanos::from_millis(5);
/// Flights that differ by less are one size: the last segment may go with the next flight.
const SAME: f64 = 1.1;
/// A record that was complete this much later was read later.
const LATER: Nanos = Nanos::from_millis(1);

/// In the order of the report: the faster one, how each sends, times by phase, the first byte, the
/// size at which the lead changes, and the expected rates.
pub(super) fn statements(comparison: &Comparison) -> Vec<ComparisonStatement> {
    if comparison.transfers.iter().any(|one| one.elided) {
        return whole(comparison).into_iter().chain(first_byte(comparison)).collect();
    }
    let mut statements = Vec::new();
    statements.extend(comparison.same_size.map(|same| ComparisonStatement::SameSize { same }));
    statements.extend(flights(comparison));
    statements.extend(phases(comparison));
    statements.extend(first_byte(comparison));
    if !comparison.leads.is_empty() {
        statements.push(ComparisonStatement::Leads { leads: comparison.leads.clone() });
    }
    for (which, reach) in comparison.reach.iter().enumerate() {
        statements.extend(reach.clone().map(|reach| ComparisonStatement::Reach { which, reach }));
    }
    statements
}

/// Results for both if packets are missing between the first and the last.
fn whole(comparison: &Comparison) -> Option<ComparisonStatement> {
    let both = &comparison.transfers;
    both.iter().all(|one| one.rate_bps.is_some()).then(|| ComparisonStatement::WholeTransfers {
        seconds: [0, 1].map(|which: usize| both[which].duration_s),
        bytes: [0, 1].map(|which: usize| both[which].bytes),
    })
}

fn flights(comparison: &Comparison) -> Option<ComparisonStatement> {
    Some(ComparisonStatement::Flights { flights: [flights_of(comparison, 0)?, flights_of(comparison, 1)?] })
}

/// How much goes out in a round trip: always the same, or more and more.
fn flights_of(comparison: &Comparison, which: usize) -> Option<Flights> {
    let sides: Vec<RoundSide> = comparison.rounds.iter().filter_map(|round| round[which]).collect();
    // The last round ends with the data.
    let full = if comparison.rounds_total[which] > sides.len() as u64 { &sides[..] } else { sides.split_last()?.1 };
    let sizes: Vec<u64> = full.iter().map(|side| side.in_flight).collect();
    let (first, last) = (*sizes.first()?, *sizes.last()?);
    let (least, most) = (*sizes.iter().min()?, *sizes.iter().max()?);
    let rounds = sizes.len() as u64;
    let course = if most as f64 <= least as f64 * SAME {
        FlightCourse::Same { rounds }
    } else if last == most && first == least {
        FlightCourse::Growing { to: most, round: rounds }
    } else {
        let later = sizes.get(1..)?;
        FlightCourse::Varying { least: *later.iter().min()?, most: *later.iter().max()? }
    };
    Some(Flights { first, rtt_s: comparison.transfers[which].rtt_s, course })
}

/// The phases that differ most.
fn phases(comparison: &Comparison) -> impl Iterator<Item = ComparisonStatement> {
    let whole = comparison.total.seconds[0].max(comparison.total.seconds[1]);
    let least = MIN.max(whole.scale(0.05));
    let difference = |phase: &Phase| Nanos(phase.times.difference_s.0.saturating_abs());
    let mut different: Vec<&Phase> = comparison.phases.iter().filter(|phase| difference(phase) >= least).collect();
    different.sort_by_key(|phase| std::cmp::Reverse(difference(phase)));
    different.into_iter().take(PHASES).map(move |phase| {
        let which = usize::from(phase.times.difference_s > Nanos::ZERO);
        let [wait_s, other_s] = [phase.times.seconds[which], phase.times.seconds[1 - which]];
        ComparisonStatement::LongerPhase { which, limit: phase.limit, by_s: difference(phase), wait_s, other_s }
    })
}

fn first_byte(comparison: &Comparison) -> Option<ComparisonStatement> {
    let first = &comparison.first_byte;
    let [Some(a), Some(b)] = first.arrived_s else { return None };
    let late = |which: usize| {
        let (arrived, readable_s) = (first.arrived_s[which]?, first.readable_s[which]?);
        let (later_s, record) = (readable_s - arrived, first.first_record[which]?);
        (later_s >= LATER).then_some(LateRecord { which, readable_s, record, later_s })
    };
    Some(ComparisonStatement::FirstByte { arrived_s: [a, b], late: [0, 1].into_iter().filter_map(late).collect() })
}

/// Limits of the comparison.
pub(super) fn caveats(comparison: &Comparison, both: [&ChosenTransfer<'_>; 2]) -> Vec<ComparisonCaveat> {
    let mut caveats = Vec::new();
    let waits = comparison.first_byte.arrived_s;
    if waits[0].is_some() != waits[1].is_some() {
        caveats.push(ComparisonCaveat::NoRequest { which: usize::from(waits[0].is_some()) });
    }
    if comparison.transfers[0].from != comparison.transfers[1].from {
        caveats.push(ComparisonCaveat::OppositeDirections);
    }
    for (which, one) in both.into_iter().enumerate() {
        let segments = retransmitted(one);
        if segments > 0 {
            caveats.push(ComparisonCaveat::Lost { which, segments });
        }
        if one.transfer.elided {
            caveats.push(ComparisonCaveat::Elided { which });
        }
        if one.connection.quic.as_ref().is_some_and(|quic| quic.opened.is_none()) {
            caveats.push(ComparisonCaveat::Encrypted { which });
        }
        let listed = one.transfer.rounds.len() as u64;
        if one.transfer.rounds_total > listed {
            caveats.push(ComparisonCaveat::FirstRounds { which, listed });
        }
        if comparison.reach[which].is_none() && comparison.transfers.iter().all(|one| !one.elided) {
            caveats.push(ComparisonCaveat::NoFullRound { which });
        }
        if one.rtt().is_none() {
            caveats.push(ComparisonCaveat::NoRoundTrip { which });
        }
    }
    caveats
}

/// Segments that were retransmitted in the direction of the transfer.
fn retransmitted(one: &ChosenTransfer<'_>) -> u64 {
    let direction = one.connection.directions.iter().find(|direction| direction.from == one.transfer.from);
    direction.map_or(0, |direction| {
        let kinds = direction.retransmitted;
        kinds.fast.saturating_add(kinds.timeout).saturating_add(kinds.tail_probe)
    })
}
