//! A receiver's buffer is full: no more may be on the way than it allows, and the sender waits.
//!
//! ## What it is
//! A sender may have no more on its way than the receiver's window. On a long path a window that is
//! too small holds the rate at window / round trip, however fast the path is.
//!
//! ## How it is recognised
//! - Sending: the kernel records how long the peer's window was full (`rwnd_limited`). The finding
//!   starts at a fifth of the time with data to send (`busy`) and 100 ms, as for captures, summed
//!   by peer. If the window was full for less than half of the connection's time, it must be full
//!   at this moment, because windows grow. It is not reported if the peer's application reads late,
//!   so that its window stays shut or much less than a window passes in a round trip
//!   (`zero-window`). Between programs of one machine a full window is usual, because nothing but
//!   the reader limits them. There the rule needs an earlier snapshot, and a reader that takes less
//!   than 1 Gbit/s since then.
//! - Receiving: if memory allows, the kernel offers twice the bytes that a program reads in a round
//!   trip (`rcv_space`). The finding starts where that is six tenths of the window (`rcv_wnd`) or
//!   more, data arrived within the last second, little is unread, 10 windows have arrived, and the
//!   window has followed its buffer: a window below 0.45 of its buffer is still growing. With an
//!   earlier snapshot (`--for`, `--watch`) each round trip since then must also have carried half a
//!   window. The setting limits a buffer that has grown to the last figure of `tcp_rmem`, or is at
//!   the second one, its start, at which a waiting sender keeps it. Between the two it is likely
//!   the program's SO_RCVBUF, which `net.core.rmem_max` limits.
//!
//! ## What it is confused with
//! - a queue on the path: where a round trip is twice the least one plus 10 ms, data in flight
//!   waits in that queue (`bufferbloat`), and no larger buffer is advised.
//! - a program that reads slowly: what came lies unread (`zero-window`).
//!
//! ## The fix
//! At the receiving end a larger buffer. What the path could carry is not known while the window
//! holds it, so the advice is generous: eight times rate × round trip of the live connections, at
//! least 6 MiB (Linux' own default), 16 MiB at most. A buffer grows to that bound only where it is
//! needed. No setting reaches a program that sets SO_RCVBUF.
//!
//! ## To see that it worked
//! `ss -tin` shows little `rwnd_limited` at the sender while it sends.
//!
//! ## References
//! RFC 9293 section 3.8.6, RFC 7323; Linux tcp(7), `struct tcp_info`.

use super::buffers::{RECEIVE, begins_with, needed, raise, raise_both};
use super::zero_window;
use crate::finding::{
    Cap, Evidence, Extent, Field, Finding, HostAction, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Peer, Snapshot};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;
use whyslow_evidence::HELD_LEAST_US as LEAST_US;
use whyslow_live::tcp_info::TcpInfo;

/// Share of a full window that is in flight; and most of the time.
const FULL: f64 = 0.8;
const MOST: f64 = 0.5;
/// Share of the window that a round trip brings: if memory allows, the kernel offers twice as much
/// (tcp_rcv_space_adjust).
const NEARLY: f64 = 0.6;
/// Share of the window that each round trip brought on average since an earlier snapshot.
const HALF: f64 = 0.5;
/// Minimum window that has followed its buffer, as a share of it. Windows begin at half, and have
/// more if segments fill their memory better (tcp_win_from_space). A buffer grows at once, its
/// window within several round trips.
const FOLLOWED: f64 = 0.45;
/// Windows that have come before it is judged.
const WINDOWS: u64 = 10;
/// Data came within, milliseconds.
const RECENT_MS: u32 = 1_000;
/// A shorter round trip makes any window large enough, seconds.
const NEAR_S: f64 = 0.002;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let sending = snapshot.live().filter(|live| !zero_window::is_told(snapshot, live));
    let sending = sending.filter(|live| !live.waits_for_reader() && !live.stands_in_queue());
    let sending = sending.filter(|live| !live.is_held_by_processors(snapshot));
    let sending = Peer::all(sending).into_iter().filter_map(|peer| of_peer(snapshot, &peer));
    let receiving = snapshot.live().filter(|live| is_held_here(live) && !is_refuted(snapshot, live));
    let receiving = Peer::all(receiving.filter(|live| !live.stays_in_memory()));
    sending.chain(receiving.into_iter().filter_map(|peer| own(snapshot, &peer))).collect()
}

/// The peer's windows limited the data sent to it.
fn of_peer(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let limited_of = |info: &TcpInfo| info.rwnd_limited;
    let held = |live: &&Live<'_>| live.held_by_window().is_some_and(|held| is_lasting(live, held));
    let connections: Vec<Live<'_>> = peer.connections.iter().filter(held).copied().collect();
    let peer = Peer { address: peer.address, connections };
    let (limited, busy) = (peer.sum(|info| info.rwnd_limited), peer.sum(|info| info.busy_time));
    if limited < LEAST_US {
        return None;
    }
    let worst = peer.connections.iter().max_by_key(|live| live.grown(limited_of))?;
    let [limited, busy] = [limited, busy].map(|us| us as f64 / 1e6);
    let size = needed(&peer.connections, RECEIVE, |live| live.rate());
    let action = HostAction::PeerBuffer { size };
    let statement = HostStatement::PeerWindowFull { connections: peer.connections(), limited_s: limited, busy_s: busy };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        cost_s: Some(limited),
        extent: Some(Extent::Of { seconds: limited, of_s: busy }),
        evidence: sending_evidence(snapshot, limited, busy, worst),
        // It is the other machine's: no command.
        remedies: vec![fix(Who::Peer, action, None)],
        verify: Some(HostCheck::Socket { peer: Some(peer.address), shows: Field::LittleRwndLimited }),
        ..Finding::new(Cause::ReceiveWindow, 0.9, statement)
    })
}

fn sending_evidence(snapshot: Snapshot<'_>, limited: f64, busy: f64, worst: &Live<'_>) -> Vec<Evidence> {
    let since = (Place::Sockets, snapshot.since_connections());
    let mut out = vec![
        figure("rwnd_limited", limited, Unit::Seconds, since),
        figure("busy_time", busy, Unit::Seconds, since),
        figure(
            "rwnd_limited",
            worst.grown(|info| info.rwnd_limited).unwrap_or(0) as f64 / 1e6,
            Unit::Seconds,
            (Place::Socket, snapshot.since_connections()),
        ),
    ];
    let now = (Place::Socket, Since::Now);
    out.extend(worst.info.snd_wnd.map(|window| figure("snd_wnd", window.into(), Unit::Bytes, now)));
    out.push(text("socket", worst.line(), now));
    out
}

/// The round trip as the receiver measures it, seconds.
fn round_trip(info: &TcpInfo) -> Option<f64> {
    info.rcv_rtt.filter(|&rtt| rtt > 0).map(|rtt| f64::from(rtt) / 1e6)
}

/// Whether a window that was full since the connection began still holds it: windows grow with
/// their buffers. It does if it was full for most of the time, or is full at this moment.
fn is_lasting(live: &Live<'_>, (limited, busy): (u64, u64)) -> bool {
    let is_full = || {
        let (Some(flight), Some(window)) = (live.in_flight(), live.info.snd_wnd) else { return true };
        flight as f64 >= FULL * f64::from(window)
    };
    live.before.is_some() || limited as f64 >= MOST * busy as f64 || is_full()
}

/// This end's window limits the received data.
fn is_held_here(live: &Live<'_>) -> bool {
    let info = live.info;
    let (Some(window), Some(space), Some(rtt)) = (info.rcv_wnd, info.rcv_space, round_trip(info)) else { return false };
    let has_come = info.bytes_received.is_some_and(|bytes| bytes >= WINDOWS * u64::from(window));
    let is_read = u64::from(live.socket.recv_queue) * 4 <= u64::from(window);
    // The receiver's estimate of the round trip grows with a queue, as the sender's does.
    let in_queue = live.min_rtt().is_some_and(|least| rtt >= 2.0 * least + 0.01);
    let is_recent = info.last_data_recv.is_some_and(|ms| ms <= RECENT_MS);
    let buffer = live.socket.memory.map_or(0.0, |memory| f64::from(memory.rcvbuf));
    let has_grown = f64::from(window) >= FOLLOWED * buffer;
    let is_full = f64::from(space) >= NEARLY * f64::from(window) && has_grown;
    is_full && has_come && is_read && is_recent && rtt >= NEAR_S && !in_queue
}

/// An earlier look shows that much less than a window came in a round trip.
fn is_refuted(snapshot: Snapshot<'_>, live: &Live<'_>) -> bool {
    let rate = snapshot.earlier.and_then(|(_, seconds)| {
        let came = live.info.bytes_received?.checked_sub(live.before?.bytes_received?)?;
        Some(came as f64 / seconds)
    });
    let window = live.info.rcv_wnd.map(f64::from).zip(round_trip(live.info));
    rate.zip(window).is_some_and(|(rate, (window, rtt))| rate * rtt < HALF * window)
}

/// The limit of a connection's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// The last figure of tcp_rmem.
    Most,
    /// The second figure of tcp_rmem: the buffer has not grown since the connection began.
    Begin,
    /// SO_RCVBUF, as large as `net.core.rmem_max` lets it be.
    Core,
    /// SO_RCVBUF, or a buffer that still grows.
    Program,
}

fn bound(snapshot: Snapshot<'_>, rcvbuf: Option<u64>) -> Bound {
    let rmem = snapshot.triple("net.ipv4.tcp_rmem");
    let core = snapshot.setting("net.core.rmem_max").and_then(|most| u64::try_from(most).ok());
    match (rcvbuf, rmem) {
        (Some(rcvbuf), Some([_, _, most])) if rcvbuf >= most => Bound::Most,
        (Some(rcvbuf), Some([_, first, _])) if rcvbuf == first => Bound::Begin,
        // The kernel doubles what a program asks for.
        (Some(rcvbuf), _) if core.is_some_and(|most| most.saturating_mul(2) == rcvbuf) => Bound::Core,
        _ => Bound::Program,
    }
}

/// The own windows hold what the peer sends.
fn own(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let worst = peer.connections.iter().max_by_key(|live| live.info.rcv_rtt)?;
    let (window, rtt) = (worst.info.rcv_wnd?, round_trip(worst.info)?);
    let rate = |live: &Live<'_>| Some(f64::from(live.info.rcv_space?) / round_trip(live.info)?);
    let most = snapshot.triple("net.ipv4.tcp_rmem").map(|[_, _, most]| most);
    let rcvbuf = worst.socket.memory.map(|memory| u64::from(memory.rcvbuf));
    let size = needed(&peer.connections, RECEIVE, rate)?;
    let (bytes, begin) = (size.bytes, begins_with(&size));
    let bound = bound(snapshot, rcvbuf);
    // A buffer that is as large already needs no setting.
    let helps = match bound {
        Bound::Most => rcvbuf.is_some_and(|rcvbuf| rcvbuf < bytes),
        Bound::Begin => rcvbuf.is_some_and(|rcvbuf| rcvbuf < begin),
        Bound::Core | Bound::Program => false,
    };
    let held = f64::from(window) * 8.0 / rtt;
    let action = match bound {
        Bound::Most => HostAction::GrowReceiveBuffer { size, begin: None },
        Bound::Begin => HostAction::GrowReceiveBuffer { size, begin: Some(begin) },
        Bound::Core => HostAction::DropReceiveBuffer { cap: Cap::Core },
        Bound::Program => HostAction::DropReceiveBuffer { cap: Cap::Program },
    };
    let command = match bound {
        Bound::Begin => raise_both("tcp_rmem", begin, bytes),
        _ => raise("tcp_rmem", bytes),
    };
    let now = (Place::Socket, Since::Now);
    let mut evidence = vec![
        figure("rcv_wnd", window.into(), Unit::Bytes, now),
        figure("rcv_space", worst.info.rcv_space.unwrap_or(0).into(), Unit::Bytes, now),
        figure("rcv_rtt", rtt, Unit::Seconds, now),
    ];
    evidence.extend(rcvbuf.map(|rcvbuf| figure("rcvbuf", rcvbuf as f64, Unit::Bytes, now)));
    evidence.extend(
        most.map(|most| figure("net.ipv4.tcp_rmem[2]", most as f64, Unit::Bytes, (Place::Setting, Since::Now))),
    );
    evidence.push(text("socket", worst.line(), now));
    let who = if helps { Who::Host } else { Who::Program };
    let statement = HostStatement::OwnWindowFull {
        connections: peer.connections(),
        window: window.into(),
        rtt_s: rtt,
        rate_bps: held,
    };
    let confidence = if bound == Bound::Program { 0.6 } else { 0.85 };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        extent: Some(Extent::HeldAt { rate_bps: held }),
        evidence,
        remedies: vec![fix(who, action, helps.then(|| snapshot.command(&command)))],
        verify: Some(HostCheck::Socket { peer: Some(peer.address), shows: Field::WindowAboveSpace }),
        ..Finding::new(Cause::ReceiveWindow, confidence, statement)
    })
}
