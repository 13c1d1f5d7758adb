//! [`Block`]: the bytes that are read at once, from where they are read to where they are
//! explained.

use std::ops::Deref;

/// Bytes read at once: enough that system calls cost nothing, and that threads seldom meet where
/// none is read yet.
pub(crate) const BLOCK: usize = 512 << 10;

/// Room for bytes, of which some are filled. It is made once and filled many times: nothing is
/// cleared in between.
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
    /// An empty one, for so many bytes.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self { room: vec![0; bytes].into_boxed_slice(), filled: 0 }
    }

    /// Whether there is no room for more.
    pub(crate) fn is_full(&self) -> bool {
        self.filled == self.room.len()
    }

    /// All of its room is free again.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
    }

    /// The room that is left, at most so many bytes of it.
    pub(crate) fn free(&mut self, most: usize) -> &mut [u8] {
        let free = self.room.get_mut(self.filled..).unwrap_or_default();
        let most = most.min(free.len());
        free.get_mut(..most).unwrap_or_default()
    }

    /// So many bytes of the free room were filled.
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
