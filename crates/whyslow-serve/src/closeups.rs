//! Graphs for a report, which has nobody to ask: the connections that lost most time, whole, and
//! then packet by packet as far as the file stays small enough to be sent.
//!
//! A connection of 200,000 packets fits whole: packed, a packet takes about four bytes. Of what
//! does not fit, the parts with the evidence of findings come first, then the beginning; the page
//! says where the file holds nothing finer.

use crate::document::compress;
use crate::graphs::{Answer, Graphs};
use crate::packed::pack;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use whyslow_core::analysis::{Connection, Finding};
use whyslow_core::series::{Point, SeriesBuilder};
use whyslow_core::units::Nanos;
use whyslow_io::{PacketSource, Reading};
use whyslow_report::ranking;

/// Connections with graphs: each takes a reading of its capture.
const MAX_CONNECTIONS: usize = 24;
/// Columns of a whole connection.
const COLUMNS: usize = 4_096;
/// Packets of a part.
const PART: usize = 8_192;
/// Columns of a part.
const PART_COLUMNS: usize = 1_024;
/// Parts without evidence that are looked at, and those with.
const MAX_PARTS: usize = 64;

/// A packed answer, and its compressed size.
struct Packed {
    text: Box<RawValue>,
    bytes: usize,
}

impl Packed {
    fn of(answer: &Answer) -> Option<Self> {
        let value = pack(answer).ok()?;
        let bytes = compress(&value).len();
        Some(Self { text: serde_json::value::to_raw_value(&value).ok()?, bytes })
    }
}

/// The graphs of these connections, and of the worst ones, in so many bytes, compressed; one that
/// cannot be read once more is left out, and the page says so.
pub(crate) fn of_worst(reading: &Reading, first: &[u64], mut room: usize) -> BTreeMap<u64, Box<RawValue>> {
    let analysis = &reading.analysis;
    let mut order = ranking::worst(analysis);
    let mut healthy: Vec<&Connection> =
        analysis.connections.iter().filter(|connection| order.iter().all(|worse| worse.id != connection.id)).collect();
    let size = |connection: &Connection| connection.directions.iter().map(|direction| direction.bytes).max();
    healthy.sort_by_key(|connection| std::cmp::Reverse(size(connection)));
    order.append(&mut healthy);
    order.sort_by_key(|connection| !first.contains(&connection.id));
    let mut series: BTreeMap<u64, Vec<Box<RawValue>>> = BTreeMap::new();
    let mut large = Vec::new();
    for connection in order.into_iter().take(MAX_CONNECTIONS) {
        let Some(place) = reading.place(connection) else { continue };
        let Ok(graphs) = Graphs::read(&place, connection, None) else { continue };
        let answer = graphs.answer(None, COLUMNS);
        let Some(whole) = Packed::of(&answer).filter(|whole| whole.bytes <= room) else { continue };
        room -= whole.bytes;
        series.insert(connection.id, vec![whole.text]);
        if !answer.has_points() {
            large.push((connection, place, graphs));
        }
    }
    // What is finer comes when all have the coarse.
    for (connection, place, graphs) in large {
        let findings = connection.transfers.iter().flat_map(|transfer| &transfer.findings).chain(&connection.findings);
        let evidence: Vec<_> = findings.filter_map(|finding| range(&graphs, finding)).collect();
        let held = series.entry(connection.id).or_default();
        for part in Parts::read(&place, evidence) {
            if part.bytes <= room {
                room -= part.bytes;
                held.push(part.text);
            }
        }
    }
    let text = |(id, answers)| Some((id, serde_json::value::to_raw_value(&answers).ok()?));
    series.into_iter().filter_map(text).collect()
}

/// The time of a finding's evidence.
fn range(graphs: &Graphs, finding: &Finding) -> Option<(Nanos, Nanos)> {
    let frames = finding.evidence.iter().flat_map(|evidence| &evidence.frames);
    let times: Vec<Nanos> = frames.filter_map(|frame| graphs.time_of(*frame)).collect();
    Some((*times.iter().min()?, *times.iter().max()?))
}

/// Cuts a connection into parts of so many packets, one after the other.
struct Parts {
    evidence: Vec<(Nanos, Nanos)>,
    points: Vec<Point>,
    /// The last ACK of each side before the part: what it acknowledged is not new.
    acks: [Option<Point>; 2],
    /// Those with evidence, and the others.
    kept: [Vec<Packed>; 2],
}

impl Parts {
    /// Those with evidence first, each in the order of time.
    fn read(place: &PacketSource, evidence: Vec<(Nanos, Nanos)>) -> impl Iterator<Item = Packed> {
        let mut parts =
            Self { evidence, points: Vec::with_capacity(PART + 1), acks: [None; 2], kept: Default::default() };
        // What was read by then counts.
        let _ = whyslow_io::follow(place, &mut |point| parts.push(point), &mut |_| {});
        parts.cut(None);
        parts.kept.into_iter().flatten()
    }

    fn push(&mut self, point: Point) {
        // Packets of one time stay together: a part is a range of time.
        let is_full = self.points.len() >= PART && self.points.last().is_some_and(|last| last.time < point.time);
        if is_full || self.points.len() >= 2 * PART {
            self.cut(Some(point.time));
        }
        self.points.push(point);
    }

    /// The part ends where the next one begins.
    fn cut(&mut self, next: Option<Nanos>) {
        if let (Some(first), Some(last)) = (self.points.first(), self.points.last()) {
            let range = (first.time, next.map_or(last.time, |next| last.time.max(next - Nanos(1))));
            let has_evidence = self.evidence.iter().any(|(from, to)| *from <= range.1 && *to >= range.0);
            if self.kept[usize::from(!has_evidence)].len() < MAX_PARTS {
                let answer = self.answer(range);
                self.kept[usize::from(!has_evidence)].extend(Packed::of(&answer));
            }
        }
        for point in self.points.drain(..).filter(|point| point.ack.is_some()) {
            self.acks[point.lane()] = Some(point);
        }
    }

    fn answer(&self, range: (Nanos, Nanos)) -> Answer {
        let mut builder = SeriesBuilder::new(range, self.points.len() as u64);
        self.acks.iter().flatten().filter(|ack| ack.time < range.0).for_each(|ack| builder.push(ack));
        self.points.iter().for_each(|point| builder.push(point));
        Graphs::of(builder.finish()).answer(Some(range), PART_COLUMNS)
    }
}
