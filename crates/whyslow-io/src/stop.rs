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

/// A stop request that is made after some time.
#[derive(Clone, Debug)]
pub(crate) struct LaterStop {
    stop: Stop,
    was_asked: bool,
}

impl LaterStop {
    /// Returns whether a stop was requested since.
    pub(crate) fn is_asked(&self) -> bool {
        !self.was_asked && self.stop.is_asked()
    }
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

    /// Returns whether a stop is requested from now on. A request that ended the reading lets what
    /// was read be explained; one that comes while it is explained ends that.
    pub(crate) fn later(&self) -> LaterStop {
        LaterStop { stop: self.clone(), was_asked: self.is_asked() }
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
