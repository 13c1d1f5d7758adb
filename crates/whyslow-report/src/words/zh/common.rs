//! Several causes.

use super::spread::spread;
use crate::words::quantity::time;
use whyslow_analysis::{CommonQuestion, CommonStatement, Group};

/// `worst` is the sentence about the connection that lost the most time.
pub(super) fn statement(statement: &CommonStatement, worst: &str) -> String {
    match statement {
        CommonStatement::CostWhileLinkFull { time_s } => format!("其中 {} 是在链路已满期间", time(*time_s)),
        CommonStatement::CountedUnder { time_s, cause } => format!("其中 {} 计入 {cause}", time(*time_s)),
        CommonStatement::Shared { sharing, of, group, cost, .. } => format!(
            "{}的 {of} 条连接中有 {sharing} 条有同一原因，{}；最严重的一条：{}",
            name(group),
            spread(*cost),
            worst,
        ),
    }
}

pub(super) fn question(question: &CommonQuestion) -> String {
    match question {
        CommonQuestion::ModelTooFast { model_s, measured_s } => format!(
            "模型在同一限制下只需 {}，而实测为 {}：还有别的因素在耗时",
            time(*model_s),
            time(*measured_s)
        ),
        CommonQuestion::ModelDisagrees { model_s, measured_s } => format!(
            "不能确定，因为在这一限制下模拟需要 {}，而实测为 {}",
            time(*model_s),
            time(*measured_s)
        ),
        CommonQuestion::OpeningNotCaptured => {
            "不能确定，因为没有抓到连接的建立过程：请在建立连接之前开始抓包".to_owned()
        }
        CommonQuestion::OptionsNotCaptured => {
            "不能确定，因为 SACK 和时间戳选项被截断：每个数据包请至少抓取 128 字节".to_owned()
        }
        CommonQuestion::ProtocolUnknown => "不能确定，因为协议未知：一条小消息不一定是对前一条消息的响应".to_owned(),
        CommonQuestion::LinkShared => "当时链路已满：本次传输变快，共用该链路的其他传输就会变慢".to_owned(),
        CommonQuestion::Encrypted => {
            "QUIC 加密了确认、窗口和丢包：此结论只依据报文的大小和时间，抓包本身无法显示更多：请提供密钥日志（--keylog 文件）"
                .to_owned()
        }
        CommonQuestion::OneEndpointsLog => {
            "日志只反映一端的视角，其时间是程序处理的时间：要了解链路和对端，请查看抓包或对端的日志".to_owned()
        }
        CommonQuestion::InitialOrAnswerLost => {
            "在服务器抓包，可以看出丢失的是客户端的首个报文还是服务器的应答".to_owned()
        }
    }
}

fn name(group: &Group) -> String {
    match group {
        Group::Server { server } => format!("到 {server} "),
        Group::Hosts { client, server } => format!("{client} 与 {server} 之间"),
    }
}
