//! whyslow for Python: the glue between the crates and `python/whyslow/__init__.py`, which is what
//! programs import.
//!
//! Captures are read on a thread of their own, without Python's lock, while the calling thread
//! looks for signals. Tables leave through Arrow's C interface (the `PyCapsule` protocol). All else
//! leaves as JSON: there is one contract, and it is that of the command line.

mod analysis;
mod condensed;
mod errors;
mod forecast;
mod inputs;
mod reading;
mod streamed;
mod table;

use pyo3::prelude::*;

#[pymodule(gil_used = true)]
fn _whyslow(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CaptureError", module.py().get_type::<errors::CaptureError>())?;
    module.add_class::<analysis::Analysis>()?;
    module.add_class::<table::ArrowTable>()?;
    module.add_class::<table::ArrowBatches>()?;
    module.add_class::<table::ArrowBatch>()?;
    module.add_class::<streamed::StreamedTable>()?;
    module.add_class::<streamed::StreamedBatches>()?;
    module.add_class::<condensed::Rows>()?;
    module.add_class::<condensed::KeptRows>()?;
    module.add_function(wrap_pyfunction!(condensed::condense, module)?)?;
    module.add_function(wrap_pyfunction!(reading::read, module)?)?;
    module.add_function(wrap_pyfunction!(analysis::compare, module)?)?;
    module.add_function(wrap_pyfunction!(forecast::predict, module)?)?;
    module.add_function(wrap_pyfunction!(table::columns, module)?)
}
