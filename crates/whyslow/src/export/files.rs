//! Files that are written: whole, or with the path and the reason.

use anyhow::Context;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Creates a file, or empties it.
///
/// # Errors
/// Those of the file system, with the path.
pub(super) fn create(path: &Path) -> anyhow::Result<File> {
    File::create(path).with_context(|| path.display().to_string())
}

/// Writes a file.
///
/// # Errors
/// Those of the file system, with the path.
pub(super) fn whole(path: &Path, print: impl FnOnce(&mut File) -> io::Result<()>) -> anyhow::Result<()> {
    stream(path, |file| Ok(print(file)?))
}

/// Writes a file bit by bit.
///
/// # Errors
/// Those of the file system, with the path, and those of what is written.
pub(super) fn stream<F>(path: &Path, print: F) -> anyhow::Result<()>
where
    F: FnOnce(&mut File) -> anyhow::Result<()>,
{
    let mut file = create(path)?;
    print(&mut file).with_context(|| path.display().to_string())?;
    file.flush().with_context(|| path.display().to_string())
}
