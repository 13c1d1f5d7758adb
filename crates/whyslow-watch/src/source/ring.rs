//! [`WatchedRing`]: packets of this machine.

use super::reads::{Reads, WAIT};
use crate::batch::Drops;
use crate::intake::Intake;
use std::time::Instant;
use whyslow_live::watch::{Ring, RingOptions, WatchError};

/// Packets of this machine.
pub(crate) struct WatchedRing {
    ring: Ring,
    /// The kernel is asked no more often.
    asked: Instant,
}

impl WatchedRing {
    /// Takes `snaplen` bytes of each packet, into `size` bytes of memory.
    ///
    /// # Errors
    /// When there is no such interface, the filter is wrong, or this may not be done.
    pub(super) fn open(
        interfaces: &[String],
        filter: Option<&String>,
        snaplen: u64,
        size: u64,
    ) -> Result<Self, WatchError> {
        let options = RingOptions {
            interfaces: interfaces.to_vec(),
            filter: filter.cloned(),
            snaplen: u32::try_from(snaplen).unwrap_or(u32::MAX),
            size: usize::try_from(size).unwrap_or(usize::MAX),
            ..RingOptions::default()
        };
        Ok(Self { ring: Ring::open(&options)?, asked: Instant::now() })
    }

    pub(super) fn read(&mut self, intake: &mut Intake) -> anyhow::Result<Reads> {
        if self.asked.elapsed() >= WAIT {
            self.asked = Instant::now();
            self.count(intake);
        }
        let Some(mut block) = self.ring.next_block(WAIT)? else { return Ok(Reads::Nothing) };
        block.packets().for_each(|packet| intake.ring_packet(&packet));
        // The time of waiting counts: it is the packets' own.
        Ok(Reads::Nothing)
    }

    pub(super) fn count(&mut self, intake: &mut Intake) {
        let counts = self.ring.counts();
        intake.set_drops(Drops { ring: counts.ring_drops, interface: counts.interface_drops, cut: counts.cut });
    }
}
