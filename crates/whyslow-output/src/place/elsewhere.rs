//! Places by their paths, where folders have no descriptors.

use super::{PREFIX, There};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempPath};

/// The path without links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity(PathBuf);

pub(crate) fn of_path(path: &Path) -> Option<Identity> {
    fs::canonicalize(path).ok().map(Identity)
}

pub(crate) fn of_stdin() -> Option<Identity> {
    None
}

pub(crate) fn of_stdout() -> Option<Identity> {
    None
}

/// A path, and the file there.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    there: Option<Metadata>,
}

/// The file that is replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replaced;

impl Place {
    /// # Errors
    /// Returns an error if it is a folder or cannot be looked at.
    pub(crate) fn find(path: &Path) -> io::Result<Self> {
        let is_folder = || path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.file_name().is_none();
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(there) => Ok(Self { path: fs::canonicalize(path)?, there: Some(there) }),
            Err(error) if error.kind() == ErrorKind::NotFound && is_folder() => Err(ErrorKind::IsADirectory.into()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self { path: path.to_owned(), there: None }),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn there(&self) -> There {
        match &self.there {
            None => There::Nothing,
            Some(there) if there.is_file() => There::File,
            Some(_) => There::Other,
        }
    }

    pub(crate) fn name(&self) -> Option<(Identity, &OsStr)> {
        Some((of_path(self.folder())?, self.path.file_name()?))
    }

    fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        }
    }

    pub(crate) fn open(&self) -> io::Result<File> {
        File::options().write(true).open(&self.path)
    }

    pub(crate) fn replaced(&self) -> Option<Replaced> {
        self.there.as_ref().map(|_| Replaced)
    }

    pub(crate) fn create_new(&self) -> io::Result<File> {
        File::create_new(&self.path)
    }

    pub(crate) fn rename(&self, to: &OsStr) -> io::Result<()> {
        fs::rename(&self.path, self.path.with_file_name(to))
    }

    pub(crate) fn adjacent(&self, name: &OsStr) -> io::Result<Self> {
        Self::find(&self.path.with_file_name(name))
    }

    pub(crate) fn identity(&self) -> Option<Identity> {
        self.there.as_ref().and_then(|_| of_path(&self.path))
    }
}

/// A file with a temporary name.
#[derive(Debug)]
pub(crate) struct Temporary(TempPath);

impl Temporary {
    pub(crate) fn create(place: &Place) -> io::Result<(File, Self)> {
        let (file, path) = Builder::new().prefix(PREFIX).tempfile_in(place.folder())?.into_parts();
        Ok((file, Self(path)))
    }

    #[cfg(test)]
    pub(crate) fn create_named(place: &Place) -> io::Result<(File, Self)> {
        Self::create(place)
    }

    pub(crate) fn take_place(self, _: &File, place: &Place) -> io::Result<()> {
        self.0.persist(&place.path).map_err(|error| error.error)
    }
}

impl Replaced {
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Unix")]
    pub(crate) fn keep_owner_and_mode(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}
