//! A packet socket with a receive ring shared with the kernel (TPACKET_V2, packet(7)).
//!
//! It needs no system call per packet and gives kernel timestamps. An ordinary user may choose the
//! ring's size, unlike a socket's receive buffer.

use std::ffi::c_void;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

/// Bytes of the virtio-net header in front of a frame when a socket carries offloads.
pub(crate) const VNET_HEADER: usize = 10;

/// A frame in the ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Captured<'a> {
    /// The captured part of the frame.
    pub(crate) bytes: &'a [u8],
    /// How long it is.
    pub(crate) original: u32,
    /// The kernel's timestamp, on the real-time clock.
    pub(crate) realtime_ns: u64,
    /// The pending offloads (`struct virtio_net_hdr`), if the ring was opened for them.
    pub(crate) offload: Option<[u8; VNET_HEADER]>,
}

/// The use of a ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingConfig {
    /// Maximum bytes captured of a frame.
    pub(crate) snaplen: usize,
    /// Maximum number of frames that wait for us.
    pub(crate) slots: usize,
    /// Enable offloads: super-packets are not cut and have a header with their segment size.
    pub(crate) offload: bool,
    /// Skip packets that this host sends, our own included.
    pub(crate) incoming_only: bool,
}

/// An open packet socket on one device.
#[derive(Debug)]
pub(crate) struct Ring {
    socket: OwnedFd,
    memory: NonNull<c_void>,
    size: usize,
    block_size: usize,
    slot_size: usize,
    slots_per_block: usize,
    slots: usize,
    next: usize,
    offload: bool,
}

// SAFETY: the mapping belongs to this value alone and is not tied to a thread.
unsafe impl Send for Ring {}

const BLOCK: usize = 1 << 20;
/// Room in a slot before the frame: tpacket2_hdr, sockaddr_ll, alignment, virtio-net header
/// (packet_mmap.rst).
const SLOT_HEADER: usize = 128;

impl Ring {
    /// Opens `device` of the calling thread's network namespace.
    pub(crate) fn open(device: &str, config: RingConfig) -> nix::Result<Self> {
        let protocol = (libc::ETH_P_ALL as u16).to_be();
        // Protocol 0 until the ring is there, so that nothing is received into the socket's own
        // queue. SAFETY: a plain system call; the result is checked and owned.
        let socket = unsafe { owned(libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0))? };
        set(&socket, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))?;
        if config.offload {
            set(&socket, libc::PACKET_VNET_HDR, &1_i32)?;
        }
        if config.incoming_only {
            set(&socket, libc::PACKET_IGNORE_OUTGOING, &1_i32)?;
        }
        let slot_size = (config.snaplen + SLOT_HEADER).next_multiple_of(16);
        let slots_per_block = (BLOCK / slot_size).max(1);
        let blocks = config.slots.div_ceil(slots_per_block).max(1);
        let slots = slots_per_block * blocks;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: slot_size as u32,
            tp_frame_nr: slots as u32,
        };
        set(&socket, libc::PACKET_RX_RING, &request)?;
        let size = BLOCK * blocks;
        let length = std::num::NonZeroUsize::new(size).ok_or(Errno::EINVAL)?;
        // SAFETY: a new mapping at an address of the kernel's choice, unmapped on drop.
        let memory = unsafe {
            mmap(None, length, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_SHARED, &socket, 0)?
        };
        let ring = Self {
            socket,
            memory,
            size,
            block_size: BLOCK,
            slot_size,
            slots_per_block,
            slots,
            next: 0,
            offload: config.offload,
        };
        bind(&ring.socket, device, protocol)?;
        Ok(ring)
    }

    /// Shows at most `limit` waiting frames, in order, and gives their slots back to the kernel.
    /// Returns how many.
    pub(crate) fn read(&mut self, limit: usize, mut each: impl FnMut(Captured<'_>)) -> usize {
        for count in 0..limit {
            let offset =
                self.next / self.slots_per_block * self.block_size + self.next % self.slots_per_block * self.slot_size;
            // SAFETY: the offset is inside the mapping, and a slot is longer than its header.
            // `tp_status` is the first field; the kernel hands the slot over by setting it, and
            // takes it back when it is cleared, hence atomic.
            let (status, header, slot) = unsafe {
                let base = self.memory.as_ptr().cast::<u8>().add(offset);
                let status = &*base.cast::<AtomicU32>();
                if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                    return count;
                }
                (status, *base.cast::<libc::tpacket2_hdr>(), std::slice::from_raw_parts(base, self.slot_size))
            };
            let start = usize::from(header.tp_mac);
            let length = header.tp_snaplen as usize;
            if let Some(bytes) = slot.get(start..start.saturating_add(length)) {
                let offload = start.checked_sub(VNET_HEADER).filter(|_| self.offload);
                each(Captured {
                    bytes,
                    original: header.tp_len,
                    realtime_ns: u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec),
                    offload: offload.and_then(|at| slot.get(at..start)?.try_into().ok()),
                });
            }
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % self.slots;
        }
        limit
    }

    /// Frames dropped since the last call because there was no slot.
    pub(crate) fn dropped(&mut self) -> nix::Result<u64> {
        let mut stats = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes to `stats`.
        Errno::result(unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut stats).cast(),
                &raw mut length,
            )
        })?;
        Ok(u64::from(stats.tp_drops))
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no borrow of it outlives `read`. Failing leaves it
        // mapped: harmless.
        let _ = unsafe { munmap(self.memory, self.size) };
    }
}

unsafe fn owned(fd: libc::c_int) -> nix::Result<OwnedFd> {
    use std::os::fd::FromRawFd;
    let fd = Errno::result(fd)?;
    // SAFETY: the caller just got it from the kernel and gives it away.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn set<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> nix::Result<()> {
    // SAFETY: the kernel reads size_of::<T>() bytes from a live reference to plain data.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    Errno::result(result).map(|_| ())
}

fn bind(socket: &OwnedFd, device: &str, protocol: u16) -> nix::Result<()> {
    // SAFETY: sockaddr_ll is plain data for which all zeroes are valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol;
    address.sll_ifindex = libc::c_int::try_from(if_nametoindex(device)?).map_err(|_| Errno::ENODEV)?;
    // SAFETY: the kernel reads the address, which lives through the call.
    let result = unsafe {
        libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size_of::<libc::sockaddr_ll>() as libc::socklen_t)
    };
    Errno::result(result).map(|_| ())
}
