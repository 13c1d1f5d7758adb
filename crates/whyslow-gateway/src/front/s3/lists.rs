//! Lists of objects.

use super::fields::{size, tag, timestamp};
use super::{Answer, Endpoint};
use crate::front::call::Call;
use crate::front::errors::{answer, invalid};
use crate::sealed::{Info, Listing};
use crate::store::ListQuery;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result};

/// Maximum number of entries of a page.
const PAGE: u32 = 1000;
/// Characters that S3 does not encode with `encoding-type=url`.
const CODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'*').remove(b'/');
/// Behind all keys that begin in the same way, except those with a character that Unicode does not
/// assign.
const BEHIND: char = '\u{10FFFF}';

/// How names stand in an answer: XML cannot hold all of them.
#[derive(Clone, Copy)]
pub(super) struct Coding(bool);

impl Coding {
    pub(super) fn of(wanted: Option<&EncodingType>) -> Self {
        Self(wanted.is_some_and(|wanted| wanted.as_str() == EncodingType::URL))
    }

    pub(super) fn text(self, text: &str) -> String {
        if self.0 { utf8_percent_encode(text, CODED).to_string() } else { text.to_owned() }
    }

    fn objects(self, objects: &[Info]) -> ObjectList {
        let object = |info: &Info| Object {
            key: Some(self.text(&info.key)),
            size: size(info.size),
            e_tag: tag(&info.tag),
            last_modified: timestamp(info.modified),
            storage_class: Some(ObjectStorageClass::from_static(ObjectStorageClass::STANDARD)),
            ..Object::default()
        };
        objects.iter().map(object).collect()
    }

    pub(super) fn prefixes(self, prefixes: &[String]) -> CommonPrefixList {
        prefixes.iter().map(|prefix| CommonPrefix { prefix: Some(self.text(prefix)) }).collect()
    }
}

impl Endpoint {
    pub(super) async fn list_objects_v2(
        &self,
        call: &Call,
        request: S3Request<ListObjectsV2Input>,
    ) -> Answer<ListObjectsV2Output> {
        let input = request.input;
        let max = most(input.max_keys)?;
        let query = ListQuery {
            prefix: input.prefix.clone().unwrap_or_default(),
            delimiter: some(input.delimiter.clone()),
            start_after: some(input.start_after.clone()),
            continuation: input.continuation_token.as_deref().map(place).transpose()?,
            max,
        };
        let Listing { objects, prefixes, next } = self.page(call, &input.bucket, &query).await?;
        let coded = Coding::of(input.encoding_type.as_ref());
        let count = objects.len() + prefixes.len();
        Ok(S3Response::new(ListObjectsV2Output {
            name: Some(input.bucket),
            prefix: Some(coded.text(&query.prefix)),
            delimiter: query.delimiter.as_deref().map(|text| coded.text(text)),
            start_after: query.start_after.as_deref().map(|text| coded.text(text)),
            max_keys: i32::try_from(max).ok(),
            key_count: i32::try_from(count).ok(),
            continuation_token: input.continuation_token,
            is_truncated: Some(next.is_some()),
            next_continuation_token: next.map(|next| URL_SAFE_NO_PAD.encode(next)),
            contents: Some(coded.objects(&objects)),
            common_prefixes: Some(coded.prefixes(&prefixes)),
            encoding_type: input.encoding_type,
            ..ListObjectsV2Output::default()
        }))
    }

    pub(super) async fn list_objects(
        &self,
        call: &Call,
        request: S3Request<ListObjectsInput>,
    ) -> Answer<ListObjectsOutput> {
        let input = request.input;
        let max = most(input.max_keys)?;
        let (prefix, delimiter) = (input.prefix.unwrap_or_default(), some(input.delimiter));
        let marks = (prefix.clone(), delimiter.clone(), some(input.marker.clone()));
        let (listing, next_key) = self.page_behind(call, &input.bucket, marks, max).await?;
        let coded = Coding::of(input.encoding_type.as_ref());
        Ok(S3Response::new(ListObjectsOutput {
            name: Some(input.bucket),
            prefix: Some(coded.text(&prefix)),
            delimiter: delimiter.as_deref().map(|text| coded.text(text)),
            marker: Some(coded.text(&input.marker.unwrap_or_default())),
            max_keys: i32::try_from(max).ok(),
            is_truncated: Some(next_key.is_some()),
            next_marker: next_key.map(|key| coded.text(&key)),
            contents: Some(coded.objects(&listing.objects)),
            common_prefixes: Some(coded.prefixes(&listing.prefixes)),
            encoding_type: input.encoding_type,
            ..ListObjectsOutput::default()
        }))
    }

    /// A page behind a key or a common prefix, and where the next one begins: the last of either.
    pub(super) async fn page_behind(
        &self,
        call: &Call,
        bucket: &str,
        (prefix, delimiter, marker): (String, Option<String>, Option<String>),
        max: u32,
    ) -> S3Result<(Listing, Option<String>)> {
        let start_after = marker.map(|marker| behind(marker, &prefix, delimiter.as_deref()));
        let query = ListQuery { prefix, delimiter, start_after, continuation: None, max };
        let listing = self.page(call, bucket, &query).await?;
        let last = listing.objects.last().map(|info| &info.key).max(listing.prefixes.last()).cloned();
        let next_key = last.filter(|_| listing.next.is_some());
        Ok((listing, next_key))
    }

    async fn page(&self, call: &Call, bucket: &str, query: &ListQuery) -> S3Result<Listing> {
        if query.max == 0 {
            self.store.head_bucket(bucket).await.map_err(|error| answer(call, error))?;
            return Ok(Listing::default());
        }
        self.store.list(bucket, query).await.map_err(|error| answer(call, error))
    }
}

/// An empty text is none.
fn some(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

pub(super) fn most(max_keys: Option<i32>) -> S3Result<u32> {
    let max = u32::try_from(max_keys.unwrap_or(1000)).map_err(|_| invalid("max-keys is negative"))?;
    Ok(max.min(PAGE))
}

fn place(token: &str) -> S3Result<String> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| invalid("the continuation token is none of this endpoint's"))
}

/// A marker that is a common prefix of the page before stands for all keys under it.
fn behind(marker: String, prefix: &str, delimiter: Option<&str>) -> String {
    let rest = marker.strip_prefix(prefix).unwrap_or_default();
    match delimiter {
        Some(delimiter) if rest.find(delimiter).is_some_and(|at| at + delimiter.len() == rest.len()) => {
            format!("{marker}{BEHIND}")
        }
        _ => marker,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_common_prefix_is_passed_with_all_that_is_under_it() {
        assert_eq!(behind("a/".to_owned(), "", Some("/")), "a/\u{10FFFF}");
        assert_eq!(behind("p/a/".to_owned(), "p/", Some("/")), "p/a/\u{10FFFF}");
        for (marker, prefix, delimiter) in [("a/b", "", Some("/")), ("a/", "", None), ("p/", "p/", Some("/"))] {
            assert_eq!(behind(marker.to_owned(), prefix, delimiter), marker);
        }
    }

    #[test]
    fn names_are_coded_as_s3_does() {
        assert_eq!(Coding(true).text("a b/ü+*%.txt"), "a%20b/%C3%BC%2B*%25.txt");
        assert_eq!(Coding(false).text("a b"), "a b");
    }

    #[test]
    fn tokens_and_numbers_of_others_are_refused() {
        assert_eq!(place(&URL_SAFE_NO_PAD.encode("käse")).unwrap(), "käse");
        assert!(place("ü").is_err() && place("_w").is_err());
        assert_eq!((most(None).unwrap(), most(Some(5000)).unwrap(), most(Some(0)).unwrap()), (1000, 1000, 0));
        assert!(most(Some(-1)).is_err());
    }
}
