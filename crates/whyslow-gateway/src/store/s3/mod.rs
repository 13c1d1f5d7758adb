//! [`S3Store`]: an S3-compatible service.
//!
//! Requests are signed by Signature Version 4 without their payload: TLS protects the bytes, and
//! they need not be read twice. They have a Content-Length and no `Expect`, which would cost a
//! round trip. Objects go so that the service stores whole ones alone ([`Bodies`]). The signer is
//! `aws-sigv4`, AWS' own: it signs header fields, which `rusty-s3` does not, and brings no
//! credential chain along, as `reqsign` does.

mod client;
mod credentials;
mod download;
mod fields;
mod lists;
mod objects;
mod request;
mod uploads;
mod warm;
mod whole;
mod xml;

pub use credentials::{Credentials, CredentialsError};
pub use request::Addressing;
pub use whole::Bodies;

use super::{
    Conditions, Download, ListQuery, Listing, ObjectInfo, ObjectName, Part, Plan, PutOptions, Range, ReadOptions,
    Store, StoreError, Stored, Upload, UploadListing,
};
use crate::pool::{Body, Endpoint, Pool, PoolOptions, TlsError};
use async_trait::async_trait;
use client::Client;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;
use warm::S3Warmth;

/// Which service, and how to reach it.
#[derive(Clone, Debug)]
pub struct S3Options {
    /// Its endpoint.
    pub endpoint: Endpoint,
    /// How buckets are named.
    pub addressing: Addressing,
    /// The region of signatures: `us-east-1` if the service has none.
    pub region: String,
    /// `None` if requests are not signed.
    pub credentials: Option<Credentials>,
    /// Its connections.
    pub pool: PoolOptions,
    /// How bodies are sent. `None`: the service is tried out before the first one.
    pub bodies: Option<Bodies>,
}

/// An S3-compatible service.
#[derive(Debug)]
pub struct S3Store {
    client: Arc<Client>,
    warmth: Mutex<Vec<Arc<S3Warmth>>>,
    bodies: OnceCell<Bodies>,
}

impl S3Store {
    /// Makes a store, and sends nothing yet.
    ///
    /// # Errors
    /// When no certificate authority can be read.
    pub fn new(options: S3Options) -> Result<Self, TlsError> {
        let S3Options { endpoint, addressing, region, credentials, pool, bodies } = options;
        let client = Client::new(endpoint, addressing, region, credentials, pool)?;
        let bodies = bodies.map_or_else(OnceCell::new, |bodies| OnceCell::new_with(Some(bodies)));
        Ok(Self { client: Arc::new(client), warmth: Mutex::default(), bodies })
    }

    /// How bodies are sent; the service is tried out in this bucket if it was not before.
    ///
    /// # Errors
    /// When it cannot be tried out now.
    pub async fn bodies(&self, bucket: &str) -> Result<&Bodies, StoreError> {
        self.bodies.get_or_try_init(|| whole::try_out(&self.client, bucket)).await
    }

    /// Keeps connections to a bucket open, and their windows wide, from now on.
    ///
    /// # Errors
    /// When there can be no connections.
    pub fn keep_warm(&self, bucket: &str) -> Result<(), StoreError> {
        let warmth = Arc::new(S3Warmth {
            client: Arc::downgrade(&self.client),
            bucket: bucket.to_owned(),
            parked: tokio::sync::Mutex::default(),
        });
        self.pool(bucket)?.keep_warm(Arc::clone(&warmth) as _);
        self.warmth.lock().unwrap_or_else(PoisonError::into_inner).push(warmth);
        Ok(())
    }

    /// The connections over which a bucket is reached.
    ///
    /// # Errors
    /// When there can be none.
    pub fn pool(&self, bucket: &str) -> Result<Pool, StoreError> {
        self.client.pool(Some(bucket))
    }

    /// The connections to all its servers: with virtual-host style a bucket has its own.
    pub fn pools(&self) -> Vec<Pool> {
        self.client.pools()
    }

    /// How often a request was made again since the service failed or was busy.
    pub fn retried(&self) -> u64 {
        self.client.retried()
    }

    /// Drops the upload that took bursts, and closes idle connections.
    ///
    /// # Errors
    /// When the upload cannot be dropped: it goes on to hold one part.
    pub async fn close(&self) -> Result<(), StoreError> {
        let warmth = std::mem::take(&mut *self.warmth.lock().unwrap_or_else(PoisonError::into_inner));
        let mut result = Ok(());
        for one in warmth {
            result = result.and(one.abort(&self.client).await);
        }
        for pool in self.client.pools() {
            pool.close();
        }
        result
    }
}

#[async_trait]
impl Store for S3Store {
    async fn put(&self, object: &ObjectName, body: Body, options: &PutOptions) -> Result<Stored, StoreError> {
        match self.bodies(&object.bucket).await? {
            Bodies::Chunked => objects::put(&self.client, object, &body.in_chunks(), options).await,
            // An empty body cannot be cut.
            Bodies::Uploads { .. } if !body.is_empty() => {
                whole::put_as_upload(&self.client, object, body, options).await
            }
            _ => objects::put(&self.client, object, &body, options).await,
        }
    }

    async fn get(
        &self,
        object: &ObjectName,
        range: Option<Range>,
        conditions: &Conditions,
    ) -> Result<Download, StoreError> {
        self.get_with(object, range, conditions, &ReadOptions::default()).await
    }

    async fn get_with(
        &self,
        object: &ObjectName,
        range: Option<Range>,
        conditions: &Conditions,
        options: &ReadOptions,
    ) -> Result<Download, StoreError> {
        objects::get(&self.client, object, (range, conditions), options).await
    }

    async fn head(&self, object: &ObjectName, conditions: &Conditions) -> Result<ObjectInfo, StoreError> {
        objects::head(&self.client, object, conditions).await
    }

    async fn list(&self, bucket: &str, query: &ListQuery) -> Result<Listing, StoreError> {
        lists::objects(&self.client, bucket, query).await
    }

    async fn delete(&self, object: &ObjectName) -> Result<(), StoreError> {
        objects::delete(&self.client, object).await
    }

    async fn delete_if(&self, object: &ObjectName, tags: &str) -> Result<(), StoreError> {
        objects::delete_if(&self.client, object, tags).await
    }

    async fn delete_many(&self, bucket: &str, keys: &[String]) -> Result<Vec<(String, StoreError)>, StoreError> {
        objects::delete_many(&self.client, bucket, keys).await
    }

    async fn copy(
        &self,
        from: &ObjectName,
        to: &ObjectName,
        options: Option<&PutOptions>,
        conditions: &Conditions,
    ) -> Result<Stored, StoreError> {
        objects::copy(&self.client, from, to, (options, conditions)).await
    }

    async fn create_upload(&self, object: &ObjectName, options: &PutOptions) -> Result<Upload, StoreError> {
        uploads::create(&self.client, object, options).await
    }

    async fn put_part(&self, upload: &Upload, number: u32, body: Body) -> Result<Part, StoreError> {
        // A cut part has no tag to complete an upload with.
        uploads::put_part(&self.client, upload, number, &body).await
    }

    async fn complete_upload(
        &self,
        upload: &Upload,
        parts: &[Part],
        conditions: &Conditions,
    ) -> Result<Stored, StoreError> {
        uploads::complete(&self.client, upload, parts, conditions).await
    }

    async fn abort_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        uploads::abort(&self.client, upload).await
    }

    async fn list_parts(&self, upload: &Upload, after: u32) -> Result<(Vec<Part>, bool), StoreError> {
        lists::parts(&self.client, upload, after).await
    }

    async fn list_uploads(
        &self,
        bucket: &str,
        prefix: &str,
        after: Option<&Upload>,
    ) -> Result<UploadListing, StoreError> {
        lists::uploads(&self.client, bucket, prefix, after).await
    }

    async fn list_buckets(&self) -> Result<Vec<String>, StoreError> {
        lists::buckets(&self.client).await
    }

    async fn create_bucket(&self, bucket: &str) -> Result<(), StoreError> {
        objects::bucket(&self.client, http::Method::PUT, bucket).await
    }

    async fn delete_bucket(&self, bucket: &str) -> Result<(), StoreError> {
        objects::bucket(&self.client, http::Method::DELETE, bucket).await
    }

    async fn head_bucket(&self, bucket: &str) -> Result<(), StoreError> {
        objects::bucket(&self.client, http::Method::HEAD, bucket).await
    }

    fn expect_upload(&self, bucket: &str, size_hint: u64) {
        if let Ok(pool) = self.pool(bucket) {
            pool.expect_upload(size_hint);
        }
    }

    fn plan(&self, size: u64) -> Option<Plan> {
        let pool = self.client.pool(None).ok()?;
        let most = pool.max_connections();
        let by_path = pool.rtt().and_then(|rtt| Plan::of(size, rtt, pool.rights().max_send_buffer, most));
        by_path.or_else(|| Plan::of_huge(size))
    }
}
