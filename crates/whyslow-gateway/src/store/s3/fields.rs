//! Header fields and times, between HTTP and the store's types.

use super::request::Ask;
use crate::store::{Conditions, ErrorKind, ObjectInfo, PutOptions, StoreError};
use http::HeaderMap;
use http::header::{
    CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    IF_UNMODIFIED_SINCE, LAST_MODIFIED,
};
use std::time::SystemTime;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

const METADATA: &str = "x-amz-meta-";

pub(super) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The conditions of RFC 9110.
pub(super) fn conditions(ask: Ask, conditions: &Conditions) -> Ask {
    let date = |time: Option<SystemTime>| time.map(httpdate::fmt_http_date);
    ask.header_if(IF_MATCH, conditions.if_match.as_deref())
        .header_if(IF_NONE_MATCH, conditions.if_none_match.as_deref())
        .header_if(IF_MODIFIED_SINCE, date(conditions.if_modified_since).as_deref())
        .header_if(IF_UNMODIFIED_SINCE, date(conditions.if_unmodified_since).as_deref())
}

/// The same for a copy's source.
pub(super) fn source_conditions(ask: Ask, conditions: &Conditions) -> Ask {
    let date = |time: Option<SystemTime>| time.map(httpdate::fmt_http_date);
    let name = HeaderName::from_static;
    ask.header_if(name("x-amz-copy-source-if-match"), conditions.if_match.as_deref())
        .header_if(name("x-amz-copy-source-if-none-match"), conditions.if_none_match.as_deref())
        .header_if(name("x-amz-copy-source-if-modified-since"), date(conditions.if_modified_since).as_deref())
        .header_if(name("x-amz-copy-source-if-unmodified-since"), date(conditions.if_unmodified_since).as_deref())
}

/// Adds the attributes that are stored with an object.
pub(super) fn metadata(mut ask: Ask, options: &PutOptions) -> Result<Ask, StoreError> {
    ask = ask.header_if(CONTENT_TYPE, options.content_type.as_deref());
    for (name, value) in &options.metadata {
        let wrong = |_| StoreError::new(ErrorKind::Invalid, format!("`{name}` cannot name metadata"));
        let name = HeaderName::try_from(format!("{METADATA}{name}")).map_err(wrong)?;
        ask = ask.header(name, value);
    }
    Ok(ask)
}

/// An object, from the header of its answer.
pub(super) fn object(key: &str, headers: &HeaderMap) -> Result<ObjectInfo, StoreError> {
    let lacks = |what: &str| StoreError::new(ErrorKind::Answer, format!("the answer has no {what}"));
    let metadata = headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix(METADATA)?;
        Some((name.to_owned(), value.to_str().ok()?.to_owned()))
    });
    let length = || text(headers, &CONTENT_LENGTH)?.parse().ok();
    let modified = text(headers, &LAST_MODIFIED).and_then(|date| httpdate::parse_http_date(date).ok());
    Ok(ObjectInfo {
        key: key.to_owned(),
        size: content_range(headers).map(|(_, _, size)| size).or_else(length).ok_or_else(|| lacks("length"))?,
        tag: text(headers, &ETAG).ok_or_else(|| lacks("ETag"))?.to_owned(),
        modified: modified.unwrap_or(SystemTime::UNIX_EPOCH),
        content_type: text(headers, &CONTENT_TYPE).map(str::to_owned),
        metadata: metadata.collect(),
    })
}

/// First byte, the one behind the last, and all of them.
pub(super) fn content_range(headers: &HeaderMap) -> Option<(u64, u64, u64)> {
    let (range, size) = text(headers, &CONTENT_RANGE)?.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    Some((first.parse().ok()?, last.parse::<u64>().ok()?.checked_add(1)?, size.parse().ok()?))
}

/// A time of S3's XML.
pub(super) fn time(text: &str) -> Result<SystemTime, StoreError> {
    let time = OffsetDateTime::parse(text, &Rfc3339);
    time.map(SystemTime::from).map_err(|error| StoreError::new(ErrorKind::Answer, format!("`{text}`: {error}")))
}

/// A key of a list: some services apply `encoding-type=url`, and state it.
pub(super) fn key(text: &str, encoding: Option<&str>) -> Result<String, StoreError> {
    if encoding != Some("url") {
        return Ok(text.to_owned());
    }
    let text = text.replace('+', " ");
    let decoded = percent_encoding::percent_decode_str(&text).decode_utf8();
    decoded.map(Into::into).map_err(|error| StoreError::new(ErrorKind::Answer, format!("a key: {error}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use http::HeaderValue;

    #[test]
    fn an_answers_head_describes_the_object() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("etag", "\"a-2\""),
            ("content-range", "bytes 5-9/100"),
            ("content-length", "5"),
            ("last-modified", "Mon, 23 Nov 2026 08:00:00 GMT"),
            ("x-amz-meta-id", "7"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let info = object("k", &headers).unwrap();
        assert_eq!((info.size, info.tag.as_str(), info.metadata["id"].as_str()), (100, "\"a-2\"", "7"));
        assert_eq!(content_range(&headers), Some((5, 10, 100)));
        assert_eq!(info.modified, time("2026-11-23T08:00:00.000Z").unwrap());
        assert!(object("k", &HeaderMap::new()).is_err() && time("yesterday").is_err());
    }

    #[test]
    fn keys_are_decoded() {
        assert_eq!(key("a+b%2B%C3%BC/c", Some("url")).unwrap(), "a b+ü/c");
        assert_eq!(key("a+b%2B", None).unwrap(), "a+b%2B");
        assert!(key("%FF", Some("url")).is_err());
    }
}
