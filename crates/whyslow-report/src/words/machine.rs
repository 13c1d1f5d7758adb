//! Data of a page about a machine that words are made of: [`HostWord`], [`Sources`].

/// A word of the tables of a machine's connections. States keep their names of `ss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostWord {
    /// Heading: the peer's address.
    Peer,
    /// Heading: the number of sockets.
    Sockets,
    /// Heading: sockets by state.
    States,
    /// Heading: the share of retransmitted segments.
    Retransmitted,
    /// Heading: the limit of sending.
    LimitedBy,
    /// Heading: the process' name.
    Process,
    /// Heading: the number of peers.
    Peers,
    /// Heading: the container or service of a process.
    BelongsTo,
    /// Limit: the peer's receive window.
    ReceiveWindow,
    /// Limit: the send buffer.
    SendBuffer,
    /// Limit: the congestion window or the path.
    Network,
    /// In front of the sources of the figures.
    LookedAt,
}

/// The sources of a page's figures.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The kernel's release.
    pub kernel: String,
    /// Time since boot, with its unit.
    pub uptime: String,
    /// Sockets that were read.
    pub sockets: u64,
    /// Peers with remembered metrics.
    pub metrics: u64,
    /// Settings that were read.
    pub settings: u64,
    /// Routes that were read.
    pub routes: u64,
    /// Counters and devices; `None` if only some connections are shown.
    pub machine: Option<[u64; 2]>,
    /// Network namespaces that were read.
    pub namespaces: usize,
    /// The time of the counters.
    pub period: Period,
}

/// The time that counters cover.
#[derive(Clone, Debug)]
pub enum Period {
    /// Between two readings, with its unit.
    Over(String),
    /// Only some connections are shown, without the machine's counters.
    Part,
    /// Since boot.
    Boot,
}
