//! [`HeldPackets`]: copies of one connection's packets, as they were when it was opened.

use std::io::{self, Write};
use std::ops::Range;
use whyslow_analysis::{Connection, Frame};
use whyslow_core::capture::{LinkType, Packet, Sink};
use whyslow_diagnosis::series::{PacketDetail, SeriesReader, SeriesSize, WantedConnection};
use whyslow_page::{Graphs, GraphsBuilder, Slice};
use whyslow_units::{Nanos, Time};

/// Bytes of one connection's packets that are copied for the page.
pub const MAX_PACKET_BYTES: usize = 32 << 20;

/// A packet to be held.
#[derive(Clone, Copy, Debug)]
pub struct HeldPacket<'a> {
    /// Its number, and its file where there are several.
    pub frame: Frame,
    /// When it passed.
    pub time: Time,
    /// What `bytes` begins with.
    pub link: LinkType,
    /// Bytes that it had.
    pub length: u32,
    /// The first of them.
    pub bytes: &'a [u8],
    /// It opens the connection, and is held apart from the others.
    pub is_handshake: bool,
}

#[derive(Debug)]
struct Place {
    frame: Frame,
    time: Time,
    link: LinkType,
    length: u32,
    bytes: Range<usize>,
}

/// Copies of one connection's packets.
#[derive(Debug)]
pub struct HeldPackets {
    /// The time from which seconds are counted.
    first: Time,
    places: Vec<Place>,
    bytes: Vec<u8>,
    /// How many of the first are the handshake's.
    handshake: usize,
    /// Packets between the handshake and these which are not held.
    missing: u64,
    has_handshake: bool,
    /// The comment of a saved file, at its first packet.
    comment: String,
}

impl HeldPackets {
    /// Creates one without packets, whose times are counted from `first`.
    pub fn new(first: Time) -> Self {
        let (places, bytes, comment) = (Vec::new(), Vec::new(), String::new());
        Self { first, places, bytes, handshake: 0, missing: 0, has_handshake: false, comment }
    }

    /// Adds the next packet.
    pub fn push(&mut self, packet: &HeldPacket<'_>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(packet.bytes);
        let HeldPacket { frame, time, link, length, .. } = *packet;
        self.places.push(Place { frame, time, link, length, bytes: start..self.bytes.len() });
        self.handshake += usize::from(packet.is_handshake);
    }

    /// Describes missing packets, and the comment at the first packet of a saved file.
    #[must_use]
    pub fn described(self, missing: u64, has_handshake: bool, comment: String) -> Self {
        Self { missing, has_handshake, comment, ..self }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// Whether their numbers are those of several captures.
    pub(super) fn has_files(&self) -> bool {
        self.places.iter().any(|place| place.frame.file.is_some())
    }

    /// Packets between the handshake and these which are not held.
    pub(super) fn missing(&self) -> u64 {
        self.missing
    }

    /// Whether these are the packets of this connection, and not of a later one between the same
    /// ends.
    pub(super) fn are_of(&self, connection: &Connection) -> bool {
        let near = Nanos::from_millis(1);
        let (start, end) = (connection.start_s, connection.start_s + connection.duration_s + near);
        self.places.first().is_some_and(|first| {
            let at = first.time - self.first;
            let is_whole = self.has_handshake || self.missing == 0;
            at >= start - near && at <= if is_whole { start + near } else { end }
        })
    }

    fn packet(&self, place: &Place) -> Packet<'_> {
        Packet {
            frame: place.frame.number,
            time: place.time,
            link: place.link,
            data: self.bytes.get(place.bytes.clone()).unwrap_or_default(),
            original_len: place.length,
        }
    }

    /// Graphs of a time range; `None` for all.
    pub(super) fn graphs(&self, connection: &Connection, range: Option<(Nanos, Nanos)>) -> Result<Graphs, String> {
        let mut builder = GraphsBuilder::new(connection, range, SeriesSize::default());
        let mut push = |_, point| builder.push(&point);
        let wanted = WantedConnection::new(connection).numbered(1);
        let mut reader = SeriesReader::new(vec![wanted], &mut push).counting_from(self.first);
        let mut file = None;
        for place in &self.places {
            if place.frame.file != file {
                file = place.frame.file;
                reader.begin_capture(file);
            }
            reader.packet(&self.packet(place));
        }
        reader.finish();
        if self.has_handshake || self.missing == 0 { builder.finish() } else { Ok(builder.finish_part()) }
    }

    /// The headers of the packet of this number at this time.
    pub(super) fn detail(&self, frame: u64, time: Nanos) -> Option<PacketDetail> {
        let near = Nanos::from_micros(1);
        let is_it = |place: &&Place| {
            let at = place.time - self.first;
            place.frame.number == frame && at >= time - near && at <= time + near
        };
        self.places.iter().find(is_it).and_then(|place| PacketDetail::of(&self.packet(place)))
    }

    /// Writes those of a time range as pcapng, or all of them with their findings. Returns
    /// how many there are.
    pub(super) fn write<W: Write>(&self, range: Option<(Nanos, Nanos)>, out: W) -> io::Result<(W, u64)> {
        let mut slice = Slice::new(out);
        let missing = format!("{} packets before are not held any more", self.missing);
        let gap = (self.missing > 0).then_some(self.handshake);
        for (at, place) in self.places.iter().enumerate() {
            let time = place.time - self.first;
            if range.is_some_and(|(from, to)| time < from || time > to) {
                continue;
            }
            let about = (range.is_none() && at == 0 && !self.comment.is_empty()).then_some(self.comment.as_str());
            let comments: Vec<&str> = about.into_iter().chain((gap == Some(at)).then_some(missing.as_str())).collect();
            slice.push_with(&self.packet(place), &comments);
        }
        let packets = slice.packets;
        Ok((slice.finish()?, packets))
    }
}
