//! [`Entries`]: the sorted names in folders, kept while a list goes through its pages.
//!
//! Reading and sorting a folder for each page of 1,000 takes time that grows with the square of its
//! size: 9 s at 100,000 files. So they are kept, and read again as soon as the folder's time of
//! change differs.

use super::files::failed;
use super::names;
use crate::store::{ErrorKind, StoreError};
use lru::LruCache;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Names that are kept, in all folders: some 100 MB. A larger folder is read for each page.
const MOST: usize = 1 << 20;
/// A file system may give two changes the same time (Linux: within a tick, 10 ms at most; others
/// within 2 s, as FAT does). So names are kept only if the last change is older than this.
const SETTLED: Duration = Duration::from_secs(2);

/// A file or folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Its part of a key. A folder's has its slash, so that it sorts as the keys in it do.
    pub part: String,
}

impl Entry {
    pub(super) fn is_folder(&self) -> bool {
        self.part.ends_with('/')
    }

    pub(super) fn file_name(&self) -> String {
        names::file_name(self.part.strip_suffix('/').unwrap_or(&self.part))
    }
}

#[derive(Debug)]
struct CachedFolder {
    changed: Duration,
    entries: Arc<[Entry]>,
}

/// The names in folders that did not change since.
#[derive(Debug)]
pub(super) struct Entries(Mutex<LruCache<PathBuf, CachedFolder>>);

impl Default for Entries {
    fn default() -> Self {
        Self(Mutex::new(LruCache::unbounded()))
    }
}

impl Entries {
    /// The names in a folder, in the order of keys.
    ///
    /// # Errors
    /// If it cannot be read, or has a file whose name is not part of a key.
    pub(super) fn of(&self, folder: &Path) -> Result<Arc<[Entry]>, StoreError> {
        let changed = changed(folder).map_err(|error| failed(folder, &error))?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.get(folder).filter(|found| found.changed == changed) {
            return Ok(Arc::clone(&found.entries));
        }
        kept.pop(folder);
        // Others need not wait while the folder is read.
        drop(kept);
        let entries: Arc<[Entry]> = read(folder)?.into();
        // A change while it was read has a later time than this one.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let is_settled = now.saturating_sub(changed) >= SETTLED;
        if is_settled && entries.len() <= MOST {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.put(folder.to_owned(), CachedFolder { changed, entries: Arc::clone(&entries) });
            let mut count: usize = kept.iter().map(|(_, one)| one.entries.len() + 1).sum();
            while count > MOST {
                let Some((_, oldest)) = kept.pop_lru() else { break };
                count -= oldest.entries.len() + 1;
            }
        }
        Ok(entries)
    }
}

/// When a folder changed last, since 1970. Not its `mtime`, which copying tools set back.
#[cfg(unix)]
fn changed(folder: &Path) -> io::Result<Duration> {
    use std::os::unix::fs::MetadataExt;
    let about = fs::metadata(folder)?;
    let unsigned = |number: i64| u64::try_from(number).unwrap_or_default();
    Ok(Duration::from_secs(unsigned(about.ctime())) + Duration::from_nanos(unsigned(about.ctime_nsec())))
}

#[cfg(not(unix))]
fn changed(folder: &Path) -> io::Result<Duration> {
    let modified = fs::metadata(folder)?.modified()?;
    Ok(modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

fn read(folder: &Path) -> Result<Vec<Entry>, StoreError> {
    let here = |error| failed(folder, &error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(here)? {
        let entry = entry.map_err(here)?;
        let kind = entry.file_type().map_err(here)?;
        let part = entry.file_name().to_str().and_then(names::part);
        let is_ours = kind.is_dir() || kind.is_file() || kind.is_symlink();
        let Some(part) = part.filter(|_| is_ours) else {
            let why = format!("`{}`: no object is stored in a file of this name and kind", entry.file_name().display());
            return Err(StoreError::new(ErrorKind::Foreign, why).at(&entry.path()));
        };
        entries.push(Entry { part: if kind.is_dir() { part + "/" } else { part } });
    }
    entries.sort_unstable();
    Ok(entries)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parts(entries: &Entries, folder: &Path) -> Vec<String> {
        entries.of(folder).unwrap().iter().map(|entry| entry.part.clone()).collect()
    }

    #[test]
    fn names_are_kept_until_the_folder_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (entries, path) = (Entries::default(), folder.path());
        fs::write(path.join("b"), "").unwrap();
        fs::create_dir(path.join("a")).unwrap();
        assert_eq!(parts(&entries, path), ["a/", "b"]);
        // A change in the same instant would not show.
        assert_eq!(entries.0.lock().unwrap().len(), 0);
        std::thread::sleep(SETTLED);
        assert_eq!(parts(&entries, path), ["a/", "b"]);
        assert_eq!(entries.0.lock().unwrap().len(), 1);
        fs::write(path.join("%"), "").unwrap();
        assert_eq!(parts(&entries, path), ["", "a/", "b"]);
    }

    #[test]
    fn name_that_no_key_gives_is_not_left_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("50%"), "").unwrap();
        assert_eq!(Entries::default().of(folder.path()).unwrap_err().kind, ErrorKind::Foreign);
    }
}
