//! [`HostCheck`]: what shows that a fix worked.

use core::net::IpAddr;
use serde::Serialize;

/// What shows that a fix worked.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum HostCheck {
    /// `nstat -az` of these counters.
    Counters {
        /// As nstat names them.
        names: &'static [&'static str],
        /// Whether the counter may rise slowly; otherwise it must not change.
        slowly: bool,
    },
    /// `nstat TcpRetransSegs TcpOutSegs`, run twice.
    FewRetransmissions,
    /// `ss -tin` of a peer.
    Socket {
        /// The peer; `None` for all.
        peer: Option<IpAddr>,
        /// The figure to look at.
        shows: Field,
    },
    /// `ss` lists no socket in this state for longer than a moment.
    StateEmpty {
        /// As `ss` names it.
        state: &'static str,
    },
    /// `ss -tn state time-wait` lists fewer sockets to a peer.
    TimeWaitFalls {
        /// The peer.
        peer: IpAddr,
    },
    /// `ss -ltn` shows Recv-Q below Send-Q.
    ListenQueue,
    /// `ss -tn` shows a Recv-Q near zero.
    ReceiveQueueEmpty,
    /// `ss -tno` shows no timer of kind `persist`.
    NoPersistTimer {
        /// The peer.
        peer: IpAddr,
    },
    /// `ss -tnoi` shows a keep-alive timer.
    KeepAlive,
    /// `conntrack -S` does not count drops.
    ConntrackDrops,
    /// `nr_throttled` does not rise.
    Throttled,
    /// `avg10` is small.
    Pressure {
        /// In the control group's `cpu.pressure`; else in /proc/pressure/cpu.
        of_group: bool,
    },
    /// A counter of a device's driver stays.
    Driver {
        /// The device.
        device: String,
        /// The counter.
        name: String,
    },
    /// `ip -s -s link` counts no missed packets.
    Link {
        /// The device.
        device: String,
    },
    /// `tc -s qdisc` counts no drops.
    Qdisc {
        /// The device.
        device: String,
    },
    /// `tc qdisc` names fq, and few segments are retransmitted.
    Paced,
    /// `ip route` names no metric any more, and a new connection begins larger.
    Route {
        /// `initcwnd` or `initrwnd`.
        metric: &'static str,
    },
    /// The second column of /proc/net/softnet_stat stays.
    Softnet,
    /// `ip tcp_metrics` has no threshold.
    Metrics,
}

/// A figure of connections in `ss -tin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Field {
    /// rtt near minrtt.
    RttNearLeast,
    /// Few `retrans` of new connections.
    FewRetrans,
    /// Few `dsack_dups` of new connections.
    FewDsacks,
    /// A smaller mss, and no timeouts in a row.
    SmallerMss,
    /// `sack` of new connections.
    Sack,
    /// `wscale` of new connections.
    Wscale,
    /// Little `rwnd_limited` of new connections.
    LittleRwndLimited,
    /// A `rcv_wnd` larger than `rcv_space`.
    WindowAboveSpace,
    /// In flight as much as `cwnd`, and little `sndbuf_limited`.
    FlightAsCwnd,
    /// `cwnd` at or above `ssthresh` after idle times.
    CwndAfterIdle,
}
