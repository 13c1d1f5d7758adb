//! This machine's data on its own TCP: sockets, remembered metrics, settings, counters.
//!
//! ```text
//!   namespaces ─▶ sockets (sock_diag) ─▶ owners (/proc)
//!              ├▶ metrics (tcp_metrics) ├▶ settings (sysctl, routes, devices)
//!              └▶ counters (/proc/net)  └▶ pressure (PSI, cgroups)       ═▶ Host
//! ```
//!
//! It reads, and judges nothing; nothing is changed. Data that the kernel does not offer, or does
//! not show to this user, is `None`, and [`Host::missing`] has the reason.

mod cgroups;
mod conntrack;
mod counters;
mod devices;
mod driver_counters;
mod ethtool;
mod generic;
mod namespaces;
mod options;
mod owners;
mod peer_metrics;
mod pods;
mod pressure;
mod read;
mod routes;
mod settings;
pub(crate) mod sockets;

pub use cgroups::{container, unit};
pub use options::{InvalidPrefix, Namespaces, Options, Prefix, Scope};
pub use pods::Pod;
pub use whyslow_tcpinfo::routes::Route;

use crate::tcp_info::TcpInfo;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// A look at this machine, or at one of its network namespaces and containers each.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Host {
    /// The machine's name (gethostname(2)); of a pod without the node's network, the pod's.
    #[serde(default)]
    pub name: String,
    /// The kernel's id of this boot, by which looks at one machine are joined.
    #[serde(default)]
    pub boot_id: String,
    /// When the look was taken, seconds since 1970-01-01 UTC.
    #[serde(default)]
    pub unix_s: f64,
    /// Release of the kernel, as uname(2) has it.
    pub kernel: String,
    /// Seconds since the machine started.
    pub uptime_s: f64,
    /// Processors that are online.
    pub processors: usize,
    /// Network namespaces, this process's first.
    pub namespaces: Vec<Namespace>,
    /// Share of the last 10 s in which some task waited for a processor, 0 to 100 (PSI).
    pub cpu_pressure: Option<f64>,
    /// Packets that each processor took from the devices, for all namespaces.
    pub softnet: Vec<Softnet>,
    /// Sources that could not be read, with the reason.
    pub missing: Vec<Missing>,
}

/// Packets that a processor took from the devices (`/proc/net/softnet_stat`), since the machine
/// started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Softnet {
    /// The processor.
    pub cpu: u32,
    /// Packets.
    pub processed: u64,
    /// Packets for which its backlog had no room (`netdev_max_backlog`).
    pub dropped: u64,
    /// How often its budget ran out while there were packets left (`netdev_budget`).
    pub time_squeezed: u64,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The missing data: `processes of other users`, `tcp_metrics`.
    pub what: String,
    /// The kernel's error, or the missing privilege.
    pub why: String,
}

/// A network namespace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Namespace {
    /// Its inode, which names it in `/proc/PID/ns/net`.
    pub id: u64,
    /// Its name (`ip netns`), or the container's, if there is one.
    pub name: Option<String>,
    /// A process that runs in it, for `nsenter -t PID -n`.
    pub process: Option<u32>,
    /// Addresses of its devices, without those of loopback and of one link alone: by these, peers
    /// of one machine's look are found in another's.
    #[serde(default)]
    pub addresses: Vec<IpAddr>,
    /// Its TCP sockets.
    pub sockets: Vec<Socket>,
    /// The remembered values of peers (`ip tcp_metrics`).
    pub metrics: Vec<PeerMetrics>,
    /// Settings of `net.*` by their names (`net.ipv4.tcp_rmem`), as text.
    pub sysctls: BTreeMap<String, String>,
    /// Routes that connections here take.
    pub routes: Vec<Route>,
    /// Network devices.
    pub devices: Vec<Device>,
    /// Counters since the namespace exists (`TcpExt.TCPLossProbes`, `Tcp.RetransSegs`).
    pub counters: BTreeMap<String, u64>,
    /// Current numbers of sockets and pages of memory (`/proc/net/sockstat`: `TCP.orphan`,
    /// `TCP.mem`).
    pub gauges: BTreeMap<String, u64>,
    /// Connection tracking, where it runs.
    pub conntrack: Option<Conntrack>,
}

/// State of a TCP socket (`include/net/tcp_states.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they are RFC 9293's")]
pub enum State {
    Established,
    SynSent,
    SynReceived,
    FinWait1,
    FinWait2,
    TimeWait,
    Close,
    CloseWait,
    LastAck,
    Listen,
    Closing,
}

/// A TCP socket as the kernel describes it (sock_diag(7)).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Socket {
    /// The kernel's name for it, unique in the machine's life.
    pub cookie: Option<u64>,
    /// State.
    pub state: State,
    /// Its own end.
    pub local: SocketAddr,
    /// The other end; port 0 of a listener.
    pub remote: SocketAddr,
    /// Bytes received and not read by the program; of a listener: connections to be accepted.
    pub recv_queue: u32,
    /// Bytes written and not acknowledged; of a listener: most connections to be accepted.
    pub send_queue: u32,
    /// Its owners: several processes may share a socket.
    pub owners: Vec<Owner>,
    /// Inode of its file; 0 if the program closed it or has yet to accept it.
    pub inode: u64,
    /// The user who made it.
    pub uid: u32,
    /// The cgroup that made it (`/system.slice/nginx.service`), where the unified hierarchy runs.
    pub cgroup: Option<String>,
    /// Index of the device that it is bound to.
    pub interface: Option<u32>,
    /// Its mark, which rules of routing may ask for; only with CAP_NET_ADMIN.
    pub mark: Option<u32>,
    /// The route to its peer: its place in [`Namespace::routes`].
    pub route: Option<usize>,
    /// Name of the congestion control.
    pub congestion_control: Option<String>,
    /// `TCP_INFO`; `None` for listeners and TIME_WAIT.
    pub info: Option<TcpInfo>,
    /// Buffers, bytes (`SO_MEMINFO`).
    pub memory: Option<Memory>,
    /// The timer that runs.
    pub timer: Option<Timer>,
    /// Packets that the socket itself dropped; of a listener: connections it had no room for.
    pub drops: Option<u32>,
}

/// `SO_MEMINFO` of a socket, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Received and held.
    pub rmem_alloc: u32,
    /// Maximum that may be received and held.
    pub rcvbuf: u32,
    /// Held for sending.
    pub wmem_alloc: u32,
    /// Maximum that may be held for sending.
    pub sndbuf: u32,
    /// Queued for sending.
    pub wmem_queued: u32,
    /// Received while the program held the socket, and not yet looked at.
    pub backlog: u32,
}

/// A timer of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timer {
    /// Which.
    pub kind: TimerKind,
    /// When it ends, ms from now.
    pub expires_ms: u32,
    /// How often it ended without an answer.
    pub retransmits: u8,
}

/// Which timer it is (`idiag_timer`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "names of the kernel")]
pub enum TimerKind {
    Retransmission,
    Keepalive,
    TimeWait,
    Probe,
}

/// A process that holds a socket.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// Its name (`comm`).
    pub name: String,
    /// The container it runs in, by its cgroup (`docker 4f2a09c1be77`).
    pub container: Option<String>,
    /// systemd's unit that it belongs to, by its cgroup (`nginx.service`).
    pub unit: Option<String>,
    /// The pod that it runs in, by its cgroup and the kubelet's files.
    pub pod: Option<Pod>,
    /// The time for which its cgroup was kept from the processor, if limited.
    pub throttled: Option<Throttled>,
    /// The folder of the cgroup with that limit: its `cpu.stat` has the account.
    pub throttled_in: Option<String>,
    /// Share of the last 10 s in which some task of its cgroup waited for a processor, per cent,
    /// rounded (`cpu.pressure`); `None` if it is in no cgroup of the unified hierarchy.
    pub cpu_pressure: Option<u8>,
    /// The folder of that cgroup.
    pub cpu_pressure_in: Option<String>,
}

/// Counts of a cgroup's processor limit (`cpu.stat`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Throttled {
    /// Periods that were counted.
    pub periods: u64,
    /// Periods in which it ran out.
    pub throttled: u64,
    /// For how long in all, µs.
    pub time_us: u64,
}

/// The remembered values of a peer (`tcp_metrics`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerMetrics {
    /// The peer.
    pub address: IpAddr,
    /// The own address, where the entry is of one.
    pub source: Option<IpAddr>,
    /// How long ago it was written, ms.
    pub age_ms: Option<u64>,
    /// Round trip, µs (the kernel's value, without its factor of 8).
    pub rtt_us: Option<u32>,
    /// Its variation, µs (the kernel's value, without its factor of 4).
    pub rttvar_us: Option<u32>,
    /// Slow-start threshold, segments.
    pub ssthresh: Option<u32>,
    /// Congestion window, segments.
    pub cwnd: Option<u32>,
    /// Segments of reordering.
    pub reordering: Option<u32>,
}

/// A network device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its number.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// The kind of a device that is not hardware (`veth`, `bridge`, `wireguard`).
    pub kind: Option<String>,
    /// Its MTU, bytes.
    pub mtu: u32,
    /// Its speed, Mbit/s, if the driver reports it.
    pub speed_mbps: Option<u32>,
    /// The root queueing discipline (`fq`, `fq_codel`, `mq`).
    pub qdisc: Option<String>,
    /// All queueing disciplines, the root first.
    pub qdiscs: Vec<Qdisc>,
    /// Offloads by the names of `ethtool -k`, and whether they are on; one that is off and cannot
    /// be switched on is not there.
    pub offloads: BTreeMap<String, bool>,
    /// Its rings, where it has some.
    pub rings: Option<Rings>,
    /// Counters (`rx_dropped`, `tx_dropped`, `rx_missed_errors` …).
    pub counters: BTreeMap<String, u64>,
    /// Counters of its driver that count dropped packets and are not zero, by the driver's names
    /// (`ethtool -S`: `rx_out_of_buffer`).
    pub driver_counters: BTreeMap<String, u64>,
}

/// A queueing discipline (`tc -s qdisc`); counters since it exists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Qdisc {
    /// Its kind.
    pub kind: String,
    /// Whether it is the device's root.
    pub root: bool,
    /// Packets that it let through, as the device sends them.
    pub packets: u64,
    /// Packets that it dropped.
    pub drops: u32,
    /// Packets that it held back to keep a rate.
    pub overlimits: u32,
    /// Packets that the device gave back.
    pub requeues: u32,
    /// Bytes that wait in it.
    pub backlog: u32,
}

/// Rings of a device, packets (`ethtool -g`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rings {
    /// For receiving.
    pub rx: u32,
    /// Maximum for receiving.
    pub rx_max: u32,
    /// For sending.
    pub tx: u32,
    /// Maximum for sending.
    pub tx_max: u32,
}

/// Connection tracking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conntrack {
    /// Entries.
    pub count: u64,
    /// Maximum number of entries.
    pub max: u64,
    /// Dropped packets, mostly because the table was full.
    pub dropped: Option<u64>,
    /// Connections that were forgotten early, to make room.
    pub early_dropped: Option<u64>,
    /// Entries that could not be inserted.
    pub insert_failed: Option<u64>,
}
