//! The folder of runs that are not kept. A signal that ends the program removes it first.

use signal_hook::iterator::{Handle, Signals};
use std::path::Path;
use std::time::Duration;
use std::{fs, io, process, thread};
use tempfile::TempDir;
use whyslow_cli::interrupt::{ended_by, ending};

pub(super) struct Scratch {
    folder: TempDir,
    handle: Handle,
}

impl Scratch {
    /// # Errors
    /// If there is no space for it, or the system does not allow signal handlers.
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

/// Removes the folder. A run may go on meanwhile: it finds a file at the folder's place, so it
/// cannot create the folder again.
fn remove(folder: &Path) {
    let ended = folder.with_extension("ended");
    let is_moved = fs::rename(folder, &ended).and_then(|()| fs::write(folder, "")).is_ok();
    let folder_now = if is_moved { ended.as_path() } else { folder };
    for _ in 0..50 {
        if fs::remove_dir_all(folder_now).is_ok_and(|()| !folder_now.exists()) {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    if is_moved {
        // The last thing before the program ends. If it fails, an empty file stays.
        let _ = fs::remove_file(folder);
    }
}
