//! The queue of this machine's own network device drops packets before they leave.
//!
//! ## What it is
//! Each device has a queueing discipline (`tc qdisc`) in front of it. When its queue is full, or
//! its rate limit (`tbf`, `htb`) leaves no room, it drops. To TCP that is loss, but no packet was
//! lost in the network: a capture on this machine may show the dropped packets or not.
//!
//! ## How it is recognised
//! The discipline's `dropped` counter (`tc -s qdisc`) is one in 10,000 of the packets that left or
//! more, ten at least. At that rate and 100 ms a sender is held to about 14 Mbit/s (Mathis et al.).
//! Disciplines that drop on purpose to keep their queue short (`fq_codel`, `cake`, `red`, …) are
//! reported from one in a hundred. With `--for` or `--watch` only packets of that time count.
//!
//! ## What it is confused with
//! - `loss`: the same retransmissions with no drops on this machine.
//! - `nic-drops`, `softnet-drops`: packets that arrived here.
//!
//! ## The fix
//! Raise the rate or the limit of the discipline, make the device's queue longer (`txqueuelen`), or
//! let senders pace (`fq`). A `netem` drops as configured: remove it.
//!
//! ## To see that it worked
//! `tc -s qdisc show dev DEVICE` does not count on under `dropped`.
//!
//! ## References
//! tc(8), tc-tbf(8); Linux `struct gnet_stats_queue`; RFC 8289, RFC 8290.

use super::counted::{DROPPED, FEW, LOSSY};
use crate::finding::{
    Extent, Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Since, Who, figure, fix,
};
use crate::snapshot::{Count, Snapshot, is_plain};
use whyslow_analysis::Unit;
use whyslow_live::host::Device;

/// Disciplines that drop to keep their queue short.
const SHORT_QUEUES: [&str; 9] = ["fq_codel", "codel", "cake", "pie", "fq_pie", "red", "gred", "sfb", "choke"];
/// Disciplines that keep a rate.
const SHAPERS: [&str; 4] = ["tbf", "htb", "hfsc", "cake"];
/// Packets since boot that a share needs.
const ENOUGH: u64 = 1_000;
/// Local drops that explain retransmissions, as a share of these.
const HALF: f64 = 0.5;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    snapshot.namespace.devices.iter().filter_map(|device| report(snapshot, device)).collect()
}

/// Whether the device's own queue dropped about as many packets as were sent again.
pub(super) fn explains(snapshot: Snapshot<'_>, device: Option<&Device>, again: u64) -> bool {
    let dropped = device.and_then(|device| most_dropped(snapshot, device)).map(|(_, drops, _)| drops.newest().0);
    dropped.is_some_and(|dropped| dropped >= FEW && dropped as f64 >= HALF * again as f64)
}

/// The discipline of a device that dropped most, its drops, and all packets that it was given. A
/// root's counters include those of the disciplines below it.
fn most_dropped<'a>(snapshot: Snapshot<'_>, device: &'a Device) -> Option<(&'a str, Count, Count)> {
    let earlier = snapshot.earlier.and_then(|(earlier, seconds)| {
        Some((earlier.devices.iter().find(|before| before.index == device.index)?, seconds))
    });
    let counts = device.qdiscs.iter().enumerate().map(|(place, qdisc)| {
        let [drops, all] = [u64::from(qdisc.drops), qdisc.packets + u64::from(qdisc.drops)];
        let recent = earlier.map(|(device, seconds)| {
            // A new discipline counts from zero.
            let before = device.qdiscs.get(place).filter(|before| before.kind == qdisc.kind);
            let before = before.filter(|before| before.drops <= qdisc.drops && before.packets <= qdisc.packets);
            let [old_drops, old_packets] = before.map_or([0; 2], |before| [before.drops.into(), before.packets]);
            ([drops - old_drops, all - old_drops - old_packets], seconds)
        });
        let count =
            |boot, index: usize| Count { boot, recent: recent.map(|(counts, seconds)| (counts[index], seconds)) };
        (qdisc.kind.as_str(), count(drops, 0), count(all, 1))
    });
    counts.max_by_key(|(_, drops, _)| drops.newest().0)
}

fn report(snapshot: Snapshot<'_>, device: &Device) -> Option<Finding> {
    let (kind, dropped, all) = most_dropped(snapshot, device)?;
    let share = dropped.share_of(all, ENOUGH)?;
    let threshold = if SHORT_QUEUES.contains(&kind) { LOSSY } else { DROPPED };
    if share.count < FEW || share.value() < threshold {
        return None;
    }
    let from = (Place::Device, share.since());
    let mut evidence = vec![
        figure(format!("{} {kind} dropped", device.name), share.count as f64, Unit::Packets, from),
        figure(format!("{} {kind} packets", device.name), share.all as f64, Unit::Packets, from),
    ];
    let waiting = device.qdiscs.iter().map(|qdisc| qdisc.backlog).max().unwrap_or(0);
    evidence.push(figure("backlog", waiting.into(), Unit::Bytes, (Place::Device, Since::Now)));
    let name = &device.name;
    let command = is_plain(name).then(|| snapshot.command(&format!("tc -s qdisc show dev {name}")));
    let statement =
        HostStatement::OwnQueueDropped { device: name.clone(), discipline: kind.to_owned(), packets: share.counted() };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        extent: Some(Extent::Share { share: share.value(), of: share.all, unit: Unit::Packets }),
        evidence,
        remedies: vec![fix(Who::Host, action(device, kind), command)],
        verify: Some(HostCheck::Qdisc { device: name.clone() }),
        ..Finding::new(HostCause::QdiscDrops, 0.9, statement)
    })
}

fn action(device: &Device, kind: &str) -> HostAction {
    let (device, discipline) = (device.name.clone(), kind.to_owned());
    match kind {
        "netem" => HostAction::RemoveNetem { device },
        _ if SHAPERS.contains(&kind) => HostAction::RaiseShaper { device, discipline },
        _ if SHORT_QUEUES.contains(&kind) => HostAction::FasterLink { device, discipline },
        _ => HostAction::LongerQueue { device },
    }
}
