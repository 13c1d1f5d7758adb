//! [`Source`]: where packets come from.

mod follow;
mod pipe;
mod reads;

use super::args::From;
use super::batch::Drops;
use super::intake::Intake;
use anyhow::bail;
use follow::Follow;
use pipe::Pipe;
pub(super) use reads::Reads;
use reads::WAIT;
use std::io::{IsTerminal, stdin};
use std::time::Instant;
use whyslow_live::watch::{Ring, RingOptions};

/// Where packets come from.
pub(super) enum Source {
    Pipe(Pipe),
    Files(Follow),
    Ring(Box<WatchedRing>),
}

/// Packets of this machine.
pub(super) struct WatchedRing {
    ring: Ring,
    /// The kernel is asked no more often.
    asked: Instant,
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
            From::Files(patterns) => Ok(Self::Files(Follow::new(patterns)?)),
            From::Interfaces(interfaces, filter) => {
                let options = RingOptions {
                    interfaces: interfaces.clone(),
                    filter: filter.clone(),
                    snaplen: u32::try_from(snaplen).unwrap_or(u32::MAX),
                    size: usize::try_from(ring).unwrap_or(usize::MAX),
                    ..RingOptions::default()
                };
                let ring = Ring::open(&options)?;
                Ok(Self::Ring(Box::new(WatchedRing { ring, asked: Instant::now() })))
            }
        }
    }

    /// What packets are called.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Pipe(_) => "-",
            Self::Files(_) => "",
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
            Self::Ring(ring) => ring.read(intake),
        }
    }

    /// Nothing more is read.
    ///
    /// # Errors
    /// When what was read was no capture.
    pub(super) fn finish(self, intake: &mut Intake) -> anyhow::Result<()> {
        match self {
            Self::Pipe(pipe) => pipe.finish(intake),
            Self::Files(files) => files.finish(intake),
            Self::Ring(mut ring) => {
                ring.count(intake);
                Ok(())
            }
        }
    }
}

impl WatchedRing {
    fn read(&mut self, intake: &mut Intake) -> anyhow::Result<Reads> {
        if self.asked.elapsed() >= WAIT {
            self.asked = Instant::now();
            self.count(intake);
        }
        let Some(mut block) = self.ring.next_block(WAIT)? else { return Ok(Reads::Nothing) };
        block.packets().for_each(|packet| intake.ring_packet(&packet));
        // The time of waiting counts: it is the packets' own.
        Ok(Reads::Nothing)
    }

    fn count(&mut self, intake: &mut Intake) {
        let counts = self.ring.counts();
        intake.set_drops(Drops { ring: counts.ring_drops, interface: counts.interface_drops, cut: counts.cut });
    }
}
