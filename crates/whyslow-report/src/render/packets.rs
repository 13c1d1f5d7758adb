//! A connection's packets as a table, with their classification: CSV, or JSON objects,
//! one a line.
//!
//! Rows are written packet by packet, so memory stays constant. Columns may be added, never
//! renamed. Times are seconds from the capture's first packet; sequence numbers are relative to the
//! SYN, as in Wireshark; an unknown value is empty, or null.

use super::json;
use serde::Serialize;
use std::io::{self, Write};
use whyslow_analysis::{End, Frame};
use whyslow_diagnosis::series::{Mark, Point, marks_of};
use whyslow_units::Nanos;

/// The version of the JSON lines.
pub const SCHEMA: &str = "whyslow-packets/1";

/// The titles of the columns.
pub const COLUMNS: [&str; 17] = [
    "frame",
    "time_s",
    "delta_s",
    "from",
    "flags",
    "seq",
    "next_seq",
    "ack",
    "len",
    "window",
    "in_flight",
    "rtt_ms",
    "kind",
    "notes",
    "sack",
    "raw_seq",
    "raw_ack",
];

/// One row.
#[derive(Clone, Debug, Serialize)]
struct Row {
    schema: &'static str,
    frame: Frame,
    time_s: Nanos,
    delta_s: Nanos,
    from: End,
    flags: String,
    seq: Option<u64>,
    next_seq: Option<u64>,
    ack: Option<u64>,
    len: u32,
    window: Option<u64>,
    in_flight: Option<u64>,
    rtt_ms: Option<f64>,
    kind: &'static str,
    notes: Vec<&'static str>,
    sack: Vec<(u64, u64)>,
    raw_seq: u32,
    raw_ack: Option<u32>,
}

/// Writes rows; each needs the time of the one before.
#[derive(Debug, Default)]
pub struct Rows {
    before: Option<Nanos>,
}

impl Rows {
    /// The titles, for CSV.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn titles(out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", COLUMNS.join(","))
    }

    /// A packet as a line of CSV (RFC 4180; no cell needs quotes).
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn csv(&mut self, point: &Point, out: &mut impl Write) -> io::Result<()> {
        let row = self.row(point);
        let from = match row.from {
            End::Client => "client",
            End::Server => "server",
        };
        let number = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        let sack: Vec<_> = row.sack.iter().map(|(left, right)| format!("{left}-{right}")).collect();
        writeln!(
            out,
            "{},{:.9},{:.9},{from},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            row.frame,
            row.time_s.as_secs_f64(),
            row.delta_s.as_secs_f64(),
            row.flags,
            number(row.seq),
            number(row.next_seq),
            number(row.ack),
            row.len,
            number(row.window),
            number(row.in_flight),
            row.rtt_ms.map_or(String::new(), |rtt| rtt.to_string()),
            row.kind,
            row.notes.join(" "),
            sack.join(" "),
            row.raw_seq,
            number(row.raw_ack.map(u64::from)),
        )
    }

    /// A packet as a JSON object on a line of its own.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn json(&mut self, point: &Point, out: &mut impl Write) -> io::Result<()> {
        json::line(&self.row(point), out)
    }

    fn row(&mut self, point: &Point) -> Row {
        let delta = point.time - self.before.unwrap_or(point.time);
        self.before = Some(point.time);
        Row {
            schema: SCHEMA,
            frame: point.frame,
            time_s: point.time,
            delta_s: delta,
            from: point.from,
            flags: flags(point),
            seq: point.seq,
            next_seq: point.end(),
            ack: point.ack,
            len: point.len,
            window: point.window,
            in_flight: point.in_flight,
            rtt_ms: point.rtt.map(Nanos::as_millis_f64),
            kind: point.kind.slug(),
            notes: notes(point),
            sack: point.sacks().to_vec(),
            raw_seq: point.raw_seq.0,
            raw_ack: point.raw_ack.map(|ack| ack.0),
        }
    }
}

/// Properties of a packet that neither its flags nor its kind show.
pub fn notes(point: &Point) -> Vec<&'static str> {
    let mut notes: Vec<_> = marks_of(point).filter_map(|sum| note(sum.mark)).collect();
    notes.dedup();
    if point.unseen_original {
        notes.push("original-not-captured");
    }
    notes
}

fn note(mark: Mark) -> Option<&'static str> {
    match mark {
        Mark::DuplicateAck => Some("duplicate-ack"),
        Mark::ZeroWindow => Some("zero-window"),
        Mark::Congestion => Some("ce"),
        Mark::Sack => Some("sack"),
        Mark::DuplicateSack => Some("d-sack"),
        _ => None,
    }
}

/// A letter for each flag, as in RFC 9293's order from the highest bit down; `A` is ACK, and `a`
/// accurate ECN.
pub fn flags(point: &Point) -> String {
    const LETTERS: [(u16, char); 9] = [
        (0x100, 'a'),
        (0x080, 'C'),
        (0x040, 'E'),
        (0x020, 'U'),
        (0x010, 'A'),
        (0x008, 'P'),
        (0x004, 'R'),
        (0x002, 'S'),
        (0x001, 'F'),
    ];
    LETTERS.iter().filter(|(bit, _)| point.flags.0 & bit != 0).map(|(_, letter)| letter).collect()
}

#[cfg(test)]
mod tests;
