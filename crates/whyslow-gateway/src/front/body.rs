//! [`ClientBody`]: the body of a request, and its minimum rate.

use super::call::Call;
use super::checksums::Verifier;
use super::options::Limits;
use super::pace::Pace;
use bytes::Bytes;
use http::{HeaderMap, Method, request};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use s3s::{S3Error, S3ErrorCode};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// The reason why a body is not read to its end; the call has the details.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("the request's body is not what it should be")]
pub(super) struct BodyFault;

/// Bytes of a client, at a minimum rate.
pub(super) struct Arrival {
    incoming: Incoming,
    /// Bytes that came before they were requested.
    early: Option<Bytes>,
    call: Call,
    pace: Pace,
    /// Whether bytes are outstanding.
    unread: Arc<AtomicBool>,
}

impl Arrival {
    pub(super) fn new(incoming: Incoming, call: Call, limits: &Limits, unread: Arc<AtomicBool>) -> Self {
        unread.store(!incoming.is_end_stream(), Ordering::Relaxed);
        Self { incoming, early: None, call, pace: Pace::new(limits), unread }
    }

    pub(super) fn call(&self) -> &Call {
        &self.call
    }

    /// The next bytes; `None` at the end.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, BodyFault>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Asks for the first bytes and does not wait for them: a client that sent `Expect:
    /// 100-continue` gets 100 at once.
    pub(super) async fn invite(&mut self) -> Result<(), BodyFault> {
        let found = poll_fn(|cx| match self.poll(cx) {
            Poll::Ready(found) => Poll::Ready(found),
            Poll::Pending => Poll::Ready(None),
        });
        self.early = found.await.transpose()?;
        Ok(())
    }

    /// The next bytes; `None` at the end.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyFault>>> {
        if let Some(bytes) = self.early.take() {
            return Poll::Ready(Some(Ok(bytes)));
        }
        if !self.incoming.is_end_stream() {
            self.call.invite();
        }
        loop {
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    // HTTP trailers are ignored.
                    let Ok(bytes) = frame.into_data() else { continue };
                    self.call.waited(self.pace.moved(bytes.len() as u64));
                    self.call.count_in(bytes.len());
                    self.unread.store(!self.incoming.is_end_stream(), Ordering::Relaxed);
                    return Poll::Ready(Some(Ok(bytes)));
                }
                Poll::Ready(None) => {
                    self.unread.store(false, Ordering::Relaxed);
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(Err(error))) => {
                    let message = format!("the body ended early: {error}");
                    let error = S3Error::with_message(S3ErrorCode::IncompleteBody, message);
                    return Poll::Ready(Some(Err(fail(&self.call, &error))));
                }
                Poll::Pending if self.pace.poll_wait(cx).is_ready() => {
                    self.call.waited(self.pace.moved(0));
                    let error = S3Error::with_message(S3ErrorCode::RequestTimeout, "the body comes too slowly");
                    return Poll::Ready(Some(Err(fail(&self.call, &error))));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// A request's body, for the first taker.
#[derive(Clone)]
pub(super) struct ClientBody(Arc<Mutex<Option<Arrival>>>);

impl ClientBody {
    pub(super) fn new(arrival: Arrival) -> Self {
        Self(Arc::new(Mutex::new(Some(arrival))))
    }

    /// Takes it for an operation that streams it.
    pub(super) fn take(&self) -> Option<Arrival> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arrival>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same body for an operation that reads it as a document, after verifying its checksums.
pub(super) struct Document {
    body: ClientBody,
    call: Call,
    verifier: Option<Verifier>,
}

impl Document {
    pub(super) fn new(body: &ClientBody, call: &Call, parts: &request::Parts) -> Self {
        // For CompleteMultipartUpload they belong to the whole object, and not to the document.
        let verifier = match completes_upload(parts) {
            true => Verifier::of_document(&parts.headers),
            false => Verifier::of(&parts.headers),
        };
        // An invalid header fails when the body is read, or when an object is stored.
        Self { body: body.clone(), call: call.clone(), verifier: verifier.ok() }
    }

    fn verify(&mut self) -> Result<(), BodyFault> {
        let Some(verifier) = self.verifier.take() else { return Ok(()) };
        verifier.finish(&HeaderMap::new()).map(drop).map_err(|error| fail(&self.call, &error))
    }
}

fn completes_upload(parts: &request::Parts) -> bool {
    let query = parts.uri.query().unwrap_or_default();
    parts.method == Method::POST && query.split('&').any(|pair| pair.starts_with("uploadId="))
}

/// Records the reason.
pub(super) fn fail(call: &Call, error: &S3Error) -> BodyFault {
    call.fail(error);
    BodyFault
}

impl Body for Document {
    type Data = Bytes;
    type Error = BodyFault;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFault>>> {
        let this = &mut *self;
        let (found, is_last) = {
            let mut slot = this.body.lock();
            let Some(arrival) = slot.as_mut() else { return Poll::Ready(Some(Err(BodyFault))) };
            let found = std::task::ready!(arrival.poll(cx));
            (found, arrival.incoming.is_end_stream())
        };
        match found {
            Some(Ok(bytes)) => {
                if let Some(verifier) = &mut this.verifier {
                    verifier.update(&bytes);
                }
                // A reader that knows the length requests no more.
                if is_last {
                    this.verify()?;
                }
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Some(Err(fault)) => Poll::Ready(Some(Err(fault))),
            None => Poll::Ready(this.verify().err().map(Err)),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.lock().as_ref().is_some_and(|arrival| arrival.incoming.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.body.lock().as_ref().map_or_else(SizeHint::default, |arrival| arrival.incoming.size_hint())
    }
}
