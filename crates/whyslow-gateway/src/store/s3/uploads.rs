//! Uploads in parts.

use super::client::Client;
use super::fields;
use super::objects::{self, ask, tag_inside};
use super::xml::{self, CompletePart, CompleteRequest, UploadAnswer};
use crate::pool::{Body, Safety};
use crate::store::{Conditions, ErrorKind, ObjectName, Part, PutOptions, Repeat, StoreError, Stored, Upload};
use bytes::Bytes;
use http::Method;

/// Attempts to complete an upload if no answer comes.
const COMPLETIONS: u32 = 4;

/// Begins one. Asked for twice it leaves an upload behind that `clean` finds.
pub(super) async fn create(client: &Client, object: &ObjectName, options: &PutOptions) -> Result<Upload, StoreError> {
    let ask = fields::metadata(ask(Method::POST, object), options)?.query("uploads", "");
    let (_, text) = client.read(&ask, &Body::empty(), Safety::Idempotent).await?;
    Ok(Upload { object: object.clone(), id: xml::read::<UploadAnswer>(&text)?.upload_id })
}

pub(super) async fn put_part(client: &Client, upload: &Upload, number: u32, body: &Body) -> Result<Part, StoreError> {
    let ask = ask(Method::PUT, &upload.object).query("partNumber", &number.to_string()).query("uploadId", &upload.id);
    let (answer, _) = client.read(&ask.with(body), body, Safety::Idempotent).await?;
    let stored = objects::stored(&answer)?;
    Ok(Part { number, tag: stored.tag, size: body.len(), transfer: stored.transfer })
}

/// Completes one. Without an answer it is not known whether it was done: then it is asked for
/// again, and if the upload is gone then, the object decides.
pub(super) async fn complete(
    client: &Client,
    upload: &Upload,
    parts: &[Part],
    conditions: &Conditions,
) -> Result<Stored, StoreError> {
    let list = parts.iter().map(|part| CompletePart { number: part.number, tag: part.tag.clone() }).collect();
    let text = Bytes::from(xml::write("CompleteMultipartUpload", &CompleteRequest { parts: list })?);
    let ask = ask(Method::POST, &upload.object).query("uploadId", &upload.id).length(text.len() as u64);
    let ask = fields::conditions(ask, conditions);
    let body = Body::from(text);
    let mut may_be_done = false;
    let mut attempt = 1;
    loop {
        let result = match client.read(&ask, &body, Safety::Once).await {
            Ok((answer, text)) => {
                tag_inside(&answer, &text).map(|tag| Stored { tag, transfer: Some(answer.transfer().clone()) })
            }
            Err(error) => Err(error),
        };
        let Err(error) = result else { return result };
        if may_be_done && error.kind == ErrorKind::NoSuchUpload {
            return completed_before(client, upload, parts, error).await;
        }
        let Repeat::MayBeDone(pause) = error.repeat else { return Err(error) };
        if attempt == COMPLETIONS {
            return Err(error);
        }
        may_be_done = true;
        attempt += 1;
        tokio::time::sleep(pause * attempt).await;
    }
}

/// The upload is gone, and no other request ends it: if its object is there, this is it.
async fn completed_before(
    client: &Client,
    upload: &Upload,
    parts: &[Part],
    error: StoreError,
) -> Result<Stored, StoreError> {
    let info = objects::head(client, &upload.object, &Conditions::default()).await?;
    let size: u64 = parts.iter().map(|part| part.size).sum();
    let is_multipart = info.tag.trim_matches('"').ends_with(&format!("-{}", parts.len()));
    if info.size == size && is_multipart { Ok(Stored { tag: info.tag, transfer: None }) } else { Err(error) }
}

pub(super) async fn abort(client: &Client, upload: &Upload) -> Result<(), StoreError> {
    let ask = ask(Method::DELETE, &upload.object).query("uploadId", &upload.id);
    match client.read(&ask, &Body::empty(), Safety::Idempotent).await {
        Err(error) if matches!(error.kind, ErrorKind::NoSuchUpload | ErrorKind::NoSuchKey) => Ok(()),
        result => result.map(|_| ()),
    }
}
