//! Errors as Python's exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::io;
use whyslow_io::Error;

/// Why captures could not be read, or tables not be made of them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Read(#[from] Error),
    #[error(transparent)]
    Url(#[from] whyslow_remote::Error),
    #[error(transparent)]
    System(#[from] io::Error),
    #[error(transparent)]
    Table(#[from] whyslow_tables::Error),
}

create_exception!(
    whyslow,
    CaptureError,
    PyValueError,
    "An input is no capture, is empty, or cannot be decompressed. `file` names it; `offset` is the byte where that \
     shows, or None."
);

/// What the system refuses is an `OSError` of the kind that `open` raises; the rest is a
/// [`CaptureError`].
pub(crate) fn raised(py: Python<'_>, failure: &Failure) -> PyErr {
    let error = match failure {
        Failure::Read(error) => error,
        Failure::Url(whyslow_remote::Error::NoMatch { .. }) => {
            return PyFileNotFoundError::new_err(failure.to_string());
        }
        Failure::Url(_) | Failure::System(_) => return PyOSError::new_err(failure.to_string()),
        Failure::Table(error) => return PyRuntimeError::new_err(error.to_string()),
    };
    match error {
        Error::Open { name, cause } | Error::Read { name, cause, .. } | Error::Keep { name, cause } => {
            system(name, cause)
        }
        Error::NoRoom { cause } => system(&std::env::temp_dir().display().to_string(), cause),
        Error::NoneReadable(_) | Error::Pipe | Error::Merge(_) | Error::Share { .. } => {
            CaptureError::new_err(error.to_string())
        }
        Error::Directory { .. } => pyo3::exceptions::PyIsADirectoryError::new_err(error.to_string()),
        Error::Changed { name, .. } | Error::Empty { name } => capture(py, error, name, None),
        Error::Compressed { name, offset, .. } => capture(py, error, name, Some(*offset)),
        Error::Capture { name, cause, .. } => capture(py, error, name, Some(cause.offset)),
    }
}

fn capture(py: Python<'_>, error: &Error, name: &str, offset: Option<u64>) -> PyErr {
    let raised = CaptureError::new_err(error.to_string());
    let value = raised.value(py);
    match value.setattr("file", name).and_then(|()| value.setattr("offset", offset)) {
        Ok(()) => raised,
        Err(error) => error,
    }
}

/// Python makes `FileNotFoundError` and the like of the number.
fn system(name: &str, cause: &io::Error) -> PyErr {
    match cause.raw_os_error() {
        Some(number) => {
            let text = cause.to_string();
            let words = text.split(" (os error").next().unwrap_or(&text).to_owned();
            PyOSError::new_err((number, words, name.to_owned()))
        }
        None if cause.kind() == io::ErrorKind::NotFound => PyFileNotFoundError::new_err(format!("{name}: {cause}")),
        None => PyOSError::new_err(format!("{name}: {cause}")),
    }
}
