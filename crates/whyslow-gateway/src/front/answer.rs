//! [`AnswerBody`]: the body of an answer, which is counted while it is sent.

use super::call::Ending;
use super::connections::Busy;
use bytes::Bytes;
use http::{Method, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// An answer that goes to a client.
pub(super) type Answer = Response<AnswerBody>;

/// The bytes of an answer. Dropping it ends the request, which is then recorded.
pub(super) struct AnswerBody {
    inner: s3s::Body,
    ending: Ending,
    /// Length of the body, if it is known.
    length: Option<u64>,
    /// Time since which the connection has no room.
    handed: Option<Instant>,
    _busy: Busy,
}

impl AnswerBody {
    /// For an answer whose head is complete.
    pub(super) fn wrap(answer: Response<s3s::Body>, ending: Ending, busy: Busy) -> Answer {
        let (mut parts, inner) = answer.into_parts();
        if let Ok(id) = ending.call.id().parse() {
            parts.headers.insert("x-amz-request-id", id);
        }
        ending.call.answered(parts.status);
        let stated = parts.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        let length = stated.or(inner.size_hint().exact());
        let has_none = matches!(parts.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        if ending.method == Method::HEAD || has_none || length == Some(0) {
            ending.call.finished();
        }
        Response::from_parts(parts, Self { inner, ending, length, handed: None, _busy: busy })
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = &mut *self;
        if let Some(handed) = this.handed.take() {
            this.ending.call.waited(handed.elapsed());
        }
        let found = ready!(Pin::new(&mut this.inner).poll_frame(cx));
        match &found {
            Some(Ok(frame)) => {
                let count = frame.data_ref().map_or(0, Bytes::len);
                if Some(this.ending.call.count_out(count)) == this.length {
                    this.ending.call.finished();
                }
                this.handed = Some(Instant::now());
            }
            Some(Err(error)) => {
                let error = s3s::S3Error::with_message(s3s::S3ErrorCode::InternalError, error.to_string());
                this.ending.call.fail(&error);
            }
            None => this.ending.call.finished(),
        }
        Poll::Ready(found)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(|| self.inner.size_hint(), SizeHint::with_exact)
    }
}
