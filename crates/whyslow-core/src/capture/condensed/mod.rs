//! Condensed captures: the data of each packet that the analysis needs, in a few bytes.
//!
//! A condensed capture can replace the original, and gives the same analysis: every packet has the
//! same frame number, time, headers and payload length, and those payload bytes that later stages
//! may read, whatever came before in another file. So a connection that continues in another file
//! needs only the condensed captures of both.
//!
//! It is a sequence of rows of at most [`MAX_ROW`] bytes. Rows must be read in order, but the loss
//! of one does not affect others: the origin (the capture's name, and data to find the captures
//! that it continues), numbered rows of packets that are independent of each other, and the
//! capture's summary. `docs/reference/condensed.md` has the format byte by byte.
//!
//! The packets of a damaged or missing row are lost, which is counted as a problem of the capture.

pub mod build;
mod fields;
pub mod headers;
mod marks;
mod read;
mod row;
mod state;
mod summary;
pub mod write;

pub(super) use row::MAGIC;
pub use row::{CONDENSED_VERSION, MAX_ROW};
pub use summary::{RowCount, summary_of, write_summary};

use super::records::{Progress, Records};
use super::{CaptureError, Clock, Problem, Sink, Summary};
use fields::{Fields, put_number, put_optional, put_signed, put_text};
use read::Count;
use row::{ROW_HEADER, RowKind, frame_row, row_head};
use whyslow_analysis::types::ConnectionShard;
use whyslow_units::Time;

/// The source of a condensed capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureOrigin {
    /// The capture's name.
    pub name: String,
    /// Number of packets in its first bytes, which identify the captures that it continues.
    pub opening_packets: u64,
    /// The time of the first of them, if it has a date.
    pub opening_time: Option<Time>,
    /// The share of connections whose packets are stored.
    pub share: ConnectionShard,
}

/// Writes the first row.
pub fn write_origin(origin: &CaptureOrigin) -> Vec<u8> {
    let mut out = vec![0; ROW_HEADER];
    put_text(&mut out, &origin.name);
    put_number(&mut out, origin.opening_packets);
    put_optional(&mut out, origin.opening_time, |out, time| put_signed(out, time.0));
    put_number(&mut out, origin.share.number() as u64);
    put_number(&mut out, origin.share.of() as u64);
    frame_row(&mut out, RowKind::Origin);
    out
}

fn read_origin(payload: &[u8]) -> Option<CaptureOrigin> {
    let fields = &mut Fields::new(payload);
    Some(CaptureOrigin {
        name: fields.text()?,
        opening_packets: fields.number()?,
        opening_time: fields.optional(|fields| fields.signed().map(Time))?,
        share: ConnectionShard::new(usize::try_from(fields.number()?).ok()?, usize::try_from(fields.number()?).ok()?)?,
    })
}

/// The clock of the packets, as far as the origin determines it.
fn clock_of(origin: &CaptureOrigin) -> Clock {
    if origin.opening_time.is_some() { Clock::Absolute } else { Clock::None }
}

/// Reads a condensed capture.
#[derive(Debug, Default)]
pub(super) struct CondensedReader {
    offset: u64,
    origin: Option<CaptureOrigin>,
    count: Count,
    summary: Option<(Summary, RowCount)>,
    /// Byte offset of the truncation, or of the first invalid row.
    lost: Option<u64>,
    /// Number of damaged or missing rows, and the first one's number.
    damaged: Option<(u64, u64)>,
}

impl CondensedReader {
    /// # Errors
    /// If the first row is not an origin.
    fn row<S: Sink>(&mut self, kind: u8, payload: &[u8], sink: &mut S) -> Result<(), CaptureError> {
        if kind == RowKind::Origin as u8 {
            if self.origin.is_none()
                && let Some(origin) = read_origin(payload)
            {
                sink.condensed(&origin);
                self.origin = Some(origin);
                return Ok(());
            }
        } else if self.origin.is_none() {
            let message = "this condensed capture lacks its first row, which tells what it was made of: scan it again";
            return Err(CaptureError { offset: self.offset, message: message.to_owned() });
        } else if kind == RowKind::Packets as u8 && self.summary.is_none() {
            let number = read::row_number(payload).unwrap_or(self.count.row);
            self.note_damaged(number.saturating_sub(self.count.row), self.count.row);
            if read::read_row(payload, &mut self.count, sink).is_none() {
                self.note_damaged(1, number);
            }
        } else if kind == RowKind::Summary as u8 && self.summary.is_none() {
            self.summary = summary::read_summary(payload);
            let rows = self.summary.as_ref().map_or(self.count.row, |(_, count)| count.rows);
            self.note_damaged(rows.saturating_sub(self.count.row), self.count.row);
        }
        Ok(())
    }

    fn note_damaged(&mut self, count: u64, number: u64) {
        if count > 0 {
            self.damaged.get_or_insert((0, number)).0 += count;
        }
    }

    /// The summary of the capture.
    pub(super) fn summary(self) -> Result<Summary, CaptureError> {
        let Some(origin) = &self.origin else {
            let message = "the condensed capture ends before its first row does: scan it again";
            return Err(CaptureError { offset: self.offset, message: message.to_owned() });
        };
        let packets = self.count.packets;
        let is_whole = self.summary.is_some() && self.lost.is_none();
        let of_rows = || Summary {
            format: "condensed",
            packets,
            first_time: self.count.times.map(|(first, _)| first),
            last_time: self.count.times.map(|(_, last)| last),
            clock: clock_of(origin),
            ..Summary::default()
        };
        let (mut summary, written) = match self.summary {
            Some((summary, count)) => (summary, count.packets),
            None => (of_rows(), packets),
        };
        // If the number of packets differs, the summary belongs to another capture or is damaged.
        // Only a share has fewer packets than the capture.
        let is_of_others = written != packets
            || summary.packets < packets
            || origin.share == ConnectionShard::ALL && summary.packets != packets;
        let damaged = self.damaged.or(is_of_others.then_some((1, self.count.row)));
        if let Some((count, number)) = damaged {
            let detail = format!(
                "rows of the condensed capture that are damaged or missing: {count} (first: row {number}); {packets} \
                 packets were read of it"
            );
            summary.problems.push(Problem { slug: "damaged-record".into(), count, detail });
            summary.packets = packets;
        }
        if !is_whole {
            let at = self.lost.unwrap_or(self.offset);
            let detail = format!("the condensed capture breaks off at byte {at}: {packets} packets were read of it");
            summary.problems.push(Problem { slug: "torn-record".into(), count: 1, detail });
        }
        Ok(summary)
    }
}

impl Records for CondensedReader {
    fn read<S: Sink>(&mut self, bytes: &[u8], end: bool, sink: &mut S) -> Result<Progress, CaptureError> {
        let mut rest = bytes;
        let need = loop {
            if self.lost.is_some() {
                rest = &[];
                break 1;
            }
            match row_head(rest) {
                Ok(None) if end && !rest.is_empty() => self.lost = Some(self.offset),
                Ok(None) => break ROW_HEADER,
                Ok(Some((kind, length))) => match rest.get(ROW_HEADER..ROW_HEADER + length) {
                    Some(payload) => {
                        self.row(kind, payload, sink)?;
                        self.offset += (ROW_HEADER + length) as u64;
                        rest = rest.get(ROW_HEADER + length..).unwrap_or_default();
                    }
                    None if end => self.lost = Some(self.offset),
                    None => break ROW_HEADER + length,
                },
                Err(message) if self.origin.is_none() => return Err(CaptureError { offset: self.offset, message }),
                Err(_) => self.lost = Some(self.offset),
            }
        };
        Ok(Progress { consumed: bytes.len() - rest.len(), need })
    }
}
