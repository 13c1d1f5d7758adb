//! What became of each segment, as the analysis judged it: for graphs and tables of packets.
//!
//! A traced connection gives a [`Point`] for every segment that it used. The same code judges as
//! without a trace: what kind of copy a segment is, is read off the counters that this code keeps.
//! Some verdicts come late (that a copy was needless is known when the receiver says so; an ACK's
//! sample when its sender can have had the ACK), so that points wait for up to
//! [`MAX_PENDING_POINTS`] later ones. A verdict that comes later still is counted in
//! [`Connection::late_verdicts`](super::Connection::late_verdicts).
//!
//! Segments that the connection does not use (captured twice, wrong checksum) give no point; its
//! facts count them.

use super::facts::DirectionFacts;
use super::facts::Retransmitted;
use crate::types::{End, Frame, Side};
use crate::units::{Nanos, SeqNumber, Time};
use crate::wire::Flags;
use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::{HashSet, VecDeque};

/// Points that wait for late verdicts: 13 MB.
pub const MAX_PENDING_POINTS: usize = 65_536;

/// One segment.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Point {
    /// When it passed the capture point, from the capture's first packet.
    pub time: Nanos,
    /// Its frame.
    pub frame: Frame,
    /// Who sent it.
    pub from: End,
    /// Header flags.
    pub flags: Flags,
    /// Payload bytes.
    pub len: u32,
    /// Place of its first byte in the sequence space, the SYN's number being 0; none when it is far
    /// outside.
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
    /// It was retransmitted, and its first copy is not in the capture.
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
    pub applied: Option<(Nanos, u64)>,
    /// The round trip of the whole path that this ACK measures.
    pub rtt: Option<Nanos>,
}

impl Point {
    /// Without what QUIC encrypts, and the segments that stand for its datagrams make up.
    pub(crate) fn without_encrypted(self) -> Self {
        Self { window: None, duplicate_ack: false, rtt: None, ..self }
    }

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub enum Kind {
    /// It carries none.
    Empty,
    /// New bytes.
    New,
    /// Retransmitted for duplicate ACKs or SACKs.
    Fast,
    /// Retransmitted by the timer.
    Timeout,
    /// A tail loss probe.
    TailProbe,
    /// Retransmitted, needlessly.
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
    pub const fn is_retransmit(self) -> bool {
        matches!(self, Self::Fast | Self::Timeout | Self::TailProbe | Self::Spurious)
    }
}

/// What a direction tells of the segments that pass through it, where it is asked to.
#[derive(Clone, Debug)]
pub(super) enum Note {
    /// The segment that is being looked at.
    Sent { kind: Option<Kind>, unseen: bool, in_flight: u64 },
    /// An ACK reached its sender.
    Taken { frame: Frame, at: Time, rtt: Option<Nanos>, duplicate: bool, in_flight: u64 },
    /// The copy that was sent then, from this byte on, was needless.
    Needless { time: Time, start: u64 },
}

/// What was noted since the last segment.
#[derive(Clone, Debug, Default)]
pub(super) struct TraceNotes {
    pub(super) new: Vec<Note>,
    /// Needless copies that were told of.
    pub(super) spurious_noted: HashSet<(Time, u64)>,
}

/// The counters that say what a segment was taken for.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentCounters {
    pub(super) retransmitted: Retransmitted,
    pub(super) out_of_order: u64,
    pub(super) probes: u64,
    pub(super) keep_alives: u64,
}

impl SegmentCounters {
    pub(super) fn of(facts: &DirectionFacts) -> Self {
        Self {
            retransmitted: facts.retransmitted,
            out_of_order: facts.out_of_order,
            probes: facts.window_probes,
            keep_alives: facts.keep_alives,
        }
    }

    /// What the one segment since was counted as.
    pub(super) fn kind(&self, now: &Self) -> Option<Kind> {
        let (before, after) = (&self.retransmitted, &now.retransmitted);
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

/// The points of a traced connection.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) client: Side,
    /// What the points' times are counted from.
    pub(super) origin: Time,
    pub(super) pending: VecDeque<Point>,
    pub(super) late_verdicts: u64,
    /// Who has sent a SYN: another one is a copy.
    pub(super) syn: [bool; 2],
}

impl Trace {
    /// Adds a point in the order of time and returns its position. A suspect segment is processed
    /// after its successors.
    pub(super) fn add(&mut self, point: Point) -> usize {
        let at = self.pending.partition_point(|one| one.time <= point.time);
        self.pending.insert(at, point);
        at
    }

    /// The place of a frame. Numbers rise, but for a text that brings its own.
    pub(super) fn position_of_frame(&self, frame: Frame) -> Option<usize> {
        let is_it = |at: &usize| self.pending.get(*at).is_some_and(|point| point.frame == frame);
        let at = self.pending.partition_point(|point| point.frame < frame);
        Some(at).filter(is_it).or_else(|| (0..self.pending.len()).rev().take(4096).find(is_it))
    }

    pub(super) fn sent_at(&self, time: Time, start: u64) -> Option<usize> {
        let time = time - self.origin;
        let first = self.pending.partition_point(|point| point.time < time);
        let same = self.pending.iter().enumerate().skip(first).take_while(|(_, point)| point.time == time);
        same.into_iter().find(|(_, point)| point.seq == Some(start) && point.kind != Kind::Empty).map(|(at, _)| at)
    }
}
