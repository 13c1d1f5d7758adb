//! The kernel drops segments that have arrived, for want of memory in a receive buffer.
//!
//! ## What it is
//! A receive buffer holds packets with their overhead. When it is over its bound the kernel copies
//! data together (collapse), then drops what came out of order, and then what comes at all. The
//! sender has to send that again.
//!
//! ## How it is recognised
//! By counters, one in 10,000 of `Tcp.InSegs` or more and ten at least: `TcpExt.RcvPruned` and
//! `TcpExt.TCPRcvQDrop` (dropped with the queue full), `TcpExt.OfoPruned` (out of order, dropped),
//! `TcpExt.TCPBacklogDrop` (the program held the socket for too long). At that rate and 100 ms a
//! sender is held to about 14 Mbit/s (Mathis et al.). The connection whose buffer is fullest is
//! named.
//!
//! ## What it is confused with
//! - `zero-window`: the window says that there is no room, and nothing is dropped.
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

use super::counted::{Counted, DROPPED, passes, when};
use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Since, Source, Who, figure, text};
use crate::host::look::{Look, live as with_info};
use whyslow_report::text::units;

/// What is dropped, by its counter.
const COUNTERS: [&str; 4] = ["TcpExt.RcvPruned", "TcpExt.TCPRcvQDrop", "TcpExt.OfoPruned", "TcpExt.TCPBacklogDrop"];

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    let found = COUNTERS.iter().filter_map(|name| Some((*name, passes(look, (name, "Tcp.InSegs"), DROPPED)?)));
    let Some((name, share)) = found.max_by_key(|(_, share)| share.count) else { return Vec::new() };
    let summary = format!(
        "{} that had arrived were dropped {}, for want of memory in a receive buffer",
        units::count(share.count, "segment"),
        when(share)
    );
    let filled = |socket: &&whyslow_live::host::Socket| {
        socket
            .memory
            .filter(|memory| memory.rcvbuf > 0)
            .map_or(0, |memory| u64::from(memory.rmem_alloc) * 1_000 / u64::from(memory.rcvbuf))
    };
    let fullest = look.namespace.sockets.iter().filter(|socket| socket.recv_queue > 0).max_by_key(filled);
    let mut more = Vec::new();
    if let Some(live) = fullest.and_then(with_info) {
        more.push(figure("fullest: Recv-Q", live.socket.recv_queue.into(), "B", (Source::Socket, Since::Now)));
        more.push(text("the fullest", live.line(), (Source::Socket, Since::Now)));
    }
    let fix = Fix {
        who: Who::Program,
        what: "let the programs read sooner, and take a small SO_RCVBUF out of them".to_owned(),
        command: Some(look.command("ss -tnmp")),
        verify: "`nstat -az TcpExtRcvPruned TcpExtTCPRcvQDrop TcpExtOfoPruned` does not rise".to_owned(),
    };
    let names = (name.to_owned(), "Tcp.InSegs");
    vec![
        Counted { cause: HostCause::ReceiveDrops, names, share, confidence: 0.8, summary, fix }
            .into_finding(look, more),
    ]
}
