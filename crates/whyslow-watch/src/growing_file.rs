//! [`GrowingFile`]: the file of kept packets.

use std::fs::File;
use std::io;
use std::path::Path;
use whyslow_live::watch::{Keep, KeepPlace};
use whyslow_output::Sources;

/// The file of kept packets, which others may read while it is written.
#[derive(Debug)]
pub(super) struct GrowingFile(whyslow_output::GrowingFile);

impl GrowingFile {
    /// Resolves its path; the file is opened later. If it rotates, it becomes the previous file
    /// when it is full.
    ///
    /// # Errors
    /// Returns an error if it, or the previous file, is one of the inputs or cannot be written to.
    pub(super) fn find(path: &Path, rotates: bool, sources: &Sources) -> anyhow::Result<Self> {
        whyslow_output::GrowingFile::find(path, &Keep::previous(path), rotates, sources).map(Self)
    }
}

impl KeepPlace for GrowingFile {
    fn open(&mut self) -> io::Result<File> {
        self.0.open()
    }

    fn rotate(&mut self) -> io::Result<File> {
        self.0.rotate()
    }
}
