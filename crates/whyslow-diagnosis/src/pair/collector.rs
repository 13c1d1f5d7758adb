//! The second pass: the packets of the connections that are to be compared.

use super::span::TimeSpan;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use whyslow_analysis::Frame;
use whyslow_analysis::types::Side;
use whyslow_core::capture::{Packet, Sink};
use whyslow_core::flow::{ConnectionId, FlowTable};
use whyslow_core::tcp::facts::Offer;
use whyslow_core::wire::{self, Checksum, ChecksumTally, Flags, FlowKey, Segment};
use whyslow_units::{SeqNumber, Time};

/// Packets held in one pass over all captures; to compare them takes about 300 MB.
const MAX_PACKETS: u64 = 1 << 21;
/// Earlier packets of the same direction that are compared, to detect a repetition of one of them.
const RECENT: usize = 16;

/// Number of packets that may be held of each connection, from the number that each has: all but
/// very large ones are held whole, and each leaves half of the room to those after it.
pub fn shares(packets: impl IntoIterator<Item = u64>) -> Vec<usize> {
    let mut room = MAX_PACKETS;
    packets
        .into_iter()
        .map(|packets| {
            let share = packets.min(room / 2);
            room -= share;
            usize::try_from(share).unwrap_or(usize::MAX)
        })
        .collect()
}

/// A connection to be watched.
#[derive(Clone, Copy, Debug)]
pub struct WantedConnection {
    /// Its id in the capture's analysis.
    pub id: u64,
    /// Its client.
    pub client: (IpAddr, u16),
    /// Packets to keep.
    pub max_packets: usize,
}

/// One packet, as far as it is compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketRecord {
    pub time: Time,
    pub frame: Frame,
    pub seq: SeqNumber,
    pub ack: Option<SeqNumber>,
    pub len: u32,
    pub flags: Flags,
    pub window: u16,
    pub timestamps: Option<(u32, u32)>,
    pub id: Option<u16>,
    pub ttl: u8,
    pub ecn: u8,
    /// 0: the client sent it.
    pub from: Side,
}

impl PacketRecord {
    fn new(segment: &Segment<'_>, from: Side, time: Time, frame: Frame) -> Self {
        Self {
            time,
            frame,
            seq: segment.seq,
            ack: segment.flags.has(Flags::ACK).then_some(segment.ack),
            len: segment.payload_len,
            flags: segment.flags,
            window: segment.window,
            timestamps: segment.options.timestamps,
            id: segment.ip_id,
            ttl: segment.ttl,
            ecn: segment.ecn,
            from,
        }
    }

    /// The same packet twice, and not one segment sent twice: it has the same IP ID.
    fn is_duplicate_of(&self, other: &Self) -> bool {
        self.id.is_some_and(|id| id != 0)
            && self.id == other.id
            && (self.seq, self.ack, self.len) == (other.seq, other.ack, other.len)
            && (self.flags, self.window, self.timestamps) == (other.flags, other.window, other.timestamps)
    }
}

/// One connection's packets in one capture, in the capture's order.
#[derive(Clone, Debug, Default)]
pub struct ConnectionPackets {
    pub(super) packets: Vec<PacketRecord>,
    /// Offers of both ends' SYNs.
    pub(super) offers: [Option<Offer>; 2],
    /// Packets of each direction that came a second time.
    pub(super) duplicates: [u64; 2],
    /// Packets of each direction that were damaged, by their checksum.
    pub(super) damaged: [u64; 2],
    /// Checksums of each direction that were checked.
    sums: [ChecksumTally; 2],
    /// Packets that found no room.
    pub(super) dropped: u64,
    recent: [VecDeque<PacketRecord>; 2],
    most: usize,
    client: Option<(IpAddr, u16)>,
}

impl ConnectionPackets {
    fn push(&mut self, segment: &Segment<'_>, time: Time, frame: Frame) {
        let from = if self.client == Some((segment.src, segment.src_port)) { Side::A } else { Side::B };
        match segment.checksum {
            Checksum::Good => self.sums[from].note(true),
            Checksum::Bad(_) | Checksum::BadHeader(1..) => {
                self.sums[from].note(false);
                if self.sums[from].is_reliable() {
                    // The receiver drops it.
                    self.damaged[from] += 1;
                    return;
                }
            }
            Checksum::BadHeader(0) | Checksum::Partial | Checksum::Unknown => {}
        }
        let record = PacketRecord::new(segment, from, time, frame);
        if self.dropped > 0 || self.packets.len() >= self.most {
            // From here on no packet is kept, so that the stored part ends at one instant.
            self.dropped += 1;
            return;
        }
        let recent = &mut self.recent[from];
        if recent.iter().any(|other| record.is_duplicate_of(other)) {
            self.duplicates[from] += 1;
            return;
        }
        if recent.len() == RECENT {
            recent.pop_front();
        }
        recent.push_back(record);
        if segment.flags.has(Flags::SYN) {
            self.offers[from].get_or_insert(Offer::of(segment));
        }
        self.packets.push(record);
    }
}

/// Takes the packets of one set of captures once more, and keeps those of the wanted connections.
#[derive(Debug, Default)]
pub struct PacketCollector {
    table: FlowTable<()>,
    /// Connections so far.
    connections: u64,
    tracks: BTreeMap<u64, ConnectionPackets>,
    /// The place of the capture that is read among all, from 1 on.
    captures: usize,
    time: Option<TimeSpan>,
}

impl PacketCollector {
    /// Watches these connections of a set of captures, after `captures` earlier ones.
    pub fn new(captures: usize, wanted: impl IntoIterator<Item = WantedConnection>) -> Self {
        let track = |wanted: WantedConnection| ConnectionPackets {
            most: wanted.max_packets,
            client: Some(wanted.client),
            ..ConnectionPackets::default()
        };
        let tracks = wanted.into_iter().map(|wanted| (wanted.id, track(wanted))).collect();
        Self { tracks, captures, ..Self::default() }
    }

    /// The packets that follow come from the next capture of the set.
    pub fn begin_capture(&mut self) {
        self.captures += 1;
    }

    /// When the captures' first and last packets were captured.
    pub fn time(&self) -> Option<TimeSpan> {
        self.time
    }

    /// Packets that were kept of a connection.
    pub fn track(&self, id: u64) -> Option<&ConnectionPackets> {
        self.tracks.get(&id)
    }
}

impl Sink for PacketCollector {
    fn packet(&mut self, packet: &Packet<'_>) {
        let only = TimeSpan { first: packet.time, last: packet.time };
        self.time = Some(self.time.map_or(only, |span| span.with(packet.time)));
        let Ok(segment) = wire::decode(packet) else { return };
        // The same table with the same segments gives the same numbers as the first pass.
        let next = ConnectionId(self.connections + 1);
        self.table.advance_time(packet.time);
        let routed = self.table.route(&segment, &FlowKey::of(&segment).into(), next, || ());
        self.connections += u64::from(routed.new);
        let id = routed.id.0;
        if self.table.has_evicted() {
            self.table.take_evicted();
        }
        if let Some(track) = self.tracks.get_mut(&id) {
            let file = u16::try_from(self.captures.saturating_sub(1)).ok();
            track.push(&segment, packet.time, Frame { file, number: packet.frame });
        }
    }
}
