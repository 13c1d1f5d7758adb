//! [`GrowingFile`]: an output that others may read while it is written.

use super::place::{Place, There};
use super::same::Sources;
use anyhow::Context;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Names that are tried for a file that must not exist.
const MOST_NAMES: u32 = 1_000;

/// A file that is written in its place, and the file before it.
#[derive(Debug)]
pub struct GrowingFile {
    place: Place,
    previous: OsString,
}

impl GrowingFile {
    /// Resolves its path; the file is opened later. If `rotates` is true, the full file becomes the
    /// file `previous` next to it.
    ///
    /// # Errors
    /// Returns an error if it, or the previous file, is one of the inputs or cannot be written to.
    pub fn find(path: &Path, previous: &Path, rotates: bool, sources: &Sources) -> anyhow::Result<Self> {
        let name = || path.display().to_string();
        let place = Place::find(path).with_context(name)?;
        sources.claim(path, &place)?;
        let file = previous.file_name().unwrap_or_default().to_owned();
        if rotates {
            let before = place.adjacent(&file).with_context(|| previous.display().to_string())?;
            sources.claim(previous, &before)?;
        }
        Ok(Self { place, previous: file })
    }

    /// Opens it, empty.
    ///
    /// # Errors
    /// Returns an error if it cannot be written to.
    pub fn open(&mut self) -> io::Result<File> {
        if self.place.there() == There::Nothing {
            return self.place.create_new();
        }
        let file = self.place.open()?;
        if self.place.there() == There::File {
            file.set_len(0)?;
        }
        Ok(file)
    }

    /// Renames it to the previous file, in place of the one before, and begins another.
    ///
    /// # Errors
    /// Returns an error if it cannot be renamed or created.
    pub fn rotate(&mut self) -> io::Result<File> {
        self.place.rename(&self.previous)?;
        self.place.create_new()
    }
}

/// Creates a file that must not exist: `NAME.EXTENSION`, or else `NAME-2.EXTENSION` and so on.
///
/// # Errors
/// Returns an error if it cannot be created.
pub fn create_new(path: &Path) -> io::Result<(File, PathBuf)> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy())).unwrap_or_default();
    for number in 1..=MOST_NAMES {
        let name = match number {
            1 => path.to_owned(),
            number => path.with_file_name(format!("{stem}-{number}{extension}")),
        };
        match File::create_new(&name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => return Ok((created?, name)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}
