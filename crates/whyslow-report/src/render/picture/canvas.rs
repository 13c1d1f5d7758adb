//! [`Canvas`]: axes, scales and strokes, written as SVG.

use crate::text::harmless;
use std::fmt::Write;
use whyslow_units::Nanos;

const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 78.0;
const BOTTOM: f64 = 48.0;
/// Distance of two ticks on an axis, at least.
const TICK: [f64; 2] = [90.0, 46.0];
/// The width of a letter.
pub(super) const LETTER: f64 = 9.0;

pub(super) const INK: &str = "#222222";
const GRID: &str = "#e4e4e4";
const FAINT: &str = "#666666";

/// The format of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Bytes, in powers of ten.
    Bytes,
    /// Nanoseconds, as milliseconds.
    Millis,
    /// Bits per second.
    Rate,
    /// A count.
    Count,
}

/// The style of a text.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle<'a> {
    /// The end that is at the given place: `start`, `middle` or `end`.
    pub anchor: &'a str,
    /// Their colour.
    pub color: &'a str,
    /// More attributes.
    pub more: &'a str,
}

impl<'a> TextStyle<'a> {
    /// In the usual font.
    pub const fn new(anchor: &'a str, color: &'a str) -> Self {
        Self { anchor, color, more: "" }
    }
}

/// A drawing of one track.
pub(super) struct Canvas {
    svg: String,
    size: (f64, f64),
    time: (Nanos, Nanos),
    y: (f64, f64),
    legend: f64,
    /// The places of the last letters.
    letters: Vec<(f64, f64)>,
}

impl Canvas {
    /// An empty drawing for a range of time and of values.
    pub fn new(size: (u32, u32), time: (Nanos, Nanos), y: (f64, f64), unit: Unit, titles: [&str; 2]) -> Self {
        let (width, height) = (f64::from(size.0), f64::from(size.1));
        let spread = if y.1 > y.0 { y.1 - y.0 } else { 1.0 };
        let mut canvas = Self {
            svg: String::new(),
            size: (width, height),
            time: (time.0, time.1.max(time.0 + Nanos(1))),
            y: (y.0, y.0 + spread * 1.05),
            legend: LEFT,
            letters: Vec::new(),
        };
        let _ = write!(
            canvas.svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"Ubuntu, 'Segoe UI', Helvetica, Arial, sans-serif\" font-size=\"12\">\n\
             <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <clipPath id=\"plot\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
            escaped(titles[0]),
            width - LEFT - RIGHT,
            height - TOP - BOTTOM,
        );
        canvas.text(
            (LEFT, 22.0),
            TextStyle { anchor: "start", color: INK, more: "font-size=\"15\" font-weight=\"bold\"" },
            titles[0],
        );
        canvas.text((LEFT, 41.0), TextStyle::new("start", FAINT), titles[1]);
        canvas.axes(unit);
        canvas
    }

    /// Columns of pixels for data.
    pub fn columns(size: (u32, u32)) -> usize {
        (f64::from(size.0) - LEFT - RIGHT).max(1.0) as usize
    }

    pub fn x(&self, time: Nanos) -> f64 {
        let whole = (self.time.1 - self.time.0).0.max(1) as f64;
        LEFT + ((time - self.time.0).0 as f64 / whole).clamp(0.0, 1.0) * (self.size.0 - LEFT - RIGHT)
    }

    pub fn y(&self, value: f64) -> f64 {
        // What lies far outside is cut off there.
        let share = ((value - self.y.0) / (self.y.1 - self.y.0)).clamp(-1.0, 4.0);
        self.size.1 - BOTTOM - share * (self.size.1 - TOP - BOTTOM)
    }

    /// The lower edge of the plot.
    pub fn foot(&self) -> f64 {
        self.size.1 - BOTTOM
    }

    /// Whether a figure lies above the plot.
    pub fn is_above(&self, value: f64) -> bool {
        value > self.y.1
    }

    /// Strokes of one style within the plot: `d` is an SVG path.
    pub fn path(&mut self, d: &str, style: &str) {
        self.stroke(d, &format!("clip-path=\"url(#plot)\" {style}"));
    }

    fn stroke(&mut self, d: &str, style: &str) {
        if !d.is_empty() {
            let _ = writeln!(self.svg, "<path d=\"{d}\" fill=\"none\" {style}/>");
        }
    }

    /// A closed shape.
    pub fn area(&mut self, d: &str, style: &str) {
        if !d.is_empty() {
            let _ = writeln!(self.svg, "<path d=\"{d}\" {style}/>");
        }
    }

    /// A stretch of time over the whole height.
    pub fn band(&mut self, from: Nanos, to: Nanos, style: &str) {
        let (left, right) = (self.x(from), self.x(to));
        let (width, height) = ((right - left).max(1.0), self.size.1 - TOP - BOTTOM);
        let _ = writeln!(
            self.svg,
            "<rect x=\"{left:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height:.1}\" {style}/>"
        );
    }

    /// An instant over the whole height, named at its top.
    pub fn instant(&mut self, time: Nanos, color: &str, name: &str) {
        let (x, bottom) = (self.x(time), self.size.1 - BOTTOM);
        self.path(&format!("M{x:.1} {TOP}V{bottom}"), &format!("stroke=\"{color}\" stroke-dasharray=\"4 3\""));
        let (x, anchor) = if x + 60.0 > self.size.0 { (x - 4.0, "end") } else { (x + 4.0, "start") };
        self.letter((x, TOP + 10.0), anchor, color, name);
    }

    /// A mark's letter, unless another one is in the way; its sign is drawn in any case.
    pub fn letter(&mut self, (x, y): (f64, f64), anchor: &str, color: &str, text: &str) {
        let near = |&(a, b): &(f64, f64)| (a - x).abs() < LETTER && (b - y).abs() < LETTER;
        if self.letters.iter().rev().take(512).any(near) {
            return;
        }
        self.letters.push((x, y));
        let room = 3.5 * text.len() as f64;
        let x = if anchor == "middle" { x.clamp(LEFT + room, (self.size.0 - room).max(LEFT + room)) } else { x };
        // With paper around it, so that it can be read over bars and lines.
        let style =
            "font-size=\"11\" font-weight=\"bold\" paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\"";
        self.text((x, y), TextStyle { anchor, color, more: style }, text);
    }

    /// Words.
    pub fn text(&mut self, (x, y): (f64, f64), TextStyle { anchor, color, more }: TextStyle<'_>, text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{color}\" {more}>{text}</text>"
        );
    }

    /// What a sign means: a stroke or a letter, and words.
    pub fn legend(&mut self, color: &str, sign: &str, style: &str, words: &str) {
        let (x, y) = (self.legend, 62.0);
        let room = 34.0 + words.chars().count() as f64 * 6.4;
        if x + room > self.size.0 {
            return;
        }
        if sign.is_empty() {
            self.stroke(
                &format!("M{x:.1} {:.1}h18", y - 4.0),
                &format!("stroke=\"{color}\" stroke-width=\"2.5\" {style}"),
            );
        } else {
            self.text((x + 9.0, y), TextStyle { anchor: "middle", color, more: "font-weight=\"bold\"" }, sign);
        }
        self.text((x + 23.0, y), TextStyle::new("start", INK), words);
        self.legend += room;
    }

    /// A remark under the legend, on the right.
    pub fn remark(&mut self, text: &str) {
        self.text((self.size.0 - RIGHT, 41.0), TextStyle::new("end", "#b00020"), text);
    }

    /// The picture.
    pub fn finish(mut self) -> String {
        self.svg += "</svg>\n";
        self.svg
    }

    fn axes(&mut self, unit: Unit) {
        let (right, bottom) = (self.size.0 - RIGHT, self.size.1 - BOTTOM);
        let seconds = (self.time.0.as_secs_f64(), self.time.1.as_secs_f64());
        let (ticks, step) = ticks(seconds, (right - LEFT) / TICK[0]);
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let mut grid = String::new();
        for tick in ticks {
            let x = self.x(Nanos::from_secs_f64(tick));
            let _ = write!(grid, "M{x:.1} {TOP}V{bottom}");
            self.text((x, bottom + 17.0), TextStyle::new("middle", FAINT), &format!("{tick:.decimals$}"));
        }
        let (mut ticks, step) = self::ticks(self.y, (bottom - TOP) / TICK[1]);
        // There is no half of one.
        ticks.retain(|tick| unit != Unit::Count || (tick - tick.round()).abs() < 1e-6);
        for tick in ticks {
            let y = self.y(tick);
            let _ = write!(grid, "M{LEFT} {y:.1}H{right}");
            self.text((LEFT - 8.0, y + 4.0), TextStyle::new("end", FAINT), &figure(tick, step, self.y.1, unit));
        }
        self.stroke(&grid, &format!("stroke=\"{GRID}\""));
        let frame = format!("M{LEFT} {TOP}V{bottom}H{right}");
        self.stroke(&frame, &format!("stroke=\"{FAINT}\""));
        let words = "seconds since the capture's first packet";
        self.text(((LEFT + right) / 2.0, bottom + 37.0), TextStyle::new("middle", FAINT), words);
    }
}

/// Round figures over a range, about `wanted` of them, and the step between two.
fn ticks(range: (f64, f64), wanted: f64) -> (Vec<f64>, f64) {
    let raw = (range.1 - range.0) / wanted.max(1.0);
    if !raw.is_finite() || raw <= 0.0 {
        return (vec![range.0], 1.0);
    }
    let power = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|part| part * power).find(|step| *step >= raw).unwrap_or(raw);
    let first = (range.0 / step).ceil();
    let ticks =
        (0..1000).map(|index| (first + f64::from(index)) * step).take_while(|tick| *tick <= range.1 + step * 1e-9);
    (ticks.collect(), step)
}

/// A figure of an axis, all of one axis in the unit that its greatest one needs.
fn figure(value: f64, step: f64, most: f64, unit: Unit) -> String {
    let (factor, name) = match unit {
        Unit::Millis => (1e6, "ms"),
        Unit::Count => return format!("{value:.0}"),
        Unit::Bytes | Unit::Rate => {
            let suffix =
                if unit == Unit::Bytes { ["B", "kB", "MB", "GB"] } else { ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"] };
            let power = [1e9, 1e6, 1e3].iter().position(|factor| most >= 2.0 * factor).map_or(0, |place| 3 - place);
            ([1.0, 1e3, 1e6, 1e9][power], suffix[power])
        }
    };
    let decimals = (-(step / factor).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{:.decimals$} {name}", value / factor)
}

/// Escapes text from a capture: nothing in it becomes markup or stays hidden.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in harmless(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            // XML 1.0 has no place for these, not even escaped.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
