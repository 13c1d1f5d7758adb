//! [`Ends`]: the names of the two ends of a transfer.

use crate::words::Lang;
use whyslow_analysis::{End, Transfer};

/// The two ends of a transfer.
#[derive(Clone, Copy, Debug)]
pub(in crate::headline) struct Ends {
    pub sender: EndName,
    pub receiver: EndName,
}

/// An end as it is named.
#[derive(Clone, Copy, Debug)]
pub(in crate::headline) enum EndName {
    Client,
    Server,
    Sender,
    Receiver,
}

impl EndName {
    pub(in crate::headline) fn text(self, lang: Lang) -> &'static str {
        match (self, lang) {
            (Self::Client, Lang::En) => "client",
            (Self::Server, Lang::En) => "server",
            (Self::Sender, Lang::En) => "sender",
            (Self::Receiver, Lang::En) => "receiver",
            (Self::Client, Lang::Zh) => "客户端",
            (Self::Server, Lang::Zh) => "服务器",
            (Self::Sender, Lang::Zh) => "发送端",
            (Self::Receiver, Lang::Zh) => "接收端",
        }
    }
}

impl Ends {
    pub(in crate::headline) fn of(transfer: Option<&Transfer>) -> Self {
        match transfer.map(|transfer| transfer.from) {
            Some(End::Server) => Self { sender: EndName::Server, receiver: EndName::Client },
            Some(End::Client) => Self { sender: EndName::Client, receiver: EndName::Server },
            None => Self { sender: EndName::Sender, receiver: EndName::Receiver },
        }
    }
}
