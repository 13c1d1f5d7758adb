//! 一台机器的连接表，以及数据来源一行。

use crate::words::machine::{HostWord, Period, Sources};
use crate::words::quantity::thousands;

pub(in crate::words) const fn word(of: HostWord) -> &'static str {
    match of {
        HostWord::Peer => "对端",
        HostWord::Sockets => "套接字",
        HostWord::States => "状态",
        HostWord::Retransmitted => "重传",
        HostWord::LimitedBy => "受限于",
        HostWord::Process => "进程",
        HostWord::Peers => "对端数",
        HostWord::BelongsTo => "所属",
        HostWord::ReceiveWindow => "接收窗口",
        HostWord::SendBuffer => "发送缓冲区",
        HostWord::Network => "网络",
        HostWord::LookedAt => "数据来源：",
    }
}

pub(in crate::words) fn more_peers(number: u64) -> String {
    format!("… 另有 {} 个对端", thousands(number))
}

pub(in crate::words) fn more_processes(number: u64) -> String {
    format!("… 另有 {} 个进程", thousands(number))
}

pub(in crate::words) fn and_more(name: &str, number: usize) -> String {
    format!("{name} 等 {} 个", number + 1)
}

pub(in crate::words) fn sources(of: &Sources) -> String {
    let mut parts = vec![
        format!("{} 个套接字", thousands(of.sockets)),
        format!("{} 个记住的对端", thousands(of.metrics)),
        format!("{} 项设置", thousands(of.settings)),
        format!("{} 条路由", thousands(of.routes)),
    ];
    if let Some([counters, devices]) = of.machine {
        parts.push(format!("{} 个计数器", thousands(counters)));
        parts.push(format!("{} 个设备", thousands(devices)));
    }
    if of.namespaces > 1 {
        parts.push(format!("共 {} 个网络命名空间", of.namespaces));
    }
    let since = match &of.period {
        Period::Over(time) => format!("计数时间 {time}"),
        Period::Part => "不含整机的计数".to_owned(),
        Period::Boot => "自开机以来的计数：--for 10s 只计此后发生的".to_owned(),
    };
    format!("Linux {}，已运行 {}：{}；{since}", of.kernel, of.uptime, parts.join("、"))
}

/// 证据的名称；内核自己的名称不变。
pub(in crate::words) fn figure_name(name: &str) -> &str {
    match name {
        "SYNs sent again" => "重发的 SYN",
        "age" => "距今",
        "backlog" => "排队",
        "busy connections" => "繁忙的连接",
        "cpu.stat throttled time" => "cpu.stat 受限时间",
        "cwnd before" => "此前的 cwnd",
        "drops" => "丢弃",
        "idle before FIN" => "FIN 前的空闲",
        "kernel" => "内核",
        "needless" => "不必要的探测",
        "nf_conntrack drop" => "nf_conntrack 丢弃",
        "processors" => "处理器",
        "route" => "路由",
        "rx ring" => "接收环",
        "rx ring, most" => "接收环上限",
        "saved of 1 MB" => "每 1 MB 可省",
        "saved of 10 MB" => "每 10 MB 可省",
        "silent" => "无数据",
        "socket" | "sockets" => "套接字",
        "timeouts in a row" => "连续超时",
        _ => name,
    }
}

/// 未能读取的部分；其余按内核的名称。
pub(in crate::words) fn missing(part: &str) -> &str {
    match part {
        "CPU pressure (PSI)" => "处理器压力（PSI）",
        "TCP sockets" => "TCP 套接字",
        "TCP sockets (sock_diag)" => "TCP 套接字（sock_diag）",
        "counters (/proc/net)" => "计数器（/proc/net）",
        "network devices" => "网络设备",
        "network devices (rtnetlink)" => "网络设备（rtnetlink）",
        "network namespaces" => "网络命名空间",
        "network namespaces of other users" => "其他用户的网络命名空间",
        "offloads, speeds and rings (ethtool)" => "卸载、速率和环（ethtool）",
        "processes" => "进程",
        "processes of other users" => "其他用户的进程",
        "routes (rtnetlink)" => "路由（rtnetlink）",
        "settings" => "设置",
        _ => part,
    }
}
