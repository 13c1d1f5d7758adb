//! A remedy in a few words, for the headline.

use super::ends::{EndName, Ends};
use crate::text::first_clause;
use crate::text::units::thousands;
use crate::words::{self, Lang};
use whyslow_analysis::{Action, Actor, Cause, ExchangeAction, LinkAction, LossAction, Remedy, SendingAction};

/// A remedy in a few words, with the place where it is made.
pub(super) fn remedy(cause: Cause, remedy: &Remedy, ends: Ends, lang: Lang) -> String {
    if let Action::Sending(action) = &remedy.action
        && let Some(text) = sending(action, ends, lang)
    {
        return text;
    }
    let action = words::action(&remedy.action, lang);
    let what = match lang {
        Lang::En => of_cause(cause, &remedy.action).map_or_else(|| first_clause(&action).to_owned(), str::to_owned),
        Lang::Zh => first_clause(&action).to_owned(),
    };
    match lang {
        Lang::En => format!("{}{what}", place(remedy.actor, ends)),
        Lang::Zh => what,
    }
}

fn place(actor: Actor, ends: Ends) -> String {
    match actor {
        Actor::Sender => format!("on the {}, ", ends.sender.text(Lang::En)),
        Actor::Receiver => format!("on the {}, ", ends.receiver.text(Lang::En)),
        Actor::Capture => "when capturing, ".to_owned(),
        Actor::Application | Actor::Network => String::new(),
    }
}

/// Actions with a short form of their own.
fn sending(action: &SendingAction, ends: Ends, lang: Lang) -> Option<String> {
    let name = |end: EndName| end.text(lang);
    let (sender, receiver) = (name(ends.sender), name(ends.receiver));
    Some(match (action, lang) {
        (SendingAction::ReuseConnection { .. }, Lang::En) => "reuse the connection".to_owned(),
        (SendingAction::ReuseConnection { .. }, Lang::Zh) => "复用连接".to_owned(),
        (SendingAction::RaiseInitialWindow { to, .. }, Lang::En) => {
            format!("raise the {sender}'s initial window to {to} segments")
        }
        (SendingAction::RaiseInitialWindow { to, .. }, Lang::Zh) => {
            format!("把{sender}的初始窗口提高到 {to} 个报文段")
        }
        (SendingAction::RaiseReceiveBuffer { need }, Lang::En) => {
            format!("enlarge the {receiver}'s receive buffer to {} B", thousands(need.bytes))
        }
        (SendingAction::RaiseReceiveBuffer { need }, Lang::Zh) => {
            format!("把{receiver}的接收缓冲区加大到 {} B", thousands(need.bytes))
        }
        (
            SendingAction::ReadUnread { .. } | SendingAction::ReadForAcks { .. } | SendingAction::ReadFaster { .. },
            Lang::En,
        ) => format!("make the {receiver}'s application read faster"),
        (
            SendingAction::ReadUnread { .. } | SendingAction::ReadForAcks { .. } | SendingAction::ReadFaster { .. },
            Lang::Zh,
        ) => format!("让{receiver}应用读得更快"),
        (SendingAction::RaiseSendBuffer { bytes, .. }, Lang::En) => {
            format!("find what stops the {sender} at {} B, most often a socket's send buffer", thousands(*bytes))
        }
        (SendingAction::RaiseSendBuffer { bytes, .. }, Lang::Zh) => {
            format!("找出是什么让{sender}停在 {} B，多半是套接字的发送缓冲区", thousands(*bytes))
        }
        (SendingAction::RaiseProtocolWindow { .. }, Lang::En) => {
            "raise the window of the application's protocol".to_owned()
        }
        (SendingAction::RaiseProtocolWindow { .. }, Lang::Zh) => "加大应用协议的窗口".to_owned(),
        (SendingAction::KeepWindowWhenIdle, Lang::En) => {
            format!("let idle connections of the {sender} keep their congestion window")
        }
        (SendingAction::RaiseRateLimit { .. }, Lang::En) => {
            format!("find what limits the {sender}'s rate, and raise it")
        }
        (SendingAction::RaiseRateLimit { .. }, Lang::Zh) => format!("找出限制{sender}速率的设置并调高"),
        _ => return None,
    })
}

/// Short forms of actions whose first clause is too long; each of one remedy, whose number stands
/// next to it.
fn of_cause(cause: Cause, action: &Action) -> Option<&'static str> {
    Some(match (cause, action) {
        (Cause::Bandwidth, Action::Link(LinkAction::AddCapacity { .. })) => "use a faster link",
        (Cause::Bandwidth, Action::Link(LinkAction::SendLess)) => "send less",
        (Cause::EarlySlowStartExit, Action::Sending(SendingAction::ForgetThreshold { .. })) => {
            "forget the slow-start threshold that is remembered for this peer"
        }
        (Cause::Ecn, Action::Link(LinkAction::TuneMarking { .. })) => {
            "give the queue that marks packets a higher target"
        }
        (Cause::Ecn, Action::Link(LinkAction::AddCapacity { .. })) => "use a faster link",
        (Cause::MtuBlackHole, Action::Loss(LossAction::PassIcmp)) => "let ICMP \"packet too big\" pass",
        (Cause::MtuBlackHole, Action::Loss(LossAction::ClampMss { .. })) => "clamp the MSS",
        (_, Action::Loss(LossAction::EnableSack { .. } | LossAction::EnableSackForProbes { .. })) => "enable SACK",
        (Cause::NoSack, Action::Loss(LossAction::FindSackStripper)) => "find what strips the SACK option",
        (Cause::NoWindowScaling, Action::Sending(SendingAction::EnableWindowScaling { .. })) => {
            "enable window scaling, or find what strips the option"
        }
        (Cause::PathLatency, Action::Exchange(ExchangeAction::KeepPathWarm)) => {
            "find what the first packet sets up, and keep it warm"
        }
        (Cause::SlowLookup, Action::Exchange(ExchangeAction::CheckNameServer { .. })) => {
            "find out why the name server answers late or not at all"
        }
        (Cause::SlowLookup, Action::Exchange(ExchangeAction::CacheLookups)) => "keep names on the client's host",
        (Cause::SlowLookup, Action::Exchange(ExchangeAction::QualifyNames)) => {
            "use full names, so that search domains are not tried"
        }
        (Cause::ProxySplit, Action::Exchange(ExchangeAction::KeepUpstreamConnections)) => {
            "keep the proxy's connections open, and capture behind it"
        }
        (Cause::TurnTaking, Action::Exchange(ExchangeAction::BatchRequests)) => "batch or pipeline the requests",
        (Cause::TurnTaking, Action::Exchange(ExchangeAction::MoveCloser)) => "run both applications closer together",
        _ => return None,
    })
}
