//! Tables for Python, through Arrow's `PyCapsule` interface
//! (arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html).

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::borrow::Borrow;
use std::sync::Arc;
use std::sync::Mutex;
use whyslow_io::Reading;
use whyslow_tables::{Batches, Table};

/// A reading, for those that want its analysis.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Reading>);

impl Borrow<whyslow_analysis::Analysis> for Shared {
    fn borrow(&self) -> &whyslow_analysis::Analysis {
        &self.0.analysis
    }
}

/// A table of an analysis. It can be read as often as one likes.
#[pyclass(frozen, module = "whyslow._whyslow")]
pub(crate) struct ArrowTable {
    reading: Shared,
    table: Table,
    point: String,
}

impl ArrowTable {
    pub(crate) fn new(reading: Arc<Reading>, table: Table, point: String) -> Self {
        Self { reading: Shared(reading), table, point }
    }

    fn new_batches(&self) -> Batches<Shared> {
        Batches::new(self.reading.clone(), self.table, &self.point)
    }
}

#[pymethods]
impl ArrowTable {
    /// Makes a new stream at each call. A requested schema is ignored, as the protocol allows.
    #[pyo3(signature = (requested_schema = None))]
    fn stream<'py>(&self, py: Python<'py>, requested_schema: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = FFI_ArrowArrayStream::new(Box::new(self.new_batches()));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&self.table.schema()).map_err(refused)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn rows(&self) -> usize {
        self.new_batches().rows_left()
    }

    fn batches(&self) -> ArrowBatches {
        ArrowBatches(Mutex::new(self.new_batches()))
    }
}

/// A table's batches, one after the other.
#[pyclass(frozen, module = "whyslow._whyslow")]
pub(crate) struct ArrowBatches(Mutex<Batches<Shared>>);

#[pymethods]
impl ArrowBatches {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<ArrowBatch>> {
        let next = py.detach(|| match self.0.lock() {
            Ok(mut batches) => batches.next(),
            Err(_) => None,
        });
        next.map(|batch| batch.map(ArrowBatch).map_err(refused)).transpose()
    }
}

/// A record batch.
#[pyclass(frozen, module = "whyslow._whyslow", name = "RecordBatch")]
pub(crate) struct ArrowBatch(pub(crate) RecordBatch);

#[pymethods]
impl ArrowBatch {
    /// Schema and array of a struct with a field for each column.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let array = FFI_ArrowArray::new(&StructArray::from(self.0.clone()).into_data());
        Ok((self.__arrow_c_schema__(py)?, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(refused)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Rows.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<whyslow.RecordBatch: {} rows, {} columns>", self.0.num_rows(), self.0.num_columns())
    }
}

/// Name, type, unit and meaning of a table's columns.
#[pyfunction]
pub(crate) fn columns(name: &str) -> PyResult<Vec<(String, &'static str, &'static str, String)>> {
    let table = table_of(name)?;
    let about =
        |one: whyslow_tables::Column| (one.name.into_owned(), one.kind.name(), one.unit, one.about.into_owned());
    Ok(table.columns().into_iter().map(about).collect())
}

/// The table of this name.
pub(crate) fn table_of(name: &str) -> PyResult<Table> {
    Table::from_name(name).ok_or_else(|| PyKeyError::new_err(format!("there is no table `{name}`")))
}

pub(crate) fn refused(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
