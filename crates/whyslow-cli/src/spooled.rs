//! [`SpooledInputs`]: inputs that are read more than once; pipes are copied to a temporary file.
//!
//! The first Ctrl-C ends the pipe, and the data up to then is used; a later one ends the program,
//! and so does any other signal that asks for it. Either way no file stays.

use crate::output::complain;
use crate::progress::Meter;
use std::collections::BTreeMap;
use whyslow_io::{Input, Scratch, Spool, Stop};
use whyslow_report::text::units;

/// Inputs, all of them files for as long as it lives.
pub struct SpooledInputs {
    spool: Spool,
    scratch: Scratch,
    #[cfg(unix)]
    guard: Option<unix::Guard>,
}

impl SpooledInputs {
    /// Copies inputs that are not files; prints their size.
    ///
    /// # Errors
    /// When it cannot be read or kept.
    pub fn new(inputs: &[Input]) -> anyhow::Result<Self> {
        let (scratch, stop) = (Scratch::default(), Stop::default());
        #[cfg(unix)]
        let guard = if inputs.iter().any(is_pipe) { Some(unix::Guard::new(&scratch, &stop)?) } else { None };
        let spool = {
            let mut meter = Meter::new();
            Spool::new(inputs, &scratch, &stop, &mut |progress| meter.update(progress))?
        };
        for kept in spool.spooled() {
            let (name, bytes, path) = (&kept.name, units::bytes(kept.bytes), kept.path().display());
            complain(&format!("{name}: {bytes} came, and are in {path} until the end, to be read again"));
        }
        #[cfg(unix)]
        if let Some(guard) = &guard {
            guard.is_filled();
        }
        Ok(Self {
            spool,
            scratch,
            #[cfg(unix)]
            guard,
        })
    }

    /// The inputs in their order, all of them files.
    pub fn inputs(&self) -> &[Input] {
        self.spool.inputs()
    }

    /// Names of the stored inputs, by the path of their temporary file.
    pub fn names(&self) -> BTreeMap<String, String> {
        self.spool.spooled().iter().map(|kept| (kept.path().display().to_string(), kept.name.clone())).collect()
    }

    /// The folder for further files, which are removed with this value.
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// The next signal handler ends the program in order, and then drops this.
    pub fn hand_over(&mut self) {
        #[cfg(unix)]
        drop(self.guard.take());
    }
}

impl Drop for SpooledInputs {
    /// Others may still hold on to the folder: a reading that goes on in the background.
    fn drop(&mut self) {
        self.scratch.end();
    }
}

#[cfg(unix)]
fn is_pipe(input: &Input) -> bool {
    match input {
        Input::Stdin => true,
        Input::Object(_) => false,
        Input::Path(path) => std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()),
    }
}

#[cfg(unix)]
mod unix {
    use crate::interrupt::{ended_by, ending};
    use signal_hook::consts::SIGINT;
    use signal_hook::iterator::{Handle, Signals};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::{io, process, thread};
    use whyslow_io::{Scratch, Stop};

    /// Listens to signals while there are files that must not stay.
    pub(super) struct Guard {
        handle: Handle,
        /// Nothing comes any more: there is nothing to stop but the program.
        filled: Arc<AtomicBool>,
    }

    impl Guard {
        pub(super) fn new(scratch: &Scratch, stop: &Stop) -> io::Result<Self> {
            let mut signals = Signals::new(ending())?;
            let (handle, filled, flag) = (signals.handle(), Arc::<AtomicBool>::default(), stop.flag());
            let (watched, scratch) = (Arc::clone(&filled), scratch.clone());
            thread::spawn(move || {
                for signal in signals.forever() {
                    let is_first = signal == SIGINT && !flag.swap(true, Ordering::Relaxed);
                    if !is_first || watched.load(Ordering::Relaxed) {
                        scratch.end();
                        process::exit(ended_by(signal).into());
                    }
                }
            });
            Ok(Self { handle, filled })
        }

        pub(super) fn is_filled(&self) {
            self.filled.store(true, Ordering::Relaxed);
        }
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            self.handle.close();
        }
    }
}
