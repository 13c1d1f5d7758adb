//! Two transfers side by side: their differences, the cost of these, and the faster one by size.
//!
//! Depends only on [`analysis`](whyslow_analysis) values: it can compare results of files years
//! apart. Both transfers start at zero with the request (for an upload, with the first byte), from
//! the receiver's point of view: a byte counts when it has arrived, so that round trips of
//! different length compare fairly.
//!
//! It promises that the differences of the phases add up to the difference of the whole, and that
//! values beyond the capture are marked as extrapolated. It ignores causes: each transfer has its
//! own.
//!
//! ```
//! use whyslow_diagnosis::compare::{TransferName, choose, compare};
//! use whyslow_diagnosis::explain::explain;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fast = explain("fast.pcap", include_bytes!("../../../../samples/healthy-server.pcap"))?;
//! let slow = explain("slow.pcap", include_bytes!("../../../../samples/loss-server.pcap"))?;
//! // The largest transfer of each.
//! let largest = TransferName::default();
//! let comparison = compare(&choose(&fast, largest)?, &choose(&slow, largest)?);
//! assert!(!comparison.phases.is_empty());
//! # Ok(())
//! # }
//! ```

mod chosen;
mod comparison;
mod curve;
mod figures;
mod leads;
mod reach;
mod settings;
mod statement;
mod statements;
#[cfg(test)]
pub(crate) mod tests;

pub use chosen::{ChosenTransfer, NoSuchTransfer, TransferName, choose, choose_in};
pub use comparison::{ByteCurves, Comparison, CurvePoint, FirstByte, Phase, RoundSide, Setting, TransferSummary};
pub use figures::{Lead, Reach, ReachKind, SameSize, Times};
pub use statement::{ComparisonCaveat, ComparisonStatement, FlightCourse, Flights, LateRecord};

use curve::{Curve, wait};
use whyslow_analysis::Transfer;

/// The version of the contract.
pub const SCHEMA: &str = "whyslow-compare/2";

/// Compares two transfers.
pub fn compare(a: &ChosenTransfer<'_>, b: &ChosenTransfer<'_>) -> Comparison {
    let both = [a, b];
    // Where packets were left out of a text, how its bytes came is not known: only the whole of
    // both is compared.
    let whole = both.iter().all(|one| !one.transfer.elided);
    let reach = both.map(|one| reach::prospect_of(one).filter(|_| whole));
    let curves = [0, 1].map(|which| Curve::new(both[which], reach[which].as_ref()));
    let phases = phases(both.map(|one| one.transfer));
    let sum = |which: usize| phases.iter().map(|phase| phase.times.seconds[which]).sum();
    let size = a.transfer.bytes.min(b.transfer.bytes);
    let at_size = [0, 1].map(|which: usize| curves[which].when(size));
    let same_size = match at_size {
        [Some(one), Some(two)] if size > 0 && whole => Some(SameSize { bytes: size, times: Times::new([one, two]) }),
        _ => None,
    };
    let mut comparison = Comparison {
        schema: SCHEMA,
        transfers: both.map(summarize),
        total: Times::new([sum(0), sum(1)]),
        phases,
        first_byte: first_byte(both),
        same_size,
        rounds: rounds(both),
        rounds_total: both.map(|one| one.transfer.rounds_total),
        settings: settings::compare_settings(both),
        leads: if whole { leads::find_leads(&curves, size, leads::least(both)) } else { Vec::new() },
        curves: if whole { curves.map(Curve::into_output) } else { Default::default() },
        reach: reach.map(|reach| reach.map(|reach| reach.reach)),
        statements: Vec::new(),
        caveats: Vec::new(),
    };
    comparison.statements = statements::statements(&comparison);
    comparison.caveats = statements::caveats(&comparison, both);
    comparison
}

fn summarize(chosen: &ChosenTransfer<'_>) -> TransferSummary {
    let (connection, transfer) = (chosen.connection, chosen.transfer);
    TransferSummary {
        path: chosen.path.to_owned(),
        connection: connection.id,
        transfer: chosen.number,
        ends: [connection.client.host_and_port(), connection.server.host_and_port()],
        from: transfer.from,
        label: transfer.label.clone(),
        near: connection.near,
        bytes: transfer.bytes,
        duration_s: transfer.duration_s,
        rate_bps: transfer.rate_bps,
        rtt_s: chosen.rtt(),
        verdict: transfer.verdict.clone(),
        finding: transfer.findings.first().cloned(),
        elided: transfer.elided,
    }
}

/// Every phase that either has: those before the first byte in their order, then the limits, those
/// that differ most first.
fn phases(both: [&Transfer; 2]) -> Vec<Phase> {
    let collect = |before: bool| {
        let shares = both.map(|transfer| if before { &transfer.before } else { &transfer.limits });
        let mut phases: Vec<Phase> = Vec::new();
        for share in shares.into_iter().flatten() {
            if phases.iter().all(|phase| phase.limit != share.limit) {
                let of = |which: usize| {
                    let same = shares[which].iter().filter(|other| other.limit == share.limit);
                    same.map(|other| other.seconds.or_zero()).sum()
                };
                phases.push(Phase { limit: share.limit, before, times: Times::new([of(0), of(1)]) });
            }
        }
        phases
    };
    let mut before = collect(true);
    before.sort_by_key(|phase| phase.limit);
    let mut during = collect(false);
    during.sort_by_key(|phase| std::cmp::Reverse(phase.times.difference_s.0.unsigned_abs()));
    before.into_iter().chain(during).collect()
}

fn first_byte(both: [&ChosenTransfer<'_>; 2]) -> FirstByte {
    let arrived = both.map(|one| wait(one.transfer));
    let readable = [0, 1].map(|which: usize| Some(arrived[which]? + both[which].transfer.first_byte_s?));
    FirstByte { arrived_s: arrived, readable_s: readable, first_record: both.map(|one| one.transfer.first_record) }
}

fn rounds(both: [&ChosenTransfer<'_>; 2]) -> Vec<[Option<RoundSide>; 2]> {
    let sides = both.map(|one| sides(one.transfer));
    let most = sides.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).map(|index| [0, 1].map(|which: usize| sides[which].get(index).copied())).collect()
}

fn sides(transfer: &Transfer) -> Vec<RoundSide> {
    let wait = wait(transfer).unwrap_or_default();
    let mut before: Option<u64> = None;
    transfer
        .rounds
        .iter()
        .map(|round| {
            let growth = before.filter(|&before| before > 0).map(|before| round.in_flight as f64 / before as f64);
            before = Some(round.in_flight);
            RoundSide {
                start_s: wait + (round.start_s - transfer.start_s).or_zero(),
                bytes: round.bytes,
                in_flight: round.in_flight,
                growth: growth.map(|growth| (growth * 1e3).round() / 1e3),
                window: round.window,
                limit: round.limit,
            }
        })
        .collect()
}
