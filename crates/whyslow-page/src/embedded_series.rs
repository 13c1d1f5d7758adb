//! Graphs for a report, which has no server to ask. The connections that lost most time are drawn
//! whole, then packet by packet as long as the file stays small enough to send.
//!
//! The captures are read once more for all of them together, on as many threads as there are
//! processors. A connection of 200,000 packets fits whole: a packet takes about four bytes. Of
//! larger ones, the parts with the evidence of findings come first, then the beginning. The page
//! marks places without finer detail.

mod compressed;
mod parts;

use crate::graphs::{Graphs, GraphsBuilder, MAX_POINTS, packets};
pub(crate) use compressed::CompressedAnswer;
use parts::Parts;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread;
use whyslow_analysis::Connection;
use whyslow_diagnosis::series::{Point, SeriesSize};
use whyslow_io::{PacketSource, Progress, Reading, follow_all};
use whyslow_report::ranking;

/// Connections with graphs.
const MAX_CONNECTIONS: usize = 24;
/// The most packets of all connections with graphs. The first connection has graphs however many
/// packets it has.
const MAX_PACKETS: u64 = 3_000_000;
/// Columns of a whole connection: requested in this number, each column is one of the lowest level.
const COLUMNS: usize = FOOT - 1;
const FOOT: usize = 4_096;
/// Below this number of packets one thread is used: a second one would mostly read.
const FEW_PACKETS: u64 = 500_000;

/// A connection whose graphs are made.
struct CloseUp<'a> {
    connection: &'a Connection,
    place: PacketSource,
    graphs: GraphsBuilder,
    /// Set if it has too many packets to be drawn whole.
    parts: Option<Parts>,
    given: u64,
}

/// The graphs of a connection.
struct ConnectionGraphs {
    id: u64,
    whole: CompressedAnswer,
    parts: Vec<CompressedAnswer>,
}

impl<'a> CloseUp<'a> {
    fn new(connection: &'a Connection, place: PacketSource, parts: usize) -> Self {
        let is_large = packets(connection) > MAX_POINTS as u64;
        let size = SeriesSize { columns: FOOT, points: if is_large { 0 } else { MAX_POINTS } };
        Self {
            connection,
            place,
            graphs: GraphsBuilder::new(connection, None, size),
            parts: (parts > 0).then(|| Parts::new(connection, parts)),
            given: 0,
        }
    }

    fn push(&mut self, point: Point) {
        self.given += 1;
        self.graphs.push(&point);
        if let Some(parts) = &mut self.parts {
            parts.push(point);
        }
    }

    /// `None` if packets are missing: the graphs must show the explained packets.
    fn finish(self) -> Option<ConnectionGraphs> {
        let graphs: Graphs = self.graphs.finish().ok().filter(|_| self.given >= self.place.segments())?;
        let whole = CompressedAnswer::new(&graphs.answer(None, COLUMNS));
        Some(ConnectionGraphs {
            id: self.connection.id,
            whole,
            parts: self.parts.map(Parts::finish).unwrap_or_default(),
        })
    }
}

/// The graphs of these connections and of the worst ones, compressed to this many bytes. One that
/// cannot be read again is left out, and the page reports that.
pub(crate) fn of_worst(
    reading: &Reading,
    first: &[u64],
    room: usize,
    progress: &mut dyn FnMut(Progress),
) -> BTreeMap<u64, Vec<CompressedAnswer>> {
    let chosen = choose(reading, first);
    let order: Vec<u64> = chosen.iter().map(|(connection, _)| connection.id).collect();
    let mut made = Vec::new();
    for share in shares(close_ups(chosen, room)) {
        made.extend(follow(share, progress));
    }
    made.sort_by_key(|one| order.iter().position(|id| *id == one.id));
    fill(made, room)
}

/// The connections that get graphs, and where their packets are, the requested ones first.
fn choose<'a>(reading: &'a Reading, first: &[u64]) -> Vec<(&'a Connection, PacketSource)> {
    let mut order = ranking::worst(&reading.analysis);
    let known: std::collections::HashSet<u64> = order.iter().map(|connection| connection.id).collect();
    let mut healthy: Vec<&Connection> =
        reading.analysis.connections.iter().filter(|connection| !known.contains(&connection.id)).collect();
    let size = |connection: &&Connection| connection.directions.iter().map(|direction| direction.bytes).max();
    healthy.sort_by_key(|connection| std::cmp::Reverse(size(connection)));
    order.append(&mut healthy);
    order.sort_by_key(|connection| !first.contains(&connection.id));
    let mut followed = 0;
    let mut fits = |connection: &&Connection| {
        let all = packets(connection) + followed;
        let fits = followed == 0 || all <= MAX_PACKETS;
        followed = if fits { all } else { followed };
        fits
    };
    let placed = |connection| Some((connection, reading.place(connection)?));
    order.into_iter().take(MAX_CONNECTIONS).filter(&mut fits).filter_map(placed).collect()
}

/// Assigns a number of parts to each: each takes at most half of the room and leaves the rest to
/// those after it.
fn close_ups(chosen: Vec<(&Connection, PacketSource)>, room: usize) -> Vec<CloseUp<'_>> {
    let is_large = |connection: &Connection| packets(connection) > MAX_POINTS as u64;
    let mut large = chosen.iter().filter(|(connection, _)| is_large(connection)).count();
    let mut rest = parts::that_fit(room);
    let close_up = |(connection, place)| {
        let mut parts = 0;
        if is_large(connection) {
            large -= 1;
            parts = parts::of(packets(connection)).min(if large == 0 { rest } else { rest.div_ceil(2) });
            rest -= parts;
        }
        CloseUp::new(connection, place, parts)
    };
    chosen.into_iter().map(close_up).collect()
}

/// Groups connections by their files.
fn shares(chosen: Vec<CloseUp<'_>>) -> Vec<Vec<CloseUp<'_>>> {
    let mut shares: Vec<Vec<CloseUp<'_>>> = Vec::new();
    for one in chosen {
        match shares.iter_mut().find(|share| share.iter().all(|other| other.place.shares_files(&one.place))) {
            Some(share) => share.push(one),
            None => shares.push(vec![one]),
        }
    }
    shares
}

/// Reads the files of these connections. Each thread reads them whole for some of the connections.
fn follow(close_ups: Vec<CloseUp<'_>>, progress: &mut dyn FnMut(Progress)) -> Vec<ConnectionGraphs> {
    let all: u64 = close_ups.iter().map(|one| packets(one.connection)).sum();
    let threads = if all < FEW_PACKETS { 1 } else { thread::available_parallelism().map_or(1, usize::from) };
    let mut loads: Vec<(u64, Vec<CloseUp<'_>>)> = (0..threads).map(|_| (0, Vec::new())).collect();
    for one in close_ups {
        if let Some((assigned, load)) = loads.iter_mut().min_by_key(|(packets, _)| *packets) {
            *assigned += packets(one.connection);
            load.push(one);
        }
    }
    thread::scope(|scope| {
        let mut loads = loads.into_iter().map(|(_, load)| load).filter(|load| !load.is_empty());
        let first = loads.next();
        let others: Vec<_> = loads.map(|load| scope.spawn(|| follow_alone(load, &mut |_| {}))).collect();
        let mut made = first.map(|load| follow_alone(load, progress)).unwrap_or_default();
        for thread in others {
            made.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        made
    })
}

fn follow_alone(mut load: Vec<CloseUp<'_>>, progress: &mut dyn FnMut(Progress)) -> Vec<ConnectionGraphs> {
    let places: Vec<PacketSource> = load.iter().map(|one| one.place.clone()).collect();
    let places: Vec<&PacketSource> = places.iter().collect();
    // Connections whose packets have all arrived by then count.
    let _ = follow_all(&places, &mut |place, point| load[place].push(point), progress);
    load.into_iter().filter_map(CloseUp::finish).collect()
}

/// Fills the room, detail last: all connections first get their coarse graphs.
fn fill(made: Vec<ConnectionGraphs>, mut room: usize) -> BTreeMap<u64, Vec<CompressedAnswer>> {
    let mut fits = |answer: &CompressedAnswer| {
        let fits = answer.bytes() <= room;
        room -= if fits { answer.bytes() } else { 0 };
        fits
    };
    let mut series: BTreeMap<u64, Vec<CompressedAnswer>> = BTreeMap::new();
    let mut finer = Vec::new();
    for ConnectionGraphs { id, whole, parts } in made {
        if fits(&whole) {
            series.insert(id, vec![whole]);
            finer.push((id, parts));
        }
    }
    for (id, parts) in finer {
        series.entry(id).or_default().extend(parts.into_iter().filter(&mut fits));
    }
    series
}
