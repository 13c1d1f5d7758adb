//! [`Interrupt`]: what Ctrl-C does.
//!
//! While inputs are read, the first signal ends the reading, and the findings up to then are
//! printed; the second one ends the program at once. The first one does too if nothing was read
//! yet, or everything was.
//!
//! Where files must not stay, [all signals that end the program](ending) are listened to.

use signal_hook::consts::SIGINT;
use signal_hook::flag::{register, register_conditional_shutdown};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use whyslow_io::Stop;
pub use whyslow_output::exit::ended_by;

/// The exit status of a program that was interrupted.
pub const INTERRUPTED: u8 = ended_by(SIGINT);

/// The signals that ask a program to end: Ctrl-C, `kill`, and a closed terminal, unless the program
/// was started to outlive that (`nohup`).
#[cfg(unix)]
pub fn ending() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    let mut signals = vec![SIGINT, SIGTERM];
    signals.extend((ignores(SIGHUP) == Some(false)).then_some(SIGHUP));
    signals
}

/// The signals that ask a program to end: Ctrl-C and Ctrl-Break.
#[cfg(windows)]
pub fn ending() -> Vec<i32> {
    vec![SIGINT, signal_hook::consts::SIGTERM]
}

/// Whether a signal is ignored; `None` if the system does not report it.
#[cfg(unix)]
fn ignores(signal: i32) -> Option<bool> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    // The mask's lowest bit is signal 1 (proc_pid_status(5)).
    Some(u64::from_str_radix(ignored.trim(), 16).ok()? >> (signal - 1) & 1 == 1)
}

/// Listens to Ctrl-C.
pub struct Interrupt {
    stop: Stop,
    /// Whether the next interrupt ends the program.
    at_once: Arc<AtomicBool>,
    reading: bool,
}

impl Interrupt {
    /// # Errors
    /// If the system does not allow signal handlers.
    pub fn listen() -> io::Result<Self> {
        let (stop, at_once) = (Stop::default(), Arc::new(AtomicBool::new(true)));
        // In this order: the first handler reads the flag, and the second sets it for the next
        // signal.
        register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&at_once))?;
        register(SIGINT, Arc::clone(&at_once))?;
        register(SIGINT, stop.flag())?;
        Ok(Self { stop, at_once, reading: false })
    }

    /// Ends the reading when Ctrl-C comes.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Whether it came.
    pub fn is_asked(&self) -> bool {
        self.stop.flag().load(Ordering::Relaxed)
    }

    /// Something was read.
    pub fn has_read(&mut self) {
        if !self.reading {
            self.reading = true;
            self.at_once.store(false, Ordering::Relaxed);
        }
    }

    /// All is known that will be.
    pub fn is_done(&self) {
        self.at_once.store(true, Ordering::Relaxed);
    }
}
