//! [`Stop`]: a request to stop reading.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends the reading early, from another thread or a signal handler. What was read by then is
/// explained.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    cut: Arc<AtomicBool>,
}

impl Stop {
    /// A stop request that is made by setting this flag.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }

    /// Whether a stop was requested.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Records that something was left unread.
    pub(crate) fn has_cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }

    /// Whether anything was left unread because of it.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}
