//! The peer has closed its connections, and a program here has not: they stay in CLOSE_WAIT.
//!
//! ## What it is
//! A peer that has finished sends a FIN. The kernel acknowledges it and signals it to the program
//! as an empty read; the connection is in CLOSE_WAIT until the program closes its end too. No timer
//! ends that. Each such connection holds a file descriptor. A pool hands it out as if it were
//! alive: the request that gets it fails, and is repeated on a new connection.
//!
//! ## How it is recognised
//! A socket in CLOSE_WAIT that has neither received nor sent anything for 5 s: a program that still
//! answers a client with a half-closed connection sends. The kernel does not record the time of the
//! FIN; the time since the last ACK is a lower bound. `--watch` sees the FIN arrive, and knows its
//! time within one interval. After 60 s (tcp_fin_timeout) the peer has forgotten the connection,
//! and the finding is certain. A socket without a file was not accepted yet: then the finding names
//! the listener.
//!
//! ## What it is confused with
//! - half-closed connections that carry data: these are not reported.
//! - TIME_WAIT: that is the end which closed first, and it ends by itself.
//!
//! ## The fix
//! In the program: close the connection when a read returns nothing, also in error paths and in
//! connection pools; a pool checks a connection before it hands it out, or keeps it for less long
//! than the peer does.
//!
//! ## To see that it worked
//! `ss -tn state close-wait` lists no connection for longer than a moment.
//!
//! ## References
//! RFC 9293 section 3.6; Linux tcp(7).

use crate::finding::{
    Evidence, Extent, Finding, HostAction, HostCause, HostCheck, HostStatement, Listener, Place, Processes, Since, Who,
    figure, fix, text,
};
use crate::snapshot::{Snapshot, named, owners, socket_line};
use std::collections::BTreeMap;
use whyslow_analysis::Unit;
use whyslow_live::host::{Socket, State};

/// A program that closes does so at once, milliseconds.
const QUIET_MS: u32 = 5_000;
/// After this time the peer has forgotten it (tcp_fin_timeout), milliseconds.
const FORGOTTEN_MS: u32 = 60_000;
/// A peer that closed sooner after the last data had no timeout, milliseconds.
const TIMEOUT_MS: u32 = 1_000;

/// The reason why sockets of the peer stay open.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    /// Processes; `None` if they may not be seen.
    Processes(Option<Processes>),
    /// The listener that has not accepted it.
    Listener(Listener),
}

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let mut holders: BTreeMap<Holder, Vec<&Socket>> = BTreeMap::new();
    for socket in snapshot.in_state(State::CloseWait).filter(|socket| is_left(socket)) {
        holders.entry(holder(snapshot, socket)).or_default().push(socket);
    }
    holders.into_iter().filter_map(|(holder, sockets)| report(snapshot, &holder, &sockets)).collect()
}

/// Nothing goes on there.
fn is_left(socket: &Socket) -> bool {
    let Some(info) = &socket.info else { return false };
    let is_quiet = |ms: Option<u32>| ms.is_some_and(|ms| ms >= QUIET_MS);
    is_quiet(info.last_ack_recv) && is_quiet(info.last_data_sent) && info.unacked.unwrap_or(0) == 0
}

fn holder(snapshot: Snapshot<'_>, socket: &Socket) -> Holder {
    let processes = owners(socket.owners.iter());
    if processes.is_some() || socket.inode != 0 {
        return Holder::Processes(processes);
    }
    let listeners = snapshot.in_state(State::Listen).filter(|listener| listener.local.port() == socket.local.port());
    let best = listeners.max_by_key(|listener| listener.local.ip() == socket.local.ip());
    Holder::Listener(best.map_or(Listener { address: socket.local, of: None }, named))
}

/// For how long the peer has been gone at least, milliseconds.
fn least_ms(socket: &Socket) -> u32 {
    socket.info.as_ref().and_then(|info| info.last_ack_recv).unwrap_or(0)
}

/// Idle time before the peer closed, milliseconds.
pub(super) fn idle_before_ms(socket: &Socket) -> Option<u32> {
    let info = socket.info.as_ref()?;
    let data = info.last_data_recv?.min(info.last_data_sent?);
    data.checked_sub(info.last_ack_recv?).filter(|&idle| idle >= TIMEOUT_MS)
}

fn report(snapshot: Snapshot<'_>, holder: &Holder, sockets: &[&Socket]) -> Option<Finding> {
    let longest = *sockets.iter().max_by_key(|socket| least_ms(socket))?;
    let least = least_ms(longest);
    let (connections, least_s) = (sockets.len() as u64, f64::from(least) / 1e3);
    let (statement, action) = match holder {
        Holder::Listener(listener) => {
            let listener = listener.clone();
            (HostStatement::ClosedUnaccepted { connections, listener, least_s }, HostAction::AcceptAsTheyCome)
        }
        Holder::Processes(by) => {
            (HostStatement::HeldOpen { connections, by: by.clone(), least_s }, HostAction::CloseAtEndOfFile)
        }
    };
    let confidence = if least >= FORGOTTEN_MS { 0.95 } else { 0.75 };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        extent: Some(Extent::Count { count: connections, unit: Unit::Connections }),
        evidence: evidence(snapshot, sockets, longest),
        remedies: vec![fix(Who::Program, action, Some(snapshot.command("ss -tnp state close-wait")))],
        verify: Some(HostCheck::StateEmpty { state: "close-wait" }),
        ..Finding::new(HostCause::CloseWait, confidence, statement)
    })
}

fn evidence(snapshot: Snapshot<'_>, sockets: &[&Socket], longest: &Socket) -> Vec<Evidence> {
    let now = (Place::Sockets, Since::Now);
    let mut out = vec![figure("CLOSE-WAIT", sockets.len() as f64, Unit::One, now)];
    let watched = sockets.iter().filter_map(|socket| snapshot.closed_since.get(&socket.cookie?));
    match watched.copied().reduce(f64::max) {
        Some(seconds) => out.push(figure("CLOSE-WAIT, watched", seconds, Unit::Seconds, now)),
        None => out.push(figure("last_ack_recv", f64::from(least_ms(longest)) / 1e3, Unit::Seconds, now)),
    }
    let mut idle: Vec<u32> = sockets.iter().filter_map(|socket| idle_before_ms(socket)).collect();
    idle.sort_unstable();
    if let Some(&idle) = idle.get(idle.len() / 2) {
        out.push(figure("idle before FIN", f64::from(idle) / 1e3, Unit::Seconds, now));
    }
    let unread: u64 = sockets.iter().map(|socket| u64::from(socket.recv_queue)).sum();
    if unread > 0 {
        out.push(figure("Recv-Q", unread as f64, Unit::Bytes, now));
    }
    out.push(text("socket", socket_line(longest), (Place::Socket, Since::Now)));
    out
}
