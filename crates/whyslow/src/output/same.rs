//! [`Sources`]: what is read is never written to, whatever it is called.

use anyhow::bail;
use std::path::Path;
use whyslow_io::Input;

/// The inputs of a command, known by what they are and not by their names: a link to one is that
/// one.
pub(crate) struct Sources(Vec<(String, Identity)>);

impl Sources {
    pub(crate) fn of(inputs: &[Input]) -> Self {
        Self(inputs.iter().filter_map(|input| Some((input.name(), of_input(input)?))).collect())
    }

    /// # Errors
    /// When this path leads to an input.
    pub(crate) fn refuse(&self, output: &Path) -> anyhow::Result<()> {
        match self.find(of_path(output)) {
            Some(input) if Path::new(input) == output => {
                bail!("{input}: is read and cannot be written to as well: name another file for the output")
            }
            Some(input) => {
                bail!("{}: is the input {input}: name another file for the output", output.display())
            }
            None => Ok(()),
        }
    }

    /// # Errors
    /// When stdout is an input.
    pub(crate) fn refuse_stdout(&self) -> anyhow::Result<()> {
        match self.find(of_stdout()) {
            Some(input) => bail!(
                "stdout is the input {input}: nothing was read or written; send the output to another file \
                 (what the shell opened with `>` it has emptied already)"
            ),
            None => Ok(()),
        }
    }

    fn find(&self, output: Option<Identity>) -> Option<&str> {
        let output = output?;
        self.0.iter().find(|(_, input)| *input == output).map(|(name, _)| name.as_str())
    }
}

#[cfg(unix)]
use unix::{Identity, of_input, of_path, of_stdout};

#[cfg(unix)]
mod unix {
    use std::fs::{self, File, Metadata};
    use std::io::{stdin, stdout};
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::path::Path;
    use whyslow_io::Input;

    /// Device, and number on it.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) struct Identity(u64, u64);

    /// Of what keeps what is written to it for whoever reads: no terminal, no /dev/null, and no
    /// socket, which is often both stdin and stdout.
    fn of(metadata: &Metadata) -> Option<Identity> {
        let kind = metadata.file_type();
        let keeps = kind.is_file() || kind.is_fifo() || kind.is_block_device();
        keeps.then(|| Identity(metadata.dev(), metadata.ino()))
    }

    pub(super) fn of_path(path: &Path) -> Option<Identity> {
        of(&fs::metadata(path).ok()?)
    }

    pub(super) fn of_input(input: &Input) -> Option<Identity> {
        match input {
            Input::Path(path) => of_path(path),
            Input::Stdin => of_descriptor(stdin().as_fd()),
            Input::Object(_) => None,
        }
    }

    pub(super) fn of_stdout() -> Option<Identity> {
        of_descriptor(stdout().as_fd())
    }

    fn of_descriptor(descriptor: BorrowedFd<'_>) -> Option<Identity> {
        let file = File::from(descriptor.try_clone_to_owned().ok()?);
        of(&file.metadata().ok()?)
    }
}

#[cfg(not(unix))]
use elsewhere::{Identity, of_input, of_path, of_stdout};

#[cfg(not(unix))]
mod elsewhere {
    use std::fs;
    use std::path::{Path, PathBuf};
    use whyslow_io::Input;

    /// The path without links.
    #[derive(PartialEq, Eq)]
    pub(super) struct Identity(PathBuf);

    pub(super) fn of_path(path: &Path) -> Option<Identity> {
        fs::canonicalize(path).ok().map(Identity)
    }

    pub(super) fn of_input(input: &Input) -> Option<Identity> {
        match input {
            Input::Path(path) => of_path(path),
            Input::Stdin | Input::Object(_) => None,
        }
    }

    pub(super) fn of_stdout() -> Option<Identity> {
        None
    }
}
