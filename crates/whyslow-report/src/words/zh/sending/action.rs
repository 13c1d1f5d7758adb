//! Remedies for windows, segments and ACKs.

use crate::words::quantity::{rate, thousands, time};
use crate::words::zh::ends::{name, syn};
use whyslow_analysis::{BufferNeed, End, FirstWindow, RateSource, SendingAction, SizedBy, UsualCap};

pub(in crate::words::zh) fn action(action: &SendingAction) -> String {
    match action {
        SendingAction::ReuseConnection { cap } => format!("保持连接并复用{}", limited(*cap)),
        SendingAction::RaiseInitialWindow { from, to, cap, .. } => initial_window(*from, *to, *cap),
        SendingAction::EnableWindowScaling { on } => {
            format!("在发出{}的主机上启用窗口扩大选项，或找出路径上删除该选项的负载均衡或防火墙", syn(*on))
        }
        SendingAction::DisableHystart => {
            "往返时延升高，HyStart 误以为出现了排队：改用 BBR，或关闭 CUBIC 的 HyStart".to_owned()
        }
        SendingAction::ForgetThreshold { sender: Some(sender), peer: Some(peer), segments: Some(segments) } => {
            format!("在 {sender} 上删除为 {peer} 缓存的 ssthresh（{segments} 个报文段），并且不再缓存")
        }
        SendingAction::ForgetThreshold { .. } => "删除发送端为该对端缓存的 ssthresh，并且不再缓存".to_owned(),
        SendingAction::RaiseReceiveBuffer { need } => receive_buffer(need),
        SendingAction::ReadUnread { before, window } => format!(
            "让接收端应用读得更快：数据积压未读，窗口从 {} B 降到 {} B；加大缓冲区只会晚一点占满",
            thousands(*before),
            thousands(*window)
        ),
        SendingAction::ReadForAcks { late_s } => format!(
            "让接收端应用读得更快：窗口占满时它的 ACK 迟到 {}（中位数），因为数据积压未读；加大缓冲区只会晚一点占满",
            time(*late_s)
        ),
        SendingAction::ReadFaster { closings } => {
            format!("让接收端应用读得更快：窗口关闭了 {} 次；不是网络的问题", thousands(*closings))
        }
        SendingAction::RaiseSendBuffer { bytes, usual, need } => send_buffer(*bytes, *usual, need),
        SendingAction::RaiseProtocolWindow { at, need } => protocol_window(*at, *need),
        SendingAction::OfferLargerWindows { bytes } => format!(
            "通告能容纳多个报文段的窗口：去掉接收端应用的 SO_RCVBUF，或至少设为 {} B（16 个报文段）",
            thousands(*bytes)
        ),
        SendingAction::WriteLargerPieces { bytes } => format!(
            "每次写入 {} B 以上（writev、带缓冲的写入、TCP_CORK、MSG_MORE），小块写入时不要打开 TCP_NODELAY",
            thousands(*bytes)
        ),
        SendingAction::NoDelay { at } => no_delay(at),
        SendingAction::QuickAck { .. } => "立即确认，或让发送端有更多在途数据，使每批数据不以单个报文段结尾".to_owned(),
        SendingAction::RaiseRateLimit { rate_bps } => rate_limit(*rate_bps),
        SendingAction::CapInitialWindow { segments, bytes, .. } => format!(
            "限制初始拥塞窗口：{segments} 个报文段在这里是 {} B；找出是什么没有遵守（路由的 initcwnd、前面的代理或负载均衡）",
            thousands(*bytes)
        ),
        SendingAction::KeepWindowWhenIdle => "让空闲连接保留拥塞窗口".to_owned(),
    }
}

fn initial_window(from: Option<u64>, to: u64, cap: Option<FirstWindow>) -> String {
    let from = from.map_or(String::new(), |from| format!("从 {from} "));
    format!("把初始拥塞窗口{from}提高到 {to} 个报文段；在慢速链路上可能引起丢包{}", limited(cap))
}

fn receive_buffer(need: &BufferNeed) -> String {
    format!(
        "加大接收缓冲区，从连接一开始就生效；如果应用设置了 SO_RCVBUF（`iperf3 -w`、nginx `rcvbuf=`），请去掉：它会使 sysctl 失效。{}",
        buffer(need)
    )
}

fn send_buffer(bytes: u64, usual: Option<UsualCap>, need: &BufferNeed) -> String {
    format!(
        "找出是什么让发送端停在 {} B（{}），多半是套接字的发送缓冲区：如果应用或代理设置了 SO_SNDBUF（nginx `sndbuf=`），请去掉，让内核自动调整。{}",
        thousands(bytes),
        usual_cap(usual),
        buffer(need)
    )
}

fn protocol_window(at: Option<End>, need: Option<BufferNeed>) -> String {
    format!(
        "{}加大应用协议的窗口（HTTP/2 的流窗口和连接窗口、SSH 通道窗口、并发读请求数）{}",
        at.map_or(String::new(), |end| format!("在{}上，", name(end))),
        need.map_or(String::new(), |need| format!("。{}", buffer(&need)))
    )
}

fn no_delay(at: &[End]) -> String {
    format!(
        "在{}的套接字上设置 TCP_NODELAY，或把头部和正文一次写出",
        match at {
            [one] => name(*one),
            _ => "两端",
        }
    )
}

fn rate_limit(rate_bps: f64) -> String {
    format!(
        "找出把发送端限制在 {} B/s（{}）的设置并调高：服务器或代理的 limit_rate、bwlim，客户端的 --limit-rate，SO_MAX_PACING_RATE，排队规则（qdisc）",
        thousands((rate_bps / 8.0) as u64),
        rate(rate_bps),
    )
}

fn limited(cap: Option<FirstWindow>) -> String {
    cap.map_or(String::new(), |FirstWindow { window, segments, needed }| {
        format!(
            "；但接收端最初的窗口只有 {} B，{} 个报文段中一次最多发出 {} 个",
            thousands(window),
            thousands(needed),
            thousands(segments),
        )
    })
}

/// The size of a buffer, and where it comes from.
fn buffer(need: &BufferNeed) -> String {
    let size = format!("{} B", thousands(need.bytes));
    let rate = rate(need.rate_bps);
    let from = match need.rate {
        RateSource::Given => format!("链路速率 {rate}"),
        RateSource::Bursts => format!("抓包中突发数据的速率 {rate}"),
        RateSource::Guess => format!("实测速率的 8 倍 {rate}：抓包看不出链路速率，请用 --path-rate 给出"),
    };
    match need.sized_by {
        SizedBy::BandwidthDelay => {
            format!("至少用 {size}，即往返时延 {} 时所需的两倍，按{from}", time(need.rtt_s))
        }
        SizedBy::Transfer => format!("至少用 {size}，这样整个传输可以一次发出，按{from}"),
        SizedBy::Most => format!("先用 {size}，适合往返时延 {}，按{from}", time(need.rtt_s)),
    }
}

fn usual_cap(usual: Option<UsualCap>) -> &'static str {
    match usual {
        None => "SO_SNDBUF 或 tcp_wmem、代理的缓冲区、被限制的拥塞窗口",
        Some(UsualCap::SmallSendBuffer) => "16 KiB：默认的 SO_SNDBUF，或一次一个 TLS 记录",
        Some(UsualCap::ProxyBuffer) => "32 KiB：代理或负载均衡的发送缓冲区",
        Some(UsualCap::UnscaledWindow) => "64 KiB − 1：中间设备或协议栈没有使用窗口扩大选项",
        Some(UsualCap::CopyBuffer) => "2 的幂：套接字或复制缓冲区",
        Some(UsualCap::ProtocolWindow) => "2 MiB：SSH 或 HTTP/2 的窗口",
        Some(UsualCap::TcpWmem) => "4 MiB：Linux tcp_wmem 的默认上限",
    }
}
