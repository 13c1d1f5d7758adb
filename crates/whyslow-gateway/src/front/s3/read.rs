//! Objects are read: get, head; all of one, a range, or a part as it was sent.

use super::fields::{Shown, Sums, conditions, range, refuse, size, tag, timestamp, wants_checksums};
use super::objects::current;
use super::{Answer, Endpoint};
use crate::front::call::Call;
use crate::front::errors::{answer, invalid};
use crate::pool::Transfers;
use crate::sealed::{FoundFault, Info, Opened, SealedErrorKind};
use crate::store::{Conditions, ObjectName, Range};
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderValue, StatusCode};
use s3s::dto::*;
use s3s::{Body, S3Error, S3ErrorCode, S3Request, S3Response, S3Result};

/// Attempts for an object that changes between its head and its part.
const ATTEMPTS: u32 = 3;

/// The part of an object that a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    All,
    Range(Range),
    Part(u32),
}

impl Endpoint {
    pub(super) async fn get_object(&self, call: &Call, request: S3Request<GetObjectInput>) -> Answer<GetObjectOutput> {
        refuse(&request.headers)?;
        let input = request.input;
        current(input.version_id.as_deref())?;
        let wanted = wanted(input.range, input.part_number)?;
        let object = ObjectName::new(input.bucket, input.key);
        let (opened, is_part) = match self.open(call, &object, wanted, &request.headers).await {
            Ok(opened) => opened,
            Err(error) => return Err(self.with_tag(&object, &request.headers, error).await),
        };
        let Opened { info, range: (first, end), bytes, transfers, .. } = opened;
        call.reads(&transfers);
        let (shown, sums) = (Shown::of(&info), Sums::of_object(&info, &request.headers, is_part));
        let body = http_body_util::StreamBody::new(bytes.map(|bytes| bytes.map(http_body::Frame::data)));
        let output = GetObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            body: Some(StreamingBlob::from(Body::http_body_unsync(body))),
            content_length: size(end - first),
            content_range: is_part.then(|| content_range(first, end, info.size)).flatten(),
            e_tag: tag(&info.tag),
            last_modified: timestamp(info.modified),
            parts_count: parts_count(&info, wanted),
            content_type: shown.content_type,
            cache_control: shown.cache_control,
            content_disposition: shown.content_disposition,
            content_encoding: shown.content_encoding,
            content_language: shown.content_language,
            expires: shown.expires,
            metadata: shown.metadata,
            tag_count: shown.tag_count,
            checksum_crc32: sums.crc32,
            checksum_crc32c: sums.crc32c,
            checksum_crc64nvme: sums.crc64nvme,
            checksum_sha1: sums.sha1,
            checksum_sha256: sums.sha256,
            checksum_type: sums.kind,
            ..GetObjectOutput::default()
        };
        Ok(S3Response::new(output))
    }

    /// Opens the range or part; all of the object if `If-Range` names another version. The second
    /// value is true for a range or part.
    async fn open(
        &self,
        call: &Call,
        object: &ObjectName,
        wanted: Wanted,
        headers: &HeaderMap,
    ) -> S3Result<(Opened, bool)> {
        let conditions = conditions(headers, "");
        let range = match wanted {
            Wanted::All => None,
            Wanted::Range(range) => Some(range),
            Wanted::Part(number) => return Ok((self.open_part(call, object, number, &conditions).await?, true)),
        };
        if let (Some(_), Some(only)) = (range, only_if(headers)) {
            match self.store.get(object, range, &only).await {
                Ok(opened) => return Ok((opened, true)),
                Err(error) if error.kind == SealedErrorKind::PreconditionFailed => {
                    let opened = self.store.get(object, None, &conditions).await;
                    return opened.map(|opened| (opened, false)).map_err(|error| answer(call, error));
                }
                Err(error) => return Err(answer(call, error)),
            }
        }
        let opened = self.store.get(object, range, &conditions).await.map_err(|error| answer(call, error))?;
        Ok((opened, range.is_some()))
    }

    /// Opens a part of the version whose head was read.
    async fn open_part(
        &self,
        call: &Call,
        object: &ObjectName,
        number: u32,
        conditions: &Conditions,
    ) -> S3Result<Opened> {
        let mut attempt = 1;
        loop {
            let (info, range) = self.part(call, object, number, conditions).await?;
            let (first, end) = range;
            if first == end {
                let (bytes, transfers) = (stream::empty().boxed(), Transfers::default());
                return Ok(Opened { info, range, bytes, transfers, fault: FoundFault::default() });
            }
            let same = Conditions { if_match: Some(format!("\"{}\"", info.tag)), ..Conditions::default() };
            match self.store.get(object, Some(Range::FromTo(first, end - 1)), &same).await {
                Err(error) if error.kind == SealedErrorKind::PreconditionFailed && attempt < ATTEMPTS => attempt += 1,
                opened => return opened.map_err(|error| answer(call, error)),
            }
        }
    }

    /// The place of a part in its object.
    async fn part(
        &self,
        call: &Call,
        object: &ObjectName,
        number: u32,
        conditions: &Conditions,
    ) -> S3Result<(Info, (u64, u64))> {
        let part = self.store.part(object, number, conditions).await;
        let (info, part) = part.map_err(|error| answer(call, error))?;
        Ok((info, part.ok_or_else(|| no_part(number))?))
    }

    /// The answer to HEAD, and the place of the range or part in the object.
    async fn look(
        &self,
        call: &Call,
        object: &ObjectName,
        wanted: Wanted,
        headers: &HeaderMap,
    ) -> S3Result<(Info, Option<(u64, u64)>)> {
        let conditions = conditions(headers, "");
        if let Wanted::Part(number) = wanted {
            let (info, part) = self.part(call, object, number, &conditions).await?;
            return Ok((info, Some(part)));
        }
        let info = match wants_checksums(headers) && wanted == Wanted::All {
            true => self.store.head_with_checksums(object, &conditions).await,
            false => self.store.head(object, &conditions).await,
        };
        let info = info.map_err(|error| answer(call, error))?;
        let part = range_of(&info, wanted)?;
        Ok((info, part))
    }

    /// 304 has the ETag that 200 would have (RFC 9110 section 15.4.5): it is the one that the
    /// client has, where it names one alone.
    async fn with_tag(&self, object: &ObjectName, headers: &HeaderMap, mut error: S3Error) -> S3Error {
        if *error.code() != S3ErrorCode::NotModified {
            return error;
        }
        let tag = match only_tag(headers) {
            Some(tag) => Some(tag),
            None => self.store.head(object, &Conditions::default()).await.ok().map(|info| format!("\"{}\"", info.tag)),
        };
        if let Some(tag) = tag.and_then(|tag| HeaderValue::try_from(tag).ok()) {
            error.set_headers(HeaderMap::from_iter([(http::header::ETAG, tag)]));
        }
        error
    }

    pub(super) async fn head_object(
        &self,
        call: &Call,
        request: S3Request<HeadObjectInput>,
    ) -> Answer<HeadObjectOutput> {
        refuse(&request.headers)?;
        let input = request.input;
        current(input.version_id.as_deref())?;
        let wanted = wanted(input.range, input.part_number)?;
        let object = ObjectName::new(input.bucket, input.key);
        let (info, part) = match self.look(call, &object, wanted, &request.headers).await {
            Ok(found) => found,
            Err(error) => return Err(self.with_tag(&object, &request.headers, error).await),
        };
        let (shown, sums) = (Shown::of(&info), Sums::of_object(&info, &request.headers, part.is_some()));
        let (first, end) = part.unwrap_or((0, info.size));
        let output = HeadObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            content_length: size(end - first),
            content_range: part.and_then(|_| content_range(first, end, info.size)),
            e_tag: tag(&info.tag),
            last_modified: timestamp(info.modified),
            parts_count: parts_count(&info, wanted),
            content_type: shown.content_type,
            cache_control: shown.cache_control,
            content_disposition: shown.content_disposition,
            content_encoding: shown.content_encoding,
            content_language: shown.content_language,
            expires: shown.expires,
            metadata: shown.metadata,
            checksum_crc32: sums.crc32,
            checksum_crc32c: sums.crc32c,
            checksum_crc64nvme: sums.crc64nvme,
            checksum_sha1: sums.sha1,
            checksum_sha256: sums.sha256,
            checksum_type: sums.kind,
            ..HeadObjectOutput::default()
        };
        Ok(S3Response::new(output))
    }
}

/// The tag of `If-None-Match`, if it is one, in quotation marks.
fn only_tag(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(http::header::IF_NONE_MATCH)?.to_str().ok()?.trim();
    let tag = value.strip_prefix("W/").unwrap_or(value).trim_matches('"');
    (!tag.is_empty() && !tag.contains(['*', ',', '"', ' '])).then(|| format!("\"{tag}\""))
}

fn wanted(range: Option<s3s::dto::Range>, part: Option<i32>) -> S3Result<Wanted> {
    match (range, part) {
        (None, None) => Ok(Wanted::All),
        (Some(range), None) => Ok(Wanted::Range(self::range(range))),
        (None, Some(number)) => {
            let number = u32::try_from(number).ok().filter(|number| (1..=10_000).contains(number));
            number.map(Wanted::Part).ok_or_else(|| invalid("partNumber is from 1 to 10,000"))
        }
        (Some(_), Some(_)) => {
            let message = "Range and partNumber exclude each other";
            Err(S3Error::with_message(S3ErrorCode::InvalidRequest, message))
        }
    }
}

fn no_part(number: u32) -> S3Error {
    let code = S3ErrorCode::Custom("InvalidPartNumber".into());
    let mut error = S3Error::with_message(code, format!("the object has no part {number}"));
    error.set_status_code(StatusCode::RANGE_NOT_SATISFIABLE);
    error
}

/// The number of parts of an object: S3 gives it if the request is for one part.
fn parts_count(info: &Info, wanted: Wanted) -> Option<i32> {
    let count = info.parts.filter(|_| matches!(wanted, Wanted::Part(_)))?;
    i32::try_from(count).ok()
}

/// As Content-Range has it, which knows no range without a byte.
fn content_range(first: u64, end: u64, size: u64) -> Option<String> {
    (first < end).then(|| format!("bytes {first}-{}/{size}", end - 1))
}

fn range_of(info: &Info, wanted: Wanted) -> S3Result<Option<(u64, u64)>> {
    let Wanted::Range(range) = wanted else { return Ok(None) };
    let outside = || S3Error::with_message(S3ErrorCode::InvalidRange, "the range holds no byte of the object");
    range.of(info.size).ok_or_else(outside).map(Some)
}

/// `If-Range` as a condition (RFC 9110 section 13.1.5).
fn only_if(headers: &HeaderMap) -> Option<Conditions> {
    let value = headers.get(http::header::IF_RANGE)?.to_str().ok()?;
    let none = Conditions::default();
    Some(match httpdate::parse_http_date(value) {
        Ok(date) => Conditions { if_unmodified_since: Some(date), ..none },
        Err(_) => Conditions { if_match: Some(value.to_owned()), ..none },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_and_a_part_exclude_each_other() {
        let range = || s3s::dto::Range::Suffix { length: 3 };
        assert_eq!(wanted(None, None).ok(), Some(Wanted::All));
        assert_eq!(wanted(Some(range()), None).ok(), Some(Wanted::Range(Range::Last(3))));
        assert_eq!(wanted(None, Some(7)).ok(), Some(Wanted::Part(7)));
        assert!(wanted(Some(range()), Some(7)).is_err());
        assert!(wanted(None, Some(0)).is_err() && wanted(None, Some(10_001)).is_err());
    }

    #[test]
    fn one_tag_is_the_one_that_the_client_has() {
        let of = |value: &'static str| {
            only_tag(&HeaderMap::from_iter([(http::header::IF_NONE_MATCH, HeaderValue::from_static(value))]))
        };
        for value in ["\"w1-a\"", "w1-a", " W/\"w1-a\""] {
            assert_eq!(of(value).as_deref(), Some("\"w1-a\""), "{value}");
        }
        for value in ["*", "\"w1-a\", \"w1-b\"", ""] {
            assert_eq!(of(value), None, "{value}");
        }
    }

    #[test]
    fn content_ranges_hold_a_byte() {
        assert_eq!(content_range(5, 10, 20).as_deref(), Some("bytes 5-9/20"));
        assert_eq!(content_range(0, 0, 0), None);
    }
}
