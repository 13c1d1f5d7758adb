//! What shows that a fix worked on a machine.

use std::net::IpAddr;
use whyslow_evidence::host::{Field, HostCheck as C};

/// The filter of `ss` for a peer.
fn dst(peer: IpAddr) -> String {
    match peer {
        IpAddr::V4(peer) => format!("dst {peer}"),
        IpAddr::V6(peer) => format!("dst '[{peer}]'"),
    }
}

pub(in crate::words) fn check(check: &C) -> String {
    match check {
        C::Counters { names, slowly } => {
            format!("`nstat -az {}` {}", names.join(" "), if *slowly { "rises slowly" } else { "does not rise" })
        }
        C::FewRetransmissions => "`nstat TcpRetransSegs TcpOutSegs`, run twice, shows few retransmissions".to_owned(),
        C::Socket { peer, shows } => {
            let filter = peer.map_or(String::new(), |peer| format!(" {}", dst(peer)));
            let option = if *shows == Field::FlightAsCwnd { "-tim" } else { "-tin" };
            format!("`ss {option}{filter}` shows {}", field(*shows))
        }
        C::StateEmpty { state } => format!("`ss -tn state {state}` lists no connection for longer than a moment"),
        C::TimeWaitFalls { peer } => format!("`ss -tn state time-wait {} | wc -l` falls", dst(*peer)),
        C::ListenQueue => {
            "`ss -ltn` shows Recv-Q below Send-Q for it, and `nstat -az TcpExtListenOverflows` does not rise".to_owned()
        }
        C::ReceiveQueueEmpty => {
            "`ss -tn` shows a Recv-Q near zero, and `nstat -az TcpExtTCPToZeroWindowAdv` does not rise".to_owned()
        }
        C::NoPersistTimer { peer } => format!("`ss -tno {}` shows no timer of kind `persist`", dst(*peer)),
        C::KeepAlive => "`ss -tnoi` shows a keep-alive timer on them, or none that was idle that long".to_owned(),
        C::ConntrackDrops => "`conntrack -S` does not count on under drop".to_owned(),
        C::Throttled => "`nr_throttled` in the group's cpu.stat does not rise".to_owned(),
        C::Pressure { of_group: true } => "`avg10` in the group's cpu.pressure is small".to_owned(),
        C::Pressure { of_group: false } => "`cat /proc/pressure/cpu` shows a small avg10".to_owned(),
        C::Driver { device, name } => format!("`ethtool -S {device}` does not count on under {name}"),
        C::Link { device } => format!("`ip -s -s link show dev {device}` does not count on under missed and fifo"),
        C::Qdisc { device } => format!("`tc -s qdisc show dev {device}` does not count on under dropped"),
        C::Paced => "`tc qdisc show` names fq, and `ss -tin` shows few retrans".to_owned(),
        C::Route { metric } => {
            let larger = if *metric == "initcwnd" { "cwnd:10" } else { "a larger rcv_ssthresh" };
            format!("`ip route show` names no {metric}, and `ss -tin` shows {larger} for a new connection")
        }
        C::Softnet => "the second column of /proc/net/softnet_stat does not rise".to_owned(),
        C::Metrics => {
            "`ip tcp_metrics show` names no ssthresh for it, and `ss -tin` none for a new connection".to_owned()
        }
    }
}

fn field(field: Field) -> &'static str {
    match field {
        Field::RttNearLeast => "rtt near minrtt while it sends",
        Field::FewRetrans => "few `retrans` for new connections",
        Field::FewDsacks => "few `dsack_dups` for new connections",
        Field::SmallerMss => "a smaller mss, and no timeouts in a row",
        Field::Sack => "sack for new connections",
        Field::Wscale => "wscale for new connections",
        Field::LittleRwndLimited => "little rwnd_limited for new connections",
        Field::WindowAboveSpace => "a rcv_wnd that is larger than rcv_space",
        Field::FlightAsCwnd => "a flight as large as cwnd, and little sndbuf_limited",
        Field::CwndAfterIdle => "cwnd at or above ssthresh after idle times",
    }
}
