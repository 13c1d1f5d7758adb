//! Outputs, as `whyslow_output` writes them: no command writes a file in another way, and no output
//! replaces a file that the command reads.

// Some commands are Linux' alone.
#[cfg(all(test, target_os = "linux", feature = "parquet"))]
mod options;

pub(crate) use whyslow_output::{
    Output, OutputPath, Sources, Target, create_new, is_broken_pipe, manual, notify, print_line,
};

use std::fs::File;
use std::io;
use std::path::Path;
use whyslow_io::Input;
use whyslow_live::watch::{Keep, KeepPlace};
use whyslow_output::Source;

/// Reports something on stderr. It may name files and hosts; it cannot steer the terminal.
pub(crate) fn complain(text: &str) {
    whyslow_output::complain("whyslow", text);
}

/// The inputs of a command, which no output may replace.
pub(crate) fn sources(inputs: &[Input]) -> Sources {
    Sources::of(inputs.iter().map(|input| match input {
        Input::Path(path) => Source::Path(path.clone()),
        Input::Stdin => Source::Stdin,
        Input::Object(_) => Source::Elsewhere(input.name()),
    }))
}

/// The file of kept packets, which others may read while it is written.
#[derive(Debug)]
pub(crate) struct GrowingFile(whyslow_output::GrowingFile);

impl GrowingFile {
    /// Resolves its path; the file is opened later. If it rotates, it becomes the previous file
    /// when it is full.
    ///
    /// # Errors
    /// Returns an error if it, or the previous file, is one of the inputs or cannot be written to.
    pub(crate) fn find(path: &Path, rotates: bool, sources: &Sources) -> anyhow::Result<Self> {
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
