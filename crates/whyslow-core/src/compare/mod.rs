//! Two transfers side by side: what differs, what that costs, and which is faster at what size.
//!
//! Knows [`analysis`](crate::analysis) values and nothing behind them: it can compare what was read from files years
//! apart. Both transfers are set to one zero, the request (for an upload, the first byte), and are told as the receiver
//! sees them: a byte counts when it is there, so that round trips of different length compare fairly.
//!
//! It promises that the differences of the phases add up to the difference of the whole, and that what goes beyond
//! what was captured is called extrapolated. It ignores causes: these are told of each transfer by itself.

mod chosen;
mod curve;
mod leads;
mod reach;
mod settings;
#[cfg(test)]
pub(crate) mod tests;
mod words;

pub use chosen::{Chosen, NotThere, Which, choose, choose_in};

use crate::analysis::{End, Limit, Near, Transfer};
use crate::units::Nanos;
use curve::Curve;
use serde::Serialize;

/// The version of the contract.
pub const SCHEMA: &str = "whyslow-compare/1";

/// What two transfers have in common and what not. What has two members is `[a, b]`; a difference is `b - a`.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The transfers.
    pub transfers: [Told; 2],
    /// Where the time went: what came before the first byte, then the limits, as far as either has them.
    pub phases: Vec<Phase>,
    /// All phases together.
    pub total: Times,
    /// Until the first byte was there, from the request on.
    pub first_byte: FirstByte,
    /// How long each took for as many bytes as both carried.
    pub same_size: Option<SameSize>,
    /// The rounds, those of one number beside each other.
    pub rounds: Vec<[Option<Side>; 2]>,
    /// How many rounds there were.
    pub rounds_total: [u64; 2],
    /// Bytes that were there by time.
    pub curves: [Grown; 2],
    /// What was agreed and how each began.
    pub settings: Vec<Setting>,
    /// The rate that each would come to if it went on.
    pub reach: [Option<Reach>; 2],
    /// Which is faster at what size, from one byte on.
    pub leads: Vec<Lead>,
    /// What follows, in plain words.
    pub summary: Vec<String>,
    /// What limits the comparison, in plain words.
    pub caveats: Vec<String>,
}

/// One of the two transfers.
#[derive(Clone, Debug, Serialize)]
pub struct Told {
    /// The capture, as it was named.
    pub path: String,
    /// Id of its connection.
    pub connection: u64,
    /// Its place among the connection's transfers, from 1 on.
    pub transfer: usize,
    /// Client and server, with ports.
    pub ends: [String; 2],
    /// Who sends.
    pub from: End,
    /// What it carried, where the payload tells.
    pub label: Option<String>,
    /// Where the capture stands.
    pub near: Near,
    /// Payload.
    pub bytes: u64,
    /// First byte sent to the ACK of the last.
    pub duration_s: Nanos,
    /// Payload over that, bits per second.
    pub rate_bps: Option<f64>,
    /// The least round trip of the connection.
    pub rtt_s: Option<Nanos>,
    /// Why it was slow, in one sentence.
    pub verdict: String,
    /// Packets of it were left out of a text: its bytes and its whole time are compared, not how they came. Left out where it is not so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub elided: bool,
}

/// Time of both, and by how much the second is longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Times {
    /// What each took.
    pub seconds: [Nanos; 2],
    /// The second's less the first's.
    pub difference_s: Nanos,
}

impl Times {
    fn new(seconds: [Nanos; 2]) -> Self {
        Self { seconds, difference_s: seconds[1] - seconds[0] }
    }
}

/// Time under one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Phase {
    /// Which.
    pub limit: Limit,
    /// It is what went before the first byte.
    pub before: bool,
    /// How long.
    #[serde(flatten)]
    pub times: Times,
}

/// Until the first byte of the payload.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FirstByte {
    /// Until it was there. From the request on; null where the transfer answers none.
    pub arrived_s: [Option<Nanos>; 2],
    /// Until the receiving program could read it: a TLS record is readable when it is whole.
    pub readable_s: [Option<Nanos>; 2],
    /// The TLS record with which it began, bytes.
    pub first_record: [Option<u64>; 2],
}

/// One size, two times.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SameSize {
    /// Payload.
    pub bytes: u64,
    /// Until so much was there, from the request on.
    #[serde(flatten)]
    pub times: Times,
}

/// One transfer's side of a round.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Side {
    /// When its first byte was there, from the request on.
    pub start_s: Nanos,
    /// New payload.
    pub bytes: u64,
    /// Most bytes in flight during it.
    pub in_flight: u64,
    /// `in_flight` over that of the round before; null for the first.
    pub growth: Option<f64>,
    /// The largest window that the sender had.
    pub window: Option<u64>,
    /// What held it for most of its time.
    pub limit: Limit,
}

/// How many bytes the receiver had by when: lines through (seconds from the request on, bytes), both rising.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Grown {
    /// As captured.
    pub captured: Vec<(Nanos, u64)>,
    /// As it would go on behind that; empty where that cannot be told.
    pub extrapolated: Vec<(Nanos, u64)>,
}

/// A property of both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its name: `round-trip`, `mss`, `window-scale`, `sack`, `timestamps`, `first-flight`, `initial-window`, `first-window`,
    /// `first-record`, `largest-record`.
    pub name: &'static str,
    /// In plain words; null where it is not known.
    pub values: [Option<String>; 2],
    /// They are known and not the same.
    pub differs: bool,
}

/// What a transfer would come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reach {
    /// Bits per second.
    pub rate_bps: f64,
    /// What that rests on.
    pub kind: ReachKind,
    /// In plain words.
    pub reason: String,
}

/// What an expected rate rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReachKind {
    /// It had stopped growing: the rate of its later half.
    Steady,
    /// It was still growing, and the largest window that the receiver offered would stop it.
    Window,
    /// It was still growing, and nothing in the capture says what would stop it: the rate of its last full round, or more.
    Growing,
}

/// A range of sizes in which one is faster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lead {
    /// From this size on, bytes.
    pub from_bytes: u64,
    /// Up to this size, bytes.
    pub to_bytes: u64,
    /// 0: the first, 1: the second; null where they are level.
    pub faster: Option<usize>,
    /// The most that it is ahead by.
    pub by_s: Nanos,
    /// At this size.
    pub at_bytes: u64,
    /// The largest size for which both were captured lies below `to_bytes`: what is beyond it is extrapolated.
    pub extrapolated: bool,
}

/// Compares two transfers.
pub fn compare(a: &Chosen<'_>, b: &Chosen<'_>) -> Comparison {
    let both = [a, b];
    // Where packets were left out of a text, how its bytes came is not known: of both, the whole is told.
    let whole = both.iter().all(|one| !one.transfer.elided);
    let reach = both.map(|one| reach::of(one).filter(|_| whole));
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
        transfers: both.map(told),
        total: Times::new([sum(0), sum(1)]),
        phases,
        first_byte: first_byte(both),
        same_size,
        rounds: rounds(both),
        rounds_total: both.map(|one| one.transfer.rounds_total),
        settings: settings::of(both),
        leads: if whole { leads::of(&curves, size, leads::least(both)) } else { Vec::new() },
        curves: if whole { curves.map(Curve::told) } else { Default::default() },
        reach: reach.map(|reach| reach.map(|reach| reach.told)),
        summary: Vec::new(),
        caveats: Vec::new(),
    };
    comparison.summary = words::summary(&comparison);
    comparison.caveats = words::caveats(&comparison, both);
    comparison
}

/// From the request to the first byte; none where the transfer answers no request.
fn wait(transfer: &Transfer) -> Option<Nanos> {
    let waits = |limit| matches!(limit, Limit::RequestWait | Limit::ServerThink | Limit::Timeout);
    let mut waited = transfer.before.iter().filter(|share| waits(share.limit)).peekable();
    waited.peek()?;
    Some(waited.map(|share| share.seconds.or_zero()).sum())
}

fn told(chosen: &Chosen<'_>) -> Told {
    let (connection, transfer) = (chosen.connection, chosen.transfer);
    Told {
        path: chosen.path.to_owned(),
        connection: connection.id,
        transfer: chosen.number,
        ends: [connection.client.told(), connection.server.told()],
        from: transfer.from,
        label: transfer.label.clone(),
        near: connection.near,
        bytes: transfer.bytes,
        duration_s: transfer.duration_s,
        rate_bps: transfer.rate_bps,
        rtt_s: chosen.rtt(),
        verdict: transfer.verdict.clone(),
        elided: transfer.elided,
    }
}

/// Every phase that either has: those before the first byte in their order, then the limits, those that differ most first.
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

fn first_byte(both: [&Chosen<'_>; 2]) -> FirstByte {
    let arrived = both.map(|one| wait(one.transfer));
    let readable = [0, 1].map(|which: usize| Some(arrived[which]? + both[which].transfer.first_byte_s?));
    FirstByte { arrived_s: arrived, readable_s: readable, first_record: both.map(|one| one.transfer.first_record) }
}

fn rounds(both: [&Chosen<'_>; 2]) -> Vec<[Option<Side>; 2]> {
    let sides = both.map(|one| sides(one.transfer));
    let most = sides.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).map(|index| [0, 1].map(|which: usize| sides[which].get(index).copied())).collect()
}

fn sides(transfer: &Transfer) -> Vec<Side> {
    let wait = wait(transfer).unwrap_or_default();
    let mut before: Option<u64> = None;
    transfer
        .rounds
        .iter()
        .map(|round| {
            let growth = before.filter(|&before| before > 0).map(|before| round.in_flight as f64 / before as f64);
            before = Some(round.in_flight);
            Side {
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
