//! [`Interrupt`]: what Ctrl-C does.
//!
//! While inputs are read, the first one ends the reading, and what is known by then is printed; the
//! second one ends the program at once. So does the first where nothing is known yet, or everything
//! is.
//!
//! Where files must not stay, [all signals that end the program](ending) are listened to.

use signal_hook::consts::SIGINT;
use signal_hook::flag::{register, register_conditional_shutdown};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use whyslow_io::Stop;
pub(crate) use whyslow_output::exit::ended_by;

/// The exit status of a program that was interrupted.
pub(crate) const INTERRUPTED: u8 = ended_by(SIGINT);

/// The signals that ask a program to end: Ctrl-C, `kill`, and a terminal that is closed, unless
/// whoever started it had the program outlive that (`nohup`).
#[cfg(unix)]
pub(crate) fn ending() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    let mut signals = vec![SIGINT, SIGTERM];
    signals.extend((ignores(SIGHUP) == Some(false)).then_some(SIGHUP));
    signals
}

/// The signals that ask a program to end: Ctrl-C and Ctrl-Break.
#[cfg(windows)]
pub(crate) fn ending() -> Vec<i32> {
    vec![SIGINT, signal_hook::consts::SIGTERM]
}

/// Whether a signal is ignored; none where the system does not tell.
#[cfg(unix)]
fn ignores(signal: i32) -> Option<bool> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    // The mask's lowest bit is signal 1 (proc_pid_status(5)).
    Some(u64::from_str_radix(ignored.trim(), 16).ok()? >> (signal - 1) & 1 == 1)
}

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

    /// Whether it came.
    pub(crate) fn is_asked(&self) -> bool {
        self.stop.flag().load(Ordering::Relaxed)
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
