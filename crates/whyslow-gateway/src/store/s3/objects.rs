//! Objects and buckets, one request each.

use super::client::{self, Client};
use super::download::{self, Rest};
use super::fields;
use super::request::Ask;
use super::xml::{self, DeleteAnswer, DeleteKey, DeleteRequest, TagAnswer};
use crate::pool::{Answer, Body, Safety};
use crate::store::{
    Conditions, Download, ErrorKind, ObjectInfo, ObjectName, PutOptions, Range, ReadOptions, StoreError, Stored,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ETAG, HeaderName, IF_MATCH, RANGE};
use http::{HeaderMap, Method, StatusCode};
use md5::{Digest, Md5};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::sync::Arc;

/// Maximum that one DeleteObjects names.
const MOST_DELETED: usize = 1000;

pub(super) fn ask(method: Method, object: &ObjectName) -> Ask {
    Ask::new(method, Some(&object.bucket), Some(&object.key))
}

/// A repeated request under conditions could meet its own first result.
pub(super) fn safety(conditions: &Conditions) -> Safety {
    if conditions == &Conditions::default() { Safety::Idempotent } else { Safety::Once }
}

pub(super) async fn put(
    client: &Client,
    object: &ObjectName,
    body: &Body,
    options: &PutOptions,
) -> Result<Stored, StoreError> {
    let ask = fields::metadata(ask(Method::PUT, object), options)?.with(body);
    let ask = fields::conditions(ask, &options.conditions);
    let (answer, _) = client.read(&ask, body, safety(&options.conditions)).await?;
    stored(&answer)
}

pub(super) fn stored(answer: &Answer) -> Result<Stored, StoreError> {
    let lacks = || StoreError::new(ErrorKind::Answer, "the answer has no ETag");
    let tag = fields::text(answer.headers(), &ETAG).ok_or_else(lacks)?.to_owned();
    Ok(Stored { tag, transfer: Some(answer.transfer().clone()) })
}

pub(super) async fn get(
    client: &Arc<Client>,
    object: &ObjectName,
    (range, conditions): (Option<Range>, &Conditions),
    options: &ReadOptions,
) -> Result<Download, StoreError> {
    let plain = ask(Method::GET, object);
    let asked = fields::conditions(plain.clone(), conditions).header_if(RANGE, range.map(Range::field).as_deref());
    let answer = client.send(&asked, &Body::empty(), Safety::Idempotent).await?.one_of(&options.transfers);
    let info = fields::object(&object.key, answer.headers())?;
    let (next, end) = match fields::content_range(answer.headers()) {
        Some((first, end, _)) if answer.status() == StatusCode::PARTIAL_CONTENT => (first, end),
        _ => (0, info.size),
    };
    let (client, options) = (Arc::clone(client), options.clone());
    let rest = Rest { client, ask: plain, options, tag: info.tag.clone(), next, end };
    Ok(Download { info, range: (next, end), body: download::stream_of(answer, rest) })
}

pub(super) async fn head(
    client: &Client,
    object: &ObjectName,
    conditions: &Conditions,
) -> Result<ObjectInfo, StoreError> {
    let ask = fields::conditions(ask(Method::HEAD, object), conditions);
    let (answer, _) = client.read(&ask, &Body::empty(), Safety::Idempotent).await?;
    fields::object(&object.key, answer.headers())
}

pub(super) async fn delete(client: &Client, object: &ObjectName) -> Result<(), StoreError> {
    let result = client.read(&ask(Method::DELETE, object), &Body::empty(), Safety::Idempotent).await;
    match result {
        Err(error) if error.kind == ErrorKind::NoSuchKey => Ok(()),
        result => result.map(|_| ()),
    }
}

/// Not all services check the condition of a DELETE. So the object is read before, and the tag that
/// it had is the condition: a service that ignores it leaves a moment for another one to be stored.
pub(super) async fn delete_if(client: &Client, object: &ObjectName, tags: &str) -> Result<(), StoreError> {
    let conditions = Conditions { if_match: Some(tags.to_owned()), ..Conditions::default() };
    let info = head(client, object, &conditions).await?;
    let ask = ask(Method::DELETE, object).header(IF_MATCH, info.tag);
    client.read(&ask, &Body::empty(), Safety::Once).await.map(|_| ())
}

pub(super) async fn delete_many(
    client: &Client,
    bucket: &str,
    keys: &[String],
) -> Result<Vec<(String, StoreError)>, StoreError> {
    let mut failures = Vec::new();
    for keys in keys.chunks(MOST_DELETED) {
        let objects = keys.iter().map(|key| DeleteKey { key }).collect();
        let text = Bytes::from(xml::write("Delete", &DeleteRequest { objects, quiet: true })?);
        let checksum = STANDARD.encode(Md5::digest(&text));
        let ask = Ask::new(Method::POST, Some(bucket), None).query("delete", "").length(text.len() as u64);
        let ask = ask.header(HeaderName::from_static("content-md5"), checksum);
        let (_, text) = client.read(&ask, &text.into(), Safety::Idempotent).await?;
        for failure in xml::read::<DeleteAnswer>(&text)?.errors {
            let status = StatusCode::OK;
            let error = client::error(status, &failure.code, &failure.message, &HeaderMap::new(), true);
            failures.push((failure.key, error));
        }
    }
    Ok(failures)
}

pub(super) async fn copy(
    client: &Client,
    from: &ObjectName,
    to: &ObjectName,
    (options, conditions): (Option<&PutOptions>, &Conditions),
) -> Result<Stored, StoreError> {
    let key = utf8_percent_encode(&from.key, NON_ALPHANUMERIC);
    let name = HeaderName::from_static;
    let mut ask = ask(Method::PUT, to).header(name("x-amz-copy-source"), format!("/{}/{key}", from.bucket));
    ask = fields::source_conditions(ask, conditions);
    let mut safety = Safety::Idempotent;
    if let Some(options) = options {
        ask = fields::metadata(ask, options)?.header(name("x-amz-metadata-directive"), "REPLACE");
        ask = fields::conditions(ask, &options.conditions);
        safety = self::safety(&options.conditions);
    }
    let (answer, text) = client.read(&ask, &Body::empty(), safety).await?;
    let tag = tag_inside(&answer, &text)?;
    Ok(Stored { tag, transfer: Some(answer.transfer().clone()) })
}

/// The tag in an answer of 200, which may have an error inside instead.
pub(super) fn tag_inside(answer: &Answer, text: &[u8]) -> Result<String, StoreError> {
    let told: TagAnswer = xml::read(text)?;
    if let Some(code) = told.code {
        let message = told.message.unwrap_or_default();
        return Err(client::error(answer.status(), &code, &message, answer.headers(), true));
    }
    told.tag.ok_or_else(|| StoreError::new(ErrorKind::Answer, "the answer has no ETag"))
}

/// Makes, deletes or looks at a bucket.
pub(super) async fn bucket(client: &Client, method: Method, bucket: &str) -> Result<(), StoreError> {
    // Made twice, it would be there already.
    let safety = if method == Method::PUT { Safety::Once } else { Safety::Idempotent };
    client.read(&Ask::new(method, Some(bucket), None), &Body::empty(), safety).await?;
    Ok(())
}
