//! [`Source`]: where packets come from.

mod follow;
mod pipe;
mod reads;
#[cfg(target_os = "linux")]
mod ring;

use super::args::From;
use super::intake::Intake;
use anyhow::bail;
use follow::Follow;
use pipe::Pipe;
pub(super) use reads::Reads;
use std::io::{IsTerminal, stdin};
use whyslow_cli::output::Sources;
use whyslow_io::Input;

/// The files that are read, and those that will be.
pub(super) fn sources(from: &From) -> Sources {
    match from {
        From::Pipe => whyslow_cli::output::sources(&[Input::Stdin]),
        From::Files(names) => {
            let (patterns, files): (Vec<_>, Vec<_>) =
                follow::patterns(names).into_iter().partition(|name| follow::is_pattern(name));
            Sources::default().and_files(files).and_patterns(patterns)
        }
        From::Interfaces(..) => Sources::default(),
    }
}

/// Where packets come from.
pub(super) enum Source {
    Pipe(Pipe),
    Files(Box<Follow>),
    #[cfg(target_os = "linux")]
    Ring(Box<ring::WatchedRing>),
}

impl Source {
    /// Opens it; what rights that takes are still there.
    ///
    /// # Errors
    /// When there is no such file or interface, the filter is wrong, or this may not be done.
    pub(super) fn open(from: &From, snaplen: u64, ring: u64) -> anyhow::Result<Self> {
        match from {
            From::Pipe => {
                if stdin().is_terminal() {
                    bail!(
                        "standard input is a terminal: a capture comes from a pipe, as in `tcpdump -U -w- tcp | whyslow watch -`"
                    );
                }
                Ok(Self::Pipe(Pipe::start()))
            }
            From::Files(patterns) => Ok(Self::Files(Box::new(Follow::new(patterns)?))),
            #[cfg(target_os = "linux")]
            From::Interfaces(names, filter) => {
                Ok(Self::Ring(Box::new(ring::WatchedRing::open(names, filter.as_ref(), snaplen, ring)?)))
            }
            #[cfg(not(target_os = "linux"))]
            From::Interfaces(..) => {
                let _ = (snaplen, ring);
                bail!(
                    "whyslow watch captures this machine's packets on Linux only: watch what another program captures, as in \
                     `tcpdump -U -w- tcp | whyslow watch -`, or a file that it writes"
                )
            }
        }
    }

    /// What packets are called.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Pipe(_) => "-",
            Self::Files(_) => "",
            #[cfg(target_os = "linux")]
            Self::Ring(_) => "this machine",
        }
    }

    /// Gives what there is to the feed; waits for a moment where there is nothing.
    ///
    /// # Errors
    /// When it cannot be read any more.
    pub(super) fn read(&mut self, intake: &mut Intake) -> anyhow::Result<Reads> {
        match self {
            Self::Pipe(pipe) => pipe.read(intake),
            Self::Files(files) => files.read(intake),
            #[cfg(target_os = "linux")]
            Self::Ring(ring) => ring.read(intake),
        }
    }

    /// Nothing more is read.
    ///
    /// # Errors
    /// If the input was not a capture.
    pub(super) fn finish(self, intake: &mut Intake) -> anyhow::Result<()> {
        match self {
            Self::Pipe(pipe) => pipe.finish(intake),
            Self::Files(files) => files.finish(intake),
            #[cfg(target_os = "linux")]
            Self::Ring(mut ring) => {
                ring.count(intake);
                Ok(())
            }
        }
    }
}
