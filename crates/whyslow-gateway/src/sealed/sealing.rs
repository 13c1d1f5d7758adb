//! [`Sealing`]: plaintext as it comes, a slice as it goes.
//!
//! Sealed bytes are sent while the rest still comes. The last chunk is made when the plaintext has
//! ended as it should. A fault before that leaves a slice that never opens, and a body that is too
//! short for its Content-Length.

use super::error::SealedError;
use super::types::Content;
use crate::format::{Object, Role, SliceTag, SliceWriter, Summer, Sums, WriteError};
use crate::keys::Keyring;
use crate::memory::{Memory, Permit};
use crate::pool::{BodyError, ByteStream, LetGo};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Plaintext that is sealed at once.
const STEP: usize = 128 << 10;
/// If a client sends nothing for this time, the bytes held for another attempt are released.
const PATIENCE: Duration = Duration::from_secs(1);
/// Fillers are made of these.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// The source of the memory for sealed bytes.
#[derive(Clone, Debug)]
pub(super) enum Taking {
    /// From the bound, as each step needs it. If none is free, the bytes held for another attempt
    /// are released.
    Each(Memory, LetGo),
    /// The reader of the stream has taken it.
    Taken,
}

/// The result of a slice whose stream was handed on.
#[derive(Clone, Debug, Default)]
pub(super) struct Sealed(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    time: Duration,
    tag: Option<SliceTag>,
    sums: Option<Sums>,
}

impl Sealed {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, took: Duration, tag: Option<SliceTag>) {
        let mut state = self.lock();
        state.time += took;
        state.tag = tag.or(state.tag);
    }

    /// Time in the cipher so far.
    pub(super) fn time(&self) -> Duration {
        self.lock().time
    }

    /// The slice's tag, once its last chunk is sealed.
    pub(super) fn tag(&self) -> Option<SliceTag> {
        self.lock().tag
    }

    /// CRCs of a part's plaintext, once all of it came.
    pub(super) fn sums(&self) -> Option<Sums> {
        self.lock().sums
    }
}

/// A slice that is to be sealed.
pub(super) struct Sealing {
    content: Content,
    summer: Option<Summer>,
    came: u64,
    /// None once it has ended.
    writer: Option<SliceWriter>,
    /// Plaintext that came and is not sealed.
    pending: Bytes,
    /// Bytes that are ready.
    ready: VecDeque<Bytes>,
    filler: u32,
    taking: Taking,
    sealed: Sealed,
    /// Held until the stream is dropped.
    _place: Option<Permit>,
}

impl Sealing {
    /// Begins a slice; `filler` zero bytes follow it. The place is kept until the stream is
    /// dropped.
    pub(super) fn begin(
        keyring: &Keyring,
        (object, role): (Object, Role),
        (content, filler): (Content, u32),
        taking: Taking,
        place: Option<Permit>,
    ) -> Result<(ByteStream, Sealed), SealedError> {
        let began = Instant::now();
        let mut header = Vec::new();
        let writer = SliceWriter::new(keyring, object, role, content.length, &mut header)?;
        let sealed = Sealed::default();
        sealed.note(began.elapsed(), None);
        let sealing = Self {
            content,
            // Only a part's CRCs are asked for later.
            summer: matches!(role, Role::Part(_)).then(Summer::default),
            came: 0,
            writer: Some(writer),
            pending: Bytes::new(),
            // The place has room for it.
            ready: VecDeque::from([Bytes::from(header)]),
            filler,
            taking,
            sealed: sealed.clone(),
            _place: place,
        };
        Ok((stream::try_unfold(sealing, Self::next).boxed(), sealed))
    }

    async fn next(mut self) -> Result<Option<(Bytes, Self)>, BodyError> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Ok(Some((ready, self)));
            }
            if self.writer.is_none() {
                return Ok(self.next_filler().map(|bytes| (bytes, self)));
            }
            if self.pending.is_empty() {
                match self.plaintext().await {
                    Some(bytes) => self.take(bytes?)?,
                    None => self.end().await?,
                }
                continue;
            }
            self.step().await?;
        }
    }

    fn next_filler(&mut self) -> Option<Bytes> {
        let zeros = Bytes::from_static(&ZEROS);
        let bytes = zeros.slice(..zeros.len().min(usize::try_from(self.filler).unwrap_or(usize::MAX)));
        self.filler -= u32::try_from(bytes.len()).unwrap_or(self.filler);
        (!bytes.is_empty()).then_some(bytes)
    }

    async fn plaintext(&mut self) -> Option<Result<Bytes, BodyError>> {
        let Taking::Each(_, let_go) = &self.taking else { return self.content.bytes.next().await };
        match tokio::time::timeout(PATIENCE, self.content.bytes.next()).await {
            Ok(item) => item,
            Err(_) => {
                let_go.set();
                self.content.bytes.next().await
            }
        }
    }

    fn take(&mut self, bytes: Bytes) -> Result<(), BodyError> {
        self.came = self.came.saturating_add(bytes.len() as u64);
        if self.came > self.content.length {
            return Err(BodyError::Length { announced: self.content.length, got: self.came });
        }
        if let Some(summer) = &mut self.summer {
            summer.update(&bytes);
        }
        self.pending = bytes;
        Ok(())
    }

    /// Seals the pending bytes, or the first of them.
    async fn step(&mut self) -> Result<(), BodyError> {
        let bytes = self.pending.split_to(self.pending.len().min(STEP));
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        let size = writer.output(bytes.len());
        let permit = self.permit(size).await;
        let began = Instant::now();
        let mut out = Vec::with_capacity(size);
        writer.write(&bytes, &mut out).map_err(|error| failed(&error))?;
        self.sealed.note(began.elapsed(), None);
        self.writer = Some(writer);
        self.push(out, permit);
        Ok(())
    }

    /// Seals the last chunk: all plaintext has come, and nothing was wrong with it.
    async fn end(&mut self) -> Result<(), BodyError> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let size = writer.last_output();
        if self.came < self.content.length {
            return Err(BodyError::Length { announced: self.content.length, got: self.came });
        }
        self.sealed.lock().sums = self.summer.as_ref().map(Summer::finish);
        let permit = self.permit(size).await;
        let began = Instant::now();
        let mut out = Vec::with_capacity(size);
        let tag = writer.finish(&mut out).map_err(|error| failed(&error))?;
        self.sealed.note(began.elapsed(), Some(tag));
        self.push(out, permit);
        Ok(())
    }

    async fn permit(&mut self, size: usize) -> Option<Permit> {
        let Taking::Each(memory, let_go) = &self.taking else { return None };
        match memory.try_acquire(size as u64) {
            Some(permit) => Some(permit),
            None => {
                let_go.set();
                Some(memory.acquire(size as u64).await)
            }
        }
    }

    fn push(&mut self, out: Vec<u8>, permit: Option<Permit>) {
        if !out.is_empty() {
            self.ready.push_back(match permit {
                Some(permit) => permit.hold(out),
                None => Bytes::from(out),
            });
        }
    }
}

fn failed(error: &WriteError) -> BodyError {
    BodyError::Source(error.to_string())
}
