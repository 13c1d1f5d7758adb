//! [`Sources`]: the files that a command reads. No output may replace one.

use super::place::{Identity, Place, of_path, of_stdin, of_stdout};
use anyhow::bail;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Something that a command reads.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// Standard input.
    Stdin,
    /// An input that is not a file of this machine, by its name.
    Elsewhere(String),
}

/// The files that a command reads, and the outputs that it has opened.
///
/// Files are identified by device and inode, not by name: a link to an input is that input.
#[derive(Default)]
pub struct Sources {
    inputs: Vec<Known>,
    /// Patterns of names: files that match later are read as well.
    patterns: Vec<String>,
    outputs: Mutex<Vec<Claim>>,
}

struct Known {
    name: String,
    path: Option<PathBuf>,
    identity: Option<Identity>,
}

/// An output that is open or complete.
struct Claim {
    folder: Identity,
    name: OsString,
    given_up: Arc<AtomicBool>,
}

/// Releases an output that was not completed, so that another may be opened in its place.
#[derive(Debug, Default)]
pub(crate) struct Claimed(Arc<AtomicBool>);

impl Claimed {
    pub(crate) fn give_up(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Sources {
    /// The inputs of a command.
    pub fn of(inputs: impl IntoIterator<Item = Source>) -> Self {
        Self::default().and(inputs.into_iter().map(|input| match input {
            Source::Path(path) => {
                Known { name: path.display().to_string(), identity: of_path(&path), path: Some(path) }
            }
            Source::Stdin => Known { name: "-".to_owned(), identity: of_stdin(), path: None },
            Source::Elsewhere(name) => Known { name, identity: None, path: None },
        }))
    }

    /// Adds other files that the command reads.
    pub fn and_files<P: AsRef<Path>>(self, files: impl IntoIterator<Item = P>) -> Self {
        let files = Self::of(files.into_iter().map(|file| Source::Path(file.as_ref().to_owned())));
        self.and(files.inputs)
    }

    /// Adds files by patterns of their names: those that match now and those that match later.
    pub fn and_patterns(mut self, patterns: impl IntoIterator<Item = String>) -> Self {
        for pattern in patterns {
            let files: Vec<_> = glob::glob(&pattern).into_iter().flatten().flatten().collect();
            self = self.and_files(files);
            self.patterns.push(pattern);
        }
        self
    }

    fn and(mut self, more: impl IntoIterator<Item = Known>) -> Self {
        self.inputs.extend(more);
        self
    }

    /// # Errors
    /// Returns an error if this place is an input, will be one, or is another output. Otherwise
    /// the place is claimed.
    pub(crate) fn claim(&self, output: &Path, place: &Place) -> anyhow::Result<Claimed> {
        let name = output.display();
        match self.find(place.identity()) {
            Some(input) if Path::new(input) == output => {
                bail!("{input}: is read and cannot be written to as well: name another file for the output")
            }
            Some(input) => bail!("{name}: is the input {input}: name another file for the output"),
            None => {}
        }
        let Some((folder, file)) = place.name() else { return Ok(Claimed::default()) };
        if let Some(pattern) = self.pattern_of(&folder, file) {
            bail!("{name}: matches {pattern}, whose files are read: name another file for the output");
        }
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        outputs.retain(|claim| !claim.given_up.load(Ordering::Relaxed));
        if outputs.iter().any(|claim| claim.folder == folder && claim.name == file) {
            bail!("{name}: another output of this command has this name: name another file");
        }
        let claimed = Claimed::default();
        outputs.push(Claim { folder, name: file.to_owned(), given_up: Arc::clone(&claimed.0) });
        Ok(claimed)
    }

    /// Checks an output that is opened elsewhere.
    ///
    /// # Errors
    /// Returns an error if it is an input or cannot be found.
    pub fn refuse(&self, output: &Path) -> anyhow::Result<()> {
        self.claim(output, &Place::find(output)?).map(drop)
    }

    /// # Errors
    /// Returns an error if an input is in a folder that the command replaces.
    pub fn refuse_folder(&self, folder: &Path) -> anyhow::Result<()> {
        let Ok(folder) = folder.canonicalize() else { return Ok(()) };
        let is_inside = |known: &&Known| {
            let path = known.path.as_deref().and_then(|path| path.canonicalize().ok());
            path.is_some_and(|path| path.starts_with(&folder))
        };
        match self.inputs.iter().find(is_inside) {
            Some(known) => {
                bail!("{}: is in {}, which is replaced: name another folder", known.name, folder.display())
            }
            None => Ok(()),
        }
    }

    /// # Errors
    /// Returns an error if stdout is an input.
    pub fn refuse_stdout(&self) -> anyhow::Result<()> {
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
        self.inputs.iter().find(|known| known.identity.as_ref() == Some(&output)).map(|known| known.name.as_str())
    }

    /// The pattern that a name in this folder matches.
    fn pattern_of(&self, folder: &Identity, name: &OsStr) -> Option<&str> {
        let name = name.to_str()?;
        let matches = |pattern: &&String| {
            let (folders, names) = pattern.rsplit_once('/').unwrap_or((".", pattern));
            let folders = if folders.is_empty() { "/" } else { folders };
            glob::Pattern::new(names).is_ok_and(|names| names.matches(name))
                && glob::glob(folders).into_iter().flatten().flatten().any(|path| is_folder(&path, folder))
        };
        self.patterns.iter().find(matches).map(String::as_str)
    }
}

/// Whether a path leads to this folder.
fn is_folder(path: &Path, folder: &Identity) -> bool {
    Place::find(&path.join("name")).ok().and_then(|place| Some(place.name()?.0)).as_ref() == Some(folder)
}
