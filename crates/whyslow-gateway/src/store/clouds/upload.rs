//! Sending bodies, which the crate takes whole: large ones in pieces.

use super::convert::{self, unsupported};
use crate::pool::{Body, BodyError};
use crate::store::{Conditions, ErrorKind, PutOptions, StoreError, Stored};
use bytes::Bytes;
use futures_util::stream::FuturesUnordered;
use futures_util::{StreamExt, TryStreamExt};
use http_body_util::BodyExt;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, PutMode, PutMultipartOptions, PutPayload, UpdateVersion};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of requests' bodies that are held at once: the crate takes none but whole ones.
const HELD: u32 = 256 << 20;
/// Larger objects go in pieces of this size; Google wants 5 MiB at least.
const PIECE: u64 = 8 << 20;
/// Parts at once.
const PARALLEL: usize = 4;

/// An error of an upload in parts: if something is not found, it is the upload.
pub(super) fn failed(error: object_store::Error) -> StoreError {
    let error = convert::failed(error);
    match error.kind {
        ErrorKind::NoSuchKey => StoreError { kind: ErrorKind::NoSuchUpload, ..error },
        _ => error,
    }
}

/// A body, read in pieces.
struct Source {
    body: crate::pool::SendBody,
    left: Bytes,
}

fn ended(error: BodyError) -> StoreError {
    StoreError::new(ErrorKind::Body(error), "")
}

impl Source {
    async fn take(&mut self, count: u64) -> Result<PutPayload, StoreError> {
        let mut missing = usize::try_from(count).unwrap_or(usize::MAX);
        let mut all = Vec::new();
        while missing > 0 {
            if self.left.is_empty() {
                match self.next().await? {
                    Some(chunk) => self.left = chunk,
                    None => return Err(ended(BodyError::Source("the body ended early".to_owned()))),
                }
            }
            let piece = self.left.split_to(missing.min(self.left.len()));
            missing -= piece.len();
            all.push(Bytes::copy_from_slice(&piece));
        }
        Ok(PutPayload::from_iter(all))
    }

    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        while let Some(frame) = self.body.frame().await {
            if let Ok(chunk) = frame.map_err(ended)?.into_data() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }

    /// The last chunk of ciphertext comes only if the source has ended well.
    async fn end(&mut self) -> Result<(), StoreError> {
        match self.next().await? {
            None => Ok(()),
            Some(_) => Err(ended(BodyError::Source("the body is longer than was announced".to_owned()))),
        }
    }
}

/// Sends bodies.
pub(super) struct Sender {
    objects: Arc<dyn ObjectStore>,
    held: Arc<Semaphore>,
}

impl Sender {
    pub(super) fn new(objects: Arc<dyn ObjectStore>) -> Self {
        Self { objects, held: Arc::new(Semaphore::new(HELD as usize)) }
    }

    /// Reads a body whole. Its bytes are copied: what bounded them is free for others, and this
    /// store's own bound holds.
    pub(super) async fn whole(&self, body: &Body) -> Result<(PutPayload, OwnedSemaphorePermit), StoreError> {
        let held = self.hold(body.len()).await?;
        let mut source = Source { body: body.begin(), left: Bytes::new() };
        let bytes = source.take(body.len()).await?;
        source.end().await?;
        Ok((bytes, held))
    }

    async fn hold(&self, bytes: u64) -> Result<OwnedSemaphorePermit, StoreError> {
        let too_large = || {
            let why = format!("in front of this store a part has {} MiB at most", HELD >> 20);
            StoreError::new(ErrorKind::Invalid, why)
        };
        let count = u32::try_from(bytes).ok().filter(|count| *count <= HELD).ok_or_else(too_large)?;
        let closed = |_| StoreError::new(ErrorKind::Server, "the store is closed");
        Arc::clone(&self.held).acquire_many_owned(count).await.map_err(closed)
    }

    /// Stores an object, whole or not at all.
    pub(super) async fn put(&self, place: &Path, body: &Body, options: &PutOptions) -> Result<Stored, StoreError> {
        let (mode, attributes) = (mode(&options.conditions)?, convert::attributes(options));
        if body.len() <= PIECE {
            let (payload, _held) = self.whole(body).await?;
            let options = object_store::PutOptions { mode, attributes, ..object_store::PutOptions::default() };
            let result = self.objects.put_opts(place, payload, options).await.map_err(convert::failed)?;
            return convert::stored(result);
        }
        if mode != PutMode::Overwrite {
            return unsupported("a condition on storing more than 8 MiB");
        }
        let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
        let mut upload = self.objects.put_multipart_opts(place, options).await.map_err(convert::failed)?;
        let result = match self.pieces(body, &mut *upload).await {
            Ok(()) => upload.complete().await.map_err(convert::failed),
            Err(error) => Err(error),
        };
        match result {
            Ok(result) => convert::stored(result),
            Err(error) => {
                let _ = upload.abort().await;
                Err(error)
            }
        }
    }

    async fn pieces(&self, body: &Body, upload: &mut dyn MultipartUpload) -> Result<(), StoreError> {
        let mut source = Source { body: body.begin(), left: Bytes::new() };
        let mut missing = body.len();
        let mut under_way = FuturesUnordered::new();
        while missing > 0 {
            if under_way.len() == PARALLEL {
                under_way.try_next().await?;
            }
            let size = missing.min(PIECE);
            let held = self.hold(size).await?;
            let payload = source.take(size).await?;
            missing -= size;
            if missing == 0 {
                source.end().await?;
            }
            let part = upload.put_part(payload);
            under_way.push(async move {
                let result = part.await;
                drop(held);
                result.map_err(convert::failed)
            });
        }
        while under_way.next().await.transpose()?.is_some() {}
        Ok(())
    }
}

fn mode(conditions: &Conditions) -> Result<PutMode, StoreError> {
    match (&conditions.if_match, &conditions.if_none_match) {
        (None, None) => Ok(PutMode::Overwrite),
        (None, Some(any)) if any == "*" => Ok(PutMode::Create),
        (Some(tag), None) if tag != "*" && !tag.contains(',') => {
            Ok(PutMode::Update(UpdateVersion { e_tag: Some(tag.clone()), version: None }))
        }
        _ => unsupported("such a condition on storing"),
    }
}
