//! Copies: the storage copies the ciphertext, and its metadata is bound to the new name.

use super::attributes;
use super::context::Context;
use super::error::{SealedError, SealedErrorKind};
use super::get;
use super::put;
use super::tags;
use super::types::{Attributes, Change, Content, Opened, Receipt};
use crate::store::{Conditions, ObjectName, Range};

/// Maximum bytes of a copy in S3.
const MOST_COPIED: u64 = 5 << 30;

pub(super) async fn copy(
    context: &Context,
    (from, to): (&ObjectName, &ObjectName),
    change: Change<'_>,
    conditions: &Conditions,
) -> Result<Receipt, SealedError> {
    let (stored_from, stored_to) = (context.names.stored(from)?, context.names.stored(to)?);
    let info = context.store.head(&stored_from, &tags::conditions(conditions)).await;
    let info = info.map_err(|error| of_source(error.into()))?;
    let (object, attributes) = attributes::verify(&context.keyring, from, &info)?;
    let checksums = attributes.checksums.clone();
    let mut attributes = Attributes { checksums, ..change(attributes) };
    // The checked version, and no other one.
    if info.size > MOST_COPIED {
        let same = Conditions { if_match: Some(tags::to_client(&info.tag)), ..Conditions::default() };
        let (reading, writing) = context.memory().two_places().await;
        let opened = get::open(context, (from, reading), (None, None), &same).await?;
        attributes.checksums = opened.info.attributes.checksums.clone();
        return put::put(context, (to, writing), content(opened), &attributes, &Conditions::default()).await;
    }
    let same = Conditions { if_match: Some(info.tag.clone()), ..Conditions::default() };
    let options = attributes::to_options(&context.keyring, (&object, to), &attributes, Conditions::default())?;
    let stored = context.store.copy(&stored_from, &stored_to, Some(&options), &same).await?;
    if let Some(size) = context.known.size(&stored_from, &info.tag) {
        context.known.note_size(&stored_to, &stored.tag, size);
    }
    let tag = tags::to_client(&stored.tag);
    Ok(Receipt { tag, transfer: stored.transfer, ..Receipt::default() })
}

/// Opens the source of a part.
pub(super) async fn open(
    context: &Context,
    (from, range, conditions): (&ObjectName, Option<Range>, &Conditions),
    place: crate::memory::Permit,
) -> Result<Content, SealedError> {
    let opened = get::open(context, (from, place), (range, None), conditions).await.map_err(of_source)?;
    // A range to copy is not cut to the object, unlike one to read.
    if let Some(Range::FromTo(_, last)) = range
        && last >= opened.info.size
    {
        let why = format!("the range ends at byte {last}, and the source has {} B", opened.info.size);
        return Err(SealedError::new(SealedErrorKind::InvalidRange, why));
    }
    Ok(content(opened))
}

fn content(opened: Opened) -> Content {
    let (first, end) = opened.range;
    Content { length: end - first, bytes: opened.bytes }
}

/// An unchanged source is a condition that does not hold.
fn of_source(error: SealedError) -> SealedError {
    match error.kind {
        SealedErrorKind::NotModified => SealedError { kind: SealedErrorKind::PreconditionFailed, ..error },
        _ => error,
    }
}
