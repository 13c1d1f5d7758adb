//! [`Snapshot`]: the rules' view of one namespace of the machine, with the figures that they need.

use crate::finding::{Connections, Counted, Listener, Processes, Since};
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use whyslow_live::host::{Device, Host, Namespace, Owner, Socket, Softnet, State, TimerKind};
use whyslow_live::tcp_info::TcpInfo;
use whyslow_report::text::units;

/// The name of the loopback device in every namespace.
const LOOPBACK: &str = "lo";
/// A round trip within one machine is shorter, unless a queueing discipline delays packets on
/// purpose; seconds.
const MEMORY_RTT_S: f64 = 0.001;
/// Kinds of devices between namespaces of one machine.
const BETWEEN: [&str; 2] = ["veth", "bridge"];

/// A reader that takes more is not slow, bytes per second: one processor copies more than 1 Gbit/s.
const FAST: f64 = 125e6;
/// Share of the window that passes in a round trip, at least, if the window itself limits a
/// connection. Measured at 100 ms with buffers of 64 KiB and 40 kB: 0.95 between two snapshots, and
/// 0.76 to 0.88 since the beginning, which includes slow start. Readers that pause for 100 ms: 0.52
/// to 0.63.
const WINDOW_PASSED: f64 = 0.8;
const WINDOW_PASSED_SINCE_BEGINNING: f64 = 0.7;
/// Share of the time with data to send during which the window was full. Below it, an earlier
/// window may have been the limit and not the current one, because windows grow.
const NEARLY_ALL: f64 = 0.8;
/// Time with data to send that the mean rate needs, µs and round trips: the beginning, in which
/// windows grow, is a small part of it.
const ENOUGH_US: u64 = 1_000_000;
const ROUNDS: f64 = 20.0;

/// The data of a rule, which judges nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot<'a> {
    pub host: &'a Host,
    pub namespace: &'a Namespace,
    /// The same namespace a while ago, and how many seconds that is.
    pub earlier: Option<(&'a Namespace, f64)>,
    /// The processors' counts at that time.
    pub softnet_earlier: Option<(&'a [Softnet], f64)>,
    /// Connections that looked limited for an instant, a moment later.
    pub again: Option<&'a Again>,
    /// The machine's own figures are judged with its first namespace.
    pub is_first: bool,
    /// Commands are pasted in this namespace.
    pub is_own: bool,
    /// By cookie: for how many seconds at most a socket is in CLOSE_WAIT whose beginning was
    /// watched.
    pub closed_since: &'a BTreeMap<u64, f64>,
}

/// Connections that were read again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Again {
    /// By cookie.
    pub sockets: HashMap<u64, Socket>,
    /// How much later, seconds.
    pub seconds: f64,
}

/// A count since boot and, where there was an earlier look, since then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Count {
    pub boot: u64,
    /// The count, and over how many seconds.
    pub recent: Option<(u64, f64)>,
}

/// A live connection with the kernel's data on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live<'a> {
    pub socket: &'a Socket,
    pub info: &'a TcpInfo,
    /// The same connection at the earlier look, if there was one.
    pub before: Option<&'a TcpInfo>,
}

impl<'a> Snapshot<'a> {
    /// Connections that carry data, or could.
    pub(crate) fn live(self) -> impl Iterator<Item = Live<'a>> {
        let earlier = self.earlier.map_or(&[][..], |(earlier, _)| earlier.sockets.as_slice());
        let known = earlier.iter().filter_map(|socket| Some((socket.cookie?, socket.info.as_ref()?)));
        let known: HashMap<u64, &TcpInfo> = known.collect();
        let established = self.namespace.sockets.iter().filter(|socket| socket.state == State::Established);
        established
            .filter_map(live)
            .map(move |live| Live { before: live.socket.cookie.and_then(|cookie| known.get(&cookie).copied()), ..live })
    }

    /// The time that [`Live::grown`] covers: since the earlier look, or since each connection
    /// began.
    pub(crate) fn since_connections(self) -> Since {
        self.earlier.map_or(Since::Connection, |(_, seconds)| Since::Seconds(seconds))
    }

    /// Share of the loopback device in the bytes that all devices sent; since the earlier snapshot
    /// if there is one. `None` if no device has counters.
    pub(crate) fn loopback_share(self) -> Option<f64> {
        let sent = |device: &Device| -> Option<u64> {
            let now = *device.counters.get("tx_bytes")?;
            let earlier = self.earlier.and_then(|(earlier, _)| {
                earlier.devices.iter().find(|before| before.index == device.index)?.counters.get("tx_bytes").copied()
            });
            Some(now.saturating_sub(earlier.unwrap_or(0)))
        };
        let devices = || self.namespace.devices.iter();
        let all: u64 = devices().filter_map(sent).sum();
        let loopback: u64 = devices().filter(|device| device.name == LOOPBACK).filter_map(sent).sum();
        (all > 0).then(|| loopback as f64 / all as f64)
    }

    /// The device that packets of a connection leave by.
    pub(crate) fn device(self, live: &Live<'_>) -> Option<&'a Device> {
        let route = self.namespace.routes.get(live.socket.route?)?;
        self.namespace.devices.iter().find(|device| Some(&device.name) == route.device.as_ref())
    }

    /// Sockets in this state.
    pub(crate) fn in_state(self, state: State) -> impl Iterator<Item = &'a Socket> {
        self.namespace.sockets.iter().filter(move |socket| socket.state == state)
    }

    /// A counter, such as `TcpExt.ListenDrops`; `None` if the kernel does not have it.
    pub(crate) fn counter(self, name: &str) -> Option<Count> {
        let boot = *self.namespace.counters.get(name)?;
        let recent = self.earlier.and_then(|(earlier, seconds)| {
            let before = *earlier.counters.get(name)?;
            Some((boot.saturating_sub(before), seconds))
        });
        Some(Count { boot, recent })
    }

    /// A setting that is a number.
    pub(crate) fn setting(self, name: &str) -> Option<i64> {
        self.namespace.sysctls.get(name)?.trim().parse().ok()
    }

    /// A setting of three numbers, as `net.ipv4.tcp_rmem`.
    pub(crate) fn triple(self, name: &str) -> Option<[u64; 3]> {
        let mut numbers = self.namespace.sysctls.get(name)?.split_whitespace().map(|number| number.parse().ok());
        Some([numbers.next()??, numbers.next()??, numbers.next()??])
    }

    /// Whether the kernel is this version or later; `None` if its release is not numeric.
    pub(crate) fn kernel_at_least(self, major: u32, minor: u32) -> Option<bool> {
        let mut parts = self.host.kernel.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??) >= (major, minor))
    }

    /// The name of the namespace, if it is not the program's own.
    pub(crate) fn foreign_name(self) -> Option<String> {
        let of_process = || self.namespace.process.map(|pid| format!("of process {pid}"));
        let name = || self.namespace.name.clone().or_else(of_process);
        (!self.is_own).then(|| name().unwrap_or_else(|| self.namespace.id.to_string()))
    }

    /// The command for this namespace: the program's own needs no prefix.
    pub(crate) fn command(self, command: &str) -> String {
        let enter = match (self.namespace.process, &self.namespace.name) {
            _ if self.is_own => return command.to_owned(),
            (Some(pid), _) => format!("nsenter -t {pid} -n"),
            (None, Some(name)) if is_plain(name) => format!("ip netns exec {name}"),
            (None, _) => return command.to_owned(),
        };
        let is_simple = command.chars().all(|c| c.is_ascii_alphanumeric() || " -_./=:,".contains(c));
        if is_simple {
            format!("{enter} {command}")
        } else {
            format!("{enter} sh -c '{}'", command.replace('\'', r"'\''"))
        }
    }
}

/// The filter of `ss` for a peer.
pub(crate) fn dst(peer: IpAddr) -> String {
    match peer {
        IpAddr::V4(peer) => format!("dst {peer}"),
        IpAddr::V6(peer) => format!("dst '[{peer}]'"),
    }
}

/// A word that a shell takes as it is.
pub(crate) fn is_plain(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-') && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

impl Count {
    /// The share of `all`. After an earlier snapshot only counts since then are used, because
    /// totals since boot may be long past; without one, the totals, if `all` is at least `enough`.
    pub(crate) fn share_of(self, all: Self, enough: u64) -> Option<Proportion> {
        match (self.recent, all.recent) {
            (Some((count, seconds)), Some((whole, _))) => {
                (whole > 0).then_some(Proportion { count, all: whole, seconds: Some(seconds) })
            }
            _ if all.boot >= enough => Some(Proportion { count: self.boot, all: all.boot, seconds: None }),
            _ => None,
        }
    }

    /// The newest figure, and over how many seconds it is.
    pub(crate) fn newest(self) -> (u64, Option<f64>) {
        self.recent.map_or((self.boot, None), |(count, seconds)| (count, Some(seconds)))
    }
}

/// A count and its total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Proportion {
    pub count: u64,
    pub all: u64,
    /// None is since boot.
    pub seconds: Option<f64>,
}

impl Proportion {
    pub(crate) fn value(self) -> f64 {
        self.count as f64 / self.all.max(1) as f64
    }

    pub(crate) fn since(self) -> Since {
        self.seconds.map_or(Since::Boot, Since::Seconds)
    }

    /// As statements have it.
    pub(crate) fn counted(self) -> Counted {
        Counted { count: self.count, of: self.all, since: self.since() }
    }
}

/// A socket with the kernel's data on it, if there is any.
pub(crate) fn live(socket: &Socket) -> Option<Live<'_>> {
    socket.info.as_ref().map(|info| Live { socket, info, before: None })
}

impl Live<'_> {
    /// The peer's address; of a mapped one (`::ffff:192.0.2.1`) the IPv4 address.
    pub(crate) fn peer(&self) -> IpAddr {
        self.socket.remote.ip().to_canonical()
    }

    /// The smoothed round trip, seconds.
    pub(crate) fn rtt(&self) -> Option<f64> {
        self.info.rtt.filter(|&rtt| rtt > 0).map(|rtt| f64::from(rtt) / 1e6)
    }

    /// The least round trip of the last five minutes, seconds.
    pub(crate) fn min_rtt(&self) -> Option<f64> {
        self.info.min_rtt.filter(|&rtt| rtt > 0).map(|rtt| f64::from(rtt) / 1e6)
    }

    /// Whether the data in flight waits in a queue: the round trip is twice the least one plus 10
    /// ms, as for captures. False if the reader delays ACKs, or if no ACK arrives at all.
    pub(crate) fn stands_in_queue(&self) -> bool {
        let (Some(rtt), Some(least)) = (self.rtt(), self.min_rtt()) else { return false };
        whyslow_evidence::in_queue(rtt, least) && self.timeouts_in_a_row() == 0 && !self.waits_for_reader()
    }

    /// Whether an earlier look shows that the peer of a connection within this machine takes less
    /// than a processor can copy.
    pub(crate) fn takes_little(&self, snapshot: Snapshot<'_>) -> bool {
        let Some((_, seconds)) = snapshot.earlier.filter(|_| self.before.is_some()) else { return false };
        self.grown(|info| info.bytes_acked).is_some_and(|bytes| (bytes as f64) < FAST * seconds)
    }

    /// Retransmission timeouts in a row, if one more is waited for.
    pub(crate) fn timeouts_in_a_row(&self) -> u8 {
        let timer = self.socket.timer.filter(|timer| timer.kind == TimerKind::Retransmission);
        timer.map_or(0, |timer| timer.retransmits)
    }

    /// Bytes in flight.
    pub(crate) fn in_flight(&self) -> Option<u64> {
        Some(u64::from(self.info.unacked?) * u64::from(self.info.snd_mss?))
    }

    /// By the kernel's account: µs in which the peer's window was full, and µs with data to send.
    /// `None` if that is less than a fifth of the time, as for captures; or if nothing is
    /// acknowledged at all, because the kernel goes on to count then.
    pub(crate) fn held_by_window(&self) -> Option<(u64, u64)> {
        if self.timeouts_in_a_row() > 0 {
            return None;
        }
        let limited = self.grown(|info| info.rwnd_limited)?;
        let busy = self.grown(|info| info.busy_time)?;
        (limited > 0 && limited as f64 >= whyslow_evidence::HELD_SHARE * busy as f64).then_some((limited, busy))
    }

    /// Whether the peer's window was full because its application read late: much less than a
    /// window came through in a round trip, so that the window had to be waited for. A window that
    /// is too small and one that fills a queue pass one window a round trip (Little's law).
    pub(crate) fn waits_for_reader(&self) -> bool {
        let (Some((limited, busy)), Some(rtt)) = (self.held_by_window(), self.rtt()) else { return false };
        let (Some(acked), Some(window)) = (self.grown(|info| info.bytes_acked), self.info.snd_wnd) else {
            return false;
        };
        let passed = acked as f64 / (busy as f64 / 1e6) * rtt;
        let part = if self.before.is_some() { WINDOW_PASSED } else { WINDOW_PASSED_SINCE_BEGINNING };
        let is_nearly_all = limited as f64 >= NEARLY_ALL * busy as f64;
        let is_settled = self.before.is_some() || busy as f64 / 1e6 >= ROUNDS * rtt;
        let is_enough = busy >= ENOUGH_US && is_settled;
        is_nearly_all && is_enough && passed < part * f64::from(window)
    }

    /// A counter of the connection: since the earlier look if the connection was there then, else
    /// since it began.
    pub(crate) fn grown(&self, get: impl Fn(&TcpInfo) -> Option<u64>) -> Option<u64> {
        let now = get(self.info)?;
        Some(now.saturating_sub(self.before.and_then(get).unwrap_or(0)))
    }

    /// Segments with data that were sent, retransmitted ones included; as [`Live::grown`].
    pub(crate) fn sent(&self) -> Option<u64> {
        self.grown(|info| info.data_segs_out.map(u64::from))
    }

    /// Whether its packets never leave memory: both ends are on this machine, and nothing on the
    /// way delays them. The limits of such a connection are processors, not windows or queues.
    pub(crate) fn stays_in_memory(&self) -> bool {
        let [local, remote] = [self.socket.local.ip(), self.socket.remote.ip()].map(|ip| ip.to_canonical());
        let is_here = remote.is_loopback() || local == remote;
        is_here && self.min_rtt().is_none_or(|rtt| rtt < MEMORY_RTT_S)
    }

    /// Whether nothing but processors limits it: it stays in memory, or leaves by a device between
    /// namespaces of this machine, and its reader takes what a processor can copy. An earlier look
    /// may show that the peer takes less.
    pub(crate) fn is_held_by_processors(&self, snapshot: Snapshot<'_>) -> bool {
        if self.stays_in_memory() {
            return !self.takes_little(snapshot);
        }
        let kind = snapshot.device(self).and_then(|device| device.kind.as_deref());
        let is_near = self.min_rtt().is_some_and(|rtt| rtt < MEMORY_RTT_S);
        let rate = self.grown(|info| info.bytes_acked).zip(self.grown(|info| info.busy_time));
        let is_fast = rate.is_some_and(|(bytes, busy)| bytes as f64 >= FAST * busy as f64 / 1e6);
        kind.is_some_and(|kind| BETWEEN.contains(&kind)) && is_near && is_fast
    }

    /// Bytes per second: what the kernel measured last.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.info.delivery_rate.filter(|&rate| rate > 0).map(|rate| rate as f64)
    }

    /// The socket in a line, as `ss` has it.
    pub(crate) fn line(&self) -> String {
        let mut line = socket_line(self.socket);
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                line += &format!(" {name} {value}");
            }
        };
        add("rtt", self.rtt().map(|rtt| units::figure(rtt, "s")));
        add("cwnd", self.info.snd_cwnd.map(|cwnd| units::thousands(cwnd.into())));
        add("ssthresh", self.info.snd_ssthresh.map(|ssthresh| units::thousands(ssthresh.into())));
        line
    }
}

/// A socket's ends and its owners.
pub(crate) fn socket_line(socket: &Socket) -> String {
    let ends = match socket.state {
        State::Listen => plain(socket.local).to_string(),
        _ => format!("{} → {}", plain(socket.local), plain(socket.remote)),
    };
    match owners(socket.owners.iter()) {
        None => ends,
        Some(Processes { name, pid, others: 0 }) => format!("{ends} {name}[{pid}]"),
        Some(Processes { name, pid, others }) => format!("{ends} {name}[{pid}] +{others}"),
    }
}

/// An address and a port, a mapped IPv4 address as itself.
pub(crate) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The first of the processes by name, and how many others there are.
pub(crate) fn owners<'a>(owners: impl Iterator<Item = &'a Owner>) -> Option<Processes> {
    let mut owners: Vec<(&str, u32)> = owners.map(|owner| (owner.name.as_str(), owner.pid)).collect();
    owners.sort_unstable();
    owners.dedup();
    let ((name, pid), others) = owners.split_first()?;
    Some(Processes { name: (*name).to_owned(), pid: *pid, others: others.len() })
}

/// A listener with its processes.
pub(crate) fn named(listener: &Socket) -> Listener {
    Listener { address: listener.local, of: owners(listener.owners.iter()) }
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &str) -> String {
    let is_simple = path.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@".contains(c));
    if is_simple { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// Connections of a peer.
#[derive(Debug)]
pub(crate) struct Peer<'a> {
    pub address: IpAddr,
    pub connections: Vec<Live<'a>>,
}

impl<'a> Peer<'a> {
    /// Connections by peer, in the order of addresses.
    pub(crate) fn all(connections: impl Iterator<Item = Live<'a>>) -> Vec<Self> {
        let mut peers: BTreeMap<IpAddr, Vec<Live<'a>>> = BTreeMap::new();
        for live in connections {
            peers.entry(live.peer()).or_default().push(live);
        }
        peers.into_iter().map(|(address, connections)| Self { address, connections }).collect()
    }

    /// A counter of each, added up, as [`Live::grown`]; an unknown one adds nothing.
    pub(crate) fn sum(&self, get: impl Fn(&TcpInfo) -> Option<u64>) -> u64 {
        self.connections.iter().filter_map(|live| live.grown(&get)).sum()
    }

    /// Their processes.
    pub(crate) fn owners(&self) -> Option<Processes> {
        owners(self.connections.iter().flat_map(|live| &live.socket.owners))
    }

    /// How many they are, and whose.
    pub(crate) fn connections(&self) -> Connections {
        Connections { count: self.connections.len() as u64, of: self.owners(), peer: self.address }
    }
}
