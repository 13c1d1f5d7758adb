//! Ports carry frames between a host's device and the emulator.
//!
//! A port timestamps frames and counts those that it could not carry. It does not look inside.

pub(crate) mod frame;
pub(crate) mod ring;
pub(crate) mod segment;
mod switch;
mod tun;
mod veth;

use std::os::fd::BorrowedFd;

pub(crate) use switch::Switch;
pub(crate) use tun::TunPort;
pub(crate) use veth::VethPort;

use ring::VNET_HEADER;

/// A frame on its way out.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    /// What is left to the device (`struct virtio_net_hdr`); zero is nothing. Only ports with
    /// offload carry it.
    pub(crate) offload: [u8; VNET_HEADER],
    /// The frame.
    pub(crate) bytes: Vec<u8>,
}

/// A frame that came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received<'a> {
    /// The kernel's timestamp (see [`Clock`]).
    pub(crate) at_ns: u64,
    /// The part left to the device; `None` if the port has no offload.
    pub(crate) offload: Option<[u8; VNET_HEADER]>,
    /// The frame.
    pub(crate) bytes: &'a [u8],
}

/// One side of a link.
pub(crate) trait Port: Send {
    /// Readable when a frame waits.
    fn readiness(&self) -> BorrowedFd<'_>;

    /// Shows at most `limit` waiting frames. Returns how many.
    fn receive(&mut self, clock: &Clock, limit: usize, each: &mut dyn FnMut(Received<'_>)) -> usize;

    /// Sends frames in order. Returns how many were refused.
    fn send(&mut self, frames: &[Outgoing]) -> u64;

    /// Frames lost on the way in since the last call.
    fn dropped(&mut self) -> u64;
}

/// The emulator's clock: nanoseconds of CLOCK_MONOTONIC since it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: Epoch,
    /// Monotonic minus real time, as of the last [`Clock::tune`].
    offset: i128,
}

/// The moment 0 of a run on two clocks of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Epoch {
    /// CLOCK_MONOTONIC.
    pub monotonic_ns: u64,
    /// CLOCK_REALTIME, as in the captures' timestamps.
    pub realtime_ns: u64,
}

impl Epoch {
    /// The present moment.
    pub fn now() -> Self {
        Self { monotonic_ns: read_clock(libc::CLOCK_MONOTONIC), realtime_ns: read_clock(libc::CLOCK_REALTIME) }
    }

    /// Nanoseconds since then.
    pub fn elapsed_ns(&self) -> u64 {
        read_clock(libc::CLOCK_MONOTONIC).saturating_sub(self.monotonic_ns)
    }
}

fn read_clock(clock: libc::clockid_t) -> u64 {
    let clock = nix::time::ClockId::from_raw(clock);
    // These clocks are always there.
    clock.now().map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

impl Clock {
    pub(crate) fn new(epoch: Epoch) -> Self {
        let mut clock = Self { epoch, offset: 0 };
        clock.tune();
        clock
    }

    /// Now.
    pub(crate) fn now(&self) -> u64 {
        self.epoch.elapsed_ns()
    }

    /// Follows the real-time clock, which may be stepped.
    pub(crate) fn tune(&mut self) {
        let Epoch { monotonic_ns, realtime_ns } = Epoch::now();
        self.offset = i128::from(monotonic_ns) - i128::from(realtime_ns);
    }

    /// A kernel timestamp on this clock. Never in the future, nor more than a second ago: that
    /// would be a stepped clock.
    pub(crate) fn at_realtime(&self, realtime_ns: u64) -> u64 {
        let now = self.now();
        let at = i128::from(realtime_ns) + self.offset - i128::from(self.epoch.monotonic_ns);
        match u64::try_from(at) {
            Ok(at) if at <= now && now - at < 1_000_000_000 => at,
            _ => now,
        }
    }
}

#[cfg(test)]
mod tests;
