//! The verdict on a capture, and whether that on a transformed capture is compatible with it.

use super::packets::{Packet, written};
use super::session;
use super::transform::Takes;
use std::collections::BTreeMap;
use std::fmt;
use whyslow_analysis::{Analysis, Cause};
use whyslow_diagnosis::explain::explain;
use whyslow_diagnosis::ranking::{by_cause, slow_by_cause};

/// From here on a cause is called certain.
const CERTAIN: f64 = 0.9;
/// From here on a cause is called likely; below, no more than possible.
const LIKELY: f64 = 0.6;

/// The cost of a cause.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    seconds: f64,
    confidence: f64,
}

/// The verdict on a capture.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The cause that slowed it most.
    top: Option<Cause>,
    costs: BTreeMap<Cause, Cost>,
}

/// Explains packets; `None` if they are not read as a capture.
pub fn verdict(link: u16, packets: &[Packet]) -> Option<Verdict> {
    let mut analysis = explain("transformed.pcap", &written(link, packets)).ok()?;
    analysis.connections.retain(|connection| connection.client.port != session::PORT);
    Some(Verdict::of(&analysis))
}

/// The cost that is reported for the merged session.
pub fn session_cost(link: u16, packets: &[Packet]) -> Option<String> {
    let mut analysis = explain("merged.pcap", &written(link, packets)).ok()?;
    analysis.connections.retain(|connection| connection.client.port == session::PORT);
    analysis.findings.clear();
    Verdict::of(&analysis).top.map(|cause| format!("the idle session is slowed by {cause}"))
}

impl Verdict {
    pub fn of(analysis: &Analysis) -> Self {
        let found =
            analysis.connections.iter().flat_map(whyslow_diagnosis::ranking::findings).chain(&analysis.findings);
        let mut costs: BTreeMap<Cause, Cost> = BTreeMap::new();
        // The costliest finding of a cause is its verdict.
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|finding| finding.cost_s);
        for finding in found {
            costs.entry(finding.cause).or_default().confidence = finding.confidence;
        }
        for cost in by_cause(analysis) {
            costs.entry(cost.cause).or_default().seconds = cost.seconds.as_secs_f64();
        }
        let slow = slow_by_cause(analysis).into_iter().filter(|cost| cost.seconds.0 > 0);
        let top = slow.map(|cost| (cost.cause != Cause::ClientThink, cost.seconds, cost.cause)).max();
        Self { top: top.map(|(_, _, cause)| cause), costs }
    }

    fn cost(&self, cause: Cause) -> Cost {
        self.costs.get(&cause).copied().unwrap_or_default()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(cause) = self.top else { return write!(f, "nothing") };
        let Cost { seconds, confidence } = self.cost(cause);
        write!(f, "{cause} {seconds:.3} s ({confidence:.2})")
    }
}

/// Causes that a capture may not distinguish: which one is named depends on its evidence.
const ALIKE: &[&[Cause]] = &[
    &[Cause::Loss, Cause::RandomLoss, Cause::LostRetransmission, Cause::Policer, Cause::NoSack],
    &[Cause::Bandwidth, Cause::Shaper, Cause::Bufferbloat],
    &[Cause::ServerThink, Cause::ProxySplit, Cause::Application],
    &[Cause::ZeroWindow, Cause::HostCpu, Cause::ReceiveWindow, Cause::NoWindowScaling],
    &[Cause::SenderCap, Cause::ProtocolWindow],
    &[Cause::Timeout, Cause::TailLoss, Cause::LostRetransmission, Cause::Loss, Cause::MtuBlackHole],
    &[Cause::NagleDelayedAck, Cause::DelayedAck],
    &[Cause::SynLoss, Cause::NoAnswer],
];

fn alike(a: Cause, b: Cause) -> bool {
    a == b || ALIKE.iter().any(|group| group.contains(&a) && group.contains(&b))
}

/// How the verdict on a transformed capture relates to that on the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The same cause, or another that the whole capture shows as well.
    Stays,
    /// No cause, or another one that is at most possible.
    LessSure,
    /// Another cause that is called likely.
    Other,
    /// Another cause that is called certain.
    OtherCertain,
}

/// Share of the top cause's cost: a small change may put another one within it first.
const MIN_SAME_COST: f64 = 0.8;
/// Share of a cost in a part of a capture: the whole capture shows at least this much.
const SHOWN: f64 = 0.5;

impl Change {
    pub fn between(whole: &Verdict, transformed: &Verdict, takes: Takes) -> Self {
        let Some(after) = transformed.top else {
            return if whole.top.is_none() { Self::Stays } else { Self::LessSure };
        };
        let cost = transformed.cost(after);
        let known: f64 =
            whole.costs.iter().filter(|(cause, _)| alike(**cause, after)).map(|(_, cost)| cost.seconds).sum();
        let stays = match whole.top {
            Some(before) if alike(before, after) => true,
            // Without a part of the time another of the whole's causes may be the main one.
            // A wait at the end of the capture lasts as long as the capture does.
            _ if after == Cause::NoAnswer && whole.cost(after).seconds > 0.0 => true,
            _ if takes != Takes::Nothing => known > 0.0 && known >= SHOWN * cost.seconds,
            Some(before) => known >= MIN_SAME_COST * whole.cost(before).seconds,
            None => known >= MIN_SAME_COST * cost.seconds,
        };
        let less_sure = whole.top.is_some() && cost.confidence < LIKELY;
        match (stays, less_sure) {
            (true, _) => Self::Stays,
            (_, true) => Self::LessSure,
            _ if cost.confidence < CERTAIN => Self::Other,
            _ => Self::OtherCertain,
        }
    }
}
