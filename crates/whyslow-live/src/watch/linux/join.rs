//! The kernel's data on connections that are older than the watch.
//!
//! Their handshakes were never captured: window scales, options and segment sizes come from the
//! sockets (sock_diag), which takes no right in the own network namespace. Their processes are
//! those visible to the user: before rights are dropped, all of them.

use crate::host::{Host, Options, Owner, Scope, Socket, State};
use crate::tcp_info::TcpInfo;
use serde::Serialize;
use std::net::SocketAddr;

/// A connection that was open, as its socket has it. One between two sockets of this machine is
/// there twice, once from each end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JoinInfo {
    /// This machine's end.
    pub local: SocketAddr,
    /// The other one.
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
    /// Smoothed round trip, µs; none before a segment of this end was acknowledged.
    pub rtt_us: Option<u32>,
    /// Least round trip of the last minutes, µs.
    pub min_rtt_us: Option<u32>,
    /// The owners of the socket.
    pub owners: Vec<Owner>,
}

/// Options of both ends (`TCPI_OPT_*`).
const TIMESTAMPS: u8 = 1;
const SACK: u8 = 2;
const WINDOW_SCALE: u8 = 4;

impl JoinInfo {
    fn new(socket: &Socket) -> Option<Self> {
        // One that is being made has its handshake before it.
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

/// The open connections, and the data on them that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Joined {
    /// Connections of this network namespace.
    pub connections: Vec<JoinInfo>,
    /// In words: what is missing, and why.
    pub missing: Vec<String>,
}

/// Reads the connections that are open now. To miss none it is called once the ring is open.
#[must_use]
pub fn open_connections() -> Joined {
    let host = Host::read(&Options { scope: Scope::Sockets, ..Options::default() });
    let sockets = host.namespaces.iter().flat_map(|namespace| &namespace.sockets);
    Joined {
        connections: sockets.filter_map(JoinInfo::new).collect(),
        missing: host.missing.iter().map(|missing| format!("{}: {}", missing.what, missing.why)).collect(),
    }
}
