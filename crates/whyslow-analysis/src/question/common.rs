//! Open questions about several causes.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// An open question about several causes.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CommonQuestion {
    /// The model, held by this cause too, takes much less time than was measured.
    ModelTooFast {
        /// The modelled time.
        model_s: Nanos,
        /// The measured time.
        measured_s: Nanos,
    },
    /// The model with this limit does not reproduce the transfer.
    ModelDisagrees {
        /// The modelled time.
        model_s: Nanos,
        /// The measured time.
        measured_s: Nanos,
    },
    /// The connection's opening was not captured, so the cause is not certain.
    OpeningNotCaptured,
    /// The options of the segments were cut, so the cause is not certain.
    OptionsNotCaptured,
    /// The meaning of the messages is unknown, so the cause is not certain.
    ProtocolUnknown,
    /// The link was full: this transfer gains only what those that share the link lose.
    LinkShared,
    /// QUIC encrypts acknowledgements, windows, and retransmitted data.
    Encrypted,
    /// The log of one endpoint cannot show the link, nor why the other endpoint waited.
    OneEndpointsLog,
    /// Were the client's first packets of a QUIC handshake lost, or the server's answers?
    InitialOrAnswerLost,
}

impl From<CommonQuestion> for super::Question {
    fn from(question: CommonQuestion) -> Self {
        Self::Common(question)
    }
}

impl CommonQuestion {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, _act: &dyn Fn(&mut String)) {
        match self {
            Self::ModelTooFast { .. }
            | Self::ModelDisagrees { .. }
            | Self::OpeningNotCaptured
            | Self::OptionsNotCaptured
            | Self::ProtocolUnknown
            | Self::LinkShared
            | Self::Encrypted
            | Self::OneEndpointsLog
            | Self::InitialOrAnswerLost => {}
        }
    }
}
