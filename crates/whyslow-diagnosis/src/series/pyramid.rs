//! A connection's graphs: columns in several widths.

use super::column::{Column, MarkSum};
use whyslow_core::tcp::trace::Point;
use whyslow_units::Nanos;

/// Columns of one width.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub width: Nanos,
    pub columns: Vec<Column>,
    /// Each with the index of its column, in ascending order.
    pub marks: Vec<(usize, MarkSum)>,
}

impl Level {
    pub(super) fn add_mark(&mut self, column: usize, sum: MarkSum) {
        // Late verdicts delay an ACK's marks only slightly: the same column is near the end.
        let mut near = self.marks.iter_mut().rev().take_while(|(at, _)| *at == column);
        match near.find(|(_, other)| (other.mark, other.of) == (sum.mark, sum.of)) {
            Some((_, other)) => other.join(&sum),
            None => self.marks.push((column, sum)),
        }
    }

    pub(super) fn folded(&self) -> Self {
        let columns = self.columns.chunks(FOLD).map(|four| {
            let mut one = Column::default();
            four.iter().for_each(|column| one.join(column));
            one
        });
        let width = Nanos(self.width.0.saturating_mul(FOLD as i64));
        let mut level = Self { width, columns: columns.collect(), marks: Vec::new() };
        for (column, sum) in &self.marks {
            level.add_mark(column / FOLD, *sum);
        }
        level
    }
}

/// Number of columns that form one column of the next level.
const FOLD: usize = 4;

/// A connection's graphs. Times are measured from the capture's first packet.
#[derive(Clone, Debug)]
pub struct Series {
    /// From the lowest level up: columns of a level are four times as wide as those below.
    pub(super) levels: Vec<Level>,
    /// All points of the range; `None` if there were too many.
    pub(super) points: Option<Vec<Point>>,
    /// The time range of the series.
    pub(super) range: (Nanos, Nanos),
    pub(super) packets: u64,
    pub(super) scale_known: [bool; 2],
}

impl Series {
    /// Its time range.
    pub fn range(&self) -> (Nanos, Nanos) {
        self.range
    }

    /// Number of segments.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Whether the receive windows of the client's data and of the server's are known in bytes.
    /// Otherwise a graph must mark the window as not to scale, or leave it out.
    pub fn scale_known(&self) -> [bool; 2] {
        self.scale_known
    }

    /// All segments; `None` if there are too many.
    pub fn points(&self) -> Option<&[Point]> {
        self.points.as_deref()
    }
}
