//! Large objects are stored as parts, several of them under way at once.

use super::memory::{Bulk, stopped};
use crate::pool::{Body, BodyError, ByteStream};
use crate::store::{ErrorKind, ObjectName, Part, PutOptions, Store, StoreError, Stored, Upload};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;

/// Attempts to drop an upload.
const ABORTS: u32 = 4;
const BETWEEN_ABORTS: Duration = Duration::from_millis(100);

/// Stores `size` bytes of a stream as an object of parts. Gives the object and its parts. Memory is
/// taken here, for a part at a time; the stream must take none of the same bound. What fails leaves
/// no object and no upload behind, as far as the store can be reached.
///
/// # Errors
/// Errors of the store; [`ErrorKind::Body`] if the stream fails or has another size.
pub async fn put_in_parts(
    store: &Arc<dyn Store>,
    object: &ObjectName,
    (size, bytes): (u64, ByteStream),
    bulk: &Bulk,
    options: &PutOptions,
) -> Result<(Stored, Vec<Part>), StoreError> {
    bulk.must_fit()?;
    let upload = store.create_upload(object, options).await?;
    let result = match put_parts(store, &upload, (size, bytes), bulk).await {
        Ok(parts) => store.complete_upload(&upload, &parts, &options.conditions).await.map(|stored| (stored, parts)),
        Err(error) => Err(error),
    };
    if result.is_err() {
        drop_upload(&**store, &upload).await;
    }
    result
}

/// Drops an upload. A part that was on its way may have come after that, and then it takes another
/// try. Its failure is not reported: the reason for the drop is.
async fn drop_upload(store: &dyn Store, upload: &Upload) {
    for attempt in 1..=ABORTS {
        // The parts' connections are closed, which the store has yet to notice.
        tokio::time::sleep(BETWEEN_ABORTS * attempt).await;
        let aborted = store.abort_upload(upload).await;
        if aborted.is_ok() && store.list_parts(upload, 0).await.is_err() {
            return;
        }
    }
}

async fn put_parts(
    store: &Arc<dyn Store>,
    upload: &Upload,
    (size, bytes): (u64, ByteStream),
    bulk: &Bulk,
) -> Result<Vec<Part>, StoreError> {
    let mut tasks = JoinSet::new();
    let result = send_parts(store, upload, (size, bytes), (bulk, &mut tasks)).await;
    // None goes on behind an error.
    tasks.shutdown().await;
    result
}

async fn send_parts(
    store: &Arc<dyn Store>,
    upload: &Upload,
    (size, bytes): (u64, ByteStream),
    (bulk, tasks): (&Bulk, &mut JoinSet<Result<Part, StoreError>>),
) -> Result<Vec<Part>, StoreError> {
    let plan = bulk.plan;
    let turns = Arc::new(Semaphore::new(plan.parallel));
    let places = Arc::new(Semaphore::new(plan.parallel + plan.waiting));
    let mut parts = Vec::new();
    let mut source = Source { bytes, left_over: Bytes::new() };
    for (number, (first, end)) in (1..).zip(plan.parts(size)) {
        // All that the part takes at once: a waiting upload holds only parts that are on their way.
        let turn = async {
            let turn: OwnedSemaphorePermit = Arc::clone(&turns).acquire_owned().await?;
            let place = Arc::clone(&places).acquire_owned().await?;
            Ok::<_, AcquireError>((turn, place, bulk.memory.acquire(end - first).await))
        };
        let turn = tokio::select! {
            turn = turn => turn,
            // A part that failed ends it all.
            Some(Err(error)) = next_part(tasks, &mut parts), if !tasks.is_empty() => return Err(error),
        };
        let (turn, place, permit) = turn.map_err(|error| stopped(&error))?;
        let (feed, fed) = mpsc::unbounded_channel();
        let fed = stream::unfold(fed, async |mut fed| fed.recv().await.map(|item| (item, fed))).boxed();
        let body = Body::stream(end - first, end - first, fed).one_of_many();
        let (store, upload) = (Arc::clone(store), upload.clone());
        let drain = plan.drain;
        tasks.spawn(async move {
            let sent = body.clone();
            let put = store.put_part(&upload, number, body);
            tokio::pin!(put);
            let written = async {
                sent.taken().await;
                tokio::time::sleep(drain).await;
            };
            let part = tokio::select! {
                part = &mut put => Some(part),
                () = written => None,
            };
            // The next one goes while this one's answer comes.
            drop(turn);
            let part = match part {
                Some(part) => part,
                None => put.await,
            };
            drop((sent, place, permit));
            part
        });
        source.feed(end - first, &feed).await;
    }
    source.must_end(size).await?;
    while let Some(part) = next_part(tasks, &mut parts).await {
        part?;
    }
    parts.sort_by_key(|part: &Part| part.number);
    Ok(parts)
}

async fn next_part(
    tasks: &mut JoinSet<Result<Part, StoreError>>,
    parts: &mut Vec<Part>,
) -> Option<Result<(), StoreError>> {
    let ended = tasks.join_next().await?;
    Some(match ended {
        Ok(Ok(part)) => {
            parts.push(part);
            Ok(())
        }
        Ok(Err(error)) => Err(error),
        Err(error) => Err(stopped(&error)),
    })
}

struct Source {
    bytes: ByteStream,
    left_over: Bytes,
}

impl Source {
    async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        if self.left_over.is_empty() { self.bytes.next().await } else { Some(Ok(std::mem::take(&mut self.left_over))) }
    }

    /// Hands over `size` bytes, or the error; the part's length shows a short stream.
    async fn feed(&mut self, mut size: u64, feed: &mpsc::UnboundedSender<Result<Bytes, BodyError>>) {
        while size > 0 {
            let Some(item) = self.next().await else { return };
            let Ok(mut chunk) = item else {
                let _ = feed.send(item);
                return;
            };
            if chunk.len() as u64 > size {
                self.left_over = chunk.split_off(usize::try_from(size).unwrap_or(usize::MAX));
            }
            size -= chunk.len() as u64;
            if feed.send(Ok(chunk)).is_err() {
                return;
            }
        }
    }

    async fn must_end(&mut self, size: u64) -> Result<(), StoreError> {
        while let Some(item) = self.next().await {
            let error = match item {
                Ok(chunk) if chunk.is_empty() => continue,
                Ok(chunk) => BodyError::Length { announced: size, got: size + chunk.len() as u64 },
                Err(error) => error,
            };
            return Err(StoreError::new(ErrorKind::Body(error), ""));
        }
        Ok(())
    }
}
