//! [`S3Warmth`]: the requests of S3 that keep connections and windows warm.
//!
//! A burst is a part of an upload that is never completed: always the same part of the same upload,
//! so that at most one part is stored, no object appears, and no version of one.

use super::client::Client;
use super::request::Ask;
use super::xml::{self, UploadAnswer, UploadsAnswer};
use crate::pool::{Body, Safety, WarmRequests};
use crate::store::{ErrorKind, StoreError};
use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, Request};
use std::sync::Weak;

/// The key of the upload that takes bursts. No object has it.
pub(super) const PARKED: &str = ".whyslow-gateway/warm";
const CHUNK: usize = 64 << 10;

/// For one bucket.
#[derive(Debug)]
pub(super) struct S3Warmth {
    pub client: Weak<Client>,
    pub bucket: String,
    pub parked: tokio::sync::Mutex<Parked>,
}

/// The upload that takes bursts.
#[derive(Debug, Default)]
pub(super) enum Parked {
    /// Whether there is one is not known.
    #[default]
    Unknown,
    /// Its id.
    There(String),
    /// A burst into it failed: it may be there, or gone.
    Doubtful,
    /// It was dropped permanently: a late burst does not begin another.
    Over,
}

impl S3Warmth {
    /// The upload's id: one that an earlier run left, or a new one.
    async fn parked(&self, client: &Client) -> Result<String, StoreError> {
        let mut parked = self.parked.lock().await;
        match &*parked {
            Parked::There(id) => return Ok(id.clone()),
            Parked::Over => return Err(StoreError::new(ErrorKind::Invalid, "no more bursts")),
            Parked::Unknown | Parked::Doubtful => {}
        }
        let id = match self.find(client).await? {
            Some(id) => id,
            None => {
                let ask = Ask::new(Method::POST, Some(&self.bucket), Some(PARKED)).query("uploads", "");
                let (_, text) = client.read(&ask, &Body::empty(), Safety::Idempotent).await?;
                xml::read::<UploadAnswer>(&text)?.upload_id
            }
        };
        *parked = Parked::There(id.clone());
        Ok(id)
    }

    /// The id of one that is there.
    async fn find(&self, client: &Client) -> Result<Option<String>, StoreError> {
        let ask = Ask::new(Method::GET, Some(&self.bucket), None).query("prefix", PARKED).query("uploads", "");
        let (_, text) = client.read(&ask, &Body::empty(), Safety::Idempotent).await?;
        let there = xml::read::<UploadsAnswer>(&text)?.uploads.into_iter().find(|upload| upload.key == PARKED);
        Ok(there.map(|upload| upload.upload_id))
    }

    /// Drops the upload, and the part that is in it.
    pub(super) async fn abort(&self, client: &Client) -> Result<(), StoreError> {
        let parked = std::mem::replace(&mut *self.parked.lock().await, Parked::Over);
        let id = match parked {
            Parked::There(id) => Some(id),
            Parked::Doubtful => self.find(client).await?,
            Parked::Unknown | Parked::Over => None,
        };
        let Some(id) = id else { return Ok(()) };
        let ask = Ask::new(Method::DELETE, Some(&self.bucket), Some(PARKED)).query("uploadId", &id);
        client.read(&ask, &Body::empty(), Safety::Idempotent).await?;
        Ok(())
    }
}

#[async_trait]
impl WarmRequests for S3Warmth {
    async fn heartbeat(&self) -> Option<Request<()>> {
        let client = self.client.upgrade()?;
        client.sign(&Ask::new(Method::HEAD, Some(&self.bucket), None)).await.ok()
    }

    async fn burst(&self, bytes: u64) -> Option<(Request<()>, Body)> {
        let client = self.client.upgrade()?;
        let id = self.parked(&client).await.ok()?;
        let ask = Ask::new(Method::PUT, Some(&self.bucket), Some(PARKED));
        let ask = ask.query("partNumber", "1").query("uploadId", &id).length(bytes);
        let request = client.sign(&ask).await.ok()?;
        let chunk = Bytes::from_static(&[0; CHUNK]);
        let mut chunks = vec![chunk.clone(); usize::try_from(bytes / CHUNK as u64).ok()?];
        chunks.push(chunk.slice(..usize::try_from(bytes % CHUNK as u64).ok()?));
        Some((request, Body::chunks(chunks)))
    }

    async fn burst_refused(&self) {
        let mut parked = self.parked.lock().await;
        if !matches!(*parked, Parked::Over) {
            *parked = Parked::Doubtful;
        }
    }
}
