//! What became of each segment, as the analysis judged it: for graphs and tables of packets.
//!
//! A traced connection gives a [`Point`] for every segment that it used. The same code judges as without a trace: what
//! kind of copy a segment is, is read off the counters that this code keeps. Some verdicts come late (that a copy was
//! needless is known when the receiver says so; an ACK's sample when its sender can have had the ACK), so that points wait
//! for up to [`LAG`] later ones. A verdict that comes later still is counted in [`Connection::late_verdicts`].
//!
//! Segments that the connection does not use (captured twice, wrong checksum) give no point; its facts count them.

use super::acknowledgement::reports_duplicate;
use super::half::Half;
use super::segment::{Place, Seg};
use super::{Connection, Settled, Stage, facts::HalfFacts};
use crate::analysis::{End, Frame, Retransmitted};
use crate::flow::Side;
use crate::units::{Nanos, SeqNumber};
use crate::wire::{Flags, SackBlocks};
use std::collections::{HashSet, VecDeque};

/// Points that wait for late verdicts: 13 MB.
pub const LAG: usize = 65_536;
/// Needless copies that are remembered as told.
const MOST_TOLD: usize = 8_192;

/// One segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// When it passed the capture point.
    pub time: Nanos,
    /// Its frame.
    pub frame: Frame,
    /// Who sent it.
    pub from: End,
    /// Header flags.
    pub flags: Flags,
    /// Payload bytes.
    pub len: u32,
    /// Place of its first byte in the sequence space, the SYN's number being 0; none when it is far outside.
    pub seq: Option<u64>,
    /// The same as it is in the header.
    pub raw_seq: SeqNumber,
    /// What it acknowledges, in the same terms.
    pub ack: Option<u64>,
    /// The same as it is in the header.
    pub raw_ack: Option<SeqNumber>,
    /// The window that it offers, bytes; none when the scale is not known.
    pub window: Option<u64>,
    /// The window field.
    pub raw_window: u16,
    /// What it is as data.
    pub kind: Kind,
    /// It was sent again, and its first copy is not in the capture.
    pub unseen_original: bool,
    /// A duplicate ACK (RFC 5681 section 2).
    pub duplicate_ack: bool,
    /// It carries a congestion mark (CE).
    pub marked: bool,
    /// SACK blocks, the first [`sacks`](Self::sacks) of these.
    pub sack: [(u64, u64); 4],
    /// How many there are.
    pub sacks: u8,
    /// The first of them reports a duplicate (RFC 2883).
    pub dsack: bool,
    /// Bytes in flight when it was sent, itself included, as its sender knew it; for data only.
    pub in_flight: Option<u64>,
    /// When the data's sender can have had this ACK, and what was in flight then.
    pub taken: Option<(Nanos, u64)>,
    /// The round trip of the whole path that this ACK measures.
    pub rtt: Option<Nanos>,
}

impl Point {
    /// Behind its last byte, SYN and FIN counted.
    pub fn end(&self) -> Option<u64> {
        let space = |flag| u64::from(self.flags.has(flag));
        Some(self.seq? + u64::from(self.len) + space(Flags::SYN) + space(Flags::FIN))
    }

    /// Its SACK blocks.
    pub fn sacks(&self) -> &[(u64, u64)] {
        self.sack.get(..usize::from(self.sacks)).unwrap_or_default()
    }
}

/// What a segment is as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// It carries none.
    Empty,
    /// New bytes.
    New,
    /// Sent again for duplicate ACKs or SACKs.
    Fast,
    /// Sent again by the timer.
    Timeout,
    /// A tail loss probe.
    TailProbe,
    /// Sent again, needlessly.
    Spurious,
    /// Late by reordering.
    OutOfOrder,
    /// A probe of a closed window.
    WindowProbe,
    /// A keep-alive.
    KeepAlive,
}

impl Kind {
    /// Its name in tables.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Empty => "",
            Self::New => "new",
            Self::Fast => "fast-retransmission",
            Self::Timeout => "timeout-retransmission",
            Self::TailProbe => "tail-loss-probe",
            Self::Spurious => "spurious-retransmission",
            Self::OutOfOrder => "out-of-order",
            Self::WindowProbe => "window-probe",
            Self::KeepAlive => "keep-alive",
        }
    }

    /// The letter that stands for it in a graph.
    pub const fn letter(self) -> Option<char> {
        match self {
            Self::Fast => Some('F'),
            Self::Timeout => Some('T'),
            Self::TailProbe => Some('P'),
            Self::Spurious => Some('S'),
            Self::OutOfOrder => Some('O'),
            Self::WindowProbe => Some('W'),
            Self::KeepAlive => Some('K'),
            Self::Empty | Self::New => None,
        }
    }

    /// It was sent before.
    pub const fn is_resent(self) -> bool {
        matches!(self, Self::Fast | Self::Timeout | Self::TailProbe | Self::Spurious)
    }
}

/// What a direction tells of the segments that pass through it, where it is asked to.
#[derive(Debug)]
pub(super) enum Note {
    /// The segment that is being looked at.
    Sent { kind: Option<Kind>, unseen: bool, in_flight: u64 },
    /// An ACK reached its sender.
    Taken { frame: Frame, at: Nanos, rtt: Option<Nanos>, duplicate: bool, in_flight: u64 },
    /// The copy that was sent then, from this byte on, was needless.
    Needless { time: Nanos, start: u64 },
}

/// What was noted since the last segment.
#[derive(Debug, Default)]
pub(super) struct Notes {
    new: Vec<Note>,
    /// Needless copies that were told of.
    told: HashSet<(Nanos, u64)>,
}

/// The counters that say what a segment was taken for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    resent: Retransmitted,
    out_of_order: u64,
    probes: u64,
    keep_alives: u64,
}

impl Tally {
    fn of(facts: &HalfFacts) -> Self {
        Self {
            resent: facts.retransmitted,
            out_of_order: facts.out_of_order,
            probes: facts.window_probes,
            keep_alives: facts.keep_alives,
        }
    }

    /// What the one segment since was counted as.
    fn kind(&self, now: &Self) -> Option<Kind> {
        let (before, after) = (&self.resent, &now.resent);
        [
            (now.keep_alives > self.keep_alives, Kind::KeepAlive),
            (now.probes > self.probes, Kind::WindowProbe),
            (now.out_of_order > self.out_of_order, Kind::OutOfOrder),
            (after.spurious > before.spurious, Kind::Spurious),
            (after.fast > before.fast, Kind::Fast),
            (after.timeout > before.timeout, Kind::Timeout),
            (after.tail_probe > before.tail_probe, Kind::TailProbe),
        ]
        .into_iter()
        .find_map(|(counted, kind)| counted.then_some(kind))
    }
}

impl Half {
    /// The counters before a segment, where notes are wanted.
    pub(super) fn tally(&self) -> Option<Tally> {
        self.notes.is_some().then(|| Tally::of(&self.facts))
    }

    /// A segment was looked at; `before` it the counters stood so.
    pub(super) fn note_sent(&mut self, before: Option<Tally>) {
        let Some(before) = before else { return };
        let now = Tally::of(&self.facts);
        let unseen = now.resent.unseen_original > before.resent.unseen_original;
        let in_flight = self.in_flight();
        if let Some(notes) = &mut self.notes {
            notes.new.push(Note::Sent { kind: before.kind(&now), unseen, in_flight });
        }
    }

    /// An ACK was applied; `before` it there were so many duplicates and needless copies.
    pub(super) fn note_taken(&mut self, place: Place, at: Nanos, rtt: Option<Nanos>, before: (u64, u64)) {
        let (duplicates, needless) = (self.facts.duplicate_acks, self.facts.retransmitted.spurious);
        let in_flight = self.in_flight();
        let Some(mut notes) = self.notes.take() else { return };
        let duplicate = duplicates > before.0;
        notes.new.push(Note::Taken { frame: place.frame(), at, rtt, duplicate, in_flight });
        if needless > before.1 {
            if notes.told.len() > MOST_TOLD {
                notes.told.clear();
            }
            for (time, start) in self.needless() {
                if notes.told.insert((time, start)) {
                    notes.new.push(Note::Needless { time, start });
                }
            }
        }
        self.notes = Some(notes);
    }
}

/// The points of a traced connection.
#[derive(Debug)]
pub(super) struct Trace {
    client: Side,
    waiting: VecDeque<Point>,
    late: u64,
    /// Who has sent a SYN: another one is a copy.
    syn: [bool; 2],
}

impl Connection {
    /// From here on each segment gives a point. `client` is the side that is told as the client.
    pub fn trace(&mut self, client: Side) {
        let trace = Box::new(Trace { client, waiting: VecDeque::new(), late: 0, syn: [false; 2] });
        match &mut self.stage {
            Stage::Held(held) => held.trace = Some(trace),
            Stage::Settled(settled) => settled.trace(trace),
        }
        self.note_direct();
    }

    /// The next point for which no more verdicts are waited.
    pub fn next_point(&mut self) -> Option<Point> {
        let Stage::Settled(settled) = &mut self.stage else { return None };
        let trace = settled.trace.as_mut()?;
        if trace.waiting.len() > LAG { trace.waiting.pop_front() } else { None }
    }

    /// No more segments come: the points that are left.
    pub fn finish_trace(&mut self) -> impl Iterator<Item = Point> + use<> {
        let settled = self.settle();
        settled.end_doubt();
        for side in 0..2 {
            let view = settled.views[side];
            settled.halves[side].apply(None, &view);
            settled.take_notes(side, None);
        }
        settled.trace.as_mut().map(|trace| std::mem::take(&mut trace.waiting)).unwrap_or_default().into_iter()
    }

    /// Verdicts that came when their points were gone.
    pub fn late_verdicts(&self) -> u64 {
        let Stage::Settled(settled) = &self.stage else { return 0 };
        settled.trace.as_ref().map_or(0, |trace| trace.late)
    }
}

impl Settled {
    pub(super) fn trace(&mut self, trace: Box<Trace>) {
        self.trace = Some(trace);
        for half in &mut self.halves {
            half.notes = Some(Box::default());
        }
    }

    /// A segment was processed.
    pub(super) fn traced(&mut self, seg: &Seg, sack: &SackBlocks) {
        let Some(point) = self.point(seg, sack) else { return };
        let at = self.trace.as_mut().map(|trace| {
            trace.waiting.push_back(point);
            trace.waiting.len() - 1
        });
        self.take_notes(1 - seg.from(), None);
        self.take_notes(seg.from(), at);
    }

    /// What the headers say.
    fn point(&mut self, seg: &Seg, blocks: &SackBlocks) -> Option<Point> {
        let (from, to) = (seg.from(), 1 - seg.from());
        let syn = seg.flags.has(Flags::SYN);
        let trace = self.trace.as_mut()?;
        let client = trace.client;
        // Nothing but its timer has a SYN sent again (RFC 6298 section 5.7).
        let syn_again = syn && std::mem::replace(&mut trace.syn[from], true);
        let shift = if syn { Some(0) } else { self.halves[to].window_shift };
        let (mut sack, mut sacks) = ([(0, 0); 4], 0_u8);
        for &(left, right) in blocks.as_slice() {
            let ends = (self.halves[to].unwrap(left), self.halves[to].unwrap(right));
            if let (Some(slot), (Some(left), Some(right))) = (sack.get_mut(usize::from(sacks)), ends) {
                *slot = (left, right);
                sacks += 1;
            }
        }
        let ack = seg.ack().and_then(|ack| self.halves[to].unwrap(ack));
        let data = seg.len > 0 || syn || seg.flags.has(Flags::FIN);
        Some(Point {
            time: seg.time,
            frame: seg.frame(),
            from: if from == client { End::Client } else { End::Server },
            flags: seg.flags,
            len: seg.len,
            seq: self.halves[from].unwrap(seg.seq),
            raw_seq: seg.seq,
            ack,
            raw_ack: seg.ack(),
            window: shift.map(|shift| u64::from(seg.window) << shift.min(14)),
            raw_window: seg.window,
            kind: match (data, syn_again) {
                (_, true) => Kind::Timeout,
                (true, false) => Kind::New,
                (false, false) => Kind::Empty,
            },
            unseen_original: false,
            duplicate_ack: false,
            marked: seg.ecn == 0b11,
            sack,
            sacks,
            dsack: ack.is_some_and(|ack| sacks > 0 && reports_duplicate(sack[0], (sacks > 1).then_some(sack[1]), ack)),
            in_flight: None,
            taken: None,
            rtt: None,
        })
    }

    /// Puts what a direction noted to the points that it is of; `now` is the place of the segment that is looked at.
    fn take_notes(&mut self, side: Side, now: Option<usize>) {
        let Some(trace) = &mut self.trace else { return };
        let Some(notes) = &mut self.halves[side].notes else { return };
        for note in notes.new.drain(..) {
            let told = match note {
                Note::Sent { .. } => now,
                Note::Taken { frame, .. } => trace.with_frame(frame),
                Note::Needless { time, start } => trace.sent_at(time, start),
            };
            let Some(point) = told.and_then(|at| trace.waiting.get_mut(at)) else {
                trace.late += 1;
                continue;
            };
            match note {
                Note::Sent { kind, unseen, in_flight } => {
                    point.kind = kind.unwrap_or(point.kind);
                    point.unseen_original = unseen;
                    point.in_flight = (point.len > 0).then_some(in_flight);
                }
                Note::Taken { at, rtt, duplicate, in_flight, .. } => {
                    (point.taken, point.rtt, point.duplicate_ack) = (Some((at, in_flight)), rtt, duplicate);
                }
                Note::Needless { .. } => point.kind = Kind::Spurious,
            }
        }
    }
}

impl Trace {
    /// The place of a frame. Numbers rise, but for a text that brings its own.
    fn with_frame(&self, frame: Frame) -> Option<usize> {
        let is_it = |at: &usize| self.waiting.get(*at).is_some_and(|point| point.frame == frame);
        let at = self.waiting.partition_point(|point| point.frame < frame);
        Some(at).filter(is_it).or_else(|| (0..self.waiting.len()).rev().take(4096).find(is_it))
    }

    fn sent_at(&self, time: Nanos, start: u64) -> Option<usize> {
        let first = self.waiting.partition_point(|point| point.time < time);
        let same = self.waiting.iter().enumerate().skip(first).take_while(|(_, point)| point.time == time);
        same.into_iter().find(|(_, point)| point.seq == Some(start) && point.kind != Kind::Empty).map(|(at, _)| at)
    }
}
