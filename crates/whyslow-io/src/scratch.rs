//! [`Scratch`]: a temporary folder of this process, for pipes that were spooled and files dropped
//! on the page.
//!
//! No other user can look into it. [`Scratch::end`] removes everything, even files that are still
//! being read or written; every exit of the process calls it, a signal handler included.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, NamedTempFile, TempDir};

/// A folder that is created with its first file and removed with its last clone.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Unused,
    Folder(TempDir),
    Ended,
}

impl Scratch {
    /// Creates an empty file that only this user may read and write, named with `suffix`. Dropping
    /// it removes it.
    ///
    /// # Errors
    /// When it cannot be created, or after [`Scratch::end`].
    pub fn file(&self, suffix: &str) -> io::Result<NamedTempFile> {
        let mut state = self.lock();
        if matches!(*state, State::Unused) {
            *state = State::Folder(folder()?);
        }
        match &*state {
            State::Folder(folder) => Builder::new().prefix("capture-").suffix(suffix).tempfile_in(folder.path()),
            State::Unused | State::Ended => Err(io::Error::other("the program ends")),
        }
    }

    /// Free space in bytes, if known.
    pub fn room(&self) -> Option<u64> {
        #[cfg(unix)]
        return rustix::fs::statvfs(std::env::temp_dir()).ok().map(|room| room.f_bavail.saturating_mul(room.f_frsize));
        #[cfg(not(unix))]
        None
    }

    /// Removes the folder with everything in it. No file can be created from then on.
    pub fn end(&self) {
        // Under the lock, so that no file is made in between.
        let mut state = self.lock();
        if let State::Folder(folder) = std::mem::replace(&mut *state, State::Ended) {
            // A file that cannot be removed is in the temporary folder, and for this user
            // alone.
            let _ = folder.close();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sets the mode at creation: otherwise another user might look in before it is restricted.
fn folder() -> io::Result<TempDir> {
    let mut builder = Builder::new();
    builder.prefix("whyslow-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;
    use std::io::Write;

    #[test]
    #[cfg(unix)]
    fn no_other_user_can_look_in() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let scratch = Scratch::default();
        let file = scratch.file(".html").unwrap();
        assert!(file.path().to_str().unwrap().ends_with(".html"));
        assert_eq!(mode(file.path()), 0o600);
        assert_eq!(mode(file.path().parent().unwrap()), 0o700);
    }

    #[test]
    fn a_file_goes_with_its_value_and_the_folder_with_the_last_clone() {
        let scratch = Scratch::default();
        let (a, b) = (scratch.file("").unwrap(), scratch.file("").unwrap());
        let folder = a.path().parent().unwrap().to_owned();
        assert_eq!(b.path().parent().unwrap(), folder);
        drop(a);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let other = scratch.clone();
        drop(scratch);
        assert!(folder.exists());
        drop(other);
        assert!(!folder.exists());
    }

    #[test]
    fn the_end_takes_what_is_still_written_and_lets_nothing_new_in() {
        let scratch = Scratch::default();
        let mut file = scratch.file("").unwrap();
        let folder = file.path().parent().unwrap().to_owned();
        file.write_all(b"a").unwrap();
        scratch.clone().end();
        assert!(!folder.exists());
        let _ = file.write_all(b"b");
        assert!(scratch.file("").is_err());
        assert!(!folder.exists());
    }

    #[test]
    fn without_files_there_is_no_folder() {
        let scratch = Scratch::default();
        scratch.end();
        assert!(matches!(*scratch.lock(), State::Ended));
        #[cfg(unix)]
        assert!(scratch.room().unwrap() > 0);
    }
}
