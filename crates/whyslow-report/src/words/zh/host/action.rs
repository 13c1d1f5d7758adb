//! 在一台机器上或在其对端该做什么。

use super::bytes;
use crate::words::quantity::{rate, seconds, thousands};
use whyslow_evidence::host::{BufferSize, Cap, HostAction as A, TcpOption};

fn size(size: &BufferSize) -> String {
    let (bytes, rate, rtt) = (bytes(size.bytes), rate(size.rate_bps), seconds(size.rtt_s));
    if size.is_default {
        format!("{bytes}（Linux 的默认值：路径可能超过此缓冲区在 {rtt} 往返上允许的 {rate}）")
    } else {
        format!("{bytes}（8 × {rate} × {rtt}：缓冲区的一半归内核自用，且路径可能超过此缓冲区所允许的速率）")
    }
}

fn option(option: TcpOption) -> &'static str {
    match option {
        TcpOption::Sack => " SACK ",
        TcpOption::WindowScaling => "窗口缩放",
    }
}

fn accept(asked: u64, most: Option<u64>, is_bounded: bool) -> String {
    match most {
        _ if is_bounded => {
            format!("更快地接受连接，并让应用要求更长的队列：net.core.somaxconn 也是 {asked}，限制了它")
        }
        Some(most) if most > asked => {
            format!("更快地接受连接，或在 listen(2) 中要求更长的队列：它要求了 {asked}，最多可为 {most}")
        }
        _ => "更快地接受连接：更多线程，且不在接受连接之处做其他工作".to_owned(),
    }
}

#[expect(clippy::too_many_lines, reason = "one sentence a variant")]
pub(in crate::words) fn action(action: &A) -> String {
    match action {
        A::KeepQueueShort { or_bbr } => format!(
            "在最窄的链路上使用自身保持较短的队列（cake、fq_codel）{}；任何地方都不要加大缓冲区",
            if *or_bbr { "，或在本发送端使用 BBR" } else { "" }
        ),
        A::FindDamage => "找出损坏数据包之处：先看各设备的计数器，再看路径".to_owned(),
        A::AcceptAsTheyCome => "连接到来就接受，并关闭对端已离开的连接".to_owned(),
        A::CloseAtEndOfFile => "读取返回空时关闭连接，错误处理和连接池中也一样".to_owned(),
        A::EnlargeConntrack { entries, bytes: memory } => {
            format!("加大该表：{} 项约占 {}", thousands(*entries), bytes(*memory))
        }
        A::RaiseCpuLimit => {
            "提高其处理器配额（cpu.max，cgroup v1 为 cpu.cfs_quota_us；resources.limits.cpu、CPUQuota=），或减少其线程"
                .to_owned()
        }
        A::RaiseCpuShare => {
            "查看哪些程序占用处理器（`top -H`），并给其控制组更大的份额（cpu.weight、CPUWeight=）".to_owned()
        }
        A::FreeProcessors { offload: Some([device, name]) } => {
            format!("打开 {device} 的 `{name}`，并查看哪些程序占用处理器")
        }
        A::FreeProcessors { offload: None } => "查看哪些程序占用处理器（`top -H`）".to_owned(),
        A::KeepIdleShorter { seconds: kept } => {
            format!("空闲连接保留不超过 {}，或设置 SO_KEEPALIVE 并使 TCP_KEEPIDLE 小于它", seconds(*kept))
        }
        A::AcceptFaster { asked, most, is_bounded } => accept(*asked, *most, *is_bounded),
        A::FindListener => "找出 Recv-Q 接近 Send-Q 的监听器，让其应用更快地接受连接".to_owned(),
        A::FindLoss { peer } => format!("找出到 {peer} 的路径在哪里丢包"),
        A::LookWhileSlow => "在传输缓慢时再看一次：那时连接会显示对端".to_owned(),
        A::FindPolicer => "查找限速丢包的设备或成串出错的链路；在发送端抓包可以分辨".to_owned(),
        A::LetTooBigPass => "让 ICMP“数据包过大”通过；在此之前让本机自己探测大小".to_owned(),
        A::ProbesOff => "关闭尾部丢包探测：它们几乎没有修复什么；此后丢失的尾部要等到超时".to_owned(),
        A::MoveProxy => "让代理离其服务器更近；这些探测在这里也修复丢包".to_owned(),
        A::ReuseConnections { with_timestamps: true } => {
            "保持到它的连接并重复使用；并打开时间戳，否则新连接不能接用已关闭连接的端口（tcp_tw_reuse）".to_owned()
        }
        A::ReuseConnections { with_timestamps: false } => "保持到它的连接并重复使用".to_owned(),
        A::KeepServedOpen => "为下一个请求保持连接：是本端先关闭的".to_owned(),
        A::EnlargeRing { device, packets } => format!(
            "把其环形缓冲区加大到 {} 个数据包（`ethtool -G {device} rx {packets}`），选择链路可以中断一秒的时候",
            thousands(*packets)
        ),
        A::SpreadInterrupts => "把其中断分散到更多处理器".to_owned(),
        A::CheckServer { target } => format!(
            "查看 {} 是否在运行、是否监听端口 {}，以及是什么丢弃了发往它的 SYN（拒绝它们的防火墙不会花费时间）",
            target.ip(),
            target.port()
        ),
        A::SwitchOn { option: of } => format!("打开{}；已打开的连接保持原样", option(*of)),
        A::SwitchOnAtPeer { option: of } => {
            format!("本端已提供{}：在对端打开它，或找出从 SYN 中去掉它的防火墙", option(*of))
        }
        A::RemoveNetem { device } => format!("{device} 上的 `netem` 有意丢包：除非在做测试，否则去掉它"),
        A::RaiseShaper { device, discipline } => {
            format!("提高 {device} 上 `{discipline}` 的速率，或让它容纳更多（`limit`、`latency`）")
        }
        A::FasterLink { device, discipline } => {
            format!("{device} 后面的链路已满，`{discipline}` 丢包以保持队列较短：使用更快的链路，或少发一些")
        }
        A::LongerQueue { device } => {
            format!("让 {device} 的队列更长（`txqueuelen`、`limit`），或让发送端按速率发送（`fq`）")
        }
        A::ReadSooner => "让应用更早读取，并去掉其中较小的 SO_RCVBUF".to_owned(),
        A::PeerBuffer { size: of } => format!(
            "加大对端的接收缓冲区{}，并去掉其应用中的 SO_RCVBUF；或让该应用读得更快",
            of.as_ref().map_or(String::new(), |of| format!("，到 {}", size(of)))
        ),
        A::PeerReadsFaster => "让另一端的应用读得更快：它的缓冲区并不小".to_owned(),
        A::GrowReceiveBuffer { size: of, begin: None } => format!("允许接收缓冲区增长到 {}", size(of)),
        A::GrowReceiveBuffer { size: of, begin: Some(begin) } => {
            format!("接收缓冲区从 {} 开始（在这里它不增长），并允许增长到 {}", bytes(*begin), size(of))
        }
        A::DropReceiveBuffer { cap } => format!(
            "去掉应用中的 SO_RCVBUF：它使内核不能加大缓冲区{}",
            if *cap == Cap::Core { "，而且 net.core.rmem_max 限制了它" } else { "" }
        ),
        A::KeepWindows => "空闲期间保持窗口".to_owned(),
        A::GrowSendBuffer { size: of, after } => format!(
            "允许发送缓冲区增长到 {}{}",
            size(of),
            after.map_or(String::new(), |peer| format!("；但先处理去往 {peer} 途中的队列，更大的缓冲区只会填满它"))
        ),
        A::DropSendBuffer => "去掉应用中的 SO_SNDBUF（nginx `sndbuf=`）：它使内核不能加大缓冲区".to_owned(),
        A::DropMetric { metric } => format!("从路由中去掉 {metric}"),
        A::LongerBacklog => "加长积压队列，并把工作分散到更多处理器".to_owned(),
        A::TimestampsOn => "打开时间戳，使发送端能发现自己的错误并恢复速率".to_owned(),
        A::FindReordering => "找出使数据包乱序或延迟之处：链路聚合、无线、队列".to_owned(),
        A::ForgetThresholds { route } => format!(
            "不再记住阈值，并删除已记住的：只做其一则另一个仍在{}",
            route.as_ref().map_or(String::new(), |route| format!(
                "；到 {route} 的路由中的 `ssthresh` 也要去掉，因为记录由它开始"
            ))
        ),
        A::SeeQdiscDrops { device } => format!("本机 {device} 前的队列在丢包：见 qdisc-drops"),
        A::LossDetectionOn { name, value } => format!("{name} 为 0：设为 {value} 后多数丢包无需超时即可发现"),
        A::PaceWithFq { device } => {
            format!("由 `fq` 控制其速率：在发送很少时把它设为 {device} 的根队列规则，因为队列中的会丢失")
        }
        A::ReadHere => "数据到来就读取，使用单独的线程；更大的缓冲区只是晚一些填满".to_owned(),
        A::PeerReads => "对端的应用必须读取；本机没有什么能打开那个窗口".to_owned(),
    }
}
