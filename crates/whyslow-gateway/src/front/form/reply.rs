//! The answer to a form, as JSON.

use crate::front::call::Call;
use crate::pool::{LimitingFactor, Transfer};
use crate::sealed::Receipt;
use crate::store::ObjectName;
use http::{HeaderValue, Response, StatusCode, header};
use s3s::{S3Error, S3ErrorCode};
use serde::Serialize;
use std::time::Duration;

/// A file that was stored.
#[derive(Debug, Serialize)]
pub(super) struct Stored {
    bucket: String,
    key: String,
    etag: String,
    /// Bytes.
    size: u64,
    /// 1, or the number of parts.
    parts: u32,
    seconds: Seconds,
    /// The limit with the most time of the transfer to the storage.
    limited_by: Option<LimitingFactor>,
    /// Whether that connection had served requests before.
    connection: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Seconds {
    /// Time since the form's header.
    total: f64,
    /// Time in the cipher.
    sealing: f64,
    /// The transfer to the storage.
    storage: Option<Storage>,
}

#[derive(Debug, Serialize)]
struct Storage {
    queued: f64,
    resolve: f64,
    connect: f64,
    tls: f64,
    send: f64,
    wait: f64,
    receive: f64,
}

#[derive(Debug, Serialize)]
struct Refusal<'a> {
    error: &'a str,
    message: &'a str,
    request_id: &'a str,
}

impl Stored {
    pub(super) fn new(object: ObjectName, size: u64, parts: u32, (total, receipt): (Duration, Receipt)) -> Self {
        let transfer = receipt.transfer.as_ref();
        let connection = transfer.map(|transfer| if transfer.is_reused { "reused" } else { "new" });
        let storage = transfer.map(Storage::of);
        let seconds = Seconds { total: total.as_secs_f64(), sealing: receipt.sealing.as_secs_f64(), storage };
        let limited_by = transfer.and_then(Transfer::limited_by);
        let (bucket, key, etag) = (object.bucket, object.key, receipt.tag);
        Self { bucket, key, etag, size, parts, seconds, limited_by, connection }
    }

    pub(super) fn response(&self) -> Response<s3s::Body> {
        json(StatusCode::OK, self)
    }
}

impl Storage {
    fn of(transfer: &Transfer) -> Self {
        let phases = &transfer.phases;
        Self {
            queued: phases.queued.as_secs_f64(),
            resolve: phases.resolve.as_secs_f64(),
            connect: phases.connect.as_secs_f64(),
            tls: phases.tls.as_secs_f64(),
            send: phases.send.as_secs_f64(),
            wait: phases.wait.as_secs_f64(),
            receive: phases.receive.as_secs_f64(),
        }
    }
}

/// The reason why nothing was stored.
pub(super) fn refusal(call: &Call, error: &S3Error) -> Response<s3s::Body> {
    let is_nobody = *error.code() == S3ErrorCode::AccessDenied && error.status_code() != Some(StatusCode::FORBIDDEN);
    let usual = error.status_code().unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let status = if is_nobody { StatusCode::UNAUTHORIZED } else { usual };
    let message = error.message().unwrap_or_default();
    let mut answer = json(status, &Refusal { error: error.code().as_str(), message, request_id: call.id() });
    if is_nobody {
        let scheme = HeaderValue::from_static("Basic realm=\"whyslow gateway\"");
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    answer
}

fn json(status: StatusCode, document: &impl Serialize) -> Response<s3s::Body> {
    let mut text = serde_json::to_string(document).unwrap_or_default();
    text.push('\n');
    let mut answer = Response::new(s3s::Body::from(text));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
