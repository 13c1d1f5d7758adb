//! Errors behind the endpoint, as S3's errors.

use super::call::Call;
use crate::sealed::{SealedError, SealedErrorKind};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use s3s::{S3Error, S3ErrorCode};

/// The error as S3 answers it. The call has the reason if the client's bytes are wrong. The store's
/// own message goes to the log only: it may name folders and hosts that are private.
pub(super) fn answer(call: &Call, error: SealedError) -> S3Error {
    if let (SealedErrorKind::Content(_), Some(fault)) = (&error.kind, call.fault()) {
        return fault;
    }
    let (code, status) = code(&error.kind);
    let with = |message: String| {
        let mut answer = S3Error::with_message(code.clone(), message);
        answer.set_status_code(status);
        answer.set_request_id(call.id());
        answer
    };
    call.fail(&with(error.to_string()));
    let public = public(&error.kind).map_or(error.message, str::to_owned);
    let mut answer = with(public);
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
        Kind::BadDigest => (S3ErrorCode::BadDigest, StatusCode::BAD_REQUEST),
        Kind::InvalidPartOrder => (S3ErrorCode::InvalidPartOrder, StatusCode::BAD_REQUEST),
        Kind::EntityTooSmall => (S3ErrorCode::EntityTooSmall, StatusCode::BAD_REQUEST),
        Kind::EntityTooLarge => (S3ErrorCode::EntityTooLarge, StatusCode::BAD_REQUEST),
        Kind::PreconditionFailed => (S3ErrorCode::PreconditionFailed, StatusCode::PRECONDITION_FAILED),
        Kind::NotModified => (S3ErrorCode::NotModified, StatusCode::NOT_MODIFIED),
        Kind::InvalidRange => (S3ErrorCode::InvalidRange, StatusCode::RANGE_NOT_SATISFIABLE),
        Kind::BucketExists => (S3ErrorCode::BucketAlreadyOwnedByYou, StatusCode::CONFLICT),
        Kind::BucketNotEmpty => (S3ErrorCode::BucketNotEmpty, StatusCode::CONFLICT),
        // The gateway is refused, so another right of the client would not help.
        Kind::Forbidden => (custom("BackendAccessDenied"), StatusCode::BAD_GATEWAY),
        Kind::Content(_) => (S3ErrorCode::IncompleteBody, StatusCode::BAD_REQUEST),
        Kind::Fault(_) | Kind::Metadata(_) => (custom("ObjectNotAuthentic"), StatusCode::BAD_GATEWAY),
        Kind::NotSealed => (custom("ObjectNotSealed"), StatusCode::BAD_GATEWAY),
        Kind::SlowDown { .. } => (S3ErrorCode::SlowDown, StatusCode::SERVICE_UNAVAILABLE),
        Kind::OtherSettings => (custom("BucketHasOtherSettings"), StatusCode::CONFLICT),
        Kind::NotKnown => (S3ErrorCode::NotImplemented, StatusCode::NOT_IMPLEMENTED),
        Kind::Full => (custom("InsufficientStorage"), StatusCode::INSUFFICIENT_STORAGE),
        Kind::Unavailable => (S3ErrorCode::ServiceUnavailable, StatusCode::SERVICE_UNAVAILABLE),
        Kind::InvalidName => (S3ErrorCode::KeyTooLongError, StatusCode::BAD_REQUEST),
        Kind::InvalidRequest => (S3ErrorCode::InvalidRequest, StatusCode::BAD_REQUEST),
        Kind::Internal => (S3ErrorCode::InternalError, StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// S3's own sentence, if it has one; `None` if the client may read the reason.
fn public(kind: &SealedErrorKind) -> Option<&'static str> {
    use SealedErrorKind as Kind;
    Some(match kind {
        Kind::NoSuchKey => "The specified key does not exist.",
        Kind::NoSuchBucket => "The specified bucket does not exist.",
        Kind::NoSuchUpload => {
            "The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been \
             aborted or completed."
        }
        Kind::BucketNotEmpty => "The bucket you tried to delete is not empty.",
        Kind::PreconditionFailed => "At least one of the pre-conditions you specified did not hold.",
        Kind::Forbidden => "the store refuses the gateway; its log says more, under this request's id",
        Kind::Unavailable => "the store cannot be reached; the gateway's log says more, under this request's id",
        Kind::Internal => "the store failed; the gateway's log says more, under this request's id",
        _ => return None,
    })
}

fn custom(code: &'static str) -> S3ErrorCode {
    S3ErrorCode::Custom(code.into())
}

/// For features of S3 that this endpoint lacks: they are refused, never ignored.
pub(super) fn not_here(what: &str) -> S3Error {
    S3Error::with_message(S3ErrorCode::NotImplemented, format!("this endpoint has no {what}"))
}

/// For an invalid request.
pub(super) fn invalid(message: impl Into<String>) -> S3Error {
    S3Error::with_message(S3ErrorCode::InvalidArgument, message.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::store::{ErrorKind, StoreError};

    #[test]
    fn where_things_are_is_for_the_log() {
        let place = std::path::Path::new("/srv/objects/bucket/o");
        for (kind, public) in [
            (ErrorKind::NoSuchKey, "The specified key does not exist."),
            (ErrorKind::Invalid, "the store does not accept the request: so it is"),
            (ErrorKind::Foreign, "this was not stored by a gateway: so it is"),
            (ErrorKind::Full, "the store has no room left: so it is"),
        ] {
            let call = Call::new();
            let answer = answer(&call, StoreError::new(kind, "so it is").at(place).into());
            assert_eq!(answer.message(), Some(public));
            assert!(call.fault().unwrap().message().unwrap().contains("/srv/objects"));
        }
    }

    #[test]
    fn full_store_is_507() {
        let call = Call::new();
        let answer = answer(&call, StoreError::new(ErrorKind::Full, "").into());
        assert_eq!(answer.status_code(), Some(StatusCode::INSUFFICIENT_STORAGE));
        assert_eq!(answer.code().as_str(), "InsufficientStorage");
    }
}
