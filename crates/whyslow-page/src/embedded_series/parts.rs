//! [`Parts`]: the packets of a large connection, as many as there is room for.

use super::compressed::CompressedAnswer;
use crate::graphs::{Graphs, GraphsAnswer};
use whyslow_analysis::{Connection, Finding, Frame};
use whyslow_diagnosis::series::{Point, SeriesBuilder};
use whyslow_units::Nanos;

/// Packets of a part.
const PART: usize = 8_192;
/// Columns of a part.
const PART_COLUMNS: usize = 1_024;
/// The least size of a packet, packed and compressed, in bytes.
const PACKED: usize = 3;

/// The most parts that fit into this many bytes.
pub(super) fn that_fit(room: usize) -> usize {
    room / (PART * PACKED)
}

/// The number of parts that this many packets make.
pub(super) fn of(packets: u64) -> usize {
    usize::try_from(packets.div_ceil(PART as u64)).unwrap_or(usize::MAX)
}

/// Cuts a connection into parts of equal packet count and keeps some of them.
pub(super) struct Parts {
    /// The frames of each finding's evidence, from the first to the last.
    evidence: Vec<(Frame, Frame)>,
    points: Vec<Point>,
    /// The last ACK of each side before the part: what it acknowledged is not new.
    acks: [Option<Point>; 2],
    /// Kept parts: with evidence, and without.
    kept: [Vec<CompressedAnswer>; 2],
    /// The most parts to keep.
    most: usize,
}

impl Parts {
    pub(super) fn new(connection: &Connection, most: usize) -> Self {
        let findings = connection.transfers.iter().flat_map(|transfer| &transfer.findings).chain(&connection.findings);
        Self {
            evidence: findings.filter_map(span).collect(),
            points: Vec::with_capacity(PART + 1),
            acks: [None; 2],
            kept: Default::default(),
            most,
        }
    }

    pub(super) fn push(&mut self, point: Point) {
        if self.kept[0].len() >= self.most {
            return;
        }
        // Packets of one time stay together: a part is a range of time.
        let is_full = self.points.len() >= PART && self.points.last().is_some_and(|last| last.time < point.time);
        if is_full || self.points.len() >= 2 * PART {
            self.cut(Some(point.time));
        }
        self.points.push(point);
    }

    /// Packets with evidence come first, each in the order of time.
    pub(super) fn finish(mut self) -> Vec<CompressedAnswer> {
        self.cut(None);
        self.kept.into_iter().flatten().collect()
    }

    /// The part ends where the next one begins.
    fn cut(&mut self, next: Option<Nanos>) {
        if let (Some(first), Some(last)) = (self.points.first(), self.points.last()) {
            let has_evidence = self.evidence.iter().any(|(from, to)| *from <= last.frame && *to >= first.frame);
            let range = (first.time, next.map_or(last.time, |next| last.time.max(next - Nanos(1))));
            self.keep(has_evidence, range);
        }
        for point in self.points.drain(..).filter(|point| point.ack.is_some()) {
            self.acks[point.lane()] = Some(point);
        }
    }

    /// Keeps a part; one with evidence replaces the last one without.
    fn keep(&mut self, has_evidence: bool, range: (Nanos, Nanos)) {
        let is_full = self.kept[0].len() + self.kept[1].len() >= self.most;
        if is_full && (!has_evidence || self.kept[1].pop().is_none()) {
            return;
        }
        let part = CompressedAnswer::new(&self.answer(range));
        self.kept[usize::from(!has_evidence)].push(part);
    }

    fn answer(&self, range: (Nanos, Nanos)) -> GraphsAnswer {
        let mut builder = SeriesBuilder::new(range, self.points.len() as u64);
        self.acks.iter().flatten().filter(|ack| ack.time < range.0).for_each(|ack| builder.push(ack));
        self.points.iter().for_each(|point| builder.push(point));
        Graphs::of(builder.finish()).answer(Some(range), PART_COLUMNS)
    }
}

/// The frames of a finding's evidence.
fn span(finding: &Finding) -> Option<(Frame, Frame)> {
    let frames = || finding.evidence.iter().flat_map(|evidence| &evidence.frames);
    Some((*frames().min()?, *frames().max()?))
}
