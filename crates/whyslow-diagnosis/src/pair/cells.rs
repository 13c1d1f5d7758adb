//! Units in which packets of two captures are compared.
//!
//! Payload is compared by cells: the byte ranges between any two segment boundaries that either
//! capture has. Offload merges and splits segments, so that one segment here is ten there, but a
//! cell is whole in both. Packets without payload are compared by their numbers and flags.

use super::placed::PlacedPackets;
use std::ops::Range;
use whyslow_analysis::types::Side;
use whyslow_core::wire::Flags;

/// Cells in one capture for each packet in both, beyond which the segments count as [`Tangled`]: a
/// cell ends where a segment of either ends, and is retransmitted now and then.
const MAX_CELLS: usize = 3;

/// More overlapping segments than any sender makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tangled;

/// Unit of comparison: a cell of payload, or a packet without any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PayloadCell {
    pub start: i64,
    /// Its end; for a packet without payload the number that it acknowledges.
    pub end: i64,
    /// 0 for payload; else the flags that make it another packet.
    kind: u16,
}

impl PayloadCell {
    const CONTROL: u16 = 1 << 15;

    pub fn is_payload(self) -> bool {
        self.kind == 0
    }
}

/// A packet in one cell: all of it, or the part of its payload that the cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PacketInCell {
    pub cell: PayloadCell,
    pub packet: u32,
}

/// A part of a packet; empty for one without payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PacketPart {
    pub packet: u32,
    pub start: i64,
    pub end: i64,
}

impl PacketPart {
    pub fn new(packet: PacketInCell) -> Self {
        let PayloadCell { start, end, .. } = packet.cell;
        Self { packet: packet.packet, start, end: if packet.cell.is_payload() { end } else { start } }
    }
}

/// The packets of one direction, cell by cell, in each capture. The cells are in order, and the
/// packets of a cell too.
///
/// # Errors
/// When segments overlap more than any sender's do.
pub(super) fn packets_by_cell(
    placed: &[PlacedPackets<'_>; 2],
    from: Side,
    proxied: bool,
) -> Result<[Vec<PacketInCell>; 2], Tangled> {
    let packets = [0, 1].map(|which| -> Vec<u32> {
        let placed = &placed[which];
        placed.indices().filter(|&packet| placed.record(packet).from == from).collect()
    });
    let cuts = segment_boundaries(placed, &packets);
    let max_cells = (packets[0].len() + packets[1].len()).saturating_mul(MAX_CELLS).saturating_add(65_536);
    let mut all = [Vec::new(), Vec::new()];
    for (which, in_cells) in all.iter_mut().enumerate() {
        let placed = &placed[which];
        for &packet in &packets[which] {
            let Range { start, end } = placed.bytes(packet);
            if start == end {
                if !proxied {
                    let flags = placed.record(packet).flags.0 & (Flags::SYN | Flags::FIN | Flags::RST).0;
                    let ack = placed.positions[packet as usize].ack;
                    let cell = PayloadCell { start, end: ack, kind: PayloadCell::CONTROL | flags };
                    in_cells.push(PacketInCell { cell, packet });
                }
                continue;
            }
            let place = |at: i64| cuts.partition_point(|&cut| cut < at);
            let bounds = cuts.get(place(start)..=place(end)).unwrap_or_default();
            in_cells.extend(bounds.windows(2).map(|bounds| {
                let cell = PayloadCell { start: bounds[0], end: bounds[1], kind: 0 };
                PacketInCell { cell, packet }
            }));
            if in_cells.len() > max_cells {
                return Err(Tangled);
            }
        }
        in_cells.sort_unstable();
    }
    Ok(all)
}

/// The places where a segment of these packets begins or ends, in order.
fn segment_boundaries(placed: &[PlacedPackets<'_>; 2], packets: &[Vec<u32>; 2]) -> Vec<i64> {
    let mut cuts: Vec<i64> = placed
        .iter()
        .zip(packets)
        .flat_map(|(placed, packets)| packets.iter().map(|&packet| placed.bytes(packet)))
        .filter(|bytes| !bytes.is_empty())
        .flat_map(|bytes| [bytes.start, bytes.end])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Calls for each cell that either capture has, in order, with its packets in each.
pub(super) fn for_each_cell(
    mut a: &[PacketInCell],
    mut b: &[PacketInCell],
    mut each: impl FnMut(&[PacketInCell], &[PacketInCell]),
) {
    while let Some(cell) = [a.first(), b.first()].into_iter().flatten().map(|first| first.cell).min() {
        let in_cell = |packets: &[PacketInCell]| packets.iter().take_while(|packet| packet.cell == cell).count();
        let (of_a, a_left) = a.split_at(in_cell(a));
        let (of_b, b_left) = b.split_at(in_cell(b));
        each(of_a, of_b);
        (a, b) = (a_left, b_left);
    }
}
