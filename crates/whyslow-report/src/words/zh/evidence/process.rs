//! 进程在哪里等待，以及页面加载时间的去向。

use super::phase::name;
use crate::words::quantity::{number, seconds};
use whyslow_evidence::{Call, CallStatement, PageStatement as P};

pub(super) fn calls(statement: &CallStatement) -> String {
    let CallStatement::Waited { call, on, took_s, whole_s, calls, longest_s } = statement;
    let on = if on.is_empty() { String::new() } else { format!("（{on}）") };
    let what = match call {
        Call::Receive => "等待对端数据",
        Call::Send => "等待发送缓冲区的空间（内核接收其数据较晚）",
        Call::Connect => "等待建立连接",
        Call::Disk => "等待文件",
        Call::Sleep => "休眠",
        Call::Lock => "等待锁",
    };
    format!(
        "{} 中进程有 {} 在{what}{on}，共 {} 次调用，最长 {}",
        seconds(*whole_s),
        seconds(*took_s),
        number(*calls),
        seconds(*longest_s)
    )
}

pub(super) fn page(statement: &P) -> String {
    match statement {
        P::PagePhase { phase: of, took_s, whole_s, requests, worst, worst_s } => format!(
            "页面加载的 {} 中，{}占 {}，涉及 {} 个慢请求；最久的是 {worst}：{}",
            seconds(*whole_s),
            name(*of),
            seconds(*took_s),
            number(*requests),
            seconds(*worst_s)
        ),
        P::PageRedirects { count, took_s, whole_s } => {
            format!("页面加载的 {} 中，{} 次重定向占 {}", seconds(*whole_s), number(*count), seconds(*took_s))
        }
    }
}
