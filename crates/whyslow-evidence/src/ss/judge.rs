//! What the kernel's account says of each connection.

use super::parse::{Look, Socket};
use crate::limits::{FEW, HELD_LEAST_US, HELD_SHARE, LOSSY, QUEUE_GROWTH_S, QUEUE_SEGMENTS, in_queue};
use crate::report::{Advice, Finding, Gap, Source, Statement, Subject, Verdict};
use std::collections::HashMap;
use whyslow_core::analysis::{Actor, ExchangeAction, LinkAction, LossAction, SendingAction, Unit};
use whyslow_core::cause::Cause;

/// Timeouts in a row that are no chance: as for `whyslow host`.
const ROW: f64 = 3.0;
/// A window of less lets no full segment come, bytes: the smallest usual one.
const SEGMENT: f64 = 536.0;
/// Bytes that a connection has carried to be called a transfer.
const BULK: f64 = 1e6;
/// Unread bytes that no reader leaves between two reads.
const UNREAD: f64 = 65_536.0;
/// Data was sent or came within, seconds.
const RECENT_S: f64 = 1.0;
/// A connection that had data to send for less of the time was the application's to fill.
const BUSY: f64 = 0.8;
/// Sockets in CLOSE-WAIT that are no chance.
const CLOSE_WAIT: usize = 10;

/// A connection as it is, and as it was at the look before.
#[derive(Clone, Copy)]
struct Seen<'a> {
    now: &'a Socket,
    before: Option<&'a Socket>,
    over: Option<f64>,
}

pub(super) fn subjects(looks: &[Look]) -> Vec<Subject> {
    let mut out = connections(looks);
    if out.is_empty() && !looks.is_empty() {
        let mut none = Subject::new(Source::Ss, "");
        none.verdict = Verdict::Unknown;
        none.gaps.push(Gap::Idle);
        out.push(none);
    }
    out
}

fn connections(looks: &[Look]) -> Vec<Subject> {
    let mut first: HashMap<(&str, &str), (usize, &Socket)> = HashMap::new();
    let mut last: Vec<((&str, &str), usize, &Socket)> = Vec::new();
    let mut place: HashMap<(&str, &str), usize> = HashMap::new();
    for (index, look) in looks.iter().enumerate() {
        for socket in &look.sockets {
            let key = (socket.local.as_str(), socket.remote.as_str());
            if key.1.is_empty() || socket.state == "LISTEN" {
                last.push((key, index, socket));
                continue;
            }
            first.entry(key).or_insert((index, socket));
            match place.get(&key) {
                Some(&at) => last[at] = (key, index, socket),
                None => {
                    place.insert(key, last.len());
                    last.push((key, index, socket));
                }
            }
        }
    }
    let mut out: Vec<Subject> = Vec::new();
    for (key, index, now) in &last {
        let earlier = first.get(key).filter(|(at, before)| at < index && same(before, now));
        let over = earlier.and_then(|(at, _)| {
            let seconds = looks[*index].time? - looks[*at].time?;
            Some(if seconds < 0.0 { seconds + 86_400.0 } else { seconds }).filter(|seconds| *seconds > 0.0)
        });
        out.extend(subject(Seen { now, before: earlier.map(|(_, before)| *before), over }));
    }
    out.extend(close_wait(&last));
    out
}

/// Whether it is the same connection: its counts have not fallen.
fn same(before: &Socket, now: &Socket) -> bool {
    ["bytes_acked", "bytes_received", "segs_out"].iter().all(|key| match (before.get(key), now.get(key)) {
        (Some(before), Some(now)) => before <= now,
        _ => true,
    })
}

impl Seen<'_> {
    /// A count: since the look before, else since the connection began.
    fn grown(self, get: impl Fn(&Socket) -> Option<f64>) -> Option<f64> {
        let now = get(self.now)?;
        Some((now - self.before.and_then(get).unwrap_or(0.0)).max(0.0))
    }

    fn count(self, key: &str) -> Option<f64> {
        self.grown(|socket| socket.get(key))
    }

    fn seconds(self, key: &str) -> Option<f64> {
        self.grown(|socket| socket.seconds(key))
    }

    fn rtt(self) -> Option<f64> {
        self.now.get("rtt").map(|ms| ms / 1e3).filter(|rtt| *rtt > 0.0)
    }

    fn least(self) -> Option<f64> {
        self.now.get("minrtt").map(|ms| ms / 1e3).filter(|rtt| *rtt > 0.0)
    }

    fn queued(self) -> bool {
        self.rtt().zip(self.least()).is_some_and(|(rtt, least)| in_queue(rtt, least))
    }

    /// Segments retransmitted in all; `ss` leaves it out while it is zero.
    fn retransmitted(self) -> f64 {
        self.grown(|socket| Some(socket.second("retrans").unwrap_or(0.0))).unwrap_or(0.0)
    }

    /// Segments with data that were sent.
    fn sent(self) -> Option<f64> {
        let by_bytes = || Some((self.count("bytes_acked")? / self.now.get("mss")?).ceil());
        self.count("data_segs_out").or_else(by_bytes).or_else(|| self.count("segs_out")).filter(|sent| *sent > 0.0)
    }

    fn unacked(self) -> f64 {
        self.now.get("unacked").unwrap_or(0.0)
    }

    fn is_local(self) -> bool {
        let host = |address: &str| address.rsplit_once(':').map_or(String::new(), |(host, _)| host.to_owned());
        let (local, remote) = (host(&self.now.local), host(&self.now.remote));
        let loopback = remote.contains("127.0.0.1") || remote == "[::1]" || remote == "::1";
        !remote.is_empty() && (loopback || local == remote)
    }

    fn is_recent(self, key: &str) -> bool {
        self.now.seconds(key).is_some_and(|seconds| seconds <= RECENT_S)
    }
}

fn subject(seen: Seen<'_>) -> Option<Subject> {
    let now = seen.now;
    if now.state == "LISTEN" {
        return listener(now);
    }
    if now.state == "SYN-SENT" {
        return Some(unanswered(seen));
    }
    let has_info = now.get("cwnd").is_some() || now.get("rto").is_some();
    let queues = now.recv_q.unwrap_or(0.0) + now.send_q.unwrap_or(0.0);
    if now.state != "ESTAB" || (!has_info && queues == 0.0) {
        return None;
    }
    let name = if now.remote.is_empty() { String::new() } else { format!("{} → {}", now.local, now.remote) };
    let mut out = Subject::new(Source::Ss, name);
    out.over_s = seen.over;
    figures(seen, &mut out);
    let rules = [
        timing_out,
        shut,
        unread,
        peer_window,
        send_buffer,
        no_scaling,
        queue,
        loss,
        spurious,
        paced,
        own_window,
        moment,
    ];
    out.findings = rules.iter().filter_map(|rule| rule(seen)).collect();
    if out.findings.is_empty() {
        out.findings.extend(application(seen));
    }
    gaps(seen, &mut out);
    Some(out)
}

fn figures(seen: Seen<'_>, out: &mut Subject) {
    let now = seen.now;
    out.figure("rtt", seen.rtt(), Unit::Seconds);
    out.figure("minrtt", seen.least(), Unit::Seconds);
    out.figure("cwnd", now.get("cwnd"), Unit::Segments);
    out.figure("ssthresh", now.get("ssthresh"), Unit::Segments);
    out.figure("unacked", now.get("unacked"), Unit::Segments);
    out.figure("retrans", now.second("retrans"), Unit::Segments);
    out.figure("delivery_rate", now.rate("delivery_rate"), Unit::BitsPerSecond);
    out.figure("busy", seen.seconds("busy"), Unit::Seconds);
    if let Some((bytes, over)) = seen.count("bytes_acked").zip(seen.over).filter(|(bytes, _)| *bytes > 0.0) {
        out.figure("bytes_acked / time", Some(bytes * 8.0 / over), Unit::BitsPerSecond);
    }
}

fn gaps(seen: Seen<'_>, out: &mut Subject) {
    let sent = seen.count("bytes_acked").or_else(|| seen.count("bytes_sent")).unwrap_or(0.0);
    let came = seen.count("bytes_received").unwrap_or(0.0);
    let receives = came > BULK && came > 2.0 * sent;
    if receives {
        out.gaps.push(Gap::ReceiverSide);
    }
    let waits = seen.now.send_q.unwrap_or(0.0) > 0.0 || seen.unacked() > 0.0;
    if out.findings.is_empty() && !waits && sent < BULK && !receives {
        out.gaps.push(Gap::Idle);
    }
    if out.findings.is_empty() && receives {
        out.verdict = Verdict::Unknown;
    }
    out.gaps.push(match (seen.before, seen.over) {
        (None, _) => Gap::SinceConnection,
        (Some(_), None) => Gap::NoTimes,
        (Some(_), Some(_)) => return,
    });
}

fn listener(now: &Socket) -> Option<Subject> {
    let (waiting, most) = (now.recv_q?, now.send_q?);
    // A queue takes one more than its bound (sk_acceptq_is_full).
    if most < 1.0 || waiting < most {
        return None;
    }
    let mut out = Subject::new(Source::Ss, now.local.clone());
    let confidence = if waiting > most { 0.9 } else { 0.5 };
    let statement = Statement::AcceptQueueFull { waiting, most };
    out.findings.push(
        Finding::new(crate::report::Slug::Host("listen-overflow"), confidence, statement)
            .advised(Actor::Application, Advice::AcceptFaster),
    );
    Some(out)
}

fn unanswered(seen: Seen<'_>) -> Subject {
    let retries = seen.now.timer().map_or(0.0, |(_, row)| row).max(seen.now.get("backoff").unwrap_or(0.0));
    let retries = retries.max(seen.now.second("retrans").unwrap_or(0.0));
    let mut out = Subject::new(Source::Ss, format!("{} → {}", seen.now.local, seen.now.remote));
    if retries >= 1.0 {
        out.findings.push(
            Finding::new(Cause::NoAnswer, 0.85, Statement::SynUnanswered { retries, connections: 1.0 })
                .advised(Actor::Network, Advice::CheckReach),
        );
    } else {
        out.verdict = Verdict::Unknown;
    }
    out
}

fn close_wait(last: &[((&str, &str), usize, &Socket)]) -> Option<Subject> {
    let count = last.iter().filter(|(.., socket)| socket.state == "CLOSE-WAIT").count();
    if count < CLOSE_WAIT {
        return None;
    }
    let mut out = Subject::new(Source::Ss, "CLOSE-WAIT");
    out.findings.push(
        Finding::new(crate::report::Slug::Host("close-wait"), 0.7, Statement::CloseWait { connections: count as f64 })
            .advised(Actor::Application, Advice::CloseSockets),
    );
    Some(out)
}

fn timing_out(seen: Seen<'_>) -> Option<Finding> {
    let by_timer = seen.now.timer().filter(|(kind, _)| *kind == "on").map_or(0.0, |(_, row)| row);
    let row = by_timer.max(seen.now.get("backoff").unwrap_or(0.0));
    let is_probe = seen.now.timer().is_some_and(|(kind, _)| kind == "persist");
    if row < ROW || is_probe || seen.unacked() == 0.0 {
        return None;
    }
    // Each timeout doubles the next: 200 ms, 400 ms, … (RFC 6298), TCP_RTO_MIN of Linux.
    let least = 0.2 * (2.0_f64.powf(row.min(20.0)) - 1.0);
    Some(
        Finding::new(Cause::Timeout, 0.85, Statement::TimingOut { row })
            .costs(least)
            .shown("backoff", row, Unit::Times)
            .advised(Actor::Network, Advice::CheckReach),
    )
}

fn is_shut(seen: Seen<'_>) -> bool {
    let probes = seen.now.timer().is_some_and(|(kind, _)| kind == "persist");
    let small = seen.now.get("snd_wnd").is_some_and(|window| window < SEGMENT);
    let waiting = seen.now.send_q.unwrap_or(0.0).max(seen.now.get("notsent").unwrap_or(0.0));
    waiting > 0.0 && (probes || (small && !seen.is_recent("lastsnd")))
}

fn shut(seen: Seen<'_>) -> Option<Finding> {
    let waiting = seen.now.send_q.unwrap_or(0.0).max(seen.now.get("notsent").unwrap_or(0.0));
    let certain = if seen.now.timer().is_some_and(|(kind, _)| kind == "persist") { 0.85 } else { 0.7 };
    is_shut(seen).then(|| {
        let finding = Finding::new(Cause::ZeroWindow, certain, Statement::PeerShut { waiting })
            .shown("Send-Q", waiting, Unit::Bytes)
            .advised(Actor::Receiver, Advice::PeerReads);
        match seen.seconds("rwnd_limited").filter(|seconds| *seconds > 0.0) {
            Some(seconds) => finding.costs(seconds).shown("rwnd_limited", seconds, Unit::Seconds),
            None => finding,
        }
    })
}

fn unread(seen: Seen<'_>) -> Option<Finding> {
    let bytes = seen.now.recv_q?;
    let fills = seen.now.memory("rb").zip(seen.now.memory("r")).is_some_and(|(rb, r)| rb > 0.0 && r >= rb / 2.0);
    let stays = seen.before.and_then(|before| before.recv_q).is_some_and(|before| before >= UNREAD);
    let silent = seen.now.seconds("lastrcv").is_some_and(|seconds| seconds >= RECENT_S);
    if !(bytes >= UNREAD || (fills && bytes > 0.0)) {
        return None;
    }
    let confidence = match (fills, stays || silent) {
        (true, true) => 0.8,
        (true, false) | (false, true) => 0.65,
        (false, false) => 0.5,
    };
    Some(
        Finding::new(Cause::ZeroWindow, confidence, Statement::Unread { bytes })
            .shown("Recv-Q", bytes, Unit::Bytes)
            .advised(Actor::Application, Advice::ReadHere),
    )
}

/// Of the time with data to send, what a limit took, if it is worth a report.
fn held(seen: Seen<'_>, key: &str) -> Option<(f64, f64)> {
    let limited = seen.seconds(key)?;
    // Old versions print the share alone behind it.
    let busy = seen.seconds("busy").unwrap_or(limited).max(limited);
    (limited * 1e6 >= HELD_LEAST_US as f64 && limited >= HELD_SHARE * busy).then_some((limited, busy))
}

fn peer_window(seen: Seen<'_>) -> Option<Finding> {
    let (limited_s, busy_s) = held(seen, "rwnd_limited")?;
    if is_shut(seen) || seen.queued() || seen.is_local() {
        return None;
    }
    let window = seen.now.get("snd_wnd");
    let statement = Statement::PeerWindow { limited_s, busy_s, window };
    let mut finding = Finding::new(Cause::ReceiveWindow, 0.9, statement)
        .costs(limited_s)
        .shown("rwnd_limited", limited_s, Unit::Seconds)
        .shown("busy", busy_s, Unit::Seconds)
        .advised(Actor::Receiver, Advice::EnlargePeerWindow)
        .open(Gap::WindowOrReader);
    if let Some(window) = window {
        finding = finding.shown("snd_wnd", window, Unit::Bytes);
    }
    Some(finding)
}

fn send_buffer(seen: Seen<'_>) -> Option<Finding> {
    let (limited_s, busy_s) = held(seen, "sndbuf_limited")?;
    if seen.queued() || seen.is_local() {
        return None;
    }
    Some(
        Finding::new(Cause::SenderCap, 0.85, Statement::SendBuffer { limited_s, busy_s })
            .costs(limited_s)
            .shown("sndbuf_limited", limited_s, Unit::Seconds)
            .shown("busy", busy_s, Unit::Seconds)
            .advised(Actor::Sender, Advice::EnlargeSendBuffer),
    )
}

/// `ss` prints `wscale` where both ends scale; what stands before `rto` must be there to say so.
fn no_scaling(seen: Seen<'_>) -> Option<Finding> {
    let now = seen.now;
    let is_whole = (now.flag("ts") || now.flag("sack")) && now.get("rto").is_some();
    let rtt_s = seen.least().or(seen.rtt())?;
    let flight = seen.unacked() * now.get("mss")?;
    let is_full = held(seen, "rwnd_limited").is_some() || (50_000.0..=65_535.0).contains(&flight);
    (is_whole && !now.values.contains_key("wscale") && is_full && rtt_s >= 0.01).then(|| {
        Finding::new(Cause::NoWindowScaling, 0.7, Statement::NoScaling { rtt_s })
            .shown("unacked × mss", flight, Unit::Bytes)
            .advised(Actor::Receiver, Advice::WindowScaling)
    })
}

fn queue(seen: Seen<'_>) -> Option<Finding> {
    let (rtt_s, least_s) = (seen.rtt()?, seen.least()?);
    if !in_queue(rtt_s, least_s)
        || rtt_s - least_s < QUEUE_GROWTH_S
        || seen.unacked() < f64::from(QUEUE_SEGMENTS)
        || seen.is_local()
    {
        return None;
    }
    Some(
        Finding::new(Cause::Bufferbloat, 0.65, Statement::Queue { rtt_s, least_s })
            .shown("rtt", rtt_s, Unit::Seconds)
            .shown("minrtt", least_s, Unit::Seconds)
            .shown("unacked", seen.unacked(), Unit::Segments)
            .remedied(Actor::Network, LinkAction::ManageQueue { rate_bps: None }),
    )
}

fn loss(seen: Seen<'_>) -> Option<Finding> {
    let again = seen.retransmitted();
    let lost = (again - seen.count("dsack_dups").unwrap_or(0.0)).max(0.0);
    let sent = seen.sent();
    let is_much = match sent {
        Some(sent) => lost >= LOSSY * sent,
        // The window that losses left behind.
        None => seen.now.get("cwnd").is_some_and(|cwnd| cwnd <= 20.0) && seen.now.get("ssthresh").is_some(),
    };
    if lost < FEW as f64 || !is_much {
        return None;
    }
    let confidence = if seen.now.get("data_segs_out").or(seen.now.get("segs_out")).is_some() { 0.85 } else { 0.65 };
    let share = sent.map(|sent| (lost / sent.max(lost)).min(1.0));
    let mut finding = Finding::new(Cause::Loss, confidence, Statement::Lost { segments: lost, of: sent })
        .shown("retrans", again, Unit::Segments)
        .remedied(Actor::Network, LossAction::FindLoss { share })
        .remedied(Actor::Sender, LossAction::UseBbr)
        .open(Gap::WhereLost);
    // BBR does not slow down by it.
    let by_loss = share.filter(|_| !seen.now.flags.iter().any(|flag| flag.starts_with("bbr")));
    if let (Some(share), Some(rtt), Some(mss)) = (by_loss, seen.least().or(seen.rtt()), seen.now.get("mss")) {
        // Mathis et al. 1997.
        finding =
            finding.shown("MSS / (RTT × √(2p/3))", mss * 8.0 / (rtt * (share * 2.0 / 3.0).sqrt()), Unit::BitsPerSecond);
    }
    Some(finding)
}

fn spurious(seen: Seen<'_>) -> Option<Finding> {
    let copies = seen.count("dsack_dups")?;
    let (again, sent) = (seen.retransmitted(), seen.sent()?);
    let is_much = copies >= FEW as f64 && copies >= again / 2.0 && copies >= LOSSY * sent;
    is_much.then(|| {
        Finding::new(Cause::SpuriousRetransmission, 0.8, Statement::Spurious { segments: copies, of: again })
            .shown("dsack_dups", copies, Unit::Segments)
            .remedied(Actor::Network, LossAction::BalanceByFlow)
    })
}

/// `ss` prints a second pacing rate where the application or a setting bounds it.
fn paced(seen: Seen<'_>) -> Option<Finding> {
    let most = seen.now.second_rate("pacing_rate").or_else(|| seen.now.rate("max_pacing_rate"))?;
    let rate = seen.now.rate("delivery_rate").or_else(|| seen.now.rate("pacing_rate"))?;
    (rate >= 0.8 * most && most > 0.0).then(|| {
        Finding::new(Cause::Pacing, 0.8, Statement::Paced { rate_bps: most })
            .shown("delivery_rate", rate, Unit::BitsPerSecond)
            .remedied(Actor::Sender, SendingAction::RaiseRateLimit { rate_bps: most })
    })
}

/// As `whyslow host` has it: the receiver's window is what comes in a round trip.
fn own_window(seen: Seen<'_>) -> Option<Finding> {
    let now = seen.now;
    let (window, space) = (now.get("rcv_wnd").or_else(|| now.get("rcv_ssthresh"))?, now.get("rcv_space")?);
    let rtt = now.get("rcv_rtt")? / 1e3;
    let has_come = now.get("bytes_received").is_some_and(|bytes| bytes >= 10.0 * window);
    let is_read = now.recv_q.unwrap_or(0.0) * 4.0 <= window;
    let has_grown = now.memory("rb").is_none_or(|buffer| window >= 0.45 * buffer);
    let in_queue = seen.least().is_some_and(|least| in_queue(rtt, least));
    let is_full = space >= 0.6 * window && has_come && is_read && has_grown && seen.is_recent("lastrcv");
    (is_full && rtt >= 0.002 && !in_queue && now.get("rcv_wnd").is_some()).then(|| {
        let rate_bps = window * 8.0 / rtt;
        Finding::new(Cause::ReceiveWindow, 0.6, Statement::OwnWindow { window, rate_bps })
            .shown("rcv_space", space, Unit::Bytes)
            .shown("rcv_rtt", rtt, Unit::Seconds)
            .advised(Actor::Receiver, Advice::EnlargeOwnWindow)
    })
}

/// What holds it at this moment, where the counts name nothing.
fn moment(seen: Seen<'_>) -> Option<Finding> {
    let now = seen.now;
    let (cwnd, waiting) = (now.get("cwnd")?, now.get("notsent").unwrap_or(0.0));
    let full = seen.unacked() >= 0.9 * cwnd && waiting > 0.0 && seen.retransmitted() < FEW as f64;
    if !full || seen.queued() || seen.is_local() || held(seen, "rwnd_limited").is_some() {
        return None;
    }
    if now.flags.iter().any(|flag| flag.starts_with("bbr")) {
        let rate_bps = now.rate("delivery_rate").or_else(|| now.rate("pacing_rate"))?;
        return Some(
            Finding::new(Cause::Bandwidth, 0.5, Statement::Bbr { rate_bps })
                .remedied(Actor::Network, LinkAction::AddCapacity { beyond_bps: None })
                .open(Gap::WhichLimit),
        );
    }
    let finding = match now.get("ssthresh") {
        None => Finding::new(Cause::SlowStart, 0.6, Statement::SlowStart { window: cwnd })
            .remedied(Actor::Application, SendingAction::ReuseConnection { cap: None }),
        Some(threshold) if threshold > cwnd => {
            Finding::new(Cause::SlowStart, 0.5, Statement::SlowStart { window: cwnd })
                .remedied(Actor::Application, SendingAction::ReuseConnection { cap: None })
        }
        Some(threshold) if seen.retransmitted() == 0.0 => {
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
            .shown("unacked", seen.unacked(), Unit::Segments)
            .shown("cwnd", cwnd, Unit::Segments)
            .open(Gap::SinceConnection),
    )
}

/// Nothing else held it: the application wrote less than the connection could send.
fn application(seen: Seen<'_>) -> Option<Finding> {
    let sent = seen.count("bytes_acked").or_else(|| seen.count("bytes_sent"))?;
    if sent < BULK {
        return None;
    }
    let action = ExchangeAction::KeepDataReady;
    if let Some((over, busy)) = seen.over.zip(seen.seconds("busy")) {
        let idle = (over - busy).max(0.0);
        return (idle >= 0.1 && busy < BUSY * over).then(|| {
            Finding::new(Cause::Application, 0.7, Statement::Application { idle_s: Some(idle), over_s: Some(over) })
                .costs(idle)
                .shown("busy", busy, Unit::Seconds)
                .remedied(Actor::Application, action)
        });
    }
    let recent = seen.is_recent("lastsnd");
    let empty = seen.now.get("notsent").unwrap_or(0.0) == 0.0;
    (recent && empty && seen.now.flag("app_limited")).then(|| {
        Finding::new(Cause::Application, 0.5, Statement::Application { idle_s: None, over_s: None })
            .remedied(Actor::Application, action)
            .open(Gap::SinceConnection)
    })
}
