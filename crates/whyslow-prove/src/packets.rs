//! [`Packets`]: the packets of one connection, in the few words that building it again needs.

use std::collections::BTreeMap;
use whyslow_analysis::types::Frame;
use whyslow_analysis::{Connection, End, Transfer};
use whyslow_diagnosis::series::{Flags, Kind, Point};
use whyslow_io::PacketSource;

/// Maximum number of packets that are held of a connection: a run of a minute has fewer.
const MOST: usize = 4_000_000;

/// A packet. Times are seconds from the capture's first packet; places count payload bytes from the
/// connection's start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub at: f64,
    pub from: End,
    pub flags: Flags,
    /// It carries a congestion mark.
    pub marked: bool,
    /// SACK blocks report a hole before this ACK's data.
    pub reports_hole: bool,
    /// The place of its first byte.
    pub start: u64,
    pub len: u64,
    /// All bytes of the other end before this place have arrived at its sender.
    pub ack: Option<u64>,
    /// What it offers.
    pub window: Option<u64>,
    pub kind: Kind,
    /// Bytes in flight with it.
    pub in_flight: Option<u64>,
    /// The round trip that it measures, seconds.
    pub rtt: Option<f64>,
}

impl Packet {
    pub fn is_syn(&self) -> bool {
        self.flags.has(Flags::SYN)
    }

    /// The place behind its last byte.
    pub fn end(&self) -> u64 {
        self.start + self.len
    }
}

/// A connection's packets in the order in which they passed.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    pub all: Vec<Packet>,
    /// Where the bytes of each first frame of a transfer stand.
    places: BTreeMap<Frame, u64>,
    /// There are more.
    pub is_cut: bool,
}

impl Packets {
    /// Reads them.
    ///
    /// # Errors
    /// When the capture cannot be read again.
    pub fn read(source: &PacketSource, connection: &Connection) -> anyhow::Result<Self> {
        let firsts = connection.transfers.iter().filter_map(|transfer| transfer.rounds.first());
        let mut packets = Self { places: firsts.map(|round| (round.first_frame, 0)).collect(), ..Self::default() };
        whyslow_io::follow(source, &mut |point| packets.push(&point), &mut |_| {})?;
        packets.all.sort_by(|a, b| a.at.total_cmp(&b.at));
        Ok(packets)
    }

    fn push(&mut self, point: &Point) {
        if self.all.len() >= MOST {
            self.is_cut = true;
            return;
        }
        let Some(seq) = point.seq else { return };
        // The SYN has number 0, the first byte number 1.
        let start = if point.flags.has(Flags::SYN) { 0 } else { seq.saturating_sub(1) };
        if let Some(place) = self.places.get_mut(&point.frame) {
            *place = start;
        }
        self.all.push(Packet {
            at: point.time.as_secs_f64(),
            from: point.from,
            flags: point.flags,
            marked: point.marked,
            reports_hole: point.sacks > u8::from(point.dsack),
            start,
            len: u64::from(point.len),
            ack: point.ack.map(|ack| ack.saturating_sub(1)),
            window: point.window,
            kind: point.kind,
            in_flight: point.in_flight,
            rtt: point.rtt.map(|rtt| rtt.as_secs_f64()),
        });
    }

    /// The place of a transfer's first byte.
    pub fn place(&self, transfer: &Transfer) -> Option<u64> {
        self.places.get(&transfer.rounds.first()?.first_frame).copied()
    }

    /// New and retransmitted data of this end.
    pub fn data(&self, from: End) -> impl Iterator<Item = &Packet> {
        self.all.iter().filter(move |packet| packet.from == from && packet.len > 0)
    }

    /// When all bytes of this end before a place had been acknowledged, and that passed.
    pub fn acked_at(&self, from: End, place: u64) -> Option<f64> {
        let reaches = |packet: &&Packet| packet.from != from && packet.ack.is_some_and(|ack| ack >= place);
        self.all.iter().find(reaches).map(|packet| packet.at)
    }

    /// How many bytes of this end had been acknowledged by a moment.
    pub fn acked_by(&self, from: End, moment: f64) -> u64 {
        let until = self.all.partition_point(|packet| packet.at <= moment);
        let before = self.all.get(..until).unwrap_or_default().iter().rev();
        before.into_iter().filter(|packet| packet.from != from).find_map(|packet| packet.ack).unwrap_or(0)
    }

    /// When the first byte at or behind a place passed.
    pub fn sent_at(&self, from: End, place: u64) -> Option<f64> {
        self.data(from).find(|packet| packet.end() > place).map(|packet| packet.at)
    }

    /// The round trip between the capture point and an end, as the handshake has it.
    pub fn distance(&self, end: End) -> Option<f64> {
        let syn = self.all.iter().rfind(|packet| packet.is_syn() && packet.from == End::Client)?;
        let answer =
            self.all.iter().find(|packet| packet.is_syn() && packet.from == End::Server && packet.at >= syn.at)?;
        let third = self.all.iter().find(|p| !p.is_syn() && p.from == End::Client && p.at >= answer.at)?;
        Some(if end == End::Server { answer.at - syn.at } else { third.at - answer.at })
    }
}
