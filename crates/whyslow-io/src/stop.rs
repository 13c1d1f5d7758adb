//! [`Stop`]: whoever waits has had enough.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends the reading early, from another thread or from a signal's handler: what was read by then is
/// explained.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    cut: Arc<AtomicBool>,
}

impl Stop {
    /// Asked for as soon as this is set.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }

    /// Whether no more is to be read.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Something was left unread because of it.
    pub(crate) fn has_cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }

    /// Whether anything was left unread because of it.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}
