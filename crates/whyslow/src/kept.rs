//! [`Kept`]: inputs that are read more than once, what comes through a pipe in a temporary file.
//!
//! The first Ctrl-C ends the pipe, and what came by then is taken; a later one ends the program. Either way no file stays.

use crate::progress::Meter;
use std::collections::BTreeMap;
use whyslow_io::{Input, Spool, Stop};
use whyslow_report::text::units;

/// Inputs, all of them files for as long as it lives.
pub(crate) struct Kept {
    spool: Spool,
    #[cfg(unix)]
    guard: Option<unix::Guard>,
}

impl Kept {
    /// Keeps what is no file; says how much that is.
    ///
    /// # Errors
    /// When it cannot be read or kept.
    pub(crate) fn new(inputs: &[Input]) -> anyhow::Result<Self> {
        let stop = Stop::default();
        #[cfg(unix)]
        let guard = if inputs.iter().any(is_pipe) { Some(unix::Guard::new(&stop)?) } else { None };
        let spool = {
            let mut meter = Meter::new();
            Spool::new(inputs, &stop, &mut |progress| meter.update(progress))?
        };
        for kept in spool.kept() {
            let (name, bytes, path) = (&kept.name, units::bytes(kept.bytes), kept.path().display());
            anstream::eprintln!("whyslow: {name}: {bytes} came, and are in {path} until the end, to be read again");
        }
        #[cfg(unix)]
        if let Some(guard) = &guard {
            guard.watch(spool.kept().iter().map(|kept| kept.path().to_owned()).collect());
        }
        #[cfg(unix)]
        return Ok(Self { spool, guard });
        #[cfg(not(unix))]
        Ok(Self { spool })
    }

    /// The inputs in their order, all of them files.
    pub(crate) fn inputs(&self) -> &[Input] {
        self.spool.inputs()
    }

    /// What was kept, by its file's path.
    pub(crate) fn names(&self) -> BTreeMap<String, String> {
        self.spool.kept().iter().map(|kept| (kept.path().display().to_string(), kept.name.clone())).collect()
    }

    /// Whoever listens to Ctrl-C from now on ends in order, and then drops this.
    pub(crate) fn hand_over(&mut self) {
        #[cfg(unix)]
        drop(self.guard.take());
    }
}

#[cfg(unix)]
fn is_pipe(input: &Input) -> bool {
    match input {
        Input::Stdin => true,
        Input::Path(path) => std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()),
    }
}

#[cfg(unix)]
mod unix {
    use crate::interrupt::INTERRUPTED;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::{Handle, Signals};
    use std::path::PathBuf;
    use std::sync::atomic::Ordering;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::{fs, io, process, thread};
    use whyslow_io::Stop;

    /// Listens to signals while there are files that must not stay.
    pub(super) struct Guard {
        handle: Handle,
        /// The files; none while they are written.
        files: Arc<Mutex<Option<Vec<PathBuf>>>>,
    }

    impl Guard {
        pub(super) fn new(stop: &Stop) -> io::Result<Self> {
            let mut signals = Signals::new([SIGINT, SIGTERM])?;
            let (handle, files, flag) = (signals.handle(), Arc::<Mutex<Option<Vec<PathBuf>>>>::default(), stop.flag());
            let watched = Arc::clone(&files);
            thread::spawn(move || {
                for _ in signals.forever() {
                    match watched.lock().unwrap_or_else(PoisonError::into_inner).as_deref() {
                        None => flag.store(true, Ordering::Relaxed),
                        Some(files) => {
                            // What cannot be removed is in the folder for what is temporary.
                            files.iter().for_each(|file| drop(fs::remove_file(file)));
                            process::exit(INTERRUPTED.into());
                        }
                    }
                }
            });
            Ok(Self { handle, files })
        }

        pub(super) fn watch(&self, files: Vec<PathBuf>) {
            *self.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
        }
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            self.handle.close();
        }
    }
}
