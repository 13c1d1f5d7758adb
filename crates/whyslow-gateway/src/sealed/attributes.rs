//! Attributes that clients store with objects, as metadata that every storage keeps unchanged.
//!
//! Names of headers have a prefix; values are percent-encoded where a storage could change them:
//! spaces, `%`, and everything but visible ASCII. The values that the client sent are bound.

use super::error::{SealedError, SealedErrorKind};
use super::types::Attributes;
use crate::format::{Checksums, MetadataFault, Name, Object};
use crate::keys::Keyring;
use crate::store::{Conditions, ObjectInfo, ObjectName, PutOptions};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// The metadata with the object's own.
const OBJECT: &str = "whyslow";
/// Before the name of a header.
const HEADER: &str = "whyslow-";
/// Checksums of the plaintext, encrypted. They are bound like the headers, so that older versions
/// can read the object.
const CHECKSUMS: &str = "checksums";
/// S3's default.
const CONTENT_TYPE: &str = "binary/octet-stream";
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'%');
/// The headers that are kept.
const HEADERS: [&str; 6] =
    ["cache-control", "content-disposition", "content-encoding", "content-language", "expires", "x-amz-tagging"];

pub(super) fn name(object: &ObjectName) -> Name<'_> {
    Name { bucket: &object.bucket, key: &object.key }
}

/// The options to store an object of this name, with the client's attributes.
pub(super) fn to_options(
    keyring: &Keyring,
    (object, at): (&Object, &ObjectName),
    attributes: &Attributes,
    conditions: Conditions,
) -> Result<PutOptions, SealedError> {
    let content_type = attributes.content_type.clone().unwrap_or_else(|| CONTENT_TYPE.to_owned());
    if content_type.trim() != content_type || content_type.is_empty() || !content_type.bytes().all(is_text) {
        return Err(refused(&format!("`{}` is no content type", content_type.escape_debug())));
    }
    if let Some(name) = attributes.headers.keys().find(|name| !HEADERS.contains(&name.as_str())) {
        return Err(refused(&format!("`{}` is not stored with objects", name.escape_debug())));
    }
    if let Some(name) = attributes.user.keys().find(|name| !is_name(name)) {
        let why = "names are letters in lower case, digits, `-`, `_` and `.`, and do not begin with `whyslow`";
        return Err(refused(&format!("`{}` cannot name metadata: {why}", name.escape_debug())));
    }
    let encoded = |value: &str| utf8_percent_encode(value, ENCODED).to_string();
    let headers = attributes.headers.iter().map(|(name, value)| (format!("{HEADER}{name}"), encoded(value)));
    let user = attributes.user.iter().map(|(name, value)| (name.clone(), encoded(value)));
    let mut metadata: std::collections::BTreeMap<_, _> = headers.chain(user).collect();
    let mut bound = Attributes { content_type: Some(content_type.clone()), ..attributes.clone() };
    if let Some(sealed) = attributes.checksums.to_attribute(keyring, *object) {
        metadata.insert(format!("{HEADER}{CHECKSUMS}"), sealed.clone());
        bound.headers.insert(CHECKSUMS.to_owned(), sealed);
    }
    let own = with_bound(&bound, |bound| object.to_metadata(keyring, name(at), bound))?;
    metadata.insert(OBJECT.to_owned(), own);
    Ok(PutOptions { content_type: Some(content_type), metadata, conditions })
}

/// The object that is stored under a name, if its metadata is valid for it.
pub(super) fn verify(
    keyring: &Keyring,
    at: &ObjectName,
    info: &ObjectInfo,
) -> Result<(Object, Attributes), SealedError> {
    let foreign = || {
        let why = "no gateway stored this object: it has no metadata of one";
        SealedError::new(SealedErrorKind::NotSealed, why)
    };
    let own = info.metadata.get(OBJECT).ok_or_else(foreign)?;
    let mut attributes = Attributes { content_type: info.content_type.clone(), ..Attributes::default() };
    for (name, value) in info.metadata.iter().filter(|(name, _)| *name != OBJECT) {
        // A value that cannot be decoded was changed, and does not verify.
        let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
        match name.strip_prefix(HEADER) {
            Some(header) => attributes.headers.insert(header.to_owned(), value),
            None => attributes.user.insert(name.clone(), value),
        };
    }
    let object = with_bound(&attributes, |bound| Object::verify(keyring, own, name(at), bound))?;
    if let Some(text) = attributes.headers.remove(CHECKSUMS) {
        attributes.checksums = Checksums::from_attribute(keyring, object, &text).ok_or(MetadataFault::Tag)?;
    }
    Ok((object, attributes))
}

/// Names and values that the metadata binds.
fn with_bound<T>(attributes: &Attributes, work: impl FnOnce(&[(&str, &str)]) -> T) -> T {
    let user: Vec<_> = attributes.user.iter().map(|(name, value)| (format!("x-amz-meta-{name}"), value)).collect();
    let content_type = attributes.content_type.iter().map(|value| ("content-type", value.as_str()));
    let headers = attributes.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let own = user.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    work(&content_type.chain(headers).chain(own).collect::<Vec<_>>())
}

fn refused(why: &str) -> SealedError {
    SealedError::new(SealedErrorKind::InvalidRequest, why)
}

fn is_text(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    !name.is_empty() && !name.starts_with(OBJECT) && name.bytes().all(is_letter)
}
