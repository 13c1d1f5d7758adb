//! Offloads, speeds and rings of devices: generic netlink `ethtool` (linux/ethtool_netlink.h).

use super::Rings;
use super::generic::Family;
use std::collections::BTreeMap;
use std::io;
use whyslow_tcpinfo::attributes::{find, put_nested, read, text, u32_at};

/// Commands.
const LINKMODES_GET: u8 = 4;
const FEATURES_GET: u8 = 11;
const RINGS_GET: u8 = 15;

/// Attributes: of all messages, and within it.
const HEADER: u16 = 1;
const HEADER_DEV_INDEX: u16 = 1;

const LINKMODES_SPEED: u16 = 5;
const FEATURES_HW: u16 = 2;
const FEATURES_ACTIVE: u16 = 4;
const RINGS_RX_MAX: u16 = 2;
const RINGS_TX_MAX: u16 = 5;
const RINGS_RX: u16 = 6;
const RINGS_TX: u16 = 9;

/// Sets of bits, listed with their names.
const BITSET_NOMASK: u16 = 1;
const BITSET_BITS: u16 = 3;
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;

/// Features that `ethtool -k` combines or renames, with the beginning and end of the kernel's
/// names: a feature is on if one of these is.
const SUMS: [(&str, &str, &str); 11] = [
    ("rx-checksumming", "rx-checksum", "rx-checksum"),
    ("tx-checksumming", "tx-checksum-", ""),
    ("scatter-gather", "tx-scatter-gather", ""),
    ("tcp-segmentation-offload", "tx-tcp", "-segmentation"),
    ("generic-segmentation-offload", "tx-generic-segmentation", ""),
    ("generic-receive-offload", "rx-gro", "rx-gro"),
    ("large-receive-offload", "rx-lro", "rx-lro"),
    ("rx-vlan-offload", "rx-vlan-hw-parse", ""),
    ("tx-vlan-offload", "tx-vlan-hw-insert", ""),
    ("ntuple-filters", "rx-ntuple-filter", ""),
    ("receive-hashing", "rx-hashing", ""),
];

/// The data of a device.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Details {
    pub speed_mbps: Option<u32>,
    pub offloads: BTreeMap<String, bool>,
    pub rings: Option<Rings>,
}

/// Devices of the thread's network namespace by their indices.
///
/// # Errors
/// ENOENT where the kernel does not have the family (before 5.6).
pub(super) fn all() -> io::Result<BTreeMap<u32, Details>> {
    let mut family = Family::open("ethtool")?;
    let mut all: BTreeMap<u32, Details> = BTreeMap::new();
    for (index, offloads) in list(&mut family, FEATURES_GET, |message| Some(offloads(message)))? {
        all.entry(index).or_default().offloads = offloads;
    }
    // Not offered by some drivers and older kernels.
    for (index, speed) in list(&mut family, LINKMODES_GET, speed).unwrap_or_default() {
        all.entry(index).or_default().speed_mbps = Some(speed);
    }
    for (index, rings) in list(&mut family, RINGS_GET, rings).unwrap_or_default() {
        all.entry(index).or_default().rings = Some(rings);
    }
    Ok(all)
}

/// Asks for all devices. Gives what `parse` makes of each, with its index.
fn list<T>(family: &mut Family, command: u8, parse: impl Fn(&[u8]) -> Option<T>) -> io::Result<Vec<(u32, T)>> {
    let mut request = Vec::new();
    put_nested(&mut request, HEADER, &[]);
    Ok(family.list(command, &request, |message| Some((index(message)?, parse(message)?)))?.items)
}

fn index(message: &[u8]) -> Option<u32> {
    find(find(message, HEADER)?, HEADER_DEV_INDEX).and_then(|value| u32_at(value, 0))
}

fn speed(message: &[u8]) -> Option<u32> {
    find(message, LINKMODES_SPEED).and_then(|value| u32_at(value, 0)).filter(|&speed| speed != 0 && speed != u32::MAX)
}

fn rings(message: &[u8]) -> Option<Rings> {
    let number = |kind| find(message, kind).and_then(|value| u32_at(value, 0));
    Some(Rings {
        rx: number(RINGS_RX)?,
        rx_max: number(RINGS_RX_MAX)?,
        tx: number(RINGS_TX)?,
        tx_max: number(RINGS_TX_MAX)?,
    })
}

fn offloads(message: &[u8]) -> BTreeMap<String, bool> {
    let names = |kind| find(message, kind).map(names).unwrap_or_default();
    let mut offloads: BTreeMap<String, bool> = names(FEATURES_HW).into_iter().map(|name| (name, false)).collect();
    offloads.extend(names(FEATURES_ACTIVE).into_iter().map(|name| (name, true)));
    for (sum, start, end) in SUMS {
        let parts = offloads.iter().filter(|(name, _)| name.starts_with(start) && name.ends_with(end));
        if let Some(on) = parts.map(|(_, &on)| on).reduce(|one, other| one || other) {
            offloads.insert(sum.to_owned(), on);
        }
    }
    offloads
}

/// Names of the bits that are set. A set without a mask lists those alone.
fn names(bitset: &[u8]) -> Vec<String> {
    let lists_all = find(bitset, BITSET_NOMASK).is_none();
    let bits = read(find(bitset, BITSET_BITS).unwrap_or_default()).map(|(_, bit)| bit);
    let set = bits.filter(|bit| !lists_all || find(bit, BIT_VALUE).is_some());
    set.filter_map(|bit| find(bit, BIT_NAME)).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whyslow_tcpinfo::attributes::put;

    /// With a mask it lists bits that are not set as well.
    fn bitset(names: &[&str], has_mask: bool) -> Vec<u8> {
        let (mut bits, mut set) = (Vec::new(), Vec::new());
        for name in names {
            let mut bit = Vec::new();
            put(&mut bit, BIT_NAME, &[name.as_bytes(), &[0]].concat());
            if has_mask {
                put(&mut bit, BIT_VALUE, &[]);
            }
            put_nested(&mut bits, 1, &bit);
        }
        if has_mask {
            let mut bit = Vec::new();
            put(&mut bit, BIT_NAME, b"rx-lro\0");
            put_nested(&mut bits, 1, &bit);
        } else {
            put(&mut set, BITSET_NOMASK, &[]);
        }
        put_nested(&mut set, BITSET_BITS, &bits);
        set
    }

    #[test]
    fn offloads_are_on_off_or_not_to_be_had() {
        let mut message = Vec::new();
        put_nested(
            &mut message,
            FEATURES_HW,
            &bitset(&["rx-gro", "tx-tcp-segmentation", "tx-tcp6-segmentation"], true),
        );
        put_nested(&mut message, FEATURES_ACTIVE, &bitset(&["tx-tcp6-segmentation", "rx-checksum"], false));
        let offloads = offloads(&message);
        let on = |name: &str| offloads.get(name).copied();
        assert_eq!((on("rx-gro"), on("generic-receive-offload")), (Some(false), Some(false)));
        assert_eq!((on("tx-tcp-segmentation"), on("tcp-segmentation-offload")), (Some(false), Some(true)));
        assert_eq!((on("rx-checksumming"), on("large-receive-offload")), (Some(true), None));
    }

    #[test]
    fn an_unknown_speed_is_none() {
        let of = |speed_mbps: u32| {
            let mut message = Vec::new();
            put(&mut message, LINKMODES_SPEED, &speed_mbps.to_ne_bytes());
            speed(&message)
        };
        assert_eq!((of(10_000), of(u32::MAX), of(0)), (Some(10_000), None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (index(&bytes), speed(&bytes), rings(&bytes), offloads(&bytes), names(&bytes));
        }
    }
}
