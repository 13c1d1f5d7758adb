//! Tables of a machine's connections, and the line with the sources.

use crate::words::machine::{HostWord, Period, Sources};
use crate::words::quantity::{count, thousands};

pub(in crate::words) const fn word(of: HostWord) -> &'static str {
    match of {
        HostWord::Peer => "peer",
        HostWord::Sockets => "sockets",
        HostWord::States => "states",
        HostWord::Retransmitted => "retransmitted",
        HostWord::LimitedBy => "limited by",
        HostWord::Process => "process",
        HostWord::Peers => "peers",
        HostWord::BelongsTo => "belongs to",
        HostWord::ReceiveWindow => "receive window",
        HostWord::SendBuffer => "send buffer",
        HostWord::Network => "network",
        HostWord::LookedAt => "looked at ",
    }
}

pub(in crate::words) fn more_peers(number: u64) -> String {
    format!("… {} more peer{}", thousands(number), if number == 1 { "" } else { "s" })
}

pub(in crate::words) fn more_processes(number: u64) -> String {
    format!("… {} more process{}", thousands(number), if number == 1 { "" } else { "es" })
}

pub(in crate::words) fn and_more(name: &str, number: usize) -> String {
    format!("{name} and {number} more")
}

pub(in crate::words) fn sources(of: &Sources) -> String {
    let mut parts = vec![
        count(of.sockets, "socket"),
        count(of.metrics, "remembered peer"),
        count(of.settings, "setting"),
        count(of.routes, "route"),
    ];
    if let Some([counters, devices]) = of.machine {
        parts.push(count(counters, "counter"));
        parts.push(count(devices, "device"));
    }
    if of.namespaces > 1 {
        parts.push(format!("in {} namespaces", of.namespaces));
    }
    let since = match &of.period {
        Period::Over(time) => format!("counted over {time}"),
        Period::Part => "without counters of the whole machine".to_owned(),
        Period::Boot => "counted since boot: --for 10s counts from now on".to_owned(),
    };
    format!("Linux {}, up {}: {}; {since}", of.kernel, of.uptime, parts.join(", "))
}
