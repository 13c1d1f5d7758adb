//! [`Ring`]: a packet socket whose packets the kernel writes into shared memory (TPACKET_V3).
//!
//! The socket is of no protocol until it is bound, so that nothing comes before the filter. One
//! interface with Ethernet's header shows packets as they are; several, all or one of another kind
//! are shown from the network layer on, with a header of `LINKTYPE_LINUX_SLL2`.

use super::block::{Block, Header};
use super::drops::InterfaceDrops;
use super::duplicates::Duplicates;
use super::filter::{self, CaptureTarget};
use super::interfaces;
use super::map::Map;
use crate::watch::counts::RingCounts;
use crate::watch::error::WatchError;
use crate::{bpf, sys};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Socket, Type};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};
use whyslow_tcpinfo::sys as options;

/// Bytes of a page; blocks are multiples of it.
const PAGE: usize = 64 << 10;
/// Maximum bytes of a block: what is retired at once.
const BLOCK: usize = 1 << 20;
/// The kernel's headers before a packet, and more.
const HEADERS: usize = 256;
/// The kernel's unit of counting; the ring's blocks hold packets of any length.
const FRAME: usize = 2048;
/// TPACKET_V3 of `enum tpacket_versions`.
const VERSION: i32 = 2;

/// How packets are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingOptions {
    /// Names of interfaces; empty for all.
    pub interfaces: Vec<String>,
    /// An expression of pcap-filter(7); without one TCP and ICMP errors are taken.
    pub filter: Option<String>,
    /// Maximum bytes that are kept of a packet.
    pub snaplen: u32,
    /// Bytes of the ring, which the kernel keeps in memory while it is open.
    pub size: usize,
    /// The longest that the kernel holds packets back before it hands them over: 1 ms to 1 s.
    pub hold: Duration,
    /// Whether packets for other machines are taken, where the network shows them.
    pub promiscuous: bool,
}

impl Default for RingOptions {
    fn default() -> Self {
        let (snaplen, size, hold) = (128, 64 << 20, Duration::from_millis(60));
        Self { interfaces: Vec::new(), filter: None, snaplen, size, hold, promiscuous: false }
    }
}

impl RingOptions {
    /// Bytes of a block and how many there are.
    fn blocks(&self) -> Result<(usize, usize), WatchError> {
        let wrong = |what, value, allowed| Err(WatchError::Option { what, value, allowed });
        if !(64..=262_144).contains(&self.snaplen) {
            let allowed = "64 to 262144 bytes, for the headers and no more than a packet".to_owned();
            return wrong("the snaplen", format!("{} bytes", self.snaplen), allowed);
        }
        if !(1..=1000).contains(&self.hold.as_millis()) {
            let allowed = "1 to 1000 ms".to_owned();
            return wrong("the longest time that packets are held back", format!("{:?}", self.hold), allowed);
        }
        // Blocks are small enough that one is read while others are filled, and hold any packet.
        let longest = (self.snaplen as usize + HEADERS).next_multiple_of(PAGE);
        let block = (self.size / 16).clamp(PAGE, BLOCK).max(longest) / PAGE * PAGE;
        let least = 2 * block;
        if self.size < least || self.size > u32::MAX as usize {
            let allowed = format!("{least} to {} bytes", u32::MAX);
            return wrong("the ring's size", format!("{} bytes", self.size), allowed);
        }
        Ok((block, self.size / block))
    }
}

/// A ring of packets.
#[derive(Debug)]
pub struct Ring {
    socket: Socket,
    map: Map,
    /// The block that the kernel fills next.
    next: usize,
    header: Header,
    /// The one interface that is watched, if it is one.
    only: Option<(u32, String)>,
    hold: Duration,
    duplicates: Option<Duplicates>,
    counts: RingCounts,
    drops: InterfaceDrops,
}

impl Ring {
    /// Begins to take packets.
    ///
    /// # Errors
    /// When this may not be done here, an option is wrong, or the filter is.
    pub fn open(options: &RingOptions) -> Result<Self, WatchError> {
        let (block_size, blocks) = options.blocks()?;
        let interfaces = interfaces::find(&options.interfaces)?;
        let only = if let [only] = &interfaces[..] { Some(only.clone()) } else { None };
        let is_ethernet = only.as_ref().is_some_and(|(_, name)| interfaces::has_ethernet_header(name));
        let watched = match &only {
            Some((_, name)) if is_ethernet => CaptureTarget::Ethernet(name),
            Some(_) => CaptureTarget::Cooked(&[]),
            None => CaptureTarget::Cooked(&interfaces),
        };
        // Before anything is opened: a wrong filter is the user's first error to fix.
        let program = filter::program(options.filter.as_deref(), watched, options.snaplen)?;

        let kind = if is_ethernet { Type::RAW } else { Type::DGRAM };
        let socket = Socket::new(Domain::PACKET, kind, None).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => WatchError::NotPermitted,
            _ => WatchError::system("a packet socket cannot be opened")(error),
        })?;
        bpf::attach(&socket, &program).map_err(|error| filter::refused(options.filter.as_deref(), error))?;
        let header = set_up(&socket, is_ethernet, options, [block_size, blocks])?;
        let map = Map::new(&socket, block_size, blocks).map_err(|error| no_room(error, options.size))?;
        if options.promiscuous {
            make_promiscuous(&socket, &interfaces)?;
        }
        let drops = InterfaceDrops::begin(&options.interfaces);
        let index = only.as_ref().map_or(0, |(index, _)| *index);
        sys::bind_to_interface(socket.as_fd(), index)
            .map_err(WatchError::system("the packet socket cannot be bound to the interface"))?;
        let (duplicates, counts) = (only.is_none().then(Duplicates::new), RingCounts::default());
        Ok(Self { socket, map, next: 0, header, only, hold: options.hold, duplicates, counts, drops })
    }

    /// LINKTYPE_ of the packets.
    #[must_use]
    pub fn link_type(&self) -> u16 {
        self.header.link_type()
    }

    /// The next packets; none if none came in this time, or a signal did. Blocks that are not
    /// asked for in time are overwritten by none: the kernel drops and counts instead.
    ///
    /// # Errors
    /// If the one watched interface was removed; its packets are handed out before.
    pub fn next_block(&mut self, timeout: Duration) -> Result<Option<Block<'_>>, WatchError> {
        if !self.map.is_ready(self.next) {
            self.wait(timeout)?;
        }
        let Self { map, next, header, counts, duplicates, .. } = self;
        let blocks = map.blocks();
        let Some(taken) = map.take(*next) else { return Ok(None) };
        *next = (*next + 1) % blocks;
        Ok(Some(Block { taken, header: *header, counts, duplicates: duplicates.as_mut() }))
    }

    fn wait(&self, timeout: Duration) -> Result<(), WatchError> {
        self.poll(timeout, || self.is_removed())?;
        if !self.map.is_ready(self.next) && self.is_removed() {
            // Packets that were announced are in a block that the kernel still holds.
            self.poll(2 * self.hold, || false)?;
            if let Some((_, name)) = self.only.as_ref().filter(|_| !self.map.is_ready(self.next)) {
                return Err(WatchError::Removed(name.clone()));
            }
        }
        Ok(())
    }

    /// Whether the one interface that is watched is gone.
    fn is_removed(&self) -> bool {
        self.only.as_ref().is_some_and(|(index, _)| interfaces::name(*index).is_none())
    }

    /// Waits for a block, or until waiting is in vain.
    fn poll(&self, timeout: Duration, is_vain: impl Fn() -> bool) -> Result<(), WatchError> {
        let deadline = Instant::now().checked_add(timeout);
        while !self.map.is_ready(self.next) && !is_vain() {
            let left = deadline.map_or(timeout, |deadline| deadline.saturating_duration_since(Instant::now()));
            let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            let mut wait = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
            match poll(&mut wait, left) {
                Ok(0) | Err(nix::errno::Errno::EINTR) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(WatchError::system("waiting for packets")(error)),
            }
            // Reading the error clears it. An interface that is down may come up again.
            match self.socket.take_error() {
                Ok(None) => {}
                Ok(Some(error)) | Err(error) if error.raw_os_error() == Some(libc::ENETDOWN) => {}
                Ok(Some(error)) | Err(error) => return Err(WatchError::system("taking packets")(error)),
            }
        }
        Ok(())
    }

    /// Packets captured and dropped up to now.
    pub fn counts(&mut self) -> RingCounts {
        // `tpacket_stats_v3`: packets, drops, how often the queue was frozen; reading clears them.
        let mut statistics = [0_u8; 12];
        let read = options::getsockopt(self.socket.as_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut statistics);
        if let Ok(12) = read {
            let figure = |at| statistics[at..].first_chunk().map_or(0, |figure| u32::from_ne_bytes(*figure).into());
            self.counts.ring_drops += figure(4);
            self.counts.ring_full += figure(8);
        }
        self.counts.interface_drops = self.drops.read();
        self.counts
    }
}

/// Sets all options of the socket that come before it is bound.
fn set_up(
    socket: &Socket,
    is_ethernet: bool,
    options: &RingOptions,
    [block_size, blocks]: [usize; 2],
) -> Result<Header, WatchError> {
    let failed = WatchError::system("the packet socket cannot be set up");
    let set = |name, value: i32| options::setsockopt(socket.as_fd(), libc::SOL_PACKET, name, &value.to_ne_bytes());
    // Times are taken when packets arrive, not when they are copied.
    setsockopt(socket, sockopt::ReceiveTimestampns, &true).map_err(|error| failed(error.into()))?;
    set(libc::PACKET_VERSION, VERSION).map_err(failed)?;
    // For merged packets it gives the segments' size; older kernels do not support it for rings.
    let vnet = is_ethernet && set(libc::PACKET_VNET_HDR, 1).is_ok();
    // `tpacket_req3`: blocks, frames, when a block is handed over, no private part, no features.
    let hold = options.hold.as_millis() as usize;
    let request = [block_size, blocks, FRAME, block_size / FRAME * blocks, hold, 0, 0];
    let request: Vec<u8> = request.iter().flat_map(|figure| (*figure as u32).to_ne_bytes()).collect();
    options::setsockopt(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_RX_RING, &request)
        .map_err(|error| no_room(error, options.size))?;
    Ok(if is_ethernet { Header::Ethernet { vnet } } else { Header::Cooked })
}

fn no_room(error: io::Error, size: usize) -> WatchError {
    match error.raw_os_error() {
        Some(libc::ENOMEM | libc::ENOBUFS | libc::EAGAIN) => WatchError::RingTooLarge { size },
        _ => WatchError::system("the ring cannot be set up")(error),
    }
}

/// `packet_mreq`: interface, what, length of an address, address.
fn make_promiscuous(socket: &Socket, interfaces: &[(u32, String)]) -> Result<(), WatchError> {
    let all = if interfaces.is_empty() { interfaces::all() } else { interfaces.to_vec() };
    for (index, _) in all {
        let mut request = [0; 16];
        request[..4].copy_from_slice(&index.to_ne_bytes());
        request[4..6].copy_from_slice(&(libc::PACKET_MR_PROMISC as u16).to_ne_bytes());
        options::setsockopt(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
            .map_err(WatchError::system("the interface cannot be made promiscuous"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_ring_beyond_memory_is_too_large() {
        let error = no_room(io::Error::from_raw_os_error(libc::ENOMEM), 1 << 30).to_string();
        assert_eq!(error, "the kernel has no memory for a ring of 1073741824 bytes: ask for a smaller one");
        let error = no_room(io::Error::from_raw_os_error(libc::EINVAL), 1 << 30).to_string();
        assert!(error.starts_with("the ring cannot be set up: Invalid argument"), "{error}");
    }

    #[test]
    fn blocks_hold_a_packet_and_fill_the_ring() {
        let blocks = |size, snaplen| RingOptions { size, snaplen, ..RingOptions::default() }.blocks().unwrap();
        assert_eq!(blocks(64 << 20, 128), (1 << 20, 64));
        assert_eq!(blocks(128 << 10, 128), (64 << 10, 2));
        assert_eq!(blocks(3 << 20, 128), (192 << 10, 16));
        // One block for a packet of 256 KiB with its headers.
        assert_eq!(blocks(1 << 20, 262_144), (320 << 10, 3));
    }
}
