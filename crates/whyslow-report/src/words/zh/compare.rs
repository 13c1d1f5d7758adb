//! Two transfers side by side.

use crate::words::letter::letter as name;
use crate::words::quantity::{rate, thousands, time};
use whyslow_analysis::LimitingFactor;
use whyslow_diagnosis::compare::{
    ComparisonCaveat, ComparisonStatement, FlightCourse, Flights, LateRecord, Lead, Reach, ReachKind, SameSize,
};
use whyslow_units::Nanos;

pub(in crate::words) fn statement(statement: &ComparisonStatement) -> String {
    match statement {
        ComparisonStatement::FirstByte { arrived_s: [a, b], late } => {
            let mut text = format!("第一个字节在请求之后 {}（A）、{}（B）到达", time(*a), time(*b));
            late.iter().for_each(|one| text += &readable_late(one));
            text
        }
        ComparisonStatement::Flights { flights: [a, b] } => format!("A {}；B {}", flights(a), flights(b)),
        ComparisonStatement::Leads { leads } => self::leads(leads),
        ComparisonStatement::LongerPhase { which, limit, by_s, wait_s, other_s } => {
            let rest = if *other_s > Nanos::ZERO {
                format!("：{} 对 {}", time(*wait_s), time(*other_s))
            } else {
                format!("，{} 则完全没有", name(1 - which.min(&1)))
            };
            format!("{} 在{}上多用 {}{rest}", name(*which), held(*limit), time(*by_s))
        }
        ComparisonStatement::Reach { which, reach } => format!("{} {}", name(*which), self::reach(reach)),
        ComparisonStatement::SameSize { same } => faster(same),
        ComparisonStatement::WholeTransfers { seconds: [a, b], bytes: [of_a, of_b] } => format!(
            "从第一个字节到最后一个字节被确认，A 用 {} 传了 {} B，B 用 {} 传了 {} B",
            time(*a),
            thousands(*of_a),
            time(*b),
            thousands(*of_b)
        ),
    }
}

fn readable_late(late: &LateRecord) -> String {
    format!(
        "；{} 的第一个字节要到 {} 才能读取，因为它的 {} B TLS 记录晚了 {} 才完整",
        name(late.which),
        time(late.readable_s),
        thousands(late.record),
        time(late.later_s)
    )
}

fn flights(flights: &Flights) -> String {
    let rtt = flights.rtt_s.map_or(String::new(), |rtt| format!("（{}）", time(rtt)));
    let first = thousands(flights.first);
    match flights.course {
        FlightCourse::Same { rounds } => {
            format!("每个往返{rtt}发送 {first} B，{} 轮都相同", thousands(rounds))
        }
        FlightCourse::Growing { to, round } => {
            format!("在第一个往返{rtt}发送 {first} B，到第 {round} 轮增长到 {} B", thousands(to))
        }
        FlightCourse::Varying { least, most } => {
            format!("在第一个往返{rtt}发送 {first} B，之后在 {} 到 {} B 之间", thousands(least), thousands(most))
        }
    }
}

fn faster(same: &SameSize) -> String {
    let [a, b] = same.times.seconds.map(time);
    let (size, difference) = (thousands(same.bytes), same.times.difference_s);
    if difference.0.abs() < Nanos::from_millis(1).0 {
        format!("从请求起，两者传完前 {size} B 用时相同：{a}")
    } else if difference < Nanos::ZERO {
        let by = time(Nanos::ZERO - difference);
        format!("B 快 {by}：从请求起，它传完前 {size} B 用了 {b}，A 用了 {a}")
    } else {
        format!("A 快 {}：从请求起，它传完前 {size} B 用了 {a}，B 用了 {b}", time(difference))
    }
}

fn reach(reach: &Reach) -> String {
    let (rate, flight, round) = (rate(reach.rate_bps), thousands(reach.flight), time(reach.round_s));
    match reach.kind {
        ReachKind::Steady => format!("保持在 {rate}：后半段每轮（{round}）{flight} B"),
        ReachKind::Window => format!(
            "会达到 {rate}：它仍在增长（最后一个完整轮次 {flight} B），接收窗口每个往返（{round}）{} B 会使它停下",
            thousands(reach.window.unwrap_or(reach.flight))
        ),
        ReachKind::Growing => {
            format!("会超过 {rate}：它仍在增长（最后一个完整轮次 {flight} B，历时 {round}）")
        }
    }
}

fn leads(leads: &[Lead]) -> String {
    match leads {
        [] => String::new(),
        [only] => format!("在任何大小下{}{}", leader(only), extrapolation(only)),
        [first, middle @ .., last] => {
            let mut parts = vec![format!("不超过 {} B 时{}", thousands(first.to_bytes), leader(first))];
            parts.extend(middle.iter().map(|lead| {
                format!("{} 到 {} B 时{}", thousands(lead.from_bytes), thousands(lead.to_bytes), leader(lead))
            }));
            parts.push(format!("从 {} B 起{}{}", thousands(last.from_bytes), leader(last), extrapolation(last)));
            parts.join("；")
        }
    }
}

fn leader(lead: &Lead) -> String {
    match lead.faster {
        Some(which) => {
            format!(" {} 更快（最多快 {}，在 {} B 处）", name(which), time(lead.by_s), thousands(lead.at_bytes))
        }
        None => "两者相同".to_owned(),
    }
}

fn extrapolation(lead: &Lead) -> String {
    if lead.extrapolated {
        format!("，直到 {} B；超出已抓取的字节的部分是外推", thousands(lead.to_bytes))
    } else {
        String::new()
    }
}

/// What a sender waits for.
const fn held(limit: LimitingFactor) -> &'static str {
    match limit {
        LimitingFactor::Handshake => "TCP 握手",
        LimitingFactor::TlsHandshake => "TLS 握手",
        LimitingFactor::RequestWait => "请求的往返",
        LimitingFactor::ServerThink => "服务器处理",
        LimitingFactor::ClientThink => "客户端处理",
        LimitingFactor::Idle => "空闲",
        LimitingFactor::SlowStart => "慢启动",
        LimitingFactor::CongestionAvoidance => "拥塞避免",
        LimitingFactor::ReceiveWindow => "等待接收窗口",
        LimitingFactor::ZeroWindow => "接收窗口关闭（零窗口）",
        LimitingFactor::SenderCap => "发送端自身的上限",
        LimitingFactor::ProtocolWindow => "等待应用协议的窗口",
        LimitingFactor::Application => "等待发送应用",
        LimitingFactor::Pacing => "发送端的发送间隔控制（pacing）",
        LimitingFactor::NagleDelayedAck => "Nagle 算法与延迟确认的相互等待",
        LimitingFactor::AckDelay => "等待迟到的 ACK",
        LimitingFactor::LossRecovery => "修复丢失的报文段",
        LimitingFactor::Timeout => "等待超时重传",
        LimitingFactor::Bandwidth => "链路速率",
        LimitingFactor::RoundTrip => "最后一个往返",
        LimitingFactor::Unknown => "抓包看不出的原因",
    }
}

pub(in crate::words) fn caveat(caveat: &ComparisonCaveat) -> String {
    match caveat {
        ComparisonCaveat::Elided { which } => {
            format!("{} 的文本省略了部分报文：其字节的到达时间未知，没有比较", name(*which))
        }
        ComparisonCaveat::Encrypted { which } => {
            format!(
                "{} 是 QUIC，其确认、窗口和丢包已加密：只比较了大小和时间，最后一个字节按经过后一个往返算作收到",
                name(*which)
            )
        }
        ComparisonCaveat::FirstRounds { which, listed } => {
            format!("只列出 {} 的前 {} 轮", name(*which), thousands(*listed))
        }
        ComparisonCaveat::Lost { which, segments } => format!(
            "{} 有丢包（重传 {} 个报文段）：字节计入首次发送的那一轮，最后一个字节计到被确认时",
            name(*which),
            thousands(*segments)
        ),
        ComparisonCaveat::NoFullRound { which } => {
            format!("{} 没有完整的一轮：之后会怎样未知", name(*which))
        }
        ComparisonCaveat::NoRequest { which } => {
            format!("{} 在抓包中不是对请求的响应：从它的第一个字节开始计时", name(*which))
        }
        ComparisonCaveat::NoRoundTrip { which } => {
            format!("{} 没有测得往返时延：最后一个字节按被确认的时间计为到达", name(*which))
        }
        ComparisonCaveat::OppositeDirections => "一个是上传，另一个是下载：发送的主机不同".to_owned(),
    }
}
