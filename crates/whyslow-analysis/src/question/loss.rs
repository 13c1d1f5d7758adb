//! Open questions about lost, repeated and reordered packets.

use crate::types::End;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// An open question about lost, repeated and reordered packets.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LossQuestion {
    /// Were the losses those of a queue or a policer, or of a link that fails for moments?
    BurstOrigin,
    /// Where does the second copy of a packet appear?
    DuplicationPlace,
    /// Did the sender send what never came to the capture point?
    FirstCopiesUnseen,
    /// Did the sender or the network make the second copies?
    OriginOfCopies,
    /// Do large packets pass that may not be fragmented?
    PingLarge {
        /// `ping -s` that must fail.
        fails: u64,
    },
    /// Do packets of the size pass that a router's error named, and do the errors arrive?
    PingReportedSize {
        /// The end that sends.
        from: End,
        /// A `ping -s` of this size must pass, and one with one byte more must fail.
        passes: u64,
    },
    /// Are the losses random?
    RandomOrQueue,
    /// Did the SYN carry the SACK option when it left its host?
    SackAtItsEnd {
        /// The end whose SYN lacks it in the capture.
        end: End,
    },
}

impl From<LossQuestion> for super::Question {
    fn from(question: LossQuestion) -> Self {
        Self::Loss(question)
    }
}

impl LossQuestion {
    /// Applies `act` to every host that it names: it names none.
    pub(super) fn each_host(&mut self, _act: &dyn Fn(&mut String)) {
        match self {
            Self::BurstOrigin
            | Self::DuplicationPlace
            | Self::FirstCopiesUnseen
            | Self::OriginOfCopies
            | Self::PingLarge { .. }
            | Self::PingReportedSize { .. }
            | Self::RandomOrQueue
            | Self::SackAtItsEnd { .. } => {}
        }
    }
}
