//! Open questions about the rate of the link and its queue, and about the hosts at its ends.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// An open question about the rate of the link and its queue, or about the hosts at its ends.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LinkQuestion {
    /// Did the sending application write late, or was its host short of processor time?
    ApplicationOrProcessor,
    /// Does the capture point stand at the receiver, or a hop away?
    CaptureBesideReceiver,
    /// Is the rate limited on purpose?
    ConfiguredLimit,
    /// Did the rate fall because other traffic began?
    FallByOtherTraffic,
    /// Did the path become longer, as the receive window was full before and after?
    FallByLongerPath,
    /// Did the rate fall because the sender slowed down by itself?
    FallBySender,
    /// Which queue marks packets?
    MarkingQueue,
    /// Transfers of the capture that are not part of the sums.
    NotCompared {
        /// How many.
        transfers: u64,
    },
    /// Does other traffic share the link?
    OtherTraffic,
    /// How much does the rate matter, as it was in force for a part of the time?
    PartOfTime,
    /// Does a policer drop what exceeds the rate, as hardly any queue stands?
    PolicerWithoutQueue,
    /// How long is the queue, which cannot be seen at the receiver without timestamps?
    QueueHidden,
    /// Is it a policer, or a full queue that cannot be seen at this vantage point?
    QueueOrPolicer,
    /// Is it a policer, or a very short queue?
    ShortQueueOrPolicer,
}

impl From<LinkQuestion> for super::Question {
    fn from(question: LinkQuestion) -> Self {
        Self::Link(question)
    }
}

impl LinkQuestion {
    /// Applies `act` to every host that it names: it names none.
    pub(super) fn each_host(&mut self, _act: &dyn Fn(&mut String)) {
        match self {
            Self::ApplicationOrProcessor
            | Self::CaptureBesideReceiver
            | Self::ConfiguredLimit
            | Self::FallByLongerPath
            | Self::FallByOtherTraffic
            | Self::FallBySender
            | Self::MarkingQueue
            | Self::NotCompared { .. }
            | Self::OtherTraffic
            | Self::PartOfTime
            | Self::PolicerWithoutQueue
            | Self::QueueHidden
            | Self::QueueOrPolicer
            | Self::ShortQueueOrPolicer => {}
        }
    }
}
