//! A program does not read the received data, and its window is shut: the sender waits for it.
//!
//! ## What it is
//! What comes waits in the receive buffer until the program reads it. When that is full the window
//! is zero, and the sender only asks from time to time whether there is room (a window probe). The
//! program is slower than the network, or busy elsewhere.
//!
//! ## How it is recognised
//! - Here: at least half of a connection's receive buffer is taken by data that the program has not
//!   read, and the window is less than a segment; what lies there has been there for a second or
//!   more.
//! - At the peer: its window is zero, this end's probe timer runs, and no data could be sent for a
//!   second or more; or the window was shut at an earlier look, too, and nothing was acknowledged
//!   since. A window that is shut at one instant is usual: a fast sender fills any window, and the
//!   reader opens it again.
//! - At the peer, slow: its window was full for a fifth of the time with data to send
//!   (`rwnd_limited`), and much less than a window passed in a round trip: a window that is merely
//!   small, or that fills a queue, lets one pass in each.
//!
//! The counters `TcpExt.TCPToZeroWindowAdv` (this end shut a window) support it.
//!
//! ## What it is confused with
//! - `receive-window`: the window is small, and all of it passes in each round trip.
//! - `bufferbloat`: late ACKs of a slow reader also make round trips long.
//!
//! ## The fix
//! Let the program read: in a thread of its own, without waiting for a disk or a downstream
//! connection. A larger buffer only fills later.
//!
//! ## To see that it worked
//! `ss -tn` shows a `Recv-Q` near zero, and `nstat -az TcpExtTCPToZeroWindowAdv` does not rise.
//!
//! ## References
//! RFC 9293 section 3.8.6.1; Linux SNMP counters.

use crate::finding::{
    Evidence, Extent, Field, Finding, HostAction, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Peer, Snapshot, dst};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;
use whyslow_evidence::HELD_LEAST_US;
use whyslow_live::host::TimerKind;

/// Share of the receive buffer that is unread.
const UNREAD: f64 = 0.5;
/// It has lain there, or the window has been shut, for this long, milliseconds.
const STOOD_MS: u32 = 1_000;
/// A window of less lets no full segment come, bytes: the smallest usual one.
const SEGMENT: u32 = 536;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let here = Peer::all(snapshot.live().filter(is_unread)).into_iter().filter_map(|peer| of_program(snapshot, &peer));
    let there = Peer::all(snapshot.live().filter(|live| is_told(snapshot, live)))
        .into_iter()
        .filter_map(|peer| of_peer(snapshot, &peer));
    let slow = snapshot.live().filter(|live| live.waits_for_reader() && !is_told(snapshot, live));
    let slow = slow.filter(|live| !live.is_held_by_processors(snapshot));
    let slow = Peer::all(slow).into_iter().filter_map(|peer| of_slow_peer(snapshot, &peer));
    here.chain(there).chain(slow).collect()
}

/// The program here does not read.
fn is_unread(live: &Live<'_>) -> bool {
    let Some(memory) = live.socket.memory else { return false };
    live.socket.recv_queue > 0
        && memory.rcvbuf > 0
        && f64::from(memory.rmem_alloc) >= UNREAD * f64::from(memory.rcvbuf)
        && live.info.rcv_wnd.is_some_and(|window| window < SEGMENT)
        && live.info.last_data_recv.is_some_and(|ms| ms >= STOOD_MS)
}

/// The peer's program does not read.
fn is_shut(live: &Live<'_>) -> bool {
    let probes = live.socket.timer.is_some_and(|timer| timer.kind == TimerKind::Probe);
    live.info.snd_wnd.is_some_and(|window| window < SEGMENT) && probes && live.socket.send_queue > 0
}

/// Whether the peer's window is shut, and has been for longer than an instant.
pub(super) fn is_told(snapshot: Snapshot<'_>, live: &Live<'_>) -> bool {
    is_shut(live) && has_stayed_shut(snapshot, live)
}

/// Whether the window has been shut for longer than an instant.
fn has_stayed_shut(snapshot: Snapshot<'_>, live: &Live<'_>) -> bool {
    let is_long = live.info.last_data_sent.is_some_and(|ms| ms >= STOOD_MS);
    let was_shut = || {
        let (Some(before), Some((_, seconds))) = (live.before, snapshot.earlier) else { return false };
        let acked = live.info.bytes_acked.zip(before.bytes_acked);
        let stood = seconds * 1e3 >= f64::from(STOOD_MS);
        stood && before.snd_wnd.is_some_and(|window| window < SEGMENT) && acked.is_some_and(|(now, then)| now == then)
    };
    is_long || was_shut()
}

fn of_program(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let longest = peer.connections.iter().max_by_key(|live| live.info.last_data_recv)?;
    let seconds = f64::from(longest.info.last_data_recv?) / 1e3;
    let unread: u64 = peer.connections.iter().map(|live| u64::from(live.socket.recv_queue)).sum();
    let now = (Place::Sockets, Since::Now);
    let mut evidence =
        vec![figure("Recv-Q", unread as f64, Unit::Bytes, now), figure("last_data_recv", seconds, Unit::Seconds, now)];
    evidence.extend(counter(snapshot, "TcpExt.TCPToZeroWindowAdv"));
    evidence.push(text("socket", longest.line(), (Place::Socket, Since::Now)));
    let command = snapshot.command(&format!("ss -tnmp {}", dst(peer.address)));
    let statement = HostStatement::UnreadHere { by: peer.owners(), peer: peer.address, bytes: unread, seconds };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        cost_s: Some(seconds),
        extent: Some(Extent::SoFar { seconds, at_least: false }),
        evidence,
        remedies: vec![fix(Who::Program, HostAction::ReadHere, Some(command))],
        verify: Some(HostCheck::ReceiveQueueEmpty),
        ..Finding::new(Cause::ZeroWindow, 0.85, statement)
    })
}

fn of_peer(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let longest = peer.connections.iter().max_by_key(|live| live.info.last_data_sent)?;
    let waiting: u64 = peer.connections.iter().map(|live| u64::from(live.socket.send_queue)).sum();
    let seconds = longest.info.last_data_sent.map(|ms| f64::from(ms) / 1e3);
    let mut evidence = vec![figure("Send-Q", waiting as f64, Unit::Bytes, (Place::Sockets, Since::Now))];
    evidence.extend(
        longest.info.snd_wnd.map(|window| figure("snd_wnd", window.into(), Unit::Bytes, (Place::Socket, Since::Now))),
    );
    evidence.extend(counter(snapshot, "TcpExt.TCPWinProbe"));
    evidence.push(text("socket", longest.line(), (Place::Socket, Since::Now)));
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        cost_s: seconds,
        extent: Some(seconds.map_or(Extent::Now, |seconds| Extent::SoFar { seconds, at_least: false })),
        evidence,
        remedies: vec![fix(Who::Peer, HostAction::PeerReads, None)],
        verify: Some(HostCheck::NoPersistTimer { peer: peer.address }),
        ..Finding::new(Cause::ZeroWindow, 0.9, HostStatement::PeerWindowShut { connections: peer.connections() })
    })
}

/// The peer's application reads slower than data comes.
fn of_slow_peer(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let limited = peer.sum(|info| info.rwnd_limited);
    if limited < HELD_LEAST_US {
        return None;
    }
    let worst = peer.connections.iter().max_by_key(|live| live.held_by_window())?;
    let [limited_s, busy_s] = [limited, peer.sum(|info| info.busy_time)].map(|us| us as f64 / 1e6);
    let window = f64::from(worst.info.snd_wnd?);
    let acked = peer.sum(|info| info.bytes_acked) as f64;
    let statement = HostStatement::PeerReadsSlowly {
        connections: peer.connections(),
        limited_s,
        busy_s,
        rate_bps: acked * 8.0 / busy_s,
        window_bps: window * 8.0 / worst.min_rtt().or(worst.rtt())?,
    };
    let (now, since) = ((Place::Socket, Since::Now), (Place::Sockets, snapshot.since_connections()));
    let mut evidence = vec![
        figure("rwnd_limited", limited_s, Unit::Seconds, since),
        figure("busy_time", busy_s, Unit::Seconds, since),
        figure("bytes_acked", acked, Unit::Bytes, since),
        figure("snd_wnd", window, Unit::Bytes, now),
    ];
    evidence.extend(worst.rtt().map(|rtt| figure("rtt", rtt, Unit::Seconds, now)));
    evidence.push(text("socket", worst.line(), now));
    let is_recent = peer.connections.iter().all(|live| live.before.is_some());
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        cost_s: Some(limited_s),
        extent: Some(Extent::Of { seconds: limited_s, of_s: busy_s }),
        evidence,
        remedies: vec![fix(Who::Peer, HostAction::PeerReadsFaster, None)],
        verify: Some(HostCheck::Socket { peer: Some(peer.address), shows: Field::LittleRwndLimited }),
        ..Finding::new(Cause::ZeroWindow, if is_recent { 0.85 } else { 0.75 }, statement)
    })
}

fn counter(snapshot: Snapshot<'_>, name: &str) -> Option<Evidence> {
    let (count, seconds) = snapshot.counter(name)?.newest();
    Some(figure(name, count as f64, Unit::One, (Place::Counter, seconds.map_or(Since::Boot, Since::Seconds))))
}
