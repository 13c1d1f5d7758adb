//! [`Signals`]: they end the gateway, or make it read its settings and open its log again.

use anyhow::Context;
#[cfg(not(unix))]
use elsewhere as system;
#[cfg(unix)]
use unix as system;
use whyslow_output::exit::ended_by;

/// The handled signals.
pub(super) struct Signals(system::Listening);

impl Signals {
    /// # Errors
    /// If the system allows no handler.
    pub(super) fn listen() -> anyhow::Result<Self> {
        system::Listening::begin().map(Self).context("signals")
    }

    /// Waits for the first signal that ends the gateway.
    pub(super) async fn wait(&mut self, mut hung_up: impl FnMut()) {
        while self.0.next().await.is_none() {
            hung_up();
        }
    }

    /// The next signal ends the program at once.
    pub(super) fn leave_at_the_next(mut self) {
        tokio::spawn(async move {
            loop {
                if let Some(signal) = self.0.next().await {
                    std::process::exit(ended_by(signal).into());
                }
            }
        });
    }
}

#[cfg(unix)]
mod unix {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use std::io;
    use tokio::signal::unix::{self, SignalKind, signal};

    pub(super) struct Listening {
        interrupt: unix::Signal,
        terminate: unix::Signal,
        hangup: unix::Signal,
    }

    impl Listening {
        pub(super) fn begin() -> io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hangup: signal(SignalKind::hangup())?,
            })
        }

        /// The number of a signal that ends the program; `None` for SIGHUP.
        pub(super) async fn next(&mut self) -> Option<i32> {
            tokio::select! {
                _ = self.interrupt.recv() => Some(SIGINT),
                _ = self.terminate.recv() => Some(SIGTERM),
                _ = self.hangup.recv() => None,
            }
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use std::io;
    use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

    pub(super) struct Listening {
        interrupt: CtrlC,
        terminate: CtrlBreak,
        close: CtrlClose,
    }

    impl Listening {
        pub(super) fn begin() -> io::Result<Self> {
            Ok(Self { interrupt: ctrl_c()?, terminate: ctrl_break()?, close: ctrl_close()? })
        }

        /// The number of a signal that ends the program, as other systems number it.
        pub(super) async fn next(&mut self) -> Option<i32> {
            tokio::select! {
                _ = self.interrupt.recv() => Some(SIGINT),
                _ = self.terminate.recv() => Some(SIGTERM),
                _ = self.close.recv() => Some(SIGTERM),
            }
        }
    }
}
