//! Connections are kept idle for longer than the other side, or a firewall here, keeps them.
//!
//! ## What it is
//! Servers, load balancers and NATs forget a connection that is idle for their timeout. Where their
//! FIN does not come through, this end does not learn it: the next request on it waits for
//! retransmissions until it fails, seconds to minutes, and is then made again.
//!
//! ## How it is recognised
//! Two ways, both by what this machine shows:
//! - other connections to the same server were closed by it (CLOSE_WAIT) after a certain idle time,
//!   and this one has been silent, ACKs and keep-alives included, for twice as long and 5 s more;
//! - the connection is silent for longer than `nf_conntrack_tcp_timeout_established`, so that
//!   connection tracking on this machine no longer knows it.
//!
//! It is a possible finding: that the connection is dead shows only when it is used.
//!
//! ## What it is confused with
//! - connections with keep-alive probes that are answered: they are not silent, and not reported.
//!
//! ## The fix
//! In the program, keep idle connections for less long than the peer does, or let TCP probe them
//! (SO_KEEPALIVE with TCP_KEEPIDLE below that time).
//!
//! ## To see that it worked
//! `ss -tnoi` shows a keep-alive timer, or no connection whose `lastsnd` and `lastrcv` are above
//! that time.
//!
//! ## References
//! RFC 5382 section 5 (a NAT keeps an idle connection for 2 h 4 min or more), RFC 9293 section
//! 3.8.4; Linux nf_conntrack-sysctl.

use super::close_wait::idle_before_ms;
use crate::finding::{
    Extent, Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Snapshot, dst, owners, plain};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use whyslow_analysis::Unit;
use whyslow_live::host::State;

/// Beyond twice the time that was watched, milliseconds.
const MARGIN_MS: u64 = 5_000;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let mut kept: BTreeMap<SocketAddr, u64> = BTreeMap::new();
    for socket in snapshot.in_state(State::CloseWait) {
        if let Some(idle) = idle_before_ms(socket) {
            let most = kept.entry(plain(socket.remote)).or_default();
            *most = (*most).max(idle.into());
        }
    }
    let conntrack =
        snapshot.namespace.conntrack.and(snapshot.setting("net.netfilter.nf_conntrack_tcp_timeout_established"));
    let conntrack = conntrack.and_then(|seconds| u64::try_from(seconds).ok()).map(|seconds| seconds * 1_000);
    let mut groups: BTreeMap<(SocketAddr, u64, bool), Vec<Live<'_>>> = BTreeMap::new();
    for live in snapshot.live() {
        let Some(silent) = silent_ms(&live) else { continue };
        let remote = plain(live.socket.remote);
        if let Some(&most) = kept.get(&remote).filter(|&&most| silent >= 2 * most + MARGIN_MS) {
            groups.entry((remote, most, false)).or_default().push(live);
        } else if let Some(most) = conntrack.filter(|&most| silent > most && !remote.ip().is_loopback()) {
            groups.entry((remote, most, true)).or_default().push(live);
        }
    }
    groups
        .iter()
        .filter_map(|((remote, most, is_own), lives)| report(snapshot, (*remote, *most, *is_own), lives))
        .collect()
}

/// Time without any packet in either direction, milliseconds.
fn silent_ms(live: &Live<'_>) -> Option<u64> {
    let info = live.info;
    Some(info.last_data_sent?.min(info.last_data_recv?).min(info.last_ack_recv?).into())
}

fn report(
    snapshot: Snapshot<'_>,
    (remote, most, is_own): (SocketAddr, u64, bool),
    lives: &[Live<'_>],
) -> Option<Finding> {
    let longest = lives.iter().max_by_key(|live| silent_ms(live))?;
    let silent = silent_ms(longest)? as f64 / 1e3;
    let most = most as f64 / 1e3;
    let connections = lives.len() as u64;
    let statement = HostStatement::SilentBeyond {
        connections,
        of: owners(lives.iter().flat_map(|live| &live.socket.owners)),
        remote,
        silent_s: silent,
        kept_s: most,
        by_tracking: is_own,
    };
    let source = if is_own {
        figure("nf_conntrack_tcp_timeout_established", most, Unit::Seconds, (Place::Setting, Since::Now))
    } else {
        figure("idle before FIN", most, Unit::Seconds, (Place::Sockets, Since::Now))
    };
    let command = snapshot.command(&format!("ss -tnoip {}", dst(remote.ip())));
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(remote.ip()),
        extent: Some(Extent::Count { count: connections, unit: Unit::Connections }),
        evidence: vec![
            source,
            figure("silent", silent, Unit::Seconds, (Place::Sockets, Since::Now)),
            text("socket", longest.line(), (Place::Socket, Since::Now)),
        ],
        remedies: vec![fix(Who::Program, HostAction::KeepIdleShorter { seconds: most }, Some(command))],
        verify: Some(HostCheck::KeepAlive),
        ..Finding::new(HostCause::IdleBeyondPeer, 0.4, statement)
    })
}
