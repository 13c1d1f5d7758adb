//! What goes wrong behind the endpoint, in S3's words.

use super::call::Call;
use crate::sealed::{SealedError, SealedErrorKind};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use s3s::{S3Error, S3ErrorCode};

/// As S3 answers it. What the client's bytes did wrong, the call knows better.
pub(super) fn answer(call: &Call, error: SealedError) -> S3Error {
    if let (SealedErrorKind::Content(_), Some(fault)) = (&error.kind, call.fault()) {
        return fault;
    }
    let (code, status) = code(&error.kind);
    let mut answer = S3Error::with_message(code, error.message);
    answer.set_status_code(status);
    answer.set_request_id(call.id());
    call.fail(&answer);
    if let SealedErrorKind::SlowDown { retry_after } = error.kind {
        let seconds = retry_after.as_secs_f64().ceil().max(1.0);
        answer.set_headers(HeaderMap::from_iter([(header::RETRY_AFTER, HeaderValue::from(seconds as u64))]));
    }
    answer
}

fn code(kind: &SealedErrorKind) -> (S3ErrorCode, StatusCode) {
    use SealedErrorKind as Kind;
    match kind {
        Kind::NoSuchKey => (S3ErrorCode::NoSuchKey, StatusCode::NOT_FOUND),
        Kind::NoSuchBucket => (S3ErrorCode::NoSuchBucket, StatusCode::NOT_FOUND),
        Kind::NoSuchUpload => (S3ErrorCode::NoSuchUpload, StatusCode::NOT_FOUND),
        Kind::InvalidPart => (S3ErrorCode::InvalidPart, StatusCode::BAD_REQUEST),
        Kind::InvalidPartOrder => (S3ErrorCode::InvalidPartOrder, StatusCode::BAD_REQUEST),
        Kind::EntityTooSmall => (S3ErrorCode::EntityTooSmall, StatusCode::BAD_REQUEST),
        Kind::EntityTooLarge => (S3ErrorCode::EntityTooLarge, StatusCode::BAD_REQUEST),
        Kind::PreconditionFailed => (S3ErrorCode::PreconditionFailed, StatusCode::PRECONDITION_FAILED),
        Kind::NotModified => (S3ErrorCode::NotModified, StatusCode::NOT_MODIFIED),
        Kind::InvalidRange => (S3ErrorCode::InvalidRange, StatusCode::RANGE_NOT_SATISFIABLE),
        Kind::BucketExists => (S3ErrorCode::BucketAlreadyOwnedByYou, StatusCode::CONFLICT),
        Kind::BucketNotEmpty => (S3ErrorCode::BucketNotEmpty, StatusCode::CONFLICT),
        // Another right of the client's would not help: it is the gateway that is refused.
        Kind::Forbidden => (custom("BackendAccessDenied"), StatusCode::BAD_GATEWAY),
        Kind::Content(_) => (S3ErrorCode::IncompleteBody, StatusCode::BAD_REQUEST),
        Kind::Fault(_) | Kind::Metadata(_) => (custom("ObjectNotAuthentic"), StatusCode::BAD_GATEWAY),
        Kind::NotSealed => (custom("ObjectNotSealed"), StatusCode::BAD_GATEWAY),
        Kind::SlowDown { .. } => (S3ErrorCode::SlowDown, StatusCode::SERVICE_UNAVAILABLE),
        Kind::Unavailable => (S3ErrorCode::ServiceUnavailable, StatusCode::SERVICE_UNAVAILABLE),
        Kind::InvalidName => (S3ErrorCode::KeyTooLongError, StatusCode::BAD_REQUEST),
        Kind::InvalidRequest => (S3ErrorCode::InvalidRequest, StatusCode::BAD_REQUEST),
        Kind::Internal => (S3ErrorCode::InternalError, StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn custom(code: &'static str) -> S3ErrorCode {
    S3ErrorCode::Custom(code.into())
}

/// For what S3 has and this endpoint has not: it is never passed over in silence.
pub(super) fn not_here(what: &str) -> S3Error {
    S3Error::with_message(S3ErrorCode::NotImplemented, format!("this endpoint has no {what}"))
}

/// For a request that makes no sense.
pub(super) fn invalid(message: impl Into<String>) -> S3Error {
    S3Error::with_message(S3ErrorCode::InvalidArgument, message.into())
}
