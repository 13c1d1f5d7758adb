//! [`BlockBroadcast`]: the blocks of an input in order, and readers that each read all of them.
//!
//! There is no separate reading thread. The reader that has finished all blocks fetches the next
//! ones while the others still work. So a reader with fewer connections reads and decompresses
//! more, and no more threads are busy than there are readers. Several blocks are fetched at once;
//! otherwise readers that reach the end together would wait for each other after every block.
//!
//! Every reader sees the same blocks in the same order. At most [`LENGTH`] blocks are held. A
//! reader that leaves early ends the reading for all.

use crate::error::Error;
use crate::source::{Block, Filled};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Maximum number of blocks between the slowest reader and the newest block.
const LENGTH: usize = 16;
/// Blocks that one reader fetches in a row, if there are other readers.
const BURST: usize = 8;

/// Blocks that `F` fetches and all readers read.
pub(crate) struct BlockBroadcast<F> {
    readers: usize,
    state: Mutex<State<F>>,
    moved: Condvar,
}

struct State<F> {
    /// Fills a block; taken out by the reader that fetches.
    fetch: Option<F>,
    /// Blocks that some reader has not read yet, in order.
    queue: VecDeque<BroadcastBlock>,
    /// The number of the first of them among all blocks.
    first: u64,
    /// Blocks for reuse.
    spare: Vec<Block>,
    /// How it ended: whole, torn, or with an error.
    end: Option<Result<Option<String>, Error>>,
    /// A reader has left early.
    abandoned: bool,
    /// Threads that wait for a change.
    waiting: usize,
}

struct BroadcastBlock {
    block: Arc<Block>,
    /// Readers that have not finished it.
    left: usize,
}

impl<F: FnMut(&mut Block) -> Result<Filled, Error>> BlockBroadcast<F> {
    /// A broadcast for this many readers.
    pub(crate) fn new(readers: usize, fetch: F) -> Self {
        let state = State {
            fetch: Some(fetch),
            queue: VecDeque::new(),
            first: 0,
            spare: Vec::new(),
            end: None,
            abandoned: false,
            waiting: 0,
        };
        Self { readers, state: Mutex::new(state), moved: Condvar::new() }
    }

    /// Returns one of the readers; all that were announced must be taken.
    pub(crate) fn reader(&self) -> BlockReader<'_, F> {
        BlockReader { broadcast: self, next: 0, held: None, at_end: false }
    }

    /// Fetches blocks whenever there is room, until there are no more.
    pub(crate) fn fetch_all(&self) {
        // Leaves as a reader does, should it fail.
        let mut reader = self.reader();
        let mut state = self.lock();
        while !state.abandoned && state.end.is_none() {
            state = self.fetch_or_wait(state, LENGTH);
        }
        reader.at_end = true;
    }

    /// The result, after all readers have finished; `None` if one stopped early.
    pub(crate) fn end(self) -> Option<Result<Option<String>, Error>> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).end
    }

    /// A panic leaves no half-finished change under this lock.
    fn lock(&self) -> MutexGuard<'_, State<F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify(&self, state: &State<F>) {
        if state.waiting > 0 {
            self.moved.notify_all();
        }
    }

    /// Fetches several blocks if there is room and no other reader does; otherwise waits for a
    /// change.
    fn fetch_or_wait<'a>(&'a self, mut state: MutexGuard<'a, State<F>>, most: usize) -> MutexGuard<'a, State<F>> {
        let room = LENGTH.saturating_sub(state.queue.len());
        let Some(mut fetch) = state.fetch.take_if(|_| room > 0) else {
            state.waiting += 1;
            let mut state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
            return state;
        };
        for _ in 0..most.min(room) {
            let mut block = state.spare.pop().unwrap_or_default();
            drop(state);
            block.clear();
            let filled = fetch(&mut block);
            let full = block.is_full();
            state = self.lock();
            state.push(block, filled, self.readers);
            self.notify(&state);
            // A block that is not full was all that was available: the next may come late.
            if !full || state.end.is_some() || state.abandoned {
                break;
            }
        }
        state.fetch = Some(fetch);
        state
    }
}

impl<F> State<F> {
    fn push(&mut self, block: Block, filled: Result<Filled, Error>, readers: usize) {
        self.end = match filled {
            Ok(Filled::Bytes) => {
                self.queue.push_back(BroadcastBlock { block: Arc::new(block), left: readers });
                return;
            }
            Ok(Filled::End) => Some(Ok(None)),
            Ok(Filled::Torn(detail)) => Some(Ok(Some(detail))),
            Err(error) => Some(Err(error)),
        };
    }

    /// The block of this number, if it is there.
    fn at(&mut self, number: u64) -> Option<&mut BroadcastBlock> {
        usize::try_from(number.checked_sub(self.first)?).ok().and_then(|place| self.queue.get_mut(place))
    }

    /// Marks the block of this number as read by one more reader. All readers read blocks in order.
    fn done_with(&mut self, number: u64) {
        if let Some(block) = self.at(number) {
            block.left -= 1;
        }
        while let Some(done) = self.queue.pop_front_if(|block| block.left == 0) {
            self.first += 1;
            self.spare.extend(Arc::into_inner(done.block));
        }
    }
}

/// Reads all blocks of a [`BlockBroadcast`] in order.
pub(crate) struct BlockReader<'a, F: FnMut(&mut Block) -> Result<Filled, Error>> {
    broadcast: &'a BlockBroadcast<F>,
    /// The number of the next block.
    next: u64,
    held: Option<Arc<Block>>,
    at_end: bool,
}

impl<F: FnMut(&mut Block) -> Result<Filled, Error>> BlockReader<'_, F> {
    /// The next block, in exchange for the one before; none at the end, or if another reader has
    /// left early.
    pub(crate) fn next(&mut self) -> Option<&Block> {
        let broadcast = self.broadcast;
        let mut state = broadcast.lock();
        if self.held.take().is_some() {
            state.done_with(self.next - 1);
            broadcast.notify(&state);
        }
        let burst = if broadcast.readers > 1 { BURST } else { 1 };
        while !state.abandoned {
            if let Some(queued) = state.at(self.next) {
                self.next += 1;
                self.held = Some(Arc::clone(&queued.block));
                return self.held.as_deref();
            }
            if state.end.is_some() {
                self.at_end = true;
                break;
            }
            state = broadcast.fetch_or_wait(state, burst);
        }
        None
    }

    /// Whether it has read all blocks, without an error.
    pub(crate) fn has_read_all(&self) -> bool {
        self.at_end && matches!(self.broadcast.lock().end, Some(Ok(_)))
    }
}

impl<F: FnMut(&mut Block) -> Result<Filled, Error>> Drop for BlockReader<'_, F> {
    fn drop(&mut self) {
        if !self.at_end {
            let mut state = self.broadcast.lock();
            state.abandoned = true;
            self.broadcast.notify(&state);
        }
    }
}

#[cfg(test)]
mod tests;
