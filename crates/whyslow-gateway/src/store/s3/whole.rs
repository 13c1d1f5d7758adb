//! [`Bodies`]: how bodies are sent so that the service stores whole ones alone.
//!
//! A client that leaves halfway, a wrong checksum and a gateway that is killed all leave a body
//! shorter than its Content-Length. Most services drop it, and some store it: versitygw 1.8 does,
//! over the object that was there. So each service is tried out before the first body. It gets
//! parts of an upload that is never completed: no object appears, and no version of one.

use super::client::Client;
use super::objects::ask;
use super::request::Ask;
use super::xml::{self, UploadAnswer};
use super::{lists, uploads};
use crate::pool::{Body, BodyError, Safety};
use crate::store::{ErrorKind, ObjectName, Part, PutOptions, StoreError, Stored, Upload};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::Method;
use http::header::HeaderName;
use std::sync::Arc;
use std::time::Duration;

/// The key of the upload that is never completed.
const KEY: &str = ".whyslow-gateway/trial";
/// Bytes of a part that is tried.
const SIZE: usize = 8 << 10;
/// A body is cut this long after its first bytes, so that these have left.
const BEFORE_CUT: Duration = Duration::from_millis(200);
/// How often the service is asked whether it stored a part that was cut, and the time between.
const LOOKS: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(150);

/// How bodies are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bodies {
    /// In chunks, with a checksum behind them (`aws-chunked`). Services that take this notice a
    /// missing end.
    Chunked,
    /// Unchanged, with a Content-Length: the service drops shorter ones.
    Plain {
        /// Why not in chunks.
        no_chunks: String,
    },
    /// As the only part of an upload, which is completed when the part is whole: two requests
    /// more. The service takes no chunks, and stores bodies that are cut.
    Uploads {
        /// Why not in chunks.
        no_chunks: String,
    },
    /// Unchanged: the service could not be tested.
    Untried {
        /// Why not.
        why: String,
    },
}

/// Tries a service out.
///
/// # Errors
/// When it cannot be reached, is busy, or has no such bucket: another time may do.
pub(super) async fn try_out(client: &Client, bucket: &str) -> Result<Bodies, StoreError> {
    let object = ObjectName::new(bucket, KEY);
    // AWS takes a part with a checksum only if the upload was begun for it.
    let checksum = HeaderName::from_static("x-amz-checksum-algorithm");
    let begin = ask(Method::POST, &object).query("uploads", "").header(checksum, "CRC32");
    let upload = match client.read(&begin, &Body::empty(), Safety::Idempotent).await {
        Ok((_, text)) => Upload { object: object.clone(), id: xml::read::<UploadAnswer>(&text)?.upload_id },
        Err(error) => return Ok(Bodies::Untried { why: refusal(error)? }),
    };
    let found = chunks_fail(client, &upload).await;
    // An upload that stays holds two parts of a few bytes; `clean` drops it.
    let _ = uploads::abort(client, &upload).await;
    let Some(no_chunks) = found? else { return Ok(Bodies::Chunked) };
    let upload = uploads::create(client, &object, &PutOptions::default()).await?;
    let found = keeps_cut(client, &upload).await;
    let _ = uploads::abort(client, &upload).await;
    Ok(match found? {
        Ok(true) => Bodies::Uploads { no_chunks },
        Ok(false) => Bodies::Plain { no_chunks },
        Err(why) => Bodies::Untried { why },
    })
}

/// Whether a body that is cut is stored; the inner error is why that cannot be found out.
async fn keeps_cut(client: &Client, upload: &Upload) -> Result<Result<bool, String>, StoreError> {
    let cut = [Ok(Bytes::from(vec![0; SIZE / 2])), Err(BodyError::Source("a trial".to_owned()))];
    let cut = stream::iter(cut).then(|piece| async move {
        tokio::time::sleep(BEFORE_CUT * u32::from(piece.is_err())).await;
        piece
    });
    let body = Body::stream(SIZE as u64, 0, cut.boxed());
    if client.read(&part(upload, 1).with(&body), &body, Safety::Once).await.is_ok() {
        return Ok(Ok(true));
    }
    for _ in 0..LOOKS {
        match stored(client, upload, 1).await {
            Ok(None) => tokio::time::sleep(BETWEEN_LOOKS).await,
            Ok(Some(_)) => return Ok(Ok(true)),
            Err(error) => return Ok(Err(refusal(error)?)),
        }
    }
    Ok(Ok(false))
}

/// Why bodies cannot go in chunks. `None`: they can.
async fn chunks_fail(client: &Client, upload: &Upload) -> Result<Option<String>, StoreError> {
    let body = Body::from(Bytes::from(vec![0; SIZE])).in_chunks();
    let whole = part(upload, 1).with(&body);
    if let Err(error) = client.read(&whole, &body, Safety::Idempotent).await {
        return Ok(Some(refusal(error)?));
    }
    match stored(client, upload, 1).await {
        Ok(Some(size)) if size == SIZE as u64 => {}
        Ok(size) => {
            let size = size.map_or_else(|| "nothing".to_owned(), |size| format!("{size} B"));
            return Ok(Some(format!("of {SIZE} B in chunks it stored {size}")));
        }
        Err(error) => return Ok(Some(refusal(error)?)),
    }
    // The first chunk without the end, all of which comes.
    let cut = Body::from(Bytes::from([format!("{SIZE:x}\r\n").as_bytes(), &[0; SIZE / 2]].concat()));
    let ask = part(upload, 2).chunked(SIZE as u64).length(cut.len());
    match client.read(&ask, &cut, Safety::Once).await {
        Ok(_) => Ok(Some("it stores chunks without their end".to_owned())),
        Err(error) => {
            refusal(error)?;
            let is_stored = stored(client, upload, 2).await?.is_some();
            Ok(is_stored.then(|| "it stores chunks without their end".to_owned()))
        }
    }
}

fn part(upload: &Upload, number: u32) -> Ask {
    ask(Method::PUT, &upload.object).query("partNumber", &number.to_string()).query("uploadId", &upload.id)
}

/// Bytes of a part, if it is stored.
async fn stored(client: &Client, upload: &Upload, number: u32) -> Result<Option<u64>, StoreError> {
    let (parts, _) = lists::parts(client, upload, number - 1).await?;
    Ok(parts.iter().find(|part| part.number == number).map(|part| part.size))
}

/// The service's response to a request that it refuses.
fn refusal(error: StoreError) -> Result<String, StoreError> {
    match error.kind {
        ErrorKind::NoSuchBucket | ErrorKind::Busy | ErrorKind::Connection(_) | ErrorKind::TimedOut(_) => Err(error),
        _ => Ok(error.message),
    }
}

/// Stores an object as the only part of an upload. It is brought to its end, whether or not
/// something waits for it: no upload stays behind.
pub(super) async fn put_as_upload(
    client: &Arc<Client>,
    object: &ObjectName,
    body: Body,
    options: &PutOptions,
) -> Result<Stored, StoreError> {
    let (client, object, options) = (Arc::clone(client), object.clone(), options.clone());
    let work = tokio::spawn(async move {
        let upload = uploads::create(&client, &object, &options).await?;
        let stored = match uploads::put_part(&client, &upload, 1, &body).await {
            Ok(part) => complete(&client, &upload, part, &options).await,
            Err(error) => Err(error),
        };
        if stored.is_err() {
            // The error that made dropping necessary is the one to report.
            let _ = uploads::abort(&client, &upload).await;
        }
        stored
    });
    work.await.map_err(|error| StoreError::new(ErrorKind::Server, error.to_string()))?
}

async fn complete(
    client: &Client,
    upload: &Upload,
    mut part: Part,
    options: &PutOptions,
) -> Result<Stored, StoreError> {
    let transfer = part.transfer.take();
    let stored = uploads::complete(client, upload, &[part], &options.conditions).await?;
    Ok(Stored { transfer, ..stored })
}
