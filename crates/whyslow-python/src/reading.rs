//! Reads captures on another thread, while this one listens to signals.

use crate::analysis::Analysis;
use crate::errors::{Failure, raised};
use crate::inputs::{Named, options_of, rename, resolved};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use whyslow_io::{Progress, Reading, Stop, read_on};

/// Interval of checks for signals, and of progress reports.
const BEAT: Duration = Duration::from_millis(50);

/// Bytes read so far, and their total (0: unknown), for the waiting thread.
#[derive(Debug, Default)]
struct Shown {
    read: AtomicU64,
    total: AtomicU64,
}

/// Reads captures together, as `whyslow FILE…` does.
#[pyfunction]
#[pyo3(signature = (inputs, threads, path_rate, progress))]
pub(crate) fn read(
    py: Python<'_>,
    inputs: Vec<Named>,
    threads: Option<NonZero<usize>>,
    path_rate: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Analysis> {
    let options = options_of(threads, path_rate);
    let named = inputs.clone();
    let work = move |stop: &Stop, progress: &mut dyn FnMut(Progress)| {
        Ok(read_on(options, &[&resolved(&named)?], stop, progress)?)
    };
    let mut reading = read_with(py, work, progress.as_ref())?;
    rename(&mut reading, &inputs);
    Ok(Analysis::new(reading))
}

/// Reads with `work`, on another thread.
pub(crate) fn read_with(
    py: Python<'_>,
    work: impl FnOnce(&Stop, &mut dyn FnMut(Progress)) -> Result<Reading, Failure> + Send + 'static,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Reading> {
    let (stop, shown) = (Stop::default(), Arc::<Shown>::default());
    let done = start(work, &stop, &shown)?;
    match wait(py, done, &shown, progress) {
        Ok(Ok(reading)) => Ok(reading),
        Ok(Err(error)) => Err(raised(py, &error)),
        // No one waits for the result: reading ends with the current block.
        Err(error) => {
            stop.flag().store(true, Ordering::Relaxed);
            Err(error)
        }
    }
}

/// Reads on a thread that is made for this call alone: what `fork` leaves of a process has no pool
/// that lacks its threads.
fn start(
    read: impl FnOnce(&Stop, &mut dyn FnMut(Progress)) -> Result<Reading, Failure> + Send + 'static,
    stop: &Stop,
    shown: &Arc<Shown>,
) -> PyResult<Receiver<Result<Reading, Failure>>> {
    let (give, done) = channel();
    let (stop, shown) = (stop.clone(), Arc::clone(shown));
    let work = move || {
        let mut progress = |progress: Progress| {
            shown.total.store(progress.total.unwrap_or(0), Ordering::Relaxed);
            shown.read.store(progress.read, Ordering::Relaxed);
        };
        // The receiver is gone if the caller stopped waiting.
        let _ = give.send(read(&stop, &mut progress));
    };
    thread::Builder::new().name("whyslow".to_owned()).spawn(work)?;
    Ok(done)
}

fn wait(
    py: Python<'_>,
    done: Receiver<Result<Reading, Failure>>,
    shown: &Shown,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Result<Reading, Failure>> {
    let mut reported = None;
    // What is used without Python's lock has to be fit for several threads.
    let done = std::sync::Mutex::new(done);
    loop {
        let next = py.detach(|| match done.lock() {
            Ok(done) => done.recv_timeout(BEAT),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        });
        py.check_signals()?;
        let now = (shown.read.load(Ordering::Relaxed), shown.total.load(Ordering::Relaxed));
        if let Some(call) = progress.filter(|_| now.0 > 0 && reported != Some(now)) {
            reported = Some(now);
            call.call1(py, (now.0, Some(now.1).filter(|&total| total > 0)))?;
        }
        match next {
            Ok(read) => return Ok(read),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the thread that reads has ended without a result"));
            }
        }
    }
}
