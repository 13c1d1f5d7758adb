//! [`Spool`]: copies pipes to temporary files, so that they can be read more than once.
//!
//! Dropping it removes the files. After a [`Stop`] request it keeps the data read by then, and the
//! capture ends there.

use crate::Scratch;
use crate::capture_group;
use crate::error::Error;
use crate::input::{Input, Progress};
use crate::source::{BLOCK, Pipe, stdin};
use crate::stop::Stop;
use std::fs::File;
use std::io::{self, Read, Write};
use tempfile::TempPath;

/// Inputs that are all files.
#[derive(Debug, Default)]
pub struct Spool {
    inputs: Vec<Input>,
    spooled: Vec<SpooledInput>,
}

/// A pipe's bytes in a temporary file.
#[derive(Debug)]
pub struct SpooledInput {
    /// The pipe's name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    file: TempPath,
}

impl SpooledInput {
    /// The temporary file.
    pub fn path(&self) -> &std::path::Path {
        &self.file
    }
}

impl Spool {
    /// Copies inputs that are not regular files to `scratch`, until each ends.
    ///
    /// # Errors
    /// When an input cannot be opened or read, or the disk is full.
    pub fn new(
        inputs: &[Input],
        scratch: &Scratch,
        stop: &Stop,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, Error> {
        let mut spool = Self::default();
        for input in inputs {
            let file = match input {
                input if capture_group::is_file(input) || is_missing(input) => None,
                Input::Object(_) => None,
                Input::Stdin => Some(stdin()),
                Input::Path(path) => Some(File::open(path)),
            };
            let Some(file) = file else {
                spool.inputs.push(input.clone());
                continue;
            };
            let file = file.map_err(|cause| Error::Open { name: input.name(), cause })?;
            let spooled = keep(input.name(), file, (scratch, stop), progress)?;
            spool.inputs.push(Input::Path(spooled.path().to_owned()));
            spool.spooled.push(spooled);
        }
        Ok(spool)
    }

    /// The inputs in order, pipes replaced by their files.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The spooled inputs.
    pub fn spooled(&self) -> &[SpooledInput] {
        &self.spooled
    }
}

/// A missing file or a folder is left to the reader, which reports it.
fn is_missing(input: &Input) -> bool {
    matches!(input, Input::Path(path) if !path.exists() || path.is_dir())
}

fn keep(
    name: String,
    file: File,
    (scratch, stop): (&Scratch, &Stop),
    progress: &mut dyn FnMut(Progress),
) -> Result<SpooledInput, Error> {
    let unkept = |cause| Error::Keep { name: name.clone(), cause };
    // It may be silent for long, and the caller may stop waiting.
    let mut coming = Pipe::new(file);
    let mut file = scratch.file("").map_err(unkept)?;
    let (mut bytes, mut block) = (0_u64, vec![0; BLOCK]);
    while !stop.is_asked() {
        let read = match coming.read(&mut block) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => continue,
            Err(cause) => return Err(Error::Read { name, offset: bytes, cause }),
        };
        file.write_all(block.get(..read).unwrap_or_default()).map_err(unkept)?;
        bytes += read as u64;
        progress(Progress { read: bytes, total: None });
    }
    file.flush().map_err(unkept)?;
    Ok(SpooledInput { name, bytes, file: file.into_temp_path() })
}
