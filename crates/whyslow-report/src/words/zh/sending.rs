//! Windows, segments and ACKs.

use super::common::spread;
use crate::words::quantity::{rate, thousands, time, window_rate};
use whyslow_core::analysis::{
    Amount, BufferNeed, End, FirstWindow, RateSource, SendingAction, SendingQuestion, SendingStatement, SizedBy,
    SmallSegmentReason, UsualCap,
};

pub(super) fn statement(statement: &SendingStatement) -> String {
    match statement {
        SendingStatement::SlowStart { spent_s, whole_s, first_flight } => {
            let from = first_flight.map_or(String::new(), |bytes| format!("，起初每个往返只发 {} B", thousands(bytes)));
            format!("{} 中有 {} 处于慢启动，拥塞窗口仍在增长{from}", time(*whole_s), time(*spent_s))
        }
        SendingStatement::EarlyExit { segments, bytes, cost_s } => format!(
            "没有丢包，发送端却在 {} 个报文段（{} B）时停止翻倍拥塞窗口，之后缓慢增长多花了 {}",
            thousands(*segments),
            thousands(*bytes),
            time(*cost_s),
        ),
        SendingStatement::RememberedThreshold { connections, sender, peer, segments, cost } => format!(
            "{sender} 到 {peer} 的 {} 条连接都在 {} 个报文段时停止翻倍窗口：发送端为该对端缓存了 ssthresh，{}",
            thousands(*connections),
            thousands(*segments),
            spread(*cost),
        ),
        SendingStatement::NoWindowScaling { missing, window, rtt_s } => {
            let missing: Vec<&str> = missing.iter().map(|end| syn(*end)).collect();
            format!(
                "{}中没有窗口扩大选项，在途数据不能超过 {} B：{} B / {} = {}",
                missing.join("和"),
                thousands(*window),
                thousands(*window),
                time(*rtt_s),
                rate(window_rate(*window, *rtt_s)),
            )
        }
        SendingStatement::ReceiveWindowFull { window, full_s, whole_s, rtt_s } => format!(
            "{} 中有 {} 接收窗口（{} B）已占满：{} B / {} = {}",
            time(*whole_s),
            time(*full_s),
            thousands(*window),
            thousands(*window),
            time(*rtt_s),
            rate(window_rate(*window, *rtt_s)),
        ),
        SendingStatement::WindowClosed { closed_s, whole_s } => {
            format!("{} 中有 {} 接收窗口为 0：接收端应用没有读取数据", time(*whole_s), time(*closed_s))
        }
        SendingStatement::SenderCap { bytes, alternating, window, time_s } => {
            let flight = if *alternating {
                format!("两个往返内从未超过 {} B（一大批与一小批交替）", thousands(*bytes))
            } else {
                format!("在途数据从未超过 {} B", thousands(*bytes))
            };
            let allowed = match window {
                Some(window) => format!("而接收端允许 {} B", thousands(*window)),
                None => "抓包看不出接收端是否允许更多".to_owned(),
            };
            format!(
                "发送端{flight}，{allowed}：{} B / {} = {}",
                thousands(*bytes),
                time(*time_s),
                rate(window_rate(*bytes, *time_s))
            )
        }
        SendingStatement::ProtocolWindow { bytes, rtt_s } => format!(
            "发送端在途数据到 {} B 就停下，直到接收端应用发来消息：{} B / {} = {}",
            thousands(*bytes),
            thousands(*bytes),
            time(*rtt_s),
            rate(window_rate(*bytes, *rtt_s)),
        ),
        SendingStatement::ProtocolTurns { bytes, times, cost_s, whole_s } => format!(
            "发送端每发 {} B 就停下等接收端应用的消息，共 {} 次：{} 中的 {}",
            thousands(*bytes),
            thousands(*times),
            time(*whole_s),
            time(*cost_s),
        ),
        SendingStatement::SmallSegments { mean, mss, reason: SmallSegmentReason::Window { window } } => format!(
            "报文段平均只有 {mean} B，而可以装 {} B，因为接收窗口最多 {} B；时间计入接收窗口",
            thousands(*mss),
            thousands(*window),
        ),
        SendingStatement::SmallSegments { mean, mss, reason: SmallSegmentReason::Writes { cost_s, whole_s } } => {
            format!(
                "报文段平均只有 {mean} B，而可以装 {} B：装满的话 {} 中可省约 {}",
                thousands(*mss),
                time(*whole_s),
                time(*cost_s),
            )
        }
        SendingStatement::NagleWaits { segments, typical_s, delayed_ack } => format!(
            "{} 个小报文段各等了约 {}，在等{}：应用写小块数据后再读",
            thousands(*segments),
            time(*typical_s),
            if *delayed_ack { "延迟确认" } else { "前一个报文段的 ACK" },
        ),
        SendingStatement::DelayedAcks { acks, typical_s } => {
            format!("接收端有 {} 个 ACK 各延迟约 {}，其间发送端没有别的数据可发", thousands(*acks), time(*typical_s))
        }
        SendingStatement::Paced { rate_bps, held_s, whole_s, flight } => format!(
            "{} 中有 {} 发送端自行限速在 {}：在途数据最多 {} B，没有排队，也没有等待 ACK",
            time(*whole_s),
            time(*held_s),
            rate(*rate_bps),
            thousands(*flight),
        ),
        SendingStatement::Amplification { request, flight, filled_window, segments } => format!(
            "服务器对 {} B 的请求在第一个 ACK 之前就发出 {} B{}：是请求的 {:.0} 倍，{} 个报文段，而通常是 10 个",
            thousands(*request),
            thousands(*flight),
            if *filled_window { "，占满了接收窗口" } else { "" },
            *flight as f64 / (*request).max(1) as f64,
            thousands(*segments),
        ),
        SendingStatement::RestartAfterIdle { idle_s, flight, largest, cost_s } => format!(
            "静默 {} 之后发送端的在途数据从 {} B 降到 {} B 重新开始：重新慢启动花了 {}",
            time(*idle_s),
            thousands(*largest),
            thousands(*flight),
            time(*cost_s),
        ),
    }
}

pub(super) fn question(question: &SendingQuestion) -> String {
    match question {
        SendingQuestion::FlightsEndShort => {
            "多数批次以不满的报文段结尾，可能是应用没有更多数据可发：在发送端用 `ss -ti` 看是否有 app_limited"
                .to_owned()
        }
        SendingQuestion::RememberedThreshold { peer: Some(peer), segments } => {
            format!("在发送端执行 `ip tcp_metrics show {peer}`，会看到 ssthresh 约为 {segments}")
        }
        SendingQuestion::RememberedThreshold { peer: None, segments } => format!(
            "在发送端执行 `ip tcp_metrics show`，该对端的 ssthresh 约为 {segments}；或 `nstat` 中有 TCPHystart* 计数"
        ),
        SendingQuestion::WindowFullInQueue { least_s, typical_s } => format!(
            "当时往返时延已从 {} 升到 {}：在途数据在排队，链路可能也满了，加大窗口未必有用",
            time(*least_s),
            time(*typical_s)
        ),
        SendingQuestion::WindowUnitUnknown => {
            "请连同握手一起抓包：没有握手就不知道窗口的单位，发送缓冲区已满看起来也一样".to_owned()
        }
        SendingQuestion::SlowReaderOrBusyHost => "应用读取慢和主机繁忙在这里看起来一样：查看接收端的 CPU".to_owned(),
        SendingQuestion::WhichCap { rounds, window_known } => format!(
            "{}发送缓冲区已满、代理的缓冲区和应用协议的窗口在 {} 轮之后看起来一样：传输时在发送端执行 `ss -tmi`",
            if *window_known { "" } else { "接收窗口已满、" },
            thousands(*rounds)
        ),
        SendingQuestion::WindowOrAnswers { after } => format!(
            "应用对每 {} 都回一条消息也是这样：查看哪个应用在维护窗口",
            match after {
                Amount::Segments(segments) => format!("{} 个报文段", thousands(*segments)),
                Amount::Bytes(bytes) => format!("{} B", thousands(*bytes)),
            }
        ),
        SendingQuestion::WindowInSegments => "Linux 按报文段计算拥塞窗口；按字节计算的发送端不受小报文段影响：用 `strace -e write,sendmsg` 看每次写入的大小".to_owned(),
        SendingQuestion::TinyInitialWindow => {
            "初始窗口只有一两个报文段时，写入的剩余部分也会这样等待：在发送端用 `ss -ti` 查看 cwnd".to_owned()
        }
        SendingQuestion::SenderOrNetworkRate => "在发送端用 `ss -ti` 查看 pacing_rate、delivery_rate 和 app_limited；若同时再开一个传输能增加总速率，说明网络还有余量".to_owned(),
        SendingQuestion::ServerInitialWindow => {
            "在服务器上用 `ip route show` 和 `ss -ti` 查看初始窗口；若对每个客户端第一批数据都这么大，就可以确认".to_owned()
        }
    }
}

pub(super) fn action(action: &SendingAction) -> String {
    match action {
        SendingAction::ReuseConnection { cap } => format!("保持连接并复用{}", limited(cap)),
        SendingAction::RaiseInitialWindow { from, to, cap, .. } => {
            let from = from.map_or(String::new(), |from| format!("从 {from} "));
            format!("把初始拥塞窗口{from}提高到 {to} 个报文段；在慢速链路上可能引起丢包{}", limited(cap))
        }
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
        SendingAction::RaiseReceiveBuffer { need } => format!(
            "加大接收缓冲区，从连接一开始就生效；如果应用设置了 SO_RCVBUF（`iperf3 -w`、nginx `rcvbuf=`），请去掉：它会使 sysctl 失效。{}",
            buffer(need)
        ),
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
        SendingAction::RaiseSendBuffer { bytes, usual, need } => format!(
            "找出是什么让发送端停在 {} B（{}），多半是套接字的发送缓冲区：如果应用或代理设置了 SO_SNDBUF（nginx `sndbuf=`），请去掉，让内核自动调整。{}",
            thousands(*bytes),
            usual_cap(*usual),
            buffer(need)
        ),
        SendingAction::RaiseProtocolWindow { at, need } => format!(
            "{}加大应用协议的窗口（HTTP/2 的流窗口和连接窗口、SSH 通道窗口、并发读请求数）{}",
            at.map_or(String::new(), |end| format!("在{}上，", name(end))),
            need.map_or(String::new(), |need| format!("。{}", buffer(&need)))
        ),
        SendingAction::OfferLargerWindows { bytes } => format!(
            "通告能容纳多个报文段的窗口：去掉接收端应用的 SO_RCVBUF，或至少设为 {} B（16 个报文段）",
            thousands(*bytes)
        ),
        SendingAction::WriteLargerPieces { bytes } => format!(
            "每次写入 {} B 以上（writev、带缓冲的写入、TCP_CORK、MSG_MORE），小块写入时不要打开 TCP_NODELAY",
            thousands(*bytes)
        ),
        SendingAction::NoDelay { at } => format!(
            "在{}的套接字上设置 TCP_NODELAY，或把头部和正文一次写出",
            match at.as_slice() {
                [one] => name(*one),
                _ => "两端",
            }
        ),
        SendingAction::QuickAck { .. } => "立即确认，或让发送端有更多在途数据，使每批数据不以单个报文段结尾".to_owned(),
        SendingAction::RaiseRateLimit { rate_bps } => format!(
            "找出把发送端限制在 {} B/s（{}）的设置并调高：服务器或代理的 limit_rate、bwlim，客户端的 --limit-rate，SO_MAX_PACING_RATE，排队规则（qdisc）",
            thousands((*rate_bps / 8.0) as u64),
            rate(*rate_bps),
        ),
        SendingAction::CapInitialWindow { segments, bytes, .. } => format!(
            "限制初始拥塞窗口：{segments} 个报文段在这里是 {} B；找出是什么没有遵守（路由的 initcwnd、前面的代理或负载均衡）",
            thousands(*bytes)
        ),
        SendingAction::KeepWindowWhenIdle => "让空闲连接保留拥塞窗口".to_owned(),
    }
}

fn syn(end: End) -> &'static str {
    match end {
        End::Client => "客户端的 SYN",
        End::Server => "服务器的 SYN-ACK",
    }
}

fn limited(cap: &Option<FirstWindow>) -> String {
    cap.map_or(String::new(), |FirstWindow { window, segments, needed }| {
        format!(
            "；但接收端最初的窗口只有 {} B，{} 个报文段中一次最多发出 {} 个",
            thousands(window),
            thousands(needed),
            thousands(segments),
        )
    })
}

fn name(end: End) -> &'static str {
    match end {
        End::Client => "客户端",
        End::Server => "服务器",
    }
}

/// The size of a buffer, and where it comes from.
fn buffer(need: &BufferNeed) -> String {
    let size = format!("{} B", thousands(need.bytes));
    let rate = rate(need.rate_bps);
    let from = match need.rate {
        RateSource::Given => format!("链路速率 {rate}（--path-rate）"),
        RateSource::Bursts => format!("网络曾以 {rate} 送达突发数据"),
        RateSource::Guess => format!("抓包看不出链路速率（可用 --path-rate 给出）；{rate} 是实测速率的 8 倍"),
    };
    match need.sized_by {
        SizedBy::BandwidthDelay => {
            format!("至少 {size}：{from}，往返时延 {} 时需要带宽时延积的两倍", time(need.rtt_s))
        }
        SizedBy::Transfer => format!("至少 {size}：这样整个传输可以一次发出（{from}）"),
        SizedBy::Most => format!("往返时延 {} 时可先用 {size}：{from}", time(need.rtt_s)),
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
