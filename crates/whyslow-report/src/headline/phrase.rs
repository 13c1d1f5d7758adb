//! The sentences of the headline, in both languages.

use crate::text::{capitalised, units};
use crate::words::Lang;
use whyslow_analysis::{Cause, End, Finding, Transfer};
use whyslow_units::Nanos;

/// A message of more bytes than an initial window (RFC 6928) is a download or an upload.
const BULK: u64 = 14_600;

/// The subject of a headline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A response of more than an initial window.
    Download,
    /// A request of more than an initial window.
    Upload,
    /// A small response.
    Response,
    /// A small request.
    Request,
    /// The only connection.
    Connection,
    /// One connection of several.
    Numbered(u64),
}

impl Subject {
    pub(super) fn of(transfer: &Transfer) -> Self {
        match (transfer.from, transfer.bytes > BULK) {
            (End::Server, true) => Self::Download,
            (End::Client, true) => Self::Upload,
            (End::Server, false) => Self::Response,
            (End::Client, false) => Self::Request,
        }
    }

    fn text(self, lang: Lang) -> String {
        let (en, zh) = match self {
            Self::Download => ("the download", "下载"),
            Self::Upload => ("the upload", "上传"),
            Self::Response => ("the response", "响应"),
            Self::Request => ("the request", "请求"),
            Self::Connection => ("the connection", "连接"),
            Self::Numbered(id) => {
                return match lang {
                    Lang::En => format!("connection #{id}"),
                    Lang::Zh => format!("连接 #{id} "),
                };
            }
        };
        match lang {
            Lang::En => en.to_owned(),
            Lang::Zh => zh.to_owned(),
        }
    }
}

/// How sure a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sure {
    Certain,
    Likely,
    Possible,
}

impl Sure {
    pub(super) fn of(finding: &Finding) -> Self {
        match finding.confidence {
            0.9.. => Self::Certain,
            0.6.. => Self::Likely,
            _ => Self::Possible,
        }
    }

    fn because(self, lang: Lang) -> &'static str {
        match (self, lang) {
            (Self::Certain, Lang::En) => " because",
            (Self::Likely, Lang::En) => ", most likely because",
            (Self::Possible, Lang::En) => ", possibly because",
            (Self::Certain, Lang::Zh) => "，因为",
            (Self::Likely, Lang::Zh) => "，很可能是因为",
            (Self::Possible, Lang::Zh) => "，可能是因为",
        }
    }
}

/// A sentence of the headline. Clauses and costs are in the same language already.
#[derive(Clone, Debug)]
pub(super) enum Phrase {
    NoMatch,
    NoConnection,
    NotSlowedBut { subject: Subject, clause: String },
    Times { cost: String, times: u64 },
    OwnProcessing { clause: String, cost: String },
    Failed { clause: String, cost: String },
    Slow { subject: Subject, sure: Sure, clause: String, cost: String },
    SeveralSlow { slowed: u64, of: u64, sure: Sure, clause: String, cost: String },
    Unknown { subject: Subject },
    UnknownElided { subject: Subject },
    Healthy { subject: Subject, took: Nanos, idle: Nanos },
    OnlyQuic { quic: u64, of: u64 },
    NoTcp { packets: u64 },
    NoPacket,
    CaptureTcp,
    MostlyUnread { unread: u64, of: u64 },
    Little { cost: String, clause: String },
    SwitchQuicOff,
    Took { subject: Subject, took: String, verdict: String },
    NeverOpened,
    Refused,
    ResetAtOnce,
    NoData,
    AllHealthy { of: u64 },
    SomeUnknown { transfers: u64, of: u64 },
    Costliest { cause: Cause },
}

// Advice for captures without a connection, in both languages.
const CAPTURE_TCP: &str = "Capture the TCP packets of a transfer, from before it begins until it ends: `whyslow capture local` prints the command for this machine.";
const SWITCH_QUIC_OFF: &str = "Begin the capture before the client connects, with whole packets (tcpdump -s 0); to see the same over TCP, switch QUIC (HTTP/3) off in the client.";
const CAPTURE_TCP_ZH: &str =
    "请抓取一次传输的 TCP 报文，从它开始之前直到结束：`whyslow capture local` 打印本机的抓包命令。";
const SWITCH_QUIC_OFF_ZH: &str = "请在客户端建立连接之前开始抓包，并抓取完整报文（tcpdump -s 0）；要在 TCP 上查看同样的传输，请在客户端关闭 QUIC（HTTP/3）。";

impl Phrase {
    pub(super) fn text(&self, lang: Lang) -> String {
        match lang {
            Lang::En => self.english(),
            Lang::Zh => self.chinese(),
        }
    }

    fn english(&self) -> String {
        let name = |subject: &Subject| subject.text(Lang::En);
        let capital = |subject: &Subject| capitalised(&name(subject));
        let connections = |of: &u64| units::count(*of, "connection");
        match self {
            Self::NoMatch => "No connection matches.".to_owned(),
            Self::NoConnection => "There is no TCP connection to explain.".to_owned(),
            Self::NotSlowedBut { subject, clause } => format!("{} was not slowed, but {clause}.", capital(subject)),
            Self::Times { cost, times } => format!("{cost}, {} times", units::thousands(*times)),
            Self::OwnProcessing { clause, cost } => {
                format!("Neither the network nor the server was slow, but {clause}: {cost}.")
            }
            Self::Failed { clause, cost } => format!("{}: it cost {cost}.", capitalised(clause)),
            Self::Slow { subject, sure, clause, cost } => {
                format!("{} was slow{} {clause}: {cost}.", capital(subject), sure.because(Lang::En))
            }
            Self::SeveralSlow { slowed, of, sure, clause, cost } => format!(
                "{} of {} were slow{} {clause}: {cost}.",
                units::thousands(*slowed),
                connections(of),
                sure.because(Lang::En)
            ),
            Self::Unknown { subject } => {
                format!("The capture does not show what slowed {}.", name(subject))
            }
            Self::UnknownElided { subject } => {
                format!("The text does not show what slowed {}: some of its packets were left out.", name(subject))
            }
            Self::Healthy { subject, took, idle } => healthy(&name(subject), *took, *idle),
            Self::OnlyQuic { quic, of } => format!(
                "There is no connection to explain: {} of {} are QUIC of connections whose first packets were not captured whole.",
                units::thousands(*quic),
                units::count(*of, "packet")
            ),
            Self::NoPacket => "There is no TCP connection to explain: the capture is empty.".to_owned(),
            Self::CaptureTcp => CAPTURE_TCP.to_owned(),
            Self::NoTcp { packets } => no_tcp(*packets),
            Self::MostlyUnread { unread, of } => format!(
                "The text does not show whether anything was slow: {} of {} could not be read.",
                units::thousands(*unread),
                units::count(*of, "packet")
            ),
            Self::Little { cost, clause } => {
                format!("Nothing was slow. The largest cost was {cost}, because {clause}.")
            }
            Self::SwitchQuicOff => SWITCH_QUIC_OFF.to_owned(),
            Self::Took { subject, took, verdict } => format!("{} took {took}: {verdict}.", capital(subject)),
            Self::NeverOpened => "The connection was never opened: the server did not respond.".to_owned(),
            Self::Refused => "The connection was refused: a reset answered the SYN.".to_owned(),
            Self::ResetAtOnce => "The connection was reset before it carried anything.".to_owned(),
            Self::NoData => "Nothing was slow: the connection carried no data.".to_owned(),
            Self::AllHealthy { of } => format!("Nothing was slow: {}.", connections(of)),
            Self::SomeUnknown { transfers, of } => format!(
                "The capture does not show what slowed {} of {}.",
                units::count(*transfers, "transfer"),
                connections(of)
            ),
            Self::Costliest { cause } => format!("The costliest cause is {cause}."),
        }
    }

    fn chinese(&self) -> String {
        let name = |subject: &Subject| subject.text(Lang::Zh);
        match self {
            Self::NoMatch => "没有匹配的连接。".to_owned(),
            Self::NoConnection => "没有可以解释的 TCP 连接。".to_owned(),
            Self::NotSlowedBut { subject, clause } => format!("{}没有变慢，但是{clause}。", name(subject)),
            Self::Times { cost, times } => format!("{cost}，共 {} 次", units::thousands(*times)),
            Self::OwnProcessing { clause, cost } => format!("网络和服务器都不慢，但{clause}：{cost}。"),
            Self::Failed { clause, cost } => format!("{clause}：耗时 {cost}。"),
            Self::Slow { subject, sure, clause, cost } => {
                format!("{}慢{}{clause}：{cost}。", name(subject), sure.because(Lang::Zh))
            }
            Self::SeveralSlow { slowed, of, sure, clause, cost } => format!(
                "{} 条连接中有 {} 条慢{}{clause}：{cost}。",
                units::thousands(*of),
                units::thousands(*slowed),
                sure.because(Lang::Zh)
            ),
            Self::Unknown { subject } => format!("这份抓包看不出{}为什么慢。", name(subject)),
            Self::UnknownElided { subject } => format!("看不出{}为什么慢：文本中省略了部分报文。", name(subject)),
            Self::Healthy { subject, took, idle: Nanos::ZERO } => {
                format!("{}没有变慢：用时 {}，正是网络所需。", name(subject), units::span(*took))
            }
            Self::Healthy { subject, took, idle } => format!(
                "{}没有变慢：{} 中有 {} 空闲，其余 {} 正是网络所需。",
                name(subject),
                units::span(*took),
                units::span(*idle),
                units::span(*took - *idle)
            ),
            Self::OnlyQuic { quic, of } => format!(
                "没有可以解释的连接：{} 个报文中有 {} 个是 QUIC，但没有完整抓到这些连接的首个报文。",
                units::thousands(*of),
                units::thousands(*quic)
            ),
            Self::NoPacket => "没有可以解释的 TCP 连接：抓包是空的。".to_owned(),
            Self::CaptureTcp => CAPTURE_TCP_ZH.to_owned(),
            Self::NoTcp { packets } => {
                format!("没有可以解释的 TCP 连接：{} 个报文中没有 TCP。", units::thousands(*packets))
            }
            Self::MostlyUnread { unread, of } => format!(
                "看不出有没有变慢：文本中 {} 个报文有 {} 个无法读取。",
                units::thousands(*of),
                units::thousands(*unread)
            ),
            Self::Little { cost, clause } => format!("没有变慢。最大的一项耗时是 {cost}，因为{clause}。"),
            Self::SwitchQuicOff => SWITCH_QUIC_OFF_ZH.to_owned(),
            Self::Took { subject, took, verdict } => format!("{}用时 {took}：{verdict}。", name(subject)),
            Self::NeverOpened => "连接没有建立：服务器没有应答。".to_owned(),
            Self::Refused => "连接被拒绝：SYN 收到了 RST。".to_owned(),
            Self::ResetAtOnce => "连接在传输数据之前就被重置。".to_owned(),
            Self::NoData => "没有变慢：连接没有传输数据。".to_owned(),
            Self::AllHealthy { of } => format!("没有变慢：{} 条连接。", units::thousands(*of)),
            Self::SomeUnknown { transfers, of } => format!(
                "这份抓包看不出 {} 条连接中的 {} 个传输为什么慢。",
                units::thousands(*of),
                units::thousands(*transfers)
            ),
            Self::Costliest { cause } => format!("代价最大的原因是 {cause}。"),
        }
    }
}

/// A capture without TCP, in English.
fn no_tcp(packets: u64) -> String {
    let which = match packets {
        1 => "the only packet is not TCP".to_owned(),
        several => format!("none of {} is TCP", units::count(several, "packet")),
    };
    format!("There is no TCP connection to explain: {which}.")
}

fn healthy(name: &str, took: Nanos, idle: Nanos) -> String {
    let (span, busy) = (units::span(took), units::span(took - idle));
    if idle == Nanos::ZERO {
        format!("Nothing slowed {name}: it took {span}, which is what the network needs.")
    } else {
        format!(
            "Nothing slowed {name}: it was idle for {} of {span}, and {busy} is what the network needs.",
            units::span(idle)
        )
    }
}
