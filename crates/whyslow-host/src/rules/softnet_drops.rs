//! A processor drops packets between the network card and TCP: its backlog is full.
//!
//! ## What it is
//! Packets that are handed to another processor (RPS), and those of virtual devices, wait in that
//! processor's backlog. It holds `net.core.netdev_max_backlog` packets; further packets are
//! dropped, which the sender sees as loss on the way.
//!
//! ## How it is recognised
//! The second column of `/proc/net/softnet_stat` is one in 10,000 of the first or more, at least
//! ten, over all processors. At that rate and 100 ms a sender is held to about 14 Mbit/s (Mathis et
//! al.). With `--for` or `--watch` only drops during that time count.
//!
//! ## What it is confused with
//! - `nic-drops`: the card drops before.
//! - the third column (out of budget): the processor came back later, and nothing was dropped.
//!
//! ## The fix
//! A backlog of twice the size, and the work of the busiest processor spread over others.
//!
//! ## To see that it worked
//! The second column of `/proc/net/softnet_stat` does not rise.
//!
//! ## References
//! Linux networking/scaling, sysctl/net (netdev_max_backlog).

use super::counted::{DROPPED, FEW};
use crate::finding::{
    Extent, Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Since, Who, figure, fix,
};
use crate::snapshot::{Count, Snapshot};
use whyslow_analysis::Unit;
use whyslow_live::host::Softnet;

/// Packets since an earlier snapshot that give a reliable share.
const ENOUGH: u64 = 10_000;
/// A longer backlog only delays, packets.
const MOST: i64 = 16_384;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    if snapshot.is_first { report(snapshot).into_iter().collect() } else { Vec::new() }
}

/// Over all processors.
fn count(snapshot: Snapshot<'_>, get: impl Fn(&Softnet) -> u64) -> Option<Count> {
    let sum = |all: &[Softnet]| all.iter().map(&get).sum::<u64>();
    let boot = (!snapshot.host.softnet.is_empty()).then(|| sum(&snapshot.host.softnet))?;
    let recent = snapshot.softnet_earlier.filter(|(before, _)| !before.is_empty());
    let recent = recent.map(|(before, seconds)| (boot.saturating_sub(sum(before)), seconds));
    Some(Count { boot, recent })
}

fn report(snapshot: Snapshot<'_>) -> Option<Finding> {
    let share =
        count(snapshot, |softnet| softnet.dropped)?.share_of(count(snapshot, |softnet| softnet.processed)?, ENOUGH)?;
    if share.count < FEW || share.value() < DROPPED {
        return None;
    }
    let worst = snapshot.host.softnet.iter().max_by_key(|softnet| softnet.dropped)?;
    let backlog = snapshot.setting("net.core.netdev_max_backlog");
    let from = (Place::Kernel, share.since());
    let mut evidence = vec![
        figure("softnet_stat dropped", share.count as f64, Unit::Packets, from),
        figure("softnet_stat processed", share.all as f64, Unit::Packets, from),
        figure(
            format!("processor {}: dropped", worst.cpu),
            worst.dropped as f64,
            Unit::Packets,
            (Place::Kernel, Since::Boot),
        ),
    ];
    evidence.extend(
        backlog.map(|size| {
            figure("net.core.netdev_max_backlog", size as f64, Unit::Packets, (Place::Setting, Since::Now))
        }),
    );
    let twice = backlog.map(|size| size * 2).filter(|twice| *twice <= MOST);
    let command = twice.map(|twice| snapshot.command(&format!("sysctl -w net.core.netdev_max_backlog={twice}")));
    Some(Finding {
        namespace: snapshot.foreign_name(),
        extent: Some(Extent::Share { share: share.value(), of: share.all, unit: Unit::Packets }),
        evidence,
        remedies: vec![fix(Who::Host, HostAction::LongerBacklog, command)],
        verify: Some(HostCheck::Softnet),
        ..Finding::new(HostCause::SoftnetDrops, 0.85, HostStatement::BacklogDropped { packets: share.counted() })
    })
}
