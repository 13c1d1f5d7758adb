//! A network card drops packets that came, because its ring is full.
//!
//! ## What it is
//! A card puts received packets into a ring of buffers, which the kernel empties. If the kernel is
//! late the ring is full, and the card drops packets: to the sender they are lost on the way.
//!
//! ## How it is recognised
//! `rx_missed_errors`, `rx_fifo_errors` or `rx_over_errors` of a device are one in 10,000 of its
//! `rx_packets` or more, at least ten; or one of its driver's own counters of a full ring is
//! (`ethtool -S`: `rx_out_of_buffer` and `rx_discards_phy` of mlx5, `rx_no_dma_resources` of
//! ixgbe). At that rate and 100 ms a sender is held to about 14 Mbit/s (Mathis et al.). With
//! `--for` or `--watch` only drops during that time count.
//!
//! ## What it is confused with
//! - `rx_dropped`: also counts packets of unsupported protocols, and is not reported.
//! - `softnet-drops`: the kernel drops behind the ring.
//!
//! ## The fix
//! Let the ring be as large as the card can have it (`ethtool -G`): some cards lose their link for
//! a second while that is done, so choose the moment. Spread the card's interrupts over processors
//! (`ethtool -L`).
//!
//! ## To see that it worked
//! `ip -s -s link show dev DEVICE` does not count on under `missed` and `fifo`.
//!
//! ## References
//! Linux struct rtnl_link_stats64, ethtool(8), networking/device_drivers (mlx5 counters).

use super::counted::{DROPPED, FEW};
use crate::finding::{
    Extent, Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Since, Who, figure, fix,
};
use crate::snapshot::{Count, Proportion, Snapshot, is_plain};
use whyslow_analysis::Unit;
use whyslow_live::host::Device;

/// Packets that the card had no room for. The first is what the others add up to, or the largest.
const COUNTERS: [&str; 3] = ["rx_missed_errors", "rx_fifo_errors", "rx_over_errors"];
/// The same by the names of drivers that have a counter of their own for it.
const OF_DRIVERS: [&str; 3] = ["rx_out_of_buffer", "rx_discards_phy", "rx_no_dma_resources"];
/// Packets since an earlier snapshot that give a reliable share.
const ENOUGH: u64 = 10_000;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    snapshot.namespace.devices.iter().filter_map(|device| report(snapshot, device)).collect()
}

fn count(snapshot: Snapshot<'_>, device: &Device, name: &str) -> Option<Count> {
    let boot = *device.counters.get(name)?;
    let recent = snapshot.earlier.and_then(|(earlier, seconds)| {
        let before = earlier.devices.iter().find(|before| before.index == device.index)?;
        Some((boot.saturating_sub(*before.counters.get(name)?), seconds))
    });
    Some(Count { boot, recent })
}

/// A counter of the driver: those that are zero are not listed.
fn driver_count(snapshot: Snapshot<'_>, device: &Device, name: &str) -> Option<Count> {
    let boot = *device.driver_counters.get(name)?;
    let recent = snapshot.earlier.and_then(|(earlier, seconds)| {
        let before = earlier.devices.iter().find(|before| before.index == device.index)?;
        let before = before.driver_counters.get(name).copied().unwrap_or(0);
        Some((boot.saturating_sub(before), seconds))
    });
    Some(Count { boot, recent })
}

fn report(snapshot: Snapshot<'_>, device: &Device) -> Option<Finding> {
    let all = count(snapshot, device, "rx_packets")?;
    let of_kernel = COUNTERS.iter().filter_map(|name| Some((*name, count(snapshot, device, name)?)));
    let of_driver = OF_DRIVERS.iter().filter_map(|name| Some((*name, driver_count(snapshot, device, name)?)));
    // Drivers add some of their own to the kernel's: of equals that one is named.
    let shares = of_driver.chain(of_kernel).filter_map(|(name, count)| Some((name, count.share_of(all, ENOUGH)?)));
    let (name, share): (&str, Proportion) = shares.max_by_key(|(_, share)| share.count)?;
    if share.count < FEW || share.value() < DROPPED {
        return None;
    }
    let from = (Place::Device, share.since());
    let mut evidence = vec![
        figure(format!("{} {name}", device.name), share.count as f64, Unit::Packets, from),
        figure(format!("{} rx_packets", device.name), share.all as f64, Unit::Packets, from),
    ];
    let larger = device.rings.filter(|rings| rings.rx < rings.rx_max);
    if let Some(rings) = device.rings {
        evidence.push(figure("rx ring", rings.rx.into(), Unit::Packets, (Place::Device, Since::Now)));
        evidence.push(figure("rx ring, most", rings.rx_max.into(), Unit::Packets, (Place::Device, Since::Now)));
    }
    let name_of = device.name.clone();
    let action = match larger {
        Some(rings) => HostAction::EnlargeRing { device: name_of.clone(), packets: rings.rx_max.into() },
        None => HostAction::SpreadInterrupts,
    };
    // Reading is harmless; a link that is gone for a second is not.
    let command = is_plain(&name_of).then(|| snapshot.command(&format!("ethtool -g {name_of}")));
    let verify = if OF_DRIVERS.contains(&name) {
        HostCheck::Driver { device: name_of.clone(), name: name.to_owned() }
    } else {
        HostCheck::Link { device: name_of.clone() }
    };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        extent: Some(Extent::Share { share: share.value(), of: share.all, unit: Unit::Packets }),
        evidence,
        remedies: vec![fix(Who::Host, action, command)],
        verify: Some(verify),
        ..Finding::new(
            HostCause::NicDrops,
            0.85,
            HostStatement::CardDropped { device: name_of, packets: share.counted() },
        )
    })
}
