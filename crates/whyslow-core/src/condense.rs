//! `condense`: a capture's packets → a [condensed capture](crate::capture), which gives the same
//! analysis.
//!
//! A packet becomes the fields that its segment has, told by what differs from the connection's
//! packets before; what is no segment becomes the reason why, and ICMP errors stay as they are.
//! Each packet is put together again and read as the analysis does: where another segment or reason
//! came out, the packet itself is held. So what is condensed is what it was, by construction.
//!
//! ```
//! use whyslow_core::capture::{CaptureOrigin, Reader};
//! use whyslow_core::condense::Condenser;
//! use whyslow_core::explain::explain;
//!
//! # fn main() -> Result<(), whyslow_core::capture::CaptureError> {
//! let capture = include_bytes!("../../../samples/loss-client.pcap");
//! let mut rows = Vec::new();
//! let origin = CaptureOrigin { name: "loss.pcap".to_owned(), ..CaptureOrigin::default() };
//! let mut condenser = Condenser::new(&origin, |row: Vec<u8>| rows.push(row));
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
mod skipped;

use crate::capture::condensed::build::{MAX_VERBATIM, PacketBuilder, Payload, Piece};
use crate::capture::condensed::headers::TcpHeaders;
use crate::capture::condensed::write::{HeldPayload, PacketTime, RowWriter};
use crate::capture::condensed::{write_origin, write_summary};
use crate::capture::{CaptureOrigin, Clock, LinkType, Packet, Sink, Summary};
use crate::flow::{ConnectionId, FlowTable};
use crate::tcp::payload::readable::{Readable, is_all_text};
use crate::units::Time;
use crate::wire::{self, Flags, FlowKey, Segment};
use skipped::SkippedPackets;
use std::net::IpAddr;
use std::ops::Range;

/// A row is closed when it has so many bytes: the longest packet still fits into
/// [`MAX_ROW`](crate::capture::MAX_ROW).
const ROW: usize = 512 << 10;

/// Takes a capture's packets, and gives rows.
pub struct Condenser<F> {
    give: F,
    rows: u64,
    row: Option<RowWriter>,
    /// The time unit of rows, nanoseconds: thousands, until a time is not one of them.
    unit: i64,
    table: FlowTable<Conversation>,
    packets: u64,
    skipped: SkippedPackets,
    builder: PacketBuilder,
    held: Vec<Range<usize>>,
    /// The last packet, with which a row begins that a name or a mark opens.
    last: PacketTime,
}

/// What is known of a connection.
#[derive(Debug)]
struct Conversation {
    /// The row that has it, and its number there.
    place: Option<(u64, usize)>,
    sides: [Readable; 2],
}

impl<F> std::fmt::Debug for Condenser<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Condenser").field("rows", &self.rows).field("packets", &self.packets).finish_non_exhaustive()
    }
}

impl<F: FnMut(Vec<u8>)> Condenser<F> {
    /// Begins the condensed capture of this origin. Each row goes to `give`, in order.
    pub fn new(origin: &CaptureOrigin, mut give: F) -> Self {
        give(write_origin(origin));
        Self {
            give,
            rows: 0,
            row: None,
            unit: 1000,
            table: FlowTable::default(),
            packets: 0,
            skipped: SkippedPackets::default(),
            builder: PacketBuilder::default(),
            held: Vec::new(),
            last: PacketTime { time: Time::ZERO, frame: 0 },
        }
    }

    /// Ends it with what the capture's reader learnt.
    pub fn finish(mut self, summary: &Summary) {
        self.end_row();
        (self.give)(write_summary(summary, self.rows));
    }

    /// Closes a row before it is full.
    #[cfg(test)]
    pub(crate) fn end_row_for_test(&mut self) {
        self.end_row();
    }

    fn end_row(&mut self) {
        if let Some(row) = self.row.take() {
            (self.give)(row.finish());
            self.rows += 1;
            self.skipped.forget();
        }
    }

    /// The row that takes a packet of this time.
    fn row(&mut self, at: PacketTime) -> &mut RowWriter {
        if self.row.as_ref().is_some_and(|row| row.len() >= ROW) {
            self.end_row();
        }
        if self.row.as_ref().is_some_and(|row| !row.takes(at.time)) || at.time.0 % self.unit != 0 {
            self.end_row();
            self.unit = 1;
        }
        self.last = at;
        let (number, unit) = (self.rows, self.unit);
        self.row.get_or_insert_with(|| RowWriter::new(number, unit, at))
    }

    fn on_segment(&mut self, packet: &Packet<'_>, segment: &Segment<'_>) {
        let at = PacketTime { time: packet.time, frame: packet.frame };
        self.row(at);
        let key = FlowKey::of(segment).into();
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
        let headers = headers::of(packet, segment);
        let ranges = self.held.as_slice();
        let is_whole = ranges.first().is_some_and(|first| *first == (0..segment.payload.len()));
        let is_text = !is_whole && is_all_text(segment.payload);
        let held = HeldPayload { payload: segment.payload, ranges, is_text };
        let is_same = headers.is_some_and(|headers| is_same(&mut self.builder, packet, &headers, held));
        if let (Some(row), Some(headers)) = (&mut self.row, headers.filter(|_| is_same)) {
            let place = conversation.place.filter(|(number, _)| *number == self.rows).map(|(_, place)| place);
            conversation.place = Some((self.rows, row.packet(place, at, &headers, held)));
        } else if let Some(row) = &mut self.row {
            row.verbatim(packet, packet.data.get(..MAX_VERBATIM).unwrap_or(packet.data));
        }
        if self.table.has_evicted() {
            self.table.take_evicted();
        }
    }
}

/// Whether a packet comes out as it was read, by what of it would be held.
fn is_same(builder: &mut PacketBuilder, packet: &Packet<'_>, headers: &TcpHeaders, held: HeldPayload<'_>) -> bool {
    let pieces: Vec<Piece<'_>> =
        held.ranges.iter().filter_map(|range| Some((range.start, held.payload.get(range.clone())?))).collect();
    let same = builder.build(headers, Payload { pieces: &pieces, is_text: held.is_text }, |data, original_len| {
        let condensed = Packet { link: LinkType::ETHERNET, data, original_len, ..*packet };
        let alike = |read: fn(&Packet<'_>) -> Option<Headless>| read(packet) == read(&condensed);
        alike(|packet| wire::decode(packet).ok().map(Headless::of))
            && alike(|packet| wire::decode_verified(packet).ok().map(Headless::of))
            // The short way of plain segments does not look at all sums.
            && (headers.form.has_right_sums() || is_plain(packet) == is_plain(&condensed))
    });
    same == Some(true)
}

fn is_plain(packet: &Packet<'_>) -> bool {
    wire::parse_fast(packet).is_some_and(|fast| fast.plain().is_some())
}

/// A segment, of its payload only the length that was captured.
#[derive(PartialEq)]
struct Headless(Segment<'static>, usize);

impl Headless {
    fn of(segment: Segment<'_>) -> Self {
        let captured = segment.payload.len();
        Self(Segment { payload: &[], ..segment }, captured)
    }
}

impl<F: FnMut(Vec<u8>)> Sink for Condenser<F> {
    fn packet(&mut self, packet: &Packet<'_>) {
        self.packets += 1;
        match wire::decode_verified(packet) {
            Ok(segment) => self.on_segment(packet, &segment),
            Err(skip) => {
                let at = PacketTime { time: packet.time, frame: packet.frame };
                self.row(at);
                if let Some(row) = &mut self.row {
                    self.skipped.write(row, packet, skip);
                }
            }
        }
    }

    fn text(&mut self, clock: Clock) {
        let at = self.last;
        self.row(at).text(clock);
    }

    fn left_out(&mut self, of: Option<[(IpAddr, u16); 2]>, from: Time, until: Time) {
        let at = self.last;
        self.row(at).left_out(of, from, until);
    }

    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        let at = self.last;
        self.row(at).host_name(address, name, stand_in);
    }
}
