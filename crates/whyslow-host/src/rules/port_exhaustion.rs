//! Nearly all local ports towards one server are taken, most of them by connections in TIME_WAIT.
//!
//! ## What it is
//! A connection from this machine takes a port of `net.ipv4.ip_local_port_range`. The end that
//! closes first keeps it for a minute (TIME_WAIT), so that late segments do no harm. A program that
//! opens and closes hundreds of connections a second to one address and port runs out: connect(2)
//! then searches long, and fails with EADDRNOTAVAIL.
//!
//! ## How it is recognised
//! Nine in ten ports of the range are taken towards one address and port from one address here.
//! Beyond that, the kernel's search for a free port takes measurable time, and the rest is used up
//! within seconds at the rate that filled the others in a minute.
//!
//! ## What it is confused with
//! - TIME_WAIT in any smaller number: it costs nothing, and is not reported.
//!
//! ## The fix
//! Keep connections open and reuse them (HTTP keep-alive, a pool; for nginx as a proxy `keepalive`
//! in `upstream`). `net.ipv4.tcp_tw_reuse=1` lets outgoing connections take over such ports where
//! both ends use timestamps: where `net.ipv4.tcp_timestamps` is off here, none of the ports in
//! TIME_WAIT can be taken over, and the finding asks for it to be switched on.
//!
//! ## To see that it worked
//! `ss -tn state time-wait dst SERVER | wc -l` falls.
//!
//! ## References
//! RFC 9293 section 3.6.1, RFC 6191; Linux ip-sysctl.

use crate::finding::{
    Extent, Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Since, Who, figure, fix,
};
use crate::snapshot::{Snapshot, dst, plain};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use whyslow_analysis::Unit;
use whyslow_live::host::State;

/// Share of ports that are taken.
const FULL: f64 = 0.9;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let range = snapshot.namespace.sysctls.get("net.ipv4.ip_local_port_range");
    let mut bounds = range.into_iter().flat_map(|range| range.split_whitespace()).filter_map(|port| port.parse().ok());
    let (Some(low), Some(high)) = (bounds.next(), bounds.next()) else { return Vec::new() };
    let range: std::ops::RangeInclusive<u16> = low..=high;
    let mut taken: BTreeMap<(IpAddr, SocketAddr), (u64, u64)> = BTreeMap::new();
    for socket in snapshot.namespace.sockets.iter().filter(|socket| socket.state != State::Listen) {
        let local = plain(socket.local);
        if range.contains(&local.port()) {
            let (all, waiting) = taken.entry((local.ip(), plain(socket.remote))).or_default();
            *all += 1;
            *waiting += u64::from(socket.state == State::TimeWait);
        }
    }
    let ports = u64::from(high.saturating_sub(low)) + 1;
    let is_full = |all: u64| all as f64 >= FULL * ports as f64;
    let full = taken.into_iter().filter(|(_, (all, _))| is_full(*all));
    full.map(|((local, remote), counts)| report(snapshot, (local, remote), counts, ports)).collect()
}

fn report(
    snapshot: Snapshot<'_>,
    (local, remote): (IpAddr, SocketAddr),
    (all, waiting): (u64, u64),
    ports: u64,
) -> Finding {
    // Without timestamps tcp_tw_reuse does nothing (tcp_twsk_unique).
    let is_off = snapshot.setting("net.ipv4.tcp_timestamps") == Some(0) && waiting * 2 >= all;
    let mut evidence = vec![
        figure("sockets", all as f64, Unit::One, (Place::Sockets, Since::Now)),
        figure("TIME-WAIT", waiting as f64, Unit::One, (Place::Sockets, Since::Now)),
        figure("net.ipv4.ip_local_port_range", ports as f64, Unit::One, (Place::Setting, Since::Now)),
    ];
    evidence.extend(is_off.then(|| figure("net.ipv4.tcp_timestamps", 0.0, Unit::One, (Place::Setting, Since::Now))));
    let (who, command) = match is_off {
        true => (Who::Host, snapshot.command("sysctl -w net.ipv4.tcp_timestamps=1")),
        false => (Who::Program, snapshot.command(&format!("ss -tn state time-wait {}", dst(remote.ip())))),
    };
    Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(remote.ip()),
        extent: Some(Extent::Ports { taken: all, of: ports }),
        evidence,
        remedies: vec![fix(who, HostAction::ReuseConnections { with_timestamps: is_off }, Some(command))],
        verify: Some(HostCheck::TimeWaitFalls { peer: remote.ip() }),
        ..Finding::new(
            HostCause::PortExhaustion,
            0.9,
            HostStatement::PortsTaken { taken: all, of: ports, local, remote, closed: waiting },
        )
    }
}
