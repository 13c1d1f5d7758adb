//! How connections open.

use crate::words::quantity::{thousands, time};
use whyslow_analysis::{CloseKind, ClosedFirst, FirstReply, Opening};
use whyslow_units::Nanos;

pub(super) fn new_connections(
    connections: u64,
    server: &str,
    opening: Nanos,
    whole: Nanos,
    closed: ClosedFirst,
) -> String {
    format!(
        "先后建立了 {} 条到 {server} 的连接；{} 中有 {} 用于新建连接（{}）",
        thousands(connections),
        time(whole),
        time(opening),
        closed_first(connections, closed),
    )
}

fn closed_first(all: u64, closed: ClosedFirst) -> String {
    let with = match closed.with {
        CloseKind::Fin => "FIN",
        CloseKind::Rst => "RST",
    };
    let share = |some: u64| if some == all { "全部".to_owned() } else { format!("其中 {some} 条") };
    match (closed.by_client, closed.by_server) {
        (0, 0) => "抓包中没有看到关闭".to_owned(),
        (client, 0) => format!("{}由客户端先发 {with}", share(client)),
        (0, server) => format!("{}由服务器先发 {with}", share(server)),
        (client, server) => format!("{client} 条由客户端、{server} 条由服务器先发 {with}"),
    }
}

pub(super) fn refused(server: &str, times: u64, waited: Nanos) -> String {
    let waited = time(waited);
    match times {
        0 | 1 => format!("{server} 拒绝连接：SYN 之后 {waited} 收到 RST"),
        _ => format!("{server} 在 {waited} 内拒绝连接 {} 次", thousands(times)),
    }
}

pub(super) fn first_reply_slow(reply: FirstReply, took: Nanos, later: Nanos) -> String {
    let reply = match reply {
        FirstReply::SynAck => "SYN-ACK",
        FirstReply::HandshakeAck => "对 SYN-ACK 的确认",
        FirstReply::Handshake => "握手",
        FirstReply::DataAck => "对第一批数据的确认",
    };
    let (took, later) = (time(took), time(later));
    format!("{reply}用了 {took}，而之后的往返时延为 {later}：网络要先为第一个报文建立某种状态")
}

pub(super) fn initial_retransmitted(again: u64, took: Nanos, opening: Opening) -> String {
    let again = thousands(again);
    match opening {
        Opening::Opened => format!("客户端重发了 {again} 次 QUIC 握手的首个报文：建立连接用了 {}", time(took)),
        Opening::NeverOpened => format!("客户端重发了 {again} 次 QUIC 握手的首个报文：{} 内未能建立连接", time(took)),
    }
}

pub(super) fn retransmitted(syns: u64, syn_acks: u64, took: Nanos, opening: Opening) -> String {
    let syn = (syns > 0).then(|| format!("SYN 重传 {} 次", thousands(syns)));
    let syn_ack = (syn_acks > 0).then(|| format!("SYN-ACK 重传 {} 次", thousands(syn_acks)));
    let what: Vec<String> = syn.into_iter().chain(syn_ack).collect();
    let what = what.join("，");
    match opening {
        Opening::Opened => format!("{what}：建立连接用了 {}", time(took)),
        Opening::NeverOpened => format!("{what}：{} 内未能建立连接", time(took)),
    }
}
