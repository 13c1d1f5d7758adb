//! [`SealedStore`]: the entry point.

use super::context::Context;
use super::error::SealedError;
use super::own::{self, Setting};
use super::tags;
use super::types::{
    Attributes, Change, Content, Info, Listing, Opened, PartInfo, Receipt, SealedOptions, UploadInfo, Whole,
};
use super::verify::{self, StoredPage, Verdict};
use super::{copy, get, head, list, marker, multipart, part, put};
use crate::format::{Layout, sealed_size};
use crate::keys::Keyring;
use crate::memory::Memory;
use crate::store::{Conditions, ListQuery, ObjectName, Range, Store};
use std::sync::Arc;

type Result<T> = std::result::Result<T, SealedError>;

/// Objects by their plaintext, kept sealed in a store. Clones are the same.
#[derive(Clone, Debug)]
pub struct SealedStore {
    context: Arc<Context>,
}

impl SealedStore {
    /// Seals to the keyring's current epoch, and opens objects of all its epochs.
    pub fn new(store: Arc<dyn Store>, keyring: Arc<Keyring>, options: SealedOptions) -> Self {
        Self { context: Arc::new(Context::new(store, keyring, options)) }
    }

    /// Compares a bucket's settings with those of this gateway, and notes them in the bucket if it
    /// has none.
    ///
    /// # Errors
    /// [`super::SealedErrorKind::OtherSettings`], and those of the store.
    pub async fn adopt(&self, bucket: &str) -> Result<()> {
        marker::mark(&self.context, bucket).await
    }

    /// Epochs of a bucket's objects that are not loaded: their number in the bucket, and their id.
    /// The bucket must have been [adopted](Self::adopt).
    pub fn missing_epochs(&self, bucket: &str) -> Vec<(usize, String)> {
        marker::missing_epochs(&self.context, bucket)
    }

    /// Stores an object, completely or not at all.
    pub async fn put(
        &self,
        object: &ObjectName,
        content: Content,
        attributes: &Attributes,
        conditions: &Conditions,
    ) -> Result<Receipt> {
        marker::mark(&self.context, &object.bucket).await?;
        put::put(&self.context, (object, self.place().await), content, attributes, conditions).await
    }

    /// Opens an object, or a range of its plaintext.
    pub async fn get(&self, object: &ObjectName, range: Option<Range>, conditions: &Conditions) -> Result<Opened> {
        marker::check(&self.context, &object.bucket).await?;
        let found = get::get(&self.context, (object, self.place().await), range, conditions).await;
        found.map_err(|error| marker::numbered(&self.context, &object.bucket, error))
    }

    /// Describes an object.
    pub async fn head(&self, object: &ObjectName, conditions: &Conditions) -> Result<Info> {
        marker::check(&self.context, &object.bucket).await?;
        let found = head::head(&self.context, (object, false), conditions).await;
        found.map_err(|error| marker::numbered(&self.context, &object.bucket, error))
    }

    /// The same, with the checksums of the object, if it has any.
    pub async fn head_with_checksums(&self, object: &ObjectName, conditions: &Conditions) -> Result<Info> {
        marker::check(&self.context, &object.bucket).await?;
        let found = head::head(&self.context, (object, true), conditions).await;
        found.map_err(|error| marker::numbered(&self.context, &object.bucket, error))
    }

    /// Describes an object, and the place of a part in its plaintext: the first byte, and the one
    /// behind the last. An object that was sent whole is its part 1.
    pub async fn part(
        &self,
        object: &ObjectName,
        number: u32,
        conditions: &Conditions,
    ) -> Result<(Info, Option<(u64, u64)>)> {
        marker::check(&self.context, &object.bucket).await?;
        let found = part::part(&self.context, object, number, conditions).await;
        found.map_err(|error| marker::numbered(&self.context, &object.bucket, error))
    }

    /// Where each slice of an object lies.
    pub async fn layout(&self, object: &ObjectName) -> Result<Arc<Layout>> {
        marker::check(&self.context, &object.bucket).await?;
        let found = part::layout(&self.context, object).await;
        found.map_err(|error| marker::numbered(&self.context, &object.bucket, error))
    }

    /// Lists a page of a bucket as it is stored, with unreadable names; the client's keys begin
    /// with `prefix`.
    pub async fn stored_page(&self, bucket: &str, prefix: &str, continuation: Option<String>) -> Result<StoredPage> {
        marker::check(&self.context, bucket).await?;
        verify::page(&self.context, (bucket, prefix), continuation).await
    }

    /// Verifies an object: all of it, or its head and its end.
    pub async fn verify(&self, object: &ObjectName, content: bool) -> Verdict {
        let verdict = verify::verify(&self.context, (object, self.place().await), content).await;
        match verdict {
            Verdict::Damaged(error) => Verdict::Damaged(marker::numbered(&self.context, &object.bucket, error)),
            verdict => verdict,
        }
    }

    /// Lists a page of a bucket, in the order of the keys' bytes.
    pub async fn list(&self, bucket: &str, query: &ListQuery) -> Result<Listing> {
        marker::check(&self.context, bucket).await?;
        list::list(&self.context, bucket, query).await
    }

    /// Deletes an object; a missing object is not an error.
    pub async fn delete(&self, object: &ObjectName) -> Result<()> {
        marker::check(&self.context, &object.bucket).await?;
        Ok(self.context.store.delete(&self.context.names.stored(object)?).await?)
    }

    /// Deletes an existing object that has one of these tags, or any tag if `*`.
    pub async fn delete_if(&self, object: &ObjectName, tags: &str) -> Result<()> {
        marker::check(&self.context, &object.bucket).await?;
        let conditions = Conditions { if_match: Some(tags.to_owned()), ..Conditions::default() };
        let tags = tags::conditions(&conditions).if_match.unwrap_or_default();
        Ok(self.context.store.delete_if(&self.context.names.stored(object)?, &tags).await?)
    }

    /// Deletes several objects of a bucket. Returns those that remain, with the reason.
    pub async fn delete_many(&self, bucket: &str, keys: &[String]) -> Result<Vec<(String, SealedError)>> {
        marker::check(&self.context, bucket).await?;
        let mut failures = Vec::new();
        let mut stored = Vec::new();
        for key in keys {
            match self.context.names.stored(&ObjectName::new(bucket, key)) {
                Ok(name) => stored.push(name.key),
                Err(error) => failures.push((key.clone(), error)),
            }
        }
        for (key, error) in self.context.store.delete_many(bucket, &stored).await? {
            failures.push((self.context.names.plain(bucket, &key).unwrap_or(key), error.into()));
        }
        Ok(failures)
    }

    /// Copies an object with its attributes, or with others. The conditions are the source's.
    pub async fn copy(
        &self,
        from: &ObjectName,
        to: &ObjectName,
        replace: Option<&Attributes>,
        source_conditions: &Conditions,
    ) -> Result<Receipt> {
        let change = |source| replace.cloned().unwrap_or(source);
        self.copy_with(from, to, &change, source_conditions).await
    }

    /// The same, with attributes that are derived from the source's.
    pub async fn copy_with(
        &self,
        from: &ObjectName,
        to: &ObjectName,
        change: Change<'_>,
        source_conditions: &Conditions,
    ) -> Result<Receipt> {
        marker::check(&self.context, &from.bucket).await?;
        marker::mark(&self.context, &to.bucket).await?;
        let copied = copy::copy(&self.context, (from, to), change, source_conditions).await;
        copied.map_err(|error| marker::numbered(&self.context, &from.bucket, error))
    }

    /// Begins an upload in parts; returns the client's upload id.
    pub async fn create_upload(&self, object: &ObjectName, attributes: &Attributes) -> Result<String> {
        marker::mark(&self.context, &object.bucket).await?;
        multipart::create(&self.context, object, attributes).await
    }

    /// Stores a part; a repeated part replaces the earlier one.
    pub async fn put_part(
        &self,
        object: &ObjectName,
        upload_id: &str,
        number: u32,
        content: Content,
    ) -> Result<Receipt> {
        multipart::put_part(&self.context, (object, upload_id, number), content, self.place().await).await
    }

    /// Stores a part whose plaintext is that of an object, or of a range of it.
    pub async fn copy_part(
        &self,
        to: &ObjectName,
        upload_id: &str,
        number: u32,
        from: (&ObjectName, Option<Range>, &Conditions),
    ) -> Result<Receipt> {
        marker::check(&self.context, &from.0.bucket).await?;
        let (reading, writing) = self.context.memory().two_places().await;
        let opened = copy::open(&self.context, from, reading).await;
        let content = opened.map_err(|error| marker::numbered(&self.context, &from.0.bucket, error))?;
        multipart::put_part(&self.context, (to, upload_id, number), content, writing).await
    }

    /// Combines these parts, with the ETags of the client, to one object.
    pub async fn complete_upload(
        &self,
        object: &ObjectName,
        upload_id: &str,
        parts: &[(u32, String)],
        conditions: &Conditions,
    ) -> Result<Receipt> {
        self.complete_whole(object, upload_id, parts, (&Whole::default(), conditions)).await
    }

    /// The same, if the parts add up to the object that the client described.
    ///
    /// # Errors
    /// [`super::SealedErrorKind::BadDigest`] if they do not: the upload stays.
    pub async fn complete_whole(
        &self,
        object: &ObjectName,
        upload_id: &str,
        parts: &[(u32, String)],
        conditions: (&Whole, &Conditions),
    ) -> Result<Receipt> {
        multipart::complete(&self.context, (object, upload_id), parts, conditions).await
    }

    /// Drops an upload with its parts.
    pub async fn abort_upload(&self, object: &ObjectName, upload_id: &str) -> Result<()> {
        multipart::abort(&self.context, object, upload_id).await
    }

    /// Lists an upload's parts after `after`; the second value is true if there are more.
    pub async fn list_parts(&self, object: &ObjectName, upload_id: &str, after: u32) -> Result<(Vec<PartInfo>, bool)> {
        multipart::list_parts(&self.context, (object, upload_id), after).await
    }

    /// Lists uploads under way whose key begins with `prefix`, behind the one of this key and id;
    /// the second value is true if there are more.
    pub async fn list_uploads(
        &self,
        bucket: &str,
        prefix: &str,
        after: Option<(&str, &str)>,
    ) -> Result<(Vec<UploadInfo>, bool)> {
        marker::check(&self.context, bucket).await?;
        multipart::list_uploads(&self.context, (bucket, prefix), after).await
    }

    /// Lists the buckets.
    pub async fn list_buckets(&self) -> Result<Vec<String>> {
        Ok(self.context.store.list_buckets().await?)
    }

    /// Makes a bucket.
    pub async fn create_bucket(&self, bucket: &str) -> Result<()> {
        self.context.store.create_bucket(bucket).await?;
        marker::mark(&self.context, bucket).await
    }

    /// Deletes a bucket that is empty.
    pub async fn delete_bucket(&self, bucket: &str) -> Result<()> {
        marker::delete_bucket(&self.context, bucket).await
    }

    /// A setting of a bucket; `None` if it was never set.
    pub async fn setting(&self, bucket: &str, setting: Setting) -> Result<Option<Vec<u8>>> {
        marker::check(&self.context, bucket).await?;
        own::get(&self.context, bucket, setting).await
    }

    /// Sets it.
    pub async fn set(&self, bucket: &str, setting: Setting, text: &[u8]) -> Result<()> {
        marker::mark(&self.context, bucket).await?;
        own::put(&self.context, bucket, setting, text).await
    }

    /// Removes it.
    pub async fn unset(&self, bucket: &str, setting: Setting) -> Result<()> {
        marker::check(&self.context, bucket).await?;
        own::delete(&self.context, bucket, setting).await
    }

    /// Whether a bucket exists, and may be used.
    pub async fn head_bucket(&self, bucket: &str) -> Result<()> {
        Ok(self.context.store.head_bucket(bucket).await?)
    }

    /// Announces an upload of `size` bytes of plaintext: prepares a connection, and returns at
    /// once. Call it when the client's header has arrived.
    pub fn expect_upload(&self, bucket: &str, size: u64) {
        self.context.store.expect_upload(bucket, sealed_size(size).unwrap_or(size));
    }

    /// The bound of all buffers.
    pub fn memory(&self) -> &Memory {
        self.context.memory()
    }

    async fn place(&self) -> crate::memory::Permit {
        self.context.memory().place().await
    }
}
