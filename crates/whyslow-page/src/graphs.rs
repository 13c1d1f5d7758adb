//! [`Graphs`]: a connection's series, and how it is sent to the page.
//!
//! Columns, marks and segments are sent as lists, one list for each figure, as `differences`: a
//! fraction of the size of objects.

use crate::differences::{Differences, Frames};
use crate::frames::FrameTimes;
use serde::Serialize;
use std::collections::BTreeSet;
use whyslow_analysis::{Connection, End, Frame};
use whyslow_diagnosis::series::{
    Column, Extremes, Kind, Lane, Mark, MarkSum, Point, Series, SeriesBuilder, SeriesSize,
};
use whyslow_io::PacketSource;
use whyslow_units::Nanos;

/// Maximum number of columns in an answer.
const MAX_COLUMNS: usize = 8_192;
/// Maximum number of segments in an answer.
pub(crate) const MAX_POINTS: usize = 16_384;

/// The graphs of one connection.
#[derive(Debug)]
pub struct Graphs {
    series: Series,
    frames: FrameTimes,
    base: [Option<u32>; 2],
}

impl Graphs {
    /// Reads the connection's packets again; `range` is the time to show, `None` for all.
    ///
    /// # Errors
    /// When the capture can no longer be read, or has changed.
    pub(crate) fn read(
        place: &PacketSource,
        connection: &Connection,
        range: Option<(Nanos, Nanos)>,
    ) -> Result<Self, String> {
        let mut builder = GraphsBuilder::new(connection, range, SeriesSize::default());
        whyslow_io::follow(place, &mut |point| builder.push(&point), &mut |_| {}).map_err(|error| error.to_string())?;
        builder.finish()
    }

    /// Graphs from an existing series, without frame times.
    pub(crate) fn of(series: Series) -> Self {
        Self { series, frames: FrameTimes::new(BTreeSet::new()), base: [None; 2] }
    }

    /// The contents of a time range, in this many columns.
    pub fn answer(&self, range: Option<(Nanos, Nanos)>, columns: usize) -> GraphsAnswer {
        let whole = self.series.range();
        let (from, to) = range.unwrap_or(whole);
        let (from, to) = (from.max(whole.0), to.min(whole.1));
        let view = self.series.view(from, to, columns.clamp(1, MAX_COLUMNS));
        let points = self.series.points().map(|points| {
            let first = points.partition_point(|point| point.time < from);
            let end = points.partition_point(|point| point.time <= to);
            points.get(first..end).unwrap_or_default()
        });
        let lanes = [0, 1].map(|side| Lanes::of(&view.columns, side));
        GraphsAnswer {
            range: (whole.0, whole.1),
            from,
            to,
            width: view.width,
            exact: view.exact,
            packets: self.series.packets(),
            scale_known: self.series.scale_known(),
            base: self.base,
            lanes,
            marks: view.marks.iter().filter_map(mark_row).collect(),
            points: points.filter(|points| points.len() <= MAX_POINTS).map(Points::of),
            index: if range.is_none() { self.frames.to_vec() } else { Vec::new() },
        }
    }

    /// Whether they cover this time range.
    pub fn holds(&self, (from, to): (Nanos, Nanos)) -> bool {
        let (first, last) = self.series.range();
        first <= from && to <= last
    }

    /// Whether they already hold everything that a narrower range would show.
    pub fn is_fine(&self, range: (Nanos, Nanos), columns: usize) -> bool {
        self.series.points().is_some() || self.series.view(range.0, range.1, columns.clamp(1, MAX_COLUMNS)).exact
    }
}

/// Builds a connection's graphs from its segments.
pub struct GraphsBuilder {
    series: SeriesBuilder,
    frames: FrameTimes,
    base: [Option<u32>; 2],
    /// The start of the connection, and the time of its first segment.
    start: Nanos,
    first: Option<Nanos>,
}

impl GraphsBuilder {
    /// Starts to build; `range` is the time to show, `None` for all.
    pub fn new(connection: &Connection, range: Option<(Nanos, Nanos)>, most: SeriesSize) -> Self {
        let all = (connection.start_s, connection.start_s + connection.duration_s);
        Self {
            series: SeriesBuilder::bounded(range.unwrap_or(all), packets(connection), most),
            frames: FrameTimes::new(evidence(connection)),
            base: [None; 2],
            start: connection.start_s,
            first: None,
        }
    }

    /// Adds the next segment.
    pub fn push(&mut self, point: &Point) {
        self.first.get_or_insert(point.time);
        if let Some(seq) = point.seq {
            // The low 32 bits of a place in the sequence space are what the header counts.
            self.base[point.from.index()].get_or_insert(point.raw_seq.0.wrapping_sub(seq as u32));
        }
        self.frames.push(point.frame, point.time);
        self.series.push(point);
    }

    /// Finishes after the last segment.
    ///
    /// # Errors
    /// When they belong to another connection.
    pub fn finish(self) -> Result<Graphs, String> {
        // Its first packet has the time of the analysis: else the number is that of another
        // connection.
        if self.first.is_none_or(|first| (first - self.start).0.abs() > Nanos::from_millis(1).0) {
            return Err("the connection cannot be found in the capture again: has the file changed since?".to_owned());
        }
        Ok(self.finish_part())
    }

    /// Finishes where the first segments may be missing.
    pub fn finish_part(self) -> Graphs {
        Graphs { series: self.series.finish(), frames: self.frames, base: self.base }
    }
}

/// Segments of both directions.
pub(crate) fn packets(connection: &Connection) -> u64 {
    connection.directions.iter().fold(0, |sum, direction| sum.saturating_add(direction.packets))
}

/// The frames that the findings and rounds of a connection name.
fn evidence(connection: &Connection) -> BTreeSet<Frame> {
    let of_transfers = connection.transfers.iter().flat_map(|transfer| &transfer.findings);
    let findings = of_transfers.chain(&connection.findings).flat_map(|finding| &finding.evidence);
    let rounds = connection.transfers.iter().flat_map(|transfer| &transfer.rounds);
    let rounds = rounds.flat_map(|round| [round.first_frame, round.last_frame]);
    findings.flat_map(|evidence| evidence.frames.iter().copied()).chain(rounds).collect()
}

/// Graphs of a time range.
#[derive(Debug, Serialize)]
pub struct GraphsAnswer {
    range: (Nanos, Nanos),
    from: Nanos,
    to: Nanos,
    width: Nanos,
    exact: bool,
    packets: u64,
    scale_known: [bool; 2],
    base: [Option<u32>; 2],
    lanes: [Lanes; 2],
    marks: Vec<MarkRow>,
    points: Option<Points>,
    index: Vec<(Frame, Nanos)>,
}

type MarkRow = (&'static str, usize, u64, Nanos, Frame, u64, u64);
/// The lowest and highest value in a column.
type Ranges = (Differences, Differences);

/// One side's data by columns.
#[derive(Debug, Serialize)]
struct Lanes {
    t: Differences,
    packets: Differences,
    bytes: Differences,
    acked: Differences,
    seq: Ranges,
    ack: Ranges,
    edge: Ranges,
    fly: Ranges,
    win: Ranges,
    rtt: Ranges,
}

impl Lanes {
    fn of(columns: &[(Nanos, Column)], side: usize) -> Self {
        let mut lanes = Self {
            t: Differences::of_times(),
            packets: Differences::default(),
            bytes: Differences::default(),
            acked: Differences::default(),
            seq: Ranges::default(),
            ack: Ranges::default(),
            edge: Ranges::default(),
            fly: Ranges::default(),
            win: Ranges::default(),
            rtt: (Differences::of_times(), Differences::of_times()),
        };
        for (time, column) in columns {
            let Some(lane) = column.lanes.get(side).filter(|lane| **lane != Lane::default()) else { continue };
            lanes.push(*time, lane);
        }
        lanes
    }

    fn push(&mut self, time: Nanos, lane: &Lane) {
        self.t.push(0, Some(time.0));
        self.packets.count(0, Some(lane.packets));
        self.bytes.count(0, Some(lane.bytes));
        self.acked.count(0, Some(lane.acked));
        let figures: [(&mut Ranges, &Extremes); 6] = [
            (&mut self.seq, &lane.segments),
            (&mut self.ack, &lane.ack),
            (&mut self.edge, &lane.edge),
            (&mut self.fly, &lane.in_flight),
            (&mut self.win, &lane.window),
            (&mut self.rtt, &lane.rtt),
        ];
        for (list, extremes) in figures {
            let (low, high) = extremes.get().unzip();
            list.0.count(0, low);
            list.1.count(0, high);
        }
    }
}

/// Segments.
#[derive(Debug, Serialize)]
struct Points {
    t: Differences,
    frame: Frames,
    from: Vec<usize>,
    flags: Vec<u16>,
    len: Vec<u32>,
    seq: Differences,
    ack: Differences,
    win: Differences,
    kind: String,
    fly: Differences,
    rtt: Differences,
    dup: Vec<usize>,
    ce: Vec<usize>,
    dsack: Vec<usize>,
    sack: Vec<(usize, u64, u64)>,
}

impl Points {
    fn of(points: &[Point]) -> Self {
        let mut packed = Self {
            t: Differences::of_times(),
            frame: points.iter().map(|point| point.frame).collect(),
            from: Vec::with_capacity(points.len()),
            flags: Vec::with_capacity(points.len()),
            len: Vec::with_capacity(points.len()),
            seq: Differences::by_side(),
            ack: Differences::by_side(),
            win: Differences::by_side(),
            kind: String::with_capacity(points.len()),
            fly: Differences::by_side(),
            rtt: Differences::of_times(),
            dup: Vec::new(),
            ce: Vec::new(),
            dsack: Vec::new(),
            sack: Vec::new(),
        };
        points.iter().enumerate().for_each(|(index, point)| packed.push(index, point));
        packed
    }

    fn push(&mut self, index: usize, point: &Point) {
        let side = point.from.index();
        self.t.push(0, Some(point.time.0));
        self.from.push(side);
        self.flags.push(point.flags.0);
        self.len.push(point.len);
        self.seq.count(side, point.seq);
        self.ack.count(side, point.ack);
        self.win.count(side, point.window);
        self.kind.push(point.kind.letter().unwrap_or(if point.kind == Kind::Empty { '-' } else { 'N' }));
        self.fly.count(side, point.in_flight);
        self.rtt.push(0, point.rtt.map(|rtt| rtt.0));
        for (list, is) in
            [(&mut self.dup, point.duplicate_ack), (&mut self.ce, point.marked), (&mut self.dsack, point.dsack)]
        {
            if is {
                list.push(index);
            }
        }
        self.sack.extend(point.sacks().iter().map(|&(low, high)| (index, low, high)));
    }
}

fn mark_row(sum: &MarkSum) -> Option<MarkRow> {
    let name = match sum.mark {
        Mark::Segment(Kind::Fast) => "F",
        Mark::Segment(Kind::Timeout) => "T",
        Mark::Segment(Kind::TailProbe) => "P",
        Mark::Segment(Kind::Spurious) => "S",
        Mark::Segment(Kind::OutOfOrder) => "O",
        Mark::Segment(Kind::WindowProbe) => "W",
        Mark::Segment(Kind::KeepAlive) => "K",
        Mark::Segment(Kind::Empty | Kind::New) => return None,
        Mark::Syn => "syn",
        Mark::Fin => "fin",
        Mark::Reset => "rst",
        // Every last segment of a write has one: it is seen at the segments alone.
        Mark::Push => return None,
        Mark::Congestion => "ce",
        Mark::Reduced => "cwr",
        Mark::Echo => "ece",
        Mark::DuplicateAck => "dup",
        Mark::Sack => "sack",
        Mark::DuplicateSack => "dsack",
        Mark::ZeroWindow => "zero",
    };
    let side = match sum.of {
        End::Client => 0,
        End::Server => 1,
    };
    Some((name, side, sum.count, sum.time, sum.frame, sum.low, sum.high))
}
