//! [`Step`]: a setting or a check on a host, for any platform.

/// A setting or a check on a host. Its commands are in `commands`, a file a platform, each with one
/// `match` over all steps, so that a new one must be decided for all.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The initial congestion window, segments.
    InitialWindow {
        /// Segments.
        segments: u64,
        /// The peer is reached by IPv6.
        ipv6: bool,
    },
    /// Window scaling (RFC 7323).
    WindowScaling,
    /// HyStart off.
    Hystart,
    /// Remembered slow-start thresholds; of one peer.
    Threshold {
        /// The peer; `None` for all.
        peer: Option<String>,
    },
    /// The receive buffer, bytes.
    ReceiveBuffer(u64),
    /// The send buffer, bytes.
    SendBuffer(u64),
    /// Nagle's algorithm off.
    NoDelay,
    /// ACKs without delay.
    QuickAck {
        /// The peer is reached by IPv6.
        ipv6: bool,
    },
    /// Where a rate limit may be set, kilobytes per second.
    RateLimit(u64),
    /// The congestion window of an idle connection.
    IdleWindow,
    /// RACK (RFC 8985).
    Rack,
    /// SACK (RFC 2018).
    Sack,
    /// Tail loss probes (RFC 8985).
    TailProbes {
        /// SACK may be off.
        sack: bool,
    },
    /// Error counters of the network interfaces.
    ErrorCounters,
    /// Search for the packet size that passes (RFC 4821).
    MtuProbing,
    /// The least retransmission timeout.
    TimerFloor {
        /// The peer is reached by IPv6.
        ipv6: bool,
    },
    /// BBR.
    Bbr,
    /// Processors of a receiving host.
    ReceivingProcessors,
    /// Processors of a sending host.
    SendingProcessors,
    /// A managed queue; its rate, kilobits per second, if known.
    ManagedQueue(Option<u64>),
    /// A socket's pacing rate, bytes per second.
    Pacing(u64),
    /// The queues of a router.
    Queues,
    /// The target and interval of a queue that marks, milliseconds.
    Marking {
        /// `CoDel`'s target.
        target: u64,
        /// `CoDel`'s interval.
        interval: u64,
    },
    /// The route to a host.
    Route {
        /// The router.
        at: String,
        /// The destination.
        to: String,
    },
    /// The link-layer neighbour of a router.
    Neighbour {
        /// The host.
        host: String,
        /// The router.
        at: String,
    },
    /// The application that listens at a port.
    Listener(u16),
    /// The filter of a host.
    Filter {
        /// The host.
        at: String,
    },
    /// The routers on the way; with SYNs to this port.
    Trace {
        /// The destination.
        host: String,
        /// Its port; `None` for no port.
        port: Option<u16>,
    },
    /// Keep-alives.
    Keepalive,
    /// Counters of dropped connections.
    DroppedConnections,
    /// Counters of dropped SYNs.
    DroppedSyns,
    /// Counters of dropped datagrams.
    DroppedDatagrams,
    /// The largest TLS record, bytes.
    TlsRecords(u64),
}

impl Step {
    /// Whether it sets something of the kernel's TCP, which other transports do not use.
    pub fn is_tcp_setting(&self) -> bool {
        match self {
            Self::InitialWindow { .. }
            | Self::WindowScaling
            | Self::Hystart
            | Self::Threshold { .. }
            | Self::ReceiveBuffer(_)
            | Self::SendBuffer(_)
            | Self::NoDelay
            | Self::QuickAck { .. }
            | Self::IdleWindow
            | Self::Rack
            | Self::Sack
            | Self::TailProbes { .. }
            | Self::MtuProbing
            | Self::TimerFloor { .. }
            | Self::Bbr
            | Self::Pacing(_)
            | Self::Keepalive
            | Self::DroppedSyns => true,
            Self::RateLimit(_)
            | Self::ErrorCounters
            | Self::ReceivingProcessors
            | Self::SendingProcessors
            | Self::ManagedQueue(_)
            | Self::Queues
            | Self::Marking { .. }
            | Self::Route { .. }
            | Self::Neighbour { .. }
            | Self::Listener(_)
            | Self::Filter { .. }
            | Self::Trace { .. }
            | Self::DroppedConnections
            | Self::DroppedDatagrams
            | Self::TlsRecords(_) => false,
        }
    }
}

/// The form of a step on one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// To be pasted whole.
    Command(String),
    /// The platform has no such setting.
    Lacks,
}

impl Form {
    /// The command, if there is one.
    pub fn command(self) -> Option<String> {
        match self {
            Self::Command(command) => Some(command),
            Self::Lacks => None,
        }
    }
}
