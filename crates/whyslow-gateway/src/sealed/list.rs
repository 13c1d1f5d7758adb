//! Lists by plaintext: names, and sizes.
//!
//! A single object's size follows from what is stored. A multipart object is stored with a size
//! that no single one has (`multipart`), so it shows in the list, and its end is read once: the
//! size is remembered by name and ETag. What no gateway stored is listed as it is: deleting it must
//! be possible, and reading it says what is wrong.

use super::attributes;
use super::checked::OURS;
use super::context::Context;
use super::encrypted_list::{self, Page};
use super::error::{SealedError, SealedErrorKind};
use super::known::Size;
use super::tags;
use super::tail;
use super::types::{Attributes, Info, Listing};
use crate::format::manifest::{self, MAX_PARTS, TAIL};
use crate::format::{Kind, plain_size};
use crate::store::{Conditions, ListQuery, ObjectInfo, ObjectName, Range, ReadOptions};
use futures_util::{StreamExt, TryStreamExt, stream};

/// Ends that are read at once.
const PARALLEL: usize = 16;
/// Parts that an object is taken to have where its tag does not tell.
const SOME_PARTS: u32 = 100;

pub(super) async fn list(context: &Context, bucket: &str, query: &ListQuery) -> Result<Listing, SealedError> {
    let (objects, prefixes, next) = match context.names.cipher(bucket) {
        Some(cipher) => encrypted_list::page(&*context.store, &cipher, (bucket, query)).await?,
        None => plain_page(context, bucket, query.clone()).await?,
    };
    let objects = stream::iter(objects)
        .map(|(key, info)| client_info(context, bucket, (key, info)))
        .buffered(PARALLEL)
        .try_collect()
        .await?;
    Ok(Listing { objects, prefixes, next })
}

/// A page without the gateway's own keys. It holds something, or is the last one.
async fn plain_page(context: &Context, bucket: &str, mut query: ListQuery) -> Result<Page, SealedError> {
    loop {
        let page = context.store.list(bucket, &query).await?;
        let is_clients = |key: &str| !key.starts_with(OURS);
        let objects = page.objects.into_iter().filter(|info| is_clients(&info.key));
        let objects: Vec<_> = objects.map(|info| (info.key.clone(), info)).collect();
        let prefixes: Vec<_> = page.prefixes.into_iter().filter(|prefix| is_clients(prefix)).collect();
        if page.next.is_none() || !objects.is_empty() || !prefixes.is_empty() {
            return Ok((objects, prefixes, page.next));
        }
        query.continuation = page.next;
    }
}

async fn client_info(context: &Context, bucket: &str, (key, info): (String, ObjectInfo)) -> Result<Info, SealedError> {
    let Size { length, parts } = match plain_size(info.size) {
        Some(length) => Size { length, parts: None },
        None => {
            let stored = ObjectName::new(bucket, &info.key);
            match context.known.size(&stored, &info.tag) {
                Some(size) => size,
                None => {
                    let size = look(context, (&ObjectName::new(bucket, &key), &stored), &info).await?;
                    context.known.note_size(&stored, &info.tag, size);
                    size
                }
            }
        }
    };
    let (tag, modified, attributes) = (tags::to_client(&info.tag), info.modified, Attributes::default());
    Ok(Info { key, size: length, tag, modified, attributes, parts })
}

/// Reads the end of what is no single object.
async fn look(
    context: &Context,
    (name, stored): (&ObjectName, &ObjectName),
    info: &ObjectInfo,
) -> Result<Size, SealedError> {
    let as_it_is = Size { length: info.size, parts: None };
    match read(context, (name, stored), info).await {
        Ok(size) => Ok(size),
        Err(error) => match error.kind {
            SealedErrorKind::Unavailable
            | SealedErrorKind::SlowDown { .. }
            | SealedErrorKind::Forbidden
            | SealedErrorKind::Internal => Err(error),
            // Foreign, changed, or deleted meanwhile.
            _ => Ok(as_it_is),
        },
    }
}

async fn read(
    context: &Context,
    (name, stored): (&ObjectName, &ObjectName),
    info: &ObjectInfo,
) -> Result<Size, SealedError> {
    let last = manifest::size(parts_of(&info.tag)).min(TAIL);
    let _permit = context.memory().acquire(TAIL).await;
    let conditions = Conditions { if_match: Some(info.tag.clone()), ..Conditions::default() };
    let download = context.store.get(stored, Some(Range::Last(last)), &conditions).await?;
    let info = download.info.clone();
    let (object, _) = attributes::verify(&context.keyring, name, &info)?;
    let tail = tail::collect(download, last).await?;
    let layout = match manifest::read_tail(&context.keyring, object, info.size, &tail)? {
        manifest::Tail::Layout(layout) => layout.into(),
        manifest::Tail::Longer(_) => tail::layout(context, stored, (object, &info), &ReadOptions::default()).await?,
    };
    let parts = u32::try_from(layout.slices().len()).ok().filter(|_| object.kind() == Kind::Multipart);
    Ok(Size { length: layout.length(), parts })
}

/// The storage's parts, as S3's tags of multipart objects have it; one of them is the manifest.
fn parts_of(tag: &str) -> u32 {
    let count = tag.trim_matches('"').rsplit_once('-').and_then(|(_, count)| count.parse().ok());
    count.filter(|count| (1..=MAX_PARTS).contains(count)).unwrap_or(SOME_PARTS)
}
