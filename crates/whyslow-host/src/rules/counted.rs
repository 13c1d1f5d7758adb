//! [`by_counter`]: a finding from a counter, as a share of the segments sent or received.

use crate::finding::{Evidence, Extent, Finding, HostStatement, Place, Slug, figure};
use crate::snapshot::{Proportion, Snapshot};
use whyslow_analysis::Unit;
pub(super) use whyslow_evidence::{DROPPED, ENOUGH, FEW, LOSSY};

/// A finding from a counter and its total.
pub(super) fn by_counter(
    snapshot: Snapshot<'_>,
    cause: impl Into<Slug>,
    confidence: f64,
    statement: HostStatement,
    (names, share): ((&str, &str), Proportion),
) -> Finding {
    let from = (Place::Counter, share.since());
    Finding {
        namespace: snapshot.foreign_name(),
        extent: Some(Extent::Share { share: share.value(), of: share.all, unit: Unit::Segments }),
        evidence: vec![
            figure(names.0, share.count as f64, Unit::One, from),
            figure(names.1, share.all as f64, Unit::One, from),
        ],
        ..Finding::new(cause, confidence, statement)
    }
}

/// Another counter, as evidence.
pub(super) fn counter(snapshot: Snapshot<'_>, name: &str, share: Proportion) -> Option<Evidence> {
    let count = snapshot.counter(name)?;
    let value = share.seconds.and(count.recent).map_or(count.boot, |(recent, _)| recent);
    Some(figure(name, value as f64, Unit::One, (Place::Counter, share.since())))
}

/// The value of a counter over the same time as a share.
pub(super) fn over(snapshot: Snapshot<'_>, name: &str, share: Proportion) -> Option<u64> {
    let count = snapshot.counter(name)?;
    Some(share.seconds.and(count.recent).map_or(count.boot, |(recent, _)| recent))
}

/// The share of a counter without SYNs and SYN-ACKs that were sent again: `Tcp.RetransSegs`,
/// `TcpExt.TCPLostRetransmit` and `TcpExt.TCPTimeouts` count these as well, and one dead address
/// makes many of them.
pub(super) fn without_syns(snapshot: Snapshot<'_>, name: &str, share: Proportion) -> Option<u64> {
    Some(over(snapshot, name, share)?.saturating_sub(over(snapshot, "TcpExt.TCPSynRetrans", share)?))
}

/// The share of a counter in another one, if the count is large enough and the share passes a
/// threshold.
pub(super) fn passes(snapshot: Snapshot<'_>, names: (&str, &str), threshold: f64) -> Option<Proportion> {
    let share = snapshot.counter(names.0)?.share_of(snapshot.counter(names.1)?, ENOUGH)?;
    (share.count >= FEW && share.value() >= threshold).then_some(share)
}
