//! 网卡计数器的结论。

use crate::words::quantity::number;
use whyslow_evidence::{Allowance, DeviceStatement as D};

fn of(all: Option<f64>) -> String {
    all.map_or(String::new(), |all| format!("（共 {} 个）", number(all)))
}

fn rate(per_s: Option<f64>) -> String {
    per_s.map_or(String::new(), |per_s| format!("，每秒 {} 个", number(per_s)))
}

pub(super) fn statement(statement: &D) -> String {
    match statement {
        D::RingFull { packets, of: all, per_s } => {
            format!("接收环已满，网卡丢弃了 {} 个到达的报文{}{}", number(*packets), of(*all), rate(*per_s))
        }
        D::SendDrops { packets, of: all, per_s } => {
            format!("网卡在发送前丢弃了 {} 个报文{}{}", number(*packets), of(*all), rate(*per_s))
        }
        D::DamagedFrames { frames, of: all } => {
            format!(
                "{} 个帧到达时已损坏{}（CRC 或符号错误）：网线、光模块或端口不良会丢失报文",
                number(*frames),
                of(*all)
            )
        }
        D::Paused { frames, per_s, is_told: true } => {
            format!("链路另一端让本网卡停止发送：{} 个暂停帧{}", number(*frames), rate(*per_s))
        }
        D::Paused { frames, per_s, is_told: false } => {
            format!("本主机接收太慢，本网卡让链路另一端停止发送：{} 个暂停帧{}", number(*frames), rate(*per_s))
        }
        D::Allowance { allowance: limit, packets, per_s } => format!(
            "该实例超过了云服务商的{}限制：{} 个报文被排队或丢弃{}",
            allowance(*limit),
            number(*packets),
            rate(*per_s)
        ),
    }
}

fn allowance(limit: Allowance) -> &'static str {
    match limit {
        Allowance::BandwidthIn => "入方向带宽",
        Allowance::BandwidthOut => "出方向带宽",
        Allowance::Packets => "每秒报文数",
        Allowance::Connections => "连接跟踪数",
        Allowance::LinkLocal => "到 DNS、元数据和时间服务的报文数",
    }
}
