//! [`PeerGroup`]: twenty thousand sockets in a screen: by peer, and by process.

use crate::snapshot::live;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use whyslow_live::host::{Host, Owner, Pod, Socket, State};
use whyslow_live::tcp_info::TcpInfo;
use whyslow_report::words::host::HostWord;

/// A part of the time that names what connections are limited by, as for captures.
const LIMITED: f64 = 0.2;

/// Sockets with one peer, in any namespace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PeerGroup {
    pub peer: IpAddr,
    /// How many sockets, by state.
    pub states: BTreeMap<State, u64>,
    /// Names of processes, with how many of the sockets each holds.
    pub processes: BTreeMap<String, u64>,
    /// The median of smoothed round trips, seconds.
    pub rtt_s: Option<f64>,
    /// The oldest silence of an established connection, seconds.
    pub idle_s: Option<f64>,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    /// Segments with data that were sent, and those of them that were retransmissions.
    pub sent: u64,
    pub retransmitted: u64,
    /// By what the sending was limited for most of the time with data to send; the application
    /// where that was short.
    pub limited_by: Option<LimitedBy>,
}

/// The limit of a group of connections' sending, by the kernel's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LimitedBy {
    ReceiveWindow,
    SendBuffer,
    /// Congestion window, or the path.
    Network,
}

impl LimitedBy {
    pub(crate) fn word(self) -> HostWord {
        match self {
            Self::ReceiveWindow => HostWord::ReceiveWindow,
            Self::SendBuffer => HostWord::SendBuffer,
            Self::Network => HostWord::Network,
        }
    }
}

/// Sockets of one process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ProcessGroup {
    pub pid: u32,
    pub name: String,
    pub container: Option<String>,
    pub unit: Option<String>,
    pub pod: Option<Pod>,
    pub states: BTreeMap<State, u64>,
    pub peers: u64,
}

impl PeerGroup {
    /// How many sockets there are.
    pub(crate) fn sockets(&self) -> u64 {
        self.states.values().sum()
    }

    /// By peer, those with most sockets first. Listeners have no peer.
    pub(crate) fn all(host: &Host) -> Vec<Self> {
        let mut groups: BTreeMap<IpAddr, Vec<&Socket>> = BTreeMap::new();
        for socket in sockets(host).filter(|socket| socket.state != State::Listen) {
            groups.entry(socket.remote.ip().to_canonical()).or_default().push(socket);
        }
        let mut groups: Vec<Self> = groups.into_iter().map(|(peer, sockets)| Self::of(peer, &sockets)).collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(group.sockets()), group.peer));
        groups
    }

    fn of(peer: IpAddr, sockets: &[&Socket]) -> Self {
        let lives: Vec<_> = sockets.iter().filter_map(|socket| live(socket)).collect();
        let established = lives.iter().filter(|live| live.socket.state == State::Established);
        let mut rtts: Vec<u32> = established.clone().filter_map(|live| live.info.rtt).filter(|&rtt| rtt > 0).collect();
        rtts.sort_unstable();
        let idle = established.filter_map(|live| live.info.last_data_sent?.min(live.info.last_data_recv?).into());
        let sum = |get: fn(&TcpInfo) -> Option<u64>| lives.iter().filter_map(|live| get(live.info)).sum::<u64>();
        let mut processes = BTreeMap::new();
        for owner in sockets.iter().flat_map(|socket| &socket.owners) {
            *processes.entry(owner.name.clone()).or_default() += 1;
        }
        Self {
            peer,
            states: states(sockets),
            processes,
            rtt_s: rtts.get(rtts.len() / 2).map(|&rtt| f64::from(rtt) / 1e6),
            idle_s: idle.max().map(|ms: u32| f64::from(ms) / 1e3),
            bytes_acked: sum(|info| info.bytes_acked),
            bytes_received: sum(|info| info.bytes_received),
            sent: sum(|info| info.data_segs_out.map(u64::from)),
            retransmitted: sum(|info| info.total_retrans.map(u64::from)),
            limited_by: limited_by([
                sum(|info| info.busy_time),
                sum(|info| info.rwnd_limited),
                sum(|info| info.sndbuf_limited),
            ]),
        }
    }
}

/// From the time with data to send, µs: total, with the peer's window full, with the send buffer
/// full.
fn limited_by([busy, rwnd, sndbuf]: [u64; 3]) -> Option<LimitedBy> {
    let is_part = |part: u64| part as f64 >= LIMITED * busy as f64;
    match busy {
        0 => None,
        _ if rwnd >= sndbuf && is_part(rwnd) => Some(LimitedBy::ReceiveWindow),
        _ if is_part(sndbuf) => Some(LimitedBy::SendBuffer),
        _ => Some(LimitedBy::Network),
    }
}

impl ProcessGroup {
    /// By process, those with most sockets first.
    pub(crate) fn all(host: &Host) -> Vec<Self> {
        let mut groups: BTreeMap<u32, (&Owner, Vec<&Socket>)> = BTreeMap::new();
        for socket in sockets(host) {
            for owner in &socket.owners {
                groups.entry(owner.pid).or_insert((owner, Vec::new())).1.push(socket);
            }
        }
        let mut groups: Vec<(usize, Self)> = groups
            .into_values()
            .map(|(owner, sockets)| {
                let connected = sockets.iter().filter(|socket| socket.state != State::Listen);
                let peers: BTreeSet<IpAddr> = connected.map(|socket| socket.remote.ip().to_canonical()).collect();
                let group = Self {
                    pid: owner.pid,
                    name: owner.name.clone(),
                    container: owner.container.clone(),
                    unit: owner.unit.clone(),
                    pod: owner.pod.clone(),
                    states: states(&sockets),
                    peers: peers.len() as u64,
                };
                (sockets.len(), group)
            })
            .collect();
        groups.sort_by_key(|(sockets, group)| (std::cmp::Reverse(*sockets), group.pid));
        groups.into_iter().map(|(_, group)| group).collect()
    }
}

/// All sockets of all namespaces.
pub(crate) fn sockets(host: &Host) -> impl Iterator<Item = &Socket> {
    host.namespaces.iter().flat_map(|namespace| &namespace.sockets)
}

fn states(sockets: &[&Socket]) -> BTreeMap<State, u64> {
    let mut states = BTreeMap::new();
    for socket in sockets {
        *states.entry(socket.state).or_default() += 1;
    }
    states
}

/// A state as `ss` names it.
pub(crate) fn state_name(state: State) -> &'static str {
    match state {
        State::Established => "ESTAB",
        State::SynSent => "SYN-SENT",
        State::SynReceived => "SYN-RECV",
        State::FinWait1 => "FIN-WAIT-1",
        State::FinWait2 => "FIN-WAIT-2",
        State::TimeWait => "TIME-WAIT",
        State::Close => "UNCONN",
        State::CloseWait => "CLOSE-WAIT",
        State::LastAck => "LAST-ACK",
        State::Listen => "LISTEN",
        State::Closing => "CLOSING",
    }
}
