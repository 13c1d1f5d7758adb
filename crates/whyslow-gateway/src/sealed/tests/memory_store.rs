//! [`MemoryStore`]: a store that notes its requests, and fails or lies on demand.

use crate::pool::{Body, BodyError};
use crate::store::{
    Conditions, Download, ErrorKind, ListQuery, Listing, ObjectInfo, ObjectName, Part, Plan, PutOptions, Range, Store,
    StoreError, Stored, Upload, UploadInfo, UploadListing,
};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::BodyExt;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

#[derive(Clone, Debug)]
pub struct Entry {
    pub bytes: Vec<u8>,
    pub tag: String,
    pub options: PutOptions,
}

#[derive(Clone, Debug)]
pub struct Begun {
    pub object: ObjectName,
    pub options: PutOptions,
    pub parts: BTreeMap<u32, (Vec<u8>, String)>,
}

#[derive(Debug, Default)]
pub struct State {
    pub objects: BTreeMap<ObjectName, Entry>,
    pub uploads: BTreeMap<String, Begun>,
    /// Tags and ids count up.
    next: u64,
    /// Ranges that were asked for.
    pub gets: Vec<Option<Range>>,
    /// Requests under way, and most at once.
    pub under_way: usize,
    pub most_under_way: usize,
    /// Sizes of the parts, in the order of their numbers, of the upload that was completed last.
    pub completed: Vec<usize>,
    pub plan: Option<Plan>,
    /// How long each request takes.
    pub pause: Duration,
    /// The next bodies break after these numbers of bytes; the attempt is repeated if it may be.
    pub breaks: Vec<usize>,
    /// The bytes received in each attempt to send a body.
    pub attempts: Vec<Vec<u8>>,
    /// Bodies of answers end after this many bytes of the stored object.
    pub cut_answers_at: Option<u64>,
}

#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

impl MemoryStore {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    async fn enter(&self) {
        let pause = {
            let mut state = self.state();
            state.under_way += 1;
            state.most_under_way = state.most_under_way.max(state.under_way);
            state.pause
        };
        tokio::time::sleep(pause).await;
        self.state().under_way -= 1;
    }

    /// Reads a body as a connection does, with the attempts that a client of S3 makes.
    async fn receive(&self, body: &Body) -> Result<Vec<u8>, StoreError> {
        self.enter().await;
        loop {
            let breaks = self.state().breaks.pop();
            let mut sending = body.begin();
            let mut bytes = Vec::new();
            let broken = loop {
                if breaks.is_some_and(|after| bytes.len() >= after) {
                    break true;
                }
                match sending.frame().await {
                    None => break false,
                    Some(Ok(frame)) => bytes.extend_from_slice(&frame.into_data().unwrap()),
                    Some(Err(error)) => {
                        self.state().attempts.push(bytes);
                        return Err(StoreError::new(ErrorKind::Body(error), ""));
                    }
                }
                tokio::task::yield_now().await;
            };
            self.state().attempts.push(bytes.clone());
            if !broken {
                return Ok(bytes);
            }
            if !body.can_begin() {
                let kind = ErrorKind::Connection(crate::pool::Sent::Part);
                return Err(StoreError::new(kind, "it broke"));
            }
        }
    }

    fn place(&self, object: &ObjectName, bytes: Vec<u8>, options: PutOptions) -> Result<Stored, StoreError> {
        let mut state = self.state();
        check(&options.conditions, state.objects.get(object)).map_err(|error| match error.kind {
            ErrorKind::NotModified => StoreError::new(ErrorKind::Precondition, ""),
            _ => error,
        })?;
        state.next += 1;
        let tag = format!("\"t{}\"", state.next);
        state.objects.insert(object.clone(), Entry { bytes, tag: tag.clone(), options });
        Ok(Stored { tag, transfer: None })
    }
}

fn check(conditions: &Conditions, entry: Option<&Entry>) -> Result<(), StoreError> {
    let names = |tags: &str, entry: &Entry| tags == "*" || tags.split(", ").any(|tag| tag == entry.tag);
    if let Some(tags) = &conditions.if_match
        && !entry.is_some_and(|entry| names(tags, entry))
    {
        return Err(StoreError::new(ErrorKind::Precondition, ""));
    }
    if let Some(tags) = &conditions.if_none_match
        && entry.is_some_and(|entry| names(tags, entry))
    {
        return Err(StoreError::new(ErrorKind::NotModified, ""));
    }
    Ok(())
}

fn info(object: &ObjectName, entry: &Entry) -> ObjectInfo {
    ObjectInfo {
        key: object.key.clone(),
        size: entry.bytes.len() as u64,
        tag: entry.tag.clone(),
        modified: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000),
        content_type: entry.options.content_type.clone(),
        metadata: entry.options.metadata.clone(),
    }
}

fn is_marker(object: &ObjectName) -> bool {
    object.key == ".whyslow-gateway/settings"
}

fn refuse<T>(kind: ErrorKind) -> Result<T, StoreError> {
    Err(StoreError::new(kind, ""))
}

#[async_trait]
impl Store for MemoryStore {
    async fn put(&self, object: &ObjectName, body: Body, options: &PutOptions) -> Result<Stored, StoreError> {
        let bytes = if is_marker(object) {
            // It is not what a test counts and breaks.
            body.begin().collect().await.unwrap().to_bytes().to_vec()
        } else {
            self.receive(&body).await?
        };
        assert_eq!(bytes.len() as u64, body.len());
        self.place(object, bytes, options.clone())
    }

    async fn get(
        &self,
        object: &ObjectName,
        range: Option<Range>,
        conditions: &Conditions,
    ) -> Result<Download, StoreError> {
        if !is_marker(object) {
            self.state().gets.push(range);
            self.enter().await;
        }
        let state = self.state();
        let Some(entry) = state.objects.get(object) else { return refuse(ErrorKind::NoSuchKey) };
        check(conditions, Some(entry))?;
        let size = entry.bytes.len() as u64;
        let (first, end) = match range {
            None => (0, size),
            Some(range) => match range.of(size) {
                Some(range) => range,
                None => return refuse(ErrorKind::Range),
            },
        };
        let cut = state.cut_answers_at.unwrap_or(u64::MAX).clamp(first, end);
        let mut chunks: Vec<_> = entry.bytes[first as usize..cut as usize]
            .chunks(50_001)
            .map(|chunk| Ok(Bytes::copy_from_slice(chunk)))
            .collect();
        if cut < end {
            chunks.push(Err(BodyError::Length { announced: end, got: cut }));
        }
        Ok(Download { info: info(object, entry), range: (first, end), body: stream::iter(chunks).boxed() })
    }

    async fn head(&self, object: &ObjectName, conditions: &Conditions) -> Result<ObjectInfo, StoreError> {
        self.enter().await;
        let state = self.state();
        let Some(entry) = state.objects.get(object) else { return refuse(ErrorKind::NoSuchKey) };
        check(conditions, Some(entry))?;
        Ok(info(object, entry))
    }

    /// In two pages at most: so that paging is tested, and not more.
    async fn list(&self, bucket: &str, query: &ListQuery) -> Result<Listing, StoreError> {
        let state = self.state();
        let after = query.continuation.clone().or_else(|| query.start_after.clone()).unwrap_or_default();
        let mut listing = Listing::default();
        let most = if query.max == 0 { 7 } else { query.max as usize };
        for (object, entry) in state.objects.iter().filter(|(object, _)| object.bucket == bucket) {
            let Some(rest) = object.key.strip_prefix(&query.prefix) else { continue };
            let common = query.delimiter.as_ref().and_then(|delimiter| Some(rest.find(delimiter)? + delimiter.len()));
            let item = &object.key[..query.prefix.len() + common.unwrap_or(rest.len())];
            if item <= after.as_str() || listing.prefixes.last().is_some_and(|last| last == item) {
                continue;
            }
            if listing.objects.len() + listing.prefixes.len() == most {
                let last = listing.objects.last().map(|info| info.key.clone());
                listing.next = last.max(listing.prefixes.last().cloned());
                break;
            }
            match common {
                Some(_) => listing.prefixes.push(item.to_owned()),
                None => listing.objects.push(info(object, entry)),
            }
        }
        Ok(listing)
    }

    async fn delete(&self, object: &ObjectName) -> Result<(), StoreError> {
        self.state().objects.remove(object);
        Ok(())
    }

    async fn delete_many(&self, bucket: &str, keys: &[String]) -> Result<Vec<(String, StoreError)>, StoreError> {
        for key in keys {
            self.delete(&ObjectName::new(bucket, key)).await?;
        }
        Ok(Vec::new())
    }

    async fn copy(
        &self,
        from: &ObjectName,
        to: &ObjectName,
        options: Option<&PutOptions>,
        conditions: &Conditions,
    ) -> Result<Stored, StoreError> {
        let Some(entry) = self.state().objects.get(from).cloned() else { return refuse(ErrorKind::NoSuchKey) };
        check(conditions, Some(&entry))?;
        self.place(to, entry.bytes, options.cloned().unwrap_or(entry.options))
    }

    async fn create_upload(&self, object: &ObjectName, options: &PutOptions) -> Result<Upload, StoreError> {
        let mut state = self.state();
        state.next += 1;
        let id = format!("u{}", state.next);
        let begun = Begun { object: object.clone(), options: options.clone(), parts: BTreeMap::new() };
        state.uploads.insert(id.clone(), begun);
        Ok(Upload { object: object.clone(), id })
    }

    async fn put_part(&self, upload: &Upload, number: u32, body: Body) -> Result<Part, StoreError> {
        assert!((1..=10_000).contains(&number));
        let bytes = self.receive(&body).await?;
        let mut state = self.state();
        state.next += 1;
        let (tag, size) = (format!("\"t{}\"", state.next), bytes.len() as u64);
        let Some(begun) = state.uploads.get_mut(&upload.id) else { return refuse(ErrorKind::NoSuchUpload) };
        begun.parts.insert(number, (bytes, tag.clone()));
        Ok(Part { number, tag, size, transfer: None })
    }

    async fn complete_upload(
        &self,
        upload: &Upload,
        parts: &[Part],
        conditions: &Conditions,
    ) -> Result<Stored, StoreError> {
        let Some(begun) = self.state().uploads.get(&upload.id).cloned() else { return refuse(ErrorKind::NoSuchUpload) };
        let mut bytes = Vec::new();
        let mut sizes = Vec::new();
        for part in parts {
            match begun.parts.get(&part.number) {
                Some((of_part, tag)) if *tag == part.tag && of_part.len() as u64 == part.size => {
                    bytes.extend_from_slice(of_part);
                    sizes.push(of_part.len());
                }
                _ => return refuse(ErrorKind::InvalidPart),
            }
        }
        let options = PutOptions { conditions: conditions.clone(), ..begun.options };
        let stored = self.place(&begun.object, bytes, options)?;
        let mut state = self.state();
        state.uploads.remove(&upload.id);
        state.completed = sizes;
        Ok(stored)
    }

    async fn abort_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        self.state().uploads.remove(&upload.id);
        Ok(())
    }

    async fn list_parts(&self, upload: &Upload, after: u32) -> Result<(Vec<Part>, bool), StoreError> {
        let state = self.state();
        let Some(begun) = state.uploads.get(&upload.id) else { return refuse(ErrorKind::NoSuchUpload) };
        let parts = begun.parts.range(after + 1..).map(|(number, (bytes, tag))| Part {
            number: *number,
            tag: tag.clone(),
            size: bytes.len() as u64,
            transfer: None,
        });
        Ok((parts.collect(), false))
    }

    async fn list_uploads(
        &self,
        bucket: &str,
        prefix: &str,
        after: Option<&Upload>,
    ) -> Result<UploadListing, StoreError> {
        let state = self.state();
        let uploads = state.uploads.iter().map(|(id, begun)| Upload { object: begun.object.clone(), id: id.clone() });
        let here = uploads.filter(|upload| upload.object.bucket == bucket && upload.object.key.starts_with(prefix));
        let mut here: Vec<_> = here.map(|upload| UploadInfo { upload, begun: SystemTime::UNIX_EPOCH }).collect();
        let key = |info: &UploadInfo| (info.upload.object.key.clone(), info.upload.id.clone());
        here.sort_by_key(key);
        if let Some(after) = after {
            here.retain(|info| key(info) > (after.object.key.clone(), after.id.clone()));
        }
        let has_more = here.len() > 2;
        here.truncate(2);
        Ok(UploadListing { uploads: here, has_more })
    }

    async fn list_buckets(&self) -> Result<Vec<String>, StoreError> {
        Ok(vec!["bucket".to_owned()])
    }

    async fn create_bucket(&self, _: &str) -> Result<(), StoreError> {
        refuse(ErrorKind::BucketExists)
    }

    async fn delete_bucket(&self, _: &str) -> Result<(), StoreError> {
        refuse(ErrorKind::BucketNotEmpty)
    }

    async fn head_bucket(&self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    fn plan(&self, size: u64) -> Option<Plan> {
        self.state().plan.filter(|plan| size > plan.part_size)
    }
}
