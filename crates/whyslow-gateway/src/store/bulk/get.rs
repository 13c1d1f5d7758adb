//! Large objects are read by several requests at once, and handed out in order.

use super::memory::{Bulk, stopped};
use super::plan::Plan;
use crate::memory::{Memory, Permit};
use crate::pool::{BodyError, ByteStream};
use crate::store::{Conditions, Download, EntityTag, ErrorKind, ObjectName, Range, ReadOptions, Store, StoreError};
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, stream};
use std::collections::VecDeque;
use std::ops;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Bytes of a store with the memory that they take.
pub type HeldStream = BoxStream<'static, Result<(Bytes, Permit), BodyError>>;

/// A version of an object that is read.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where.
    pub store: Arc<dyn Store>,
    /// Its name.
    pub object: ObjectName,
    /// Its tag: no other version's bytes are handed out.
    pub tag: EntityTag,
    /// How.
    pub options: ReadOptions,
}

/// Reads an object, or a range of it, by several requests at once. The bytes come in order, all of
/// one version of the object.
///
/// # Errors
/// Errors of the store. Later ones end the stream.
pub async fn get_in_parts(
    store: &Arc<dyn Store>,
    object: &ObjectName,
    range: Option<Range>,
    bulk: &Bulk,
    conditions: &Conditions,
) -> Result<Download, StoreError> {
    let options = ReadOptions::default();
    bulk.must_fit()?;
    let info = store.head(object, conditions).await?;
    let outside = || StoreError::new(ErrorKind::Range, format!("the object has {} bytes", info.size));
    let (first, end) = match range {
        Some(range) => range.of(info.size).ok_or_else(outside)?,
        None => (0, info.size),
    };
    let source = Source { store: Arc::clone(store), object: object.clone(), tag: info.tag.clone(), options };
    let all = first..end;
    let held = read_spans(source, std::slice::from_ref(&all), Some(bulk.plan), &bulk.memory);
    let body = held.map(|item| item.map(|(bytes, permit)| permit.hold_slice(bytes))).boxed();
    Ok(Download { info, range: (first, end), body })
}

/// Reads spans of an object, in their order. With a plan they are cut, and several pieces are asked
/// for at once, the first ones now; without one each is a request of its own, made in its turn.
/// Reading ahead takes only memory that no request waits for.
pub fn read_spans(source: Source, spans: &[ops::Range<u64>], plan: Option<Plan>, memory: &Memory) -> HeldStream {
    let spans: Vec<_> = spans.iter().filter(|span| !span.is_empty()).cloned().collect();
    let Some(plan) = plan else {
        let memory = memory.clone();
        let each = move |span| one_by_one(source.clone(), span, memory.clone());
        return stream::iter(spans).map(each).flatten().boxed();
    };
    let cut = |span: ops::Range<u64>| {
        plan.parts(span.end - span.start).map(move |(from, to)| span.start + from..span.start + to)
    };
    let mut reading = Reading {
        source,
        waiting: spans.into_iter().flat_map(cut).collect(),
        open: VecDeque::new(),
        // A connection that waits for its next piece carries nothing.
        parallel: plan.parallel + plan.waiting,
        memory: memory.clone(),
    };
    reading.read_ahead();
    stream::try_unfold(reading, Reading::next).boxed()
}

/// A span as it comes.
fn one_by_one(source: Source, span: ops::Range<u64>, memory: Memory) -> HeldStream {
    let opened = async move { source.open(span).await.map_err(|error| BodyError::Source(error.to_string())) };
    let held = move |chunk: Result<Bytes, BodyError>| {
        let memory = memory.clone();
        async move {
            let chunk = chunk?;
            let permit = memory.acquire(chunk.len() as u64).await;
            Ok((chunk, permit))
        }
    };
    let chunks = stream::once(opened).flat_map(|body| match body {
        Ok(body) => body,
        Err(error) => stream::iter([Err(error)]).boxed(),
    });
    chunks.then(held).boxed()
}

impl Source {
    /// The bytes of a span: exactly these, or an error.
    async fn open(&self, span: ops::Range<u64>) -> Result<ByteStream, StoreError> {
        let range = Range::FromTo(span.start, span.end.saturating_sub(1));
        let conditions = Conditions { if_match: Some(self.tag.clone()), ..Conditions::default() };
        let download = self.store.get_with(&self.object, Some(range), &conditions, &self.options).await?;
        let wrong = |why: &str| Err(StoreError::new(ErrorKind::Answer, why));
        if download.range != (span.start, span.end) {
            return wrong("bytes were asked for, and others came");
        }
        if download.info.tag != self.tag {
            return wrong("one version of the object was asked for, and another came");
        }
        Ok(download.body)
    }
}

/// Pieces that are read.
struct Reading {
    source: Source,
    waiting: VecDeque<ops::Range<u64>>,
    /// Asked for, in order.
    open: VecDeque<Piece>,
    parallel: usize,
    memory: Memory,
}

impl Reading {
    /// Asks for more pieces while there is memory that no request waits for.
    fn read_ahead(&mut self) {
        // A slow answer does not delay the others: whole ones wait for it, up to a bound.
        let mut under_way = self.open.iter().filter(|piece| !piece.task.is_finished()).count();
        while under_way < self.parallel
            && self.open.len() < 2 * self.parallel
            && let Some(span) = self.waiting.front().cloned()
            && let Some(permit) = self.memory.try_acquire(span.end - span.start)
        {
            self.waiting.pop_front();
            self.open.push_back(Piece::start(&self.source, span, permit));
            under_way += 1;
        }
    }

    async fn next(mut self) -> Result<Option<((Bytes, Permit), Self)>, BodyError> {
        loop {
            self.read_ahead();
            let Some(piece) = self.open.front_mut() else {
                // Nothing is held here while it waits.
                let Some(span) = self.waiting.pop_front() else { return Ok(None) };
                let permit = self.memory.acquire(span.end - span.start).await;
                self.open.push_back(Piece::start(&self.source, span, permit));
                continue;
            };
            match piece.next().await? {
                Some(item) => return Ok(Some((item, self))),
                None => drop(self.open.pop_front()),
            }
        }
    }
}

/// A piece that is on its way. Its memory was taken before it was asked for.
struct Piece {
    chunks: mpsc::UnboundedReceiver<Result<Bytes, BodyError>>,
    permit: Permit,
    size: u64,
    came: u64,
    task: JoinHandle<()>,
}

impl Piece {
    fn start(source: &Source, span: ops::Range<u64>, permit: Permit) -> Self {
        let (chunks_in, chunks) = mpsc::unbounded_channel();
        let (source, size) = (source.clone(), span.end - span.start);
        // On a task of its own it goes on while an earlier piece is read.
        let task = tokio::spawn(async move {
            if let Err(error) = fetch(&source, span, &chunks_in).await {
                let _ = chunks_in.send(Err(BodyError::Source(error.to_string())));
            }
        });
        Self { chunks, permit, size, came: 0, task }
    }

    async fn next(&mut self) -> Result<Option<(Bytes, Permit)>, BodyError> {
        let Some(chunk) = self.chunks.recv().await else {
            let is_whole = self.came == self.size;
            return if is_whole { Ok(None) } else { Err(BodyError::Length { announced: self.size, got: self.came }) };
        };
        let chunk = chunk?;
        self.came += chunk.len() as u64;
        let permit = self.permit.split(chunk.len() as u64);
        Ok(Some((chunk, permit)))
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn fetch(
    source: &Source,
    span: ops::Range<u64>,
    chunks: &mpsc::UnboundedSender<Result<Bytes, BodyError>>,
) -> Result<(), StoreError> {
    let mut body = source.open(span.clone()).await?;
    let mut left = span.end - span.start;
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|error| stopped(&error))?;
        // More than was asked for was not reckoned with.
        let fits = left.checked_sub(chunk.len() as u64);
        left = fits.ok_or_else(|| StoreError::new(ErrorKind::Answer, "more bytes came than were asked for"))?;
        if chunks.send(Ok(chunk)).is_err() {
            break;
        }
    }
    Ok(())
}
