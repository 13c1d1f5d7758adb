//! [`Memory`]: one bound for the bytes that all requests hold together.
//!
//! ```text
//!   a quarter: places      one for each request under way, for what it cannot do without: a chunk
//!                          that is being filled, one that is being sealed or opened
//!   the rest: buffers      bytes on their way, counted from their making until they are dropped
//! ```
//!
//! Both are given out in turn. A request waits for a place while it holds nothing. A request that
//! waits for buffers holds at most a place and bytes that leave without more memory, so one of them
//! can always go on. Memory for later use alone ([`Memory::try_acquire`]) never makes requests wait
//! for each other.

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory of a request besides its buffers: a chunk of 64 KiB that is incomplete, another one of
/// plaintext and one of ciphertext while one is made from the other, and the bytes around them.
pub const PLACE: u64 = 256 << 10;
/// The smallest bound: room for some requests, and buffers of 1 MiB.
pub const LEAST: u64 = 8 << 20;
/// A place is taken from this part of the bound.
const PLACES_SHARE: u64 = 4;

/// One bound for the plaintext and ciphertext that all requests hold together. Clones are the same
/// bound.
#[derive(Clone, Debug)]
pub struct Memory {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    limit: u64,
    capacity: u64,
    places: Arc<Semaphore>,
    buffers: Arc<Semaphore>,
    in_use: AtomicU64,
    peak: AtomicU64,
}

/// Bytes that may be held until it is dropped.
#[derive(Debug)]
pub struct Permit {
    shared: Arc<Shared>,
    bytes: u64,
    /// Returns to its semaphore when it is dropped.
    permit: Option<OwnedSemaphorePermit>,
}

impl Memory {
    /// A bound of `bytes` bytes, at least [`LEAST`].
    pub fn new(bytes: u64) -> Self {
        let limit = bytes.clamp(LEAST, Semaphore::MAX_PERMITS as u64);
        let places = limit / PLACES_SHARE / PLACE;
        let capacity = limit - places * PLACE;
        let semaphore = |permits: u64| Arc::new(Semaphore::new(usize::try_from(permits).unwrap_or(usize::MAX >> 3)));
        let (in_use, peak) = (AtomicU64::new(0), AtomicU64::new(0));
        let shared = Shared { limit, capacity, places: semaphore(places), buffers: semaphore(capacity), in_use, peak };
        Self { shared: Arc::new(shared) }
    }

    /// Waits in turn for a place that a request keeps until it ends. The request must hold nothing.
    pub async fn place(&self) -> Permit {
        self.take(&self.shared.places, 1, PLACE).await
    }

    /// The same for two places: one to read and one to write.
    pub async fn two_places(&self) -> (Permit, Permit) {
        let mut both = self.take(&self.shared.places, 2, 2 * PLACE).await;
        let one = both.permit.as_mut().and_then(|permit| permit.split(1));
        both.bytes = PLACE;
        (Permit { shared: Arc::clone(&self.shared), bytes: PLACE, permit: one }, both)
    }

    /// Waits in turn for `bytes` bytes of buffers; a step that is larger than all of them takes
    /// all.
    pub async fn acquire(&self, bytes: u64) -> Permit {
        let bytes = self.cut(bytes);
        self.take(&self.shared.buffers, bytes, bytes.into()).await
    }

    /// `bytes` bytes of buffers, if they are free and no request waits for some.
    pub fn try_acquire(&self, bytes: u64) -> Option<Permit> {
        let bytes = self.cut(bytes);
        let permit = Arc::clone(&self.shared.buffers).try_acquire_many_owned(bytes).ok()?;
        Some(self.permit(permit, bytes.into()))
    }

    /// Bytes in all.
    pub fn limit(&self) -> u64 {
        self.shared.limit
    }

    /// Bytes of buffers in all.
    pub fn capacity(&self) -> u64 {
        self.shared.capacity
    }

    /// Bytes that are held now.
    pub fn in_use(&self) -> u64 {
        self.shared.in_use.load(Ordering::Relaxed)
    }

    /// Maximum number of bytes that were held at once.
    pub fn peak(&self) -> u64 {
        self.shared.peak.load(Ordering::Relaxed)
    }

    fn cut(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.min(self.shared.capacity)).unwrap_or(u32::MAX)
    }

    async fn take(&self, from: &Arc<Semaphore>, permits: u32, bytes: u64) -> Permit {
        loop {
            // Neither semaphore is ever closed.
            if let Ok(permit) = Arc::clone(from).acquire_many_owned(permits).await {
                return self.permit(permit, bytes);
            }
        }
    }

    fn permit(&self, permit: OwnedSemaphorePermit, bytes: u64) -> Permit {
        let in_use = self.shared.in_use.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.shared.peak.fetch_max(in_use, Ordering::Relaxed);
        Permit { shared: Arc::clone(&self.shared), bytes, permit: Some(permit) }
    }
}

impl Permit {
    /// Number of bytes that the permit covers.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Gives back all buffers above `bytes` bytes.
    pub fn shrink(&mut self, bytes: u64) {
        drop(self.split(self.bytes.saturating_sub(bytes)));
    }

    /// Takes `bytes` bytes of buffers from this permit, or all that it has.
    #[must_use]
    pub fn split(&mut self, bytes: u64) -> Self {
        let bytes = bytes.min(self.bytes);
        let count = usize::try_from(bytes).unwrap_or(usize::MAX);
        let permit = self.permit.as_mut().and_then(|permit| permit.split(count.min(permit.num_permits())));
        self.bytes -= bytes;
        Self { shared: Arc::clone(&self.shared), bytes, permit }
    }

    /// Adds the buffers of another permit.
    pub fn merge(&mut self, mut other: Self) {
        if let (Some(mine), Some(theirs)) = (self.permit.as_mut(), other.permit.take()) {
            mine.merge(theirs);
            self.bytes += std::mem::take(&mut other.bytes);
        }
    }

    /// Bytes that hold the permit until their last clone is dropped; the rest of it is given back.
    pub fn hold(mut self, bytes: Vec<u8>) -> Bytes {
        self.shrink(bytes.capacity() as u64);
        Bytes::from_owner(Held { bytes, _permit: self })
    }

    /// The same for existing bytes.
    pub fn hold_slice(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(Held { bytes, _permit: self })
    }
}

impl Drop for Permit {
    /// Subtracted before another request can take it, so that the sum is never too large.
    fn drop(&mut self) {
        self.shared.in_use.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

struct Held<B> {
    bytes: B,
    _permit: Permit,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Held<B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

#[cfg(test)]
mod tests;
