//! ICMP errors.

use super::ends::name;
use crate::words::quantity::thousands;
use whyslow_analysis::{Fate, IcmpError};

pub(in crate::words) fn icmp_error(error: &IcmpError) -> String {
    let about = name(error.about);
    let size = error.size.filter(|_| matches!(error.kind, Fate::TooBig(_)));
    let size = size.map_or(String::new(), |size| format!(" {} B ", thousands(size.into())));
    let then = match error.obeyed {
        Some(true) => "；发送端此后发送更短的报文",
        Some(false) => "；发送端没有理会",
        None => "",
    };
    format!("{} 报告{about}的{size}报文：{}{then}", error.by, fate(error.kind))
}

/// What an ICMP error reports, of several packets.
fn fate(fate: Fate) -> String {
    match fate {
        Fate::TooBig(Some(mtu)) => format!("太长，最多可通过 {} B（需要分片）", thousands(mtu.into())),
        Fate::TooBig(None) => "太长（需要分片）".to_owned(),
        Fate::NetworkUnreachable => "没有到目的网络的路由".to_owned(),
        Fate::HostUnreachable => "主机不可达".to_owned(),
        Fate::ProtocolUnreachable => "主机不接受 TCP".to_owned(),
        Fate::PortUnreachable => "端口已关闭（端口不可达）".to_owned(),
        Fate::Prohibited => "被过滤规则禁止（administratively prohibited）".to_owned(),
        Fate::TimeExceeded => "途中 TTL 超时".to_owned(),
    }
}
