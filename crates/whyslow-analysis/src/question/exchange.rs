//! Open questions about applications, requests and connections.

use crate::types::End;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// An open question about applications, requests and connections.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ExchangeQuestion {
    /// The bytes before the pause may be session tickets of TLS 1.3: was the pause the server's
    /// processing time?
    SessionTickets,
    /// The pauses are as long as the sender's timers: were segments lost before the capture point?
    PausesLikeTimers,
    /// Is this end a proxy, which waits for a server behind it?
    MayBeProxy {
        /// The end.
        end: End,
    },
    /// The wait is as long as timers are set to: was it a long poll in which nothing happened, or a
    /// time limit?
    WaitLikeTimer {
        /// Value of the timer.
        timer_s: Nanos,
    },
    /// Are the parts around the pauses one message, or did the sender push them without a request?
    OneMessage,
    /// Does the sender wait for its application?
    AppLimited,
    /// No segment is as long as the ends agreed on: were longer ones lost?
    LongSegmentsUnseen,
    /// Does a proxy stand between this address and the server?
    ProxyBetween,
    /// Do the SYNs arrive at the server?
    SynsArrive,
    /// Do the SYN-ACKs arrive at the client?
    SynAcksArrive,
    /// Do the retransmissions arrive?
    RetransmissionsArrive {
        /// At this end.
        at: End,
    },
    /// The capture ended: did the response arrive later?
    ResponseAfterCapture,
    /// Did the server go on sending?
    ServerWentOn,
    /// The RST has another time to live: did a firewall or balancer send it?
    ResetByMiddlebox {
        /// In the name of this end.
        end: End,
    },
    /// Is only the first packet after a pause slow on this path?
    FirstPacketSlow {
        /// The server.
        server: String,
    },
    /// Does the name server answer this late each time, or only a name that it has to ask for?
    NameServerSlow {
        /// The name server.
        server: String,
        /// The name.
        name: String,
    },
    /// Were the SYNs lost, or the SYN-ACKs?
    SynOrSynAckLost,
}

impl From<ExchangeQuestion> for super::Question {
    fn from(question: ExchangeQuestion) -> Self {
        Self::Exchange(question)
    }
}

impl ExchangeQuestion {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::FirstPacketSlow { server } | Self::NameServerSlow { server, .. } => act(server),
            Self::SessionTickets
            | Self::PausesLikeTimers
            | Self::MayBeProxy { .. }
            | Self::WaitLikeTimer { .. }
            | Self::OneMessage
            | Self::AppLimited
            | Self::LongSegmentsUnseen
            | Self::ProxyBetween
            | Self::SynsArrive
            | Self::SynAcksArrive
            | Self::RetransmissionsArrive { .. }
            | Self::ResponseAfterCapture
            | Self::ServerWentOn
            | Self::ResetByMiddlebox { .. }
            | Self::SynOrSynAckLost => {}
        }
    }
}
