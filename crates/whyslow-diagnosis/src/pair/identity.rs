//! Fields that identify a copy of a packet: the sender changes them from one to the next, and the
//! path does not.

use super::cells::{PacketInCell, for_each_cell};
use super::placed::PlacedPackets;

/// Which fields that identify a copy are the same on both sides of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PreservedFields {
    pub timestamps: bool,
    pub ip_ids: bool,
    pub windows: bool,
    /// Whether there was any packet with both timestamps, and with both IP numbers, to compare.
    pub had_timestamps: bool,
    pub had_ip_ids: bool,
}

/// Distinguishes copies in the same cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PacketIdentity {
    pub tsval: Option<u32>,
    pub ip_id: Option<u16>,
    pub window: Option<u16>,
}

impl PacketIdentity {
    pub fn new(placed: &PlacedPackets<'_>, packet: PacketInCell, preserved: PreservedFields, mss: u32) -> Self {
        let record = placed.record(packet.packet);
        let is_payload = packet.cell.is_payload();
        // A segment that the receiving host merged has the IP ID of its first part alone; a
        // timestamp its parts share.
        let has_ip_id = preserved.ip_ids && !(preserved.timestamps && is_payload);
        Self {
            tsval: record.timestamps.map(|stamps| stamps.0).filter(|_| preserved.timestamps),
            ip_id: ip_id(placed, packet, mss).filter(|_| has_ip_id),
            window: Some(record.window).filter(|_| preserved.windows && !is_payload),
        }
    }
}

/// The IP ID that the packet of this cell has on the wire: those that a large segment is cut into
/// are numbered on.
fn ip_id(placed: &PlacedPackets<'_>, packet: PacketInCell, mss: u32) -> Option<u16> {
    let place = if packet.cell.is_payload() {
        packet.cell.start.saturating_sub(placed.bytes(packet.packet).start) / i64::from(mss)
    } else {
        0
    };
    placed.record(packet.packet).id.filter(|id| *id != 0).map(|id| id.wrapping_add(place as u16))
}

/// Number of comparisons in which a field was the same.
#[derive(Default)]
struct Tally {
    same: u64,
    all: u64,
}

impl Tally {
    fn add(&mut self, is_same: bool) {
        self.same += u64::from(is_same);
        self.all += 1;
    }

    fn is_mostly_same(&self) -> bool {
        self.same * 10 >= self.all * 9 && self.all > 0
    }
}

impl PreservedFields {
    /// The fields that the path does not change, from the cells with one packet in each capture.
    pub fn find(placed: &[PlacedPackets<'_>; 2], packets: &[Vec<PacketInCell>; 2], mss: u32) -> Self {
        let [mut timestamps, mut ip_ids, mut windows] = [const { Tally { same: 0, all: 0 } }; 3];
        for_each_cell(&packets[0], &packets[1], |of_a, of_b| {
            let ([a], [b]) = (of_a, of_b) else { return };
            let records = (placed[0].record(a.packet), placed[1].record(b.packet));
            if let (Some(a), Some(b)) = (records.0.timestamps, records.1.timestamps) {
                timestamps.add(a.0 == b.0);
            }
            if let (Some(a), Some(b)) = (ip_id(&placed[0], *a, mss), ip_id(&placed[1], *b, mss)) {
                ip_ids.add(a == b);
            }
            if !a.cell.is_payload() {
                windows.add(records.0.window == records.1.window);
            }
        });
        Self {
            timestamps: timestamps.is_mostly_same(),
            ip_ids: ip_ids.is_mostly_same(),
            windows: windows.is_mostly_same(),
            had_timestamps: timestamps.all > 0,
            had_ip_ids: ip_ids.all > 0,
        }
    }
}
