//! [`Folders`]: the only files that a client may name.
//!
//! A name is compared with the folders before the file system is asked, so that the answer does
//! not reveal files elsewhere. Then links are resolved, and the file must still lie inside.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Entries that a listing looks at: a home folder has millions.
const MOST_ENTRIES: usize = 5_000;
/// Folders below a given one that a listing looks into.
const DEPTH: usize = 3;
/// Longest name that is taken; PATH_MAX of Linux.
const LONGEST: usize = 4_096;

/// Folders whose captures may be read.
#[derive(Clone, Debug)]
pub struct Folders(Vec<Folder>);

#[derive(Clone, Debug)]
struct Folder {
    /// The path as given, made absolute.
    given: PathBuf,
    /// Without links.
    real: PathBuf,
}

/// Why a name is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is not a path.
    NoPath(&'static str),
    /// It lies elsewhere.
    Outside,
    /// It is a link, or below one, that leads elsewhere.
    LeadsOut,
    /// There is no such file.
    Missing,
    /// It is not a regular file.
    NoFile,
    /// The system refuses it.
    Unreadable(String),
}

impl Folders {
    /// These folders; links in their own names are resolved once.
    ///
    /// # Errors
    /// When one does not exist, or is not a folder.
    pub fn new(given: &[PathBuf]) -> io::Result<Self> {
        let mut folders = Vec::new();
        for folder in given {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
            let real = fs::canonicalize(folder).map_err(named)?;
            if !real.is_dir() {
                return Err(named(io::Error::new(io::ErrorKind::NotADirectory, "is not a folder")));
            }
            folders.push(Folder { given: normal(&std::path::absolute(folder).map_err(named)?), real });
        }
        Ok(Self(folders))
    }

    /// The file of this name: below a folder, or absolute.
    pub(crate) fn find(&self, name: &str) -> Result<PathBuf, Refused> {
        if name.is_empty() {
            return Err(Refused::NoPath("it is empty"));
        }
        if name.contains('\0') {
            return Err(Refused::NoPath("it has a NUL character"));
        }
        if name.len() > LONGEST {
            return Err(Refused::NoPath("it is longer than 4,096 bytes"));
        }
        if whyslow_io::is_url(name) {
            return Err(Refused::NoPath("it is a URL, and this server reads local files alone"));
        }
        let mut why = Refused::Outside;
        for folder in &self.0 {
            match self.check(&folder.real.join(name)) {
                Ok(path) => return Ok(path),
                Err(Refused::Outside) => {}
                Err(other) if matches!(why, Refused::Outside | Refused::Missing) => why = other,
                Err(_) => {}
            }
        }
        Err(why)
    }

    fn check(&self, path: &Path) -> Result<PathBuf, Refused> {
        let path = normal(path);
        if !self.0.iter().any(|folder| path.starts_with(&folder.given) || path.starts_with(&folder.real)) {
            return Err(Refused::Outside);
        }
        let real = match fs::canonicalize(&path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Refused::Missing),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Err(Refused::Missing),
            Err(error) => return Err(Refused::Unreadable(error.to_string())),
        };
        if !self.0.iter().any(|folder| real.starts_with(&folder.real)) {
            return Err(Refused::LeadsOut);
        }
        match fs::metadata(&real) {
            Ok(metadata) if metadata.is_file() => Ok(real),
            Ok(_) => Err(Refused::NoFile),
            Err(error) => Err(Refused::Unreadable(error.to_string())),
        }
    }

    /// A file as clients name it: relative to the folder if there is only one.
    pub(crate) fn shown(&self, real: &Path) -> String {
        let only = match self.0.as_slice() {
            [only] => real.strip_prefix(&only.real).ok(),
            _ => None,
        };
        only.unwrap_or(real).display().to_string()
    }

    /// Captures in the folders whose names begin so, in alphabetical order; links are left out.
    pub(crate) fn captures(&self, prefix: &str, most: usize) -> Vec<String> {
        let mut found = BTreeSet::new();
        let mut left = MOST_ENTRIES;
        let mut waiting: Vec<_> = self.0.iter().map(|folder| (folder.real.clone(), 0)).collect();
        while let Some((folder, depth)) = waiting.pop() {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for entry in entries.flatten().take(left) {
                left -= 1;
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && depth < DEPTH && !is_hidden(&entry.path()) {
                    waiting.push((entry.path(), depth + 1));
                } else if kind.is_file() && is_capture(&entry.path()) {
                    found.insert(self.shown(&entry.path()));
                }
            }
        }
        found.into_iter().filter(|name| name.starts_with(prefix)).take(most).collect()
    }
}

/// The folders, for messages.
impl fmt::Display for Folders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, folder) in self.0.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { "" }, folder.given.display())?;
        }
        Ok(())
    }
}

/// Without `.` and `..`, by the names alone.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// Whether a name is usual for a capture, compressed or not.
fn is_capture(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    [".pcap", ".pcapng", ".cap", ".condensed"].iter().any(|end| {
        name.find(end).is_some_and(|at| {
            let rest = &name[at + end.len()..];
            rest.is_empty() || rest.starts_with('.') || rest.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

#[cfg(test)]
mod tests;
