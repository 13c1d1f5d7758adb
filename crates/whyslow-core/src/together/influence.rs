//! [`Influence`]: what other connections did to a transfer, as a fact.

use crate::analysis::{CostSpan, Finding};
use crate::cause::Cause;
use crate::units::Nanos;
use std::collections::BTreeMap;

/// What other connections did to a transfer.
#[derive(Clone, Debug)]
pub(crate) enum Influence {
    /// It shared a link that was full, and that held it.
    SharedLink(Box<SharedLink>),
    /// It shared a link that was full, while something else held it: others would take what a fix
    /// gains.
    LinkNotFree,
    /// It stood in a queue of this length that another transfer had made.
    Queue(Nanos),
    /// It waited for what another connection did in these moments; its rule has the time under this
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
    /// When the time under other limits is the link's; none of a link whose excess is dropped.
    pub full: Vec<(Nanos, Nanos)>,
}

/// What connections that ran at the same time have to do with each other.
#[derive(Debug, Default)]
pub(crate) struct Together {
    /// Findings over several of them.
    pub findings: Vec<Finding>,
    /// Transfers of which nothing can be promised: their connections, and when they began.
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
