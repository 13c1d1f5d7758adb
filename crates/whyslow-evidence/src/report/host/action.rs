//! [`HostAction`]: what to do on a machine, or at its peer.

use core::net::{IpAddr, SocketAddr};
use serde::Serialize;

/// The party to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// The operator of this machine.
    Host,
    /// The application here.
    Program,
    /// The operator of the other end.
    Peer,
    /// The operator of the network.
    Network,
}

/// A buffer, and why it is that large.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BufferSize {
    /// Its maximum.
    pub bytes: u64,
    /// The rate that the present buffer allows, bits per second.
    pub rate_bps: f64,
    /// The round trip.
    pub rtt_s: f64,
    /// Whether 8 × rate × round trip is less than Linux' default, which is advised then.
    pub is_default: bool,
}

/// What bounds a buffer that an application has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cap {
    /// The size that it asked for.
    Program,
    /// `net.core.rmem_max`.
    Core,
}

/// An option of the SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpOption {
    /// RFC 2018.
    Sack,
    /// RFC 7323.
    WindowScaling,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", content = "parameters", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are named as in the statements")]
pub enum HostAction {
    /// Keep the queue at the narrow link short.
    KeepQueueShort { or_bbr: bool },
    /// Find what damages packets.
    FindDamage,
    /// Accept connections as they come, and close those whose peer has gone.
    AcceptAsTheyCome,
    /// Close a connection when a read returns nothing.
    CloseAtEndOfFile,
    /// A larger table of connections.
    EnlargeConntrack { entries: u64, bytes: u64 },
    /// A higher processor limit, or fewer threads.
    RaiseCpuLimit,
    /// A larger share of the processors.
    RaiseCpuShare,
    /// See which programs take the processors; a card's offload is off.
    FreeProcessors { offload: Option<[String; 2]> },
    /// Keep idle connections for less long, or send keep-alives.
    KeepIdleShorter { seconds: f64 },
    /// Accept faster, or ask for a longer queue.
    AcceptFaster { asked: u64, most: Option<u64>, is_bounded: bool },
    /// Find the listener.
    FindListener,
    /// Find where packets are lost.
    FindLoss { peer: IpAddr },
    /// Look again while transfers are slow.
    LookWhileSlow,
    /// Look for a policer, or a link with bursts of errors.
    FindPolicer,
    /// Let "packet too big" pass, or find the size.
    LetTooBigPass,
    /// Switch tail loss probes off.
    ProbesOff,
    /// Move the proxy nearer to its servers.
    MoveProxy,
    /// Keep connections open and reuse them.
    ReuseConnections { with_timestamps: bool },
    /// This end closed first: keep connections open.
    KeepServedOpen,
    /// A larger ring.
    EnlargeRing { device: String, packets: u64 },
    /// Spread interrupts over more processors.
    SpreadInterrupts,
    /// See whether a server is up.
    CheckServer { target: SocketAddr },
    /// Switch an option on here.
    SwitchOn { option: TcpOption },
    /// This end offers it: switch it on at the peer, or find what strips it.
    SwitchOnAtPeer { option: TcpOption },
    /// Remove a `netem`.
    RemoveNetem { device: String },
    /// Raise a shaper's rate, or its limit.
    RaiseShaper { device: String, discipline: String },
    /// The link is full.
    FasterLink { device: String, discipline: String },
    /// A longer queue, or paced senders.
    LongerQueue { device: String },
    /// Read sooner, and remove a small SO_RCVBUF.
    ReadSooner,
    /// A larger receive buffer at the peer, or an application that reads faster.
    PeerBuffer { size: Option<BufferSize> },
    /// The application at the peer must read faster.
    PeerReadsFaster,
    /// Receive buffers may grow.
    GrowReceiveBuffer { size: BufferSize, begin: Option<u64> },
    /// Remove SO_RCVBUF.
    DropReceiveBuffer { cap: Cap },
    /// Keep windows over idle times.
    KeepWindows,
    /// Send buffers may grow; a queue stands on the way to `after`.
    GrowSendBuffer { size: BufferSize, after: Option<IpAddr> },
    /// Remove SO_SNDBUF.
    DropSendBuffer,
    /// Remove a metric from a route.
    DropMetric { metric: &'static str },
    /// A longer backlog.
    LongerBacklog,
    /// Switch timestamps on.
    TimestampsOn,
    /// Find what reorders or delays.
    FindReordering,
    /// Remember no thresholds, and delete them.
    ForgetThresholds { route: Option<String> },
    /// The own queue drops: see that finding.
    SeeQdiscDrops { device: String },
    /// A setting that is off would find losses sooner.
    LossDetectionOn { name: &'static str, value: u64 },
    /// Let fq pace.
    PaceWithFq { device: String },
    /// The application here must read.
    ReadHere,
    /// The application at the peer must read.
    PeerReads,
}
