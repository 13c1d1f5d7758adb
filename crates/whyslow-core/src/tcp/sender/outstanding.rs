//! Outstanding segments, and holes in the sequence space.

use super::range_set::RangeSet;
use super::slice_queue::SliceQueue;
use crate::tcp::segment::{Seg, TsvalSample};
use std::collections::BTreeMap;
use whyslow_units::Time;
use whyslow_units::steps;

/// A segment that was sent and is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct OutstandingSegment {
    pub end: u64,
    /// Time of the first copy.
    pub time: Time,
    /// Payload bytes captured before it.
    pub passed_before: u64,
    pub len: u32,
    pub tsval: TsvalSample,
}

impl OutstandingSegment {
    /// A segment that ends at `end`.
    #[inline]
    pub fn new(seg: &Seg, end: u64, passed: u64) -> Self {
        Self { end, time: seg.time, passed_before: passed, len: seg.len, tsval: seg.tsval_sample() }
    }

    /// Sequence number of its first byte.
    pub fn start(&self) -> u64 {
        self.end - u64::from(self.len)
    }
}

/// Sequence numbers skipped by later segments, as seen at the capture point.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct SequenceHole {
    pub start: u64,
    pub end: u64,
    /// The segment after the hole: its time, timestamp and IP ID.
    pub time: Time,
    pub tsval: Option<u32>,
    pub ip_id: Option<u16>,
    /// The time of the segment before the hole, and the payload bytes captured until then.
    pub previous_time: Time,
    pub passed_before: u64,
}

/// Maximum number of outstanding segments that are stored (with 1,448 B more than 90 MB in flight),
/// and most late ones.
const MAX_OUTSTANDING: usize = 65_536;
/// Maximum number of holes that are stored.
const MAX_HOLES: usize = 4_096;
/// Maximum number of segments to compare with one retransmission while segments may overlap.
const MAX_COMPARED: usize = 64;

/// Data that was sent and is not acknowledged.
///
/// The cost of an operation grows at most with the logarithm of the number of segments.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct Outstanding {
    /// Segments of new data, in the order of their ends.
    segments: SliceQueue<OutstandingSegment>,
    /// Whether segments may overlap.
    pub may_overlap: bool,
    /// State that is needed only for losses and reordering.
    repair: Option<Box<Repair>>,
}

#[derive(Clone, Debug, Default)]
struct Repair {
    /// Segments that filled a hole, by their first byte and their end.
    late: BTreeMap<(u64, u64), OutstandingSegment>,
    /// Bytes of segments that were sent more than once, or came late.
    resent: RangeSet,
    /// Disjoint holes, by their first byte.
    holes: BTreeMap<u64, SequenceHole>,
    /// Segments and holes that exceeded the limits.
    forgotten: u64,
}

/// The outstanding segments that a retransmission repeats.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Repeated {
    /// The first of them.
    pub first: Option<OutstandingSegment>,
    /// The TSval of the first of them that has one.
    pub tsval: Option<u32>,
    /// The end of the last of them.
    pub end: u64,
}

/// The segments that an ACK covers.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Acknowledged {
    /// Time of the newest of them.
    pub newest: Option<Time>,
    /// The time was adjusted: it was sent no later than that.
    pub is_clamped: bool,
    /// Whether any was sent more than once, or came late.
    pub any_resent: bool,
    /// Payload of the largest one, if requested.
    pub largest: u64,
}

impl Outstanding {
    /// Adds a segment of new data.
    #[inline]
    pub fn push(&mut self, sent: OutstandingSegment) {
        self.segments.push(sent);
        if self.segments.len() > MAX_OUTSTANDING {
            self.segments.drop_first(1);
            self.repair().forgotten += 1;
        }
    }

    fn repair(&mut self) -> &mut Repair {
        self.repair.get_or_insert_default()
    }

    /// Returns the number of segments and holes that exceeded the limits.
    pub fn forgotten(&self) -> u64 {
        self.repair.as_ref().map_or(0, |repair| repair.forgotten)
    }

    /// Releases unused memory.
    pub fn shrink_to_fit(&mut self) {
        self.segments.shrink_to_fit();
    }

    /// Returns whether no segment is outstanding.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.repair.as_ref().is_none_or(|repair| repair.late.is_empty())
    }

    /// Returns the capacity for segments of new data.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.segments.capacity()
    }

    pub fn push_hole(&mut self, hole: SequenceHole) {
        self.repair().push_hole(hole);
    }

    /// Returns whether a hole is known.
    #[inline]
    pub fn has_holes(&self) -> bool {
        self.repair.as_ref().is_some_and(|repair| !repair.holes.is_empty())
    }

    /// Returns the holes in order.
    pub fn holes(&self) -> impl Iterator<Item = &SequenceHole> {
        self.repair.iter().flat_map(|repair| repair.holes.values())
    }

    /// Removes `[start, end)` from the first hole that it fills, and returns that hole.
    pub fn fill_hole(&mut self, start: u64, end: u64) -> Option<SequenceHole> {
        let repair = self.repair.as_mut()?;
        steps::count(1);
        let before = repair.holes.range(..=start).next_back().filter(|(_, hole)| hole.end > start);
        let (&key, _) = before.or_else(|| repair.holes.range(start..end).next())?;
        let hole = repair.holes.remove(&key)?;
        for rest in [SequenceHole { end: start, ..hole }, SequenceHole { start: end, ..hole }] {
            if rest.start < rest.end {
                repair.push_hole(rest);
            }
        }
        Some(hole)
    }

    /// Removes all holes below `ack`, and calls `found` with the removed part of each.
    pub fn take_holes_below(&mut self, ack: u64, mut found: impl FnMut(SequenceHole)) {
        let Some(repair) = &mut self.repair else { return };
        steps::count(1);
        while let Some(first) = repair.holes.first_entry().filter(|first| *first.key() < ack) {
            steps::count(1);
            let hole = first.remove();
            found(SequenceHole { end: hole.end.min(ack), ..hole });
            if hole.end > ack {
                repair.holes.insert(ack, SequenceHole { start: ack, ..hole });
            }
        }
    }

    /// Inserts a late segment, so that its ACK can be matched. Returns whether there was room for
    /// it.
    pub fn insert(&mut self, sent: OutstandingSegment) -> bool {
        steps::count(1);
        let (start, end) = (sent.start(), sent.end);
        let repair = self.repair.get_or_insert_default();
        let first_late = repair.late.first_key_value().map(|(&(start, _), _)| start);
        if self.segments.first().map(OutstandingSegment::start).into_iter().chain(first_late).min() == Some(start) {
            return false;
        }
        let index = self.segments.partition_point(|other| other.start() < start);
        let before = index.checked_sub(1).and_then(|before| self.segments.get(before));
        let late_before = repair.late.range(..(start, 0)).next_back().map(|(_, late)| late);
        let late_behind = repair.late.range((start, 0)..).next().map(|(_, late)| late);
        self.may_overlap |= [before, late_before].into_iter().flatten().any(|before| before.end > start)
            || [self.segments.get(index), late_behind].into_iter().flatten().any(|next| next.start() < end);
        repair.late.insert((start, end), sent);
        repair.resent.insert_merging(start, end);
        if repair.late.len() > MAX_OUTSTANDING {
            repair.late.pop_first();
            repair.forgotten += 1;
        }
        true
    }

    /// Removes the segments that `ack` covers; `measure`: determine the largest of them.
    #[inline(always)]
    pub fn acknowledge(&mut self, ack: u64, measure: bool) -> Acknowledged {
        let all = &self.segments[..];
        let count = all.iter().position(|sent| sent.end > ack).unwrap_or(all.len());
        let those = all.get(..count).unwrap_or_default();
        let largest = if measure { those.iter().map(|sent| u64::from(sent.len)).max().unwrap_or(0) } else { 0 };
        let newest = those.last().map(|sent| sent.time);
        let is_clamped = those.last().is_some_and(|sent| sent.tsval.time_clamped());
        let end = those.last().map_or(0, |sent| sent.end);
        self.segments.drop_first(count);
        let mut acknowledged = Acknowledged { newest, is_clamped, any_resent: false, largest };
        if self.repair.is_some() {
            self.acknowledge_resent(ack, end, &mut acknowledged);
        }
        acknowledged
    }

    /// Removes segments that were sent more than once, or came late. `end`: the end of the last
    /// acknowledged segment of new data.
    #[inline(never)]
    fn acknowledge_resent(&mut self, ack: u64, mut end: u64, acknowledged: &mut Acknowledged) {
        let Some(repair) = &mut self.repair else { return };
        while let Some(first) = repair.late.first_entry().filter(|first| first.get().end <= ack) {
            steps::count(1);
            let late = first.remove();
            acknowledged.largest = acknowledged.largest.max(late.len.into());
            end = end.max(late.end);
        }
        acknowledged.any_resent = repair.resent.remove(0, end) > 0;
        if repair.is_over() {
            self.repair = None;
        }
    }

    /// Marks the segments within `[start, end)` as retransmitted, and returns them.
    pub fn mark_retransmitted(&mut self, start: u64, end: u64) -> Repeated {
        let late = self.late_within(start, end);
        let mut repeated = Repeated { end: late.map_or(0, |[_, last]| last.end), ..Repeated::default() };
        let firsts = [self.within(start, end).next(), late.as_ref().map(|[first, _]| first)];
        repeated.first = firsts.into_iter().flatten().min_by_key(|sent| sent.start()).copied();
        let Some(first) = repeated.first else { return repeated };
        // Either all segments of a connection have timestamps or none has: a few are enough.
        let tsval_of_others = || self.within(start, end).take(MAX_COMPARED).find_map(|sent| sent.tsval.tsval());
        repeated.tsval = first.tsval.tsval().or_else(tsval_of_others);
        repeated.end = repeated.end.max(self.last_end_within(start, end));
        self.repair().resent.insert_merging(first.start(), repeated.end);
        repeated
    }

    /// Returns whether `is` holds for one of the segments within `[start, end)`.
    pub fn any_within(&self, start: u64, end: u64, is: impl Fn(&OutstandingSegment) -> bool) -> bool {
        let late = self.late_within(start, end).into_iter().flatten();
        self.within(start, end).take(MAX_COMPARED).any(&is) || late.take(1).any(|late| is(&late))
    }

    /// The segments of new data within `[start, end)`; if segments may overlap, only those among
    /// the first [`MAX_COMPARED`] candidates.
    fn within(&self, start: u64, end: u64) -> impl Iterator<Item = &OutstandingSegment> {
        let first = self.segments.partition_point(|sent| sent.end <= start);
        let (until, most) = if self.may_overlap { (u64::MAX, MAX_COMPARED) } else { (end, usize::MAX) };
        let those = self.segments.iter().skip(first).take(most).take_while(move |sent| sent.start() < until);
        those.inspect(|_| steps::count(1)).filter(move |sent| sent.start() < end)
    }

    /// Returns the end of the last segment of new data within `[start, end)`, or a later position.
    fn last_end_within(&self, start: u64, end: u64) -> u64 {
        if self.may_overlap {
            return self.within(start, end).map(|sent| sent.end).fold(end, u64::max);
        }
        let behind = self.segments.partition_point(|sent| sent.start() < end);
        let last = behind.checked_sub(1).and_then(|last| self.segments.get(last));
        last.filter(|sent| sent.end > start).map_or(0, |sent| sent.end)
    }

    /// The first and the last late segment within `[start, end)`.
    fn late_within(&self, start: u64, end: u64) -> Option<[OutstandingSegment; 2]> {
        let late = &self.repair.as_ref()?.late;
        steps::count(1);
        let is_within = |sent: &&OutstandingSegment| sent.end > start && sent.start() < end;
        let before = late.range(..(start, 0)).next_back().map(|(_, late)| late).filter(is_within);
        let first = before.or_else(|| Some(late.range((start, 0)..(end, 0)).next()?.1))?;
        let last = late.range(..(end, 0)).next_back().map_or(first, |(_, late)| late);
        Some([*first, *last])
    }

    /// Returns the send time of the segment that ends at `end`, if it was sent only once.
    pub fn send_time_of(&self, end: u64) -> Option<Time> {
        let index = self.segments.partition_point(|sent| sent.end < end);
        let sent = self.segments.get(index).filter(|sent| !self.may_overlap && sent.start() < end)?;
        let is_sent_once = self.repair.as_ref().is_none_or(|repair| repair.resent.covered(sent.start(), sent.end) == 0);
        (is_sent_once && !sent.tsval.time_clamped()).then_some(sent.time)
    }
}

impl Repair {
    fn push_hole(&mut self, hole: SequenceHole) {
        if self.holes.len() < MAX_HOLES {
            self.holes.insert(hole.start, hole);
        } else {
            self.forgotten += 1;
        }
    }

    fn is_over(&self) -> bool {
        self.late.is_empty() && self.resent.is_empty() && self.holes.is_empty() && self.forgotten == 0
    }
}

#[cfg(test)]
mod tests;
