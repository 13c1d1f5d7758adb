//! The kernel's data on connections that are older than the watch.
//!
//! Their handshakes were never captured: window scales, options and segment sizes come from the
//! sockets (sock_diag), which takes no right in the own network namespace. Their processes are
//! those visible to the user: before rights are dropped, all of them.

use crate::host::{Host, Namespace, Namespaces, Options, Owner, Pod, Scope, Socket, State};
use crate::tcp_info::TcpInfo;
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A connection that was open, as its socket has it. One between two sockets of this machine is
/// there twice, once from each end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JoinInfo {
    /// This machine's end.
    pub local: SocketAddr,
    /// Address of the other end.
    pub remote: SocketAddr,
    /// The shift of the windows that the remote end announces: 0 without the option.
    pub snd_wscale: Option<u8>,
    /// The shift of the windows that the local end announces: 0 without the option.
    pub rcv_wscale: Option<u8>,
    /// Bytes of a full segment that the local end sends.
    pub snd_mss: Option<u32>,
    /// Bytes of a full segment that the remote end sends, as the kernel estimates it.
    pub rcv_mss: Option<u32>,
    /// Whether both ends have timestamps.
    pub timestamps: Option<bool>,
    /// Whether both ends have SACK.
    pub sack: Option<bool>,
    /// Smoothed round trip, µs; `None` before a segment of this end was acknowledged.
    pub rtt_us: Option<u32>,
    /// Minimum round trip of the last minutes, µs.
    pub min_rtt_us: Option<u32>,
    /// The owners of the socket.
    pub owners: Vec<Owner>,
}

/// Maximum number of addresses of a network namespace that are looked at.
const MOST_ADDRESSES: usize = 256;
/// Options of both ends (`TCPI_OPT_*`).
const TIMESTAMPS: u8 = 1;
const SACK: u8 = 2;
const WINDOW_SCALE: u8 = 4;

impl JoinInfo {
    fn new(socket: &Socket) -> Option<Self> {
        // A connection that is being made has its handshake before it.
        let is_open = !matches!(socket.state, State::Listen | State::SynSent | State::SynReceived);
        let info: &TcpInfo = socket.info.as_ref().filter(|_| is_open)?;
        let option = |bit: u8| info.options.map(|options| options & bit != 0);
        let scale = |scale: Option<u8>| if option(WINDOW_SCALE)? { scale } else { Some(0) };
        let plain = |end: SocketAddr| SocketAddr::new(end.ip().to_canonical(), end.port());
        Some(Self {
            local: plain(socket.local),
            remote: plain(socket.remote),
            snd_wscale: scale(info.snd_wscale),
            rcv_wscale: scale(info.rcv_wscale),
            snd_mss: info.snd_mss,
            rcv_mss: info.rcv_mss,
            timestamps: option(TIMESTAMPS),
            sack: option(SACK),
            rtt_us: info.rtt.filter(|rtt| *rtt > 0),
            min_rtt_us: info.min_rtt,
            owners: socket.owners.clone(),
        })
    }
}

/// A socket that takes connections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listening {
    /// Where it takes them: an address of its network namespace. One of all addresses is there once
    /// for each.
    pub address: SocketAddr,
    /// The owners of the socket.
    pub owners: Vec<Owner>,
}

/// Addresses of a pod with a network of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PodAddress {
    /// The address.
    pub address: IpAddr,
    /// The pod, without a container: they share it.
    pub pod: Pod,
}

/// The open connections, and the data on them that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Joined {
    /// Connections. Those within another network namespace's loopback are left out: no interface
    /// here sees them.
    pub connections: Vec<JoinInfo>,
    /// Sockets that take connections, with the same exception.
    pub listeners: Vec<Listening>,
    /// Addresses of pods.
    pub pods: Vec<PodAddress>,
    /// In words: what is missing, and why.
    pub missing: Vec<String>,
}

/// The namespaces whose connections are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Sockets of this network namespace.
    #[default]
    Own,
    /// Sockets of all network namespaces, as pods have: the machine is a node.
    Node,
}

/// Reads the connections that are open now. To miss none it is called once the ring is open.
#[must_use]
pub fn open_connections(reach: Reach) -> Joined {
    let namespaces = match reach {
        Reach::Own => Namespaces::Own,
        Reach::Node => Namespaces::All,
    };
    let host = Host::read(&Options { scope: Scope::Sockets, namespaces, ..Options::default() });
    let mut joined = Joined {
        missing: host.missing.iter().map(|missing| format!("{}: {}", missing.what, missing.why)).collect(),
        ..Joined::default()
    };
    for (place, namespace) in host.namespaces.iter().enumerate() {
        joined.add(namespace, place == 0);
    }
    joined
}

impl Joined {
    fn add(&mut self, namespace: &Namespace, is_own: bool) {
        let is_seen = |ip: IpAddr| is_own || !ip.to_canonical().is_loopback();
        let seen = namespace.sockets.iter().filter(|socket| is_seen(socket.local.ip()));
        self.connections.extend(seen.clone().filter_map(JoinInfo::new));
        for socket in seen.filter(|socket| socket.state == State::Listen && !socket.owners.is_empty()) {
            let (ip, port) = (socket.local.ip().to_canonical(), socket.local.port());
            let loopback = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()].into_iter().filter(|_| is_own);
            let all = namespace.addresses.iter().copied().chain(loopback);
            // One of IPv6 takes IPv4 as well, as Linux has it by default.
            let taken = all.filter(|own| *own == ip || ip.is_unspecified() && (ip.is_ipv6() || own.is_ipv4()));
            let listening =
                taken.map(|own| Listening { address: SocketAddr::new(own, port), owners: socket.owners.clone() });
            self.listeners.extend(listening.take(MOST_ADDRESSES));
        }
        if let Some(pod) = pod_of(namespace).filter(|_| !is_own) {
            let of_pod = |address: &IpAddr| PodAddress { address: *address, pod: pod.clone() };
            self.pods.extend(namespace.addresses.iter().take(MOST_ADDRESSES).map(of_pod));
        }
    }
}

/// The pod of a network namespace, if all of its sockets' owners are of one.
fn pod_of(namespace: &Namespace) -> Option<Pod> {
    let mut owners = namespace.sockets.iter().flat_map(|socket| &socket.owners);
    let first = owners.next()?.pod.clone()?;
    let is_one = owners.all(|owner| owner.pod.as_ref().is_some_and(|pod| pod.uid == first.uid));
    is_one.then_some(Pod { container: None, ..first })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn owner(name: &str, uid: Option<&str>) -> Owner {
        let pod = uid.map(|uid| Pod {
            uid: uid.to_owned(),
            namespace: Some("shop".to_owned()),
            name: Some("web-1".to_owned()),
            container: Some(name.to_owned()),
        });
        Owner { pid: 7, name: name.to_owned(), pod, ..Owner::default() }
    }

    fn socket(state: State, local: &str, remote: &str, owner: Owner) -> Socket {
        Socket {
            cookie: None,
            state,
            local: local.parse().unwrap(),
            remote: remote.parse().unwrap(),
            recv_queue: 0,
            send_queue: 0,
            owners: vec![owner],
            inode: 1,
            uid: 0,
            cgroup: None,
            interface: None,
            mark: None,
            route: None,
            congestion_control: None,
            info: (state != State::Listen).then(TcpInfo::default),
            memory: None,
            timer: None,
            drops: None,
        }
    }

    fn namespace(addresses: &[&str], sockets: Vec<Socket>) -> Namespace {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        Namespace { addresses, sockets, ..Namespace::default() }
    }

    #[test]
    fn listeners_of_all_addresses_are_listed_for_each() {
        let listens = |at: &str| socket(State::Listen, at, "0.0.0.0:0", owner("nginx", None));
        let mut joined = Joined::default();
        joined.add(&namespace(&["192.0.2.1", "2001:db8::1"], vec![listens("0.0.0.0:80"), listens("[::]:443")]), true);
        let mut found: Vec<String> = joined.listeners.iter().map(|one| one.address.to_string()).collect();
        found.sort();
        let expected =
            ["127.0.0.1:443", "127.0.0.1:80", "192.0.2.1:443", "192.0.2.1:80", "[2001:db8::1]:443", "[::1]:443"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_pod_has_the_addresses_of_its_network_and_its_loopback_is_left_out() {
        let open = |ends: [&str; 2], uid| socket(State::Established, ends[0], ends[1], owner("app", uid));
        let own = [open(["10.1.0.5:80", "10.1.0.9:4711"], Some("a")), open(["127.0.0.1:1", "127.0.0.1:2"], Some("a"))];
        let mut joined = Joined::default();
        joined.add(&namespace(&["10.1.0.5"], own.to_vec()), false);
        assert_eq!(joined.connections.len(), 1, "{:?}", joined.connections);
        let pod = &joined.pods[0];
        assert_eq!((pod.address.to_string().as_str(), pod.pod.container.as_deref()), ("10.1.0.5", None));
        // A network that a pod shares with the machine, or with another pod, is of none.
        for other in [None, Some("b")] {
            let mut joined = Joined::default();
            let sockets =
                vec![open(["10.1.0.5:80", "10.1.0.9:4711"], Some("a")), open(["10.1.0.5:81", "10.1.0.9:1"], other)];
            joined.add(&namespace(&["10.1.0.5"], sockets), false);
            assert!(joined.pods.is_empty(), "{other:?}");
        }
    }
}
