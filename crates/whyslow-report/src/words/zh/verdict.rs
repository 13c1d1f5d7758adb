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
    let name = |limit: LimitingFactor| limit.slug().replace('-', " ");
    if let [(limit, took)] = limits {
        return format!("{} 中有 {} 是{}；没有证实的原因", time(whole), time(*took), name(*limit));
    }
    let sum: Nanos = limits.iter().map(|(_, took)| *took).sum();
    let parts: Vec<String> = limits.iter().map(|(limit, took)| format!("{} {}", name(*limit), time(*took))).collect();
    format!("{} 中的 {} 没有证实的原因：{}", time(whole), time(sum), parts.join("，"))
}
