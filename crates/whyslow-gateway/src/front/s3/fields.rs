//! Fields of requests and answers, between S3's form and the store's.

use super::tag_set::{self, TAGGING};
use crate::format::{Algorithm, Checksums};
use crate::front::errors::{invalid, not_here};
use crate::sealed::{Attributes, Info};
use crate::store::{Conditions, ObjectName, Range};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use s3s::S3Result;
use s3s::dto::{self, CopySource, ETag, Timestamp, TimestampFormat};
use std::time::SystemTime;

/// Attributes of an object besides its type, as fields of the request.
const STORED: [&str; 5] = ["cache-control", "content-disposition", "content-encoding", "content-language", "expires"];

/// Features of S3 that this endpoint lacks: a request for them is refused.
const REFUSED: [(&str, &str); 11] = [
    ("x-amz-server-side-encryption-customer-algorithm", "encryption under a key of the client's"),
    ("x-amz-copy-source-server-side-encryption-customer-algorithm", "encryption under a key of the client's"),
    ("x-amz-website-redirect-location", "websites"),
    ("x-amz-object-lock-mode", "object lock"),
    ("x-amz-object-lock-legal-hold", "object lock"),
    ("x-amz-object-lock-retain-until-date", "object lock"),
    ("x-amz-grant-full-control", "access control lists"),
    ("x-amz-grant-read", "access control lists"),
    ("x-amz-grant-read-acp", "access control lists"),
    ("x-amz-grant-write-acp", "access control lists"),
    ("x-amz-write-offset-bytes", "appending"),
];

/// Values that hold for every object here.
const ONLY: [(&str, &[&str], &str); 3] = [
    ("x-amz-acl", &["private", "bucket-owner-full-control", "bucket-owner-read"], "access control lists"),
    ("x-amz-server-side-encryption", &["AES256"], "key service: objects are encrypted under the gateway's own keys"),
    ("x-amz-storage-class", &["STANDARD"], "storage classes"),
];

/// Refuses features that this endpoint does not have.
pub(in crate::front) fn refuse(headers: &HeaderMap) -> S3Result<()> {
    if let Some((_, what)) = REFUSED.iter().find(|(name, _)| headers.contains_key(*name)) {
        return Err(not_here(what));
    }
    for (name, allowed, what) in ONLY {
        if headers.get(name).is_some_and(|value| !allowed.iter().any(|one| value == one)) {
            return Err(not_here(what));
        }
    }
    Ok(())
}

/// The attributes that a client stores with an object.
pub(in crate::front) fn attributes(
    headers: &HeaderMap,
    content_type: Option<String>,
    metadata: Option<dto::Metadata>,
) -> S3Result<Attributes> {
    let mut found = Attributes { content_type, ..Attributes::default() };
    for name in STORED {
        let Some(value) = headers.get(name) else { continue };
        let value = value.to_str().map_err(|_| invalid(format!("the value of {name} is not plain text")))?;
        let value = if name == "content-encoding" { without_chunks(value) } else { value.to_owned() };
        if !value.is_empty() {
            found.headers.insert(name.to_owned(), value);
        }
    }
    if let Some(value) = headers.get(TAGGING) {
        let value = value.to_str().map_err(|_| invalid("the value of x-amz-tagging is not plain text"))?;
        tag_set::set(&mut found, &tag_set::parse(value)?);
    }
    for (name, value) in metadata.unwrap_or_default() {
        found.user.insert(name.to_ascii_lowercase(), value);
    }
    Ok(found)
}

/// The coding of the request is not a property of the object.
fn without_chunks(value: &str) -> String {
    let codings = value.split(',').map(str::trim).filter(|coding| !coding.eq_ignore_ascii_case("aws-chunked"));
    codings.collect::<Vec<_>>().join(", ")
}

/// The conditions of a request; `prefix` is empty, or `x-amz-copy-source-`.
pub(super) fn conditions(headers: &HeaderMap, prefix: &str) -> Conditions {
    let text = |name: &str| headers.get(format!("{prefix}{name}"))?.to_str().ok().map(str::to_owned);
    // A date that is none is passed over (RFC 9110 section 13.1.3).
    let date = |name: &str| text(name).and_then(|value| httpdate::parse_http_date(&value).ok());
    Conditions {
        if_match: text("if-match"),
        if_none_match: text("if-none-match"),
        if_modified_since: date("if-modified-since"),
        if_unmodified_since: date("if-unmodified-since"),
    }
}

pub(super) fn tag(tag: &str) -> Option<ETag> {
    Some(ETag::Strong(tag.to_owned()))
}

pub(super) fn range(range: dto::Range) -> Range {
    match range {
        dto::Range::Int { first, last: Some(last) } => Range::FromTo(first, last),
        dto::Range::Int { first, last: None } => Range::From(first),
        dto::Range::Suffix { length } => Range::Last(length),
    }
}

/// `bytes=0-99` of a source to be copied.
pub(super) fn source_range(text: Option<&str>) -> S3Result<Option<Range>> {
    let parse = |text: &str| dto::Range::parse(text).map(range);
    text.map(parse).transpose().map_err(|_| invalid("x-amz-copy-source-range is no range"))
}

pub(super) fn source(source: &CopySource) -> S3Result<ObjectName> {
    match source {
        CopySource::Bucket { bucket, key, version_id: None } => Ok(ObjectName::new(&**bucket, &**key)),
        CopySource::Bucket { .. } => Err(not_here("versions")),
        _ => Err(not_here("access points")),
    }
}

pub(super) fn timestamp(time: SystemTime) -> Option<Timestamp> {
    Some(Timestamp::from(time))
}

/// Sizes are far below the limit of what S3's documents hold.
pub(super) fn size(size: u64) -> Option<i64> {
    Some(i64::try_from(size).unwrap_or(i64::MAX))
}

/// The attributes of an object, for GET and HEAD.
pub(super) struct Shown {
    pub(super) content_type: Option<String>,
    pub(super) cache_control: Option<String>,
    pub(super) content_disposition: Option<String>,
    pub(super) content_encoding: Option<String>,
    pub(super) content_language: Option<String>,
    pub(super) expires: Option<Timestamp>,
    pub(super) metadata: Option<dto::Metadata>,
    pub(super) tag_count: Option<i32>,
}

impl Shown {
    pub(super) fn of(info: &Info) -> Self {
        let Attributes { content_type, headers, user, .. } = &info.attributes;
        let stored = |name: &str| headers.get(name).cloned();
        // Nothing but a date is taken.
        let date = |text: String| Timestamp::parse(TimestampFormat::HttpDate, &text).ok();
        Self {
            content_type: Some(content_type.clone().unwrap_or_else(|| "binary/octet-stream".to_owned())),
            cache_control: stored("cache-control"),
            content_disposition: stored("content-disposition"),
            content_encoding: stored("content-encoding"),
            content_language: stored("content-language"),
            expires: stored("expires").and_then(date),
            metadata: (!user.is_empty()).then(|| user.clone().into_iter().collect()),
            tag_count: tag_set::count(info),
        }
    }
}

/// Checksums as the fields of answers have them.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) crc32: Option<String>,
    pub(super) crc32c: Option<String>,
    pub(super) crc64nvme: Option<String>,
    pub(super) sha1: Option<String>,
    pub(super) sha256: Option<String>,
    pub(super) kind: Option<dto::ChecksumType>,
}

impl Sums {
    pub(super) fn of(sums: &Checksums) -> Self {
        let text = |algorithm| sums.get(algorithm).map(|sum| STANDARD.encode(sum));
        let kind = dto::ChecksumType::from_static(dto::ChecksumType::FULL_OBJECT);
        Self {
            crc32: text(Algorithm::Crc32),
            crc32c: text(Algorithm::Crc32c),
            crc64nvme: text(Algorithm::Crc64Nvme),
            sha1: text(Algorithm::Sha1),
            sha256: text(Algorithm::Sha256),
            kind: (!sums.is_empty()).then_some(kind),
        }
    }

    /// Those of an object, for GET and HEAD. Empty unless the client asks for them and for all of
    /// the object.
    pub(super) fn of_object(info: &Info, headers: &HeaderMap, is_part: bool) -> Self {
        if is_part || !wants_checksums(headers) { Self::default() } else { Self::of(&info.attributes.checksums) }
    }
}

/// Whether a client asks for checksums.
pub(super) fn wants_checksums(headers: &HeaderMap) -> bool {
    headers.get("x-amz-checksum-mode").is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"enabled"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use http::HeaderValue;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        fields.iter().map(|&(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn how_a_request_is_coded_is_not_stored() {
        let of = |value| attributes(&headers(&[("content-encoding", value)]), None, None).unwrap().headers;
        assert!(of("aws-chunked").is_empty());
        assert_eq!(of("aws-chunked,gzip").get("content-encoding").unwrap(), "gzip");
        assert_eq!(of("gzip, AWS-chunked").get("content-encoding").unwrap(), "gzip");
    }

    #[test]
    fn what_is_not_done_here_is_refused_and_not_passed_over() {
        for (name, _) in REFUSED {
            assert!(refuse(&headers(&[(name, "x")])).is_err(), "{name}");
        }
        assert!(refuse(&headers(&[("x-amz-acl", "private"), ("x-amz-storage-class", "STANDARD")])).is_ok());
        assert!(refuse(&headers(&[("x-amz-server-side-encryption", "AES256")])).is_ok());
        assert!(refuse(&headers(&[("x-amz-acl", "public-read")])).is_err());
        assert!(refuse(&headers(&[("x-amz-server-side-encryption", "aws:kms")])).is_err());
    }

    #[test]
    fn conditions_are_those_of_the_object_or_of_the_source() {
        let all = headers(&[
            ("if-match", "\"a\""),
            ("x-amz-copy-source-if-none-match", "*"),
            ("if-modified-since", "Thu, 01 Jan 1970 00:00:10 GMT"),
            ("if-unmodified-since", "yesterday"),
        ]);
        let own = conditions(&all, "");
        assert_eq!((own.if_match.as_deref(), own.if_none_match), (Some("\"a\""), None));
        assert_eq!(own.if_modified_since, Some(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(10)));
        assert_eq!(own.if_unmodified_since, None);
        assert_eq!(conditions(&all, "x-amz-copy-source-").if_none_match.as_deref(), Some("*"));
    }
}
