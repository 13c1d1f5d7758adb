//! Builds the pyramid from points.

use super::column::{Column, marks_of};
use super::pyramid::{Level, Series};
use whyslow_core::tcp::trace::Point;
use whyslow_units::Nanos;

/// Columns at the lowest level of the pyramid.
pub const MAX_COLUMNS: usize = 65_536;
/// Largest number of points kept individually.
pub const MAX_POINTS: usize = 131_072;
/// A level with fewer columns is the top.
const FEW_COLUMNS: usize = 256;

/// Size limits of a series.
#[derive(Clone, Copy, Debug)]
pub struct SeriesSize {
    /// Maximum number of columns at the lowest level of the pyramid.
    pub columns: usize,
    /// Maximum number of points kept individually.
    pub points: usize,
}

impl Default for SeriesSize {
    fn default() -> Self {
        Self { columns: MAX_COLUMNS, points: MAX_POINTS }
    }
}

/// Takes points in time order, and makes the series of a time range.
#[derive(Debug)]
pub struct SeriesBuilder {
    foot: Level,
    points: Option<Vec<Point>>,
    max_points: usize,
    range: (Nanos, Nanos),
    packets: u64,
    /// Highest acknowledged sequence number of each side's data.
    acked: [Option<u64>; 2],
    scale_known: [bool; 2],
}

impl SeriesBuilder {
    /// Creates a builder for the time from `range.0` to `range.1`, measured from the capture's
    /// first packet, which contains about `packets` packets.
    pub fn new(range: (Nanos, Nanos), packets: u64) -> Self {
        Self::bounded(range, packets, SeriesSize::default())
    }

    /// Like [`new`](Self::new), with other size limits.
    pub fn bounded(range: (Nanos, Nanos), packets: u64, most: SeriesSize) -> Self {
        let (start, end) = (range.0.min(range.1), range.0.max(range.1));
        let max_columns = most.columns.clamp(FEW_COLUMNS, MAX_COLUMNS);
        let most_columns = usize::try_from(packets).unwrap_or(max_columns).clamp(FEW_COLUMNS, max_columns) as i64;
        // Rounded up, so that the end of the range is in the last column.
        let width = Nanos(((end - start).0 / most_columns).saturating_add(1));
        let columns = usize::try_from((end - start).0 / width.0).unwrap_or(0) + 1;
        let columns = vec![Column::default(); columns.min(max_columns)];
        Self {
            foot: Level { width, columns, marks: Vec::new() },
            points: (most.points > 0).then(Vec::new),
            max_points: most.points,
            range: (start, end),
            packets: 0,
            acked: [None; 2],
            scale_known: [true; 2],
        }
    }

    fn column(&mut self, time: Nanos) -> (usize, &mut Column) {
        let last = self.foot.columns.len().saturating_sub(1);
        let at =
            usize::try_from((time - self.range.0).or_zero().0 / self.foot.width.0.max(1)).unwrap_or(last).min(last);
        (at, &mut self.foot.columns[at])
    }

    /// Adds the next segment.
    pub fn push(&mut self, point: &Point) {
        let of = point.from.other();
        let before = self.acked[of.index()];
        let newly = newly_acked(point, before);
        if let Some(ack) = point.ack {
            self.acked[of.index()] = before.max(Some(ack));
        }
        if point.time < self.range.0 || point.time > self.range.1 {
            return;
        }
        self.packets += 1;
        self.scale_known[of.index()] &= point.window.is_some() || point.raw_ack.is_none();
        self.add(point, newly);
        if let Some((time, in_flight)) = point.applied.filter(|_| point.ack.is_some()) {
            let (_, column) = self.column(time);
            column.lanes(of).0.in_flight.add(in_flight);
        }
        match &mut self.points {
            Some(points) if points.len() < self.max_points => points.push(*point),
            points => *points = None,
        }
    }

    fn add(&mut self, point: &Point, newly: u64) {
        let (at, column) = self.column(point.time);
        let (own, other) = column.lanes(point.from);
        own.packets += 1;
        own.bytes = own.bytes.saturating_add(point.len.into());
        if let (Some(seq), Some(end)) = (point.seq, point.end())
            && end > seq
        {
            own.segments.add(seq);
            own.segments.add(end);
        }
        own.in_flight.join(&extremes(point.in_flight));
        if let Some(ack) = point.ack {
            other.acked = other.acked.saturating_add(newly);
            other.ack.add(ack);
            if let Some(window) = point.window {
                other.edge.add(ack.saturating_add(window));
                other.window.add(window);
            }
        }
        let rtt = point.rtt.and_then(|rtt| u64::try_from(rtt.0).ok());
        other.rtt.join(&extremes(rtt));
        for sum in marks_of(point) {
            self.foot.add_mark(at, sum);
        }
    }

    /// Completes the series.
    pub fn finish(self) -> Series {
        let mut levels = vec![self.foot];
        while let Some(last) = levels.last().filter(|last| last.columns.len() > FEW_COLUMNS) {
            levels.push(last.folded());
        }
        Series { levels, points: self.points, range: self.range, packets: self.packets, scale_known: self.scale_known }
    }
}

fn extremes(figure: Option<u64>) -> super::Extremes {
    let mut extremes = super::Extremes::default();
    figure.into_iter().for_each(|figure| extremes.add(figure));
    extremes
}

/// Payload that this ACK newly acknowledges. The SYN's sequence number is not payload.
fn newly_acked(point: &Point, before: Option<u64>) -> u64 {
    let of_payload = |ack: u64| ack.max(1);
    match (point.ack, before) {
        (Some(ack), Some(before)) => of_payload(ack).saturating_sub(of_payload(before)),
        // The bytes that the first ACK covers were acknowledged before the capture, except if it
        // has the connection's start.
        _ => 0,
    }
}
