//! The kernel drops received segments because a receive buffer has no memory left.
//!
//! ## What it is
//! A receive buffer holds packets with their overhead. When it exceeds its limit the kernel copies
//! data together (collapse), then drops segments that arrived out of order, and then all segments.
//! The sender has to send them again.
//!
//! ## How it is recognised
//! By counters, one in 10,000 of `Tcp.InSegs` or more and ten at least: `TcpExt.RcvPruned` and
//! `TcpExt.TCPRcvQDrop` (dropped with the queue full), `TcpExt.OfoPruned` (out of order, dropped),
//! `TcpExt.TCPBacklogDrop` (the program held the socket for too long). At that rate and 100 ms a
//! sender is held to about 14 Mbit/s (Mathis et al.). The connection whose buffer is fullest is
//! named.
//!
//! ## What it is confused with
//! - `zero-window`: the window announces that there is no room, and nothing is dropped.
//!
//! ## The fix
//! Let the program read sooner. Where the fullest buffer is that of a program which sets a small
//! SO_RCVBUF, take that out.
//!
//! ## To see that it worked
//! `nstat -az TcpExtRcvPruned TcpExtTCPRcvQDrop TcpExtOfoPruned` does not rise.
//!
//! ## References
//! Linux SNMP counters, tcp_prune_queue.

use super::counted::{DROPPED, by_counter, passes};
use crate::finding::{Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Since, Who, figure, fix, text};
use crate::snapshot::{Snapshot, live as with_info};
use whyslow_analysis::Unit;

/// Kinds of drops, by their counter.
const COUNTERS: [&str; 4] = ["TcpExt.RcvPruned", "TcpExt.TCPRcvQDrop", "TcpExt.OfoPruned", "TcpExt.TCPBacklogDrop"];

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let found = COUNTERS.iter().filter_map(|name| Some((*name, passes(snapshot, (name, "Tcp.InSegs"), DROPPED)?)));
    let Some((name, share)) = found.max_by_key(|(_, share)| share.count) else { return Vec::new() };
    let statement = HostStatement::BuffersDropped { segments: share.counted() };
    let filled = |socket: &&whyslow_live::host::Socket| {
        socket
            .memory
            .filter(|memory| memory.rcvbuf > 0)
            .map_or(0, |memory| u64::from(memory.rmem_alloc) * 1_000 / u64::from(memory.rcvbuf))
    };
    let fullest = snapshot.namespace.sockets.iter().filter(|socket| socket.recv_queue > 0).max_by_key(filled);
    let mut more = Vec::new();
    if let Some(live) = fullest.and_then(with_info) {
        more.push(figure("Recv-Q", live.socket.recv_queue.into(), Unit::Bytes, (Place::Socket, Since::Now)));
        more.push(text("socket", live.line(), (Place::Socket, Since::Now)));
    }
    let mut found = by_counter(snapshot, HostCause::ReceiveDrops, 0.8, statement, ((name, "Tcp.InSegs"), share));
    found.evidence.extend(more);
    vec![Finding {
        remedies: vec![fix(Who::Program, HostAction::ReadSooner, Some(snapshot.command("ss -tnmp")))],
        verify: Some(HostCheck::Counters {
            names: &["TcpExtRcvPruned", "TcpExtTCPRcvQDrop", "TcpExtOfoPruned"],
            slowly: false,
        }),
        ..found
    }]
}
