//! A tap records what a host's device sends and receives, as a capture on that host would: outgoing
//! packets as the stack hands them over, incoming ones as it receives them, with the kernel's
//! timestamps.

use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use serde::Serialize;

use crate::net::config::Host;
use crate::pcap::Writer;
use crate::port::ring::{Ring, RingConfig};

/// The packets to capture.
#[derive(Clone, Debug)]
pub struct Tap {
    /// At which host.
    pub host: Host,
    /// On the proxy's side towards the server; else, as of all others, on that towards the client.
    pub is_far: bool,
    /// The file to write.
    pub file: PathBuf,
    /// Maximum bytes captured of a packet (128 holds all headers).
    pub snaplen: u32,
}

/// The result of a capture.
#[derive(Clone, Debug, Serialize)]
pub struct TapOutcome {
    /// At which host.
    pub host: Host,
    /// The file.
    pub file: PathBuf,
    /// Packets written.
    pub packets: u64,
    /// Packets that the kernel dropped because the ring was full: the capture has holes.
    pub dropped: u64,
}

/// An open tap.
pub(crate) struct OpenTap {
    config: Tap,
    ring: Ring,
    writer: Writer<BufWriter<File>>,
}

impl OpenTap {
    /// Opens the device of the calling thread's namespace and begins the file.
    pub(crate) fn open(config: Tap, device: &str, largest: usize) -> io::Result<Self> {
        let writer = Writer::new(BufWriter::with_capacity(1 << 18, File::create(&config.file)?), config.snaplen)?;
        let snaplen = (config.snaplen as usize).min(largest);
        // 16 MB, or 4,096 packets when they are large.
        let slots = ((16 << 20) / (snaplen + 128)).max(if snaplen > 4096 { 512 } else { 4096 });
        let ring = Ring::open(device, RingConfig { snaplen, slots, offload: false, incoming_only: false })?;
        Ok(Self { config, ring, writer })
    }

    /// Captures until `stop` is readable or closed, then drains the ring.
    pub(crate) fn run(mut self, stop: &OwnedFd) -> io::Result<TapOutcome> {
        let mut outcome = TapOutcome { host: self.config.host, file: self.config.file.clone(), packets: 0, dropped: 0 };
        let mut stopping = false;
        loop {
            let mut written = Ok(());
            let count = self.ring.read(256, |packet| {
                if written.is_ok() {
                    written = self.writer.packet(packet.realtime_ns, packet.bytes, packet.original);
                }
            });
            written?;
            outcome.packets += count as u64;
            if count > 0 {
                continue;
            }
            if stopping {
                outcome.dropped = self.ring.dropped()?;
                self.writer.finish()?;
                return Ok(outcome);
            }
            // However this process ends, the packets up to now are in the file.
            self.writer.flush()?;
            let mut fds =
                [PollFd::new(self.ring.as_fd(), PollFlags::POLLIN), PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
            // Let packets gather: their timestamps are the kernel's, so nothing is lost by coming
            // late, and waking up for each would take time from the hosts.
            let _ = ppoll(&mut fds, None, None);
            stopping = fds[1].any().unwrap_or(false);
            if !stopping {
                let _ = ppoll(&mut fds[1..], Some(TimeSpec::from_duration(Duration::from_millis(5))), None);
            }
        }
    }
}
