//! Lists: objects, parts, uploads, buckets.

use super::client::Client;
use super::fields;
use super::request::Ask;
use super::warm::PARKED;
use super::xml::{self, BucketsAnswer, ListAnswer, PartsAnswer, UploadsAnswer};
use crate::pool::{Body, Safety};
use crate::store::{ListQuery, Listing, ObjectInfo, ObjectName, Part, StoreError, Upload, UploadInfo, UploadListing};
use http::Method;
use std::collections::BTreeMap;

async fn read(client: &Client, ask: &Ask) -> Result<Vec<u8>, StoreError> {
    Ok(client.read(ask, &Body::empty(), Safety::Idempotent).await?.1)
}

pub(super) async fn objects(client: &Client, bucket: &str, query: &ListQuery) -> Result<Listing, StoreError> {
    // In the order of their names, as they are signed.
    let mut ask = Ask::new(Method::GET, Some(bucket), None);
    if let Some(token) = &query.continuation {
        ask = ask.query("continuation-token", token);
    }
    if let Some(delimiter) = &query.delimiter {
        ask = ask.query("delimiter", delimiter);
    }
    ask = ask.query("encoding-type", "url").query("list-type", "2");
    if query.max > 0 {
        ask = ask.query("max-keys", &query.max.to_string());
    }
    ask = ask.query("prefix", &query.prefix);
    if let Some(after) = &query.start_after {
        ask = ask.query("start-after", after);
    }
    let text = read(client, &ask).await?;
    let answer: ListAnswer = xml::read(&text)?;
    let key = |text: &str| fields::key(text, answer.encoding_type.as_deref());
    let objects = answer.contents.iter().map(|object| {
        Ok(ObjectInfo {
            key: key(&object.key)?,
            size: object.size,
            tag: object.tag.clone(),
            modified: fields::time(&object.last_modified)?,
            content_type: None,
            metadata: BTreeMap::new(),
        })
    });
    let prefixes = answer.common_prefixes.iter().map(|prefix| key(&prefix.prefix));
    Ok(Listing {
        objects: objects.collect::<Result<_, StoreError>>()?,
        prefixes: prefixes.collect::<Result<_, StoreError>>()?,
        next: answer.next_continuation_token.filter(|_| answer.is_truncated),
    })
}

pub(super) async fn parts(client: &Client, upload: &Upload, after: u32) -> Result<(Vec<Part>, bool), StoreError> {
    let ask = Ask::new(Method::GET, Some(&upload.object.bucket), Some(&upload.object.key));
    let ask = ask.query("part-number-marker", &after.to_string()).query("uploadId", &upload.id);
    let text = read(client, &ask).await?;
    let answer: PartsAnswer = xml::read(&text)?;
    let parts = answer.parts.into_iter().map(|part| Part {
        number: part.part_number,
        tag: part.tag,
        size: part.size,
        transfer: None,
    });
    Ok((parts.collect(), answer.is_truncated))
}

pub(super) async fn uploads(
    client: &Client,
    bucket: &str,
    prefix: &str,
    after: Option<&Upload>,
) -> Result<UploadListing, StoreError> {
    let mut ask = Ask::new(Method::GET, Some(bucket), None).query("encoding-type", "url");
    if let Some(after) = after {
        ask = ask.query("key-marker", &after.object.key);
    }
    ask = ask.query("prefix", prefix);
    if let Some(after) = after {
        ask = ask.query("upload-id-marker", &after.id);
    }
    let text = read(client, &ask.query("uploads", "")).await?;
    let answer: UploadsAnswer = xml::read(&text)?;
    let uploads = answer.uploads.iter().map(|upload| {
        let object = ObjectName::new(bucket, fields::key(&upload.key, answer.encoding_type.as_deref())?);
        let begun = fields::time(&upload.initiated)?;
        Ok(UploadInfo { upload: Upload { object, id: upload.upload_id.clone() }, begun })
    });
    let mut uploads: Vec<UploadInfo> = uploads.collect::<Result<_, StoreError>>()?;
    uploads.retain(|one| one.upload.object.key != PARKED);
    Ok(UploadListing { uploads, has_more: answer.is_truncated })
}

pub(super) async fn buckets(client: &Client) -> Result<Vec<String>, StoreError> {
    let text = read(client, &Ask::new(Method::GET, None, None)).await?;
    let answer: BucketsAnswer = xml::read(&text)?;
    Ok(answer.buckets.buckets.into_iter().map(|bucket| bucket.name).collect())
}
