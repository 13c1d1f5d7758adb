//! What an object store must do for the gateway, and the stores that do it.
//!
//! - [`S3Store`]: S3 over connections of our own ([`crate::pool`]).
//! - [`FolderStore`]: a folder of this machine.
//! - `CloudStore`, with the feature `clouds`: Google Cloud Storage and Azure Blob Storage.
//!
//! Bodies are streams that are taken as there is room for them; nothing is spooled. An object is
//! its old self, absent, or complete: no failure leaves a torn one. [`StoreError::repeat`] is
//! whether doing it again is safe.

mod bulk;
#[cfg(feature = "clouds")]
mod clouds;
mod error;
mod folder;

mod s3;
mod types;

pub use bulk::{Bulk, HeldStream, Plan, Source, get_in_parts, put_in_parts, read_spans};
#[cfg(feature = "clouds")]
pub use clouds::CloudStore;
pub use error::{ErrorKind, Repeat, StoreError};
pub use folder::FolderStore;

pub use s3::{Addressing, Bodies, Credentials, CredentialsError, S3Options, S3Store};
pub use types::{
    Conditions, Download, EntityTag, ListQuery, Listing, ObjectInfo, ObjectName, Part, PutOptions, Range, ReadOptions,
    Stored, Upload, UploadInfo, UploadListing,
};

use crate::pool::Body;
use async_trait::async_trait;
use std::fmt::Debug;

/// Buckets of objects, with what S3 means by its operations of these names.
#[async_trait]
pub trait Store: Send + Sync + Debug {
    /// Stores an object, whole or not at all.
    async fn put(&self, object: &ObjectName, body: Body, options: &PutOptions) -> Result<Stored, StoreError>;

    /// Opens an object, or a range of it, for reading.
    async fn get(
        &self,
        object: &ObjectName,
        range: Option<Range>,
        conditions: &Conditions,
    ) -> Result<Download, StoreError>;

    /// The same, with options, which stores that are not reached over connections of our own do
    /// without.
    async fn get_with(
        &self,
        object: &ObjectName,
        range: Option<Range>,
        conditions: &Conditions,
        _options: &ReadOptions,
    ) -> Result<Download, StoreError> {
        self.get(object, range, conditions).await
    }

    /// Describes an object.
    async fn head(&self, object: &ObjectName, conditions: &Conditions) -> Result<ObjectInfo, StoreError>;

    /// Lists a page of a bucket, in the order of the keys' bytes.
    async fn list(&self, bucket: &str, query: &ListQuery) -> Result<Listing, StoreError>;

    /// Deletes an object; one that is not there is as good.
    async fn delete(&self, object: &ObjectName) -> Result<(), StoreError>;

    /// Deletes an object that is there and has one of these tags, or `*`: any. A store that cannot
    /// do that in one step refuses it.
    async fn delete_if(&self, _object: &ObjectName, _tags: &str) -> Result<(), StoreError> {
        Err(StoreError::new(ErrorKind::Unsupported, "this storage deletes without conditions alone"))
    }

    /// Deletes some of a bucket. Gives those that are still there, with why.
    async fn delete_many(&self, bucket: &str, keys: &[String]) -> Result<Vec<(String, StoreError)>, StoreError>;

    /// Copies an object as it is, or with other metadata when `options` are given. `conditions` are
    /// the source's.
    async fn copy(
        &self,
        from: &ObjectName,
        to: &ObjectName,
        options: Option<&PutOptions>,
        conditions: &Conditions,
    ) -> Result<Stored, StoreError>;

    /// Begins an upload in parts.
    async fn create_upload(&self, object: &ObjectName, options: &PutOptions) -> Result<Upload, StoreError>;

    /// Stores part `number` (1–10,000); one that is sent again takes the other one's place.
    async fn put_part(&self, upload: &Upload, number: u32, body: Body) -> Result<Part, StoreError>;

    /// Makes the parts, in order of their numbers, one object.
    async fn complete_upload(
        &self,
        upload: &Upload,
        parts: &[Part],
        conditions: &Conditions,
    ) -> Result<Stored, StoreError>;

    /// Drops an upload with its parts; one that is not there is as good.
    async fn abort_upload(&self, upload: &Upload) -> Result<(), StoreError>;

    /// Lists an upload's parts behind `after`; the second value is true if there are more.
    async fn list_parts(&self, upload: &Upload, after: u32) -> Result<(Vec<Part>, bool), StoreError>;

    /// Lists uploads under way whose key begins with `prefix`, behind the last one of the page
    /// before.
    async fn list_uploads(
        &self,
        bucket: &str,
        prefix: &str,
        after: Option<&Upload>,
    ) -> Result<UploadListing, StoreError>;

    /// Names the buckets.
    async fn list_buckets(&self) -> Result<Vec<String>, StoreError>;

    /// Makes a bucket.
    async fn create_bucket(&self, bucket: &str) -> Result<(), StoreError>;

    /// Deletes a bucket that is empty.
    async fn delete_bucket(&self, bucket: &str) -> Result<(), StoreError>;

    /// Whether a bucket is there, and may be used.
    async fn head_bucket(&self, bucket: &str) -> Result<(), StoreError>;

    /// Announces an upload of about `size_hint` bytes; gets ready, and returns at once.
    fn expect_upload(&self, _bucket: &str, _size_hint: u64) {}

    /// How to cut a large object of this size into requests; `None` if that gains nothing.
    fn plan(&self, _size: u64) -> Option<Plan> {
        None
    }
}
