//! Packets per interval, as in Wireshark's I/O graph: bars, the other side's above, retransmissions
//! in red.

use super::canvas::{Canvas, Unit};
use super::{ACK, DATA, DrawnRange, RESENT};
use crate::text::units;
use std::fmt::Write;
use whyslow_analysis::End;
use whyslow_diagnosis::series::{Kind, Mark};
use whyslow_units::Nanos;

/// Maximum number of intervals in a picture.
const MAX_BARS: i64 = 150;

/// The packets of an interval.
#[derive(Clone, Copy, Default)]
struct Bar {
    own: u64,
    other: u64,
    resent: u64,
}

/// 1, 2 or 5 times a power of ten of nanoseconds, so that the range has at most this number.
fn interval(range: (Nanos, Nanos)) -> Nanos {
    let least = ((range.1 - range.0).0 / MAX_BARS).max(1);
    let steps = (0..18).flat_map(|power| [1, 2, 5].map(|step| step * 10_i64.pow(power)));
    Nanos(steps.into_iter().find(|step| *step >= least).unwrap_or(least))
}

impl DrawnRange<'_> {
    /// The packets of each interval, and the number of the first interval since the capture's first
    /// packet.
    fn bars(&self, interval: Nanos) -> (i64, Vec<Bar>) {
        let first = self.range.0.0.div_euclid(interval.0);
        let place = |time: Nanos| usize::try_from(time.0.div_euclid(interval.0) - first).ok();
        let mut bars = vec![Bar::default(); place(self.range.1).map_or(1, |last| last + 1)];
        let mut add = |time: Nanos, act: &dyn Fn(&mut Bar)| {
            if let Some(bar) = place(time).and_then(|place| bars.get_mut(place)) {
                act(bar);
            }
        };
        let is_own = |end: End| end == self.picture.of;
        match self.series.points() {
            Some(points) => {
                for point in points.iter().filter(|point| point.time >= self.range.0 && point.time <= self.range.1) {
                    let (own, resent) = (is_own(point.from), is_own(point.from) && point.kind.is_retransmit());
                    add(point.time, &|bar| {
                        bar.own += u64::from(own);
                        bar.other += u64::from(!own);
                        bar.resent += u64::from(resent);
                    });
                }
            }
            None => {
                // Columns are a hundredth of an interval, or finer.
                let fine = self.series.view(self.range.0, self.range.1, whyslow_diagnosis::series::MAX_COLUMNS);
                let own = self.picture.of.index();
                for (time, column) in &fine.columns {
                    add(*time, &|bar| {
                        bar.own += column.lanes[own].packets;
                        bar.other += column.lanes[1 - own].packets;
                    });
                }
                for sum in fine.marks.iter().filter(|sum| is_own(sum.of)) {
                    if matches!(sum.mark, Mark::Segment(Kind::Fast | Kind::Timeout | Kind::TailProbe | Kind::Spurious))
                    {
                        add(sum.time, &|bar| bar.resent += sum.count);
                    }
                }
            }
        }
        (first, bars)
    }

    pub(super) fn packets(&self) -> Canvas {
        let interval = self.picture.interval.unwrap_or_else(|| interval(self.range));
        let (first, bars) = self.bars(interval);
        let most = bars.iter().map(|bar| bar.own + bar.other).max().unwrap_or(0).max(1);
        let per = units::span(interval);
        let mut canvas = self.canvas((0.0, most as f64), Unit::Count, "packets");
        let mut layers = [String::new(), String::new(), String::new()];
        for (index, bar) in (first..).zip(&bars) {
            let left = canvas.x(Nanos(index.saturating_mul(interval.0)));
            let right = canvas.x(Nanos((index + 1).saturating_mul(interval.0)));
            // A line of paper between two bars, where they are wide enough for that.
            let right = if right - left > 3.0 { right - 1.0 } else { right };
            let whole = bar.own + bar.other;
            for (layer, (low, high)) in layers.iter_mut().zip([(0, bar.own), (bar.own, whole), (0, bar.resent)]) {
                if high > low {
                    let (low, high) = (canvas.y(low as f64), canvas.y(high as f64));
                    let _ = write!(layer, "M{left:.1} {low:.1}V{high:.1}H{right:.1}V{low:.1}z");
                }
            }
        }
        for (d, style) in layers.iter().zip([
            format!("fill=\"{DATA}\""),
            format!("fill=\"{ACK}\" fill-opacity=\"0.55\""),
            format!("fill=\"{RESENT}\""),
        ]) {
            canvas.area(d, &style);
        }
        let (own, other) = match self.picture.of {
            End::Client => ("client", "server"),
            End::Server => ("server", "client"),
        };
        canvas.legend(DATA, "", "", &format!("from the {own}, per {per}"));
        canvas.legend(ACK, "", "stroke-opacity=\"0.55\"", &format!("from the {other}, above"));
        if bars.iter().any(|bar| bar.resent > 0) {
            canvas.legend(RESENT, "", "", &format!("retransmitted by the {own}"));
        }
        canvas
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Picture, Track};
    use super::*;
    use crate::render::example::points;
    use whyslow_diagnosis::series::{MAX_POINTS, Point, SeriesBuilder};

    /// Packets from the client, from the server, and those that the server retransmitted.
    fn counted(points: &[Point]) -> [u64; 3] {
        let mut builder = SeriesBuilder::new((points[0].time, points.last().unwrap().time), points.len() as u64);
        points.iter().for_each(|point| builder.push(point));
        let series = builder.finish();
        let range = series.range();
        let (size, rtt) = ((640, 320), None);
        let picture = Picture {
            track: Track::Packets,
            of: End::Server,
            range: None,
            size,
            title: "",
            subtitle: "",
            interval: None,
            rtt,
        };
        let view = series.view(range.0, range.1, 500);
        let seen = DrawnRange { series: &series, picture: &picture, view: &view, range };
        let (_, bars) = seen.bars(interval(range));
        assert!(bars.len() as i64 <= MAX_BARS + 2);
        let sum = |figure: fn(&Bar) -> u64| bars.iter().map(figure).sum();
        [sum(|bar| bar.other), sum(|bar| bar.own), sum(|bar| bar.resent)]
    }

    #[test]
    fn every_packet_is_in_a_bar() {
        let points = points::lossy();
        let of = |from| points.iter().filter(move |point| point.from == from);
        let resent = of(End::Server).filter(|point| point.kind.is_retransmit()).count() as u64;
        assert!(resent > 0);
        let expected = [of(End::Client).count() as u64, of(End::Server).count() as u64, resent];
        assert_eq!(counted(&points), expected);
        // So many that only columns are kept.
        let times = MAX_POINTS / points.len() + 1;
        let length = points.last().unwrap().time - points[0].time + Nanos::from_millis(1);
        let many: Vec<Point> = (0..times as i64)
            .flat_map(|turn| {
                points.iter().map(move |point| Point { time: point.time + Nanos(turn * length.0), ..*point })
            })
            .collect();
        assert_eq!(counted(&many), expected.map(|count| count * times as u64));
    }

    #[test]
    fn intervals_are_round() {
        let of = |nanos| interval((Nanos(7), Nanos(7 + nanos)));
        assert_eq!(of(1_500_000_000), Nanos::from_millis(10));
        assert_eq!(of(1_600_000_000), Nanos::from_millis(20));
        assert_eq!(of(0), Nanos(1));
        assert!(of(i64::MAX - 7) > Nanos::ZERO);
    }
}
