//! 内核的统计对抓包结论的说明。

use crate::words::quantity::{number, rate, seconds};
use whyslow_evidence::{MatchedBy, Outcome, Reading as R};

pub(in crate::words) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Confirms => "证实",
        Outcome::Contradicts => "不符",
    }
}

pub(in crate::words) fn reading(reading: &R) -> String {
    match reading {
        R::PeerWindow { limited_s, busy_s } => {
            format!("在有数据要发送的 {} 中，对端接收窗口限制了发送端 {}", seconds(*busy_s), seconds(*limited_s))
        }
        R::SendBuffer { limited_s, busy_s } => {
            format!("在有数据要发送的 {} 中，发送缓冲区限制了发送端 {}", seconds(*busy_s), seconds(*limited_s))
        }
        R::NeitherBuffer { busy_s } => {
            format!("在有数据要发送的 {} 中，对端窗口和发送缓冲区都没有限制发送端", seconds(*busy_s))
        }
        R::NoData { idle_s: Some(idle), of_s } => {
            format!("{} 中有 {} 发送端应用没有数据要发送", seconds(*of_s), seconds(*idle))
        }
        R::NoData { idle_s: None, .. } => "多数时刻发送端应用写入的数据少于可发送的量（app_limited）".to_owned(),
        R::DataReady { busy_s, of_s } => {
            format!("{} 中有 {} 发送端应用有数据要发送", seconds(*of_s), seconds(*busy_s))
        }
        R::Queue { rtt_s, least_s } => {
            format!("路径上有队列：往返时间为 {}，最小为 {}", seconds(*rtt_s), seconds(*least_s))
        }
        R::NoQueue { rtt_s, least_s } => {
            format!("路径上没有队列：往返时间为 {}，最小为 {}", seconds(*rtt_s), seconds(*least_s))
        }
        R::Retransmitted { segments } => format!("发送端内核统计到 {} 个重传的报文段", number(*segments)),
        R::NotRetransmitted => "发送端内核没有统计到重传".to_owned(),
        R::Threshold { segments } => format!("慢启动在阈值 {} 个报文段处结束", number(*segments)),
        R::NoThreshold { window } => {
            format!("慢启动没有结束：没有阈值，拥塞窗口为 {} 个报文段", number(*window))
        }
        R::Paced { rate_bps } => format!("设置或应用把发送端限制在 {}", rate(*rate_bps)),
        R::Unread { bytes } => format!("数据已到达接收端的套接字，其应用留下 {} B 未读", number(*bytes)),
    }
}

pub(in crate::words) fn matched_by(by: MatchedBy) -> Option<&'static str> {
    match by {
        MatchedBy::Addresses => None,
        MatchedBy::Ports => Some("按两个端口和一个地址对应；另一个地址经过转换"),
        MatchedBy::OneEnd => Some("按一个地址和端口以及数据量对应"),
    }
}

pub(in crate::words) fn heading() -> &'static str {
    "内核的统计对这些结论的说明"
}
