//! Losses, queues, and what the sender itself limits.

use super::held::held;
use super::snapshot::{BULK, SocketSnapshot};
use crate::limits::{FEW, LOSSY, QUEUE_GROWTH_S, QUEUE_SEGMENTS, in_queue};
use crate::report::{Finding, Limitation, Statement};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, ExchangeAction, LinkAction, LossAction, SendingAction, Unit};

/// A connection that had data to send for less of the time was the application's to fill.
const BUSY: f64 = 0.8;

pub(super) fn queue(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let (rtt_s, least_s) = (snapshot.rtt()?, snapshot.least()?);
    if !in_queue(rtt_s, least_s)
        || rtt_s - least_s < QUEUE_GROWTH_S
        || snapshot.unacked() < f64::from(QUEUE_SEGMENTS)
        || snapshot.is_local()
    {
        return None;
    }
    Some(
        Finding::new(Cause::Bufferbloat, 0.65, Statement::Queue { rtt_s, least_s })
            .shown("rtt", rtt_s, Unit::Seconds)
            .shown("minrtt", least_s, Unit::Seconds)
            .shown("unacked", snapshot.unacked(), Unit::Segments)
            .remedied(Actor::Network, LinkAction::ManageQueue { rate_bps: None }),
    )
}

pub(super) fn loss(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let again = snapshot.retransmitted();
    let lost = (again - snapshot.count("dsack_dups").unwrap_or(0.0)).max(0.0);
    let sent = snapshot.sent();
    let is_much = match sent {
        Some(sent) => lost >= LOSSY * sent,
        // The window that losses left behind.
        None => snapshot.now.get("cwnd").is_some_and(|cwnd| cwnd <= 20.0) && snapshot.now.get("ssthresh").is_some(),
    };
    if lost < FEW as f64 || !is_much {
        return None;
    }
    let confidence =
        if snapshot.now.get("data_segs_out").or(snapshot.now.get("segs_out")).is_some() { 0.85 } else { 0.65 };
    let share = sent.map(|sent| (lost / sent.max(lost)).min(1.0));
    let mut finding = Finding::new(Cause::Loss, confidence, Statement::Lost { segments: lost, of: sent })
        .shown("retrans", again, Unit::Segments)
        .remedied(Actor::Network, LossAction::FindLoss { share })
        .remedied(Actor::Sender, LossAction::UseBbr)
        .open(Limitation::WhereLost);
    // BBR does not slow down by it.
    let by_loss = share.filter(|_| !snapshot.now.flags.iter().any(|flag| flag.starts_with("bbr")));
    if let (Some(share), Some(rtt), Some(mss)) = (by_loss, snapshot.least().or(snapshot.rtt()), snapshot.now.get("mss"))
    {
        // Mathis et al. 1997.
        finding =
            finding.shown("MSS / (RTT × √(2p/3))", mss * 8.0 / (rtt * (share * 2.0 / 3.0).sqrt()), Unit::BitsPerSecond);
    }
    Some(finding)
}

pub(super) fn spurious(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let copies = snapshot.count("dsack_dups")?;
    let (again, sent) = (snapshot.retransmitted(), snapshot.sent()?);
    let is_much = copies >= FEW as f64 && copies >= again / 2.0 && copies >= LOSSY * sent;
    is_much.then(|| {
        Finding::new(Cause::SpuriousRetransmission, 0.8, Statement::Spurious { segments: copies, of: again })
            .shown("dsack_dups", copies, Unit::Segments)
            .remedied(Actor::Network, LossAction::BalanceByFlow)
    })
}

/// `ss` prints a second pacing rate where the application or a setting bounds it.
pub(super) fn paced(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let most = snapshot.now.second_rate("pacing_rate").or_else(|| snapshot.now.rate("max_pacing_rate"))?;
    let rate = snapshot.now.rate("delivery_rate").or_else(|| snapshot.now.rate("pacing_rate"))?;
    (rate >= 0.8 * most && most > 0.0).then(|| {
        Finding::new(Cause::Pacing, 0.8, Statement::Paced { rate_bps: most })
            .shown("delivery_rate", rate, Unit::BitsPerSecond)
            .remedied(Actor::Sender, SendingAction::RaiseRateLimit { rate_bps: most })
    })
}

/// The present limit, if the counts name none.
pub(super) fn moment(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let now = snapshot.now;
    let (cwnd, waiting) = (now.get("cwnd")?, now.get("notsent").unwrap_or(0.0));
    let full = snapshot.unacked() >= 0.9 * cwnd && waiting > 0.0 && snapshot.retransmitted() < FEW as f64;
    if !full || snapshot.queued() || snapshot.is_local() || held(snapshot, "rwnd_limited").is_some() {
        return None;
    }
    if now.flags.iter().any(|flag| flag.starts_with("bbr")) {
        let rate_bps = now.rate("delivery_rate").or_else(|| now.rate("pacing_rate"))?;
        return Some(
            Finding::new(Cause::Bandwidth, 0.5, Statement::Bbr { rate_bps })
                .remedied(Actor::Network, LinkAction::AddCapacity { beyond_bps: None })
                .open(Limitation::WhichLimit),
        );
    }
    let finding = match now.get("ssthresh") {
        None => Finding::new(Cause::SlowStart, 0.6, Statement::SlowStart { window: cwnd })
            .remedied(Actor::Application, SendingAction::ReuseConnection { cap: None }),
        Some(threshold) if threshold > cwnd => {
            Finding::new(Cause::SlowStart, 0.5, Statement::SlowStart { window: cwnd })
                .remedied(Actor::Application, SendingAction::ReuseConnection { cap: None })
        }
        Some(threshold) if snapshot.retransmitted() == 0.0 => {
            let statement = Statement::CongestionWindow { window: cwnd, threshold };
            let forget = SendingAction::ForgetThreshold { sender: None, peer: None, segments: None };
            Finding::new(Cause::EarlySlowStartExit, 0.55, statement)
                .remedied(Actor::Sender, forget)
                .remedied(Actor::Sender, SendingAction::DisableHystart)
        }
        Some(_) => return None,
    };
    Some(
        finding
            .shown("unacked", snapshot.unacked(), Unit::Segments)
            .shown("cwnd", cwnd, Unit::Segments)
            .open(Limitation::SinceConnection),
    )
}

/// Nothing else held it: the application wrote less than the connection could send.
pub(super) fn application(snapshot: SocketSnapshot<'_>) -> Option<Finding> {
    let sent = snapshot.count("bytes_acked").or_else(|| snapshot.count("bytes_sent"))?;
    if sent < BULK {
        return None;
    }
    let action = ExchangeAction::KeepDataReady;
    if let Some((over, busy)) = snapshot.over.zip(snapshot.seconds("busy")) {
        let idle = (over - busy).max(0.0);
        return (idle >= 0.1 && busy < BUSY * over).then(|| {
            Finding::new(Cause::Application, 0.7, Statement::Application { idle_s: Some(idle), over_s: Some(over) })
                .costs(idle)
                .shown("busy", busy, Unit::Seconds)
                .remedied(Actor::Application, action)
        });
    }
    let recent = snapshot.is_recent("lastsnd");
    let empty = snapshot.now.get("notsent").unwrap_or(0.0) == 0.0;
    (recent && empty && snapshot.now.flag("app_limited")).then(|| {
        Finding::new(Cause::Application, 0.5, Statement::Application { idle_s: None, over_s: None })
            .remedied(Actor::Application, action)
            .open(Limitation::SinceConnection)
    })
}
