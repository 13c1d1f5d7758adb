//! Connections to one server are opened and closed one after the other.
//!
//! ## What it is
//! A connection of its own for each request costs a round trip before the request leaves, two or
//! three with TLS, and begins with a small window.
//!
//! ## How it is recognised
//! By their remains: a closed connection stays in TIME_WAIT for 60 s at the end that closed first,
//! so the number of these is the number opened in the last minute. The round trip to that address
//! (of a live connection, or as the kernel remembers it) gives the cost of the handshakes. It is
//! reported from 60 connections in the minute, if their handshakes took 6 s of it or more: a tenth
//! of the time spent waiting for a handshake.
//!
//! ## What it is confused with
//! - many clients with a connection each: their addresses differ.
//!
//! ## The fix
//! Keep connections open: HTTP keep-alive in the client and a pool, and at a server that closes
//! first a longer keep-alive time.
//!
//! ## To see that it worked
//! `ss -tn state time-wait dst PEER | wc -l` falls.
//!
//! ## References
//! RFC 9112 section 9.3, RFC 9293 section 3.6.1; Linux TCP_TIMEWAIT_LEN.

use crate::finding::{Extent, Finding, HostAction, HostCheck, HostStatement, Place, Since, Way, Who, figure, fix};
use crate::snapshot::{Snapshot, plain};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;
use whyslow_live::host::State;

/// How long a closed connection stays in TIME_WAIT on Linux, seconds.
const TIME_WAIT_S: f64 = 60.0;
/// Fewer in that time are not a pattern.
const FEW: u64 = 60;
/// Share of that time that handshakes take.
const SHARE: f64 = 0.1;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let served: BTreeSet<u16> = snapshot.in_state(State::Listen).map(|socket| socket.local.port()).collect();
    let mut closed: BTreeMap<Way, u64> = BTreeMap::new();
    for socket in snapshot.in_state(State::TimeWait) {
        let (local, remote) = (plain(socket.local), plain(socket.remote));
        let is_served = served.contains(&local.port());
        let way = if is_served { Way::In(remote.ip(), local.port()) } else { Way::Out(remote) };
        *closed.entry(way).or_default() += 1;
    }
    closed
        .into_iter()
        .filter(|(_, number)| *number >= FEW)
        .filter_map(|(way, number)| report(snapshot, way, number))
        .collect()
}

/// The round trip to a peer, seconds, and what knows it.
fn round_trip(snapshot: Snapshot<'_>, peer: IpAddr) -> Option<(f64, Place)> {
    let live = snapshot.live().filter(|live| live.peer() == peer).filter_map(|live| live.min_rtt());
    let remembered = snapshot.namespace.metrics.iter().filter(|entry| entry.address.to_canonical() == peer);
    let remembered = remembered.filter_map(|entry| entry.rtt_us).map(|rtt| f64::from(rtt) / 1e6);
    let least = |times: &mut dyn Iterator<Item = f64>| times.reduce(f64::min);
    least(&mut live.into_iter())
        .map(|rtt| (rtt, Place::Socket))
        .or_else(|| least(&mut remembered.into_iter()).map(|rtt| (rtt, Place::Metrics)))
}

fn report(snapshot: Snapshot<'_>, way: Way, number: u64) -> Option<Finding> {
    let (peer, action) = match way {
        Way::Out(remote) => (remote.ip(), HostAction::ReuseConnections { with_timestamps: false }),
        Way::In(client, _) => (client, HostAction::KeepServedOpen),
    };
    let (rtt, source) = round_trip(snapshot, peer)?;
    let took = rtt * number as f64;
    if took < SHARE * TIME_WAIT_S {
        return None;
    }
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer),
        cost_s: Some(took),
        extent: Some(Extent::Handshakes { seconds: took, within_s: TIME_WAIT_S }),
        evidence: vec![
            figure("TIME-WAIT", number as f64, Unit::One, (Place::Sockets, Since::Seconds(TIME_WAIT_S))),
            figure("rtt", rtt, Unit::Seconds, (source, Since::Now)),
        ],
        remedies: vec![fix(Who::Program, action, None)],
        verify: Some(HostCheck::TimeWaitFalls { peer }),
        ..Finding::new(
            Cause::NewConnectionEachTime,
            0.8,
            HostStatement::OpenedAndClosed { connections: number, way, rtt_s: rtt },
        )
    })
}
