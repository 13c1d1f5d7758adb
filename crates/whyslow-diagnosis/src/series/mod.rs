//! `series`: one connection's packets as graphs of bounded size at any zoom.
//!
//! A second pass over the capture ([`SeriesReader`]) emits a [`Point`] for every segment, with the
//! verdicts of the analysis, from the same code. [`SeriesBuilder`] turns them into a [`Series`]: a
//! pyramid of [`Column`]s, each with the minimum and maximum of its values and all kinds of
//! [`Mark`]. A small series also keeps the points themselves.
//!
//! A [`SeriesView`] of a time range has as many columns as the screen, and every mark of the range.
//! Nothing is averaged, and `exact` is false if points are left out.
//!
//! Memory: at most [`MAX_COLUMNS`] columns at the lowest level and a third more above it (24 MB),
//! [`MAX_POINTS`] points (27 MB), the points that wait for late verdicts (13 MB), and 48 bytes for
//! each kind of mark in each column. So ten million packets need as much as a hundred thousand. A
//! view narrower than the columns of the lowest level needs points: build a series of only that
//! range ([`SeriesBuilder::new`]).
//!
//! Findings of the first pass are not used here; the page draws findings and limits over the
//! graphs.
//!
//! ```
//! use whyslow_core::capture::Reader;
//! use whyslow_diagnosis::explain::explain;
//! use whyslow_diagnosis::series::{SeriesBuilder, SeriesReader, WantedConnection};
//! use whyslow_units::Nanos;
//!
//! # fn main() -> Result<(), whyslow_core::capture::CaptureError> {
//! let capture = include_bytes!("../../../../samples/loss-client.pcap");
//! let analysis = explain("loss.pcap", capture)?;
//! let connection = &analysis.connections[0];
//!
//! let range = (connection.start_s, connection.start_s + connection.duration_s);
//! let mut series = SeriesBuilder::new(range, 1_000);
//! let mut push = |_, point| series.push(&point);
//! let mut points = SeriesReader::new(vec![WantedConnection::new(connection)], &mut push);
//! let mut reader = Reader::new();
//! reader.push(capture, &mut points)?;
//! reader.finish(&mut points)?;
//! points.finish();
//!
//! let series = series.finish();
//! let view = series.view(range.0, range.1, 800);
//! assert!(series.packets() > 0 && view.columns.len() <= 800);
//! # Ok(())
//! # }
//! ```

mod build;
mod column;
mod detail;
mod every;
mod numbering;
mod picker;
mod pyramid;
mod reader;
#[cfg(test)]
mod tests;
mod view;

pub use build::{MAX_COLUMNS, MAX_POINTS, SeriesBuilder, SeriesSize};
pub use column::{Column, Extremes, Lane, Mark, MarkSum, marks_of};
pub use detail::PacketDetail;
pub use every::{EveryPacketReader, TracedPoints};
pub use picker::PacketPicker;
pub use pyramid::Series;
pub use reader::{SeriesReader, WantedConnection};
pub use view::{Rates, SeriesView};
pub use whyslow_core::tcp::trace::{Kind, Point};
pub use whyslow_core::wire::Flags;
