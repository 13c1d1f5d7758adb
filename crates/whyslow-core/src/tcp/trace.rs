//! The result of the analysis for each segment, for graphs and tables of packets.
//!
//! A traced connection gives a [`Point`] for every segment that it used. The code is the same as
//! without a trace: the kind of a segment is derived from the changes of its counters. Some
//! verdicts come late: a retransmission is known to be spurious only when the receiver reports it,
//! and an ACK is an RTT sample only when it has reached the sender. So up to [`MAX_PENDING_POINTS`]
//! points wait for late verdicts. Verdicts that come even later are counted in
//! [`Connection::late_verdicts`](super::Connection::late_verdicts).
//!
//! Segments that the connection does not use (duplicate frames, wrong checksums) give no point; its
//! facts count them.

use super::facts::DirectionFacts;
use super::facts::Retransmitted;
use crate::wire::Flags;
use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::{HashSet, VecDeque};
use whyslow_analysis::types::{End, Frame, Side};
use whyslow_units::{Nanos, SeqNumber, Time};

/// Points that wait for late verdicts: 13 MB.
pub const MAX_PENDING_POINTS: usize = 65_536;

/// A segment with its verdicts.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Point {
    /// Capture time since the capture's first packet.
    pub time: Nanos,
    /// Its frame.
    pub frame: Frame,
    /// The sender.
    pub from: End,
    /// Header flags.
    pub flags: Flags,
    /// Payload bytes.
    pub len: u32,
    /// Relative sequence number of its first byte (0 for the SYN); `None` if it is far outside of
    /// the connection.
    pub seq: Option<u64>,
    /// The sequence number in the header.
    pub raw_seq: SeqNumber,
    /// Relative acknowledgment number.
    pub ack: Option<u64>,
    /// The acknowledgment number in the header.
    pub raw_ack: Option<SeqNumber>,
    /// The offered window in bytes; `None` if the scale is unknown.
    pub window: Option<u64>,
    /// The window field.
    pub raw_window: u16,
    /// Its kind as data.
    pub kind: Kind,
    /// It was retransmitted, and its first copy was not captured.
    pub unseen_original: bool,
    /// A duplicate ACK (RFC 5681 section 2).
    pub duplicate_ack: bool,
    /// It has a congestion mark (CE).
    pub marked: bool,
    /// SACK blocks; the first [`sacks`](Self::sacks) of these are valid.
    pub sack: [(u64, u64); 4],
    /// Number of SACK blocks.
    pub sacks: u8,
    /// The first block reports a duplicate (D-SACK, RFC 2883).
    pub dsack: bool,
    /// Bytes in flight after it was sent, from its sender's view; only for data.
    pub in_flight: Option<u64>,
    /// Time when this ACK has reached the data's sender, and the bytes in flight then.
    pub applied: Option<(Nanos, u64)>,
    /// The RTT sample of the whole path from this ACK.
    pub rtt: Option<Nanos>,
}

impl Point {
    /// Index of the sender in `[client, server]`.
    pub fn lane(&self) -> usize {
        match self.from {
            End::Client => 0,
            End::Server => 1,
        }
    }
}

impl Point {
    /// Removes fields that QUIC encrypts, which segments derived from datagrams do not really have.
    pub fn without_encrypted(self) -> Self {
        Self { window: None, duplicate_ack: false, rtt: None, ..self }
    }

    /// Sequence number after its last byte, SYN and FIN included.
    pub fn end(&self) -> Option<u64> {
        let space = |flag| u64::from(self.flags.has(flag));
        Some(self.seq? + u64::from(self.len) + space(Flags::SYN) + space(Flags::FIN))
    }

    /// Its SACK blocks.
    pub fn sacks(&self) -> &[(u64, u64)] {
        self.sack.get(..usize::from(self.sacks)).unwrap_or_default()
    }
}

/// Kind of a segment as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub enum Kind {
    /// Without payload.
    Empty,
    /// New bytes.
    New,
    /// Retransmitted after duplicate ACKs or SACKs.
    Fast,
    /// Retransmitted after a timeout.
    Timeout,
    /// A tail loss probe.
    TailProbe,
    /// Spuriously retransmitted.
    Spurious,
    /// Reordered.
    OutOfOrder,
    /// A window probe.
    WindowProbe,
    /// A keep-alive.
    KeepAlive,
}

impl Kind {
    /// Name in tables.
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

    /// Letter in a graph.
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

    /// Whether it is a retransmission.
    pub const fn is_retransmit(self) -> bool {
        matches!(self, Self::Fast | Self::Timeout | Self::TailProbe | Self::Spurious)
    }
}

/// Notes of a direction about the segments that it processes, if tracing is on.
#[derive(Clone, Debug)]
pub(super) enum Note {
    /// About the current segment.
    Sent { kind: Option<Kind>, unseen: bool, in_flight: u64 },
    /// An ACK reached its sender.
    AckApplied { frame: Frame, at: Time, rtt: Option<Nanos>, duplicate: bool, in_flight: u64 },
    /// The retransmission sent at this time, from this byte on, was spurious.
    Spurious { time: Time, start: u64 },
}

/// Notes since the last segment.
#[derive(Clone, Debug, Default)]
pub(super) struct TraceNotes {
    pub(super) new: Vec<Note>,
    /// Spurious retransmissions that were already noted.
    pub(super) spurious_noted: HashSet<(Time, u64)>,
}

/// The counters that show the kind of a segment.
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

    /// The kind that the single segment since then was counted as.
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
    /// Base of the points' times.
    pub(super) origin: Time,
    pub(super) pending: VecDeque<Point>,
    pub(super) late_verdicts: u64,
    /// Whether each side has sent a SYN: then another one is a retransmission.
    pub(super) syn: [bool; 2],
}

impl Trace {
    /// Adds a point in time order and returns its position. A suspect segment is processed after
    /// later ones.
    pub(super) fn add(&mut self, point: Point) -> usize {
        let at = self.pending.partition_point(|one| one.time <= point.time);
        self.pending.insert(at, point);
        at
    }

    /// The position of a frame. Frame numbers increase, except in a text that has its own.
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
