//! Rows of condensed captures, and of shards of a capture point, for Python.

use crate::analysis::Analysis;
use crate::errors::{Failure, raised};
use crate::inputs::{options_of, resolved};
use crate::reading::read_with;
use crate::streamed::StreamedTable;
use crate::table::table_of;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use whyslow_diagnosis::condense::ConnectionShard;
use whyslow_io::{Input, RowFiles, ScanError, Stop, scan_shares};

/// How often signals are looked for.
const BEAT: Duration = Duration::from_millis(50);
/// Rows of at most 1 MiB that wait for the program.
const READ_AHEAD: usize = 2;

/// A row, with the number of its shard.
type Row = (usize, Vec<u8>);

/// Rows in order. Dropping the iterator ends the reading.
#[pyclass(frozen, module = "whyslow._whyslow")]
pub(crate) struct Rows {
    rows: Mutex<Receiver<Result<Row, Failure>>>,
    /// Each comes with its shard's number.
    numbered: bool,
    stop: Stop,
}

impl Rows {
    /// Does the work on a thread of its own.
    fn of(
        numbered: bool,
        work: impl FnOnce(&Stop, &SyncSender<Result<Row, Failure>>) -> Result<(), Failure> + Send + 'static,
    ) -> PyResult<Self> {
        let (give, rows) = sync_channel(READ_AHEAD);
        let stop = Stop::default();
        let asked = stop.clone();
        let run = move || {
            let done = work(&asked, &give);
            // Rows that are not taken are not an error.
            if let (Err(failure), false) = (done, asked.flag().load(Ordering::Relaxed)) {
                let _ = give.send(Err(failure));
            }
        };
        thread::Builder::new().name("whyslow".to_owned()).spawn(run)?;
        Ok(Self { rows: Mutex::new(rows), numbered, stop })
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.stop.flag().store(true, Ordering::Relaxed);
    }
}

/// Condenses a capture, into several where shards are asked for.
#[pyfunction]
#[pyo3(signature = (path, shards))]
pub(crate) fn condense(path: PathBuf, shards: Option<usize>) -> PyResult<Rows> {
    let of = shards.unwrap_or(1);
    if !(1..=ConnectionShard::MOST).contains(&of) {
        return Err(PyValueError::new_err(format!("there can be 1 to {} shards, and not {of}", ConnectionShard::MOST)));
    }
    Rows::of(shards.is_some(), move |stop, give| {
        let mut send = |share, row| give.send(Ok((share, row))).map_err(|_| io::ErrorKind::BrokenPipe.into());
        match scan_shares(&one(path)?, of, stop, &mut |_| {}, &mut send) {
            Err(ScanError::Read(error)) => Err(error.into()),
            Ok(_) | Err(ScanError::Write { .. }) => Ok(()),
        }
    })
}

/// The one capture of this name.
fn one(path: PathBuf) -> Result<Input, Failure> {
    let name = path.display().to_string();
    let mut inputs = resolved(&[(path, None)])?;
    match (inputs.pop(), inputs.len()) {
        (Some(input), 0) => Ok(input),
        (_, more) => Err(io::Error::other(format!("{name}: {} objects match; name one", more + 1)).into()),
    }
}

#[pymethods]
impl Rows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            let next = py.detach(|| match self.rows.lock() {
                Ok(rows) => rows.recv_timeout(BEAT),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            });
            py.check_signals()?;
            match next {
                Ok(Ok((share, row))) => {
                    let bytes = PyBytes::new(py, &row);
                    let row = if self.numbered { (share, bytes).into_bound_py_any(py)? } else { bytes.into_any() };
                    return Ok(Some(row));
                }
                Ok(Err(error)) => return Err(raised(py, &error)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}

/// Rows that are kept in temporary files until they are explained or merged.
#[pyclass(frozen, module = "whyslow._whyslow")]
pub(crate) struct KeptRows(Mutex<Arc<RowFiles>>);

#[pymethods]
impl KeptRows {
    #[new]
    fn new() -> Self {
        Self(Mutex::new(Arc::default()))
    }

    /// A row of the file, or shard, of this name. Those of one come together and in order.
    fn push(&self, name: &str, row: &[u8]) -> PyResult<()> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let files = Arc::get_mut(&mut files).ok_or_else(|| PyValueError::new_err("they are being read"))?;
        Ok(files.push(name, row)?)
    }

    /// What a shard gives.
    fn account(&self, every: bool, threads: Option<NonZero<usize>>, path_rate: Option<f64>) -> PyResult<Rows> {
        let (files, options) = (self.files(), options_of(threads, path_rate));
        Rows::of(false, move |stop, give| {
            let mut send = |row| give.send(Ok((0, row))).map_err(|_| io::ErrorKind::BrokenPipe.into());
            Ok(files.account_share(options, every, stop, &mut send)?)
        })
    }

    /// The analysis of all shards.
    fn merge(
        &self,
        py: Python<'_>,
        threads: Option<NonZero<usize>>,
        path_rate: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Analysis> {
        let (files, options) = (self.files(), options_of(threads, path_rate));
        let work = move |stop: &Stop, progress: &mut dyn FnMut(whyslow_io::Progress)| {
            Ok(files.merge(options, false, stop, progress)?.0)
        };
        Ok(Analysis::new(read_with(py, work, progress.as_ref())?))
    }

    /// A table of all shards, with the rows of every connection.
    fn table(
        &self,
        name: &str,
        threads: Option<NonZero<usize>>,
        path_rate: Option<f64>,
        capture_point: String,
    ) -> PyResult<StreamedTable> {
        Ok(StreamedTable::merged(self.files(), options_of(threads, path_rate), table_of(name)?, capture_point))
    }
}

impl KeptRows {
    fn files(&self) -> Arc<RowFiles> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
