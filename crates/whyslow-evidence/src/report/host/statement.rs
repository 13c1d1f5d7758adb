//! [`HostStatement`]: what a look at a machine finds.

use super::{Counted, Since};
use core::net::{IpAddr, SocketAddr};
use serde::Serialize;

/// Processes: one by name, and how many others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Processes {
    /// Its name.
    pub name: String,
    /// Its number.
    pub pid: u32,
    /// Number of other processes.
    pub others: usize,
}

/// Connections, and their processes where they are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Connections {
    /// How many.
    pub count: u64,
    /// The processes.
    pub of: Option<Processes>,
    /// With which peer.
    pub peer: IpAddr,
}

/// A listener.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Listener {
    /// The listening address.
    pub address: SocketAddr,
    /// The processes.
    pub of: Option<Processes>,
}

/// The end that opened connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From here, to this server.
    Out(SocketAddr),
    /// From this client, to this port here.
    In(IpAddr, u16),
}

/// The time of a transfer, with the cause and without it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Takes {
    /// Bytes.
    pub bytes: u64,
    /// Seconds with the cause.
    pub with_s: f64,
    /// Duration without the cause, seconds.
    pub without_s: f64,
}

/// What a look at a machine finds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "names of fields with their units")]
pub enum HostStatement {
    /// Data to a peer stands in a queue.
    QueueToPeer { peer: IpAddr, rtt_s: f64, least_s: f64 },
    /// Segments arrived damaged.
    DamagedSegments { segments: Counted },
    /// The peer closed, and the application here did not; `None` if the process is hidden.
    HeldOpen { connections: u64, by: Option<Processes>, least_s: f64 },
    /// The peer closed connections that were not accepted.
    ClosedUnaccepted { connections: u64, listener: Listener, least_s: f64 },
    /// Connection tracking dropped packets.
    ConntrackDropped { packets: u64, since: Since, entries: u64, most: u64 },
    /// Connection tracking is full, or nearly.
    ConntrackFilled { entries: u64, most: u64 },
    /// A control group used up its processor limit.
    Throttled { process: Processes, place: Option<String>, seconds: f64, share: f64 },
    /// A control group waited for a processor.
    GroupWaited { process: Processes, place: Option<String>, share: f64, connections: u64 },
    /// Programs waited for a processor.
    MachineWaited { share: f64, connections: u64 },
    /// Connections are silent for longer than others were kept.
    SilentBeyond {
        connections: u64,
        of: Option<Processes>,
        remote: SocketAddr,
        silent_s: f64,
        kept_s: f64,
        by_tracking: bool,
    },
    /// A listener's queue was full.
    QueueWasFull { listener: Listener, most: u64, dropped: u64 },
    /// A listener's queue is full.
    QueueIsFull { listener: Listener, most: u64 },
    /// The queue of some listener was full.
    SomeQueueWasFull { connections: u64 },
    /// Segments were lost on the way to a peer.
    LostToPeer { peer: IpAddr, lost: u64, sent: u64 },
    /// Segments were lost, by counters.
    LostByCounters { segments: Counted },
    /// Retransmissions were lost.
    RetransmissionsLost { retransmissions: Counted },
    /// Full segments vanish.
    FullSegmentsVanish { connections: Connections },
    /// Tail loss probes were needless.
    NeedlessProbes { needless: u64, probes: u64, since: Since, behind_proxy: bool },
    /// Connections were opened and closed.
    OpenedAndClosed { connections: u64, way: Way, rtt_s: f64 },
    /// A card had no room.
    CardDropped { device: String, packets: Counted },
    /// A server answers no SYN.
    NoSynAck { target: SocketAddr, connections: u64, of: Option<Processes>, retransmissions: u64 },
    /// Without SACK segments were retransmitted.
    WithoutSack { connections: Connections, again: u64 },
    /// Without window scaling.
    WithoutScaling { connections: Connections, most_bps: f64 },
    /// Ports are taken.
    PortsTaken { taken: u64, of: u64, local: IpAddr, remote: SocketAddr, closed: u64 },
    /// The own queue dropped packets.
    OwnQueueDropped { device: String, discipline: String, packets: Counted },
    /// Receive buffers had no room.
    BuffersDropped { segments: Counted },
    /// The peer's window was full.
    PeerWindowFull { connections: Connections, limited_s: f64, busy_s: f64 },
    /// The application at the peer reads slower than data comes: its window would allow more.
    PeerReadsSlowly { connections: Connections, limited_s: f64, busy_s: f64, rate_bps: f64, window_bps: f64 },
    /// The own window equals the bytes that arrive in a round trip.
    OwnWindowFull { connections: Connections, window: u64, rtt_s: f64, rate_bps: f64 },
    /// Connections started over after idle time.
    Restarted { connections: u64, peers: u64, had: u64, has: u64 },
    /// Connections will start over when they send again.
    WillRestart { connections: u64, peers: u64, had: u64, initial: u64 },
    /// The send buffer holds connections; `None`: it is full at this moment.
    SendBufferFull { connections: Connections, bytes: Option<u64>, limited_s: Option<f64>, busy_s: f64 },
    /// A route begins connections with a small window.
    SmallFirstWindow {
        route: String,
        segments: u64,
        usual: u64,
        metric: &'static str,
        peer: IpAddr,
        outgoing: bool,
        takes: Takes,
    },
    /// A processor's backlog was full.
    BacklogDropped { packets: Counted },
    /// Segments were sent twice.
    SentTwice { peer: IpAddr, copies: u64, again: u64 },
    /// Timeouts were needless.
    NeedlessTimeouts { timeouts: Counted },
    /// A remembered threshold.
    Remembered { peer: IpAddr, segments: u64, others: u64, takes: Vec<Takes> },
    /// Connections to a peer waited for timeouts.
    TimedOut { peer: IpAddr, timeouts: u64, seconds: f64, at_least: bool, row: Option<u64> },
    /// Timeouts, by counters.
    TimeoutsCounted { timeouts: Counted, seconds: f64 },
    /// BBR is not paced.
    Unpaced { device: String, share: f64 },
    /// The application here does not read.
    UnreadHere { by: Option<Processes>, peer: IpAddr, bytes: u64, seconds: f64 },
    /// The application at the peer does not read.
    PeerWindowShut { connections: Connections },
}
