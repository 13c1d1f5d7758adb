//! Definition of a rule.

use super::rule_input::{ConnectionSummary, ConnectionView, TransferView};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Finding, Problem};
use whyslow_core::tcp::ShortConnectionBounds;
use whyslow_core::tcp::facts::Facts;

/// Whether a cause may have cost a connection time that is known by its bounds alone.
pub(super) type MayCost = fn(&ShortConnectionBounds) -> bool;

/// Evidence that some captures lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// The opening of the connection: window scale, segment size, the client's side, the first
    /// round trips.
    Opening,
    /// The options of all segments: SACK and timestamps show which copies were needed.
    Options,
    /// The protocol above TCP: the meaning of small messages.
    Protocol,
}

/// A rule: its findings, and the data that it reads.
pub(super) struct Rule {
    pub cause: Cause,
    pub check: Check,
    /// Whether a transfer shows the cause, whatever it cost.
    pub shows: fn(&TransferView<'_>) -> bool,
    /// `None` for a cause that takes longer than any short connection lasts.
    pub may_cost: Option<MayCost>,
    /// The model plays all that the cause does.
    pub fully_modelled: bool,
    /// Kind of evidence of its findings.
    pub proof: Proof,
    /// Without this evidence the cause is at most likely.
    pub certain_with: &'static [Evidence],
    /// Time that the fix saves a connection, if no model is needed.
    pub saving: Option<Saving>,
}

impl Rule {
    /// A rule of this cause.
    pub const fn new(cause: Cause, check: Check) -> Self {
        Self {
            cause,
            check,
            shows: |_| false,
            may_cost: None,
            fully_modelled: false,
            proof: Proof::Packets,
            certain_with: &[],
            saving: None,
        }
    }

    /// A transfer shows the cause where this is true, and then causes that are
    /// [excluded](crate::timeline::excluded_by) by it are not named.
    pub const fn shown_by(self, shows: fn(&TransferView<'_>) -> bool) -> Self {
        Self { shows, ..self }
    }

    /// It finds nothing in a short connection where this is false.
    pub const fn may_cost(self, may_cost: MayCost) -> Self {
        Self { may_cost: Some(may_cost), ..self }
    }

    /// The model plays all that the cause does: a model that takes much less time than was measured
    /// contradicts it.
    pub const fn fully_modelled(self) -> Self {
        Self { fully_modelled: true, ..self }
    }

    /// Sets the kind of evidence. Findings from flights and rates need the opening.
    pub const fn proof(self, proof: Proof) -> Self {
        let certain_with = if matches!(proof, Proof::Model) { &[Evidence::Opening] } else { self.certain_with };
        Self { proof, certain_with, ..self }
    }

    /// Requires this evidence before the finding can be certain.
    pub const fn certain_with(self, certain_with: &'static [Evidence]) -> Self {
        Self { certain_with, ..self }
    }

    /// Sets the time that the fix saves per connection.
    pub const fn saves(self, saving: Saving) -> Self {
        Self { saving: Some(saving), ..self }
    }
}

/// Saving of the fix of a finding over connections. The waits that it removes contain no other
/// events, so that no model is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saving {
    /// All costs of the cause.
    Cost,
    /// The cost, only for connections that carried data.
    CostIfCarried,
    /// The rule predicts the remaining time.
    Predicted,
}

/// Kind of evidence of a rule's findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Single packets show the cause: a retransmission, a closed window, an answer that is late.
    Packets,
    /// How flights and rates look. The model is built from the same inference, so it tests it: a
    /// second reading that agrees or contradicts.
    Model,
    /// A pattern of many packets that other causes can make as well, and that no model tests.
    Pattern,
}

/// Input of a rule.
pub(super) enum Check {
    /// One transfer.
    Transfer(fn(&TransferView<'_>) -> Option<Finding>),
    /// All transfers of a connection.
    Connection(fn(&ConnectionView<'_>) -> Option<Finding>),
    /// All connections.
    Across(fn(&[ConnectionSummary]) -> Vec<Finding>),
    /// One transfer, and then all transfers of a connection.
    TransferAndConnection(fn(&TransferView<'_>) -> Option<Finding>, fn(&ConnectionView<'_>) -> Option<Finding>),
    /// One transfer, and then all connections.
    TransferAndAcross(fn(&TransferView<'_>) -> Option<Finding>, fn(&[ConnectionSummary]) -> Vec<Finding>),
    /// Properties that the capture of a connection cannot show.
    Capture(fn(&Facts) -> Option<Problem>),
    /// Found by the capture readers, which count it in the capture's problems.
    Reader,
}
