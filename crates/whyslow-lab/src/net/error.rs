//! Errors between the lab and the kernel.

use std::io;
use std::path::PathBuf;

use crate::link::config::ConfigError;

/// Why a path could not be built or run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel or its policy does not let us have network namespaces.
    #[error("network namespaces are not allowed here: {reason}")]
    Forbidden {
        /// The likely reason, and what would allow it.
        reason: String,
    },
    /// [`super::enter`] was called too late.
    #[error("the lab must be entered while the program has a single thread (call enter first thing in main)")]
    Threads,
    /// A program that the lab needs is not installed.
    #[error("`{program}` is not installed: {hint}")]
    Missing {
        /// Its name.
        program: &'static str,
        /// The package that has it.
        hint: &'static str,
    },
    /// `ip` refused a command.
    #[error("{what}: ip says: {message}")]
    Ip {
        /// The operation.
        what: String,
        /// Its message.
        message: String,
    },
    /// A host's setting was refused.
    #[error("cannot set {key} to \"{value}\" on the {host}: {source}")]
    Sysctl {
        /// The host.
        host: &'static str,
        /// `net.ipv4.tcp_rmem`.
        key: String,
        /// The value.
        value: String,
        /// Why not.
        source: io::Error,
    },
    /// The configuration is not a path.
    #[error("{0}")]
    Config(String),
    /// A link's conditions are impossible.
    #[error("link {link} {direction}: {source}")]
    Link {
        /// Index of the link.
        link: usize,
        /// `up` or `down`.
        direction: &'static str,
        /// The field and the allowed values.
        source: ConfigError,
    },
    /// The run is in the wrong state for this.
    #[error("{0}")]
    State(&'static str),
    /// A capture file could not be written.
    #[error("cannot write {path}: {source}")]
    Capture {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The kernel refused a call.
    #[error("{what}: {source}")]
    Os {
        /// The attempted action.
        what: String,
        /// Why not.
        source: io::Error,
    },
}

/// Adds the operation to an error of the kernel.
pub(crate) trait Context<T> {
    fn doing(self, what: impl Into<String>) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn doing(self, what: impl Into<String>) -> Result<T, Error> {
        self.map_err(|error| Error::Os { what: what.into(), source: error.into() })
    }
}
