//! Problems of a capture.

use crate::words::quantity::{thousands, time};
use whyslow_analysis::{
    Frame, MissingHandshake, NotCompared, Problem, ProblemDetail, Rewritten, TextField, UnmatchedIcmp,
};

pub(in crate::words) fn problem(problem: &Problem) -> String {
    use ProblemDetail as D;
    let number = thousands(problem.count);
    match &problem.detail {
        D::BytesNotCaptured { bytes, first } => not_captured(*bytes, &number, *first),
        D::TimesGoBack => {
            format!("{number} 个报文的时间早于前一个报文：按前一个报文的时间处理，不用于往返时延；结论的可信度降低")
        }
        D::NotInOrder { earlier_s } => {
            format!("报文未按时间排序：最早的比第一个早 {}；时间从第一个报文算起，因此有负值", time(*earlier_s))
        }
        D::NoTimes => "文本中没有可用的时间（`tcpdump -t`，或只有整秒的日志）：只统计字节和报文".to_owned(),
        D::LeftOutOfText { bytes } => left_out(*bytes),
        D::FieldsNotInText { fields } => {
            let fields: Vec<&str> = fields.iter().map(|field| text_field(*field)).collect();
            format!("文本中{}", fields.join("；"))
        }
        D::HandshakeIncomplete { missing, window_unit } => handshake(*missing, *window_unit),
        D::LargerThanMss => {
            format!("{number} 个报文段大于 MSS（抓包主机的 TSO 或 GRO）：报文大小和间隔与链路上的不同")
        }
        D::CongestionMarks { marked, echoes, reductions } => {
            format!(
                "{marked} 个报文带 CE，{echoes} 个 ACK 带 ECE，{reductions} 个报文段带 CWR（ECN：路径上的队列拥塞）"
            )
        }
        D::OneDirection => "只抓到一端的报文：速率和字节数可知，限制因素不可知".to_owned(),
        D::CapturedTwice => {
            format!("{number} 个报文被抓取两次（多个接口或镜像端口），因为接收端没有报告重复：副本被忽略")
        }
        D::OutsideWindow => format!("忽略 {number} 个报文段：序列号远在窗口之外"),
        D::SegmentsNotTracked => format!("{number} 个报文段（或其间的空缺）未被跟踪：同时未确认的数量超过了上限"),
        D::DamagedOptions => format!("{number} 个报文段的 TCP 选项被截断或损坏：只使用损坏之前的选项"),
        D::WindowScaleOver14 => format!("{number} 个 SYN 的窗口扩大因子大于 14，按 14 处理（RFC 7323 第 2.3 节）"),
        D::WrongChecksums => {
            format!("忽略 {number} 个报文段：TCP 校验和错误，而该端的其他校验和正确，也没有证据表明它已到达")
        }
        D::MeaninglessChecksums { connections, rewritten } => checksums(&number, *connections, *rewritten),
        D::DamagedPackets => {
            format!("忽略 {number} 个不属于任何连接的报文：校验和错误，而抓包中几乎所有其他报文都正确")
        }
        D::IcmpUnmatched { reason, first } => icmp(*reason, *first),
        D::ConnectionsLetGo => "有连接长时间静默，或同时打开的连接太多：其后续报文按新连接处理".to_owned(),
        D::ConnectionsNotListed { bytes } => {
            format!("只列出代价最大的连接；其余连接传输了 {} B 有效数据（含重复）", thousands(*bytes))
        }
        D::DroppedMeanwhile => {
            format!("本连接期间本机共丢弃 {number} 个报文（任意连接）：此处缺少的报文并非网络丢失")
        }
        D::NotCompared { reason } => format!("另一份抓包也有此连接，但两者无法比较：{}", not_compared(*reason)),
        D::Text { text } => text.clone(),
    }
}

fn not_captured(bytes: u64, stretches: &str, first: Frame) -> String {
    let bytes = thousands(bytes);
    format!("{stretches} 处共 {bytes} B 已被确认但没有抓到（首次见于帧 {first}）：抓包丢失了报文，不算网络丢包")
}

fn left_out(bytes: u64) -> String {
    let what = match bytes {
        0 => "文本中省略了部分报文".to_owned(),
        bytes => format!("文本中缺少含 {} B 的报文，而后续报文表明它们已发出", thousands(bytes)),
    };
    format!("{what}：字节数和总时间可知，其间的经过不可知")
}

fn text_field(field: TextField) -> &'static str {
    match field {
        TextField::IpId => {
            "没有 IP 标识（tcpdump 未加 -v），无法判断静默期间的报文段是否在途中丢失，以及第二份副本由发送端还是网络产生"
        }
        TextField::Payload => "没有有效数据（tcpdump 未加 -x），TLS 握手被算作传输，TLS 记录不可知",
    }
}

fn handshake(missing: MissingHandshake, window_unit: Option<u64>) -> String {
    let missing = match missing {
        MissingHandshake::Options => "SYN 的选项被截断或损坏",
        MissingHandshake::BothSyns => "抓包开始之前连接已打开",
        MissingHandshake::OneSyn => {
            return "两个 SYN 只抓到一个：除非该 SYN 没有窗口扩大选项，否则窗口扩大因子不可知".to_owned();
        }
    };
    let windows = match window_unit {
        Some(unit) => format!("假定窗口以 {} B 为单位，这是能容纳在途数据的最小单位", thousands(unit)),
        None => "无法判断窗口是否已满".to_owned(),
    };
    format!("{missing}：窗口扩大因子和 MSS 不可知，{windows}")
}

fn checksums(segments: &str, connections: u64, rewritten: Rewritten) -> String {
    let why = match rewritten {
        Rewritten::Addresses => "同一连接的校验和相差同一数值，说明抓包之后改写过地址或端口",
        Rewritten::Packets => "一端的大多数校验和都错误，说明抓包之后改写过报文，或在网卡填写之前抓取",
    };
    let connections = thousands(connections);
    format!("{connections} 条连接中有 {segments} 个报文段的 TCP 校验和错误，仍然使用：{why}")
}

fn icmp(reason: UnmatchedIcmp, first: u64) -> String {
    let about = match reason {
        UnmatchedIcmp::NoConnection => "其连接不在抓包中，或已关闭",
        UnmatchedIcmp::NotInFlight => "其报文段不在途：错误迟到或系伪造，发送端会忽略",
    };
    format!("ICMP 错误对不上报文段：{about}（首次见于帧 {first}）")
}

fn not_compared(reason: NotCompared) -> &'static str {
    match reason {
        NotCompared::Stopped => "第二次读取之前已停止",
        NotCompared::ReadOnce => "其中一份抓包来自管道，不能读取两次",
        NotCompared::LeftOutOfText => "其中一份是省略了报文的文本",
        NotCompared::NothingInCommon => "某一方向上没有共同的报文",
        NotCompared::ClockJumps => "其中一个时钟跳变，无法确定报文顺序",
        NotCompared::Overlaps => "报文段的重叠超出任何发送端的行为",
    }
}
