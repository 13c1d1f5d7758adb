//! Tables of captures as they are read: every connection has its rows, and a few batches are held.

use crate::errors::{Failure, raised};
use crate::inputs::{Named, options_of, rename, resolved};
use crate::table::{ArrowBatch, refused, table_of};
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::io;
use std::num::NonZero;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use whyslow_analysis::Connection;
use whyslow_io::{ExplainOptions, PacketExport, Reading, RowFiles, Stop, read_every};
use whyslow_tables::{Table, TableWriter, write_all};

/// How often signals are looked for.
const BEAT: Duration = Duration::from_millis(50);
/// Batches that wait for the program.
const READ_AHEAD: usize = 2;

/// A table that is read again by each reader.
#[pyclass(frozen, module = "whyslow._whyslow")]
pub(crate) struct StreamedTable {
    source: Source,
    table: Table,
    point: String,
}

/// What the rows are made of.
#[derive(Clone)]
enum Source {
    Captures(Arc<[Named]>, ExplainOptions),
    /// The listed connections of the captures.
    Read(Arc<Reading>),
    /// What shards of a capture point gave.
    Shares(Arc<RowFiles>, ExplainOptions),
}

impl StreamedTable {
    /// Packets, which an analysis has none of.
    pub(crate) fn packets(reading: Arc<Reading>, point: String) -> Self {
        Self { source: Source::Read(reading), table: Table::Packets, point }
    }

    /// Of all shards of a capture point.
    pub(crate) fn merged(shares: Arc<RowFiles>, options: ExplainOptions, table: Table, point: String) -> Self {
        Self { source: Source::Shares(shares, options), table, point }
    }

    /// Begins to read, on a thread of its own.
    fn start(&self) -> PyResult<Rows> {
        let (give, batches) = sync_channel(READ_AHEAD);
        let stop = Stop::default();
        let rows = Rows { batches: Mutex::new(batches), stop: stop.clone() };
        let (source, table, point) = (self.source.clone(), self.table, self.point.clone());
        let work = move || {
            // Batches that are not taken are not an error.
            if let Err(failure) = source.write(table, &point, &stop, &give) {
                let _ = give.send(Err(failure));
            }
        };
        thread::Builder::new().name("whyslow".to_owned()).spawn(work)?;
        Ok(rows)
    }
}

impl Source {
    fn write(&self, table: Table, point: &str, stop: &Stop, give: &SyncSender<Sent>) -> Result<(), Failure> {
        match self {
            Self::Read(reading) => {
                let listed = reading.analysis.connections.iter().cloned().map(Ok);
                write(reading, listed, (table, point), stop, give)
            }
            Self::Captures(named, options) => {
                let inputs = resolved(named)?;
                let (mut reading, omitted) = read_every(options.clone(), &[&inputs], stop, &mut |_| {})?;
                rename(&mut reading, named);
                let connections = omitted.with_listed(&reading.analysis)?.map(|one| one.map_err(Failure::from));
                write(&reading, connections, (table, point), stop, give)
            }
            Self::Shares(shares, options) => {
                let (reading, omitted) = shares.merge(options.clone(), true, stop, &mut |_| {})?;
                let connections = omitted.with_listed(&reading.analysis)?.map(|one| one.map_err(Failure::from));
                write(&reading, connections, (table, point), stop, give)
            }
        }
    }
}

/// Gives the table's batches.
fn write(
    reading: &Reading,
    connections: impl Iterator<Item = Result<Connection, Failure>>,
    (table, point): (Table, &str),
    stop: &Stop,
    give: &SyncSender<Sent>,
) -> Result<(), Failure> {
    let mut ignored = |_| {};
    let mut packets = PacketExport::new(reading, stop, &mut ignored);
    let give = give.clone();
    let writer = TableWriter::giving(table, move |batch| {
        give.send(Ok(batch)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe).into())
    });
    let mut packets_of = |connection: &Connection| packets.of(connection).map_err(Failure::from);
    write_all(&reading.analysis, connections, &mut packets_of, point, vec![writer])
}

type Sent = Result<RecordBatch, Failure>;

/// Batches in order. Dropping the stream ends the reading.
struct Rows {
    batches: Mutex<Receiver<Sent>>,
    stop: Stop,
}

impl Rows {
    /// The next batch, or none yet.
    fn next(&self, patience: Duration) -> Result<Sent, RecvTimeoutError> {
        match self.batches.lock() {
            Ok(batches) => batches.recv_timeout(patience),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        }
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.stop.flag().store(true, Ordering::Relaxed);
    }
}

#[pymethods]
impl StreamedTable {
    /// Of captures that are read together; nothing is read yet.
    #[new]
    fn new(
        inputs: Vec<Named>,
        name: &str,
        threads: Option<NonZero<usize>>,
        path_rate: Option<f64>,
        capture_point: String,
    ) -> PyResult<Self> {
        let source = Source::Captures(inputs.into(), options_of(threads, path_rate));
        Ok(Self { source, table: table_of(name)?, point: capture_point })
    }

    /// A stream of its own at each call. A schema that is asked for is a wish, and not heeded.
    #[pyo3(signature = (requested_schema = None))]
    fn stream<'py>(&self, py: Python<'py>, requested_schema: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let reader = Reader { rows: self.start()?, schema: Arc::new(self.table.schema()) };
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&self.table.schema()).map_err(refused)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn batches(&self) -> PyResult<StreamedBatches> {
        Ok(StreamedBatches(self.start()?))
    }
}

/// Batches for the consumer of an Arrow stream, which does not use Python.
struct Reader {
    rows: Rows,
    schema: SchemaRef,
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.rows.next(BEAT) {
                Ok(sent) => return Some(sent.map_err(|failure| ArrowError::ExternalError(Box::new(failure)))),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Batches for a program, one after the other.
#[pyclass(frozen, module = "whyslow._whyslow")]
pub(crate) struct StreamedBatches(Rows);

#[pymethods]
impl StreamedBatches {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<ArrowBatch>> {
        loop {
            let next = py.detach(|| self.0.next(BEAT));
            py.check_signals()?;
            match next {
                Ok(Ok(batch)) => return Ok(Some(ArrowBatch(batch))),
                Ok(Err(failure)) => return Err(raised(py, &failure)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}
