//! [`Known`]: a bounded cache of facts about objects, parts and uploads. Nothing depends on it.

use super::types::{PartInfo, UploadInfo};
use crate::format::Layout;
use crate::store::ObjectName;
use lru::LruCache;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of layouts of objects, and of slices in one.
const LAYOUTS: usize = 64;
const MOST_SLICES: usize = 2_000;
/// Number of parts and uploads.
const PARTS: usize = 20_000;
const UPLOADS: usize = 2_000;

/// Half a SHA-256 over the fields of a name: long keys take no more than short ones.
type Digest = [u8; 16];

/// A multipart object's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// Bytes of plaintext.
    pub length: u64,
    /// The number of the client's parts; `None` for a single object.
    pub parts: Option<u32>,
}

#[derive(Clone, Debug)]
struct Versioned {
    tag: String,
    layout: Arc<Layout>,
}

pub(super) struct Known {
    sizes: Mutex<LruCache<Digest, Size>>,
    layouts: Mutex<LruCache<Digest, Versioned>>,
    /// The parts, with the storage's tag.
    parts: Mutex<LruCache<Digest, (String, PartInfo)>>,
    uploads: Mutex<LruCache<Digest, UploadInfo>>,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("sizes", &lock(&self.sizes).len()).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cache<T>(most: usize) -> Mutex<LruCache<Digest, T>> {
    Mutex::new(LruCache::new(NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN)))
}

fn digest(fields: &[&str]) -> Digest {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    for field in fields {
        context.update(&(field.len() as u64).to_be_bytes());
        context.update(field.as_bytes());
    }
    let mut digest = [0; 16];
    digest.copy_from_slice(&context.finish().as_ref()[..16]);
    digest
}

impl Known {
    pub(super) fn new(sizes: usize) -> Self {
        Self { sizes: cache(sizes), layouts: cache(LAYOUTS), parts: cache(PARTS), uploads: cache(UPLOADS) }
    }

    /// The size of this version of an object.
    pub(super) fn size(&self, stored: &ObjectName, tag: &str) -> Option<Size> {
        lock(&self.sizes).get(&digest(&[&stored.bucket, &stored.key, tag.trim_matches('"')])).copied()
    }

    pub(super) fn note_size(&self, stored: &ObjectName, tag: &str, size: Size) {
        lock(&self.sizes).put(digest(&[&stored.bucket, &stored.key, tag.trim_matches('"')]), size);
    }

    /// The layout of the version that was read last, with its tag.
    pub(super) fn layout(&self, stored: &ObjectName) -> Option<(String, Arc<Layout>)> {
        let mut layouts = lock(&self.layouts);
        let known = layouts.get(&digest(&[&stored.bucket, &stored.key]))?;
        Some((known.tag.clone(), Arc::clone(&known.layout)))
    }

    pub(super) fn note_layout(&self, stored: &ObjectName, tag: &str, layout: &Arc<Layout>) {
        let parts = u32::try_from(layout.slices().len()).ok();
        self.note_size(stored, tag, Size { length: layout.length(), parts });
        if layout.slices().len() <= MOST_SLICES {
            let known = Versioned { tag: tag.to_owned(), layout: Arc::clone(layout) };
            lock(&self.layouts).put(digest(&[&stored.bucket, &stored.key]), known);
        }
    }

    pub(super) fn forget_layout(&self, stored: &ObjectName) {
        lock(&self.layouts).pop(&digest(&[&stored.bucket, &stored.key]));
    }

    /// The answer to the client about a part, if the storage still has that part.
    pub(super) fn part(&self, upload: &str, number: u32, tag: &str) -> Option<PartInfo> {
        let mut parts = lock(&self.parts);
        let (known, info) = parts.get(&digest(&[upload, &number.to_string()]))?;
        (known.trim_matches('"') == tag.trim_matches('"')).then(|| info.clone())
    }

    pub(super) fn note_part(&self, upload: &str, tag: &str, info: PartInfo) {
        lock(&self.parts).put(digest(&[upload, &info.number.to_string()]), (tag.to_owned(), info));
    }

    /// The answer to the client about an upload that the storage has.
    pub(super) fn upload(&self, bucket: &str, backend: &str) -> Option<UploadInfo> {
        lock(&self.uploads).get(&digest(&[bucket, backend])).cloned()
    }

    pub(super) fn note_upload(&self, bucket: &str, backend: &str, info: UploadInfo) {
        lock(&self.uploads).put(digest(&[bucket, backend]), info);
    }

    pub(super) fn forget_upload(&self, bucket: &str, backend: &str) {
        lock(&self.uploads).pop(&digest(&[bucket, backend]));
    }
}
