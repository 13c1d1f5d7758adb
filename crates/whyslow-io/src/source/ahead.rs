//! [`Ahead`]: a reader with a thread of its own, which is a few blocks ahead of whoever takes them.
//!
//! Decompression then runs beside the analysis, and a pipe is emptied while the analysis is busy. Memory is bounded: the
//! thread waits when nobody takes its blocks, and ends when nobody will.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// Bytes handed over at once.
const BLOCK: usize = 256 << 10;
/// Blocks that wait to be taken.
const WAITING: usize = 4;
/// After so long without bytes the taker is told that there are none yet.
const PATIENCE: Duration = Duration::from_millis(100);

/// Takes what the thread has read. Reading fails with [`ErrorKind::WouldBlock`] while there is nothing yet.
pub(crate) struct Ahead {
    blocks: Receiver<io::Result<Vec<u8>>>,
    /// Where blocks go that were taken, to be filled again.
    spare: SyncSender<Vec<u8>>,
    block: Vec<u8>,
    taken: usize,
    ended: bool,
}

/// How a reader is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pieces {
    /// What one call gives is handed over at once: more may be long in coming.
    Coming,
    /// So many bytes a call, and a block is filled before it is handed over.
    Of(usize),
}

impl Ahead {
    /// # Errors
    /// When there can be no more threads.
    pub(crate) fn of(reader: impl Read + Send + 'static, pieces: Pieces) -> io::Result<Self> {
        let (sender, blocks) = sync_channel(WAITING);
        let (spare, emptied) = sync_channel(WAITING + 2);
        thread::Builder::new().name("reading".to_owned()).spawn(move || read_all(reader, pieces, &sender, &emptied))?;
        Ok(Self { blocks, spare, block: Vec::new(), taken: 0, ended: false })
    }
}

impl Read for Ahead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.block.len() {
            if self.ended || buffer.is_empty() {
                return Ok(0);
            }
            let next = match self.blocks.recv_timeout(PATIENCE) {
                Ok(next) => next,
                Err(RecvTimeoutError::Timeout) => return Err(ErrorKind::WouldBlock.into()),
                // It says when it ends: this is no end.
                Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the thread that reads it has failed")),
            };
            self.taken = 0;
            let emptied = std::mem::take(&mut self.block);
            self.ended = next.as_ref().map_or(true, Vec::is_empty);
            self.block = next?;
            // There is room for all blocks that there are; and if not, another one is made.
            let _ = self.spare.try_send(emptied);
        }
        let read = self.block.get(self.taken..).unwrap_or_default().read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

/// Sends what is read, and at last an empty block or an error.
fn read_all(
    mut reader: impl Read,
    pieces: Pieces,
    blocks: &SyncSender<io::Result<Vec<u8>>>,
    emptied: &Receiver<Vec<u8>>,
) {
    loop {
        let mut block = emptied.try_recv().unwrap_or_default();
        block.resize(BLOCK, 0);
        let (filled, end) = fill(&mut reader, &mut block, pieces);
        block.truncate(filled);
        let at_end = matches!(end, Some(Ok(())));
        if (filled > 0 || at_end) && blocks.send(Ok(block)).is_err() {
            return;
        }
        match end {
            Some(Ok(())) if filled > 0 => {
                let _ = blocks.send(Ok(Vec::new()));
                return;
            }
            Some(Ok(())) => return,
            Some(Err(error)) => {
                let _ = blocks.send(Err(error));
                return;
            }
            None => {}
        }
    }
}

/// Fills a block. Returns how far, and how the reader ended if it did.
fn fill(reader: &mut impl Read, block: &mut [u8], pieces: Pieces) -> (usize, Option<io::Result<()>>) {
    let mut filled = 0;
    while let Some(room @ [_, ..]) = block.get_mut(filled..) {
        let room = match pieces {
            Pieces::Coming => room,
            Pieces::Of(size) => room.split_at_mut(room.len().min(size)).0,
        };
        match reader.read(room) {
            Ok(0) => return (filled, Some(Ok(()))),
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return (filled, Some(Err(error))),
        }
        if pieces == Pieces::Coming {
            break;
        }
    }
    (filled, None)
}

#[cfg(test)]
mod tests;
