//! [`Place`]: the name in a folder where an output will be.
//!
//! A path is resolved once. From then on the folder is held open, and its name in there is used
//! without following links. Another process that changes the path meanwhile cannot redirect the
//! output.
//!
//! In a folder that all users may write to, as /tmp, links and files of other users are refused.
//! This is Linux' own rule (`protected_symlinks`, `protected_regular`, `protected_fifos` in
//! proc_sys_fs(5)), applied whatever these are set to.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use elsewhere::{Identity, Place, Replaced, Temporary, of_path, of_stdin, of_stdout};
#[cfg(unix)]
pub(crate) use unix::{Identity, Place, Replaced, Temporary, of_path, of_stdin, of_stdout};

/// The kind of file at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum There {
    Nothing,
    File,
    /// A FIFO, a device, or an open descriptor.
    Other,
}

/// The start of a temporary name, until the file is complete.
const PREFIX: &str = ".whyslow-";

#[cfg(all(test, unix))]
mod tests;
