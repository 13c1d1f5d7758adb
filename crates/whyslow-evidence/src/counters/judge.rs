//! Findings from counters: rates and shares, with the thresholds of `whyslow host`.

use super::parse::{Look, SOURCE};
use crate::limits::{DROPPED, ENOUGH, FEW, LOSSY, TIMEOUTS};
use crate::report::{Advice, Finding, HostCause, Limitation, Statement, Subject, Verdict};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, LossAction, Unit};

/// Drops for each connection that was accepted: as for `whyslow host`.
const OVERFLOWS: f64 = 0.001;
/// Share of retransmissions that were lost again: as for `whyslow host`.
const AGAIN: f64 = 0.1;
/// Share of retransmissions whose data had arrived: as for `whyslow host`.
const NEEDLESS: f64 = 0.5;
/// Share of retransmitted SYNs in the connections that this host opens.
const SYNS: f64 = 0.1;

/// The counts of a look, or between two.
struct Counted<'a> {
    now: &'a Look,
    before: Option<&'a Look>,
}

impl Counted<'_> {
    fn get(&self, name: &str) -> Option<f64> {
        let now = *self.now.counts.get(name)?;
        match self.before {
            // Between two looks `nstat` has started again from 0.
            Some(_) if self.now.relative => Some(now),
            // A counter that falls was reset.
            Some(before) => Some(now - before.counts.get(name).copied().unwrap_or(0.0)).filter(|grown| *grown >= 0.0),
            None => Some(now),
        }
    }

    fn or_zero(&self, name: &str) -> f64 {
        self.get(name).unwrap_or(0.0)
    }

    /// The count of `of`, if it is enough for a share.
    fn enough(&self, of: &str) -> Option<f64> {
        let least = if self.before.is_some() { 1.0 } else { ENOUGH as f64 };
        self.get(of).filter(|all| *all >= least)
    }

    /// Counted since boot, a total may be long past.
    fn sure(&self, value: f64) -> f64 {
        if self.before.is_some() || self.now.relative { value } else { value - 0.1 }
    }
}

pub(super) fn subject(looks: &[Look]) -> Option<Subject> {
    let now = looks.last()?;
    let before = looks.first().filter(|_| looks.len() > 1);
    let counted = Counted { now, before };
    let mut out = Subject::new(SOURCE, "");
    let between = before.and_then(|before| Some(now.time? - before.time?));
    out.over_s = between.map(|seconds| if seconds < 0.0 { seconds + 86_400.0 } else { seconds }).filter(|s| *s > 0.0);
    figures(&counted, &mut out);
    let rules = [overflows, loss, timeouts, again, needless, drops, damaged, udp, syns];
    out.findings = rules.iter().filter_map(|rule| rule(&counted)).collect();
    if counted.get("Tcp.RetransSegs").is_some() && counted.get("Tcp.OutSegs").is_none() {
        out.gaps.push(Limitation::NoDenominator);
        if out.findings.is_empty() {
            out.verdict = Verdict::Unknown;
        }
    }
    if before.is_none() {
        out.gaps.push(Limitation::SinceBoot);
    } else if out.over_s.is_none() {
        out.gaps.push(Limitation::NoTimes);
    }
    Some(out)
}

fn figures(counted: &Counted<'_>, out: &mut Subject) {
    let names = ["Tcp.OutSegs", "Tcp.InSegs", "Tcp.RetransSegs", "TcpExt.TCPTimeouts", "TcpExt.ListenOverflows"];
    for name in names {
        out.figure(name, counted.get(name), Unit::Times);
    }
    let share = counted.get("Tcp.RetransSegs").zip(counted.enough("Tcp.OutSegs"));
    out.figure("RetransSegs / OutSegs", share.map(|(again, sent)| again / sent * 100.0), Unit::Percent);
}

fn overflows(counted: &Counted<'_>) -> Option<Finding> {
    let own = counted.or_zero("TcpExt.ListenOverflows");
    let cookies = counted.or_zero("TcpExt.TCPReqQFullDrop") + counted.or_zero("TcpExt.TCPReqQFullDoCookies");
    let count = own.max(cookies);
    let of = counted.get("Tcp.PassiveOpens");
    let least = if counted.before.is_some() { 1.0 } else { FEW as f64 };
    if count < least || of.is_some_and(|of| count < OVERFLOWS * of) {
        return None;
    }
    let confidence = match (counted.before.is_some(), of.is_some()) {
        (true, _) => 0.9,
        (false, true) => 0.7,
        (false, false) => 0.5,
    };
    let finding = Finding::new(HostCause::ListenOverflow, confidence, Statement::AcceptQueueOverflows { count, of });
    let name = if own >= cookies { "TcpExt.ListenOverflows" } else { "TcpExt.TCPReqQFull…" };
    Some(finding.shown(name, count, Unit::Times).advised(Actor::Application, Advice::AcceptFaster))
}

/// Retransmissions without SYNs.
fn retransmitted(counted: &Counted<'_>) -> Option<f64> {
    Some((counted.get("Tcp.RetransSegs")? - counted.or_zero("TcpExt.TCPSynRetrans")).max(0.0))
}

fn duplicates(counted: &Counted<'_>) -> f64 {
    counted.or_zero("TcpExt.TCPDSACKRecv") + counted.or_zero("TcpExt.TCPDSACKOfoRecv")
}

fn loss(counted: &Counted<'_>) -> Option<Finding> {
    let sent = counted.enough("Tcp.OutSegs")?;
    let again = retransmitted(counted)?;
    let lost = (again - duplicates(counted)).max(0.0);
    if lost < FEW as f64 || lost < LOSSY * sent {
        return None;
    }
    let statement = Statement::Lost { segments: lost, of: Some(sent) };
    Some(
        Finding::new(Cause::Loss, counted.sure(0.75), statement)
            .shown("Tcp.RetransSegs", counted.or_zero("Tcp.RetransSegs"), Unit::Segments)
            .shown("Tcp.OutSegs", sent, Unit::Segments)
            .remedied(Actor::Network, LossAction::FindLoss { share: Some((lost / sent).min(1.0)) })
            .open(Limitation::WhereLost),
    )
}

fn timeouts(counted: &Counted<'_>) -> Option<Finding> {
    let of = counted.enough("Tcp.OutSegs")?;
    let count = (counted.get("TcpExt.TCPTimeouts")? - counted.or_zero("TcpExt.TCPSynRetrans")).max(0.0);
    if count < FEW as f64 || count < TIMEOUTS * of {
        return None;
    }
    Some(
        // Each is a silence of 200 ms or more (TCP_RTO_MIN of Linux).
        Finding::new(Cause::Timeout, counted.sure(0.7), Statement::Timeouts { count, of })
            .shown("TcpExt.TCPTimeouts", count, Unit::Times)
            .remedied(Actor::Network, LossAction::FindLoss { share: None })
            .open(Limitation::WhereLost),
    )
}

fn again(counted: &Counted<'_>) -> Option<Finding> {
    let of = retransmitted(counted)?;
    let sent = counted.enough("Tcp.OutSegs")?;
    let segments = (counted.get("TcpExt.TCPLostRetransmit")? - counted.or_zero("TcpExt.TCPSynRetrans")).max(0.0);
    (segments >= FEW as f64 && segments >= AGAIN * of && of >= LOSSY * sent).then(|| {
        Finding::new(Cause::LostRetransmission, counted.sure(0.75), Statement::LostAgain { segments, of })
            .shown("TcpExt.TCPLostRetransmit", segments, Unit::Segments)
            .remedied(Actor::Network, LossAction::FindBurstLoss)
    })
}

fn needless(counted: &Counted<'_>) -> Option<Finding> {
    let of = retransmitted(counted)?;
    let sent = counted.enough("Tcp.OutSegs")?;
    let segments = duplicates(counted);
    (segments >= FEW as f64 && segments >= NEEDLESS * of && segments >= LOSSY * sent).then(|| {
        Finding::new(Cause::SpuriousRetransmission, counted.sure(0.7), Statement::Spurious { segments, of })
            .shown("TcpExt.TCPDSACKRecv", segments, Unit::Segments)
            .remedied(Actor::Network, LossAction::BalanceByFlow)
    })
}

fn drops(counted: &Counted<'_>) -> Option<Finding> {
    let names =
        ["TcpExt.RcvPruned", "TcpExt.TCPRcvQDrop", "TcpExt.OfoPruned", "TcpExt.TCPBacklogDrop", "TcpExt.PruneCalled"];
    let found = names.iter().filter_map(|name| Some((*name, counted.get(name)?)));
    let (name, segments) = found.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let of = counted.enough("Tcp.InSegs");
    if segments < FEW as f64 || of.is_some_and(|of| segments < DROPPED * of) {
        return None;
    }
    let confidence = if of.is_some() { counted.sure(0.8) } else { 0.5 };
    Some(
        Finding::new(HostCause::ReceiveDrops, confidence, Statement::ReceiveDrops { segments, of })
            .shown(name, segments, Unit::Segments)
            .advised(Actor::Application, Advice::ReadHere),
    )
}

fn damaged(counted: &Counted<'_>) -> Option<Finding> {
    let (segments, of) = (counted.get("Tcp.InCsumErrors")?, counted.enough("Tcp.InSegs")?);
    (segments >= FEW as f64 && segments >= DROPPED * of).then(|| {
        Finding::new(HostCause::ChecksumErrors, counted.sure(0.9), Statement::Damaged { segments, of })
            .shown("Tcp.InCsumErrors", segments, Unit::Segments)
            .advised(Actor::Network, Advice::FindDamage)
    })
}

fn udp(counted: &Counted<'_>) -> Option<Finding> {
    let (datagrams, came) = (counted.get("Udp.RcvbufErrors")?, counted.get("Udp.InDatagrams")?);
    let of = came + datagrams;
    (datagrams >= FEW as f64 && datagrams >= DROPPED * of).then(|| {
        Finding::new(HostCause::ReceiveDrops, counted.sure(0.8), Statement::UdpDrops { datagrams, of })
            .shown("Udp.RcvbufErrors", datagrams, Unit::Packets)
            .advised(Actor::Application, Advice::EnlargeUdpBuffer)
    })
}

fn syns(counted: &Counted<'_>) -> Option<Finding> {
    let retries = counted.get("TcpExt.TCPSynRetrans")?;
    let opened = counted.get("Tcp.ActiveOpens")?;
    (retries >= FEW as f64 && retries >= SYNS * opened && opened > 0.0).then(|| {
        Finding::new(Cause::NoAnswer, counted.sure(0.65), Statement::SynUnanswered { retries, connections: opened })
            .shown("TcpExt.TCPSynRetrans", retries, Unit::Syns)
            .advised(Actor::Network, Advice::CheckReach)
    })
}
