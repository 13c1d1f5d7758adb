//! What applications do, and wait for.

use crate::words::quantity::{rate, thousands, time};
use crate::words::zh::ends::name;
use whyslow_analysis::{End, Pauses};
use whyslow_units::Nanos;

pub(super) fn nothing_to_send(paused: Nanos, whole: Nanos, pauses: u64) -> String {
    let (paused, whole, pauses) = (time(paused), time(whole), thousands(pauses));
    format!("{whole} 中有 {paused} 发送端应用没有数据可发，共停顿 {pauses} 次")
}

pub(super) fn nothing_arrived(paused: Nanos, whole: Nanos, pauses: u64) -> String {
    let (paused, whole, pauses) = (time(paused), time(whole), thousands(pauses));
    format!(
        "{whole} 中有 {paused} 没有收到发送端的任何数据，共停顿 {pauses} 次：应用没有数据可发，或者发出的报文段全部丢失"
    )
}

pub(super) fn silent_under_encryption(paused: Nanos, whole: Nanos, pauses: u64) -> String {
    let (paused, whole, pauses) = (time(paused), time(whole), thousands(pauses));
    format!(
        "{whole} 中有 {paused} 没有收到发送端的数据，共停顿 {pauses} 次：QUIC 已加密，无法区分应用无数据可发、窗口已满还是丢包"
    )
}

pub(super) fn small_writes(bits: f64, segment: u64, spent: Nanos, whole: Nanos) -> String {
    format!(
        "{} 中有 {} 发送端应用以 {} 写入数据，报文段平均 {} B：没有排队，也没有等待 ACK",
        time(whole),
        time(spent),
        rate(bits),
        thousands(segment),
    )
}

pub(super) fn response_late(by: End, took: Nanos, rtt: Nanos) -> String {
    format!("除 {} 的往返时延外，{}用了 {} 才开始响应", time(rtt), name(by), time(took))
}

pub(super) fn request_was(label: &str, stream: Option<u32>) -> String {
    match stream {
        Some(stream) => format!("请求为 {label}（流 {stream}）"),
        None => format!("请求为 {label}"),
    }
}

pub(super) fn requests_late(first: Option<Nanos>, later: Option<Pauses>) -> String {
    let first = first.map(|first| format!("握手之后过了 {} 才发出第一个请求", time(first)));
    let later = later.map(|later| format!("后续请求之前停顿 {} 次，共 {}", thousands(later.count), time(later.sum_s)));
    let parts: Vec<String> = first.into_iter().chain(later).collect();
    format!("客户端应用{}", parts.join("，"))
}

pub(super) fn requests_one_by_one(requests: u64, rtt: Nanos, spent: Nanos, whole: Nanos) -> String {
    format!(
        "{} 个请求逐个发出，每个都要一次 {} 的往返：占 {} 中的 {}",
        thousands(requests),
        time(rtt),
        time(whole),
        time(spent),
    )
}

pub(super) fn bursts(bursts: u64, interval: Nanos, rtt: Nanos) -> String {
    format!(
        "看起来有代理：数据分 {} 批到达且逐批增大，间隔 {}，像是本连接（往返时延 {}）背后另一条连接的慢启动",
        thousands(bursts),
        time(interval),
        time(rtt),
    )
}

pub(super) fn hops_differ(handshake: Nanos, response: Nanos) -> String {
    format!("看起来有代理：握手用了 {}，响应用了 {}，而且两者的报文经过的路由器数不同", time(handshake), time(response))
}

pub(super) fn record(late: Nanos, record: u64, flights: u64) -> String {
    format!(
        "响应的第一个字节晚了 {} 才能读取：{} B 的 TLS 记录分 {} 批发出，而只有完整的记录才能解密",
        time(late),
        thousands(record),
        thousands(flights),
    )
}
