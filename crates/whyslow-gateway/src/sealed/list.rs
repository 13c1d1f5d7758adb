//! Lists by plaintext: names, and sizes.
//!
//! A single object's size follows from the stored size. A multipart object is stored with a size
//! that no single one has (`multipart`). So the list shows it, and its end is read once: the size
//! is remembered by name and ETag. An unreadable object fails the list, with its key and the
//! reason: clients delete what a list leaves out, and compare sizes with it.

use super::attributes;
use super::checked::OURS;
use super::context::Context;
use super::encrypted_list::{self, Page};
use super::error::{SealedError, SealedErrorKind};
use super::known::Size;
use super::marker;
use super::tags;
use super::tail;
use super::types::{Attributes, Info, Listing};
use crate::format::manifest::{self, MAX_PARTS, TAIL};
use crate::format::{Fault, Kind, Problem, plain_size};
use crate::store::{Conditions, ErrorKind, ListQuery, ObjectInfo, ObjectName, Range, ReadOptions};
use futures_util::{StreamExt, TryStreamExt, stream};

/// Number of ends that are read at once.
const PARALLEL: usize = 16;
/// Assumed number of parts of an object if its tag does not show it.
const SOME_PARTS: u32 = 100;
/// Attempts for an object that changes while its end is read.
const ATTEMPTS: u32 = 3;

pub(super) async fn list(context: &Context, bucket: &str, query: &ListQuery) -> Result<Listing, SealedError> {
    let (objects, prefixes, next) = match context.names.cipher(bucket) {
        Some(cipher) => encrypted_list::page(&*context.store, &cipher, (bucket, query)).await?,
        None => plain_page(context, bucket, query.clone()).await?,
    };
    let objects: Vec<Option<Info>> = stream::iter(objects)
        .map(|(key, info)| client_info(context, bucket, (key, info)))
        .buffered(PARALLEL)
        .try_collect()
        .await?;
    Ok(Listing { objects: objects.into_iter().flatten().collect(), prefixes, next })
}

/// A page without the gateway's own keys. Later keys fill it, so it is empty only at the end.
async fn plain_page(context: &Context, bucket: &str, mut query: ListQuery) -> Result<Page, SealedError> {
    let (mut objects, mut prefixes) = (Vec::new(), Vec::new());
    loop {
        let page = context.store.list(bucket, &query).await?;
        let is_clients = |key: &str| !key.starts_with(OURS);
        let count = page.objects.len() + page.prefixes.len();
        let before = objects.len() + prefixes.len();
        let clients = page.objects.into_iter().filter(|info| is_clients(&info.key));
        objects.extend(clients.map(|info| (info.key.clone(), info)));
        prefixes.extend(page.prefixes.into_iter().filter(|prefix| is_clients(prefix)));
        let missing = count - (objects.len() + prefixes.len() - before);
        if page.next.is_none() || missing == 0 {
            return Ok((objects, prefixes, page.next));
        }
        query.continuation = page.next;
        query.max = u32::try_from(missing).unwrap_or(u32::MAX);
    }
}

/// Returns `None` if it was deleted in the meantime.
async fn client_info(
    context: &Context,
    bucket: &str,
    (key, mut info): (String, ObjectInfo),
) -> Result<Option<Info>, SealedError> {
    let (name, stored) = (ObjectName::new(bucket, &key), ObjectName::new(bucket, &info.key));
    let mut attempt = 1;
    let Size { length, parts } = loop {
        let known = plain_size(info.size).map(|length| Size { length, parts: None });
        if let Some(size) = known.or_else(|| context.known.size(&stored, &info.tag)) {
            break size;
        }
        match read(context, (&name, &stored), &info).await {
            Ok(size) => {
                context.known.note_size(&stored, &info.tag, size);
                break size;
            }
            Err(error) if error.kind == SealedErrorKind::NoSuchKey => return Ok(None),
            Err(error) if error.kind == SealedErrorKind::PreconditionFailed && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(marker::numbered(context, bucket, error).about(&key)),
        }
        // Another version took its place.
        match context.store.head(&stored, &Conditions::default()).await {
            Ok(newer) => info = newer,
            Err(error) if error.kind == ErrorKind::NoSuchKey => return Ok(None),
            Err(error) => return Err(SealedError::from(error).about(&key)),
        }
    };
    let (tag, modified, attributes) = (tags::to_client(&info.tag), info.modified, Attributes::default());
    Ok(Some(Info { key, size: length, tag, modified, attributes, parts }))
}

async fn read(
    context: &Context,
    (name, stored): (&ObjectName, &ObjectName),
    info: &ObjectInfo,
) -> Result<Size, SealedError> {
    let last = manifest::tail_size(parts_of(&info.tag)).min(TAIL);
    let _permit = context.memory().acquire(TAIL).await;
    let conditions = Conditions { if_match: Some(info.tag.clone()), ..Conditions::default() };
    let download = match context.store.get(stored, Some(Range::Last(last)), &conditions).await {
        // It has no byte: no gateway stored it, or it was cut.
        Err(error) if error.kind == ErrorKind::Range => {
            attributes::verify(&context.keyring, name, &context.store.head(stored, &conditions).await?)?;
            return Err(Fault { at: 0, problem: Problem::Size(0) }.into());
        }
        download => download?,
    };
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

/// The storage's number of parts, from its tag of a multipart object; one of them is the manifest.
fn parts_of(tag: &str) -> u32 {
    let count = tag.trim_matches('"').rsplit_once('-').and_then(|(_, count)| count.parse().ok());
    count.filter(|count| (1..=MAX_PARTS).contains(count)).unwrap_or(SOME_PARTS)
}
