//! [`FolderStore`]: a folder of this machine.
//!
//! ```text
//!   FOLDER/BUCKET/a/b.txt                an object: its bytes, and an extended attribute
//!   FOLDER/.whyslow-gateway/drafts/…     what is being written
//!   FOLDER/.whyslow-gateway/uploads/ID/  an upload: its parts, a file each
//! ```
//!
//! A file is written aside, flushed to the disk, and put in place in one step, with its metadata in
//! an extended attribute: no reader meets a torn object, also after a loss of power. `cp -a` and
//! `rsync -X` copy such a folder whole. The `object_store` crate's local store is not used, since
//! it keeps no metadata. Conditions hold among the requests of one process.

mod attribute;
mod entries;
mod files;
mod names;
mod uploads;
mod walk;

use super::{
    Conditions, Download, ErrorKind, ListQuery, Listing, ObjectInfo, ObjectName, Part, PutOptions, Range, Store,
    StoreError, Stored, Upload, UploadListing,
};
use crate::pool::{Body, BodyError, ByteStream};
use async_trait::async_trait;
use bytes::Bytes;
use entries::Entries;
use files::{About, Draft, Placing, blocking, failed};
use futures_util::{StreamExt, stream};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Read at once.
const CHUNK: usize = 256 << 10;
/// Uploads on a page of their list.
const PAGE: usize = 1000;

/// A folder with a folder for each bucket.
#[derive(Debug)]
pub struct FolderStore {
    root: PathBuf,
    /// No file is put in place between a condition and the write that it permits.
    placing: Arc<Mutex<()>>,
    entries: Arc<Entries>,
}

impl FolderStore {
    /// Makes a folder if it is not there; the one above it must be.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(root: &Path) -> Result<(), StoreError> {
        match fs::create_dir(root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let why = "the folder above it is not there: make it, or correct the path";
                Err(StoreError::new(ErrorKind::Invalid, why).at(root))
            }
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(root, &error)),
            _ => Ok(()),
        }
    }

    /// Opens a folder, and makes it if it is not there. Drafts that an earlier process left are
    /// removed: one process uses a folder at a time.
    ///
    /// # Errors
    /// When it cannot be made or written, or its file system has no extended attributes.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let root = root.into();
        Self::make(&root)?;
        let drafts = root.join(names::OURS).join("drafts");
        for folder in [&drafts, &uploads::folder(&root)] {
            fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        }
        for draft in fs::read_dir(&drafts).map_err(|error| failed(&drafts, &error))?.flatten() {
            let _ = fs::remove_file(draft.path());
        }
        let trial = drafts.join("trial");
        Draft::new(&drafts)?.place(&About::new(&PutOptions::default()), &trial, Placing::Within).map_err(|error| {
            let why = "this file system keeps no extended attributes (user.*), which hold the objects' metadata";
            let is_full = matches!(error.kind, ErrorKind::Full | ErrorKind::Busy | ErrorKind::Denied);
            if is_full {
                error
            } else {
                StoreError::new(ErrorKind::Unsupported, format!("{why}: {}", error.message)).at(&root)
            }
        })?;
        fs::remove_file(&trial).map_err(|error| failed(&trial, &error))?;
        Ok(Self { root, placing: Arc::default(), entries: Arc::default() })
    }

    fn file(&self, object: &ObjectName) -> Result<PathBuf, StoreError> {
        let file = names::file(&self.root, &object.bucket, &object.key)?;
        self.bucket(&object.bucket)?;
        Ok(file)
    }

    fn bucket(&self, bucket: &str) -> Result<PathBuf, StoreError> {
        let path = names::bucket(&self.root, bucket)?;
        if path.is_dir() { Ok(path) } else { Err(StoreError::new(ErrorKind::NoSuchBucket, bucket)) }
    }

    fn drafts(&self) -> PathBuf {
        self.root.join(names::OURS).join("drafts")
    }

    /// Puts a draft in place under conditions.
    async fn place(
        &self,
        object: &ObjectName,
        (draft, about): (Draft, About),
        conditions: &Conditions,
    ) -> Result<Stored, StoreError> {
        let (path, key, conditions) = (self.file(object)?, object.key.clone(), conditions.clone());
        let _guard = self.placing.lock().await;
        blocking(move || {
            let there = match files::open(&path, &key) {
                Ok((_, info)) => Some(info),
                // An object that no gateway stored has no tag for a condition.
                Err(error) if matches!(error.kind, ErrorKind::NoSuchKey | ErrorKind::Foreign) => None,
                Err(error) => return Err(error),
            };
            files::check(&conditions, there.as_ref()).map_err(|error| match error.kind {
                ErrorKind::NotModified => StoreError::new(ErrorKind::Precondition, error.message),
                _ => error,
            })?;
            let is_new = conditions.if_none_match.as_deref() == Some("*");
            draft.place(&about, &path, if is_new { Placing::New } else { Placing::Over })?;
            Ok(Stored { tag: about.tag, transfer: None })
        })
        .await?
    }
}

/// Removes an object's file, and the folders that it leaves empty.
fn remove(bucket: &Path, file: &Path) -> Result<(), StoreError> {
    match fs::remove_file(file) {
        Err(error) if failed(file, &error).kind != ErrorKind::NoSuchKey => return Err(failed(file, &error)),
        _ => {}
    }
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != bucket) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// The bytes of an open file, even if another file takes its place.
fn read(mut file: File, (first, end): (u64, u64)) -> ByteStream {
    let failed = |error: &dyn std::error::Error| BodyError::Source(error.to_string());
    if let Err(error) = file.seek(SeekFrom::Start(first)) {
        return stream::iter([Err(failed(&error))]).boxed();
    }
    stream::try_unfold((file, end - first), move |(mut file, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        // Made here, where it is dropped: what threads for blocking calls allocate, an allocator
        // keeps for them.
        let mut chunk = vec![0; CHUNK.min(usize::try_from(left).unwrap_or(CHUNK))];
        let read = blocking(move || file.read_exact(&mut chunk).map(|()| (Bytes::from(chunk), file)));
        let (chunk, file) = read.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        let left = left - chunk.len() as u64;
        Ok(Some((chunk, (file, left))))
    })
    .boxed()
}

#[async_trait]
impl Store for FolderStore {
    async fn put(&self, object: &ObjectName, body: Body, options: &PutOptions) -> Result<Stored, StoreError> {
        self.file(object)?;
        let mut draft = Draft::new(&self.drafts())?;
        draft.write(&body).await?;
        self.place(object, (draft, About::new(options)), &options.conditions).await
    }

    async fn get(
        &self,
        object: &ObjectName,
        range: Option<Range>,
        conditions: &Conditions,
    ) -> Result<Download, StoreError> {
        let (path, key) = (self.file(object)?, object.key.clone());
        let (file, info) = blocking(move || files::open(&path, &key)).await??;
        files::check(conditions, Some(&info))?;
        let outside = || StoreError::new(ErrorKind::Range, format!("the object has {} bytes", info.size));
        let range = match range {
            Some(range) => range.of(info.size).ok_or_else(outside)?,
            None => (0, info.size),
        };
        Ok(Download { info, range, body: read(file, range) })
    }

    async fn head(&self, object: &ObjectName, conditions: &Conditions) -> Result<ObjectInfo, StoreError> {
        let (path, key) = (self.file(object)?, object.key.clone());
        let (_, info) = blocking(move || files::open(&path, &key)).await??;
        files::check(conditions, Some(&info))?;
        Ok(info)
    }

    async fn list(&self, bucket: &str, query: &ListQuery) -> Result<Listing, StoreError> {
        let (bucket, query, entries) = (self.bucket(bucket)?, query.clone(), Arc::clone(&self.entries));
        blocking(move || walk::list(&bucket, &query, &entries)).await?
    }

    async fn delete(&self, object: &ObjectName) -> Result<(), StoreError> {
        let (bucket, file) = (self.bucket(&object.bucket)?, self.file(object)?);
        let _guard = self.placing.lock().await;
        blocking(move || remove(&bucket, &file)).await?
    }

    async fn delete_if(&self, object: &ObjectName, tags: &str) -> Result<(), StoreError> {
        let (bucket, file, key) = (self.bucket(&object.bucket)?, self.file(object)?, object.key.clone());
        let conditions = Conditions { if_match: Some(tags.to_owned()), ..Conditions::default() };
        let _guard = self.placing.lock().await;
        blocking(move || {
            let (_, info) = files::open(&file, &key)?;
            files::check(&conditions, Some(&info))?;
            remove(&bucket, &file)
        })
        .await?
    }

    async fn delete_many(&self, bucket: &str, keys: &[String]) -> Result<Vec<(String, StoreError)>, StoreError> {
        self.bucket(bucket)?;
        let mut failures = Vec::new();
        for key in keys {
            if let Err(error) = self.delete(&ObjectName::new(bucket, key)).await {
                failures.push((key.clone(), error));
            }
        }
        Ok(failures)
    }

    async fn copy(
        &self,
        from: &ObjectName,
        to: &ObjectName,
        options: Option<&PutOptions>,
        conditions: &Conditions,
    ) -> Result<Stored, StoreError> {
        let Download { info, body, .. } = self.get(from, None, conditions).await?;
        let as_it_is = || PutOptions {
            content_type: info.content_type.clone(),
            metadata: info.metadata.clone(),
            ..PutOptions::default()
        };
        let options = options.cloned().unwrap_or_else(as_it_is);
        self.put(to, Body::stream(info.size, 0, body), &options).await
    }

    async fn create_upload(&self, object: &ObjectName, options: &PutOptions) -> Result<Upload, StoreError> {
        self.file(object)?;
        let (root, object, about) = (self.root.clone(), object.clone(), About::new(options));
        blocking(move || uploads::create(&root, &object, about)).await?
    }

    async fn put_part(&self, upload: &Upload, number: u32, body: Body) -> Result<Part, StoreError> {
        uploads::put_part(&self.root, upload, number, &body).await
    }

    async fn complete_upload(
        &self,
        upload: &Upload,
        parts: &[Part],
        conditions: &Conditions,
    ) -> Result<Stored, StoreError> {
        let (root, one, list) = (self.root.clone(), upload.clone(), parts.to_vec());
        let assembled = blocking(move || uploads::assemble(&root, &one, &list)).await??;
        let stored = self.place(&upload.object, assembled, conditions).await?;
        self.abort_upload(upload).await?;
        Ok(stored)
    }

    async fn abort_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        let (root, upload) = (self.root.clone(), upload.clone());
        blocking(move || uploads::remove(&root, &upload)).await?
    }

    async fn list_parts(&self, upload: &Upload, after: u32) -> Result<(Vec<Part>, bool), StoreError> {
        let (root, upload) = (self.root.clone(), upload.clone());
        let mut parts = blocking(move || uploads::parts(&root, &upload, after)).await??;
        let has_more = parts.len() > PAGE;
        parts.truncate(PAGE);
        Ok((parts, has_more))
    }

    async fn list_uploads(
        &self,
        bucket: &str,
        prefix: &str,
        after: Option<&Upload>,
    ) -> Result<UploadListing, StoreError> {
        self.bucket(bucket)?;
        let (root, bucket, prefix) = (self.root.clone(), bucket.to_owned(), prefix.to_owned());
        let mut uploads = blocking(move || uploads::list(&root, &bucket, &prefix)).await??;
        if let Some(after) = after {
            let last = (&after.object.key, &after.id);
            uploads.retain(|info| (&info.upload.object.key, &info.upload.id) > last);
        }
        let has_more = uploads.len() > PAGE;
        uploads.truncate(PAGE);
        Ok(UploadListing { uploads, has_more })
    }

    async fn list_buckets(&self) -> Result<Vec<String>, StoreError> {
        let here = |error| failed(&self.root, &error);
        let mut buckets = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(here)? {
            let entry = entry.map_err(here)?;
            let name = entry.file_name().into_string().ok();
            let name = name.filter(|name| names::bucket(&self.root, name).is_ok() && entry.path().is_dir());
            buckets.extend(name);
        }
        buckets.sort();
        Ok(buckets)
    }

    async fn create_bucket(&self, bucket: &str) -> Result<(), StoreError> {
        let path = names::bucket(&self.root, bucket)?;
        fs::create_dir(&path).map_err(|error| match failed(&path, &error) {
            error if error.kind == ErrorKind::Precondition => StoreError::new(ErrorKind::BucketExists, bucket),
            error => error,
        })
    }

    async fn delete_bucket(&self, bucket: &str) -> Result<(), StoreError> {
        let path = self.bucket(bucket)?;
        fs::remove_dir(&path).map_err(|error| failed(&path, &error))
    }

    async fn head_bucket(&self, bucket: &str) -> Result<(), StoreError> {
        self.bucket(bucket).map(|_| ())
    }
}
