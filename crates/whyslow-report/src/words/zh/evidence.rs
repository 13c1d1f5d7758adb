//! 没有报文时的结论。

mod device;
mod phase;
mod process;

use crate::words::quantity::{number, percent as share, rate, seconds, thousands};
use whyslow_evidence::{Advice, Limitation, Statement as S};

fn bytes(value: f64) -> String {
    format!("{} B", number(value))
}

#[expect(clippy::too_many_lines, reason = "one sentence a variant")]
pub(in crate::words) fn statement(statement: &S) -> String {
    match statement {
        S::PeerWindow { limited_s, busy_s, window } => format!(
            "有数据待发的 {} 中，对端接收窗口有 {} 是满的{}",
            seconds(*busy_s),
            seconds(*limited_s),
            window.map_or(String::new(), |window| format!("（窗口：{}）", bytes(window)))
        ),
        S::PeerShut { waiting } => format!("对端应用没有读取：{} 在等待其已关闭的窗口", bytes(*waiting)),
        S::Unread { bytes: unread } => format!("本端应用没有读取：已到达的 {} 尚未被读取", bytes(*unread)),
        S::OwnWindow { window, rate_bps } => {
            format!("本端 {} 的接收窗口使速率不超过 {}", bytes(*window), rate(*rate_bps))
        }
        S::SendBuffer { limited_s, busy_s } => {
            format!("有数据待发的 {} 中，本端发送缓冲区有 {} 是满的", seconds(*busy_s), seconds(*limited_s))
        }
        S::Application { idle_s: Some(idle), over_s: Some(over) } => {
            format!("{} 中有 {} 发送应用没有数据可发；窗口和丢包都没有限制它", seconds(*over), seconds(*idle))
        }
        S::Application { .. } => "此刻发送应用写入的数据少于连接所能发送的（app_limited）".to_owned(),
        S::Lost { segments, of: Some(all) } => format!(
            "{} 个报文段中有 {} 个因丢失而重传，占 {}",
            number(*all),
            number(*segments),
            share(segments / all.max(*segments))
        ),
        S::Lost { segments, of: None } => format!("{} 个报文段因丢失而重传", number(*segments)),
        S::Spurious { segments, of } => format!(
            "{} 次重传中有 {} 次是虚假的：数据其实已经到达，只是迟到或乱序",
            number(of.max(*segments)),
            number(*segments)
        ),
        S::LostAgain { segments, of } => {
            format!("{} 次重传中有 {} 次再次丢失：丢包成串出现", number(*of), number(*segments))
        }
        S::TimingOut { row } => format!("连接收不到 ACK：重传定时器已连续超时 {} 次", number(*row)),
        S::Timeouts { count, of } => {
            format!("{} 个报文段中发生 {} 次重传超时，每次至少静默 200 ms", number(*of), number(*count))
        }
        S::SynUnanswered { retries, connections } => {
            format!("SYN 没有应答：{} 个连接重发了 {} 次", number(*connections), number(*retries))
        }
        S::Queue { rtt_s, least_s } => {
            format!("路径上有排队：往返时间为 {}，而不是 {}", seconds(*rtt_s), seconds(*least_s))
        }
        S::SlowStart { window } => format!("拥塞窗口已满且仍在增长（慢启动）：目前为 {} 个报文段", number(*window)),
        S::CongestionWindow { window, threshold } => format!(
            "{} 个报文段的拥塞窗口已满；没有丢包，慢启动却在 {} 个报文段时结束",
            number(*window),
            number(*threshold)
        ),
        S::Bbr { rate_bps } => format!("BBR 按它在路径上测得的速率 {} 发送", rate(*rate_bps)),
        S::Paced { rate_bps } => {
            format!("某项设置或应用把发送端限制在 {}（SO_MAX_PACING_RATE）", rate(*rate_bps))
        }
        S::NoScaling { rtt_s } => {
            format!("没有启用窗口缩放，在 {} 的往返中在途数据最多 65,535 B", seconds(*rtt_s))
        }
        S::AcceptQueueFull { waiting, most } => {
            format!("该监听套接字的 accept 队列已满：{} 个连接在等待，上限为 {}", number(*waiting), number(*most))
        }
        S::AcceptQueueOverflows { count, of } => format!(
            "监听套接字的 accept 队列溢出 {} 次{}；每次使客户端至少等待 1 s",
            number(*count),
            of.map_or(String::new(), |of| format!("（共接受 {} 个连接）", number(of)))
        ),
        S::CloseWait { connections } => {
            format!("对端已关闭 {} 个连接，而本端应用尚未关闭它们", number(*connections))
        }
        S::ReceiveDrops { segments, of } => format!(
            "{}已到达的 {} 个报文段因接收缓冲区没有空间而被丢弃",
            of.map_or(String::new(), |of| format!("{} 个报文段中，", number(of))),
            number(*segments)
        ),
        S::Damaged { segments, of } => format!("{} 个报文段中有 {} 个到达时已损坏", number(*of), number(*segments)),
        S::UdpDrops { datagrams, of } => {
            format!("{} 个 UDP 数据报中有 {} 个因应用的缓冲区已满而被丢弃", number(*of), number(*datagrams))
        }
        S::Stalled { seconds: silent, of_s } => {
            format!("{} 中有 {} 没有传输任何数据", seconds(*of_s), seconds(*silent))
        }
        S::WindowPerRoundTrip { window, rtt_s, rate_bps } => {
            format!("每个 {} 的往返只传一个 {} 的窗口：{}", seconds(*rtt_s), bytes(*window), rate(*rate_bps))
        }
        S::LinkFull { nominal_bps: Some(nominal), rate_bps } => {
            format!("{} 的链路已满：{}", rate(*nominal), rate(*rate_bps))
        }
        S::LinkFull { nominal_bps: None, rate_bps } => {
            format!("链路已满，约为 {}：在途数据停留在队列中", rate(*rate_bps))
        }
        S::OneConnectionHeld { one_bps, all_bps, connections } => format!(
            "一个连接得到 {}，{} 个连接合计得到 {}：链路能承载更多，每个连接受窗口或丢包限制",
            rate(*one_bps),
            number(*connections),
            rate(*all_bps)
        ),
        S::UdpLost { datagrams, of, received_bps } => format!(
            "{} 个数据报中丢失 {} 个（{}）{}",
            number(*of),
            number(*datagrams),
            share(datagrams / of),
            received_bps.map_or(String::new(), |bps| format!("；到达 {}", rate(bps)))
        ),
        S::Processor { percent, at_peer } => {
            format!("{}的处理器繁忙：{percent:.0} %", if *at_peer { "对端" } else { "本端" })
        }
        S::Phase { phase, took_s, whole_s } => {
            format!("{} 中，{}用了 {}", seconds(*whole_s), phase::name(*phase), seconds(*took_s))
        }
        S::SynRetried { took_s } => {
            format!("建立连接用了 {}，与第一个 SYN 或其应答丢失后重发的时间相符", seconds(*took_s))
        }
        S::RoundTrips { count, rtt_s, whole_s } => format!(
            "距离：总共 {} 中，第一个字节之前约有 {} 个 {} 的往返",
            seconds(*whole_s),
            number(*count),
            seconds(*rtt_s)
        ),
        S::Transactions { per_s, each_s } => {
            format!("每秒 {} 次事务：每次 {}，即往返时间加两端应用的时间", number(*per_s), seconds(*each_s))
        }
        S::DelayedTransactions { each_s } => format!("每次事务耗时 {}，与延迟确认的时间相同", seconds(*each_s)),
        S::Device(statement) => device::statement(statement),
        S::Calls(statement) => process::calls(statement),
        S::Page(statement) => process::page(statement),
        S::Host(statement) => super::host::statement(statement),
        S::ProbesLost { share: lost, of, from } => format!(
            "{} 个探测中有 {} 没有应答{}",
            number(*of),
            share(*lost),
            from.as_ref().map_or(String::new(), |hop| format!("，从 {hop} 一直到终点"))
        ),
        S::NoReply { probes } => format!("{} 个探测都没有应答", number(*probes)),
        S::Varies { least_s, mean_s, most_s } => format!(
            "往返时间平均 {}，最长 {}，最短 {}：排队或无线链路使报文延迟",
            seconds(*mean_s),
            seconds(*most_s),
            seconds(*least_s)
        ),
        S::Jump { hop, by_s, rtt_s } => format!(
            "{} 的往返时间中有 {} 从 {hop} 开始并一直保持到终点：由于距离，或其前面的队列",
            seconds(*rtt_s),
            seconds(*by_s)
        ),
    }
}

pub(in crate::words) fn advice(advice: &Advice) -> String {
    match advice {
        Advice::EnlargePeerWindow => {
            "让对端的接收缓冲区增大（tcp_rmem），去掉其应用的 SO_RCVBUF（iperf3 -w），或让该应用更快读取".to_owned()
        }
        Advice::EnlargeOwnWindow => "让本端的接收缓冲区增大（tcp_rmem），并去掉应用的 SO_RCVBUF".to_owned(),
        Advice::PeerReads => "让对端的应用读取数据：本端无法打开它的窗口".to_owned(),
        Advice::ReadHere => "让应用及时读取到达的数据；更大的缓冲区只会晚一点填满".to_owned(),
        Advice::EnlargeSendBuffer => "去掉发送应用的 SO_SNDBUF（iperf3 -w、nginx sndbuf=），或增大 tcp_wmem".to_owned(),
        Advice::WindowScaling => "在两端启用窗口缩放，或找出去掉该选项的负载均衡器或防火墙".to_owned(),
        Advice::AcceptFaster => "更快地 accept 连接，或增大 listen() 的 backlog 和 net.core.somaxconn".to_owned(),
        Advice::CloseSockets => "对端关闭后关闭连接".to_owned(),
        Advice::EnlargeUdpBuffer => "更快读取，或增大 UDP 应用的 SO_RCVBUF 和 net.core.rmem_max".to_owned(),
        Advice::CheckReach => "检查对端是否在运行，以及两个方向上是否有防火墙或路由丢弃报文".to_owned(),
        Advice::FindDamage => "找出损坏报文的位置：查看路径上各设备的错误计数".to_owned(),
        Advice::SendSlower { received_bps } => format!("发送速率不要超过约 {}，或使用更快的链路", rate(*received_bps)),
        Advice::CheckResolver => "逐个检查 /etc/resolv.conf 中的解析器（dig），并缓存名称".to_owned(),
        Advice::CheckTls => "检查 TLS 服务器：处理器、证书链、会话恢复".to_owned(),
        Advice::AvoidRedirects => "直接请求最终的 URL".to_owned(),
        Advice::EnlargeRing => {
            "把接收环设为网卡允许的最大值（ethtool -G），并把其中断分配到多个处理器（ethtool -L）".to_owned()
        }
        Advice::EnlargeSendRing => "增大发送环（ethtool -G tx），并使用更多发送队列（ethtool -L）".to_owned(),
        Advice::CheckCable => "更换网线或光模块，并检查两端的速率和双工是否一致".to_owned(),
        Advice::FindPause => {
            "找出发送暂停帧的设备（通常是交换机端口或其后较慢的主机），或关闭流控（ethtool -A）".to_owned()
        }
        Advice::LargerInstance => "使用更大的实例，或把流量分散到多个实例".to_owned(),
        Advice::FewerConnections => "复用连接，避免连接跟踪（放行全部的安全组），或使用更大的实例".to_owned(),
        Advice::LookAtPeer => "在对端查明其响应慢的原因：看日志或在那里抓包".to_owned(),
        Advice::OwnWork => "让这些工作与传输并行：预读、延后写入，或使用其他线程".to_owned(),
        Advice::MoreStreams => {
            "使用 HTTP/2 或 HTTP/3，或减少对同一主机的请求：浏览器对 HTTP/1.1 每个主机只开六条连接".to_owned()
        }
        Advice::Preconnect => "减少要连接的主机，保持连接，或提前连接（rel=preconnect）".to_owned(),
        Advice::SmallerResponses => "减少数据量（压缩、较小的图片），或从更近的地方发送".to_owned(),
        Advice::NoDelay => "设置 TCP_NODELAY（netperf -- -D），或一次写出整条消息".to_owned(),
        Advice::LookAtHop { hop } => format!("向 {hop} 或其前一跳的运营者询问两者之间的链路"),
    }
}

pub(in crate::words) fn gap(gap: Limitation) -> &'static str {
    match gap {
        Limitation::SinceConnection => "计数从连接开始算起：几秒后再看一次，才能知道现在受什么限制",
        Limitation::SinceBoot => "计数从开机或上次 nstat 算起：在变慢时间隔几秒运行两次",
        Limitation::NoTimes => "各次输出没有时间，因此只有次数而没有速率：每次同时打印 `date`",
        Limitation::ReceiverSide => "本端是接收端，其内核不知道发送端受什么限制：请在发送端运行 ss -tin",
        Limitation::Idle => "此刻没有数据在发送：请在传输进行时查看",
        Limitation::WhereLost => "看不出在哪里丢包：在两端抓包或用 mtr --tcp 可以看出",
        Limitation::WindowOrReader => "是缓冲区小还是应用慢：对端 ss -tm 的 Recv-Q 可以看出",
        Limitation::WhichLimit => "传输期间在发送端运行 ss -tin 可以看出受什么限制",
        Limitation::NoDenominator => {
            "缺少已发送报文段的计数（OutSegs），因此没有比例：请给出完整的 nstat -az 或 netstat -s"
        }
        Limitation::NoRoundTrip => "往返时间未知：请同时给出到同一主机的 ping，或使用 iperf3 --json",
        Limitation::DownloadUnknown => "这些数字看不出接收为何耗时：抓包或服务器上的 ss -tin 可以看出",
        Limitation::ServerOrBackend => "是服务器本身、代理还是后端耗时",
        Limitation::ProbesOnly => "探测报文可能与 TCP 受到不同对待，也看不出窗口的情况",
        Limitation::FewProbes => "探测少于 100 个：看不出少量丢包",
        Limitation::HopsLimitReplies => "中间跳有丢失而最后一跳没有，是路由器限制其应答，并非故障",
        Limitation::UdpRate => "不带 -b 时 iperf3 -u 只发 1 Mbit/s：这不是链路的速率",
        Limitation::OneEnd => "这是一端的视角：另一端的应用在等待什么，只有在那里才能看到",
        Limitation::WhichConnection => "计数属于整台主机：ss -tin 可以看出是哪条连接",
        Limitation::TestOnly => "这是测试的速率：其他应用可能有自己的限制",
        Limitation::OneRequest => "这里只涉及这些请求：其他请求、其他时间可能更慢",
        Limitation::WhichTraffic => "计数属于整个网卡：ss -tin 可以看出哪条连接丢包",
        Limitation::SinceUp => "计数从网卡启用算起：几秒后连同 date 再看一次，才能知道现在的情况",
        Limitation::PeerOrNetwork => "是对端还是网络耗时：抓包或 ss -tin 可以看出",
        Limitation::NoCallTimes => "跟踪中没有每次调用的时间：请用 strace -T",
        Limitation::CallsOnly => "这是进程向内核的请求：看不出丢包和窗口",
        Limitation::BrowserOnly => "这是浏览器的记录：看不出丢包、窗口以及服务器的原因",
        Limitation::Cut => "文本中途结束：之后的内容未知",
        Limitation::ServerKernel => "这是服务器内核的统计：客户端网络的情况只能推测",
    }
}

pub(in crate::words) fn healthy() -> &'static str {
    "就此输出来看，没有变慢之处。"
}

pub(in crate::words) fn unknown() -> &'static str {
    "此输出看不出哪里慢。"
}

pub(in crate::words) fn more(count: usize) -> String {
    format!("另有 {} 项没有发现问题", thousands(count as u64))
}
