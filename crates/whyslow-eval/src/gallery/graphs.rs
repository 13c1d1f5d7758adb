//! The drawn part of a run: the readings of the sender's socket, as columns of a graph.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;
use whyslow_lab::sample::{Row, Series, position};

/// Columns of a graph: one for each of its pixels.
pub(super) const COLUMNS: usize = 200;

/// The parts of a truth file that graphs need; all others are skipped while it is read.
#[derive(Deserialize)]
struct Truth {
    ends: BTreeMap<String, End>,
}

#[derive(Deserialize)]
struct End {
    sockets: Vec<Series>,
}

/// A line: one value per column, `None` without a reading.
pub(super) type Line = Vec<Option<f64>>;

/// The four graphs of a run, over the same time.
#[derive(Debug, Default)]
pub(super) struct Graphs {
    /// From the first reading to the last, in seconds.
    pub seconds: f64,
    /// The smoothed RTT, in seconds: the largest of a column.
    pub rtt: Line,
    /// Bytes acknowledged in a column over its time, in bits per second.
    pub throughput: Line,
    /// Bytes acknowledged so far.
    pub acknowledged: Line,
    /// Columns in which something was retransmitted.
    pub retransmitted: Vec<bool>,
    /// The peer's window, in bytes: the smallest of a column.
    pub window: Line,
    /// The congestion window, in bytes.
    pub congestion_window: Line,
    /// Unacknowledged, in bytes: the largest of a column.
    pub in_flight: Line,
}

impl Graphs {
    /// Data of the sender, from its file of truth.
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let truth: Truth = serde_json::from_reader(BufReader::new(std::fs::File::open(file)?))?;
        let socket = truth.ends.get("server").and_then(|end| end.sockets.first());
        Ok(socket.map(Self::of).unwrap_or_default())
    }

    /// The graphs of one socket's readings.
    pub(super) fn of(socket: &Series) -> Self {
        let (Some(first), Some(last)) = (socket.rows.first(), socket.rows.last()) else { return Self::default() };
        let (start, length) = (first.t, last.t.saturating_sub(first.t).max(1));
        let mut columns = vec![Column::default(); COLUMNS];
        let mut held = Column::default();
        let mut next = 0;
        for row in &socket.rows {
            let at = row.t.saturating_sub(start) as f64 / length as f64 * COLUMNS as f64;
            let at = (at as usize).min(COLUMNS - 1);
            // A reading equal to the one before is left out: what was, still is.
            for column in columns.iter_mut().take(at).skip(next) {
                *column = held.clone().standing();
            }
            next = next.max(at);
            if let Some(column) = columns.get_mut(at) {
                if column.is_empty() {
                    *column = held.clone().standing();
                }
                column.add(row);
                held = column.clone();
            }
            next = next.max(at + 1);
        }
        Self { throughput: throughput(&socket.rows), ..Self::from_columns(&columns, length as f64 / 1e9) }
    }

    fn from_columns(columns: &[Column], seconds: f64) -> Self {
        let line = |value: fn(&Column) -> Option<f64>| columns.iter().map(value).collect::<Line>();
        let acknowledged = line(|column| column.acknowledged);
        let mut total = None;
        let retransmitted = columns.iter().map(|column| {
            let is_more = column.retransmitted.zip(total).is_some_and(|(now, before)| now > before);
            total = column.retransmitted.or(total);
            is_more
        });
        Self {
            seconds,
            rtt: line(|column| column.rtt),
            throughput: Line::new(),
            acknowledged,
            retransmitted: retransmitted.collect(),
            window: line(|column| column.window),
            congestion_window: line(|column| column.congestion_window),
            in_flight: line(|column| column.in_flight),
        }
    }
}

/// Bytes acknowledged from edge to edge of each column, in bits per second. Readings do not fall on
/// the edges: between two of them that are near each other it went on evenly. Two that are farther
/// apart have equal ones between them, which are left out.
fn throughput(rows: &[Row]) -> Line {
    let acknowledged = |row: &Row| Some((row.t, row.v.get(position("bytes_acked")?).copied().flatten()? as f64));
    let all: Vec<(u64, f64)> = rows.iter().filter_map(acknowledged).collect();
    let (Some((start, _)), Some((end, _))) = (all.first(), all.last()) else { return Line::new() };
    let width = (end - start).max(1) as f64 / COLUMNS as f64;
    let bytes_at = |edge: usize| {
        if edge == COLUMNS {
            return all.last().map_or(0.0, |last| last.1);
        }
        let at = *start as f64 + edge as f64 * width;
        let next = all.partition_point(|(t, _)| (*t as f64) < at);
        match (next.checked_sub(1).and_then(|before| all.get(before)), all.get(next)) {
            (Some((t0, from)), Some((t1, to))) if (t1 - t0) as f64 <= width => {
                from + (to - from) * (at - *t0 as f64) / (t1 - t0).max(1) as f64
            }
            (Some((_, from)), _) => *from,
            (None, _) => 0.0,
        }
    };
    let edges: Vec<f64> = (0..=COLUMNS).map(bytes_at).collect();
    edges.windows(2).map(|pair| Some((pair[1] - pair[0]).max(0.0) * 8.0 / (width / 1e9))).collect()
}

/// The readings of one column.
#[derive(Clone, Debug, Default)]
struct Column {
    rtt: Option<f64>,
    acknowledged: Option<f64>,
    retransmitted: Option<u64>,
    window: Option<f64>,
    congestion_window: Option<f64>,
    in_flight: Option<f64>,
    /// The latest of those of which a column has an extreme.
    latest: [Option<f64>; 3],
}

impl Column {
    fn is_empty(&self) -> bool {
        self.acknowledged.is_none()
    }

    /// Extends readings that do not change.
    fn standing(mut self) -> Self {
        [self.rtt, self.window, self.in_flight] = self.latest;
        self
    }

    fn add(&mut self, row: &Row) {
        let value = |column: &str| row.v.get(position(column)?).copied().flatten().map(|value| value as f64);
        let bytes = |column: &str| Some(value(column)? * value("snd_mss")?);
        let rtt = value("rtt").filter(|us| *us > 0.0).map(|us| us / 1e6);
        let in_flight = bytes("unacked");
        let window = value("snd_wnd");
        self.rtt = larger(self.rtt, rtt);
        self.in_flight = larger(self.in_flight, in_flight);
        self.window = match (self.window, window) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => other.or(one),
        };
        self.latest = [rtt, window, in_flight];
        self.congestion_window = bytes("snd_cwnd");
        self.acknowledged = value("bytes_acked");
        self.retransmitted = value("total_retrans").map(|n| n as u64);
    }
}

/// The larger of two, where there are two.
fn larger(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A reading at this moment: acknowledged, in flight and window in segments of 1,000 B.
    fn row(ms: u64, acknowledged: u64, unacked: u64, window: u64, retransmitted: u64) -> Row {
        let mut v = vec![None; whyslow_lab::sample::columns().len()];
        let values = [
            ("bytes_acked", acknowledged * 1000),
            ("unacked", unacked),
            ("snd_mss", 1000),
            ("snd_wnd", window * 1000),
            ("snd_cwnd", 10),
            ("total_retrans", retransmitted),
            ("rtt", 20_000),
        ];
        for (column, value) in values {
            v[position(column).unwrap()] = Some(value);
        }
        Row { t: ms * 1_000_000, v }
    }

    #[test]
    fn what_stands_between_two_readings_is_drawn_and_nothing_is_sent_meanwhile() {
        let rows = vec![row(0, 0, 10, 64, 0), row(600, 60, 4, 8, 1), row(2400, 240, 0, 64, 1)];
        let graphs = Graphs::of(&Series { rows, ..Series::default() });
        assert_eq!(graphs.seconds, 2.4);
        assert!(graphs.acknowledged.iter().all(Option::is_some));
        assert_eq!(graphs.acknowledged[49], Some(0.0));
        assert_eq!(graphs.acknowledged[50], Some(60_000.0));
        assert!((graphs.throughput[50].unwrap() - 60_000.0 * 8.0 / 0.012).abs() < 1.0);
        assert_eq!(graphs.throughput[51], Some(0.0));
        assert_eq!((graphs.in_flight[50], graphs.in_flight[51]), (Some(10_000.0), Some(4_000.0)));
        assert_eq!((graphs.window[0], graphs.window[90]), (Some(64_000.0), Some(8_000.0)));
        let marks: Vec<usize> = (0..COLUMNS).filter(|at| graphs.retransmitted[*at]).collect();
        assert_eq!(marks, [50]);
        assert_eq!(graphs.rtt[150], Some(0.02));
    }

    #[test]
    fn an_even_rate_is_even_though_columns_have_one_reading_more_or_less() {
        // 1 MB/s, read every 3 ms, of which 2.5 fall into each column.
        let rows = (0..=500).map(|n| row(3 * n, 3 * n, 10, 64, 0)).collect();
        let graphs = Graphs::of(&Series { rows, ..Series::default() });
        let off = graphs.throughput.iter().flatten().map(|rate| (rate - 8e6).abs()).fold(0.0, f64::max);
        assert!(graphs.throughput.len() == COLUMNS && off < 1e3, "{off}");
    }

    #[test]
    fn a_socket_that_was_never_read_has_no_graph() {
        let graphs = Graphs::of(&Series::default());
        assert!(graphs.rtt.is_empty() && graphs.seconds == 0.0);
    }
}
