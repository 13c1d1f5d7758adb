//! A multipart object's layout, from its last bytes.

use super::context::Context;
use super::error::SealedError;
use crate::format::manifest::{self, Tail};
use crate::format::{Kind, Layout, Object};
use crate::store::{Conditions, Download, ErrorKind, ObjectInfo, ObjectName, Range, ReadOptions, StoreError};
use futures_util::StreamExt;
use std::sync::Arc;

/// The longest that is held of an object's end.
const LONGEST: u64 = manifest::TAIL * 8;

/// The layout of this version of an object; a multipart one's is read where it is not known. The
/// caller holds [`manifest::TAIL`] of memory for it.
pub(super) async fn layout(
    context: &Context,
    stored: &ObjectName,
    (object, info): (Object, &ObjectInfo),
    options: &ReadOptions,
) -> Result<Arc<Layout>, SealedError> {
    if object.kind() == Kind::Single {
        return Ok(Arc::new(Layout::single(object, info.size)?));
    }
    if let Some((tag, layout)) = context.known.layout(stored)
        && tag == info.tag
        && layout.object() == object
        && layout.stored() == info.size
    {
        return Ok(layout);
    }
    let tail = read(context, (stored, info), manifest::TAIL.min(info.size), options).await?;
    let layout = match manifest::read_tail(&context.keyring, object, info.size, &tail)? {
        Tail::Layout(layout) => layout,
        Tail::Longer(range) => {
            let tail = read(context, (stored, info), range.end - range.start, options).await?;
            match manifest::read_tail(&context.keyring, object, info.size, &tail)? {
                Tail::Layout(layout) => layout,
                Tail::Longer(_) => return Err(cut(range.end - range.start).into()),
            }
        }
    };
    let layout = Arc::new(layout);
    context.known.note_layout(stored, &info.tag, &layout);
    Ok(layout)
}

/// The last bytes of this version of an object.
async fn read(
    context: &Context,
    (stored, info): (&ObjectName, &ObjectInfo),
    last: u64,
    options: &ReadOptions,
) -> Result<Vec<u8>, SealedError> {
    let conditions = Conditions { if_match: Some(info.tag.clone()), ..Conditions::default() };
    let download = context.store.get_with(stored, Some(Range::Last(last)), &conditions, options).await?;
    if download.info.size != info.size || download.info.tag != info.tag {
        return Err(StoreError::new(ErrorKind::Answer, "two answers are about different objects").into());
    }
    collect(download, last).await
}

/// The last bytes of an object, from their answer.
pub(super) async fn collect(mut download: Download, last: u64) -> Result<Vec<u8>, SealedError> {
    let last = last.min(download.info.size);
    let mut tail = Vec::new();
    while let Some(chunk) = download.body.next().await {
        let chunk = chunk.map_err(|error| StoreError::new(ErrorKind::Answer, error.to_string()))?;
        if (tail.len() + chunk.len()) as u64 > last.min(LONGEST) {
            return Err(StoreError::new(ErrorKind::Answer, "more bytes came than were asked for").into());
        }
        tail.extend_from_slice(&chunk);
    }
    if tail.len() as u64 == last { Ok(tail) } else { Err(cut(last).into()) }
}

fn cut(wanted: u64) -> StoreError {
    StoreError::new(ErrorKind::Answer, format!("the last {wanted} B of the object were asked for, and fewer came"))
}
