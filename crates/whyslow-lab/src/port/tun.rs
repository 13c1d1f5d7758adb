//! A port on a TAP device (`/dev/net/tun`): the host's device is the emulator's file.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;

use super::ring::VNET_HEADER;
use super::{Clock, Outgoing, Port, Received};

/// The emulator's side of a TAP device.
#[derive(Debug)]
pub(crate) struct TunPort {
    file: File,
    offload: bool,
    buffer: Vec<u8>,
}

impl TunPort {
    /// Makes the device `name` in the calling thread's network namespace.
    pub(crate) fn create(name: &str, offload: bool) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/net/tun")?;
        // SAFETY: ifreq is plain data for which all zeroes are valid.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
            *place = byte as libc::c_char;
        }
        let flags = libc::IFF_TAP | libc::IFF_NO_PI | if offload { libc::IFF_VNET_HDR } else { 0 };
        request.ifr_ifru.ifru_flags = flags as libc::c_short;
        // SAFETY: TUNSETIFF reads and writes an ifreq that lives through the call.
        Errno::result(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as libc::Ioctl, &raw mut request) })?;
        if offload {
            let offloads = libc::TUN_F_CSUM | libc::TUN_F_TSO4;
            // SAFETY: TUNSETOFFLOAD takes its argument by value.
            Errno::result(unsafe {
                libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD as libc::Ioctl, libc::c_ulong::from(offloads))
            })?;
        }
        Ok(Self { file, offload, buffer: vec![0; VNET_HEADER + 65_600] })
    }
}

impl Port for TunPort {
    fn readiness(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    fn receive(&mut self, clock: &Clock, limit: usize, each: &mut dyn FnMut(Received<'_>)) -> usize {
        for count in 0..limit {
            let Ok(length) = self.file.read(&mut self.buffer) else { return count };
            let frame = self.buffer.get(..length).unwrap_or_default();
            let (offload, bytes) = match frame.split_first_chunk::<VNET_HEADER>() {
                Some((header, bytes)) if self.offload => (Some(*header), bytes),
                _ => (None, frame),
            };
            each(Received { at_ns: clock.now(), offload, bytes });
        }
        limit
    }

    fn send(&mut self, frames: &[Outgoing]) -> u64 {
        let mut refused = 0;
        for frame in frames {
            let parts = [IoSlice::new(&frame.offload), IoSlice::new(&frame.bytes)];
            let parts = if self.offload { &parts[..] } else { &parts[1..] };
            refused += u64::from(self.file.write_vectored(parts).is_err());
        }
        refused
    }

    fn dropped(&mut self) -> u64 {
        // The device counts for itself: its transmit queue's drops are in net/dev.
        0
    }
}
