//! [`Column`]: the packets of a time interval.

use super::{Kind, Point};
use whyslow_analysis::{End, Frame};
use whyslow_core::wire::Flags;
use whyslow_units::Nanos;

/// Minimum and maximum of values; no values yet while the minimum is above the maximum.
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
    /// Includes a value.
    pub fn add(&mut self, figure: u64) {
        self.low = self.low.min(figure);
        self.high = self.high.max(figure);
    }

    /// Includes the values of another.
    pub fn join(&mut self, other: &Self) {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
    }

    /// Minimum and maximum; `None` without values.
    pub fn get(&self) -> Option<(u64, u64)> {
        (self.low <= self.high).then_some((self.low, self.high))
    }
}

/// One direction's data in a column: its segments, and the other side's ACKs of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lane {
    /// Segments of this direction's sender.
    pub packets: u64,
    /// Their payload, retransmissions included: the throughput.
    pub bytes: u64,
    /// Newly acknowledged bytes: the goodput.
    pub acked: u64,
    /// Sequence numbers of segments with new data.
    pub segments: Extremes,
    /// Acknowledgment numbers.
    pub ack: Extremes,
    /// Right edge of the window, if its scale is known.
    pub edge: Extremes,
    /// Bytes in flight from the sender's view.
    pub in_flight: Extremes,
    /// Receive window offered to the sender, if its scale is known.
    pub window: Extremes,
    /// Round trips measured by its ACKs, nanoseconds.
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

/// A time interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// The client's data and the server's.
    pub lanes: [Lane; 2],
}

impl Column {
    pub(super) fn join(&mut self, other: &Self) {
        for (lane, other) in self.lanes.iter_mut().zip(&other.lanes) {
            lane.join(other);
        }
    }

    /// The lanes of a point: that of its own data, and that of the data it acknowledges.
    pub(super) fn lanes(&mut self, from: End) -> (&mut Lane, &mut Lane) {
        let [client, server] = &mut self.lanes;
        match from {
            End::Client => (client, server),
            End::Server => (server, client),
        }
    }
}

/// Events that a graph must always show individually, never as an average.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// A notable segment: retransmitted, out of order or a probe.
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
    /// The sender has reduced its congestion window (CWR).
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
    /// The kind.
    pub mark: Mark,
    /// The sender of the data that they belong to.
    pub of: End,
    /// The number of marks.
    pub count: u64,
    /// Time of the first mark, …
    pub time: Nanos,
    /// … and its frame.
    pub frame: Frame,
    /// Lowest sequence number …
    pub low: u64,
    /// … and highest.
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
        // On a SYN, CWR and ECE negotiate ECN (RFC 3168 section 6.1.1).
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
