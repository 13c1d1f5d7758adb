//! [`Signals`]: what ends the gateway, and what opens its log anew.

use crate::interrupt::ended_by;
use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Those that are listened to.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// # Errors
    /// When the system lets nobody listen.
    pub(super) fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the first one that ends the gateway.
    pub(super) async fn wait(&mut self, mut hung_up: impl FnMut()) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.hangup.recv() => hung_up(),
            }
        }
    }

    /// The next one ends the program at once.
    pub(super) fn leave_at_the_next(mut self) {
        tokio::spawn(async move {
            let signal = tokio::select! {
                _ = self.interrupt.recv() => signal_hook::consts::SIGINT,
                _ = self.terminate.recv() => signal_hook::consts::SIGTERM,
            };
            std::process::exit(ended_by(signal).into());
        });
    }
}
