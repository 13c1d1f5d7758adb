//! [`Ending`]: what Ctrl-C and SIGTERM do while one's own programs run.

use crate::interrupt::ended_by;
use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown, register_usize};
use signal_hook::low_level::unregister;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signals that stop a run: what was captured by the first one is explained; a second one, of
/// either, ends this program at once.
pub struct Ending {
    /// Whether an interrupt has come; the next one ends the program.
    stopped: Arc<AtomicBool>,
    /// Which.
    signal: Arc<AtomicUsize>,
    /// The signal actions before others handle Ctrl-C.
    interrupts: Vec<SigId>,
}

impl Ending {
    /// Listens to both signals.
    ///
    /// # Errors
    /// If the system does not allow signal handlers.
    pub fn listen() -> io::Result<Self> {
        let (stopped, signal) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let mut interrupts = Vec::new();
        for number in [SIGINT, SIGTERM] {
            // In this order: the first handler reads the flag, and the second sets it for the next
            // signal.
            let ids = [
                register_conditional_shutdown(number, ended_by(number).into(), Arc::clone(&stopped))?,
                register_usize(number, Arc::clone(&signal), number.unsigned_abs() as usize)?,
                register(number, Arc::clone(&stopped))?,
            ];
            if number == SIGINT {
                interrupts.extend(ids);
            }
        }
        Ok(Self { stopped, signal, interrupts })
    }

    /// Is set when the run is to stop.
    pub fn flag(&self) -> &AtomicBool {
        &self.stopped
    }

    /// The run is over. Returns the signal that stopped it, if any. The next handler of Ctrl-C
    /// decides from now on; the other signal ends the program.
    pub fn hand_over(self) -> Option<i32> {
        for id in self.interrupts {
            unregister(id);
        }
        self.stopped.store(true, Ordering::Relaxed);
        i32::try_from(self.signal.load(Ordering::Relaxed)).ok().filter(|&signal| signal != 0)
    }
}
