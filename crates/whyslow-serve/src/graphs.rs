//! [`Graphs`]: a connection's series, and what the page is told of it.
//!
//! The program sends columns, marks and segments as lists of figures, each list one figure of all:
//! a fraction of what objects would take, and drawn without being taken apart.

use crate::frames::FrameTimes;
use serde::Serialize;
use std::collections::BTreeSet;
use whyslow_core::analysis::{Connection, End, Frame};
use whyslow_core::series::{Column, Extremes, Kind, Lane, Mark, MarkSum, Point, Series, SeriesBuilder};
use whyslow_core::units::Nanos;
use whyslow_io::PacketSource;

/// Columns in an answer, at most.
const MAX_COLUMNS: usize = 8_192;
/// Segments in an answer, at most.
const MAX_POINTS: usize = 16_384;

/// One connection's packets, as graphs.
#[derive(Debug)]
pub(crate) struct Graphs {
    series: Series,
    frames: FrameTimes,
    base: [Option<u32>; 2],
}

impl Graphs {
    /// Reads the connection's packets once more; `range` is the time that is wanted, none for all.
    ///
    /// # Errors
    /// When the capture can no longer be read, or is not what it was.
    pub(crate) fn read(
        place: &PacketSource,
        connection: &Connection,
        range: Option<(Nanos, Nanos)>,
    ) -> Result<Self, String> {
        let all = (connection.start_s, connection.start_s + connection.duration_s);
        let packets = connection.directions.iter().fold(0_u64, |sum, direction| sum.saturating_add(direction.packets));
        let mut builder = SeriesBuilder::new(range.unwrap_or(all), packets);
        let mut frames = FrameTimes::new(evidence(connection));
        let (mut base, mut begin) = ([None; 2], None);
        let mut give = |point: Point| {
            begin.get_or_insert(point.time);
            if let Some(seq) = point.seq {
                // The low 32 bits of a place in the sequence space are what the header counts.
                base[point.from.index()].get_or_insert(point.raw_seq.0.wrapping_sub(seq as u32));
            }
            frames.push(point.frame, point.time);
            builder.push(&point);
        };
        whyslow_io::follow(place, &mut give, &mut |_| {}).map_err(|error| error.to_string())?;
        // Its first packet passes when the analysis says: else the number is that of another
        // connection.
        if begin.is_none_or(|begin| (begin - connection.start_s).0.abs() > Nanos::from_millis(1).0) {
            return Err("the connection cannot be found in the capture again: has the file changed since?".to_owned());
        }
        Ok(Self { series: builder.finish(), frames, base })
    }

    /// Of a series that was made otherwise, without times of frames.
    pub(crate) fn of(series: Series) -> Self {
        Self { series, frames: FrameTimes::new(BTreeSet::new()), base: [None; 2] }
    }

    /// What lies in a range, in so many columns.
    pub(crate) fn answer(&self, range: Option<(Nanos, Nanos)>, columns: usize) -> Answer {
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
        Answer {
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

    /// When a frame of the findings' evidence passed.
    pub(crate) fn time_of(&self, frame: Frame) -> Option<Nanos> {
        self.frames.exact(frame)
    }

    /// Whether they tell of all this time.
    pub(crate) fn holds(&self, (from, to): (Nanos, Nanos)) -> bool {
        let (first, last) = self.series.range();
        first <= from && to <= last
    }

    /// Whether a narrower range of these graphs shows all that there is in it.
    pub(crate) fn is_fine(&self, range: (Nanos, Nanos), columns: usize) -> bool {
        self.series.points().is_some() || self.series.view(range.0, range.1, columns.clamp(1, MAX_COLUMNS)).exact
    }
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
pub(crate) struct Answer {
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

impl Answer {
    /// Whether every segment is in it.
    pub(crate) fn has_points(&self) -> bool {
        self.points.is_some()
    }
}

type MarkRow = (&'static str, usize, u64, Nanos, Frame, u64, u64);
type Figures = Vec<Option<u64>>;

/// One side's data by columns.
#[derive(Debug, Default, Serialize)]
struct Lanes {
    t: Vec<Nanos>,
    packets: Vec<u64>,
    bytes: Vec<u64>,
    acked: Vec<u64>,
    seq: (Figures, Figures),
    ack: (Figures, Figures),
    edge: (Figures, Figures),
    fly: (Figures, Figures),
    win: (Figures, Figures),
    rtt: (Vec<Option<f64>>, Vec<Option<f64>>),
}

impl Lanes {
    fn of(columns: &[(Nanos, Column)], side: usize) -> Self {
        let mut lanes = Self::default();
        for (time, column) in columns {
            let Some(lane) = column.lanes.get(side).filter(|lane| **lane != Lane::default()) else { continue };
            lanes.t.push(*time);
            lanes.packets.push(lane.packets);
            lanes.bytes.push(lane.bytes);
            lanes.acked.push(lane.acked);
            let figures: [(&mut (Figures, Figures), &Extremes); 5] = [
                (&mut lanes.seq, &lane.segments),
                (&mut lanes.ack, &lane.ack),
                (&mut lanes.edge, &lane.edge),
                (&mut lanes.fly, &lane.in_flight),
                (&mut lanes.win, &lane.window),
            ];
            for (list, extremes) in figures {
                let (low, high) = extremes.get().unzip();
                list.0.push(low);
                list.1.push(high);
            }
            let (low, high) = lane.rtt.get().unzip();
            lanes.rtt.0.push(low.map(seconds));
            lanes.rtt.1.push(high.map(seconds));
        }
        lanes
    }
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// Segments.
#[derive(Debug, Default, Serialize)]
struct Points {
    t: Vec<Nanos>,
    frame: Vec<Frame>,
    from: Vec<usize>,
    flags: Vec<u16>,
    len: Vec<u32>,
    seq: Figures,
    ack: Figures,
    win: Figures,
    kind: String,
    fly: Figures,
    rtt: Vec<Option<Nanos>>,
    dup: Vec<usize>,
    ce: Vec<usize>,
    dsack: Vec<usize>,
    sack: Vec<(usize, u64, u64)>,
}

impl Points {
    fn of(points: &[Point]) -> Self {
        let mut told = Self::default();
        for (index, point) in points.iter().enumerate() {
            told.t.push(point.time);
            told.frame.push(point.frame);
            told.from.push(point.from.index());
            told.flags.push(point.flags.0);
            told.len.push(point.len);
            told.seq.push(point.seq);
            told.ack.push(point.ack);
            told.win.push(point.window);
            told.kind.push(point.kind.letter().unwrap_or(if point.kind == Kind::Empty { '-' } else { 'N' }));
            told.fly.push(point.in_flight);
            told.rtt.push(point.rtt);
            if point.duplicate_ack {
                told.dup.push(index);
            }
            if point.marked {
                told.ce.push(index);
            }
            if point.dsack {
                told.dsack.push(index);
            }
            told.sack.extend(point.sacks().iter().map(|&(low, high)| (index, low, high)));
        }
        told
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
