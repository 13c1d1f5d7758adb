//! [`Column`]: what passed in a stretch of time.

use super::{Kind, Point};
use crate::analysis::{End, Frame};
use crate::units::Nanos;
use crate::wire::Flags;

/// The least and the greatest of some figures; none yet when the least is above the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremes {
    low: u64,
    high: u64,
}

impl Default for Extremes {
    fn default() -> Self {
        Self { low: u64::MAX, high: 0 }
    }
}

impl Extremes {
    /// Takes a figure in.
    pub fn add(&mut self, figure: u64) {
        self.low = self.low.min(figure);
        self.high = self.high.max(figure);
    }

    /// Takes another's figures in.
    pub fn join(&mut self, other: &Self) {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
    }

    /// Least and greatest.
    pub fn get(&self) -> Option<(u64, u64)> {
        (self.low <= self.high).then_some((self.low, self.high))
    }
}

/// One direction's data within a column: its segments, and the other side's ACKs of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lane {
    /// Its sender's segments.
    pub packets: u64,
    /// Their payload, copies included: the throughput.
    pub bytes: u64,
    /// Bytes acknowledged for the first time: the goodput.
    pub acked: u64,
    /// Sequence numbers of segments with new data.
    pub segments: Extremes,
    /// Sequence numbers that were acknowledged.
    pub ack: Extremes,
    /// The right edge of the window, where the scale is known.
    pub edge: Extremes,
    /// Bytes in flight, as the sender knew it.
    pub in_flight: Extremes,
    /// The window that was offered to it, where the scale is known.
    pub window: Extremes,
    /// Round trips that its ACKs measured, nanoseconds.
    pub rtt: Extremes,
}

impl Lane {
    fn join(&mut self, other: &Self) {
        self.packets += other.packets;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.acked = self.acked.saturating_add(other.acked);
        self.segments.join(&other.segments);
        self.ack.join(&other.ack);
        self.edge.join(&other.edge);
        self.in_flight.join(&other.in_flight);
        self.window.join(&other.window);
        self.rtt.join(&other.rtt);
    }
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// The client's data, and the server's.
    pub lanes: [Lane; 2],
}

impl Column {
    pub(super) fn join(&mut self, other: &Self) {
        for (lane, other) in self.lanes.iter_mut().zip(&other.lanes) {
            lane.join(other);
        }
    }

    /// The lanes of a point: that of its own data, and that of the data which it acknowledges.
    pub(super) fn lanes(&mut self, from: End) -> (&mut Lane, &mut Lane) {
        let [client, server] = &mut self.lanes;
        match from {
            End::Client => (client, server),
            End::Server => (server, client),
        }
    }
}

/// What must never be averaged away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// A segment of a kind of its own: retransmitted, out of order, a probe.
    Segment(Kind),
    /// SYN.
    Syn,
    /// FIN.
    Fin,
    /// RST.
    Reset,
    /// PSH.
    Push,
    /// A congestion mark (CE).
    Congestion,
    /// The sender has reduced its window (CWR).
    Reduced,
    /// ECN echo.
    Echo,
    /// A duplicate ACK of this data.
    DuplicateAck,
    /// A SACK block for this data.
    Sack,
    /// A D-SACK for this data.
    DuplicateSack,
    /// The window for this data was closed.
    ZeroWindow,
}

/// Marks of one kind in one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MarkSum {
    /// What.
    pub mark: Mark,
    /// Whose data they are of.
    pub of: End,
    /// How many.
    pub count: u64,
    /// The first one's time, …
    pub time: Nanos,
    /// … and frame.
    pub frame: Frame,
    /// From which sequence number …
    pub low: u64,
    /// … to which they lie.
    pub high: u64,
}

impl MarkSum {
    pub(super) fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
    }
}

/// The marks of one segment.
pub fn marks_of(point: &Point) -> impl Iterator<Item = MarkSum> {
    let at = |of, mark, (low, high): (u64, u64)| MarkSum {
        mark,
        of,
        count: 1,
        time: point.time,
        frame: point.frame,
        low: low.min(high),
        high: low.max(high),
    };
    let own = (point.seq.unwrap_or(0), point.end().unwrap_or(0));
    let acked = (point.ack.unwrap_or(0), point.ack.unwrap_or(0));
    let has = |flag| point.flags.has(flag);
    let kind = point.kind.letter().map(|_| Mark::Segment(point.kind));
    let syn = has(Flags::SYN);
    let flags = [
        syn.then_some(Mark::Syn),
        has(Flags::FIN).then_some(Mark::Fin),
        has(Flags::RST).then_some(Mark::Reset),
        has(Flags::PSH).then_some(Mark::Push),
        point.marked.then_some(Mark::Congestion),
        // In a SYN the two negotiate ECN (RFC 3168 section 6.1.1).
        (has(Flags::CWR) && !syn).then_some(Mark::Reduced),
    ];
    let closed = point.raw_window == 0 && !syn && !has(Flags::RST) && point.raw_ack.is_some();
    let acks = [
        point.duplicate_ack.then_some(Mark::DuplicateAck),
        closed.then_some(Mark::ZeroWindow),
        (has(Flags::ECE) && !syn).then_some(Mark::Echo),
    ];
    let sacks = point.sacks().iter().enumerate().map(move |(index, &block)| {
        at(point.from.other(), if index == 0 && point.dsack { Mark::DuplicateSack } else { Mark::Sack }, block)
    });
    let own = [kind].into_iter().chain(flags).flatten().map(move |mark| at(point.from, mark, own));
    let acks = acks.into_iter().flatten().map(move |mark| at(point.from.other(), mark, acked));
    own.chain(acks).chain(sacks)
}
