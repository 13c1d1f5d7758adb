//! The parts of a path: the hosts, the links between them, and the emulator's options.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::link::config::LinkConfig;

/// A host of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Host {
    /// Connects.
    Client,
    /// Another client behind the same first link; present only with [`PathConfig::cross`].
    Cross,
    /// In the middle; present only with [`PathConfig::proxy`].
    Proxy,
    /// Listens.
    Server,
}

impl Host {
    /// The name in file names and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Host::Client => "client",
            Host::Cross => "cross",
            Host::Proxy => "proxy",
            Host::Server => "server",
        }
    }
}

/// A whole path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// The host that connects.
    pub client: HostConfig,
    /// The host that listens.
    pub server: HostConfig,
    /// A host in the middle. It does not forward packets: a program there must copy the bytes.
    #[serde(default)]
    pub proxy: Option<HostConfig>,
    /// Another host that connects, on the client's side of the first link: both share it.
    #[serde(default)]
    pub cross: Option<HostConfig>,
    /// Client to server; with a proxy two: client to proxy, proxy to server.
    pub links: Vec<LinkPair>,
    /// How the links are emulated.
    #[serde(default)]
    pub emulator: EmulatorConfig,
}

/// A link's two directions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkPair {
    /// Towards the server.
    pub up: LinkConfig,
    /// Towards the client.
    pub down: LinkConfig,
}

/// A host's settings. The default is a Linux host as kernel.org ships it, whatever this machine's
/// own values are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostConfig {
    /// `net.ipv4.tcp_rmem` → `4096 131072 6291456`. They come on top of
    /// [`crate::net::DEFAULT_SYSCTLS`].
    pub sysctls: BTreeMap<String, String>,
    /// Attributes of the route to the other hosts.
    pub route: Route,
    /// MTU of the host's devices (576–9000).
    pub mtu: u32,
    /// Segmentation offload: the host's stack hands super-packets to the device and its capture
    /// shows them.
    pub tso: bool,
    /// Receive offload: the host's stack gets merged packets, and its capture shows them.
    pub gro: bool,
    /// The slow-start threshold, in segments, that the host remembers of its peers (`ip
    /// tcp_metrics`).
    pub ssthresh: Option<u32>,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self { sysctls: BTreeMap::new(), route: Route::default(), mtu: 1500, tso: false, gro: false, ssthresh: None }
    }
}

/// Attributes of a route (`ip route change … initcwnd 10`), `None` is the kernel's own choice. Only
/// the congestion control has a default: cubic, since the kernel's own choice is this machine's
/// setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Route {
    /// Initial congestion window, in segments.
    pub initcwnd: Option<u32>,
    /// Initial receive window, in segments.
    pub initrwnd: Option<u32>,
    /// Acknowledge at once, without delay.
    pub quickack: Option<bool>,
    /// `reno`, `cubic`, `bbr`, …: the default of connections over this route.
    pub congestion_control: Option<String>,
    /// Ask for ECN.
    pub ecn: bool,
    /// Minimum retransmission timeout, in milliseconds.
    pub rto_min_ms: Option<u32>,
    /// The MSS announced to the other side.
    pub advmss: Option<u32>,
}

impl Default for Route {
    fn default() -> Self {
        Self {
            initcwnd: None,
            initrwnd: None,
            quickack: None,
            congestion_control: Some("cubic".to_owned()),
            ecn: false,
            rto_min_ms: None,
            advmss: None,
        }
    }
}

/// How the links are emulated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmulatorConfig {
    /// The kind of device between the hosts and the emulator.
    pub port: PortKind,
    /// Carry neighbouring segments of one super-packet together (above about 1 Gbit/s). The
    /// decisions are per segment all the same. Needs `tso` on the sending host to be of use.
    pub fast: bool,
    /// Run the emulator on this processor alone.
    pub cpu: Option<usize>,
    /// Wait for the exact moment by spinning.
    pub spin: Spin,
    /// The most records kept for each direction; later packets are only counted. 0 keeps none.
    pub log_limit: Option<usize>,
    /// The latest 1 % of packets may be this late, or a run is void. Without it lateness is judged
    /// by its possible effect ([`crate::noise`]).
    pub tolerance_ns: Option<u64>,
}

/// The kind of device between a host and the emulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortKind {
    /// A veth pair and packet sockets. Works for an ordinary user in a user namespace.
    #[default]
    Veth,
    /// A TAP device. Needs `/dev/net/tun` to be open to the user.
    Tun,
}

/// Whether the emulator spins through the last 100 µs before a packet is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spin {
    /// After a millisecond of sleep or more, when waking up in time is hardest: at most a tenth of
    /// a processor.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never: rely on timers.
    Never,
}
