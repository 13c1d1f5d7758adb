//! [`CloudStore`]: one bucket of Google Cloud Storage, or one container of Azure Blob Storage,
//! through the crate `object_store`.
//!
//! Its connections are that crate's: they are not kept warm, and transfers have no limits.
//! Requests that it cannot serve are refused with the reason:
//!
//! - Parts of an upload are not listed, nor uploads, so that none can be found to be dropped. Azure
//!   drops them by itself after a week; Google has a lifecycle rule for it.
//! - An upload in parts is completed without conditions. Its parts are numbered from 1 without
//!   gaps.
//! - Azure takes no metadata with an upload in parts. [`Store::put`] cuts large objects all the
//!   same.

mod convert;
mod open;
mod upload;

use super::{
    Conditions, Download, ErrorKind, ListQuery, Listing, ObjectInfo, ObjectName, Part, PutOptions, Range, Store,
    StoreError, Stored, Upload, UploadListing,
};
use crate::pool::{Body, BodyError};
use async_trait::async_trait;
use convert::{failed, path, unsupported};
use futures_util::{StreamExt, stream};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::multipart::{MultipartStore, PartId};
use object_store::{CopyOptions, GetOptions, ObjectStore, PutMultipartOptions};
use std::fmt;
use std::sync::Arc;
use upload::Sender;

/// A bucket.
pub struct CloudStore {
    bucket: String,
    objects: Arc<dyn ObjectStore>,
    sender: Sender,
    parts: Arc<dyn MultipartStore>,
    lists: Arc<dyn PaginatedListStore>,
    has_metadata_in_uploads: bool,
}

impl fmt::Debug for CloudStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CloudStore")
            .field("bucket", &self.bucket)
            .field("objects", &self.objects)
            .finish_non_exhaustive()
    }
}

impl CloudStore {
    /// What the parts of `object_store`'s interface are to be asked of.
    pub fn new<T: ObjectStore + MultipartStore>(
        bucket: impl Into<String>,
        store: Arc<T>,
        lists: Arc<dyn PaginatedListStore>,
    ) -> Self {
        Self {
            bucket: bucket.into(),
            objects: Arc::clone(&store) as _,
            sender: Sender::new(Arc::clone(&store) as _),
            parts: store,
            lists,
            has_metadata_in_uploads: true,
        }
    }

    fn is_ours(&self, bucket: &str) -> Result<(), StoreError> {
        if bucket == self.bucket {
            return Ok(());
        }
        Err(StoreError::new(ErrorKind::NoSuchBucket, format!("this gateway has the bucket {} alone", self.bucket)))
    }

    fn path(&self, object: &ObjectName) -> Result<object_store::path::Path, StoreError> {
        self.is_ours(&object.bucket)?;
        path(&object.key)
    }

    async fn open(
        &self,
        object: &ObjectName,
        options: GetOptions,
    ) -> Result<(object_store::GetResult, ObjectInfo), StoreError> {
        let place = self.path(object)?;
        let result = self.objects.get_opts(&place, options).await.map_err(failed)?;
        let info = convert::info(&object.key, &result.meta, &result.attributes)?;
        Ok((result, info))
    }
}

#[async_trait]
impl Store for CloudStore {
    async fn put(&self, object: &ObjectName, body: Body, options: &PutOptions) -> Result<Stored, StoreError> {
        let place = self.path(object)?;
        self.sender.put(&place, &body, options).await
    }

    async fn get(
        &self,
        object: &ObjectName,
        range: Option<Range>,
        conditions: &Conditions,
    ) -> Result<Download, StoreError> {
        let asked = GetOptions { range: range.map(convert::range), ..convert::conditions(conditions) };
        let result = self.open(object, asked).await;
        // The crate has no kind of error for a range outside the object.
        if let (Err(error), Some(range)) = (&result, range)
            && matches!(error.kind, ErrorKind::Server | ErrorKind::Invalid)
        {
            let size = self.head(object, conditions).await?.size;
            if range.of(size).is_none() {
                return Err(StoreError::new(ErrorKind::Range, format!("the object has {size} bytes")));
            }
        }
        let (result, info) = result?;
        let range = (result.range.start, result.range.end);
        let bytes = result.into_stream().map(|chunk| chunk.map_err(|error| BodyError::Source(error.to_string())));
        Ok(Download { info, range, body: convert::exactly(bytes.boxed(), range.1 - range.0) })
    }

    async fn head(&self, object: &ObjectName, conditions: &Conditions) -> Result<ObjectInfo, StoreError> {
        let asked = GetOptions { head: true, ..convert::conditions(conditions) };
        Ok(self.open(object, asked).await?.1)
    }

    async fn list(&self, bucket: &str, query: &ListQuery) -> Result<Listing, StoreError> {
        self.is_ours(bucket)?;
        if query.delimiter.as_deref().is_some_and(|delimiter| delimiter != "/") {
            return unsupported("a delimiter other than `/`");
        }
        let asked = PaginatedListOptions {
            offset: query.start_after.clone(),
            delimiter: query.delimiter.clone().map(Into::into),
            max_keys: (query.max > 0).then_some(query.max as usize),
            page_token: query.continuation.clone(),
            ..PaginatedListOptions::default()
        };
        let prefix = Some(query.prefix.as_str()).filter(|prefix| !prefix.is_empty());
        let page = match self.lists.list_paginated(prefix, asked.clone()).await {
            // Then what lies before is read and left out.
            Err(object_store::Error::NotSupported { .. } | object_store::Error::NotImplemented { .. })
                if asked.offset.is_some() =>
            {
                let asked = PaginatedListOptions { offset: None, ..asked };
                self.lists.list_paginated(prefix, asked).await
            }
            page => page,
        };
        convert::listing(page.map_err(failed)?, query)
    }

    async fn delete(&self, object: &ObjectName) -> Result<(), StoreError> {
        let place = self.path(object)?;
        let deleted = stream::once(async { Ok(place) }).boxed();
        match self.objects.delete_stream(deleted).next().await {
            None | Some(Ok(_) | Err(object_store::Error::NotFound { .. })) => Ok(()),
            Some(Err(error)) => Err(failed(error)),
        }
    }

    async fn delete_many(&self, bucket: &str, keys: &[String]) -> Result<Vec<(String, StoreError)>, StoreError> {
        self.is_ours(bucket)?;
        let delete = |key: &String| {
            let key = key.clone();
            async move { self.delete(&ObjectName::new(bucket, &key)).await.err().map(|error| (key, error)) }
        };
        let each = keys.iter().map(delete).collect::<Vec<_>>();
        Ok(stream::iter(each).buffer_unordered(16).filter_map(std::future::ready).collect().await)
    }

    async fn copy(
        &self,
        from: &ObjectName,
        to: &ObjectName,
        options: Option<&PutOptions>,
        conditions: &Conditions,
    ) -> Result<Stored, StoreError> {
        let (source, target) = (self.path(from)?, self.path(to)?);
        if let Some(options) = options {
            // It copies no object with other metadata: the bytes come here and go back.
            let Download { info, body, .. } = self.get(from, None, conditions).await?;
            return self.sender.put(&target, &Body::stream(info.size, 0, body), options).await;
        }
        self.head(from, conditions).await?;
        self.objects.copy_opts(&source, &target, CopyOptions::default()).await.map_err(failed)?;
        let tag = self.head(to, &Conditions::default()).await?.tag;
        Ok(Stored { tag, transfer: None })
    }

    async fn create_upload(&self, object: &ObjectName, options: &PutOptions) -> Result<Upload, StoreError> {
        let place = self.path(object)?;
        if !self.has_metadata_in_uploads {
            return unsupported(
                "an upload in parts, for Azure takes no metadata with one through `object_store`: \
                 have the client send whole objects (aws: multipart_threshold)",
            );
        }
        let attributes = convert::attributes(options);
        let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
        let id = self.parts.create_multipart_opts(&place, options).await.map_err(failed)?;
        Ok(Upload { object: object.clone(), id })
    }

    async fn put_part(&self, upload: &Upload, number: u32, body: Body) -> Result<Part, StoreError> {
        let place = self.path(&upload.object)?;
        let (size, (payload, _held)) = (body.len(), self.sender.whole(&body).await?);
        let index = number.saturating_sub(1) as usize;
        let part = self.parts.put_part(&place, &upload.id, index, payload).await.map_err(upload::failed)?;
        Ok(Part { number, tag: part.content_id, size, transfer: None })
    }

    async fn complete_upload(
        &self,
        upload: &Upload,
        parts: &[Part],
        conditions: &Conditions,
    ) -> Result<Stored, StoreError> {
        let place = self.path(&upload.object)?;
        if *conditions != Conditions::default() {
            return unsupported("a condition on completing an upload");
        }
        if !parts.iter().zip(1..).all(|(part, number)| part.number == number) {
            let why = "in front of this store parts are numbered from 1 without gaps";
            return Err(StoreError::new(ErrorKind::InvalidPart, why));
        }
        let parts = parts.iter().map(|part| PartId { content_id: part.tag.clone() }).collect();
        let result = self.parts.complete_multipart(&place, &upload.id, parts).await.map_err(upload::failed)?;
        convert::stored(result)
    }

    async fn abort_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        let place = self.path(&upload.object)?;
        match self.parts.abort_multipart(&place, &upload.id).await.map_err(upload::failed) {
            Err(error) if error.kind == ErrorKind::NoSuchUpload => Ok(()),
            result => result,
        }
    }

    async fn list_parts(&self, _: &Upload, _: u32) -> Result<(Vec<Part>, bool), StoreError> {
        unsupported("a list of parts")
    }

    async fn list_uploads(&self, _: &str, _: &str, _: Option<&Upload>) -> Result<UploadListing, StoreError> {
        unsupported("a list of uploads")
    }

    async fn list_buckets(&self) -> Result<Vec<String>, StoreError> {
        Ok(vec![self.bucket.clone()])
    }

    async fn create_bucket(&self, bucket: &str) -> Result<(), StoreError> {
        match self.is_ours(bucket) {
            Ok(()) => Err(StoreError::new(ErrorKind::BucketExists, "")),
            Err(_) => unsupported("making buckets"),
        }
    }

    async fn delete_bucket(&self, bucket: &str) -> Result<(), StoreError> {
        self.is_ours(bucket)?;
        unsupported("deleting the bucket")
    }

    async fn head_bucket(&self, bucket: &str) -> Result<(), StoreError> {
        self.list(bucket, &ListQuery { max: 1, ..ListQuery::default() }).await.map(drop)
    }
}
