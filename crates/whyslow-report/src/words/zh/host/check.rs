//! 如何看出修复有效。

use std::net::IpAddr;
use whyslow_evidence::host::{Field, HostCheck as C};

fn dst(peer: IpAddr) -> String {
    match peer {
        IpAddr::V4(peer) => format!("dst {peer}"),
        IpAddr::V6(peer) => format!("dst '[{peer}]'"),
    }
}

pub(in crate::words) fn check(check: &C) -> String {
    match check {
        C::Counters { names, slowly } => {
            format!("`nstat -az {}` {}", names.join(" "), if *slowly { "增长缓慢" } else { "不再增长" })
        }
        C::FewRetransmissions => "运行两次 `nstat TcpRetransSegs TcpOutSegs`，重传很少".to_owned(),
        C::Socket { peer, shows } => {
            let filter = peer.map_or(String::new(), |peer| format!(" {}", dst(peer)));
            let option = if *shows == Field::FlightAsCwnd { "-tim" } else { "-tin" };
            format!("`ss {option}{filter}` 显示{}", field(*shows))
        }
        C::StateEmpty { state } => format!("`ss -tn state {state}` 不再长时间列出连接"),
        C::TimeWaitFalls { peer } => format!("`ss -tn state time-wait {} | wc -l` 减少", dst(*peer)),
        C::ListenQueue => "`ss -ltn` 中其 Recv-Q 小于 Send-Q，`nstat -az TcpExtListenOverflows` 不再增长".to_owned(),
        C::ReceiveQueueEmpty => "`ss -tn` 的 Recv-Q 接近零，`nstat -az TcpExtTCPToZeroWindowAdv` 不再增长".to_owned(),
        C::NoPersistTimer { peer } => format!("`ss -tno {}` 不再显示 `persist` 定时器", dst(*peer)),
        C::KeepAlive => "`ss -tnoi` 显示这些连接有保活定时器，或没有连接静默这么久".to_owned(),
        C::ConntrackDrops => "`conntrack -S` 的 drop 不再增长".to_owned(),
        C::Throttled => "该组 cpu.stat 中的 `nr_throttled` 不再增长".to_owned(),
        C::Pressure { of_group: true } => "该组 cpu.pressure 中的 `avg10` 很小".to_owned(),
        C::Pressure { of_group: false } => "`cat /proc/pressure/cpu` 的 avg10 很小".to_owned(),
        C::Driver { device, name } => format!("`ethtool -S {device}` 的 {name} 不再增长"),
        C::Link { device } => format!("`ip -s -s link show dev {device}` 的 missed 和 fifo 不再增长"),
        C::Qdisc { device } => format!("`tc -s qdisc show dev {device}` 的 dropped 不再增长"),
        C::Paced => "`tc qdisc show` 显示 fq，`ss -tin` 显示很少的 retrans".to_owned(),
        C::Route { metric } => {
            let larger = if *metric == "initcwnd" { "cwnd:10" } else { "更大的 rcv_ssthresh" };
            format!("`ip route show` 不再有 {metric}，新连接在 `ss -tin` 中显示 {larger}")
        }
        C::Softnet => "/proc/net/softnet_stat 的第二列不再增长".to_owned(),
        C::Metrics => "`ip tcp_metrics show` 中不再有它的 ssthresh，新连接在 `ss -tin` 中也没有".to_owned(),
    }
}

fn field(field: Field) -> &'static str {
    match field {
        Field::RttNearLeast => "发送时 rtt 接近 minrtt",
        Field::FewRetrans => "新连接的 `retrans` 很少",
        Field::FewDsacks => "新连接的 `dsack_dups` 很少",
        Field::SmallerMss => "较小的 mss，且没有连续超时",
        Field::Sack => "新连接有 sack",
        Field::Wscale => "新连接有 wscale",
        Field::LittleRwndLimited => "新连接的 rwnd_limited 很少",
        Field::WindowAboveSpace => "rcv_wnd 大于 rcv_space",
        Field::FlightAsCwnd => "在途数据与 cwnd 一样大，sndbuf_limited 很少",
        Field::CwndAfterIdle => "空闲之后 cwnd 不小于 ssthresh",
    }
}
