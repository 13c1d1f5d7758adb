//! Statements about windows, segments and ACKs.

use crate::words::quantity::{number, rate, thousands, time, window_rate};
use crate::words::zh::ends::syn;
use crate::words::zh::spread::spread;
use whyslow_analysis::{End, SpreadCost};
use whyslow_units::Nanos;

pub(super) fn slow_start(spent_s: Nanos, whole_s: Nanos, first_flight: Option<u64>) -> String {
    let from = first_flight.map_or(String::new(), |bytes| format!("，起初每个往返只发 {} B", thousands(bytes)));
    format!("{} 中有 {} 处于慢启动，拥塞窗口仍在增长{from}", time(whole_s), time(spent_s))
}

pub(super) fn early_exit(segments: u64, bytes: u64, cost_s: Nanos) -> String {
    format!(
        "没有丢包，发送端却在 {} 个报文段（{} B）时停止翻倍拥塞窗口，之后缓慢增长多花了 {}",
        thousands(segments),
        thousands(bytes),
        time(cost_s),
    )
}

pub(super) fn remembered_threshold(
    connections: u64,
    sender: &str,
    peer: &str,
    segments: u64,
    cost: SpreadCost,
) -> String {
    format!(
        "{sender} 到 {peer} 的 {} 条连接都在 {} 个报文段时停止翻倍窗口：发送端为该对端缓存了 ssthresh，{}",
        thousands(connections),
        thousands(segments),
        spread(cost),
    )
}

pub(super) fn no_window_scaling(missing: &[End], window: u64, rtt_s: Nanos) -> String {
    let missing: Vec<&str> = missing.iter().map(|end| syn(*end)).collect();
    format!(
        "{}中没有窗口扩大选项，在途数据不能超过 {} B：{} B / {} = {}",
        missing.join("和"),
        thousands(window),
        thousands(window),
        time(rtt_s),
        rate(window_rate(window, rtt_s)),
    )
}

pub(super) fn receive_window_full(window: u64, full_s: Nanos, whole_s: Nanos, rtt_s: Nanos) -> String {
    format!(
        "{} 中有 {} 接收窗口（{} B）已占满：{} B / {} = {}",
        time(whole_s),
        time(full_s),
        thousands(window),
        thousands(window),
        time(rtt_s),
        rate(window_rate(window, rtt_s)),
    )
}

pub(super) fn window_closed(closed_s: Nanos, whole_s: Nanos) -> String {
    format!("{} 中有 {} 接收窗口为 0：接收端应用没有读取数据", time(whole_s), time(closed_s))
}

pub(super) fn sender_cap(bytes: u64, alternating: bool, window: Option<u64>, time_s: Nanos) -> String {
    let flight = if alternating {
        format!("两个往返内从未超过 {} B（一大批与一小批交替）", thousands(bytes))
    } else {
        format!("在途数据从未超过 {} B", thousands(bytes))
    };
    let allowed = match window {
        Some(window) => format!("而接收端允许 {} B", thousands(window)),
        None => "抓包看不出接收端是否允许更多".to_owned(),
    };
    format!(
        "发送端{flight}，{allowed}：{} B / {} = {}",
        thousands(bytes),
        time(time_s),
        rate(window_rate(bytes, time_s))
    )
}

pub(super) fn protocol_window(bytes: u64, rtt_s: Nanos) -> String {
    format!(
        "发送端在途数据到 {} B 就停下，直到接收端应用发来消息：{} B / {} = {}",
        thousands(bytes),
        thousands(bytes),
        time(rtt_s),
        rate(window_rate(bytes, rtt_s)),
    )
}

pub(super) fn flow_control_window(
    stream: Option<u32>,
    bytes: u64,
    granted_by: End,
    (times, waited_s): (u64, Nanos),
) -> String {
    let window = stream.map_or("连接".to_owned(), |stream| format!("流 {stream} "));
    let end = if granted_by == End::Client { "客户端" } else { "服务器" };
    format!("{end}授予{window}的窗口（{} B）用尽 {} 次，共 {}", thousands(bytes), thousands(times), time(waited_s))
}

pub(super) fn protocol_turns(bytes: u64, times: u64, cost_s: Nanos, whole_s: Nanos) -> String {
    format!(
        "发送端每发 {} B 就停下等接收端应用的消息，共 {} 次：{} 中的 {}",
        thousands(bytes),
        thousands(times),
        time(whole_s),
        time(cost_s),
    )
}

pub(super) fn small_segments_of_window(mean: u64, mss: u64, window: u64) -> String {
    format!(
        "报文段平均只有 {mean} B，而可以装 {} B，因为接收窗口最多 {} B；时间计入接收窗口",
        thousands(mss),
        thousands(window),
    )
}

pub(super) fn small_segments_of_writes(mean: u64, mss: u64, cost_s: Nanos, whole_s: Nanos) -> String {
    format!(
        "报文段平均只有 {mean} B，而可以装 {} B：装满的话 {} 中可省约 {}",
        thousands(mss),
        time(whole_s),
        time(cost_s),
    )
}

pub(super) fn nagle_waits(segments: u64, typical_s: Nanos, delayed_ack: bool) -> String {
    format!(
        "{} 个小报文段各等了约 {}，在等{}：应用写小块数据后再读",
        thousands(segments),
        time(typical_s),
        if delayed_ack { "延迟确认" } else { "前一个报文段的 ACK" },
    )
}

pub(super) fn delayed_acks(acks: u64, typical_s: Nanos) -> String {
    format!("接收端有 {} 个 ACK 各延迟约 {}，其间发送端没有别的数据可发", thousands(acks), time(typical_s))
}

pub(super) fn paced(rate_bps: f64, held_s: Nanos, whole_s: Nanos, flight: u64) -> String {
    format!(
        "{} 中有 {} 发送端自行限速在 {}：在途数据最多 {} B，没有排队，也没有等待 ACK",
        time(whole_s),
        time(held_s),
        rate(rate_bps),
        thousands(flight),
    )
}

pub(super) fn amplification(request: u64, flight: u64, filled_window: bool, segments: u64) -> String {
    format!(
        "服务器对 {} B 的请求在第一个 ACK 之前就发出 {} B{}：是请求的 {} 倍，{} 个报文段，而通常是 10 个",
        thousands(request),
        thousands(flight),
        if filled_window { "，占满了接收窗口" } else { "" },
        number(flight as f64 / request.max(1) as f64),
        thousands(segments),
    )
}

pub(super) fn restart_after_idle(idle_s: Nanos, flight: u64, largest: u64, cost_s: Nanos) -> String {
    format!(
        "静默 {} 之后发送端的在途数据从 {} B 降到 {} B 重新开始：重新慢启动花了 {}",
        time(idle_s),
        thousands(largest),
        thousands(flight),
        time(cost_s),
    )
}
