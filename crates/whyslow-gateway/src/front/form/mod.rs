//! `POST /upload/files`: a file out of a form, for scripts that have no S3.
//!
//! The part `data` is JSON and comes first; the part `file` is the object. With a `size` in `data`
//! the file is streamed. Without it the length is unknown before the end: up to 8 MiB are
//! collected, and a larger file becomes an object of several parts.

mod browser;
mod fields;
mod forms;
mod gather;
mod reply;
mod share;

use super::body::Arrival;
use super::call::Call;
use super::errors::{self, invalid};
use super::rights::Right;
use crate::pool::BodyError;
use crate::sealed::{Attributes, Content};
use crate::store::{Conditions, ObjectName};
pub(super) use browser::answer as answer_browser;
use fields::{Data, File, Form};
pub(super) use forms::Forms;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, Method, Response, StatusCode, header, request};
use reply::Stored;
use s3s::{S3Error, S3ErrorCode, S3Result};
use std::time::Instant;

/// The path for forms.
pub(super) const PATH: &str = "/upload/files";
const OPERATION: &str = "UploadFiles";

/// Whether a request is for this path.
pub(super) fn is_for(parts: &request::Parts) -> bool {
    parts.method == Method::POST
        && parts.uri.path() == PATH
        && parts.uri.query().is_none()
        && boundary(&parts.headers).is_some()
}

/// The boundary between the parts of a form; `None` if the request is not a form.
pub(super) fn boundary(headers: &HeaderMap) -> Option<String> {
    multer::parse_boundary(headers.get(header::CONTENT_TYPE)?.to_str().ok()?).ok()
}

/// Stores the file of a form, and answers with the result.
pub(super) async fn answer(
    forms: &Forms,
    call: &Call,
    parts: &request::Parts,
    arrival: Arrival,
) -> Response<s3s::Body> {
    match upload(forms, call, parts, arrival).await {
        Ok(stored) => stored.response(),
        Err(error) => {
            call.fail(&error);
            reply::refusal(call, &error)
        }
    }
}

async fn upload(forms: &Forms, call: &Call, parts: &request::Parts, mut arrival: Arrival) -> S3Result<Stored> {
    let since = Instant::now();
    let who = forms.access.basic(&parts.headers);
    call.begin(OPERATION, who.as_ref().map(|key| key.id.as_str()).filter(|id| !id.is_empty()));
    let denied = |status: StatusCode, message: &'static str| {
        let mut error = S3Error::with_message(S3ErrorCode::AccessDenied, message);
        error.set_status_code(status);
        error
    };
    let message = "the access key and its secret are wanted, by HTTP's Basic";
    let who = who.ok_or_else(|| denied(StatusCode::UNAUTHORIZED, message))?;
    let boundary = boundary(&parts.headers).ok_or_else(|| invalid("this is no form"))?;
    arrival.invite().await.map_err(|_| fault(call))?;
    let mut form = Form::new(arrival, &boundary, forms.largest);
    let (data, file) = form.file().await.map_err(|error| call.fault().unwrap_or(error))?;
    let object = named(&data, &file, forms.bucket.as_deref())?;
    call.name(&object.bucket, Some(&object.key));
    if !who.may(Right::Write, &object.bucket, &object.key) {
        return Err(denied(StatusCode::FORBIDDEN, "this access key has no right to store this object"));
    }
    let attributes = attributes(data.content_type, data.metadata, &file);
    let (size, parts, receipt) = match data.size {
        Some(size) => {
            forms.store.expect_upload(&object.bucket, size);
            let content = Content { length: size, bytes: bytes(call, file, size) };
            let stored = forms.store.put(&object, content, &attributes, &Conditions::default()).await;
            (size, 1, stored.map_err(|error| errors::answer(call, error))?)
        }
        None => gather::store(forms, call, (&object, &attributes), file).await?,
    };
    call.stored(&receipt);
    Ok(Stored::new(object, size, parts, (since.elapsed(), receipt)))
}

fn fault(call: &Call) -> S3Error {
    call.fault().unwrap_or_else(|| S3Error::with_message(S3ErrorCode::IncompleteBody, "the form ended early"))
}

/// The object of a file.
fn named(data: &Data, file: &File, usual: Option<&str>) -> S3Result<ObjectName> {
    let bucket = data.bucket.as_deref().or(usual).filter(|bucket| !bucket.is_empty());
    let bucket = bucket.ok_or_else(|| invalid("data names no bucket, and the gateway has none for forms"))?;
    if !s3s::path::check_bucket_name(bucket) {
        return Err(S3Error::with_message(S3ErrorCode::InvalidBucketName, format!("{bucket:?} is no bucket's name")));
    }
    let given = [&data.key, &data.name, &file.name].into_iter().flatten().find(|name| !name.is_empty());
    let key = given.ok_or_else(|| invalid("neither data nor file has a name"))?;
    if !s3s::path::check_key(key) {
        return Err(S3Error::with_message(S3ErrorCode::KeyTooLongError, "a key has at most 1,024 bytes"));
    }
    Ok(ObjectName::new(bucket, key.as_str()))
}

fn attributes(
    content_type: Option<String>,
    user: std::collections::BTreeMap<String, String>,
    file: &File,
) -> Attributes {
    let user = user.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    Attributes { content_type: content_type.or_else(|| file.content_type.clone()), user, ..Attributes::default() }
}

/// The file as a stream: it ends without an error only with the form.
fn bytes(call: &Call, file: File, size: u64) -> crate::pool::ByteStream {
    let flow = (Some(file), 0_u64, call.clone());
    stream::unfold(flow, move |(mut file, came, call)| async move {
        let found = match file.as_mut()?.next().await {
            Ok(Some(bytes)) => {
                let came = came.saturating_add(bytes.len() as u64);
                if came <= size {
                    return Some((Ok(bytes), (file, came, call)));
                }
                Err(wrong_size(size, came))
            }
            Ok(None) if came < size => Err(wrong_size(size, came)),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        let error = found.err()?;
        call.fail(&error);
        let message = error.message().unwrap_or_default().to_owned();
        Some((Err(BodyError::Source(message)), (None, came, call)))
    })
    .boxed()
}

fn wrong_size(size: u64, came: u64) -> S3Error {
    let message = format!("data has a size of {size}, and the file {came} bytes");
    S3Error::with_message(S3ErrorCode::IncompleteBody, message)
}
