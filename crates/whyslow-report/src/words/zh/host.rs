//! 查看一台机器所得的结论。

mod action;
mod check;
mod table;

pub(in crate::words) use action::action;
pub(in crate::words) use check::check;
pub(in crate::words) use table::{and_more, figure_name, missing, more_peers, more_processes, sources, word};

use crate::text::units::share;
use crate::words::quantity::{rate, seconds, thousands};
use whyslow_analysis::Unit;
use whyslow_evidence::host::{
    Connections, Counted, Extent, HostStatement as S, Listener, Place, Processes, Since, Takes, Way, Who,
};

fn bytes(value: u64) -> String {
    format!("{} B", thousands(value))
}

fn processes(of: &Processes) -> String {
    let others = if of.others > 0 { format!(" 等 {} 个进程", of.others + 1) } else { String::new() };
    format!("{}[{}]{others}", of.name, of.pid)
}

fn of(all: Option<&Processes>) -> String {
    all.map_or(String::new(), |all| format!("{} 的 ", processes(all)))
}

/// nginx[812] 的 3 个连接
fn connections(of_peer: &Connections) -> String {
    format!(" {}{} 个连接", of(of_peer.of.as_ref()), thousands(of_peer.count))
}

/// nginx[812] 与 192.0.2.7 的 3 个连接
fn with(of_peer: &Connections) -> String {
    let by = of_peer.of.as_ref().map_or(String::new(), |all| format!("{} ", processes(all)));
    format!("{by}与 {} 的 {} 个连接", of_peer.peer, thousands(of_peer.count))
}

fn listener(by: &Listener) -> String {
    let processes = by.of.as_ref().map_or(String::new(), |all| format!("{} 的", processes(all)));
    format!("{processes}监听器 {} ", by.address)
}

fn part(value: f64) -> String {
    if value >= 0.001 || value <= 0.0 {
        return share(value);
    }
    format!("{} 分之一", thousands((1.0 / value).round() as u64))
}

fn in_time(since: Since) -> String {
    match since {
        Since::Seconds(over) => format!("{} 内", seconds(over)),
        _ => "开机以来".to_owned(),
    }
}

pub(in crate::words) fn who(who: Who) -> &'static str {
    match who {
        Who::Host => "在本机",
        Who::Program => "在应用中",
        Who::Peer => "在对端",
        Who::Network => "在网络上",
    }
}

pub(in crate::words) fn origin(place: Place, since: Since) -> String {
    let from = match place {
        Place::Socket => "该套接字",
        Place::Sockets => "这些套接字",
        Place::Counter => "计数器",
        Place::Setting => "设置",
        Place::Metrics => "ip tcp_metrics",
        Place::Route => "ip route",
        Place::Device => "网络设备",
        Place::Kernel => "内核",
        Place::Cgroup => "其控制组",
        Place::Conntrack => "连接跟踪",
        Place::Model => "预测",
    };
    let when = match since {
        Since::Now => "此刻".to_owned(),
        Since::Connection => "自连接建立".to_owned(),
        Since::Boot => "开机以来".to_owned(),
        Since::Seconds(over) => format!("{} 内", seconds(over)),
    };
    format!("{from}，{when}")
}

pub(in crate::words) fn extent(extent: Extent) -> String {
    let least = |at_least: bool| if at_least { "至少 " } else { "" };
    match extent {
        Extent::Of { seconds: cost, of_s } => format!("{} 中的 {}", seconds(of_s), seconds(cost)),
        Extent::SoFar { seconds: cost, at_least } => format!("到目前{}{}", least(at_least), seconds(cost)),
        Extent::Took { seconds: cost, at_least } => format!("{}{}", least(at_least), seconds(cost)),
        Extent::OfEach { seconds: cost, bytes } => format!("每 {} MB {}", bytes / 1_000_000, seconds(cost)),
        Extent::AfterEachPause { seconds: cost } => format!("每次停顿之后 {}", seconds(cost)),
        Extent::InEachRoundTrip { seconds: cost } => format!("每个往返 {}", seconds(cost)),
        Extent::Handshakes { seconds: cost, within_s } => format!("{within_s:.0} s 内握手 {}", seconds(cost)),
        Extent::Share { share, of, unit } => format!("{} {}中的 {}", thousands(of), noun(unit), part(share)),
        Extent::Count { count, unit } => format!("{} {}", thousands(count), noun(unit)),
        Extent::Ports { taken, of } => format!("{} 个端口中的 {} 个", thousands(of), thousands(taken)),
        Extent::HeldAt { rate_bps } => format!("限制在 {}", rate(rate_bps)),
        Extent::Filled { share: filled } => format!("已用 {}", share(filled)),
        Extent::OfTheTime { share: part } => format!("时间的 {}", share(part)),
        Extent::InPeriods { seconds: cost, share: part } => {
            format!("{}，占周期的 {}", seconds(cost), share(part))
        }
        Extent::FullNow => "此刻已满".to_owned(),
        Extent::Now => "此刻".to_owned(),
    }
}

fn noun(unit: Unit) -> &'static str {
    match unit {
        Unit::Segments => "个报文段",
        Unit::Packets => "个数据包",
        Unit::Connections => "个连接",
        _ => "个",
    }
}

fn takes(takes: &Takes) -> String {
    let [with, without] = [takes.with_s, takes.without_s].map(seconds);
    let instead =
        if with == without { "，与没有它时相同".to_owned() } else { format!("，而不是 {without}") };
    format!("{} MB 约需 {with}{instead}", takes.bytes / 1_000_000)
}

fn counted(counted: &Counted, noun: &str) -> String {
    format!("{} {noun}中有 {} 个", thousands(counted.of), thousands(counted.count))
}

#[expect(clippy::too_many_lines, reason = "one sentence a variant")]
pub(in crate::words) fn statement(statement: &S) -> String {
    match statement {
        S::QueueToPeer { peer, rtt_s, least_s } => {
            format!("发往 {peer} 的数据在排队：往返时间为 {}，而不是 {}", seconds(*rtt_s), seconds(*least_s))
        }
        S::DamagedSegments { segments } => format!(
            "{}有 {} 个报文段到达时已损坏而被丢弃，占 {}",
            in_time(segments.since),
            thousands(segments.count),
            part(segments.share())
        ),
        S::HeldOpen { connections, by, least_s } => format!(
            "对端已先关闭，而 {} 仍保持 {} 个连接打开，最久的至少 {}；它必须关闭这些连接",
            by.as_ref().map_or("只有 root 可见的进程".to_owned(), processes),
            thousands(*connections),
            seconds(*least_s)
        ),
        S::ClosedUnaccepted { connections, listener: by, least_s } => format!(
            "对端关闭了 {} 个尚未被{}接受的连接，最久的至少在 {} 之前",
            thousands(*connections),
            listener(by),
            seconds(*least_s)
        ),
        S::ConntrackDropped { packets, since, entries, most } => format!(
            "连接跟踪{}丢弃了 {} 个数据包：表中有 {} 项，上限 {} 项",
            in_time(*since),
            thousands(*packets),
            thousands(*entries),
            thousands(*most)
        ),
        S::ConntrackFilled { entries, most } if entries < most => {
            format!("连接跟踪表将满（{} / {} 项）：满了以后新连接会被丢弃", thousands(*entries), thousands(*most))
        }
        S::ConntrackFilled { most, .. } => format!("连接跟踪表已满（{} 项）：新连接可能被丢弃", thousands(*most)),
        S::Throttled { process, place, seconds: stood, share: part } => format!(
            "{}{}停顿了 {}：其控制组的处理器配额在 {} 的周期中用尽",
            processes(process),
            place.as_ref().map_or(String::new(), |place| format!("（{place}）")),
            seconds(*stood),
            share(*part)
        ),
        S::GroupWaited { process, place, share: part, connections } => format!(
            "最近 10 s 中有 {}，{}{}或同一控制组的其他程序在等待处理器，其间它有 {} 个连接在传输数据",
            share(*part),
            processes(process),
            place.as_ref().map_or(String::new(), |place| format!("（{place}）")),
            thousands(*connections)
        ),
        S::MachineWaited { share: part, connections } => format!(
            "最近 10 s 中有 {}，有程序在等待处理器，其间有 {} 个连接在传输数据",
            share(*part),
            thousands(*connections)
        ),
        S::SilentBeyond { connections, of: by, remote, silent_s, kept_s, by_tracking } => format!(
            "{}到 {remote} 的 {} 个连接已静默最长 {}，而{}只保留 {}：下一个请求可能要等到超时",
            of(by.as_ref()),
            thousands(*connections),
            seconds(*silent_s),
            if *by_tracking { "本机的连接跟踪" } else { "该服务器对其他连接" },
            seconds(*kept_s)
        ),
        S::QueueWasFull { listener: by, most, dropped } => format!(
            "{}接受连接太慢：其长度为 {most} 的队列曾满，丢弃了 {} 个数据包，每个使客户端至少多等一秒",
            listener(by),
            thousands(*dropped)
        ),
        S::QueueIsFull { listener: by, most } => {
            format!("{}接受连接太慢：其长度为 {most} 的队列此刻已满，下一个 SYN 会被丢弃", listener(by))
        }
        S::SomeQueueWasFull { connections } => {
            format!("某个监听器的队列曾满，影响 {} 个连接，每个至少等待一秒", thousands(*connections))
        }
        S::LostToPeer { peer, lost, sent } => {
            format!("发往 {peer} 的 {} 个报文段中有 {} 个在途中丢失", thousands(*sent), thousands(*lost))
        }
        S::LostByCounters { segments } => format!(
            "按计数器，{}本机所发的报文段有 {} 在途中丢失；没有活动的连接显示是哪个对端",
            in_time(segments.since),
            share(segments.share())
        ),
        S::RetransmissionsLost { retransmissions: lost } => format!(
            "{}的 {} 次重传中有 {} 再次丢失：网络成串丢包，或丢弃超过某一速率的部分",
            in_time(lost.since),
            thousands(lost.of),
            share(lost.share())
        ),
        S::FullSegmentsVanish { connections: of_peer } => {
            format!("发往 {} 的满长报文段消失，而较小的能通过：{}无法继续", of_peer.peer, with(of_peer))
        }
        S::NeedlessProbes { needless, probes, since, behind_proxy } => format!(
            "{}{} 次尾部丢包探测中至少有 {} 次是多余的：所重发的数据已经到达{}",
            in_time(*since),
            thousands(*probes),
            thousands(*needless),
            if *behind_proxy { "；对端是比其服务器更近的代理" } else { "" }
        ),
        S::OpenedAndClosed { connections, way, rtt_s } => format!(
            "最近一分钟内打开又关闭了 {} 个{}的连接，每个在第一个字节之前都要用 {} 握手",
            thousands(*connections),
            match way {
                Way::Out(server) => format!("到 {server} "),
                Way::In(client, port) => format!("从 {client} 到本机端口 {port} "),
            },
            seconds(*rtt_s)
        ),
        S::CardDropped { device, packets } => {
            format!("{device} {}没有空间接收 {} 个数据包", in_time(packets.since), thousands(packets.count))
        }
        S::NoSynAck { target, connections, of: by, retransmissions } => format!(
            "{target} 不应答 SYN：{}{} 个连接处于 SYN_SENT，最久的已重传 {} 次",
            of(by.as_ref()),
            thousands(*connections),
            thousands(*retransmissions)
        ),
        S::WithoutSack { connections: of_peer, again } => {
            format!("没有 SACK，{}重发了 {} 个报文段，每个往返一个", with(of_peer), thousands(*again))
        }
        S::WithoutScaling { connections: of_peer, most_bps } => {
            format!("{}不能超过 {}：没有窗口缩放，在途数据最多 65,535 B", with(of_peer), rate(*most_bps))
        }
        S::PortsTaken { taken, of, local, remote, closed } => format!(
            "从 {local} 到 {remote} 的 {} 个端口已占用 {} 个，其中 {} 个属于已关闭的连接（TIME_WAIT）：新连接很快会失败",
            thousands(*of),
            thousands(*taken),
            thousands(*closed)
        ),
        S::OwnQueueDropped { device, discipline, packets } => format!(
            "本机 {device} 前的队列（{discipline}）{}在 {}被丢弃：丢包不在网络上",
            in_time(packets.since),
            counted(packets, "个数据包")
        ),
        S::BuffersDropped { segments } => format!(
            "{}有 {} 个已到达的报文段因接收缓冲区内存不足而被丢弃",
            in_time(segments.since),
            thousands(segments.count)
        ),
        S::PeerWindowFull { connections: of_peer, limited_s, busy_s } => format!(
            "有数据待发的 {} 中，{} 的接收窗口有 {} 限制了{}",
            seconds(*busy_s),
            of_peer.peer,
            seconds(*limited_s),
            connections(of_peer)
        ),
        S::PeerReadsSlowly { connections: of_peer, limited_s, busy_s, rate_bps, window_bps } => format!(
            "{} 的应用只以 {} 读取，有数据待发的 {} 中{}等待它 {}；其窗口本可达到 {}",
            of_peer.peer,
            rate(*rate_bps),
            seconds(*busy_s),
            connections(of_peer),
            seconds(*limited_s),
            rate(*window_bps)
        ),
        S::OwnWindowFull { connections: of_peer, window, rtt_s, rate_bps } => format!(
            "{}的接收速率不能超过 {}：本端 {} 的窗口在 {} 的往返中只允许这么多",
            with(of_peer),
            rate(*rate_bps),
            bytes(*window),
            seconds(*rtt_s)
        ),
        S::Restarted { connections, peers, had, has } => format!(
            "与 {} 个对端的 {} 个连接在空闲之后从头开始：其中一个的窗口曾达到 {} 个报文段，之后只有 {has} 个",
            thousands(*peers),
            thousands(*connections),
            thousands(*had)
        ),
        S::WillRestart { connections, peers, had, initial } => format!(
            "与 {} 个对端的 {} 个连接在空闲之后再发送时将从 {initial} 个报文段开始：其中一个的窗口曾达到 {} 个报文段",
            thousands(*peers),
            thousands(*connections),
            thousands(*had)
        ),
        S::SendBufferFull { connections: of_peer, bytes: size, limited_s, busy_s } => format!(
            "{}发送缓冲区限制了{}：{}，而拥塞窗口和对端窗口都有余地",
            size.map_or(String::new(), |size| format!("{} 的", bytes(size))),
            with(of_peer),
            limited_s.map_or("它此刻已满".to_owned(), |limited| format!(
                "{} 中有 {} 是满的",
                seconds(*busy_s),
                seconds(limited)
            ))
        ),
        S::SmallFirstWindow { route, segments, usual, metric, peer, outgoing, takes } => format!(
            "到 {route} 的路由使连接以 {} 个报文段的窗口开始，而不是 {usual} 个（{metric}）：{} {peer} 的 1 MB 约需 {}，而不是 {}",
            thousands(*segments),
            if *outgoing { "发往" } else { "来自" },
            seconds(takes.with_s),
            seconds(takes.without_s)
        ),
        S::BacklogDropped { packets } => format!(
            "{}有 {} 个数据包在到达 TCP 之前被丢弃：处理器的积压队列已满",
            in_time(packets.since),
            thousands(packets.count)
        ),
        S::SentTwice { peer, copies, again } => {
            format!("重发给 {peer} 的 {} 个报文段中有 {} 个其实已经到达", thousands(*again), thousands(*copies))
        }
        S::NeedlessTimeouts { timeouts } => {
            format!("{}的 {}是多余的：所重发的数据已经到达", in_time(timeouts.since), counted(timeouts, "次超时"))
        }
        S::Remembered { peer, segments, others, takes: times } => format!(
            "到 {peer} 的新连接在 {} 个报文段时结束慢启动，这是内核记住的{}：{}",
            thousands(*segments),
            if *others > 0 { format!("（另有 {others} 个对端的记录也有代价）") } else { String::new() },
            times.iter().map(takes).collect::<Vec<_>>().join("，")
        ),
        S::TimedOut { peer, timeouts, seconds: took, at_least, row } => format!(
            "到 {peer} 的连接等待了 {} 次重传超时，{}{}{}",
            thousands(*timeouts),
            if *at_least { "至少 " } else { "" },
            seconds(*took),
            row.map_or(String::new(), |row| format!("；其中一个已连续超时 {row} 次，仍在等待"))
        ),
        S::TimeoutsCounted { timeouts, seconds: took } => format!(
            "{}有 {} 次重传超时，每次至少静默 200 ms：共 {}",
            in_time(timeouts.since),
            thousands(timeouts.count),
            seconds(*took)
        ),
        S::Unpaced { device, share: part } => {
            format!("{device} 上的 BBR 没有按速率发送：一个连接所发的有 {} 需要重发", share(*part))
        }
        S::UnreadHere { by, peer, bytes: unread, seconds: waited } => format!(
            "{} 没有读取：来自 {peer} 的 {} 尚未被读取，其窗口已关闭，对端已等待 {}",
            by.as_ref().map_or("本机的一个应用".to_owned(), processes),
            bytes(*unread),
            seconds(*waited)
        ),
        S::PeerWindowShut { connections: of_peer } => {
            format!("{} 的应用没有读取：{}在等待其已关闭的窗口", of_peer.peer, with(of_peer))
        }
    }
}
