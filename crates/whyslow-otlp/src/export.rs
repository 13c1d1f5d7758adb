//! [`Exporter`]: a queue, and the thread that empties it.

use crate::endpoint::Endpoint;
use crate::message::{Span, Value, request};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, RETRY_AFTER, USER_AGENT};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Spans that wait, spans of a batch, and how long a batch is gathered.
/// Source: OpenTelemetry specification, batching processor (maxQueueSize, maxExportBatchSize,
/// scheduledDelayMillis).
const QUEUE: usize = 2_048;
const BATCH: usize = 512;
const DELAY: Duration = Duration::from_secs(5);
/// How long one attempt may take. Source: OTLP exporter's default timeout.
const PATIENCE: Duration = Duration::from_secs(10);
/// Attempts for a batch, and the pause before the second, which doubles.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause that a collector may ask for.
const MOST_PAUSE: Duration = Duration::from_secs(60);
/// Maximum bytes of an answer.
const MOST_ANSWER: usize = 64 * 1_024;

/// Sends spans on a thread of its own.
#[derive(Debug)]
pub struct Exporter {
    queue: Sender<Span>,
    /// Whether no more come: then nothing is waited for.
    ends: watch::Sender<bool>,
    counts: Arc<Counts>,
    thread: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    dropped: AtomicU64,
    failure: Mutex<Option<String>>,
}

/// Counts of the spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Spans that the collector took.
    pub sent: u64,
    /// Spans that it did not take, or that found the queue full.
    pub dropped: u64,
    /// Why the last ones were not taken.
    pub failure: Option<String>,
}

/// The result of an attempt.
enum Attempt {
    Taken { rejected: u64, message: String },
    Later { after: Option<Duration>, why: String },
    Refused { why: String },
}

impl Exporter {
    /// Starts the thread. `resource` describes this program and its machine.
    ///
    /// # Errors
    /// When no thread can be had.
    pub fn start(endpoint: Endpoint, resource: Vec<(String, Value)>, version: &'static str) -> std::io::Result<Self> {
        let (queue, spans) = channel(QUEUE);
        let (ends, ending) = watch::channel(false);
        let counts = Arc::new(Counts::default());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let sender = Batches { endpoint, resource, version, counts: Arc::clone(&counts), ending };
        let thread =
            std::thread::Builder::new().name("otlp".to_owned()).spawn(move || runtime.block_on(sender.run(spans)))?;
        Ok(Self { queue, ends, counts, thread })
    }

    /// Queues a span. It is dropped, and counted, if too many wait.
    pub fn send(&self, span: Span) {
        if let Err(TrySendError::Full(_) | TrySendError::Closed(_)) = self.queue.try_send(span) {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until all spans are sent or given up, and reports what became of them. A collector
    /// that does not answer takes up to a minute.
    pub fn finish(self) -> Sent {
        let _ = self.ends.send(true);
        drop(self.queue);
        let _ = self.thread.join();
        Sent {
            sent: self.counts.sent.load(Ordering::Relaxed),
            dropped: self.counts.dropped.load(Ordering::Relaxed),
            failure: self.counts.failure.lock().unwrap_or_else(PoisonError::into_inner).take(),
        }
    }
}

struct Batches {
    endpoint: Endpoint,
    resource: Vec<(String, Value)>,
    version: &'static str,
    counts: Arc<Counts>,
    ending: watch::Receiver<bool>,
}

impl Batches {
    async fn run(self, mut spans: Receiver<Span>) {
        let mut batch = Vec::new();
        while let Some(first) = spans.recv().await {
            batch.push(first);
            let end = Instant::now() + DELAY;
            while batch.len() < BATCH {
                tokio::select! {
                    next = spans.recv() => match next {
                        Some(span) => batch.push(span),
                        None => break,
                    },
                    () = sleep_until(end) => break,
                }
            }
            self.send(std::mem::take(&mut batch)).await;
        }
    }

    /// Sends a batch, again while the collector asks for patience. At the end one attempt is
    /// enough.
    async fn send(&self, batch: Vec<Span>) {
        let count = batch.len() as u64;
        let body = Bytes::from(request(batch.into_iter(), &self.resource, self.version).encode_to_vec());
        let (mut pause, mut left, mut ending) = (PAUSE, ATTEMPTS, self.ending.clone());
        loop {
            left -= 1;
            let attempt = timeout(PATIENCE, self.post(body.clone())).await.unwrap_or_else(|_| Attempt::Later {
                after: None,
                why: format!("no answer within {} s", PATIENCE.as_secs()),
            });
            match attempt {
                Attempt::Taken { rejected, message } => {
                    self.count(count.saturating_sub(rejected), rejected.min(count), &message);
                    return;
                }
                Attempt::Later { after, .. } if left > 0 && !*ending.borrow() => {
                    tokio::select! {
                        () = sleep(after.unwrap_or(pause).min(MOST_PAUSE)) => pause *= 2,
                        _ = ending.wait_for(|is_over| *is_over) => left = 1,
                    }
                }
                Attempt::Later { why, .. } | Attempt::Refused { why } => {
                    self.count(0, count, &why);
                    return;
                }
            }
        }
    }

    fn count(&self, sent: u64, dropped: u64, why: &str) {
        self.counts.sent.fetch_add(sent, Ordering::Relaxed);
        self.counts.dropped.fetch_add(dropped, Ordering::Relaxed);
        if dropped > 0 {
            *self.counts.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
        }
    }

    async fn post(&self, body: Bytes) -> Attempt {
        let later = |why: String| Attempt::Later { after: None, why };
        let stream = match TcpStream::connect((self.endpoint.host.as_str(), self.endpoint.port)).await {
            Ok(stream) => stream,
            Err(error) => return later(format!("cannot connect: {error}")),
        };
        let (mut sender, connection) = match http1::handshake(TokioIo::new(stream)).await {
            Ok(connected) => connected,
            Err(error) => return later(error.to_string()),
        };
        let request = Request::post(&self.endpoint.path)
            .header(HOST, &self.endpoint.authority)
            .header(CONTENT_TYPE, "application/x-protobuf")
            .header(USER_AGENT, format!("whyslow/{}", self.version))
            .body(Full::new(body));
        let request = match request {
            Ok(request) => request,
            Err(error) => return Attempt::Refused { why: error.to_string() },
        };
        let answer = async {
            let response = sender.send_request(request).await?;
            let (status, after) = (response.status(), retry_after(&response));
            let body = Limited::new(response.into_body(), MOST_ANSWER).collect().await;
            Ok::<_, hyper::Error>((status, after, body.map(|body| body.to_bytes()).unwrap_or_default()))
        };
        tokio::pin!(connection, answer);
        let answered = tokio::select! {
            answered = &mut answer => answered,
            _ = &mut connection => (&mut answer).await,
        };
        match answered {
            Ok((status, after, body)) => judge(status, after, &body),
            Err(error) => later(error.to_string()),
        }
    }
}

/// The pause that the collector asks for, if it is in seconds.
fn retry_after<T>(response: &http::Response<T>) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Source: OTLP specification, "Failures": these four may be sent again, and no other.
fn judge(status: StatusCode, after: Option<Duration>, body: &[u8]) -> Attempt {
    match status {
        status if status.is_success() => {
            let response = ExportTraceServiceResponse::decode(body).unwrap_or_default();
            let partial = response.partial_success.unwrap_or_default();
            Attempt::Taken {
                rejected: u64::try_from(partial.rejected_spans).unwrap_or(0),
                message: partial.error_message,
            }
        }
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Attempt::Later { after, why: format!("the collector answers {status}") },
        _ => Attempt::Refused { why: format!("the collector answers {status}") },
    }
}
