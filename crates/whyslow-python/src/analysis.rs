//! The findings, for Python.

use crate::errors::raised;
use crate::streamed::StreamedTable;
use crate::table::{ArrowTable, table_of};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;
use whyslow_analysis::{Connection, End};
use whyslow_diagnosis::compare::{ChosenTransfer, TransferName, choose, compare as differences};
use whyslow_diagnosis::series::SeriesBuilder;
use whyslow_io::Reading;
use whyslow_report::headline;
use whyslow_report::render::picture::{self, Picture, Track};
use whyslow_report::render::terminal::{self, View};
use whyslow_report::render::{compare as comparison, json};
use whyslow_report::words::{self, Lang};
use whyslow_units::Nanos;

/// The analysis of captures that were read together.
#[pyclass(frozen, module = "whyslow._whyslow", name = "Analysis")]
pub(crate) struct Analysis(Arc<Reading>);

impl Analysis {
    pub(crate) fn new(reading: Reading) -> Self {
        Self(Arc::new(reading))
    }

    fn chosen(&self, which: &str) -> PyResult<ChosenTransfer<'_>> {
        let name = match which {
            "" => TransferName::default(),
            which => TransferName::read(which)
                .ok_or_else(|| PyValueError::new_err(format!("`{which}` is no transfer, as `3` or `3.2`")))?,
        };
        choose(&self.0.analysis, name).map_err(|error| PyKeyError::new_err(error.to_string()))
    }
}

#[pymethods]
impl Analysis {
    /// The contract `whyslow/2`.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| text(|out| json::pretty(&self.0.analysis, out)))
    }

    /// The page for a terminal of this width.
    fn page(&self, py: Python<'_>, width: usize) -> String {
        py.detach(|| {
            terminal::page(&self.0.analysis, View { width, top: None, full: false, transfer: None, lang: Lang::En })
        })
    }

    /// The verdict in a sentence, and what to do.
    fn headline(&self) -> (String, Option<String>) {
        let headline = headline::of(&self.0.analysis, Lang::En);
        (headline.sentence, headline.advice)
    }

    /// A table by its name.
    fn table(&self, name: &str, capture_point: String) -> PyResult<ArrowTable> {
        Ok(ArrowTable::new(Arc::clone(&self.0), table_of(name)?, capture_point))
    }

    /// The packets of the connections that are listed, which are read again.
    fn packets(&self, capture_point: String) -> StreamedTable {
        StreamedTable::packets(Arc::clone(&self.0), capture_point)
    }

    /// A picture of a connection (`None`: of the largest transfer's), as SVG.
    fn svg(&self, py: Python<'_>, connection: Option<u64>, track: &str, size: (u32, u32)) -> PyResult<String> {
        let track = track_of(track)?;
        if !(320..=8192).contains(&size.0) || !(200..=8192).contains(&size.1) {
            return Err(PyValueError::new_err("a picture has from (320, 200) to (8192, 8192) pixels"));
        }
        let which = connection.map_or(String::new(), |id| id.to_string());
        let connection =
            match (self.chosen(&which), self.0.analysis.connections.iter().find(|one| Some(one.id) == connection)) {
                (_, Some(named)) => named,
                (Ok(chosen), None) => chosen.connection,
                (Err(error), None) => return Err(error),
            };
        let drawn = py.detach(|| draw(&self.0, connection, track, size));
        match drawn {
            Ok(Some(svg)) => Ok(svg),
            Ok(None) => Err(PyRuntimeError::new_err(
                "its packets cannot be read again: they came through a pipe, or from shards",
            )),
            Err(error) => Err(raised(py, &error.into())),
        }
    }
}

fn track_of(name: &str) -> PyResult<Track> {
    Ok(match name {
        "time-sequence" => Track::Sequence,
        "in-flight" => Track::InFlight,
        "rtt" => Track::RoundTrip,
        "throughput" => Track::Throughput,
        "window" => Track::Window,
        "io" => Track::Packets,
        other => {
            let known = "time-sequence, in-flight, rtt, throughput, window, io";
            return Err(PyValueError::new_err(format!("`{other}` is no track: {known}")));
        }
    })
}

/// Reads the connection's packets again; `None` if that is impossible.
fn draw(
    reading: &Reading,
    connection: &Connection,
    track: Track,
    size: (u32, u32),
) -> Result<Option<String>, whyslow_io::Error> {
    let Some(place) = reading.place(connection) else { return Ok(None) };
    let whole = (connection.start_s, connection.start_s + connection.duration_s);
    let mut builder = SeriesBuilder::new(whole, place.segments());
    whyslow_io::follow(&place, &mut |point| builder.push(&point), &mut |_| {})?;
    let of = connection.directions.iter().max_by_key(|half| half.bytes).map_or(End::Server, |half| half.from);
    let largest = connection.transfers.iter().filter(|transfer| transfer.from == of).max_by_key(|one| one.bytes);
    let verdict = largest.map(|transfer| words::verdict(transfer, Lang::En)).unwrap_or_default();
    let title = format!("{} to {}", connection.client.host_and_port(), connection.server.host_and_port());
    let picture = Picture {
        track,
        of,
        range: Some(whole),
        size,
        title: &title,
        subtitle: &verdict,
        interval: None,
        rtt: connection.rtt_ms.p50.map(|ms| Nanos::from_secs_f64(ms / 1e3)),
    };
    Ok(Some(picture::svg(&builder.finish(), &picture)))
}

/// Two transfers, as JSON and as a page.
#[pyfunction]
pub(crate) fn compare(
    a: (Bound<'_, Analysis>, String),
    b: (Bound<'_, Analysis>, String),
) -> PyResult<(String, String)> {
    let (first, second) = (a.0.get(), b.0.get());
    let (a, b) = (first.chosen(&a.1)?, second.chosen(&b.1)?);
    if Arc::ptr_eq(&first.0, &second.0) && (a.connection.id, a.number) == (b.connection.id, b.number) {
        let name = format!("{}.{}", a.connection.id, a.number);
        return Err(PyValueError::new_err(format!("both are one transfer, {name}: name two")));
    }
    let found = differences(&a, &b);
    Ok((text(|out| comparison::json(&found, out))?, comparison::terminal(&found, 100)))
}

/// What `write` writes, as text.
fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> PyResult<String> {
    let mut out = Vec::new();
    write(&mut out)?;
    String::from_utf8(out).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
