//! The rows of one share of the connections.

use super::skipped::SkippedPackets;
use whyslow_analysis::types::ConnectionShard;
use whyslow_core::capture::condensed::build::MAX_VERBATIM;
use whyslow_core::capture::condensed::headers::TcpHeaders;
use whyslow_core::capture::condensed::write::{PacketTime, RowWriter, StoredPayload};
use whyslow_core::capture::condensed::{RowCount, write_summary};
use whyslow_core::capture::{Packet, Summary};
use whyslow_core::wire::Skip;

/// Size at which a row is closed, so that the longest packet still fits into
/// [`MAX_ROW`](whyslow_core::capture::MAX_ROW).
const ROW: usize = 512 << 10;

/// A segment, and its stored form.
pub(super) struct StoredSegment<'a> {
    pub(super) at: PacketTime,
    /// `None` if it is stored as captured.
    pub(super) headers: Option<TcpHeaders>,
    pub(super) payload: StoredPayload<'a>,
}

/// The condensed capture of a share during writing.
#[derive(Debug)]
pub(super) struct ShareRows {
    number: usize,
    /// The first row, until a second one is written: a file that is not a capture has none.
    origin: Option<Vec<u8>>,
    /// Number of closed rows, and of all packets.
    count: RowCount,
    row: Option<RowWriter>,
    /// Time unit of rows in nanoseconds: a microsecond until a timestamp is not a multiple of it.
    unit: i64,
    skipped: SkippedPackets,
}

impl ShareRows {
    pub(super) fn new(share: ConnectionShard, origin: Vec<u8>) -> Self {
        Self {
            number: share.number(),
            origin: Some(origin),
            count: RowCount::default(),
            row: None,
            unit: 1000,
            skipped: SkippedPackets::default(),
        }
    }

    /// The share's number.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn finish(&mut self, summary: &Summary, give: &mut impl FnMut(usize, Vec<u8>)) {
        self.end_row(give);
        self.give(write_summary(summary, self.count), give);
    }

    fn give(&mut self, row: Vec<u8>, give: &mut impl FnMut(usize, Vec<u8>)) {
        if let Some(origin) = self.origin.take() {
            give(self.number, origin);
        }
        give(self.number, row);
    }

    pub(super) fn end_row(&mut self, give: &mut impl FnMut(usize, Vec<u8>)) {
        if let Some(row) = self.row.take() {
            self.give(row.finish(), give);
            self.count.rows += 1;
            self.skipped.forget();
        }
    }

    /// The row for a packet of this time.
    pub(super) fn row(&mut self, at: PacketTime, give: &mut impl FnMut(usize, Vec<u8>)) -> &mut RowWriter {
        if self.row.as_ref().is_some_and(|row| row.len() >= ROW) {
            self.end_row(give);
        }
        if self.row.as_ref().is_some_and(|row| !row.takes(at.time)) || at.time.0 % self.unit != 0 {
            self.end_row(give);
            self.unit = 1;
        }
        let (number, unit) = (self.count.rows, self.unit);
        self.row.get_or_insert_with(|| RowWriter::new(number, unit, at))
    }

    /// Writes a segment; `place`: the row that has its connection, and its number in that row.
    pub(super) fn write(
        &mut self,
        place: &mut Option<(u64, usize)>,
        packet: &Packet<'_>,
        segment: &StoredSegment<'_>,
        give: &mut impl FnMut(usize, Vec<u8>),
    ) {
        self.count.packets += 1;
        self.row(segment.at, give);
        let number = self.count.rows;
        let Some(row) = &mut self.row else { return };
        match &segment.headers {
            Some(headers) => {
                let known = place.filter(|(row, _)| *row == number).map(|(_, place)| place);
                *place = Some((number, row.packet(known, segment.at, headers, segment.payload)));
            }
            None => {
                row.verbatim(packet, packet.data.get(..MAX_VERBATIM).unwrap_or(packet.data));
            }
        }
    }

    /// Writes a packet unchanged.
    pub(super) fn write_whole(&mut self, packet: &Packet<'_>, give: &mut impl FnMut(usize, Vec<u8>)) {
        self.count.packets += 1;
        self.row(PacketTime::of(packet), give).verbatim(packet, packet.data);
    }

    /// Writes a packet that is not a segment.
    pub(super) fn write_skipped(&mut self, packet: &Packet<'_>, skip: Skip, give: &mut impl FnMut(usize, Vec<u8>)) {
        self.count.packets += 1;
        self.row(PacketTime::of(packet), give);
        if let Some(row) = &mut self.row {
            self.skipped.write(row, packet, skip);
        }
    }
}
