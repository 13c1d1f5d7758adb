//! A listener's queue was full, and connections were dropped before the program accepted them.
//!
//! ## What it is
//! Connections whose handshake is done wait in the listener's queue until the program accepts them.
//! The queue holds as many as the program asked for in listen(2), and no more than
//! `net.core.somaxconn`. When it is full, the kernel drops SYNs and the last ACK of handshakes. The
//! client learns nothing: it sends again after a second, then after two more.
//!
//! ## How it is recognised
//! By the kernel's count of full queues (`TcpExt.ListenOverflows`) together with the listener's own
//! drops (`ss -ltm`: `d`), or by a queue that is longer than its bound at this moment. The
//! listener's drops alone prove nothing: a RST or a late segment of a closed connection counts
//! there as well. So no more drops are reported than queues were full, and less surely where the
//! drops may be another listener's or, without an earlier look, from before this listener began.
//! Drops count from one in a thousand connections that were accepted on: a second's wait for one in
//! a thousand is the
//! 99.9th percentile of response times. With `--for` or `--watch` only that time counts. Where no
//! listener's own drops are known, the counter stands alone.
//!
//! ## What it is confused with
//! - `no-answer` and `syn-loss` as the client sees them: SYNs that the path lost.
//!
//! ## The fix
//! Let the program accept faster (more threads, no other work in that loop), and ask for a longer
//! queue in listen(2); raise `net.core.somaxconn` only where that bounds it.
//!
//! ## To see that it worked
//! `ss -ltn` shows `Recv-Q` below `Send-Q` for the listener, and `nstat -az TcpExtListenOverflows`
//! does not rise.
//!
//! ## References
//! Linux listen(2), ip-sysctl; RFC 6298 section 2.1 (a second before the first retransmission).

use crate::finding::{
    Evidence, Extent, Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Count, Snapshot, named, socket_line};
use whyslow_analysis::Unit;
use whyslow_live::host::{Socket, State};

/// Drops per accepted connection from which the finding is reported.
const SHARE: f64 = 0.001;
/// Minimum cost of a dropped SYN, or of a dropped last ACK, seconds.
const WAIT_S: f64 = 1.0;
/// The kernel's default since Linux 5.4; a larger value is never advised.
const USUAL_SOMAXCONN: i64 = 4_096;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let opened = snapshot.counter("Tcp.PassiveOpens");
    let mut found: Vec<Finding> = snapshot
        .in_state(State::Listen)
        .filter_map(|listener| {
            let is_full = is_full(listener);
            let overflow = overflow(snapshot, listener);
            let accepted =
                opened.map_or(0, |opened| if snapshot.earlier.is_some() { opened.newest().0 } else { opened.boot });
            let matters = overflow.filter(|drops| drops.count as f64 >= SHARE * accepted as f64);
            (is_full || matters.is_some()).then(|| report(snapshot, listener, matters))
        })
        .collect();
    let is_known = snapshot.in_state(State::Listen).any(|listener| listener.drops.is_some());
    if found.is_empty() && !is_known {
        found.extend(by_counter(snapshot, opened));
    }
    found
}

/// Whether the queue is longer than its bound at this moment: the next connection is dropped.
pub(super) fn is_full(listener: &Socket) -> bool {
    listener.recv_queue > listener.send_queue
}

/// Connections that a listener dropped because its queue was full.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overflow {
    count: u64,
    since: Since,
    confidence: f64,
}

/// The drops of a listener that `TcpExt.ListenOverflows` confirms.
pub(super) fn overflow(snapshot: Snapshot<'_>, listener: &Socket) -> Option<Overflow> {
    let (own, seconds) = drops(snapshot, listener)?.newest();
    let confirmed = snapshot.counter("TcpExt.ListenOverflows")?;
    // A listener that is younger than the earlier look has all of its drops since then.
    let (all, recent) = confirmed.newest();
    let count = own.min(all);
    if count == 0 {
        return None;
    }
    let others = snapshot.in_state(State::Listen).filter(|other| other.cookie != listener.cookie);
    let of_others: u64 = others.filter_map(|other| drops(snapshot, other)).map(|drops| drops.newest().0).sum();
    let is_only_one = all > of_others;
    let confidence = match (recent.is_some() || is_full(listener), is_only_one) {
        (true, true) => 0.95,
        (false, true) => 0.7,
        (true, false) => 0.6,
        (false, false) => 0.5,
    };
    Some(Overflow { count, since: seconds.map_or(Since::Connection, Since::Seconds), confidence })
}

/// A listener's own drops, since it listens and since the earlier look.
fn drops(snapshot: Snapshot<'_>, listener: &Socket) -> Option<Count> {
    let boot = u64::from(listener.drops?);
    let recent = snapshot.earlier.and_then(|(earlier, seconds)| {
        let before =
            earlier.sockets.iter().find(|socket| socket.cookie.is_some() && socket.cookie == listener.cookie)?;
        Some((boot.saturating_sub(before.drops?.into()), seconds))
    });
    Some(Count { boot, recent })
}

fn report(snapshot: Snapshot<'_>, listener: &Socket, overflow: Option<Overflow>) -> Finding {
    let somaxconn = snapshot.setting("net.core.somaxconn");
    let bound = i64::from(listener.send_queue);
    let (count, since) = overflow.map_or((0, Since::Now), |overflow| (overflow.count, overflow.since));
    let own = drops(snapshot, listener).map_or(0, |drops| drops.newest().0);
    let most = u64::from(listener.send_queue);
    let statement = match count {
        0 => HostStatement::QueueIsFull { listener: named(listener), most },
        dropped => HostStatement::QueueWasFull { listener: named(listener), most, dropped },
    };
    let is_bounded = somaxconn == Some(bound) && bound < USUAL_SOMAXCONN;
    let action =
        HostAction::AcceptFaster { asked: most, most: somaxconn.and_then(|most| u64::try_from(most).ok()), is_bounded };
    let mut evidence: Vec<Evidence> = vec![
        figure("drops", own as f64, Unit::One, (Place::Socket, since)),
        figure("Recv-Q", f64::from(listener.recv_queue), Unit::One, (Place::Socket, Since::Now)),
        figure("Send-Q (backlog)", f64::from(listener.send_queue), Unit::One, (Place::Socket, Since::Now)),
    ];
    evidence.extend(
        somaxconn.map(|most| figure("net.core.somaxconn", most as f64, Unit::One, (Place::Setting, Since::Now))),
    );
    if let Some(overflows) = snapshot.counter("TcpExt.ListenOverflows") {
        let (count, seconds) = overflows.newest();
        let since = seconds.map_or(Since::Boot, Since::Seconds);
        evidence.push(figure("TcpExt.ListenOverflows", count as f64, Unit::One, (Place::Counter, since)));
    }
    evidence.push(text("socket", socket_line(listener), (Place::Socket, Since::Now)));
    let command = is_bounded.then(|| snapshot.command(&format!("sysctl -w net.core.somaxconn={USUAL_SOMAXCONN}")));
    let extent = if count > 0 { Extent::Count { count, unit: Unit::Packets } } else { Extent::FullNow };
    let confidence = overflow.map_or(0.8, |overflow| overflow.confidence);
    Finding {
        namespace: snapshot.foreign_name(),
        cost_s: (count > 0).then_some(count as f64 * WAIT_S),
        extent: Some(extent),
        evidence,
        remedies: vec![fix(Who::Program, action, command)],
        verify: Some(HostCheck::ListenQueue),
        ..Finding::new(HostCause::ListenOverflow, confidence, statement)
    }
}

/// The evidence of the counters if listeners' own drops are unknown.
fn by_counter(snapshot: Snapshot<'_>, opened: Option<Count>) -> Option<Finding> {
    let share = snapshot.counter("TcpExt.ListenOverflows")?.share_of(opened?, 1)?;
    if share.count == 0 || share.value() < SHARE {
        return None;
    }
    Some(Finding {
        namespace: snapshot.foreign_name(),
        cost_s: Some(share.count as f64 * WAIT_S),
        extent: Some(Extent::Count { count: share.count, unit: Unit::Packets }),
        evidence: vec![
            figure("TcpExt.ListenOverflows", share.count as f64, Unit::One, (Place::Counter, share.since())),
            figure("Tcp.PassiveOpens", share.all as f64, Unit::One, (Place::Counter, share.since())),
        ],
        remedies: vec![fix(Who::Program, HostAction::FindListener, Some(snapshot.command("ss -ltnm")))],
        verify: Some(HostCheck::Counters { names: &["TcpExtListenOverflows"], slowly: false }),
        ..Finding::new(HostCause::ListenOverflow, 0.7, HostStatement::SomeQueueWasFull { connections: share.count })
    })
}
