//! Labels of the parts of a finding, and the place of a remedy.

use super::Lang;
use whyslow_analysis::{Actor, End};

/// A label in front of a part of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// The measurements.
    Evidence,
    /// The recommended remedy.
    Fix,
    /// Another remedy.
    Or,
    /// What shows that a remedy worked.
    Verify,
    /// The time after a remedy.
    IfFixed,
    /// Open questions.
    ToConfirm,
    /// What the capture shows of the path.
    Path,
}

impl Label {
    /// The label in a language.
    pub const fn text(self, lang: Lang) -> &'static str {
        match (self, lang) {
            (Self::Evidence, Lang::En) => "evidence",
            (Self::Fix, Lang::En) => "fix",
            (Self::Or, Lang::En) => "or",
            (Self::Verify, Lang::En) => "verify",
            (Self::IfFixed, Lang::En) => "if fixed",
            (Self::ToConfirm, Lang::En) => "to confirm",
            (Self::Path, Lang::En) => "path",
            (Self::Evidence, Lang::Zh) => "证据",
            (Self::Fix, Lang::Zh) => "解决办法",
            (Self::Or, Lang::Zh) => "或",
            (Self::Verify, Lang::Zh) => "验证",
            (Self::IfFixed, Lang::Zh) => "修复后",
            (Self::ToConfirm, Lang::Zh) => "待确认",
            (Self::Path, Lang::Zh) => "路径",
        }
    }
}

/// Where a remedy is made. `sender`: the end that sends the transfer, if there is one.
pub const fn place(actor: Actor, sender: Option<End>, lang: Lang) -> &'static str {
    let end = match (actor, sender) {
        (Actor::Sender, Some(sender)) => Some(sender),
        (Actor::Receiver, Some(sender)) => Some(sender.other()),
        _ => None,
    };
    match (end, actor, lang) {
        (Some(End::Client), _, Lang::En) => "on the client",
        (Some(End::Server), _, Lang::En) => "on the server",
        (Some(End::Client), _, Lang::Zh) => "在客户端",
        (Some(End::Server), _, Lang::Zh) => "在服务器",
        (None, Actor::Sender, Lang::En) => "at the sender",
        (None, Actor::Receiver, Lang::En) => "at the receiver",
        (None, Actor::Network, Lang::En) => "in the network",
        (None, Actor::Application, Lang::En) => "in the application",
        (None, Actor::Capture, Lang::En) => "when capturing",
        (None, Actor::Sender, Lang::Zh) => "在发送端",
        (None, Actor::Receiver, Lang::Zh) => "在接收端",
        (None, Actor::Network, Lang::Zh) => "在网络中",
        (None, Actor::Application, Lang::Zh) => "在应用中",
        (None, Actor::Capture, Lang::Zh) => "抓包时",
    }
}
