//! [`RemoteObject`]: an object as whyslow-io reads it.

use crate::fetch;
use crate::place::{Facts, Place, Version};
use crate::runner::Runner;
use bytes::{Buf, Bytes};
use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use whyslow_io::Object;

/// Pieces that wait to be read, of at most some 400 KiB each.
const READ_AHEAD: usize = 8;
/// After this time without bytes `read` returns, so that a stop request is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// An object and its known properties.
#[derive(Debug)]
pub(crate) struct RemoteObject {
    name: String,
    location: String,
    place: Arc<dyn Place>,
    runner: Arc<Runner>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    size: Option<u64>,
    /// The version of the first answer: all others must agree.
    version: Option<Version>,
}

impl RemoteObject {
    /// Its size, if a list has it.
    pub(crate) fn new(
        name: String,
        location: String,
        size: Option<u64>,
        place: Arc<dyn Place>,
        runner: Arc<Runner>,
    ) -> Self {
        Self { name, location, place, runner, known: Mutex::new(Known { size, version: None }) }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learn(&self, facts: &Facts) {
        let mut known = self.known();
        known.size = facts.size;
        known.version.get_or_insert_with(|| facts.version.clone());
    }

    fn look(&self) -> io::Result<Facts> {
        self.runner.check()?;
        let version = self.known().version.clone();
        let facts = self.runner.block_on(self.place.look(version.as_ref()))?;
        self.learn(&facts);
        Ok(facts)
    }
}

impl Object for RemoteObject {
    fn name(&self) -> &str {
        &self.name
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn size(&self) -> Option<u64> {
        let known = self.known().size;
        known.or_else(|| self.look().ok()?.size)
    }

    fn check(&self) -> io::Result<()> {
        self.look().map(drop)
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        self.runner.check()?;
        let version = self.known().version.clone();
        let opened = self.runner.block_on(fetch::open(&*self.place, version.as_ref()))?;
        self.learn(&opened.0);
        let (sender, pieces) = channel(READ_AHEAD);
        let task = self.runner.spawn(fetch::pump(Arc::clone(&self.place), opened, sender));
        Ok(Box::new(PieceReader { pieces, piece: Bytes::new(), task, runner: Arc::clone(&self.runner) }))
    }
}

/// Reads pieces as they come. Fails with [`ErrorKind::WouldBlock`] if none come for a while, so
/// that the reader can check whether to go on.
struct PieceReader {
    pieces: Receiver<io::Result<Bytes>>,
    /// The rest of the last piece.
    piece: Bytes,
    task: AbortHandle,
    runner: Arc<Runner>,
}

impl Read for PieceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            let next = async { timeout(PATIENCE, self.pieces.recv()).await };
            match self.runner.block_on(next) {
                Ok(Some(piece)) => self.piece = piece?,
                Ok(None) => return Ok(0),
                Err(_) => return Err(ErrorKind::WouldBlock.into()),
            }
        }
        let read = buffer.len().min(self.piece.len());
        self.piece.copy_to_slice(buffer.get_mut(..read).unwrap_or_default());
        Ok(read)
    }
}

impl Drop for PieceReader {
    fn drop(&mut self) {
        self.task.abort();
    }
}
