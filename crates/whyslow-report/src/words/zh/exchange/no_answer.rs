//! Packets and requests without a response.

use crate::words::quantity::{thousands, time};
use crate::words::zh::ends::name;
use whyslow_analysis::{End, Fate, UnansweredRequest, Undelivered, WaitEnd};
use whyslow_units::Nanos;

pub(super) fn undelivered(reason: &Undelivered) -> String {
    let Undelivered { fate, by, host, port } = reason;
    match fate {
        Fate::TooBig(_) => format!("{by} 报告报文太长"),
        Fate::NetworkUnreachable => format!("{by} 没有到 {host} 的路由"),
        Fate::HostUnreachable => format!("{by} 无法到达 {host}"),
        Fate::ProtocolUnreachable => format!("{by} 报告 {host} 不接受 TCP"),
        Fate::PortUnreachable => format!("{by} 报告端口 {port} 已关闭"),
        Fate::Prohibited => format!("{by} 上的过滤规则禁止通过"),
        Fate::TimeExceeded => format!("报文在途中 {by} 处 TTL 超时"),
    }
}

pub(super) fn syn_undelivered(server: &str, reason: &Undelivered, syns: u64, waited: Nanos) -> String {
    let (reason, syns) = (undelivered(reason), thousands(syns));
    format!("{server} 没有收到 SYN：{reason}（ICMP）；{} 内发出 {syns} 个 SYN", time(waited))
}

pub(super) fn syn(server: &str, syns: u64, waited: Nanos, end: WaitEnd) -> String {
    let (syns, waited) = (thousands(syns), time(waited));
    match end {
        WaitEnd::CaptureEnded => format!("抓包结束时 {server} 已有 {waited} 未响应 {syns} 个 SYN"),
        WaitEnd::GaveUp | WaitEnd::Closed => format!("{server} 始终没有响应：{waited} 内发出 {syns} 个 SYN"),
    }
}

pub(super) fn syn_ack(client: &str, syns: u64, syn_acks: u64, waited: Nanos) -> String {
    let (syns, syn_acks) = (thousands(syns), thousands(syn_acks));
    format!("{client} 发出 {syns} 个 SYN，却从未确认其响应：{} 内有 {syn_acks} 个 SYN-ACK", time(waited))
}

pub(super) fn data(by: End, tries: u64, waited: Nanos, end: WaitEnd) -> String {
    let (sender, by) = (name(by.other()), name(by));
    let (tries, waited) = (thousands(tries), time(waited));
    match end {
        WaitEnd::CaptureEnded => {
            format!("抓包结束时{by}已有 {waited} 没有任何确认：{sender}已发送 {tries} 次")
        }
        WaitEnd::GaveUp | WaitEnd::Closed => {
            format!("{by}不再确认任何数据：{sender}在 {waited} 内把同一数据发送了 {tries} 次")
        }
    }
}

pub(super) fn request(request: &UnansweredRequest, waited: Nanos, end: WaitEnd) -> String {
    let UnansweredRequest { line, bytes } = request;
    let request = line.clone().unwrap_or_else(|| format!("{} B 的请求", thousands(*bytes)));
    let waited = time(waited);
    match end {
        WaitEnd::CaptureEnded => format!("抓包结束时服务器已有 {waited} 未响应：{request}"),
        WaitEnd::GaveUp => format!("客户端等待 {waited} 后放弃，没有收到响应：{request}"),
        WaitEnd::Closed => format!("服务器在 {waited} 后关闭连接，没有响应：{request}"),
    }
}

pub(super) fn response_stopped(bytes: u64, waited: Nanos, end: WaitEnd) -> String {
    let (bytes, waited) = (thousands(bytes), time(waited));
    let end = match end {
        WaitEnd::CaptureEnded => "抓包结束",
        WaitEnd::GaveUp => "客户端放弃",
        WaitEnd::Closed => "服务器关闭连接",
    };
    format!("服务器的响应在 {bytes} B 之后停止，最后是一个满长的报文段：{waited} 后{end}")
}
