//! `condense`: converts a capture's packets to a [condensed capture](whyslow_core::capture) with
//! the same analysis.
//!
//! A packet becomes the fields of its segment, stored as differences from earlier packets of the
//! connection. A packet that is not a segment becomes the reason; ICMP errors are unchanged. Each
//! packet is rebuilt and decoded as in the analysis. If the result differs, the packet itself is
//! stored. So the condensed capture is equivalent to the original by construction.
//!
//! ```
//! use whyslow_core::capture::{CaptureOrigin, Reader};
//! use whyslow_diagnosis::condense::Condenser;
//! use whyslow_diagnosis::explain::explain;
//!
//! # fn main() -> Result<(), whyslow_core::capture::CaptureError> {
//! let capture = include_bytes!("../../../samples/loss-client.pcap");
//! let mut rows = Vec::new();
//! let origin = CaptureOrigin { name: "loss.pcap".to_owned(), ..CaptureOrigin::default() };
//! let mut condenser = Condenser::new(&origin, 1, |_, row: Vec<u8>| rows.push(row));
//! let mut reader = Reader::new();
//! reader.push(capture, &mut condenser)?;
//! let summary = reader.finish(&mut condenser)?;
//! condenser.finish(&summary);
//! let condensed = rows.concat();
//! assert!(condensed.len() * 4 < capture.len());
//! let (one, other) = (explain("loss.pcap", capture)?, explain("loss", &condensed)?);
//! assert_eq!(format!("{one:?}"), format!("{other:?}"));
//! # Ok(())
//! # }
//! ```

mod headers;
mod share_rows;
mod skipped;

pub use whyslow_analysis::types::ConnectionShard;

use share_rows::{ShareRows, StoredSegment};
use std::net::IpAddr;
use std::ops::Range;
use whyslow_core::capture::condensed::build::{MAX_VERBATIM, PacketBuilder, Payload, Piece};
use whyslow_core::capture::condensed::headers::TcpHeaders;
use whyslow_core::capture::condensed::write::{PacketTime, RowWriter, StoredPayload};
use whyslow_core::capture::condensed::write_origin;
use whyslow_core::capture::{CaptureOrigin, Clock, LinkType, Packet, Sink, Summary};
use whyslow_core::dns;
use whyslow_core::flow::{ConnectionId, FlowTable, HashedKey, SweepClock, share_of};
use whyslow_core::tcp::payload::readable::{Readable, is_all_text};
use whyslow_core::wire::{self, Datagram, Flags, FlowKey, HashSeed, Segment, Skip};
use whyslow_units::Time;

/// Takes a capture's packets, and emits rows.
pub struct Condenser<F> {
    give: F,
    origin: CaptureOrigin,
    /// One condensed capture per share of the connections.
    shares: Vec<ShareRows>,
    table: FlowTable<Conversation>,
    sweeps: SweepClock,
    packets: u64,
    builder: PacketBuilder,
    held: Vec<Range<usize>>,
    /// Time of the last packet, for a row that begins with a name or a mark.
    last: PacketTime,
}

/// The state of a connection.
#[derive(Debug)]
struct Conversation {
    /// The row that has it, and its number in that row.
    place: Option<(u64, usize)>,
    sides: [Readable; 2],
}

impl<F> std::fmt::Debug for Condenser<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Condenser").field("packets", &self.packets).finish_non_exhaustive()
    }
}

impl<F: FnMut(usize, Vec<u8>)> Condenser<F> {
    /// Begins condensed captures of this origin, one for each of `shares` shares (1 to
    /// [`ConnectionShard::MOST`]) of its connections. Calls `give` with each row and the number of
    /// its share; rows of a share come in order.
    ///
    /// Each share also has the data that all shares need: the first packets, which show which
    /// captures this one continues and whether checksums are meaningful, and the packets at which
    /// connections expire after a long silence.
    pub fn new(origin: &CaptureOrigin, shares: usize, give: F) -> Self {
        let of = shares.clamp(1, ConnectionShard::MOST);
        let shares = (0..of).filter_map(|number| ConnectionShard::new(number, of));
        let begin =
            |share: ConnectionShard| ShareRows::new(share, write_origin(&CaptureOrigin { share, ..origin.clone() }));
        Self {
            give,
            origin: origin.clone(),
            shares: shares.map(begin).collect(),
            table: FlowTable::default(),
            sweeps: SweepClock::default(),
            packets: 0,
            builder: PacketBuilder::default(),
            held: Vec::new(),
            last: PacketTime { time: Time::ZERO, frame: 0 },
        }
    }

    /// Sets the hash seed of the connection table, like
    /// [`Explainer::set_hash_seed`](crate::explain::Explainer::set_hash_seed).
    pub fn set_hash_seed(&mut self, seed: HashSeed) {
        self.table = FlowTable::seeded(seed);
    }

    /// Ends the condensed captures with the summary of the capture's reader.
    pub fn finish(mut self, summary: &Summary) {
        for share in &mut self.shares {
            share.finish(summary, &mut self.give);
        }
    }

    /// Closes a row before it is full.
    #[cfg(test)]
    pub(crate) fn end_row_for_test(&mut self) {
        self.shares.iter_mut().for_each(|share| share.end_row(&mut self.give));
    }

    /// Whether the next packet belongs to all shares.
    fn is_for_all(&mut self, packet: &Packet<'_>) -> bool {
        let is_early = self.packets <= self.origin.opening_packets.max(wire::ChecksumSample::PACKETS);
        self.sweeps.is_due(packet.time) || is_early || self.shares.len() == 1
    }

    fn on_segment(&mut self, packet: &Packet<'_>, segment: &Segment<'_>, for_all: bool) {
        let key = HashedKey::from(FlowKey::of(segment));
        self.table.advance_time(packet.time);
        let is_first = segment.flags.has(Flags::SYN);
        let begin = || Conversation {
            place: None,
            sides: std::array::from_fn(|_| if is_first { Readable::new() } else { Readable::begun() }),
        };
        let routed = self.table.route(segment, &key, ConnectionId(self.packets), begin);
        let conversation = routed.value;
        let first = segment.seq + u32::from(is_first);
        conversation.sides[routed.from].select(first, segment.payload, segment.payload_len, &mut self.held);
        // Any connection may have waited for a lookup over TCP.
        let is_dns = segment.src_port == dns::PORT || segment.dst_port == dns::PORT;
        if is_dns && !segment.payload.is_empty() {
            self.held.clear();
            self.held.push(0..segment.payload.len());
        }
        let ranges = self.held.as_slice();
        let is_whole = ranges.first().is_some_and(|first| *first == (0..segment.payload.len()));
        let is_text = !is_whole && is_all_text(segment.payload);
        let payload = StoredPayload { payload: segment.payload, ranges, is_text };
        let is_same = |headers: &TcpHeaders| is_same(&mut self.builder, (packet, segment), headers, payload);
        let headers = headers::of(packet, segment).filter(is_same);
        let held = StoredSegment { at: PacketTime::of(packet), headers, payload };
        let own = share_of(key.hash, self.shares.len());
        for share in &mut self.shares {
            if share.number() == own {
                share.write(&mut conversation.place, packet, &held, &mut self.give);
            } else if for_all || is_dns {
                share.write(&mut None, packet, &held, &mut self.give);
            }
        }
        if self.table.has_evicted() {
            self.table.take_evicted();
        }
    }

    /// Writes a packet that is not a segment: the first share counts it. An ICMP error also belongs
    /// to a connection. For other packets only the decoder can show that they are not segments.
    fn on_skipped(&mut self, packet: &Packet<'_>, skip: Skip, for_all: bool) {
        if let Skip::Quic(datagram) | Skip::Udp(datagram) = skip {
            return self.on_datagram(packet, &datagram, for_all);
        }
        if let Skip::Dns(datagram) = skip {
            // Any connection may have waited for it.
            let end = (datagram.payload_at() + dns::MAX_READ).min(packet.data.len());
            let held = Packet { data: packet.data.get(..end).unwrap_or(packet.data), ..*packet };
            return self.shares.iter_mut().for_each(|share| share.write_whole(&held, &mut self.give));
        }
        let of = self.shares.len();
        let key = match skip {
            Skip::Icmp(error) => Some(error.flow_key()),
            _ => wire::parse_fast(packet).map(|fast| fast.flow_key()),
        };
        let about = key.map_or(0, |key| share_of(key.hash(), of));
        for share in &mut self.shares {
            if for_all || share.number() == 0 || share.number() == about {
                share.write_skipped(packet, skip, &mut self.give);
            }
        }
    }

    /// Stores the readable part of a datagram that may be QUIC: an earlier capture may have the
    /// begin of its connection. All are in the first share, because only the first explainer reads
    /// them.
    fn on_datagram(&mut self, packet: &Packet<'_>, datagram: &Datagram, for_all: bool) {
        let cut = |length: usize| Packet { data: packet.data.get(..length).unwrap_or(packet.data), ..*packet };
        let mut held = cut(datagram.held(packet));
        if !matches!(wire::decode(&held), Err(Skip::Quic(one) | Skip::Udp(one)) if one.is_same(datagram)) {
            held = cut(MAX_VERBATIM);
        }
        for share in &mut self.shares {
            if for_all || share.number() == 0 {
                share.write_whole(&held, &mut self.give);
            }
        }
    }

    /// Writes a record that is not a packet to all shares.
    fn note(&mut self, note: impl Fn(&mut RowWriter)) {
        for share in &mut self.shares {
            note(share.row(self.last, &mut self.give));
        }
    }
}

/// Whether a packet is decoded to the same result from its stored part; `segment`: the verified
/// segment of the packet.
fn is_same(
    builder: &mut PacketBuilder,
    (packet, segment): (&Packet<'_>, &Segment<'_>),
    headers: &TcpHeaders,
    held: StoredPayload<'_>,
) -> bool {
    let pieces: Vec<Piece<'_>> =
        held.ranges.iter().filter_map(|range| Some((range.start, held.payload.get(range.clone())?))).collect();
    let same = builder.build(headers, Payload { pieces: &pieces, is_text: held.is_text }, |data, original_len| {
        let condensed = Packet { link: LinkType::ETHERNET, data, original_len, ..*packet };
        let decoded = |packet: &Packet<'_>| wire::decode(packet).ok().map(Headless::of);
        let verified = wire::decode_verified(&condensed).ok().map(Headless::of);
        verified == Some(Headless::of(*segment))
            && decoded(packet) == decoded(&condensed)
            // The fast path for plain segments does not verify all checksums.
            && (headers.form.has_right_sums() || is_plain(packet) == is_plain(&condensed))
    });
    same == Some(true)
}

fn is_plain(packet: &Packet<'_>) -> bool {
    wire::parse_fast(packet).is_some_and(|fast| fast.plain().is_some())
}

/// A segment, with only the captured length of its payload.
#[derive(PartialEq)]
struct Headless(Segment<'static>, usize);

impl Headless {
    fn of(segment: Segment<'_>) -> Self {
        let captured = segment.payload.len();
        Self(Segment { payload: &[], ..segment }, captured)
    }
}

impl<F: FnMut(usize, Vec<u8>)> Sink for Condenser<F> {
    fn packet(&mut self, packet: &Packet<'_>) {
        self.packets += 1;
        self.last = PacketTime::of(packet);
        let for_all = self.is_for_all(packet);
        match wire::decode_verified(packet) {
            Ok(segment) => self.on_segment(packet, &segment, for_all),
            Err(skip) => self.on_skipped(packet, skip, for_all),
        }
    }

    fn text(&mut self, clock: Clock) {
        self.note(|row| row.text(clock));
    }

    fn left_out(&mut self, of: Option<[(IpAddr, u16); 2]>, from: Time, until: Time) {
        self.note(|row| row.left_out(of, from, until));
    }

    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        self.note(|row| row.host_name(address, name, stand_in));
    }
}

#[cfg(test)]
mod tests;
