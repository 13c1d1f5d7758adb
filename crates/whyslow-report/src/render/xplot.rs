//! A connection's graphs for xplot, in the kinds of tcptrace: time and sequence, throughput, round
//! trips, outstanding data.
//!
//! One file for each kind and each side's data, written packet by packet. Colours and signs are
//! tcptrace's, and the connection's first segment has time and number 0, as with its `-zxy`; where
//! the analysis knows more, so do the letters: a retransmitted segment is `F` (for duplicate
//! ACKs), `T` (by the timer), `P` (a tail loss probe) or `S` (needlessly), and not just `R`.
//! Outstanding data is what its sender knew to be in flight (RFC 6675), where tcptrace takes the
//! difference of numbers at the capture; round trips are of the whole path wherever the capture
//! stands; and where the clock shows no time between two segments there is no throughput, where
//! tcptrace takes a millisecond.

use crate::text::harmless;
use std::io::{self, Write};
use whyslow_analysis::End;
use whyslow_diagnosis::series::{Kind, Mark, Point, marks_of};
use whyslow_units::Nanos;

/// The kinds of graphs, by the ends of their files' names.
pub const KINDS: [&str; 4] = ["tsg", "tput", "rtt", "owin"];

/// Segments over which a throughput is averaged, tcptrace's default.
const AVERAGED: usize = 10;

/// The four graphs of one side's data.
#[derive(Debug)]
pub struct Xplot<W> {
    of: End,
    out: [W; 4],
    /// The connection's first segment.
    zero: Option<Nanos>,
    /// The last ACK: time, acknowledgement number, right edge, and number of repetitions.
    acked: Option<(f64, u64, Option<u64>, u32)>,
    window: Option<u64>,
    rtt: Option<(f64, f64)>,
    sent: Sent,
}

/// The packets so far.
#[derive(Debug, Default)]
struct Sent {
    first: Option<f64>,
    last: Option<f64>,
    bytes: u64,
    /// Since the last average: how many segments, their bytes, and when it began.
    part: (usize, u64, Option<f64>),
    averages: Option<(f64, f64, f64)>,
    flight: Option<(f64, u64)>,
    window: Option<(f64, u64)>,
    /// Sum and number of the values in flight.
    flights: (u64, u64),
    average_flight: Option<(f64, u64)>,
}

impl<W: Write> Xplot<W> {
    /// Graphs of the data that `of` sends, written to `out` in the order of [`KINDS`]. `title`
    /// names the connection.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn new(of: End, title: &str, mut out: [W; 4]) -> io::Result<Self> {
        // A title is one line.
        let title = harmless(title);
        let axes = [
            ("time sequence graph", "sequence offset"),
            ("throughput", "throughput (bytes/sec)"),
            ("rtt samples", "rtt (ms)"),
            ("outstanding data", "outstanding data (bytes)"),
        ];
        for (file, (what, y)) in out.iter_mut().zip(axes) {
            write!(file, "dtime signed\ntitle\n{title} ({what})\nxlabel\nrelative time\nylabel\n{y}\n")?;
        }
        Ok(Self { of, out, zero: None, acked: None, window: None, rtt: None, sent: Sent::default() })
    }

    /// The next segment of the connection, of either side.
    ///
    /// # Errors
    /// Only those of the files.
    pub fn push(&mut self, point: &Point) -> io::Result<()> {
        let zero = *self.zero.get_or_insert(point.time);
        let time = (point.time - zero).as_secs_f64();
        if point.from == self.of {
            self.sent.first.get_or_insert(time);
            self.segment(point, time)?;
            if point.len > 0 {
                self.throughput(u64::from(point.len), time)?;
                self.outstanding(point, time)?;
            }
        } else {
            self.ack(point, time)?;
        }
        Ok(())
    }

    /// Finishes, and returns the writers.
    ///
    /// # Errors
    /// Only those of the files.
    pub fn finish(mut self) -> io::Result<[W; 4]> {
        for file in &mut self.out {
            writeln!(file, "go")?;
            file.flush()?;
        }
        Ok(self.out)
    }

    fn segment(&mut self, point: &Point, time: f64) -> io::Result<()> {
        let file = &mut self.out[0];
        let (Some(start), Some(end)) = (point.seq, point.end()) else { return Ok(()) };
        for sum in marks_of(point).filter(|sum| sum.of == self.of) {
            let (color, above, letter) = match sum.mark {
                Mark::Segment(kind @ (Kind::WindowProbe | Kind::KeepAlive)) => ("orange", false, kind.letter()),
                Mark::Segment(kind @ Kind::OutOfOrder) => ("pink", true, kind.letter()),
                Mark::Segment(kind) => ("red", true, kind.letter()),
                Mark::Congestion => ("yellow", true, Some('C')),
                _ => continue,
            };
            let (anchor, at) = if above { ("atext", end) } else { ("btext", end) };
            let letter = letter.unwrap_or(' ');
            writeln!(file, "{color}\n{anchor} {time:.6} {at}\n{letter}")?;
        }
        let flag = |mark| marks_of(point).any(|sum| sum.mark == mark);
        let data_end = start + u64::from(point.len);
        if flag(Mark::Reset) {
            writeln!(file, "red\natext {time:.6} {end}\nRST")?;
        }
        if flag(Mark::Syn) {
            writeln!(file, "orange\ndiamond {time:.6} {start}\natext {time:.6} {end}\nSYN")?;
            writeln!(file, "uarrow {time:.6} {end}\nline {time:.6} {start} {time:.6} {end}")?;
            return Ok(());
        }
        if flag(Mark::Fin) {
            writeln!(file, "orange\nbox {time:.6} {end}\natext {time:.6} {end}\nFIN")?;
            writeln!(file, "line {time:.6} {data_end} {time:.6} {end}")?;
        }
        let color = match point.kind {
            Kind::OutOfOrder => "pink",
            kind if kind.is_retransmit() => "red",
            _ => "white",
        };
        writeln!(file, "{color}\ndarrow {time:.6} {start}")?;
        if flag(Mark::Push) && point.len > 0 {
            writeln!(file, "diamond {time:.6} {data_end} white\ndot {time:.6} {data_end} white")?;
        } else {
            writeln!(file, "uarrow {time:.6} {data_end}")?;
        }
        if point.len > 0 {
            writeln!(file, "line {time:.6} {start} {time:.6} {data_end}")?;
        }
        Ok(())
    }

    fn ack(&mut self, point: &Point, time: f64) -> io::Result<()> {
        let Some(ack) = point.ack else { return Ok(()) };
        self.window = point.window.or(self.window);
        let edge = point.window.map(|window| ack.saturating_add(window));
        if let Some(rtt) = point.rtt.map(Nanos::as_millis_f64) {
            let file = &mut self.out[2];
            writeln!(file, "red\ndot {time:.6} {rtt:.3}")?;
            if let Some((before, last)) = self.rtt {
                writeln!(file, "line {time:.6} {rtt:.3} {before:.6} {last:.3}")?;
            }
            self.rtt = Some((time, rtt));
        }
        let file = &mut self.out[0];
        let mut again = 0;
        if let Some((before, last, last_edge, copies)) = self.acked {
            again = if ack == last { copies + u32::from(point.duplicate_ack) } else { 0 };
            let at = last.max(ack);
            writeln!(file, "green\nline {before:.6} {last} {time:.6} {last}")?;
            if ack > last {
                writeln!(file, "line {time:.6} {last} {time:.6} {ack}")?;
            } else {
                writeln!(file, "dtick {time:.6} {at}")?;
            }
            if again == 3 && point.duplicate_ack {
                writeln!(file, "atext {time:.6} {at}\n3")?;
            }
            if let (Some(edge), Some(last_edge)) = (edge, last_edge) {
                writeln!(file, "yellow\nline {before:.6} {last_edge} {time:.6} {last_edge}")?;
                if edge == last_edge {
                    writeln!(file, "utick {time:.6} {edge}")?;
                } else {
                    writeln!(file, "line {time:.6} {last_edge} {time:.6} {edge}")?;
                }
            }
        }
        for sum in marks_of(point).filter(|sum| sum.of == self.of) {
            match sum.mark {
                Mark::Sack | Mark::DuplicateSack => {
                    let letter = if sum.mark == Mark::Sack { "S" } else { "D" };
                    let (low, high) = (sum.low, sum.high);
                    writeln!(file, "purple\nline {time:.6} {low} {time:.6} {high}")?;
                    writeln!(file, "htick {time:.6} {low}\nhtick {time:.6} {high}\natext {time:.6} {high}\n{letter}")?;
                }
                Mark::ZeroWindow => writeln!(file, "atext {time:.6} {ack} magenta\nZ")?,
                Mark::Echo => writeln!(file, "atext {time:.6} {ack} yellow\nE")?,
                _ => {}
            }
        }
        let edge = edge.or(self.acked.and_then(|acked| acked.2));
        let ack = self.acked.map_or(ack, |acked| acked.1.max(ack));
        self.acked = Some((time, ack, edge, again));
        Ok(())
    }

    /// Yellow: each segment over the time since the one before. Red: the last ten. Blue: all so
    /// far.
    fn throughput(&mut self, bytes: u64, time: f64) -> io::Result<()> {
        let (sent, file) = (&mut self.sent, &mut self.out[1]);
        let first = sent.first.unwrap_or(time);
        let since = time - sent.last.unwrap_or(first);
        if since > 0.0 {
            writeln!(file, "dot {time:.6} {:.0} yellow", bytes as f64 / since)?;
        }
        sent.last = Some(time);
        sent.bytes = sent.bytes.saturating_add(bytes);
        sent.part.0 += 1;
        sent.part.1 = sent.part.1.saturating_add(bytes);
        let begin = *sent.part.2.get_or_insert(first);
        if sent.part.0 < AVERAGED || time <= begin {
            return Ok(());
        }
        let now = sent.part.1 as f64 / (time - begin);
        let whole = sent.bytes as f64 / (time - first);
        for (color, rate) in [("red", now), ("blue", whole)] {
            writeln!(file, "{color}\ndot {time:.6} {rate:.0}")?;
            if let Some((before, last_now, last_whole)) = sent.averages {
                let last = if color == "red" { last_now } else { last_whole };
                writeln!(file, "line {time:.6} {rate:.0} {before:.6} {last:.0}")?;
            }
        }
        sent.averages = Some((time, now, whole));
        sent.part = (0, 0, Some(time));
        Ok(())
    }

    /// Red: in flight. Yellow: the window. Blue: the average in flight.
    fn outstanding(&mut self, point: &Point, time: f64) -> io::Result<()> {
        let Some(flight) = point.in_flight else { return Ok(()) };
        let window = self.window;
        let (sent, file) = (&mut self.sent, &mut self.out[3]);
        sent.flights = (sent.flights.0.saturating_add(flight), sent.flights.1 + 1);
        let average = sent.flights.0 / sent.flights.1.max(1);
        step(file, "red", time, flight, &mut sent.flight)?;
        if let Some(window) = window {
            step(file, "yellow", time, window, &mut sent.window)?;
        }
        step(file, "blue", time, average, &mut sent.average_flight)
    }
}

/// A dot, and the line that leads to it.
fn step(file: &mut impl Write, color: &str, time: f64, y: u64, last: &mut Option<(f64, u64)>) -> io::Result<()> {
    writeln!(file, "{color}\ndot {time:.6} {y}")?;
    if let Some((before, value)) = last.replace((time, y)) {
        writeln!(file, "line {time:.6} {y} {before:.6} {value}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
