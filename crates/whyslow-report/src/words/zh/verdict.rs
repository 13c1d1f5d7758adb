//! The verdict on a transfer.

use crate::words::quantity::time;
use crate::words::{Lang, summary};
use whyslow_analysis::{Finding, LimitingFactor, Verdict};
use whyslow_units::Nanos;

pub(in crate::words) fn verdict(verdict: &Verdict, findings: &[Finding]) -> String {
    match verdict {
        Verdict::Cause => {
            findings.first().map_or(String::new(), |first| format!("{}: {}", first.cause, summary(first, Lang::Zh)))
        }
        Verdict::Mixed => {
            let parts: Vec<String> =
                findings.iter().take(3).map(|one| format!("{} {}", one.cause, time(one.cost_s))).collect();
            format!("多种原因：{}", parts.join("，"))
        }
        Verdict::PartlyShown { shown, whole } => {
            format!("只知道 {} / {} 的原因：文本中省略了部分报文", time(*shown), time(*whole))
        }
        Verdict::Healthy => "除路径本身所需之外没有变慢".to_owned(),
        Verdict::Unknown => "这份抓包看不出它为什么慢".to_owned(),
        Verdict::UnknownElided => "看不出它为什么慢：文本中省略了部分报文".to_owned(),
        Verdict::Unexplained { limits, whole } => unexplained(limits, *whole),
        Verdict::WaitedForOther => "它在等待同两台主机之间的另一条连接完成工作：没有因此损失时间".to_owned(),
        Verdict::QueuedBehindOther => "它排在同两台主机之间另一个传输的队列里（bufferbloat）".to_owned(),
    }
}

fn unexplained(limits: &[(LimitingFactor, Nanos)], whole: Nanos) -> String {
    if let [(limit, took)] = limits {
        return format!("{} 中有 {} 用于{}，原因未能证实", time(whole), time(*took), limited_by(*limit));
    }
    let sum: Nanos = limits.iter().map(|(_, took)| *took).sum();
    let parts: Vec<String> =
        limits.iter().map(|(limit, took)| format!("{} {}", limited_by(*limit), time(*took))).collect();
    format!("{} 中有 {} 的原因未能证实：{}", time(whole), time(sum), parts.join("，"))
}

/// A limit as the subject of a time.
fn limited_by(limit: LimitingFactor) -> &'static str {
    match limit {
        LimitingFactor::Handshake => "握手",
        LimitingFactor::TlsHandshake => "TLS 握手",
        LimitingFactor::RequestWait => "请求的往返",
        LimitingFactor::ServerThink => "服务器处理",
        LimitingFactor::ClientThink => "客户端处理",
        LimitingFactor::Idle => "空闲",
        LimitingFactor::SlowStart => "慢启动",
        LimitingFactor::CongestionAvoidance => "拥塞避免",
        LimitingFactor::ReceiveWindow => "接收窗口已满",
        LimitingFactor::ZeroWindow => "接收窗口关闭",
        LimitingFactor::SenderCap => "发送端的上限",
        LimitingFactor::ProtocolWindow => "应用协议的窗口已满",
        LimitingFactor::Application => "发送应用的停顿",
        LimitingFactor::Pacing => "发送端自行限速",
        LimitingFactor::NagleDelayedAck => "小报文段等待延迟的 ACK",
        LimitingFactor::AckDelay => "迟到的 ACK",
        LimitingFactor::LossRecovery => "丢包恢复",
        LimitingFactor::Timeout => "重传超时",
        LimitingFactor::Bandwidth => "链路已满",
        LimitingFactor::RoundTrip => "最后一个往返",
        LimitingFactor::Unknown => "未知的限制",
    }
}
