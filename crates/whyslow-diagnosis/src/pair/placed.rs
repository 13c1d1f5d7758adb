//! Packets by their sequence numbers, unwrapped.

use super::collector::{ConnectionPackets, PacketRecord};
use std::ops::Range;
use whyslow_analysis::types::Side;
use whyslow_core::wire::Flags;
use whyslow_units::SeqNumber;

/// A jump over more than this is no progress of a sender.
const MAX_JUMP: i64 = 1 << 30;

/// The packets of one capture in their places: byte 0 is the SYN, as in Wireshark's relative
/// numbers.
pub(super) struct PlacedPackets<'a> {
    pub records: &'a [PacketRecord],
    /// The place of each packet.
    pub positions: Vec<Position>,
}

/// A packet's place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// Its first byte.
    pub seq: i64,
    /// Acknowledged number; 0 without an ACK.
    pub ack: i64,
}

impl<'a> PlacedPackets<'a> {
    /// Puts packets in their places, given the number before each direction's first payload byte.
    pub fn new(track: &'a ConnectionPackets, numbers: [SeqNumber; 2]) -> Self {
        let mut sent = [0_i64; 2];
        let mut acked = [0_i64; 2];
        let place = |number: SeqNumber, base: SeqNumber, high: &mut i64, trusted: bool| {
            // The 32 bits that are seen, as near as can be to the highest that was.
            let at = *high + i64::from(number.distance(base + (*high as u32)));
            if trusted && at > *high && at - *high < MAX_JUMP {
                *high = at;
            }
            at
        };
        let positions = track.packets.iter().map(|record| {
            let trusted = !record.flags.has(Flags::RST);
            let syn = i64::from(record.flags.has(Flags::SYN) && record.len > 0);
            let seq = place(record.seq, numbers[record.from], &mut sent[record.from], trusted) + syn;
            let ack = record.ack.map_or(0, |ack| place(ack, numbers[!record.from], &mut acked[record.from], trusted));
            Position { seq, ack }
        });
        Self { records: &track.packets, positions: positions.collect() }
    }

    /// Its bytes of payload.
    pub fn bytes(&self, packet: u32) -> Range<i64> {
        let start = self.positions[packet as usize].seq;
        start..start + i64::from(self.record(packet).len)
    }

    pub fn record(&self, packet: u32) -> &PacketRecord {
        &self.records[packet as usize]
    }

    /// All packets.
    pub fn indices(&self) -> Range<u32> {
        0..u32::try_from(self.records.len()).unwrap_or(u32::MAX)
    }

    /// The highest byte of `sender` that this capture shows as acknowledged.
    pub fn highest_ack_of(&self, sender: Side) -> Option<i64> {
        let packets = self.records.iter().zip(&self.positions);
        let answers = packets.filter(|(record, _)| record.from != sender && record.ack.is_some());
        answers.map(|(_, position)| position.ack).max()
    }
}
