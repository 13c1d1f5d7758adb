//! Findings from a card's counters: rates between two snapshots, shares from one.

use super::parse::{Kind, Look, SOURCE};
use crate::limits::{DROPPED, FEW};
use crate::report::{Advice, Allowance, DeviceStatement, Finding, HostCause, Limitation, Statement, Subject};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Unit};

/// Packets that a share needs, from one look: as for `whyslow host`.
const ENOUGH: f64 = 10_000.0;
/// Pause frames a second that hold a link: each stops 10 Gbit/s for up to 3.4 ms (65,535 quanta of
/// 512 bits, IEEE 802.3x), so that ten take 3 % of the time at most.
const PAUSES: f64 = 10.0;
/// Pause frames for each packet, from one look.
const PAUSED: f64 = 0.001;

/// Two looks at a card, or one.
struct Counted<'a> {
    now: &'a Look,
    before: Option<&'a Look>,
    over: Option<f64>,
}

impl Counted<'_> {
    fn get(&self, kind: Kind) -> Option<f64> {
        let now = self.now.get(kind)?;
        match self.before {
            // A count that falls was reset.
            Some(before) => Some(now - before.get(kind).unwrap_or(0.0)).filter(|grown| *grown >= 0.0),
            None => Some(now),
        }
    }

    fn per_s(&self, count: f64) -> Option<f64> {
        self.over.map(|seconds| count / seconds)
    }

    /// The base of a share; `None` for a total since boot, which may be old.
    fn of(&self, kind: Kind) -> Option<f64> {
        let least = if self.before.is_some() { 1.0 } else { ENOUGH };
        self.get(kind).filter(|all| *all >= least)
    }

    fn sure(&self, value: f64) -> f64 {
        if self.before.is_some() { value } else { value - 0.25 }
    }

    /// A count that is at least one in 10,000; without a total, one that chance does not explain.
    fn share(&self, kind: Kind, of: Kind) -> Option<(f64, Option<f64>)> {
        let count = self.get(kind).filter(|count| *count >= FEW as f64)?;
        let of = self.of(of).map(|all| all + count);
        of.is_none_or(|all| count >= DROPPED * all).then_some((count, of))
    }
}

pub(super) fn subjects(looks: &[Look]) -> Vec<Subject> {
    let mut devices: Vec<&str> = Vec::new();
    for look in looks {
        if !devices.contains(&look.device.as_str()) {
            devices.push(&look.device);
        }
    }
    devices.iter().filter_map(|device| subject(device, looks)).collect()
}

fn subject(device: &str, looks: &[Look]) -> Option<Subject> {
    let mut own = looks.iter().filter(|look| look.device == device);
    let first = own.next()?;
    let now = own.next_back().unwrap_or(first);
    let before = Some(first).filter(|first| !std::ptr::eq(*first, now));
    let between = before.and_then(|before| Some(now.time? - before.time?));
    let over = between.map(|seconds| if seconds < 0.0 { seconds + 86_400.0 } else { seconds }).filter(|s| *s > 0.0);
    let counted = Counted { now, before, over };
    let mut out = Subject::new(SOURCE, device);
    out.over_s = over;
    for (name, kind) in [("received", Kind::Received), ("sent", Kind::Sent)] {
        out.figure(name, counted.get(kind), Unit::Packets);
    }
    let rules = [ring, sending, damaged, paused, pausing];
    out.findings = rules.iter().filter_map(|rule| rule(&counted)).collect();
    out.findings.extend(ALLOWANCES.iter().filter_map(|(kind, allowance)| exceeded(&counted, *kind, *allowance)));
    if before.is_none() {
        out.gaps.push(Limitation::SinceUp);
    } else if over.is_none() {
        out.gaps.push(Limitation::NoTimes);
    }
    Some(out)
}

fn ring(counted: &Counted<'_>) -> Option<Finding> {
    let (packets, of) = counted.share(Kind::RingFull, Kind::Received)?;
    let statement = DeviceStatement::RingFull { packets, of, per_s: counted.per_s(packets) };
    Some(
        Finding::new(HostCause::NicDrops, counted.sure(0.9), Statement::Device(statement))
            .shown(counted.now.name(Kind::RingFull), packets, Unit::Packets)
            .advised(Actor::Application, Advice::EnlargeRing),
    )
}

fn sending(counted: &Counted<'_>) -> Option<Finding> {
    let (packets, of) = counted.share(Kind::SendDrops, Kind::Sent)?;
    let statement = DeviceStatement::SendDrops { packets, of, per_s: counted.per_s(packets) };
    Some(
        Finding::new(HostCause::NicDrops, counted.sure(0.8), Statement::Device(statement))
            .shown(counted.now.name(Kind::SendDrops), packets, Unit::Packets)
            .advised(Actor::Application, Advice::EnlargeSendRing),
    )
}

fn damaged(counted: &Counted<'_>) -> Option<Finding> {
    let (frames, of) = counted.share(Kind::Damaged, Kind::Received)?;
    Some(
        Finding::new(
            Cause::RandomLoss,
            counted.sure(0.9),
            Statement::Device(DeviceStatement::DamagedFrames { frames, of }),
        )
        .shown(counted.now.name(Kind::Damaged), frames, Unit::Packets)
        .advised(Actor::Network, Advice::CheckCable),
    )
}

/// Pause frames by their rate, or by their share of the packets.
fn pauses(counted: &Counted<'_>, kind: Kind, of: Kind) -> Option<(f64, Option<f64>)> {
    let frames = counted.get(kind).filter(|frames| *frames >= FEW as f64)?;
    let per_s = counted.per_s(frames);
    let is_much = match per_s {
        Some(per_s) => per_s >= PAUSES,
        None => counted.of(of).is_some_and(|all| frames >= PAUSED * all),
    };
    is_much.then_some((frames, per_s))
}

fn paused(counted: &Counted<'_>) -> Option<Finding> {
    let (frames, per_s) = pauses(counted, Kind::PauseReceived, Kind::Sent)?;
    Some(
        Finding::unnamed(
            counted.sure(0.75),
            Statement::Device(DeviceStatement::Paused { frames, per_s, is_told: true }),
        )
        .shown(counted.now.name(Kind::PauseReceived), frames, Unit::Packets)
        .advised(Actor::Network, Advice::FindPause),
    )
}

fn pausing(counted: &Counted<'_>) -> Option<Finding> {
    let (frames, per_s) = pauses(counted, Kind::PauseSent, Kind::Received)?;
    Some(
        Finding::new(
            HostCause::NicDrops,
            counted.sure(0.75),
            Statement::Device(DeviceStatement::Paused { frames, per_s, is_told: false }),
        )
        .shown(counted.now.name(Kind::PauseSent), frames, Unit::Packets)
        .advised(Actor::Application, Advice::EnlargeRing),
    )
}

const ALLOWANCES: [(Kind, Allowance); 5] = [
    (Kind::BandwidthIn, Allowance::BandwidthIn),
    (Kind::BandwidthOut, Allowance::BandwidthOut),
    (Kind::PacketRate, Allowance::Packets),
    (Kind::Connections, Allowance::Connections),
    (Kind::LinkLocal, Allowance::LinkLocal),
];

fn exceeded(counted: &Counted<'_>, kind: Kind, allowance: Allowance) -> Option<Finding> {
    let packets = counted.get(kind).filter(|packets| *packets >= FEW as f64)?;
    let statement = Statement::Device(DeviceStatement::Allowance { allowance, packets, per_s: counted.per_s(packets) });
    let confidence = counted.sure(0.85);
    let finding = match allowance {
        Allowance::BandwidthIn | Allowance::BandwidthOut | Allowance::Packets => {
            Finding::new(Cause::Shaper, confidence, statement).advised(Actor::Network, Advice::LargerInstance)
        }
        Allowance::Connections => Finding::new(HostCause::ConntrackFull, confidence, statement)
            .advised(Actor::Application, Advice::FewerConnections),
        Allowance::LinkLocal => {
            Finding::unnamed(confidence, statement).advised(Actor::Application, Advice::CheckResolver)
        }
    };
    Some(finding.shown(counted.now.name(kind), packets, Unit::Packets))
}
