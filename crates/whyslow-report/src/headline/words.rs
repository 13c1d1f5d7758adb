//! For each cause the clause after "because", and the fix.

mod brief;
mod ends;

use crate::text::units;
use crate::words::Lang;
pub(super) use ends::Ends;
use whyslow_analysis::{Actor, Cause, ExchangeStatement, Finding, Statement, Transfer, Unit};

/// Why it was slow, as a clause.
pub(super) fn because(finding: &Finding, ends: Ends, lang: Lang) -> String {
    match lang {
        Lang::En => english(finding, ends),
        Lang::Zh => chinese(finding, ends),
    }
}

fn english(finding: &Finding, ends: Ends) -> String {
    let [sender, receiver] = [ends.sender, ends.receiver].map(|end| end.text(Lang::En));
    match finding.statement {
        Statement::Exchange(ExchangeStatement::InitialRetransmitted { .. }) => {
            return "the first packet of the QUIC handshake had to be sent again".to_owned();
        }
        Statement::Exchange(ExchangeStatement::SilentUnderEncryption { .. }) => {
            return format!("the {sender} was silent amid the transfer, for a reason that QUIC encrypts");
        }
        _ => {}
    }
    match finding.cause {
        Cause::Application => format!("the {sender}'s application had nothing to send"),
        Cause::DelayedAck => format!("the {receiver} delayed its ACKs"),
        Cause::EarlySlowStartExit => format!("the {sender} left slow start early"),
        Cause::Ecn => format!("a queue in the network marked packets (ECN) and the {sender} slowed down"),
        Cause::Pacing => format!("the {sender} limited its own rate"),
        Cause::ReceiveWindow if is_for(finding, Actor::Application) => {
            format!("the {receiver}'s application read too slowly and its receive window stayed full")
        }
        Cause::ReceiveWindow => format!("the {receiver}'s receive window is too small"),
        Cause::Reordering => format!("packets arrived out of order and the {sender} took them for lost"),
        Cause::RestartAfterIdle => format!("the {sender} went back to slow start after it was idle"),
        Cause::SenderCap => match largest_flight(finding) {
            Some(most) => format!("the {sender} never had more than {most} in flight"),
            None => format!("something caps what the {sender} has in flight"),
        },
        Cause::SlowStart => format!("the {sender}'s congestion window was still growing (slow start)"),
        Cause::Timeout => format!("the {sender} noticed lost packets only when its retransmission timer expired"),
        Cause::ZeroWindow => format!("the {receiver}'s application did not read and its receive window closed"),
        cause => of_any_end(cause).to_owned(),
    }
}

fn chinese(finding: &Finding, ends: Ends) -> String {
    let [sender, receiver] = [ends.sender, ends.receiver].map(|end| end.text(Lang::Zh));
    match finding.statement {
        Statement::Exchange(ExchangeStatement::InitialRetransmitted { .. }) => {
            return "QUIC 握手的首个报文不得不重发".to_owned();
        }
        Statement::Exchange(ExchangeStatement::SilentUnderEncryption { .. }) => {
            return format!("{sender}在传输中途停止发送，原因被 QUIC 加密");
        }
        _ => {}
    }
    match finding.cause {
        Cause::Application => format!("{sender}应用没有数据可发"),
        Cause::DelayedAck => format!("{receiver}延迟了 ACK"),
        Cause::EarlySlowStartExit => format!("{sender}过早退出慢启动"),
        Cause::Ecn => format!("网络中的队列标记了报文（ECN），{sender}因此降速"),
        Cause::Pacing => format!("{sender}自行限速"),
        Cause::ReceiveWindow if is_for(finding, Actor::Application) => {
            format!("{receiver}应用读取太慢，接收窗口一直占满")
        }
        Cause::ReceiveWindow => format!("{receiver}的接收窗口太小"),
        Cause::Reordering => format!("报文乱序到达，{sender}误认为丢失"),
        Cause::RestartAfterIdle => format!("{sender}空闲之后回到了慢启动"),
        Cause::SenderCap => match largest_flight(finding) {
            Some(most) => format!("{sender}的在途数据从未超过 {most}"),
            None => format!("{sender}的在途数据受到限制"),
        },
        Cause::SlowStart => format!("{sender}的拥塞窗口仍在增长（慢启动）"),
        Cause::Timeout => format!("{sender}直到重传定时器超时才发现丢包"),
        Cause::ZeroWindow => format!("{receiver}应用没有读取，接收窗口关闭"),
        cause => of_any_end_zh(cause).to_owned(),
    }
}

/// The causes whose words name neither end.
fn of_any_end(cause: Cause) -> &'static str {
    match cause {
        Cause::AmplificationRisk => "a small request got a huge burst at once",
        Cause::Bandwidth => "the link was full",
        Cause::Bufferbloat => "a long queue in the network delayed every round trip",
        Cause::ClientThink => "the client's application took its time before its requests",
        Cause::Duplication => "the network delivered packets twice",
        Cause::HostCpu => "a host was short of processor time",
        Cause::Loss => "packets were lost",
        Cause::LostRetransmission => "retransmissions were lost too",
        Cause::MtuBlackHole => "large packets did not pass the network",
        Cause::NagleDelayedAck => "each small write waited for the ACK of the one before (Nagle's algorithm)",
        Cause::NewConnectionEachTime => "every exchange opened a new connection",
        Cause::NoAnswer => "no response came",
        Cause::NoSack => "SACK is off and each lost segment took a round trip of its own to repair",
        Cause::NoWindowScaling => "window scaling is off and no more than 65,535 B can be in flight",
        Cause::PathLatency => "the first packets took far longer than later ones",
        Cause::Policer => "a policer dropped what exceeded its rate",
        Cause::ProtocolWindow => "the application protocol's own window was full",
        Cause::ProxySplit => "a proxy fetched the data over a slower connection behind it",
        Cause::RandomLoss => "packets were lost at random",
        Cause::Reset => "the connection was reset",
        Cause::ServerThink => "the server took its time to process the request",
        Cause::Shaper => "a shaper held the link to a lower rate",
        Cause::SlowLookup => "the lookup of the server's name took long",
        Cause::SmallSegments => "the data went out in small segments",
        Cause::SpuriousRetransmission => "data was retransmitted although it had arrived",
        Cause::SynLoss => "the SYN had to be retransmitted",
        Cause::TailLoss => "the last packets of a burst were lost",
        Cause::TlsRecordBuffering => "the first TLS record did not fit the first flight",
        Cause::TurnTaking => "the two applications take turns, and each turn costs a round trip",
        _ => "of the cause below",
    }
}

/// The same in Chinese.
fn of_any_end_zh(cause: Cause) -> &'static str {
    match cause {
        Cause::AmplificationRisk => "小请求一次引来了巨大的突发",
        Cause::Bandwidth => "链路已满",
        Cause::Bufferbloat => "网络中的长队列延迟了每个往返",
        Cause::ClientThink => "客户端应用在发出请求之前自己花了时间",
        Cause::Duplication => "网络把报文送达了两次",
        Cause::HostCpu => "主机的处理器时间不足",
        Cause::Loss => "报文丢失",
        Cause::LostRetransmission => "重传的报文也丢失了",
        Cause::MtuBlackHole => "大报文无法通过网络",
        Cause::NagleDelayedAck => "每次小写入都等待前一次的 ACK（Nagle 算法）",
        Cause::NewConnectionEachTime => "每次交互都新建连接",
        Cause::NoAnswer => "没有收到应答",
        Cause::NoSack => "SACK 没有启用，每个丢失的报文段各要一个往返才能修复",
        Cause::NoWindowScaling => "没有启用窗口扩大选项，在途数据不能超过 65,535 B",
        Cause::PathLatency => "最初的报文比后来的慢得多",
        Cause::Policer => "限速器（policer）丢弃了超出速率的报文",
        Cause::ProtocolWindow => "应用协议自身的窗口已满",
        Cause::ProxySplit => "代理通过身后更慢的连接取数据",
        Cause::RandomLoss => "报文随机丢失",
        Cause::Reset => "连接被重置",
        Cause::ServerThink => "服务器处理请求花了时间",
        Cause::Shaper => "整形器（shaper）把速率压低",
        Cause::SlowLookup => "查询服务器域名用了很长时间",
        Cause::SmallSegments => "数据以很小的报文段发出",
        Cause::SpuriousRetransmission => "数据已经到达却又被重传",
        Cause::SynLoss => "SYN 不得不重传",
        Cause::TailLoss => "一批数据的最后几个报文丢失",
        Cause::TlsRecordBuffering => "第一个 TLS 记录装不进第一批数据",
        Cause::TurnTaking => "两端应用轮流发送，每一轮都要一个往返",
        _ => "下面列出的原因",
    }
}

/// What to do: the recommended remedy, and the next one. `promises`: with the time after each.
pub(super) fn fix(finding: &Finding, transfer: Option<&Transfer>, promises: bool, lang: Lang) -> Option<String> {
    let ends = Ends::of(transfer);
    let mut parts = finding.remedies.iter().take(MAX_REMEDIES).map(|remedy| {
        let what = brief::remedy(finding.cause, remedy, ends, lang);
        let Some(promise) = remedy.promise.filter(|_| promises) else { return what };
        let time = units::span(promise.time_s);
        match (lang, promise.assumed.map(|assumed| units::rate(assumed.needed_bps))) {
            (Lang::En, None) => format!("{what} (then about {time})"),
            (Lang::En, Some(rate)) => format!("{what} (then about {time}, if the link carries more than {rate})"),
            (Lang::Zh, None) => format!("{what}（之后约 {time}）"),
            (Lang::Zh, Some(rate)) => format!("{what}（之后约 {time}，链路速率须超过 {rate}）"),
        }
    });
    let first = parts.next()?;
    let all = parts.fold(first, |all, next| match lang {
        Lang::En => format!("{all}; or {next}"),
        Lang::Zh => format!("{all}；或{next}"),
    });
    Some(match lang {
        Lang::En => format!("Fix: {all}."),
        Lang::Zh => format!("解决办法：{all}。"),
    })
}

/// Maximum number of remedies in the headline.
const MAX_REMEDIES: usize = 2;

fn is_for(finding: &Finding, who: Actor) -> bool {
    finding.remedy().is_some_and(|remedy| remedy.actor == who)
}

/// The largest flight, which is the first figure of the evidence.
fn largest_flight(finding: &Finding) -> Option<String> {
    let first = finding.evidence.first().filter(|first| first.unit == Unit::Bytes)?;
    Some(units::figure(first.value, first.unit.symbol()))
}
