//! Windows, segments and ACKs.

use super::common::spread;
use crate::words::quantity::{rate, thousands, time, window_rate};
use whyslow_core::analysis::{End, FirstWindow, SendingAction, SendingQuestion, SendingStatement};

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
