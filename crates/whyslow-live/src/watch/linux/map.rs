//! The ring's memory, which the kernel and this process share (packet_mmap.rst in the kernel's
//! documentation).
//!
//! A block belongs to either the kernel or this program; both touch only the word that names the
//! owner. [`Map::take`] gives a block out while it is ours, and hands it back when it is dropped.

#![allow(unsafe_code)]

use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// The offset of a block's status (`tpacket_block_desc`).
const STATUS: usize = 8;

/// The ring of a packet socket in this process' memory.
#[derive(Debug)]
pub(super) struct Map {
    start: NonNull<c_void>,
    block_size: usize,
    blocks: usize,
}

// SAFETY: the memory belongs to no thread, and `&mut self` is needed to touch a block.
unsafe impl Send for Map {}

impl Map {
    /// Maps the ring that was set up on this socket: `blocks` blocks of `block_size` bytes, which
    /// is a multiple of a page.
    pub(super) fn new(socket: impl AsFd, block_size: usize, blocks: usize) -> io::Result<Self> {
        let length = block_size.checked_mul(blocks).and_then(NonZeroUsize::new);
        let length = length.ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: no address is requested, so no other mapping is replaced; readers use the memory
        // through the lifetimes below.
        let start = unsafe {
            mmap(None, length, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_SHARED, socket, 0)
        }?;
        Ok(Self { start, block_size, blocks })
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    fn block(&self, index: usize) -> *mut u8 {
        assert!(index < self.blocks, "the ring has {} blocks, not {index}", self.blocks);
        // SAFETY: the index is one of the blocks', so the result lies within the mapping.
        unsafe { self.start.as_ptr().cast::<u8>().add(index * self.block_size) }
    }

    fn status(&self, index: usize) -> &AtomicU32 {
        // SAFETY: it lies within the block, which starts at a page, so it is aligned; the memory
        // lives as long as `self`, and both sides touch this word atomically.
        unsafe { AtomicU32::from_ptr(self.block(index).add(STATUS).cast()) }
    }

    /// Whether the block is ours.
    pub(super) fn is_ready(&self, index: usize) -> bool {
        self.status(index).load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// Returns the block if the kernel has released it.
    pub(super) fn take(&mut self, index: usize) -> Option<Taken<'_>> {
        self.is_ready(index).then_some(Taken { map: self, index })
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's alone, and nothing borrows it any more.
        let _ = unsafe { munmap(self.start, self.block_size * self.blocks) };
    }
}

/// A block that is ours until this is dropped.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    map: &'a mut Map,
    index: usize,
}

impl Taken<'_> {
    /// All of the block.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the block lies within the mapping; the kernel does not touch it before it gets
        // it back, and the exclusive borrow of the map keeps any other of our references away.
        unsafe { std::slice::from_raw_parts_mut(self.map.block(self.index), self.map.block_size) }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.map.status(self.index).store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }
}
