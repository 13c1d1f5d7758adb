//! [`Signals`]: what ends the gateway, and what opens its log anew.

use crate::interrupt::ended_by;
use anyhow::Context;
#[cfg(not(unix))]
use elsewhere as system;
use signal_hook::consts::{SIGINT, SIGTERM};
#[cfg(unix)]
use unix as system;

/// Those that are listened to.
pub(super) struct Signals(system::Listening);

/// What somebody asks for.
enum Signal {
    /// To end, by this signal's number.
    End(i32),
    /// To open the log anew.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there is no such signal"))]
    HangUp,
}

impl Signals {
    /// # Errors
    /// When the system lets nobody listen.
    pub(super) fn listen() -> anyhow::Result<Self> {
        system::Listening::begin().map(Self).context("signals")
    }

    /// Waits for the first one that ends the gateway.
    pub(super) async fn wait(&mut self, mut hung_up: impl FnMut()) {
        while let Signal::HangUp = self.0.next().await {
            hung_up();
        }
    }

    /// The next one ends the program at once.
    pub(super) fn leave_at_the_next(mut self) {
        tokio::spawn(async move {
            loop {
                if let Signal::End(signal) = self.0.next().await {
                    std::process::exit(ended_by(signal).into());
                }
            }
        });
    }
}

#[cfg(unix)]
mod unix {
    use super::{SIGINT, SIGTERM, Signal};
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

        pub(super) async fn next(&mut self) -> Signal {
            tokio::select! {
                _ = self.interrupt.recv() => Signal::End(SIGINT),
                _ = self.terminate.recv() => Signal::End(SIGTERM),
                _ = self.hangup.recv() => Signal::HangUp,
            }
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use super::{SIGINT, SIGTERM, Signal};
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

        pub(super) async fn next(&mut self) -> Signal {
            tokio::select! {
                _ = self.interrupt.recv() => Signal::End(SIGINT),
                _ = self.terminate.recv() => Signal::End(SIGTERM),
                _ = self.close.recv() => Signal::End(SIGTERM),
            }
        }
    }
}
