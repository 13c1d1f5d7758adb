//! Connections are being opened to hosts that do not answer their SYN.
//!
//! ## What it is
//! A SYN that is neither answered nor refused is sent again after a second, and again after longer
//! pauses, for two minutes by default. The program waits meanwhile, or for its own timeout.
//!
//! ## How it is recognised
//! Sockets in SYN_SENT whose SYN was sent three times or more (two retransmissions): one lost SYN
//! is the path's chance, three in a row are a host that is gone or a firewall that drops. What each
//! has waited is at least a second for each retransmission.
//!
//! ## What it is confused with
//! - a server whose accept queue is full (`listen-overflow` on that machine): it answers some SYNs.
//!   If that listener is on this machine, only its overflow is reported.
//!
//! ## The fix
//! Check that the host is up, the port is right, and that no firewall or security group drops SYNs
//! instead of refusing them. In the program, a shorter connect timeout and another address limit
//! the cost.
//!
//! ## To see that it worked
//! `ss -tn state syn-sent` lists nothing for longer than a moment.
//!
//! ## References
//! RFC 9293 section 3.8.1, RFC 6298; Linux tcp(7), tcp_syn_retries.

use super::listen_overflow::{is_full, overflow};
use crate::finding::{Extent, Finding, HostAction, HostCheck, HostStatement, Place, Since, Who, figure, fix, text};
use crate::snapshot::{Snapshot, dst, owners, plain, socket_line};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;
use whyslow_live::host::{Socket, State};

/// Retransmissions of a SYN that are not chance.
const RETRANSMITS: u8 = 2;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let mut targets: BTreeMap<SocketAddr, Vec<&Socket>> = BTreeMap::new();
    let waits = snapshot.in_state(State::SynSent).filter(|socket| retransmits(socket) >= RETRANSMITS);
    for socket in waits.filter(|socket| !is_dropped_here(snapshot, socket)) {
        targets.entry(plain(socket.remote)).or_default().push(socket);
    }
    targets.into_iter().filter_map(|(target, sockets)| report(snapshot, target, &sockets)).collect()
}

/// Whether the SYN goes to a listener of this machine whose queue is full: that does not concern
/// the network.
fn is_dropped_here(snapshot: Snapshot<'_>, socket: &Socket) -> bool {
    let [local, remote] = [socket.local, socket.remote].map(plain);
    let is_here = remote.ip().is_loopback() || local.ip() == remote.ip();
    let serves = |listener: &&Socket| {
        let bound = plain(listener.local);
        bound.port() == remote.port() && (bound.ip().is_unspecified() || bound.ip() == remote.ip())
    };
    let overflows = |listener: &Socket| is_full(listener) || overflow(snapshot, listener).is_some();
    is_here && snapshot.in_state(State::Listen).filter(serves).any(overflows)
}

fn retransmits(socket: &Socket) -> u8 {
    socket.timer.map_or(0, |timer| timer.retransmits)
}

fn report(snapshot: Snapshot<'_>, target: SocketAddr, sockets: &[&Socket]) -> Option<Finding> {
    let longest = *sockets.iter().max_by_key(|socket| retransmits(socket))?;
    let waited: f64 = sockets.iter().map(|socket| f64::from(retransmits(socket))).sum();
    let syns: u32 = sockets.iter().map(|socket| u32::from(retransmits(socket))).sum();
    let command = snapshot.command(&format!("ss -tnop state syn-sent {}", dst(target.ip())));
    let statement = HostStatement::NoSynAck {
        target,
        connections: sockets.len() as u64,
        of: owners(sockets.iter().flat_map(|socket| &socket.owners)),
        retransmissions: retransmits(longest).into(),
    };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(target.ip()),
        cost_s: Some(waited),
        extent: Some(Extent::SoFar { seconds: waited, at_least: true }),
        evidence: vec![
            figure("SYN-SENT", sockets.len() as f64, Unit::One, (Place::Sockets, Since::Now)),
            figure("SYNs sent again", f64::from(syns), Unit::One, (Place::Sockets, Since::Connection)),
            text("socket", socket_line(longest), (Place::Socket, Since::Now)),
        ],
        remedies: vec![fix(Who::Network, HostAction::CheckServer { target }, Some(command))],
        verify: Some(HostCheck::StateEmpty { state: "syn-sent" }),
        ..Finding::new(Cause::NoAnswer, 0.9, statement)
    })
}
