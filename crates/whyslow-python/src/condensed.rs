//! Rows of condensed captures, for Python.

use crate::errors::{Failure, raised};
use crate::inputs::resolved;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;
use whyslow_io::{Input, ScanError, Stop, scan};

/// How often signals are looked for.
const BEAT: Duration = Duration::from_millis(50);
/// Rows of at most 1 MiB that wait for the program.
const READ_AHEAD: usize = 2;

/// The rows of a capture, in order. Whoever stops to ask ends the reading.
#[pyclass(frozen, module = "whyslow._whyslow")]
pub(crate) struct Rows(Mutex<Receiver<Result<Vec<u8>, Failure>>>);

/// Condenses a capture on a thread of its own.
#[pyfunction]
pub(crate) fn condense(path: PathBuf) -> PyResult<Rows> {
    let (give, rows) = sync_channel(READ_AHEAD);
    let work = move || {
        let mut send = |row| give.send(Ok(row)).map_err(|_| io::ErrorKind::BrokenPipe.into());
        let failed = match one(path) {
            // Rows that nobody takes are no error.
            Ok(input) => match scan(&input, &Stop::default(), &mut |_| {}, &mut send) {
                Err(ScanError::Read(error)) => Some(error.into()),
                Ok(_) | Err(ScanError::Write { .. }) => None,
            },
            Err(failure) => Some(failure),
        };
        if let Some(failure) = failed {
            let _ = give.send(Err(failure));
        }
    };
    thread::Builder::new().name("whyslow".to_owned()).spawn(work)?;
    Ok(Rows(Mutex::new(rows)))
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

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        loop {
            let next = py.detach(|| match self.0.lock() {
                Ok(rows) => rows.recv_timeout(BEAT),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            });
            py.check_signals()?;
            match next {
                Ok(Ok(row)) => return Ok(Some(PyBytes::new(py, &row))),
                Ok(Err(error)) => return Err(raised(py, &error)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}
