//! [`Block`]: bytes that are read at once and explained where they lie.

use std::ops::Deref;

/// Bytes read at once: enough that system calls cost little, and that threads seldom wait for each
/// other.
pub(crate) const BLOCK: usize = 512 << 10;

/// A buffer, partly filled. It is allocated once and filled many times, without clearing.
#[derive(Debug)]
pub(crate) struct Block {
    room: Box<[u8]>,
    filled: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self::with_room(BLOCK)
    }
}

impl Block {
    /// An empty block of this size.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self { room: vec![0; bytes].into_boxed_slice(), filled: 0 }
    }

    /// Whether it is full.
    pub(crate) fn is_full(&self) -> bool {
        self.filled == self.room.len()
    }

    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
    }

    /// The free part, limited to this many bytes.
    pub(crate) fn free(&mut self, most: usize) -> &mut [u8] {
        let free = self.room.get_mut(self.filled..).unwrap_or_default();
        let most = most.min(free.len());
        free.get_mut(..most).unwrap_or_default()
    }

    /// Marks this many more bytes as filled.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.filled = self.room.len().min(self.filled + bytes);
    }
}

impl Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.room.get(..self.filled).unwrap_or_default()
    }
}
