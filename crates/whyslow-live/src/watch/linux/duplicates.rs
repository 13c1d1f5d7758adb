//! A packet passes each of the devices that stand on each other (a bridge and its ports, a bond, a
//! VLAN and its parent), and a forwarded one comes in at one and leaves at another. A direction of
//! a connection is taken from the device that shows it first.

use crate::watch::packet::RingPacket;
use crate::watch::segment::Segment;
use std::hash::{BuildHasher, RandomState};

/// Directions that are remembered; two that fall on the same place share it.
const PLACES: usize = 1 << 16;
/// A device that is silent for this long has lost the direction, to another route for instance:
/// stacked devices show a packet within microseconds.
const SILENT_NS: u64 = 100_000_000;

#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    hash: u64,
    device: u32,
    /// When it showed a packet last.
    last_ns: u64,
}

/// The device of each direction of a connection, in bounded memory.
#[derive(Debug)]
pub(super) struct Duplicates {
    hasher: RandomState,
    places: Box<[Direction]>,
}

impl Duplicates {
    pub(super) fn new() -> Self {
        Self { hasher: RandomState::new(), places: vec![Direction::default(); PLACES].into() }
    }

    /// Whether another device shows the same packet.
    pub(super) fn is_duplicate(&mut self, packet: &RingPacket<'_>) -> bool {
        // Copies of an ICMP error are not counted.
        let Some(segment) = Segment::parse(packet.link_type, packet.bytes) else { return false };
        let hash = self.hasher.hash_one((segment.from, segment.to));
        let place = &mut self.places[hash as usize % PLACES];
        let is_other = place.hash == hash && place.device != packet.interface;
        if is_other && packet.time_ns.saturating_sub(place.last_ns) < SILENT_NS {
            return true;
        }
        *place = Direction { hash, device: packet.interface, last_ns: packet.time_ns };
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::segment::tests::{ipv4, sll2};

    fn packet(bytes: &[u8], interface: u32, time_ns: u64) -> RingPacket<'_> {
        let length = bytes.len() as u32;
        RingPacket { time_ns, link_type: 276, interface, length, bytes, segment_size: None, outgoing: false }
    }

    #[test]
    fn a_direction_stays_with_its_first_device_until_that_is_silent() {
        let there = sll2(0x0800, &ipv4("10.0.0.1:1000", "10.0.0.2:80", 1, 0x10));
        let back = sll2(0x0800, &ipv4("10.0.0.2:80", "10.0.0.1:1000", 1, 0x10));
        let mut duplicates = Duplicates::new();
        let mut shown = |bytes: &[u8], device, time| !duplicates.is_duplicate(&packet(bytes, device, time));
        assert!(shown(&there, 1, 1_000_000));
        assert!(!shown(&there, 2, 1_002_000));
        // The way back may lead over another device.
        assert!(shown(&back, 2, 1_003_000));
        assert!(!shown(&back, 1, 1_004_000));
        assert!(shown(&there, 1, 2_000_000));
        // The route changes.
        assert!(shown(&there, 2, 102_000_000));
        assert!(!shown(&there, 1, 102_001_000));
        // Packets without a connection pass.
        assert!(shown(&[0; 30], 1, 1) && shown(&[0; 30], 2, 1));
    }
}
