//! `series`: one connection's packets as graphs, of bounded size at any zoom.
//!
//! A second pass over the capture ([`Follow`]) gives a [`Point`] for every segment, with the verdicts of the analysis on it:
//! the same code judges. [`Builder`] makes a [`Series`] of them: a pyramid of [`Column`]s, each with the extremes of what passed in
//! its time and every kind of [`Mark`], and the points themselves as long as they are few.
//!
//! A [`View`] of any time range has as many columns as the screen. It promises that no mark that was in the range is missing
//! from it: averages are made of nothing, and where points are left out it says so (`exact`).
//!
//! Memory: at most [`MOST_COLUMNS`] columns at the foot of the pyramid and a third more above it (24 MB), [`MOST_POINTS`] points
//! (27 MB), the points that wait for late verdicts (13 MB), and the marks: 48 bytes for each kind in each column in which it
//! occurs. So ten million packets take what a hundred thousand do. A view narrower than the foot's columns wants points: a
//! series of that range alone ([`Builder::new`]) has them.
//!
//! It ignores what the first pass found; findings and limits are laid over the graphs by whoever draws them.

mod build;
mod column;
mod follow;
mod numbering;
mod pick;
#[cfg(test)]
mod tests;
mod view;

pub use crate::tcp::trace::{Kind, Point};
pub use crate::wire::Flags;
pub use build::{Builder, MOST_COLUMNS, MOST_POINTS};
pub use column::{Column, Extremes, Lane, Mark, MarkSum, marks_of};
pub use follow::{Follow, Wanted};
pub use pick::Pick;
pub use view::{Rates, View};

use crate::units::Nanos;
use build::Level;

/// A connection's graphs. Times are from the capture's first packet.
#[derive(Clone, Debug)]
pub struct Series {
    /// From the foot up: each level has columns four times as wide.
    levels: Vec<Level>,
    /// All points of the range; none when there were too many.
    points: Option<Vec<Point>>,
    /// What the series tells of.
    range: (Nanos, Nanos),
    packets: u64,
    scale_known: [bool; 2],
}

impl Series {
    /// The time that it tells of.
    pub fn range(&self) -> (Nanos, Nanos) {
        self.range
    }

    /// Segments in it.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Whether the windows offered to the client's data, and to the server's, are known in bytes: else a graph must say that
    /// the window is not to scale, or leave it out.
    pub fn scale_known(&self) -> [bool; 2] {
        self.scale_known
    }

    /// Every segment, where there are few enough.
    pub fn points(&self) -> Option<&[Point]> {
        self.points.as_deref()
    }
}
