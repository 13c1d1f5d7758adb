//! Network devices by rtnetlink(7), with their data from ethtool.

use super::{Device, Qdisc, driver_counters, ethtool};
use nix::sys::socket::SockProtocol;
use std::collections::BTreeMap;
use std::io;
use whyslow_tcpinfo::attributes::{find, read, text, u32_at, u64_at};
use whyslow_tcpinfo::netlink::{List, Netlink};

const RTM_GETLINK: u16 = 18;
const RTM_GETQDISC: u16 = 38;

/// Bytes of `struct ifinfomsg` and of `struct tcmsg`.
const LINK: usize = 16;
const QDISC: usize = 20;

const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_QDISC: u16 = 6;
const IFLA_LINKINFO: u16 = 18;
const IFLA_STATS64: u16 = 23;
const IFLA_INFO_KIND: u16 = 1;

const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_PKT64: u16 = 8;
const TC_H_ROOT: u32 = u32::MAX;

/// `struct rtnl_link_stats64` (linux/if_link.h), in its order.
const COUNTERS: [&str; 25] = [
    "rx_packets",
    "tx_packets",
    "rx_bytes",
    "tx_bytes",
    "rx_errors",
    "tx_errors",
    "rx_dropped",
    "tx_dropped",
    "multicast",
    "collisions",
    "rx_length_errors",
    "rx_over_errors",
    "rx_crc_errors",
    "rx_frame_errors",
    "rx_fifo_errors",
    "rx_missed_errors",
    "tx_aborted_errors",
    "tx_carrier_errors",
    "tx_fifo_errors",
    "tx_heartbeat_errors",
    "tx_window_errors",
    "rx_compressed",
    "tx_compressed",
    "rx_nohandler",
    "rx_otherhost_dropped",
];

/// All devices of the thread's network namespace, with their counters and queueing disciplines.
///
/// # Errors
/// What the kernel answers.
pub(super) fn all() -> io::Result<List<Device>> {
    let mut netlink = Netlink::open(SockProtocol::NetlinkRoute)?;
    let mut devices = netlink.list(RTM_GETLINK, &[0; LINK], device)?;
    let qdiscs = netlink.list(RTM_GETQDISC, &[0; QDISC], qdisc)?;
    devices.changed |= qdiscs.changed;
    let mut by_device: BTreeMap<u32, Vec<Qdisc>> = BTreeMap::new();
    for (index, qdisc) in qdiscs.items {
        by_device.entry(index).or_default().push(qdisc);
    }
    for device in &mut devices.items {
        device.qdiscs = by_device.remove(&device.index).unwrap_or_default();
        device.qdiscs.sort_by_key(|qdisc| !qdisc.root);
    }
    Ok(devices)
}

/// Adds what ethtool knows.
///
/// # Errors
/// ENOENT where the kernel does not answer for it.
pub(super) fn add_details(devices: &mut [Device]) -> io::Result<()> {
    let mut details = ethtool::all()?;
    for device in devices {
        let of = details.remove(&device.index).unwrap_or_default();
        (device.speed_mbps, device.offloads, device.rings) = (of.speed_mbps, of.offloads, of.rings);
        // Many drivers have none.
        device.driver_counters = driver_counters::of_drops(&device.name).unwrap_or_default();
    }
    Ok(())
}

fn device(message: &[u8]) -> Option<Device> {
    let mut device = Device { index: u32_at(message, 4)?, ..Device::default() };
    for (kind, value) in read(message.get(LINK..)?) {
        match kind {
            IFLA_IFNAME => device.name = text(value),
            IFLA_MTU => device.mtu = u32_at(value, 0)?,
            IFLA_QDISC => device.qdisc = Some(text(value)),
            IFLA_LINKINFO => device.kind = find(value, IFLA_INFO_KIND).map(text),
            IFLA_STATS64 => {
                let numbers = (0..).map_while(|index| u64_at(value, index * 8));
                device.counters = COUNTERS.iter().map(|&name| name.to_owned()).zip(numbers).collect();
            }
            _ => {}
        }
    }
    Some(device).filter(|device| !device.name.is_empty())
}

/// A queueing discipline, and the index of its device.
fn qdisc(message: &[u8]) -> Option<(u32, Qdisc)> {
    let attributes = message.get(QDISC..)?;
    let stats = find(attributes, TCA_STATS2).unwrap_or_default();
    // `struct gnet_stats_basic`: bytes in 64 bits, packets in 32; newer kernels add all 64 bits.
    let basic = find(stats, TCA_STATS_BASIC).and_then(|basic| u32_at(basic, 8)).map(u64::from);
    let packets = find(stats, TCA_STATS_PKT64).and_then(|packets| u64_at(packets, 0)).or(basic);
    // `struct gnet_stats_queue`: packets, bytes, drops, requeues, overlimits.
    let queue = find(stats, TCA_STATS_QUEUE).unwrap_or_default();
    let number = |place| u32_at(queue, place).unwrap_or(0);
    let qdisc = Qdisc {
        kind: text(find(attributes, TCA_KIND)?),
        root: u32_at(message, 12)? == TC_H_ROOT,
        packets: packets.unwrap_or(0),
        drops: number(8),
        overlimits: number(16),
        requeues: number(12),
        backlog: number(4),
    };
    Some((u32_at(message, 4)?, qdisc))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use whyslow_tcpinfo::attributes::{put, put_nested};

    #[test]
    fn a_device_is_read() {
        let mut message = vec![0; LINK];
        message[4..8].copy_from_slice(&7_u32.to_ne_bytes());
        put(&mut message, IFLA_IFNAME, b"eth0\0");
        put(&mut message, IFLA_MTU, &1500_u32.to_ne_bytes());
        put(&mut message, IFLA_QDISC, b"fq\0");
        let numbers: Vec<u8> = (100..124_u64).flat_map(u64::to_ne_bytes).collect();
        put(&mut message, IFLA_STATS64, &numbers);
        let device = device(&message).unwrap();
        assert_eq!((device.index, device.name.as_str(), device.mtu), (7, "eth0", 1500));
        assert_eq!((device.qdisc.as_deref(), device.kind), (Some("fq"), None));
        assert_eq!((device.counters["rx_dropped"], device.counters["rx_missed_errors"]), (106, 115));
        // An older kernel has one fewer.
        assert!(!device.counters.contains_key("rx_otherhost_dropped"));
    }

    #[test]
    fn a_qdisc_is_read() {
        let mut message = vec![0; QDISC];
        message[4..8].copy_from_slice(&7_u32.to_ne_bytes());
        message[12..16].copy_from_slice(&TC_H_ROOT.to_ne_bytes());
        put(&mut message, TCA_KIND, b"fq_codel\0");
        let (mut queue, mut stats) = (Vec::new(), Vec::new());
        queue.extend([1_u32, 1500, 12, 3, 4].into_iter().flat_map(u32::to_ne_bytes));
        put(&mut stats, TCA_STATS_QUEUE, &queue);
        put(&mut stats, TCA_STATS_BASIC, &[90_000_u64.to_ne_bytes(), 60_u64.to_ne_bytes()].concat());
        let parsed = |stats: &[u8]| {
            let mut message = message.clone();
            put_nested(&mut message, TCA_STATS2, stats);
            qdisc(&message).unwrap()
        };
        let expected = Qdisc {
            kind: "fq_codel".to_owned(),
            root: true,
            packets: 60,
            drops: 12,
            overlimits: 4,
            requeues: 3,
            backlog: 1500,
        };
        assert_eq!(parsed(&stats), (7, expected.clone()));
        put(&mut stats, TCA_STATS_PKT64, &5_000_000_000_u64.to_ne_bytes());
        assert_eq!(parsed(&stats), (7, Qdisc { packets: 5_000_000_000, ..expected }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = (device(&bytes), qdisc(&bytes));
        }
    }
}
