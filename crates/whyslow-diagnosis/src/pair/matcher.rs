//! Matches the packets of two captures, in one direction.
//!
//! Copies of one cell (retransmitted, or duplicated on the way) are matched by their identifying
//! fields, and equal ones by order and by time, because none arrives before it can.

use super::cells::{PacketInCell, PacketPart};
use super::clock::ClockOffset;
use super::identity::{PacketIdentity, PreservedFields};
use super::placed::PlacedPackets;
use whyslow_units::Nanos;

/// A part of a packet in the first capture, and the packet in the second that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Match {
    pub sent: PacketPart,
    pub arrived: u32,
    /// As many arrived as were sent of those that are equal.
    pub is_certain: bool,
}

/// One direction: packets that passed the capture nearer to its sender, and those that reached the
/// other.
#[derive(Clone, Debug, Default)]
pub(super) struct DirectionMatch {
    pub matches: Vec<Match>,
    /// Packets that did not arrive.
    pub missing: Vec<PacketPart>,
    /// Packets that arrived but are not in the second capture: there is no copy, and they were
    /// acknowledged.
    pub uncaptured: Vec<PacketPart>,
    /// Payload that had been sent before.
    pub retransmitted: Vec<PacketPart>,
    /// The parts of these whose earlier copy is missing.
    pub retransmitted_for_loss: Vec<PacketPart>,
    /// Packets that arrived once more.
    pub duplicated: Vec<u32>,
    /// Packets that arrived and were not sent.
    pub unseen: Vec<u32>,
    /// Fields that the path did not change.
    pub preserved: PreservedFields,
    /// Payload of a whole segment on the wire, bytes.
    pub mss: u32,
}

/// Puts the copies of one direction together.
pub(super) struct Matcher<'a, 'b> {
    pub placed: &'b [PlacedPackets<'a>; 2],
    pub clock: ClockOffset,
    /// The capture nearer to the sender.
    pub first: usize,
    /// The highest byte that the receiver acknowledged.
    pub acked: i64,
    pub proxied: bool,
    pub found: DirectionMatch,
    /// Room for the packets of one cell.
    pub sent: Vec<IdentifiedPacket>,
    pub arrived: Vec<IdentifiedPacket>,
}

/// A packet in a cell, with its identity among the others there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IdentifiedPacket {
    identity: PacketIdentity,
    packet: PacketInCell,
}

impl Matcher<'_, '_> {
    /// Whether the one may be the other, by when it arrived.
    fn may_be(&self, sent: PacketInCell, arrived: PacketInCell) -> bool {
        let (first, second) = (self.first, 1 - self.first);
        let sent = self.clock.by_first(first, self.placed[first].record(sent.packet).time);
        let arrived = self.clock.by_first(second, self.placed[second].record(arrived.packet).time);
        let round_trip = self.clock.round_trip.0;
        arrived - sent >= Nanos(round_trip / 2) - Nanos(round_trip / 100 + 100_000)
    }

    /// Matches the packets of one cell.
    pub fn match_cell(&mut self, sent: &[PacketInCell], arrived: &[PacketInCell]) {
        if self.proxied {
            if let ([sent, ..], [arrived, ..]) = (sent, arrived) {
                self.push(*sent, *arrived, true);
            }
            return;
        }
        let missing_before = self.found.missing.len();
        let matches_before = self.found.matches.len();
        let mut all_sent = std::mem::take(&mut self.sent);
        let mut all_arrived = std::mem::take(&mut self.arrived);
        self.identify(sent, self.first, &mut all_sent);
        self.identify(arrived, 1 - self.first, &mut all_arrived);
        let (mut sent_left, mut arrived_left) = (all_sent.as_slice(), all_arrived.as_slice());
        while let Some(identity) =
            [sent_left.first(), arrived_left.first()].into_iter().flatten().map(|first| first.identity).min()
        {
            let alike =
                |packets: &[IdentifiedPacket]| packets.iter().take_while(|packet| packet.identity == identity).count();
            let (sent, more) = sent_left.split_at(alike(sent_left));
            sent_left = more;
            let (arrived, more) = arrived_left.split_at(alike(arrived_left));
            arrived_left = more;
            self.match_alike(identity, sent, arrived);
        }
        (self.sent, self.arrived) = (all_sent, all_arrived);
        self.note_retransmissions(sent, missing_before, matches_before);
    }

    fn identify(&self, packets: &[PacketInCell], which: usize, identified: &mut Vec<IdentifiedPacket>) {
        let (placed, preserved, mss) = (&self.placed[which], self.found.preserved, self.found.mss);
        identified.clear();
        identified.extend(packets.iter().map(|packet| IdentifiedPacket {
            identity: PacketIdentity::new(placed, *packet, preserved, mss),
            packet: *packet,
        }));
        identified.sort_unstable();
    }

    /// A copy is retransmitted for the loss of the one before it, whatever became of itself. The
    /// matches and the missing packets of this cell are those behind the given numbers.
    fn note_retransmissions(&mut self, sent: &[PacketInCell], missing_before: usize, matches_before: usize) {
        let [first, again @ ..] = sent else { return };
        if !first.cell.is_payload() {
            return;
        }
        let found = &mut self.found;
        let missing = &mut found.missing[missing_before..];
        missing.sort_unstable();
        let mut earlier = first.packet;
        for copy in again {
            found.retransmitted.push(PacketPart::new(*copy));
            if missing.binary_search_by_key(&earlier, |part| part.packet).is_ok() {
                found.retransmitted_for_loss.push(PacketPart::new(*copy));
            }
            earlier = copy.packet;
        }
        if found.matches.len() == matches_before && first.cell.end <= self.acked {
            found.uncaptured.extend(found.missing.pop());
        }
    }

    /// Matches copies that differ only in their time. They stay in order. If more were sent than
    /// arrived, each arrival gets the latest possible copy: lost ones were retransmitted later. If
    /// more arrived, each copy gets the earliest arrival: each gets one at least as good as its
    /// true one, and none is left without.
    fn match_alike(&mut self, identity: PacketIdentity, sent: &[IdentifiedPacket], arrived: &[IdentifiedPacket]) {
        let is_certain = sent.len() == arrived.len();
        if sent.len() > arrived.len() {
            self.match_latest(identity, sent, arrived);
            return;
        }
        let mut arrivals = arrived.iter().map(|arrived| arrived.packet);
        let mut has_match = false;
        for sent in sent.iter().map(|sent| sent.packet) {
            let arrived = loop {
                match arrivals.next() {
                    Some(other) if !self.may_be(sent, other) => self.on_unmatched_arrival(identity, has_match, other),
                    found => break found,
                }
            };
            match arrived {
                Some(arrived) => self.push(sent, arrived, is_certain),
                None => self.found.missing.push(PacketPart::new(sent)),
            }
            has_match |= arrived.is_some();
        }
        for arrived in arrivals {
            self.on_unmatched_arrival(identity, has_match, arrived);
        }
    }

    /// As [`Self::match_alike`], where more were sent than arrived.
    fn match_latest(&mut self, identity: PacketIdentity, sent: &[IdentifiedPacket], arrived: &[IdentifiedPacket]) {
        let mut copies = sent.iter().rev().map(|sent| sent.packet);
        for arrived in arrived.iter().rev().map(|arrived| arrived.packet) {
            let sent = loop {
                match copies.next() {
                    Some(other) if !self.may_be(other, arrived) => self.found.missing.push(PacketPart::new(other)),
                    found => break found,
                }
            };
            match sent {
                Some(sent) => self.push(sent, arrived, false),
                None => self.on_unmatched_arrival(identity, false, arrived),
            }
        }
        self.found.missing.extend(copies.map(PacketPart::new));
    }

    fn push(&mut self, sent: PacketInCell, arrived: PacketInCell, is_certain: bool) {
        let sent = PacketPart::new(sent);
        self.found.matches.push(Match { sent, arrived: arrived.packet, is_certain });
    }

    /// Arrived without having been sent: duplicated, if its identity equals that of the one before,
    /// or else unseen.
    fn on_unmatched_arrival(&mut self, identity: PacketIdentity, has_match: bool, arrived: PacketInCell) {
        if has_match && (identity.tsval.is_some() || identity.ip_id.is_some()) {
            self.found.duplicated.push(arrived.packet);
        } else {
            self.found.unseen.push(arrived.packet);
        }
    }

    pub fn finish(self) -> DirectionMatch {
        let mut found = self.found;
        found.matches.sort_unstable();
        for parts in
            [&mut found.missing, &mut found.uncaptured, &mut found.retransmitted, &mut found.retransmitted_for_loss]
        {
            parts.sort_unstable();
        }
        for packets in [&mut found.duplicated, &mut found.unseen] {
            packets.sort_unstable();
            packets.dedup();
        }
        found
    }
}
