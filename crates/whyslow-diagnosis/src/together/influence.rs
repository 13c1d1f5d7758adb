//! [`Influence`]: an effect of other connections on a transfer, as a fact.

use std::collections::BTreeMap;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{CostSpan, Finding};
use whyslow_units::Nanos;

/// An effect of other connections on a transfer.
#[derive(Clone, Debug)]
pub(crate) enum Influence {
    /// It shared a link that was full, and that held it.
    SharedLink(Box<SharedLink>),
    /// It shared a full link, but had another limit: others would take the gain of a fix.
    LinkNotFree,
    /// It stood in a queue of this length that another transfer had made.
    Queue(Nanos),
    /// It waited for another connection's work in these moments; its rule has the time under this
    /// cause.
    OtherWork(Cause, Vec<CostSpan>),
}

/// A full link that held a transfer.
#[derive(Clone, Debug)]
pub(crate) struct SharedLink {
    /// The transfer's part of it.
    pub finding: Finding,
    /// Share of the transfer's time in which the link was not its limit.
    pub left: f64,
    /// Times in which the other limits' time belongs to the link; empty for a link whose excess is
    /// dropped.
    pub full: Vec<(Nanos, Nanos)>,
}

/// Effects of concurrent connections on each other.
#[derive(Debug, Default)]
pub(crate) struct Together {
    /// Findings that concern several connections.
    pub findings: Vec<Finding>,
    /// Transfers without a possible promise: their connections, and their starts.
    pub unpredictable: Vec<(u64, Nanos)>,
    /// By the places of a connection and of its transfer, in the order in which they count.
    pub of_transfers: BTreeMap<(usize, usize), Vec<Influence>>,
    /// The queue in which a connection's handshake stood, by the place of the connection.
    pub of_handshakes: BTreeMap<usize, Nanos>,
}

impl Together {
    pub(super) fn add(&mut self, place: (usize, usize), influence: Influence) {
        self.of_transfers.entry(place).or_default().push(influence);
    }
}
