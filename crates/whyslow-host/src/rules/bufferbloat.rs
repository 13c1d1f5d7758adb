//! What is on its way stands in a queue: round trips are much longer than the path's own.
//!
//! ## What it is
//! A queue in front of the narrowest link takes packets that the link cannot send yet. Any sender
//! that reacts to losses fills a long queue, and everything that shares it waits: requests, name
//! lookups, other transfers.
//!
//! ## How it is recognised
//! A live connection with four segments or more on their way, whose round trip is twice the least
//! one of the last five minutes and 30 ms more: the growth that captures take. Fewer segments may
//! only wait for a delayed ACK.
//!
//! ## What it is confused with
//! - a receiver that acknowledges late because it lacks processor time.
//! - a path that has changed: the least round trip is five minutes old at most.
//! - two programs of one machine that wait for a processor: their connections are left out.
//!
//! ## The fix
//! At the narrow link a queue that keeps itself short (`cake`, `fq_codel`), or BBR at the sender.
//! Larger buffers would make it worse, and none is advised for such a connection.
//!
//! ## To see that it worked
//! `ss -tin` shows `rtt` near `minrtt` while it sends.
//!
//! ## References
//! RFC 7567, RFC 8290; Gettys and Nichols, "Bufferbloat", 2011.

use crate::finding::{
    Extent, Field, Finding, HostAction, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Peer, Snapshot};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;
use whyslow_evidence::{QUEUE_GROWTH_S as GROWTH_S, QUEUE_SEGMENTS as SEGMENTS};

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    Peer::all(snapshot.live().filter(|live| is_queued(live) && !live.stays_in_memory()))
        .into_iter()
        .filter_map(|peer| report(snapshot, &peer))
        .collect()
}

fn growth(live: &Live<'_>) -> f64 {
    live.rtt().zip(live.min_rtt()).map_or(0.0, |(rtt, least)| rtt - least)
}

fn is_queued(live: &Live<'_>) -> bool {
    live.stands_in_queue() && growth(live) >= GROWTH_S && live.info.unacked.is_some_and(|flight| flight >= SEGMENTS)
}

fn report(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let worst = peer.connections.iter().max_by(|a, b| growth(a).total_cmp(&growth(b)))?;
    let (rtt, least) = (worst.rtt()?, worst.min_rtt()?);
    let now = (Place::Socket, Since::Now);
    let mut evidence = vec![figure("rtt", rtt, Unit::Seconds, now), figure("minrtt", least, Unit::Seconds, now)];
    evidence.extend(worst.info.unacked.map(|flight| figure("unacked", flight.into(), Unit::Segments, now)));
    evidence.push(text("socket", worst.line(), now));
    let is_bbr = worst.socket.congestion_control.as_deref().is_some_and(|name| name.starts_with("bbr"));
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        cost_s: Some(growth(worst)),
        extent: Some(Extent::InEachRoundTrip { seconds: growth(worst) }),
        evidence,
        remedies: vec![fix(Who::Network, HostAction::KeepQueueShort { or_bbr: !is_bbr }, None)],
        verify: Some(HostCheck::Socket { peer: Some(peer.address), shows: Field::RttNearLeast }),
        ..Finding::new(
            Cause::Bufferbloat,
            0.65,
            HostStatement::QueueToPeer { peer: peer.address, rtt_s: rtt, least_s: least },
        )
    })
}
