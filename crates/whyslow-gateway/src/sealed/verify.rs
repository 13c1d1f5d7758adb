//! All objects of a bucket are verified: what a list would refuse is found here, one by one.

use super::attributes;
use super::checked::OURS;
use super::context::Context;
use super::error::{SealedError, SealedErrorKind};
use super::get;
use super::types::Opened;
use crate::memory::Permit;
use crate::store::{Conditions, ListQuery, ObjectName};
use futures_util::StreamExt;

/// A page of a bucket, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredPage {
    /// Keys of the storage, and the client's keys; `None` if the name was not encrypted by a
    /// gateway with these keys.
    pub keys: Vec<(String, Option<String>)>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<String>,
}

/// The state of a stored object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte is as it was sealed: bytes of plaintext.
    Whole(u64),
    /// It is not as it was sealed, or cannot be opened with these keys.
    Damaged(SealedError),
    /// It was deleted or replaced in the meantime.
    Gone,
    /// The storage did not give it.
    Unread(SealedError),
}

pub(super) async fn page(
    context: &Context,
    (bucket, prefix): (&str, &str),
    continuation: Option<String>,
) -> Result<StoredPage, SealedError> {
    let stored_prefix = match context.names.cipher(bucket) {
        Some(cipher) => cipher.prefix(prefix)?.0,
        None => prefix.to_owned(),
    };
    let query = ListQuery { prefix: stored_prefix, continuation, ..ListQuery::default() };
    let page = context.store.list(bucket, &query).await?;
    let stored = page.objects.into_iter().map(|info| info.key).filter(|key| !key.starts_with(OURS));
    let both = stored.map(|stored| {
        let plain = context.names.plain(bucket, &stored);
        (stored, plain)
    });
    let is_meant = |plain: &Option<String>| plain.as_ref().is_none_or(|plain| plain.starts_with(prefix));
    Ok(StoredPage { keys: both.filter(|(_, plain)| is_meant(plain)).collect(), next: page.next })
}

/// Reads all of an object; without `content` its head, and the end of a multipart one.
pub(super) async fn verify(context: &Context, (name, place): (&ObjectName, Permit), content: bool) -> Verdict {
    let read = if content { all(context, (name, place)).await } else { ends(context, name).await };
    match read {
        Ok(length) => Verdict::Whole(length),
        Err(error) => match error.kind {
            SealedErrorKind::Fault(_) | SealedErrorKind::Metadata(_) | SealedErrorKind::NotSealed => {
                Verdict::Damaged(error)
            }
            SealedErrorKind::NoSuchKey | SealedErrorKind::PreconditionFailed => Verdict::Gone,
            _ => Verdict::Unread(error),
        },
    }
}

async fn all(context: &Context, (name, place): (&ObjectName, Permit)) -> Result<u64, SealedError> {
    let Opened { mut bytes, range: (first, end), fault, .. } =
        get::get(context, (name, place), None, &Conditions::default()).await?;
    let mut came = 0;
    while let Some(piece) = bytes.next().await {
        match (piece, fault.get()) {
            (Ok(piece), _) => came += piece.len() as u64,
            (Err(_), Some(fault)) => return Err(fault.into()),
            (Err(error), None) => return Err(SealedError::new(SealedErrorKind::Unavailable, error.to_string())),
        }
    }
    let cut = || SealedError::new(SealedErrorKind::Internal, format!("{came} of {end} bytes came"));
    if came == end - first { Ok(came) } else { Err(cut()) }
}

async fn ends(context: &Context, name: &ObjectName) -> Result<u64, SealedError> {
    let stored = context.names.stored(name)?;
    let info = context.store.head(&stored, &Conditions::default()).await?;
    attributes::verify(&context.keyring, name, &info)?;
    super::part::layout(context, name).await.map(|layout| layout.length())
}
