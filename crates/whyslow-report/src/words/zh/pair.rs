//! Two captures of one connection.

use super::ends::name;
use crate::words::quantity::{thousands, time};
use std::fmt::Display;
use whyslow_analysis::{
    Change, ChangeKind, End, OptionChange, OptionEdit, PairCaveat, PairStatement, Resegmentation, WayLoss, WayQueue,
};
use whyslow_units::Nanos;

pub(in crate::words) fn statement(statement: &PairStatement) -> String {
    match statement {
        PairStatement::Disorder { to, duplicated, reordered, reordered_s, damaged } => {
            let arrived =
                |packets: u64, how: &str| (packets > 0).then(|| format!("{} 个报文{how}", thousands(packets)));
            let late = format!("乱序到达（最多晚 {}）", time(*reordered_s));
            let parts: Vec<String> = [
                arrived(*duplicated, "到达两次"),
                arrived(*reordered, &late),
                arrived(*damaged, "校验和错误，计为丢失"),
            ]
            .into_iter()
            .flatten()
            .collect();
            format!("发往{}的方向：{}", name(*to), parts.join("；"))
        }
        PairStatement::Lost { ways } if ways.is_empty() => "两份抓包之间没有丢包".to_owned(),
        PairStatement::Lost { ways } => {
            let parts: Vec<String> = ways.iter().map(loss).collect();
            format!("两份抓包之间的丢包：{}", parts.join("，"))
        }
        PairStatement::LostBefore { from, segments } => format!(
            "{who}发出的 {} 个报文段在靠近{who}的抓包点之前就已丢失：在它自己的主机上，或在到抓包点的路上",
            thousands(*segments),
            who = name(*from)
        ),
        PairStatement::Proxied { slower, before_s, behind_s, full_share, held_bytes } => {
            let who = match slower {
                Some(end) => format!("{}一侧的连接让另一侧等待", name(*end)),
                None => "看不出哪一侧的连接让另一侧等待".to_owned(),
            };
            format!(
                "两份抓包之间有代理，{who}：一个字节通常等 {} 才被代理确认，此后再等 {}；代理的窗口在 {:.0} % 的时间里是满的；代理和网络通常存有 {} B",
                time(*before_s),
                time(*behind_s),
                full_share * 100.0,
                thousands(*held_bytes)
            )
        }
        PairStatement::Queued { ways } => match ways.as_slice() {
            [one] => format!("发往{}的报文在两份抓包之间排队：{}", name(one.to), wait(one)),
            ways => {
                let parts: Vec<String> = ways.iter().map(|way| format!("发往{}{}", name(way.to), wait(way))).collect();
                format!("两个方向的报文都在两份抓包之间排队：{}", parts.join("，"))
            }
        },
        PairStatement::Resent { from, segments, for_loss } => resent(name(*from), *segments, *for_loss),
        PairStatement::RoundTrip { whole_s, between_s, outside_s } => round_trip(*whole_s, *between_s, *outside_s),
        PairStatement::Unjudged { from, packets } => format!(
            "{}发出的 {} 个报文是否到达无法判断：就抓包所见，另一份抓包当时没有运行",
            name(*from),
            thousands(*packets)
        ),
    }
}

fn loss(way: &WayLoss) -> String {
    let percent = way.share * 100.0;
    format!(
        "发往{}的 {} 个报文中有 {} 个（{percent:.*} %）",
        name(way.to),
        thousands(way.sent),
        thousands(way.lost),
        if percent < 10.0 { 2 } else { 0 },
    )
}

fn wait(way: &WayQueue) -> String {
    format!("通常 {}，第 95 百分位 {}", time(way.p50_s), time(way.p95_s))
}

fn resent(who: &str, segments: u64, for_loss: u64) -> String {
    let all = thousands(segments);
    let others = segments.saturating_sub(for_loss);
    if others == segments {
        format!("{who}重发了 {all} 个报文段，此前的副本都没有在两份抓包之间丢失")
    } else if others == 0 {
        format!("{who}重发了 {all} 个报文段，都是因为此前的副本在两份抓包之间丢失")
    } else {
        format!(
            "{who}重发了 {all} 个报文段：其中 {} 个此前的副本在两份抓包之间丢失，{} 个没有丢失",
            thousands(for_loss),
            thousands(others)
        )
    }
}

fn round_trip(whole: Nanos, between: Nanos, outside: Option<[Nanos; 2]>) -> String {
    match outside {
        None => format!("最小 RTT（{}）位于两份抓包之间", time(whole)),
        Some([client, server]) => format!(
            "最小 RTT 为 {}，其中 {} 在两份抓包之间，{} 在客户端一侧，{} 在服务器一侧",
            time(whole),
            time(between),
            time(client),
            time(server)
        ),
    }
}

pub(in crate::words) fn change(change: &Change) -> String {
    let packets = thousands(change.count);
    let of_end = |text: String| match change.from {
        Some(end) => format!("来自{}：{text}", name(end)),
        None => text,
    };
    of_end(match &change.kind {
        // Its sentence names the end.
        ChangeKind::Addresses { near_client: (address, port), near_server: (other, other_port) } => {
            let who = name(change.from.unwrap_or(End::Client));
            return format!("{who}在靠近客户端处是 {address} 端口 {port}，在靠近服务器处是 {other} 端口 {other_port}");
        }
        ChangeKind::CeMarks => format!("{packets} 个报文被标记为拥塞（CE）"),
        ChangeKind::Ecn => format!("{packets} 个报文的 ECN 位被修改"),
        ChangeKind::IpId => "IP 标识被改写".to_owned(),
        ChangeKind::Merged { place } => {
            boundaries(change.count, *place, "被接收主机在抓包之前合并（GRO、LRO）", "在网络中被合并")
        }
        ChangeKind::Mss(mss) => option(change.from, "MSS", mss, " B"),
        ChangeKind::Resets { first } => {
            format!("{packets} 个 RST（第一个是帧 {first}）并不是它发出的，而是中间设备发出的")
        }
        ChangeKind::Sack { edit } => edited(change.from, "SACK", *edit),
        ChangeKind::SequenceNumbers => "初始序列号被改写".to_owned(),
        ChangeKind::Split { place } => {
            boundaries(change.count, *place, "被发送主机在抓包之后拆分（TSO）", "在网络中被拆分")
        }
        ChangeKind::TimestampValues => format!("{packets} 个报文的时间戳被改写"),
        ChangeKind::Timestamps { edit } => edited(change.from, "时间戳", *edit),
        ChangeKind::Ttl { sent, arrived } => match sent.checked_sub(*arrived) {
            Some(routers) => format!("TTL 从 {sent} 变为 {arrived}：中间有 {routers} 个路由器"),
            None => format!("TTL 从 {sent} 变为 {arrived}：中间设备自己发送报文"),
        },
        ChangeKind::Window => format!("{packets} 个无数据报文的窗口被修改"),
        ChangeKind::WindowScale(scale) => option(change.from, "窗口扩大因子", scale, ""),
    })
}

fn option<T: Display>(
    from: Option<End>,
    what: &str,
    OptionChange { sent, arrived }: &OptionChange<T>,
    unit: &str,
) -> String {
    let syn = syn(from);
    match (sent, arrived) {
        (Some(sent), Some(arrived)) => format!("{syn} 的 {what} 从 {sent}{unit} 改为 {arrived}{unit}"),
        (Some(sent), None) => format!("{syn} 的 {what}（{sent}{unit}）被删除"),
        (None, Some(arrived)) => format!("{syn} 被加入 {what}（{arrived}{unit}）"),
        (None, None) => format!("{syn} 的 {what} 被修改"),
    }
}

fn edited(from: Option<End>, what: &str, edit: OptionEdit) -> String {
    match edit {
        OptionEdit::Added => format!("{} 被加入 {what} 选项", syn(from)),
        OptionEdit::Removed => format!("{} 的 {what} 选项被删除", syn(from)),
    }
}

fn boundaries(segments: u64, place: Resegmentation, host: &str, network: &str) -> String {
    let segments = thousands(segments);
    match place {
        Resegmentation::Host => format!("{segments} 个报文段{host}"),
        Resegmentation::Network { mss } => format!("{segments} 个报文段{network}，尽管没有一个大于 {mss} B"),
    }
}

const fn syn(from: Option<End>) -> &'static str {
    match from {
        Some(End::Server) => "SYN-ACK",
        Some(End::Client) | None => "SYN",
    }
}

pub(in crate::words) fn caveat(caveat: &PairCaveat) -> String {
    match caveat {
        PairCaveat::CapturedTwice { near, packets } => format!(
            "靠近{}的抓包中有 {} 个报文出现两次：是抓包重复记录（多个网卡或镜像端口），网络没有复制它们",
            name(*near),
            thousands(*packets)
        ),
        PairCaveat::FirstPackets { near, packets } => {
            format!("在靠近{}的抓包中，只比较了该连接的前 {} 个报文", name(*near), thousands(*packets))
        }
        PairCaveat::MissingAtReceiver { from, packets } => format!(
            "{}发出的 {} 个报文已被另一端确认，却不在那里的抓包中：该抓包不完整，其中缺少的无数据报文未必是丢失",
            name(*from),
            thousands(*packets)
        ),
        PairCaveat::MissingAtSender { from, packets } => format!(
            "{who}发出的 {} 个报文已经到达，却不在靠近{who}的抓包中：该抓包不完整",
            thousands(*packets),
            who = name(*from)
        ),
        PairCaveat::OnePlace => "两份抓包在同一地点：相距不到 0.1 ms".to_owned(),
    }
}
