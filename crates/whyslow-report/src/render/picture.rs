//! A track of a connection as SVG, for tickets and papers.
//!
//! Signs are those of tcptrace and Wireshark on white: a bar for a segment, the ACKs' staircase,
//! the window's edge above it. What matters has a letter as well as a colour, so it survives print:
//! `F T P S` for retransmissions, `O` out of order, `W` and `K` probes, `Z` a closed window.

mod canvas;
mod packets;
mod sequence;

use crate::text::units;
use canvas::{Canvas, INK, TextStyle, Unit};
use std::fmt::Write;
use whyslow_analysis::End;
use whyslow_diagnosis::series::{Kind, Lane, Mark, MarkSum, Point, Series, SeriesView, marks_of};
use whyslow_units::Nanos;

const DATA: &str = "#1f4e79";
const ACK: &str = "#1e8449";
const EDGE: &str = "#b7791f";
const SACK: &str = "#7d3c98";
const RESENT: &str = "#c8102e";
const ODD: &str = "#d35400";
const ZERO: &str = "#b0188f";

/// With fewer segments than this there is room for details.
const ZOOMED: usize = 400;

/// The quantity that is drawn over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Track {
    /// Sequence numbers: segments, ACKs, the window's edge.
    Sequence,
    /// Bytes in flight, and the window.
    InFlight,
    /// Round trips.
    RoundTrip,
    /// Throughput and goodput.
    Throughput,
    /// The advertised window.
    Window,
    /// Packets in each interval, both ways.
    Packets,
}

/// A picture to draw.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    /// Its track.
    pub track: Track,
    /// The end whose data it shows.
    pub of: End,
    /// The time range from the capture's first packet; `None` for the whole series.
    pub range: Option<(Nanos, Nanos)>,
    /// Its size in pixels.
    pub size: (u32, u32),
    /// The connection's name.
    pub title: &'a str,
    /// The verdict.
    pub subtitle: &'a str,
    /// The interval in which packets are counted; `None` for about a hundred bars.
    pub interval: Option<Nanos>,
    /// A round trip: rates are averaged over whole ones, so that flights do not show as waves.
    pub rtt: Option<Nanos>,
}

/// The picture, as SVG.
pub fn svg(series: &Series, picture: &Picture<'_>) -> String {
    let whole = series.range();
    let range = picture.range.unwrap_or(whole);
    let range = (range.0.max(whole.0), range.1.min(whole.1).max(range.0.max(whole.0)));
    let view = series.view(range.0, range.1, Canvas::columns(picture.size));
    let seen = DrawnRange { series, picture, view: &view, range };
    let mut canvas = match picture.track {
        Track::Sequence => seen.sequence(),
        Track::InFlight => seen.in_flight(),
        Track::RoundTrip => seen.round_trips(),
        Track::Throughput => seen.throughput(),
        Track::Window => seen.window(),
        Track::Packets => seen.packets(),
    };
    if !view.exact {
        canvas.remark("coarser than the packets: a shorter time shows more");
    }
    canvas.finish()
}

struct DrawnRange<'a> {
    series: &'a Series,
    picture: &'a Picture<'a>,
    view: &'a SeriesView<'a>,
    range: (Nanos, Nanos),
}

impl DrawnRange<'_> {
    fn canvas(&self, y: (f64, f64), unit: Unit, what: &str) -> Canvas {
        let way = match self.picture.of {
            End::Client => "client's data",
            End::Server => "server's data",
        };
        let title = format!("{what}, {way} · {}", self.picture.title);
        Canvas::new(self.picture.size, self.range, y, unit, [&title, self.picture.subtitle])
    }

    fn lanes(&self) -> impl Iterator<Item = (Nanos, &Lane)> {
        self.view.columns.iter().map(|(time, column)| (*time, &column.lanes[self.picture.of.index()]))
    }

    /// The range of the values in the lanes.
    fn spread<'a>(figures: impl Iterator<Item = Option<(u64, u64)>> + 'a) -> Option<(f64, f64)> {
        let all = figures.flatten().reduce(|one, two| (one.0.min(two.0), one.1.max(two.1)));
        all.map(|(low, high)| (low as f64, high as f64))
    }

    fn knows_window(&self) -> bool {
        self.series.scale_known()[self.picture.of.index()]
    }

    fn marks(&self) -> impl Iterator<Item = &MarkSum> {
        self.view.marks.iter().filter(|sum| sum.of == self.picture.of)
    }

    /// One line through the minimum and the maximum of each column.
    fn staircase(&self, canvas: &Canvas, figure: impl Fn(&Lane) -> Option<(u64, u64)>) -> String {
        let mut d = String::new();
        for (time, lane) in self.lanes() {
            let Some((low, high)) = figure(lane) else { continue };
            let (x, low, high) = (canvas.x(time), canvas.y(low as f64), canvas.y(high as f64));
            let _ = if d.is_empty() {
                write!(d, "M{x:.1} {low:.1}V{high:.1}")
            } else {
                write!(d, "H{x:.1}V{low:.1}V{high:.1}")
            };
        }
        d
    }

    /// Marks that must be visible at any zoom.
    fn draw_marks(&self, canvas: &mut Canvas) {
        let resets = self.view.marks.iter().filter(|sum| sum.mark == Mark::Reset);
        for sum in resets {
            canvas.instant(sum.time, RESENT, "RST");
        }
        let detailed: Vec<MarkSum> = match self.view.points {
            Some(points) => points.iter().flat_map(marks_of).filter(|sum| sum.of == self.picture.of).collect(),
            None => self.marks().copied().collect(),
        };
        let zoomed = self.view.points.is_some_and(|points| points.len() <= ZOOMED);
        let mut sacks = String::new();
        for sum in &detailed {
            let x = canvas.x(sum.time);
            let (low, high) = (canvas.y(sum.low as f64), canvas.y(sum.high as f64));
            match sum.mark {
                Mark::Sack => {
                    let _ = write!(sacks, "M{x:.1} {low:.1}V{high:.1}");
                }
                Mark::Push if zoomed => {
                    let d = format!("M{x:.1} {:.1}l3 3l-3 3l-3 -3z", high - 3.0);
                    canvas.area(&d, &format!("fill=\"{DATA}\""));
                }
                _ => {}
            }
        }
        canvas.path(&sacks, &format!("stroke=\"{SACK}\" stroke-width=\"1.3\" stroke-opacity=\"0.7\""));
        for sum in &detailed {
            let Some((color, letter)) = sign(sum.mark) else { continue };
            let x = canvas.x(sum.time);
            let (low, high) = (canvas.y(sum.low as f64), canvas.y(sum.high as f64));
            // Never less than can be seen.
            let (low, high) = if low - high < 4.0 { (low + 2.0, high - 2.0) } else { (low, high) };
            if matches!(sum.mark, Mark::Segment(_) | Mark::DuplicateSack) {
                canvas
                    .path(&format!("M{x:.1} {low:.1}V{high:.1}"), &format!("stroke=\"{color}\" stroke-width=\"2.6\""));
            }
            canvas.letter((x, high - 4.0), "middle", color, letter);
        }
    }

    /// The letters that the picture has, explained.
    fn mark_legend(&self, canvas: &mut Canvas) {
        const MEANINGS: [(Mark, &str); 12] = [
            (Mark::Segment(Kind::Fast), "retransmitted: duplicate ACKs"),
            (Mark::Segment(Kind::Timeout), "by the timer"),
            (Mark::Segment(Kind::TailProbe), "tail probe"),
            (Mark::Segment(Kind::Spurious), "needlessly"),
            (Mark::Segment(Kind::OutOfOrder), "out of order"),
            (Mark::Segment(Kind::WindowProbe), "window probe"),
            (Mark::Segment(Kind::KeepAlive), "keep-alive"),
            (Mark::ZeroWindow, "window closed"),
            (Mark::DuplicateSack, "D-SACK"),
            (Mark::Congestion, "congestion mark"),
            (Mark::Echo, "ECN echo"),
            (Mark::Reduced, "window reduced"),
        ];
        if self.marks().any(|sum| sum.mark == Mark::Sack) {
            canvas.legend(SACK, "", "", "SACK");
        }
        for (mark, meaning) in MEANINGS {
            if let (true, Some((color, letter))) = (self.marks().any(|sum| sum.mark == mark), sign(mark)) {
                canvas.legend(color, letter, "", meaning);
            }
        }
    }

    /// From where the window is closed to the next ACK that opens it.
    fn zero_windows(&self, canvas: &mut Canvas) {
        let mut since = None;
        let closed: Vec<(Nanos, bool)> = match self.view.points {
            Some(points) => {
                let acks = points.iter().filter(|point| point.from != self.picture.of && point.ack.is_some());
                acks.map(|point| (point.time, marks_of(point).any(|sum| sum.mark == Mark::ZeroWindow))).collect()
            }
            None => self.lanes().filter_map(|(time, lane)| Some((time, lane.window.get()?.1 == 0))).collect(),
        };
        let style = format!("fill=\"{ZERO}\" fill-opacity=\"0.14\"");
        for (time, closed) in closed {
            match (since, closed) {
                (None, true) => since = Some(time),
                (Some(start), false) => {
                    canvas.band(start, time, &style);
                    since = None;
                }
                _ => {}
            }
        }
        if let Some(start) = since {
            canvas.band(start, self.range.1, &style);
        }
    }

    fn in_flight(&self) -> Canvas {
        let flight = Self::spread(self.lanes().map(|(_, lane)| lane.in_flight.get()));
        let window = Self::spread(self.lanes().map(|(_, lane)| lane.window.get())).filter(|_| self.knows_window());
        let most = flight.map_or(1.0, |flight| flight.1.max(1.0));
        let top = window.map_or(most, |window| most.max(window.1.min(1.6 * most)));
        let mut canvas = self.canvas((0.0, top), Unit::Bytes, "bytes in flight");
        self.zero_windows(&mut canvas);
        if self.knows_window() {
            let d = self.staircase(&canvas, |lane| lane.window.get());
            canvas.path(&d, &format!("stroke=\"{EDGE}\" stroke-width=\"1.3\" stroke-dasharray=\"5 2\""));
        }
        match self.view.points {
            Some(points) => {
                let own = points.iter().filter(|point| point.from == self.picture.of);
                let sent = own.filter_map(|point| Some((point.time, point.in_flight?)));
                let other = points.iter().filter(|point| point.from != self.picture.of);
                let mut steps: Vec<(Nanos, u64)> = sent.chain(other.filter_map(|point| point.applied)).collect();
                steps.sort_by_key(|step| step.0);
                canvas.path(&steps_path(&canvas, &steps), &format!("stroke=\"{DATA}\" stroke-width=\"1.4\""));
            }
            None => {
                let d = self.staircase(&canvas, |lane| lane.in_flight.get());
                canvas.path(&d, &format!("stroke=\"{DATA}\" stroke-width=\"1.2\""));
            }
        }
        canvas.legend(DATA, "", "", "in flight, as the sender knew it");
        if self.knows_window() {
            let above = window.is_some_and(|window| canvas.is_above(window.0));
            let words = if above { "the receiver's window: above the picture" } else { "the receiver's window" };
            canvas.legend(EDGE, "", "stroke-dasharray=\"5 2\"", words);
        } else {
            canvas.remark("window scale unknown: no window is drawn");
        }
        self.draw_repairs(&mut canvas);
        canvas
    }

    /// Retransmissions, at the foot of a track without sequence numbers.
    fn draw_repairs(&self, canvas: &mut Canvas) {
        let foot = canvas.foot();
        let repairs: Vec<MarkSum> =
            self.marks().filter(|sum| matches!(sum.mark, Mark::Segment(_) | Mark::ZeroWindow)).copied().collect();
        for sum in &repairs {
            let Some((color, letter)) = sign(sum.mark) else { continue };
            let x = canvas.x(sum.time);
            canvas.path(&format!("M{x:.1} {foot:.1}v-7"), &format!("stroke=\"{color}\" stroke-width=\"2\""));
            canvas.letter((x, foot - 9.0), "middle", color, letter);
        }
        self.mark_legend_of(canvas, &repairs);
    }

    fn mark_legend_of(&self, canvas: &mut Canvas, repairs: &[MarkSum]) {
        if !repairs.is_empty() {
            canvas.legend(RESENT, "F", "", "letters: retransmissions, probes, closed windows");
        }
    }

    fn round_trips(&self) -> Canvas {
        let spread = Self::spread(self.lanes().map(|(_, lane)| lane.rtt.get()));
        let mut canvas = self.canvas((0.0, spread.map_or(1.0, |spread| spread.1)), Unit::Millis, "round trips");
        let mut d = String::new();
        let dot = |d: &mut String, x: f64, y: f64| {
            let _ = write!(d, "M{:.1} {y:.1}h3", x - 1.5);
        };
        match self.view.points {
            Some(points) => {
                for point in points.iter().filter(|point| point.from != self.picture.of) {
                    if let Some(rtt) = point.rtt {
                        dot(&mut d, canvas.x(point.time), canvas.y(rtt.0 as f64));
                    }
                }
            }
            None => {
                for (time, lane) in self.lanes() {
                    if let Some((low, high)) = lane.rtt.get() {
                        let (x, low, high) = (canvas.x(time), canvas.y(low as f64), canvas.y(high as f64));
                        dot(&mut d, x, low);
                        let _ = write!(d, "M{x:.1} {low:.1}V{high:.1}");
                        dot(&mut d, x, high);
                    }
                }
            }
        }
        canvas.path(&d, &format!("stroke=\"{DATA}\" stroke-width=\"2.4\""));
        canvas.legend(DATA, "", "stroke-dasharray=\"3 3\"", "a sample, data to its ACK, of the whole path");
        match spread {
            Some((least, _)) => {
                let (y, text) = (canvas.y(least), units::span(Nanos(least as i64)));
                let (left, right) = (canvas.x(self.range.0), canvas.x(self.range.1));
                canvas.path(
                    &format!("M{left:.1} {y:.1}H{right:.1}"),
                    &format!("stroke=\"{ACK}\" stroke-dasharray=\"6 4\""),
                );
                canvas.legend(ACK, "", "stroke-dasharray=\"6 4\"", &format!("least: {text}"));
            }
            None => canvas.remark("no round trip was measured on this data"),
        }
        self.draw_repairs(&mut canvas);
        canvas
    }

    fn throughput(&self) -> Canvas {
        let columns = Canvas::columns(self.picture.size);
        // A twentieth of the picture: short enough to show steps, long enough to smooth flights.
        let least = (self.range.1 - self.range.0).scale(0.05).max(Nanos::from_micros(100));
        let trip = self.picture.rtt.filter(|rtt| *rtt > Nanos::ZERO && *rtt < least.scale(4.0));
        let window = trip.map_or(least, |rtt| rtt.scale((least.0 as f64 / rtt.0 as f64).ceil()));
        let rates = self.series.rates(self.picture.of, self.range, columns, window);
        let most = rates.iter().map(|rate| rate.throughput.max(rate.goodput)).fold(1.0, f64::max);
        let mut canvas = self.canvas((0.0, most), Unit::Rate, "throughput");
        for (color, style, figure) in
            [(DATA, "stroke-width=\"1.6\"", 0), (ACK, "stroke-width=\"1.6\" stroke-dasharray=\"6 3\"", 1)]
        {
            let mut d = String::new();
            for rate in &rates {
                let value = if figure == 0 { rate.throughput } else { rate.goodput };
                let _ = write!(
                    d,
                    "{}{:.1} {:.1}",
                    if d.is_empty() { 'M' } else { 'L' },
                    canvas.x(rate.time),
                    canvas.y(value)
                );
            }
            canvas.path(&d, &format!("stroke=\"{color}\" {style}"));
        }
        let over = units::span(window);
        canvas.legend(DATA, "", "", &format!("payload that passed, copies included, over {over}"));
        canvas.legend(ACK, "", "stroke-dasharray=\"6 3\"", "newly acknowledged");
        self.draw_repairs(&mut canvas);
        canvas
    }

    fn window(&self) -> Canvas {
        let spread = Self::spread(self.lanes().map(|(_, lane)| lane.window.get()));
        let mut canvas =
            self.canvas((0.0, spread.map_or(1.0, |spread| spread.1.max(1.0))), Unit::Bytes, "window offered");
        if self.knows_window() {
            self.zero_windows(&mut canvas);
            let d = self.staircase(&canvas, |lane| lane.window.get());
            canvas.path(&d, &format!("stroke=\"{EDGE}\" stroke-width=\"1.6\""));
            canvas.legend(EDGE, "", "", "what the receiver offered");
            self.draw_repairs(&mut canvas);
        } else {
            canvas.text(
                (300.0, 160.0),
                TextStyle::new("start", INK),
                "The window scale is unknown: the handshake is not in the capture.",
            );
        }
        canvas
    }
}

/// A line that keeps each value until the next one.
fn steps_path(canvas: &Canvas, steps: &[(Nanos, u64)]) -> String {
    let mut d = String::new();
    for (time, value) in steps {
        let (x, y) = (canvas.x(*time), canvas.y(*value as f64));
        let _ = if d.is_empty() { write!(d, "M{x:.1} {y:.1}") } else { write!(d, "H{x:.1}V{y:.1}") };
    }
    d
}

/// Colour and letter of a mark that has them.
fn sign(mark: Mark) -> Option<(&'static str, &'static str)> {
    Some(match mark {
        Mark::Segment(Kind::Fast) => (RESENT, "F"),
        Mark::Segment(Kind::Timeout) => (RESENT, "T"),
        Mark::Segment(Kind::TailProbe) => (RESENT, "P"),
        Mark::Segment(Kind::Spurious) => (RESENT, "S"),
        Mark::Segment(Kind::OutOfOrder) => (ODD, "O"),
        Mark::Segment(Kind::WindowProbe) => (ODD, "W"),
        Mark::Segment(Kind::KeepAlive) => (ODD, "K"),
        Mark::Syn => (ODD, "SYN"),
        Mark::Fin => (ODD, "FIN"),
        Mark::ZeroWindow => (ZERO, "Z"),
        Mark::DuplicateSack => (SACK, "D"),
        Mark::Congestion => (ODD, "CE"),
        Mark::Echo => (ODD, "E"),
        Mark::Reduced => (ODD, "CWR"),
        Mark::Segment(Kind::New | Kind::Empty) | Mark::Push | Mark::DuplicateAck | Mark::Sack | Mark::Reset => {
            return None;
        }
    })
}

#[cfg(test)]
mod tests;
