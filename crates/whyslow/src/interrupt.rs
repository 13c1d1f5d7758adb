//! [`Interrupt`]: what Ctrl-C does.
//!
//! While inputs are read, the first one ends the reading, and what is known by then is printed; the second one ends the
//! program at once. So does the first where nothing is known yet, or everything is.

use signal_hook::consts::SIGINT;
use signal_hook::flag::{register, register_conditional_shutdown};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use whyslow_io::Stop;

/// The exit status of a program that was interrupted: 128 and the signal's number, as a shell tells it.
pub(crate) const INTERRUPTED: u8 = 130;

/// Listens to Ctrl-C.
pub(crate) struct Interrupt {
    stop: Stop,
    /// The next one ends the program.
    at_once: Arc<AtomicBool>,
    reading: bool,
}

impl Interrupt {
    /// # Errors
    /// When the system lets nobody listen.
    pub(crate) fn listen() -> io::Result<Self> {
        let (stop, at_once) = (Stop::default(), Arc::new(AtomicBool::new(true)));
        // In this order: what the signal finds decides, and what it leaves is for the next one.
        register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&at_once))?;
        register(SIGINT, Arc::clone(&at_once))?;
        register(SIGINT, stop.flag())?;
        Ok(Self { stop, at_once, reading: false })
    }

    pub(crate) fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Something was read.
    pub(crate) fn has_read(&mut self) {
        if !self.reading {
            self.reading = true;
            self.at_once.store(false, Ordering::Relaxed);
        }
    }

    /// All is known that will be.
    pub(crate) fn is_done(&self) {
        self.at_once.store(true, Ordering::Relaxed);
    }
}
