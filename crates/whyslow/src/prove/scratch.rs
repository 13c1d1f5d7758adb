//! The folder of runs that nobody keeps. A signal that ends the program removes it first.

use crate::interrupt::{ended_by, ending};
use signal_hook::iterator::{Handle, Signals};
use std::path::Path;
use std::time::Duration;
use std::{fs, io, process, thread};
use tempfile::TempDir;

pub(super) struct Scratch {
    folder: TempDir,
    handle: Handle,
}

impl Scratch {
    /// # Errors
    /// When there is no place for it, or the system lets nobody listen to signals.
    pub fn new() -> io::Result<Self> {
        let mut signals = Signals::new(ending())?;
        let folder = tempfile::Builder::new().prefix("whyslow-prove-").tempdir()?;
        let (handle, path) = (signals.handle(), folder.path().to_owned());
        thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                remove(&path);
                process::exit(ended_by(signal).into());
            }
        });
        Ok(Self { folder, handle })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.handle.close();
    }
}

/// A run that goes on meanwhile may still write a file.
fn remove(folder: &Path) {
    for _ in 0..50 {
        if fs::remove_dir_all(folder).is_ok_and(|()| !folder.exists()) {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}
