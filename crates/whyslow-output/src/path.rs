//! [`OutputPath`]: the name of a file or folder to write, as typed.

use std::ffi::OsString;
use std::path::Path;

/// The type of every option that names a file or folder to write. The commands pass it to
/// [`Target`](super::Target) or [`GrowingFile`](super::GrowingFile), which open it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPath(OsString);

impl From<OsString> for OutputPath {
    fn from(typed: OsString) -> Self {
        Self(typed)
    }
}

impl AsRef<Path> for OutputPath {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl std::ops::Deref for OutputPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.as_ref()
    }
}
