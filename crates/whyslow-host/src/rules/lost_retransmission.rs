//! Retransmissions are lost, too: a device on the path drops in bursts, or drops packets above a
//! rate.
//!
//! ## What it is
//! A retransmission that is lost costs another round trip, or a timeout. Where losses are chance,
//! retransmissions are lost as seldom as anything else.
//!
//! ## How it is recognised
//! One in ten retransmissions or more was lost again (`TcpExt.TCPLostRetransmit`), at least ten,
//! and one in a hundred segments is retransmitted: ten times the share from random losses.
//! Retransmitted SYNs (`TcpExt.TCPSynRetrans`) are subtracted from both: an address that never
//! answers is `no-answer`.
//!
//! ## What it is confused with
//! - `loss` alone: losses by chance.
//! - `qdisc-drops`: the queue of this machine's own device drops.
//!
//! ## The fix
//! Look for a policer on the path (a rate that transfers never pass, and losses above it), or a
//! link with bursts of errors. A capture at the sender shows which one: `whyslow FILE`.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPLostRetransmit` rises slowly.
//!
//! ## References
//! RFC 8985 section 6.2; Flach et al., "An Internet-Wide Analysis of Traffic Policing", 2016.

use super::counted::{FEW, LOSSY, by_counter, over, passes, without_syns};
use super::qdisc_drops;
use crate::finding::{Finding, HostAction, HostCheck, HostStatement, Place, Who, figure, fix};
use crate::snapshot::{Proportion, Snapshot};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;

/// Share of the retransmissions.
const SHARE: f64 = 0.1;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    report(snapshot).into_iter().collect()
}

fn report(snapshot: Snapshot<'_>) -> Option<Finding> {
    let again = passes(snapshot, ("Tcp.RetransSegs", "Tcp.OutSegs"), LOSSY)?;
    let again = Proportion { count: without_syns(snapshot, "Tcp.RetransSegs", again)?, ..again };
    let lost = without_syns(snapshot, "TcpExt.TCPLostRetransmit", again)?;
    let share = Proportion { count: lost, all: again.count, seconds: again.seconds };
    if again.value() < LOSSY || share.count < FEW || share.value() < SHARE {
        return None;
    }
    if snapshot.namespace.devices.iter().any(|device| qdisc_drops::explains(snapshot, Some(device), share.count)) {
        return None;
    }
    let names = ("TcpExt.TCPLostRetransmit - SYNs", "Tcp.RetransSegs");
    let statement = HostStatement::RetransmissionsLost { retransmissions: share.counted() };
    let mut found = by_counter(snapshot, Cause::LostRetransmission, 0.75, statement, (names, share));
    let sent = over(snapshot, "Tcp.OutSegs", again).unwrap_or(0);
    found.evidence.push(figure("Tcp.OutSegs", sent as f64, Unit::One, (Place::Counter, again.since())));
    Some(Finding {
        remedies: vec![fix(Who::Network, HostAction::FindPolicer, None)],
        verify: Some(HostCheck::Counters { names: &["TcpExtTCPLostRetransmit"], slowly: true }),
        ..found
    })
}
