//! A send buffer here is full: a program may write no more, though the windows would let it out.
//!
//! ## What it is
//! What a program writes stays in the send buffer until it is acknowledged. A buffer that is
//! smaller than what the path holds stops the sender like a full window: the rate is at most buffer
//! / round trip.
//!
//! ## How it is recognised
//! Either of two, each with the congestion window and the peer's window having room:
//! - the kernel's own account (`sndbuf_limited`) is a fifth of the time with data to send, and 100
//!   ms or more. It is often zero where the buffer does limit, as it counts only while the write
//!   queue is empty;
//! - the buffer is filled to six tenths or more, all of it is on its way (`notsent` is less than a
//!   segment), and the flight is below eight tenths of the congestion window; at two looks, with
//!   data on its way for nine tenths of the time between them. One look is not enough: a program
//!   that has written an answer and waits for the next request fills the buffer as well. So a
//!   connection that looks full is read again after 300 ms (or two and a half round trips), unless
//!   an earlier look (`--for`, `--watch`) has it.
//!
//! ## What it is confused with
//! - `receive-window`: the peer's window is full.
//! - an application that has nothing to write: its buffer is empty.
//!
//! ## The fix
//! Remove SO_SNDBUF from the program (nginx `sndbuf=`), or, if the buffer has grown to the last
//! figure of `net.ipv4.tcp_wmem`, raise that. The path's capacity is unknown while the buffer is
//! the limit, so the advice is generous: eight times rate × round trip of the live connections, at
//! least 4 MiB (Linux' own default), 16 MiB at most. It is not given where round trips grow with
//! the data in flight.
//!
//! ## To see that it worked
//! `ss -tim` shows a flight as large as `cwnd`, and little `sndbuf_limited`.
//!
//! ## References
//! Linux tcp(7), socket(7), `struct tcp_info` (tcpi_sndbuf_limited).

use super::buffers::{SEND, needed, raise};
use crate::finding::{
    Evidence, Extent, Field, Finding, HostAction, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Peer, Snapshot, live as with_info};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;
use whyslow_evidence::{HELD_LEAST_US as LEAST_US, HELD_SHARE as SHARE};
use whyslow_live::tcp_info::TcpInfo;

/// A full buffer is filled to this share: the rest is room for the program's next write.
const FILLED: f64 = 0.6;
/// A flight that the congestion window holds is as large as that.
const ROOM: f64 = 0.8;
/// Fewer segments are a message, not a full buffer: as for captures.
const SEGMENTS: u32 = 3;
/// Share of the time between two looks in which data was on its way. Measured: a program that
/// answers 100 kB, 50 ms after each request, 40 ms away: 0.37 to 0.51; a full
/// buffer: 0.97.
const BUSY: f64 = 0.9;
/// A shorter round trip makes any buffer large enough, seconds.
const NEAR_S: f64 = 0.002;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let held = snapshot.live().filter(|live| is_counted(live) || stays_full(snapshot, live));
    let held = held.filter(|live| !live.stands_in_queue() && live.rtt().is_some_and(|rtt| rtt >= NEAR_S));
    Peer::all(held).into_iter().filter_map(|peer| report(snapshot, &peer)).collect()
}

fn limited_of(info: &TcpInfo) -> Option<u64> {
    info.sndbuf_limited
}

/// Recognised by the kernel's account.
fn is_counted(live: &Live<'_>) -> bool {
    let (Some(limited), Some(busy)) = (live.grown(limited_of), live.grown(|info| info.busy_time)) else {
        return false;
    };
    limited >= LEAST_US && limited as f64 >= SHARE * busy as f64
}

/// As it stands: at one instant. What a program has just written fills a buffer as well.
pub(crate) fn is_full(live: &Live<'_>) -> bool {
    let info = live.info;
    let (Some(memory), Some(unacked), Some(cwnd)) = (live.socket.memory, info.unacked, info.snd_cwnd) else {
        return false;
    };
    let (Some(notsent), Some(mss), Some(window)) = (info.notsent_bytes, info.snd_mss, info.snd_wnd) else {
        return false;
    };
    let flight = u64::from(unacked) * u64::from(mss);
    memory.sndbuf > 0
        && f64::from(memory.wmem_queued) >= FILLED * f64::from(memory.sndbuf)
        && notsent < mss
        && unacked > SEGMENTS
        && f64::from(unacked) < ROOM * f64::from(cwnd)
        && flight + u64::from(mss) * u64::from(SEGMENTS) < u64::from(window)
}

/// Whether the buffer is full at two looks, and data was on its way all of the time between them.
fn stays_full(snapshot: Snapshot<'_>, live: &Live<'_>) -> bool {
    let of_earlier = snapshot.earlier.and_then(|(earlier, seconds)| {
        let found = earlier.sockets.iter().find(|other| other.cookie.is_some() && other.cookie == live.socket.cookie);
        Some((with_info(found?)?, seconds))
    });
    let of_again = snapshot.again.and_then(|again| {
        let found = live.socket.cookie.and_then(|cookie| again.sockets.get(&cookie));
        Some((with_info(found?)?, again.seconds))
    });
    let busy = |live: &Live<'_>| live.info.busy_time.unwrap_or(0);
    let is_same = |(other, seconds): (Live<'_>, f64)| {
        is_full(&other) && busy(&other).abs_diff(busy(live)) as f64 >= BUSY * seconds * 1e6
    };
    is_full(live) && (of_earlier.is_some_and(is_same) || of_again.is_some_and(is_same))
}

fn report(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let worst = peer.connections.iter().max_by_key(|live| live.grown(limited_of))?;
    let limited = peer.sum(limited_of) as f64 / 1e6;
    let busy = peer.sum(|info| info.busy_time) as f64 / 1e6;
    let counted = peer.connections.iter().any(is_counted);
    let sndbuf = worst.socket.memory.map(|memory| u64::from(memory.sndbuf));
    let most = snapshot.triple("net.ipv4.tcp_wmem").map(|[_, _, most]| most);
    let is_setting = sndbuf.zip(most).is_some_and(|(sndbuf, most)| sndbuf >= most);
    let buffer = needed(&peer.connections, SEND, |live| live.rate());
    let helps = buffer.as_ref().filter(|buffer| is_setting && most.is_some_and(|most| most < buffer.bytes));
    let statement = HostStatement::SendBufferFull {
        connections: peer.connections(),
        bytes: sndbuf,
        limited_s: counted.then_some(limited),
        busy_s: busy,
    };
    let confidence = if counted { 0.85 } else { 0.7 };
    let remedy = match helps {
        Some(size) => fix(
            Who::Host,
            HostAction::GrowSendBuffer { size: *size, after: None },
            Some(snapshot.command(&raise("tcp_wmem", size.bytes))),
        ),
        None => fix(Who::Program, HostAction::DropSendBuffer, None),
    };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        cost_s: counted.then_some(limited),
        extent: Some(if counted { Extent::Of { seconds: limited, of_s: busy } } else { Extent::FullNow }),
        evidence: evidence(snapshot, worst, [limited, busy], most),
        remedies: vec![remedy],
        verify: Some(HostCheck::Socket { peer: Some(peer.address), shows: Field::FlightAsCwnd }),
        ..Finding::new(Cause::SenderCap, confidence, statement)
    })
}

fn evidence(snapshot: Snapshot<'_>, worst: &Live<'_>, [limited, busy]: [f64; 2], most: Option<u64>) -> Vec<Evidence> {
    let now = (Place::Socket, Since::Now);
    let since = (Place::Sockets, snapshot.since_connections());
    let mut out =
        vec![figure("sndbuf_limited", limited, Unit::Seconds, since), figure("busy_time", busy, Unit::Seconds, since)];
    if let Some(memory) = worst.socket.memory {
        out.push(figure("wmem_queued", memory.wmem_queued.into(), Unit::Bytes, now));
        out.push(figure("sndbuf", memory.sndbuf.into(), Unit::Bytes, now));
    }
    out.extend(most.map(|most| figure("net.ipv4.tcp_wmem[2]", most as f64, Unit::Bytes, (Place::Setting, Since::Now))));
    out.push(text("socket", worst.line(), now));
    out
}
