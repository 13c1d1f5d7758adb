//! Conversions between the terms of both sides.

use crate::pool::{BodyError, ByteStream};
use crate::store::{
    Conditions, ErrorKind, ListQuery, Listing, ObjectInfo, PutOptions, Range, Repeat, StoreError, Stored,
};
use futures_util::{StreamExt, stream};
use object_store::list::PaginatedListResult;
use object_store::path::Path;
use object_store::{Attribute, AttributeValue, Attributes, Error, GetOptions, GetRange, ObjectMeta, PutResult};
use std::time::Duration;

/// The crate has tried again already.
const LATER: Duration = Duration::from_secs(1);

pub(super) fn failed(error: Error) -> StoreError {
    let message = error.to_string();
    let (kind, repeat) = match error {
        Error::NotFound { .. } => (ErrorKind::NoSuchKey, Repeat::No),
        Error::AlreadyExists { .. } | Error::Precondition { .. } => (ErrorKind::Precondition, Repeat::No),
        Error::NotModified { .. } => (ErrorKind::NotModified, Repeat::No),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => (ErrorKind::Denied, Repeat::No),
        Error::NotSupported { .. } | Error::NotImplemented { .. } => (ErrorKind::Unsupported, Repeat::No),
        Error::InvalidPath { .. } | Error::UnknownConfigurationKey { .. } => (ErrorKind::Invalid, Repeat::No),
        _ => (ErrorKind::Server, Repeat::MayBeDone(LATER)),
    };
    StoreError { kind, repeat, message, place: None }
}

/// Features that the crate lacks.
pub(super) fn unsupported<T>(what: &str) -> Result<T, StoreError> {
    Err(StoreError::new(ErrorKind::Unsupported, format!("{what}: not in front of this store")))
}

/// These stores use keys as paths, so a key cannot have an empty part, `.`, `..`, or a `/` at an
/// end.
pub(super) fn path(key: &str) -> Result<Path, StoreError> {
    match Path::parse(key) {
        Ok(path) if path.as_ref() == key && !key.is_empty() => Ok(path),
        _ => {
            let why = "in front of this store a key has no empty part, no part `.` or `..`, and no control character";
            Err(StoreError::new(ErrorKind::Invalid, why))
        }
    }
}

/// Azure's names are identifiers.
fn written(name: &str) -> String {
    name.replace('_', "__").replace('-', "_d")
}

fn read(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name.chars();
    while let Some(c) = rest.next() {
        match c {
            '_' => text.push(if rest.next() == Some('d') { '-' } else { '_' }),
            c => text.push(c),
        }
    }
    text
}

pub(super) fn attributes(options: &PutOptions) -> Attributes {
    let metadata = options.metadata.iter();
    let mut attributes: Attributes = metadata
        .map(|(name, value)| (Attribute::Metadata(written(name).into()), AttributeValue::from(value.clone())))
        .collect();
    if let Some(kind) = &options.content_type {
        attributes.insert(Attribute::ContentType, kind.clone().into());
    }
    attributes
}

pub(super) fn info(key: &str, meta: &ObjectMeta, attributes: &Attributes) -> Result<ObjectInfo, StoreError> {
    let metadata = attributes.iter().filter_map(|(attribute, value)| match attribute {
        Attribute::Metadata(name) => Some((read(name), value.as_ref().to_owned())),
        _ => None,
    });
    Ok(ObjectInfo {
        key: key.to_owned(),
        size: meta.size,
        tag: tag(meta.e_tag.as_deref())?,
        modified: meta.last_modified.into(),
        content_type: attributes.get(&Attribute::ContentType).map(|value| value.as_ref().to_owned()),
        metadata: metadata.collect(),
    })
}

pub(super) fn stored(result: PutResult) -> Result<Stored, StoreError> {
    Ok(Stored { tag: tag(result.e_tag.as_deref())?, transfer: None })
}

fn tag(tag: Option<&str>) -> Result<String, StoreError> {
    let none = || StoreError::new(ErrorKind::Answer, "the store gave no entity tag");
    tag.map(str::to_owned).ok_or_else(none)
}

pub(super) fn range(range: Range) -> GetRange {
    match range {
        Range::FromTo(first, last) => GetRange::Bounded(first..last.saturating_add(1)),
        Range::From(first) => GetRange::Offset(first),
        Range::Last(count) => GetRange::Suffix(count),
    }
}

pub(super) fn conditions(conditions: &Conditions) -> GetOptions {
    GetOptions {
        if_match: conditions.if_match.clone(),
        if_none_match: conditions.if_none_match.clone(),
        if_modified_since: conditions.if_modified_since.map(Into::into),
        if_unmodified_since: conditions.if_unmodified_since.map(Into::into),
        ..GetOptions::default()
    }
}

pub(super) fn listing(page: PaginatedListResult, query: &ListQuery) -> Result<Listing, StoreError> {
    let is_behind = |key: &str| query.start_after.as_deref().is_none_or(|after| key > after);
    let objects = page.result.objects.iter().filter(|meta| is_behind(meta.location.as_ref()));
    let mut objects = objects
        .map(|meta| info(meta.location.as_ref(), meta, &Attributes::default()))
        .collect::<Result<Vec<_>, _>>()?;
    // A path does not end with the delimiter that made it a prefix.
    let mut prefixes: Vec<_> = page.result.common_prefixes.iter().map(|prefix| format!("{prefix}/")).collect();
    prefixes.retain(|prefix| is_behind(prefix));
    objects.sort_by(|a, b| a.key.cmp(&b.key));
    prefixes.sort();
    Ok(Listing { objects, prefixes, next: page.page_token })
}

/// Exactly `length` bytes, or an error at the end.
pub(super) fn exactly(bytes: ByteStream, length: u64) -> ByteStream {
    let state = (bytes, 0_u64);
    stream::try_unfold(state, move |(mut bytes, got)| async move {
        match bytes.next().await {
            Some(chunk) => {
                let chunk = chunk?;
                let got = got + chunk.len() as u64;
                Ok(Some((chunk, (bytes, got))))
            }
            None if got == length => Ok(None),
            None => Err(BodyError::Length { announced: length, got }),
        }
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_metadata_come_back() {
        for name in ["plain", "a-b_c", "_d", "-_-", "__d-"] {
            assert_eq!(read(&written(name)), name);
            assert!(!written(name).contains('-'));
        }
    }

    #[test]
    fn keys_are_paths() {
        assert!(path("a/b c+ü%.txt").is_ok());
        for key in ["", "/a", "a/", "a//b", "a/../b", "./a", "a\nb"] {
            assert!(path(key).is_err(), "{key}");
        }
    }
}
