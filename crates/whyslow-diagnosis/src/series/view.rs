//! [`SeriesView`]: a time range in as many columns as the screen.

use super::pyramid::{Level, Series};
use super::{Column, MarkSum, Point};
use whyslow_analysis::End;
use whyslow_units::Nanos;

/// Up to this many points per column are drawn individually.
const FEW_POINTS: usize = 4;

/// A time range to draw.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SeriesView<'a> {
    /// Time covered by one column.
    pub width: Nanos,
    /// The non-empty columns, with their start times.
    pub columns: Vec<(Nanos, Column)>,
    /// Every kind of mark in each column, ordered by the time of its first mark.
    pub marks: Vec<MarkSum>,
    /// The individual segments, if they are few enough.
    pub points: Option<&'a [Point]>,
    /// No finer data exists for the range: the columns are as narrow as requested, or the
    /// individual segments are included. Otherwise a series of only this range has more.
    pub exact: bool,
}

/// Rates over a sliding window that ends at a time, bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rates {
    /// End of the window.
    pub time: Nanos,
    /// Payload per second, retransmissions included.
    pub throughput: f64,
    /// Newly acknowledged payload per second.
    pub goodput: f64,
}

impl Series {
    /// The data from `from` to `to` in at most `columns` columns.
    pub fn view(&self, from: Nanos, to: Nanos, columns: usize) -> SeriesView<'_> {
        let (from, to) = (from.max(self.range.0), to.min(self.range.1));
        let columns = columns.max(1);
        if from > to {
            return SeriesView { exact: true, ..SeriesView::default() };
        }
        let wanted = Nanos((to - from).0 / columns as i64).max(Nanos(1));
        // The coarsest level that is fine enough.
        let level = self.levels.iter().rfind(|level| level.width <= wanted).or(self.levels.first());
        let Some(level) = level else { return SeriesView::default() };
        let width = wanted.max(level.width);
        let points = self.points_in(from, to);
        let few = points.filter(|points| points.len() <= columns.saturating_mul(FEW_POINTS));
        let (drawn, marks) = self.fold(level, (from, to), width);
        SeriesView { width, columns: drawn, marks, points: few, exact: level.width <= wanted || points.is_some() }
    }

    fn points_in(&self, from: Nanos, to: Nanos) -> Option<&[Point]> {
        let points = self.points.as_ref()?;
        let first = points.partition_point(|point| point.time < from);
        let end = points.partition_point(|point| point.time <= to);
        points.get(first..end)
    }

    /// Joins the columns of a level into columns of this width; those at the edges are complete.
    fn fold(&self, level: &Level, (from, to): (Nanos, Nanos), width: Nanos) -> (Vec<(Nanos, Column)>, Vec<MarkSum>) {
        let start = self.range.0;
        let of = |time: Nanos| usize::try_from((time - start).or_zero().0 / level.width.0.max(1)).unwrap_or(usize::MAX);
        let (first, last) = (of(from), of(to).min(level.columns.len().saturating_sub(1)));
        let at = |index: usize| start + Nanos((index as i64).saturating_mul(level.width.0));
        // The index of the drawn column.
        let place = |index: usize| (at(index).max(from) - from).0 / width.0.max(1);
        let mut drawn: Vec<(i64, Nanos, Column)> = Vec::new();
        for (index, column) in level.columns.iter().enumerate().take(last + 1).skip(first) {
            if *column == Column::default() {
                continue;
            }
            match drawn.last_mut().filter(|(last, ..)| *last == place(index)) {
                Some((.., one)) => one.join(column),
                None => drawn.push((place(index), at(index).max(from), *column)),
            }
        }
        let mut marks: Vec<(i64, MarkSum)> = Vec::new();
        let begin = level.marks.partition_point(|(column, _)| *column < first);
        for (column, sum) in level.marks.iter().skip(begin).take_while(|(column, _)| *column <= last) {
            let here = place(*column);
            let mut near = marks.iter_mut().rev().take_while(|(at, _)| *at == here);
            match near.find(|(_, other)| (other.mark, other.of) == (sum.mark, sum.of)) {
                Some((_, other)) => other.join(sum),
                None => marks.push((here, *sum)),
            }
        }
        let drawn = drawn.into_iter().map(|(_, at, column)| (at, column)).collect();
        (drawn, marks.into_iter().map(|(_, sum)| sum).collect())
    }

    /// Rates of one side's data over windows of this length, at the end of each of `columns`
    /// columns.
    pub fn rates(&self, of: End, range: (Nanos, Nanos), columns: usize, window: Nanos) -> Vec<Rates> {
        let Some(foot) = self.levels.first() else { return Vec::new() };
        let mut sums = Vec::with_capacity(foot.columns.len() + 1);
        let (mut sent, mut acked) = (0_u64, 0_u64);
        sums.push((0, 0));
        for column in &foot.columns {
            let lane = &column.lanes[of.index()];
            sent = sent.saturating_add(lane.bytes);
            acked = acked.saturating_add(lane.acked);
            sums.push((sent, acked));
        }
        // Within a column of the lowest level the bytes are assumed to be evenly distributed.
        let until = |time: Nanos| {
            let place = (time - self.range.0).or_zero().0 as f64 / foot.width.0.max(1) as f64;
            let index = (place as usize).min(sums.len() - 1);
            let before = sums[index];
            let after = sums.get(index + 1).copied().unwrap_or(before);
            let share = (place - index as f64).clamp(0.0, 1.0);
            let mix = |one: u64, two: u64| one as f64 + (two - one) as f64 * share;
            (mix(before.0, after.0), mix(before.1, after.1))
        };
        let window = window.max(foot.width).max(Nanos(1));
        let (from, to, columns) = (range.0.max(self.range.0), range.1.min(self.range.1), columns.max(1));
        let step = (to - from).or_zero().scale(1.0 / columns as f64);
        (1..=columns)
            .map(|column| {
                let time = from + Nanos(step.0.saturating_mul(column as i64));
                let ((sent, acked), (sent_before, acked_before)) = (until(time), until(time - window));
                let rate = |bytes: f64| bytes * 8.0 / window.as_secs_f64();
                Rates { time, throughput: rate(sent - sent_before), goodput: rate(acked - acked_before) }
            })
            .collect()
    }
}
