//! [`Answer`]: an answer's head, and its body as it arrives.

use super::account::Stage;
use super::body::SendBody;
use super::connection::{Connection, Opening};
use super::deadline::{Fault, WaitsFor, Watch};
use super::error::{PoolError, in_words};
use super::shared::{Lease, Shared};
use super::transfer::{LimitingFactor, Phases, Transfer};
use super::transfers::Transfers;
use super::wire::WireView;
use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use http::header::CONNECTION;
use http::response::Parts;
use http::{HeaderMap, Response, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A client's request.
    Request,
    /// It keeps a connection open or widens its window.
    Warmth,
}

/// The facts of a running request.
#[derive(Debug)]
pub(crate) struct Exchanged {
    transfer: Transfer,
    began: Instant,
    head: Option<Instant>,
    purpose: Purpose,
    /// The group of transfers that it belongs to.
    transfers: Option<Transfers>,
    /// Bytes that the connection had written before.
    written: u64,
}

impl Exchanged {
    pub(crate) fn new(
        connection: &mut Connection,
        sending: &SendBody,
        window: Option<u64>,
        queued: Duration,
        purpose: Purpose,
    ) -> Self {
        let Opening { resolve, connect, tls } = connection.opening.take().unwrap_or_default();
        let queued = queued.saturating_sub(resolve + connect + tls);
        let transfer = Transfer {
            connection: connection.id,
            is_reused: connection.requests > 0,
            window_at_start: window,
            phases: Phases { queued, resolve, connect, tls, ..Phases::default() },
            sent: sending.len(),
            ..Transfer::default()
        };
        Self {
            transfer,
            began: Instant::now(),
            head: None,
            purpose,
            transfers: None,
            written: connection.view.counts().0,
        }
    }

    /// Whether the kernel has all of the request.
    fn is_sent(&self, view: &WireView) -> bool {
        view.counts().0 - self.written >= self.transfer.sent
    }

    /// Called when the answer has begun.
    pub(crate) fn head_is_there(&mut self, view: &WireView) {
        let (written, read) = view.times();
        let now = Instant::now();
        let read = read.unwrap_or(now);
        let phases = &mut self.transfer.phases;
        phases.send = written.min(read).saturating_duration_since(self.began);
        phases.wait = read.saturating_duration_since(written.max(self.began));
        self.head = Some(read);
    }

    /// Called when the transfer has ended.
    pub(crate) fn finish(&mut self, shared: &Shared, view: &WireView, is_whole: bool) {
        let transfer = &mut self.transfer;
        transfer.is_whole = is_whole;
        if let Some(head) = self.head {
            transfer.phases.receive = head.elapsed();
        }
        if let Some(account) = view.end() {
            transfer.limits.add_all(&account.limits());
            transfer.rtt = account.rtt();
            transfer.retransmitted = account.retransmitted();
        }
        if self.purpose == Purpose::Request {
            shared.counters.record(transfer);
        }
        if let Some(transfers) = self.transfers.take() {
            transfers.add(transfer.clone());
        }
    }
}

/// An answer. Its body is a stream; at its end the connection takes the next request.
#[derive(Debug)]
pub struct Answer {
    head: Parts,
    body: Incoming,
    shared: Arc<Shared>,
    lease: Option<Lease>,
    view: WireView,
    exchanged: Exchanged,
    watch: Watch,
    look: Pin<Box<Sleep>>,
    handed_out: Option<Instant>,
    /// Whether the transfer has ended, so that the connection may be another request's.
    is_accounted: bool,
}

impl Answer {
    pub(crate) fn new(response: Response<Incoming>, lease: Lease, exchanged: Exchanged, view: WireView) -> Self {
        let (head, body) = response.into_parts();
        let shared = Arc::clone(&lease.shared);
        let look = Box::pin(tokio::time::sleep(Watch::interval(&shared.options.timeouts)));
        if let Some(timeout) = keep_alive(&head.headers) {
            shared.idle_limit().announced(timeout);
        }
        // Many servers close a connection with an error alone.
        if closes(&head.headers) && (head.status.is_success() || exchanged.purpose == Purpose::Warmth) {
            shared.note_close_after_answer();
        }
        let watch = Watch::begin(Instant::now(), view.moved());
        let lease = Some(lease);
        Self { head, body, shared, lease, view, exchanged, watch, look, handed_out: None, is_accounted: false }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    /// The header.
    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The transfer so far; complete when the body was read to its end.
    pub fn transfer(&self) -> &Transfer {
        &self.exchanged.transfer
    }

    /// Adds the result of the request to others, after its answer has come or was dropped.
    #[must_use]
    pub fn one_of(mut self, transfers: &Transfers) -> Self {
        if self.is_accounted {
            transfers.add(self.exchanged.transfer.clone());
        } else {
            self.exchanged.transfers = Some(transfers.clone());
        }
        self
    }

    /// The next bytes of the body; `None` at its end.
    ///
    /// # Errors
    /// If the connection breaks or nothing moves on it. Later calls return `None`.
    pub async fn chunk(&mut self) -> Option<Result<Bytes, PoolError>> {
        std::future::poll_fn(|cx| self.poll_chunk(cx)).await
    }

    /// Reads a body that is small.
    ///
    /// # Errors
    /// If the connection breaks, or the body has more than `most` bytes.
    pub async fn read(&mut self, most: usize) -> Result<Bytes, PoolError> {
        let mut all = BytesMut::new();
        while let Some(chunk) = self.chunk().await {
            let chunk = chunk?;
            if all.len() + chunk.len() > most {
                return Err(self.cut(format!("it is larger than {most} bytes")));
            }
            all.extend_from_slice(&chunk);
        }
        Ok(all.freeze())
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, PoolError>>> {
        if let Some(handed_out) = self.handed_out.take().filter(|_| !self.is_accounted) {
            self.exchanged.transfer.limits.add(LimitingFactor::Application, handed_out.elapsed());
            self.view.sample(Stage::Paused);
            self.look_at(WaitsFor::Us);
        }
        loop {
            if self.is_accounted && self.lease.is_none() {
                return Poll::Ready(None);
            }
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(data) = frame.into_data() else { continue };
                    self.exchanged.transfer.received += data.len() as u64;
                    self.view.sample(Stage::Receiving);
                    self.handed_out = Some(Instant::now());
                    if self.body.is_end_stream() {
                        // A reader that knows the length requests no more.
                        self.account(true);
                    }
                    return Poll::Ready(Some(Ok(data)));
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(self.cut(in_words(&error))))),
                Poll::Ready(None) => {
                    self.account(true);
                    ready!(self.poll_hand_back(cx));
                    return Poll::Ready(None);
                }
                Poll::Pending => ready!(self.look.as_mut().poll(cx)),
            }
            // The wait is for the path, so silence is a stall as well.
            if let Some(Fault::Stalled(moved, over)) = self.look_at(WaitsFor::Path(u64::MAX)) {
                self.shared.counters.count(|counts| counts.stalled += 1);
                let why = format!("only {moved} bytes came in {:.1} s", over.as_secs_f64());
                return Poll::Ready(Some(Err(self.cut(why))));
            }
        }
    }

    /// Checks whether bytes move, and returns when to check again.
    fn look_at(&mut self, waits_for: WaitsFor) -> Option<Fault> {
        let timeouts = &self.shared.options.timeouts;
        self.look.as_mut().reset(tokio::time::Instant::now() + Watch::interval(timeouts));
        self.watch.check(Instant::now(), self.view.moved(), waits_for, timeouts)
    }

    fn cut(&mut self, why: String) -> PoolError {
        let received = self.exchanged.transfer.received;
        self.account(false);
        self.lease = None;
        PoolError::Cut { received, why }
    }

    fn account(&mut self, is_whole: bool) {
        if !std::mem::replace(&mut self.is_accounted, true) {
            self.exchanged.finish(&self.shared, &self.view, is_whole);
        }
    }

    /// The connection takes the next request, unless the answer came before this one was sent.
    fn poll_hand_back(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.exchanged.is_sent(&self.view)
            && let Some(lease) = &mut self.lease
        {
            ready!(lease.poll_hand_back(cx));
        }
        self.lease = None;
        Poll::Ready(())
    }
}

impl Stream for Answer {
    type Item = Result<Bytes, PoolError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_chunk(cx)
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let is_whole = self.body.is_end_stream();
        self.account(is_whole);
        let Some(mut lease) = self.lease.take() else { return };
        if is_whole
            && self.exchanged.is_sent(&self.view)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            // The content was read, but not its end.
            runtime.spawn(async move { std::future::poll_fn(|cx| lease.poll_hand_back(cx)).await });
        }
    }
}

fn closes(headers: &HeaderMap) -> bool {
    headers.get(CONNECTION).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"close"))
}

/// The `timeout` of a Keep-Alive field.
fn keep_alive(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("keep-alive")?.to_str().ok()?;
    let seconds = value.split(',').find_map(|item| item.trim().strip_prefix("timeout="))?;
    Some(Duration::from_secs(seconds.parse().ok()?))
}
