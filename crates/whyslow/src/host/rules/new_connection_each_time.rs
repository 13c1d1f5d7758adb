//! Connections to one server are opened and closed one after the other.
//!
//! ## What it is
//! A connection of its own for each request costs a round trip before the request leaves, two or
//! three with TLS, and begins with a small window.
//!
//! ## How it is recognised
//! By what is left of them: a closed connection stays in TIME_WAIT for 60 s at the end that closed
//! first, so their number tells how many were opened in the last minute. With the round trip to
//! that address (of a live connection, or as the kernel remembers it) it tells what the handshakes
//! took. It is told from 60 connections in the minute, when their handshakes took 6 s of it or
//! more: a tenth of the time somebody waited for a handshake.
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

use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Since, Source, Who, figure};
use crate::host::look::{Look, dst, plain};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use whyslow_live::host::State;
use whyslow_report::text::units;

/// How long a closed connection stays in TIME_WAIT on Linux, seconds.
const TIME_WAIT_S: f64 = 60.0;
/// Fewer in that time are no habit.
const FEW: u64 = 60;
/// Of that time, what handshakes take.
const SHARE: f64 = 0.1;

/// Who opened them, and to where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// From here, to this server.
    Out(SocketAddr),
    /// From this client, to this port here.
    In(IpAddr, u16),
}

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    let served: BTreeSet<u16> = look.in_state(State::Listen).map(|socket| socket.local.port()).collect();
    let mut closed: BTreeMap<Way, u64> = BTreeMap::new();
    for socket in look.in_state(State::TimeWait) {
        let (local, remote) = (plain(socket.local), plain(socket.remote));
        let is_served = served.contains(&local.port());
        let way = if is_served { Way::In(remote.ip(), local.port()) } else { Way::Out(remote) };
        *closed.entry(way).or_default() += 1;
    }
    closed
        .into_iter()
        .filter(|(_, number)| *number >= FEW)
        .filter_map(|(way, number)| report(look, way, number))
        .collect()
}

/// The round trip to a peer, seconds, and what knows it.
fn round_trip(look: Look<'_>, peer: IpAddr) -> Option<(f64, Source)> {
    let live = look.live().filter(|live| live.peer() == peer).filter_map(|live| live.min_rtt());
    let remembered = look.namespace.metrics.iter().filter(|entry| entry.address.to_canonical() == peer);
    let remembered = remembered.filter_map(|entry| entry.rtt_us).map(|rtt| f64::from(rtt) / 1e6);
    let least = |times: &mut dyn Iterator<Item = f64>| times.reduce(f64::min);
    least(&mut live.into_iter())
        .map(|rtt| (rtt, Source::Socket))
        .or_else(|| least(&mut remembered.into_iter()).map(|rtt| (rtt, Source::Metrics)))
}

fn report(look: Look<'_>, way: Way, number: u64) -> Option<Finding> {
    let (peer, whom, who, what) = match way {
        Way::Out(remote) => (remote.ip(), format!("to {remote}"), Who::Program, "keep connections open and reuse them"),
        Way::In(client, port) => (
            client,
            format!("from {client} to port {port} here"),
            Who::Program,
            "keep connections open for the next request: this end closed them first",
        ),
    };
    let (rtt, source) = round_trip(look, peer)?;
    let took = rtt * number as f64;
    if took < SHARE * TIME_WAIT_S {
        return None;
    }
    let cost = format!("{} of handshakes in 60 s", units::figure(took, "s"));
    Some(Finding {
        cause: HostCause::NewConnectionEachTime,
        namespace: look.foreign_name(),
        peer: Some(peer.to_string()),
        seconds: Some(took),
        cost,
        confidence: 0.8,
        summary: format!(
            "{} {whom} were opened and closed in the last minute, each with a handshake of {} before its first byte",
            units::count(number, "connection"),
            units::figure(rtt, "s")
        ),
        evidence: vec![
            figure("sockets in TIME_WAIT", number as f64, "", (Source::Sockets, Since::Seconds(TIME_WAIT_S))),
            figure("round trip", rtt, "s", (source, Since::Now)),
        ],
        fix: Fix {
            who,
            what: what.to_owned(),
            command: None,
            verify: format!("`ss -tn state time-wait {} | wc -l` falls", dst(peer)),
        },
    })
}
