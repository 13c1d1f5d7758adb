//! A port on one end of a veth pair: a packet socket that reads what the host sends and writes what
//! should arrive.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::errno::Errno;

use super::ring::{Ring, RingConfig, VNET_HEADER};
use super::{Clock, Outgoing, Port, Received};

/// A packet socket on the emulator's end of a veth pair.
#[derive(Debug)]
pub(crate) struct VethPort {
    ring: Ring,
    offload: bool,
}

/// Frames for one system call.
const BATCH: usize = 32;

impl VethPort {
    /// Opens `device` of the calling thread's network namespace. With `offload` frames may be
    /// super-packets.
    pub(crate) fn open(device: &str, mtu: u32, offload: bool) -> nix::Result<Self> {
        let (snaplen, slots) = if offload { (65_600, 512) } else { (mtu as usize + super::frame::ETHERNET, 8192) };
        let ring = Ring::open(device, RingConfig { snaplen, slots, offload, incoming_only: true })?;
        Ok(Self { ring, offload })
    }
}

impl Port for VethPort {
    fn readiness(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }

    fn receive(&mut self, clock: &Clock, limit: usize, each: &mut dyn FnMut(Received<'_>)) -> usize {
        self.ring.read(limit, |captured| {
            each(Received {
                at_ns: clock.at_realtime(captured.realtime_ns),
                offload: captured.offload,
                bytes: captured.bytes,
            });
        })
    }

    fn send(&mut self, frames: &[Outgoing]) -> u64 {
        frames.chunks(BATCH).map(|chunk| send_batch(self.ring.as_fd(), chunk, self.offload)).sum()
    }

    fn dropped(&mut self) -> u64 {
        // A failing count must not look like a good run.
        self.ring.dropped().unwrap_or(1)
    }
}

/// Sends up to [`BATCH`] frames. A frame that the kernel refuses is counted and skipped.
fn send_batch(socket: BorrowedFd<'_>, frames: &[Outgoing], offload: bool) -> u64 {
    // SAFETY: both are plain data for which all zeroes are valid.
    let mut parts: [[libc::iovec; 2]; BATCH] = unsafe { std::mem::zeroed() };
    let mut messages: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
    for ((frame, part), message) in frames.iter().zip(&mut parts).zip(&mut messages) {
        part[0] = libc::iovec { iov_base: frame.offload.as_ptr().cast_mut().cast(), iov_len: VNET_HEADER };
        part[1] = libc::iovec { iov_base: frame.bytes.as_ptr().cast_mut().cast(), iov_len: frame.bytes.len() };
        let used = if offload { &mut part[..] } else { &mut part[1..] };
        message.msg_hdr.msg_iov = used.as_mut_ptr();
        // C libraries differ in its type.
        message.msg_hdr.msg_iovlen = used.len() as _;
    }
    let count = frames.len().min(BATCH);
    let (mut sent, mut refused, mut retries) = (0, 0, 0);
    while sent < count {
        // SAFETY: the messages from `sent` to `count` point to parts and frames that live through
        // the call, which only reads through these pointers.
        let result = Errno::result(unsafe {
            libc::sendmmsg(socket.as_raw_fd(), messages.as_mut_ptr().add(sent), (count - sent) as u32, 0)
        });
        match result {
            Ok(some) => sent += some as usize,
            Err(Errno::EINTR) => {}
            Err(Errno::ENOBUFS | Errno::EAGAIN) if retries < 100 => {
                retries += 1;
                std::thread::yield_now();
            }
            Err(_) => {
                refused += 1;
                sent += 1;
            }
        }
    }
    refused
}
