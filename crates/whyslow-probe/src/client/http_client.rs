//! [`Client`]: makes requests, on one connection or on a new one each.

use crate::client::body::SendBody;
use crate::client::connection::{Connection, Opening, Sender};
use crate::client::exchange::{Exchange, FirstRecord, Hop, Times};
use crate::client::failure::{Failure, Phase};
use crate::client::options::Options;
use crate::client::request::{Ask, request};
use crate::client::sampler::{Left, Sampler};
use crate::client::target::Target;
use crate::client::tls::{self, Trust};
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, LOCATION};
use http::{HeaderName, Method, Request, Response, StatusCode, Version};
use http_body::Body;
use hyper::body::Incoming;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::rustls::ClientConfig;

/// How long after an upload's answer its last acknowledgement may come.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(2);
/// Left of a request's time when that wait ends.
const MARGIN: Duration = Duration::from_millis(20);
/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Makes requests.
pub struct Client {
    options: Options,
    runtime: Runtime,
    state: State,
}

/// The state between requests.
#[derive(Default)]
struct State {
    open: Option<Connection>,
    /// Trusted authorities and sessions to resume.
    tls: Option<Arc<ClientConfig>>,
}

impl State {
    /// The configuration for a URL; `None` without TLS. It takes milliseconds to read authorities:
    /// that is done once, and is part of no request's time.
    fn tls(&mut self, target: &Target, options: &Options) -> Result<Option<Arc<ClientConfig>>, Failure> {
        if !target.tls {
            return Ok(None);
        }
        if self.tls.is_none() {
            let trust = Trust {
                insecure: options.insecure,
                authorities: options.authorities.as_deref(),
                identity: options.identity.as_ref(),
            };
            self.tls = Some(tls::config(trust, options.protocols(), options.resumption)?);
        }
        Ok(self.tls.clone())
    }
}

/// How far a request has come, and when it must end.
struct Progress {
    phase: Phase,
    until: Instant,
}

impl Client {
    /// A client without a connection.
    ///
    /// # Errors
    /// If the system refuses a resource.
    pub fn new(options: Options) -> io::Result<Self> {
        // Timers are looked at after each turn of a connection: a request ends in time.
        let runtime = Builder::new_current_thread().enable_all().event_interval(1).build()?;
        Ok(Self { options, runtime, state: State::default() })
    }

    /// Makes a request, on the open connection if it leads to the same server.
    ///
    /// # Errors
    /// If there is no complete response.
    pub fn request(&mut self, ask: &Ask) -> Result<Exchange, Failure> {
        let Self { options, runtime, state } = self;
        state.tls(&ask.target, options)?;
        let mut progress = Progress { phase: Phase::Dns, until: Instant::now() + options.timeout };
        let asked = runtime.block_on(async {
            tokio::time::timeout(options.timeout, follow(ask, options, state, &mut progress)).await
        });
        let result = asked.unwrap_or_else(|_| {
            let what = format!("not done within {:.1} s (--max-time)", options.timeout.as_secs_f64());
            Err(Failure::new(progress.phase, what))
        });
        if result.is_err() {
            self.close();
        }
        result
    }

    /// Closes the connection, if there is one.
    pub fn close(&mut self) {
        if self.state.open.take().is_some() {
            // Its driver ends with it.
            self.pause(Duration::from_millis(1));
        }
    }

    /// Waits, and keeps the connection.
    pub fn pause(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }
}

impl Drop for Client {
    /// Waits for nothing: the system's lookup of a name cannot be interrupted, and goes on for as
    /// long as its servers are silent.
    fn drop(&mut self) {
        self.state.open = None;
        if let Ok(empty) = Builder::new_current_thread().build() {
            std::mem::replace(&mut self.runtime, empty).shutdown_background();
        }
    }
}

async fn follow(ask: &Ask, options: &Options, state: &mut State, progress: &mut Progress) -> Result<Exchange, Failure> {
    let (began, began_at) = (Instant::now(), SystemTime::now());
    let (mut ask, first) = (ask.clone(), ask.target.clone());
    let mut options = options.clone();
    let mut hops: Vec<Hop> = Vec::new();
    loop {
        let hop = make(&ask, &options, state, progress).await?;
        let status = StatusCode::from_u16(hop.status).unwrap_or(StatusCode::OK);
        let location = hop.location.clone().filter(|_| status.is_redirection());
        let redirects_on = location.is_some();
        let location = location.filter(|_| hops.len() < options.redirects);
        hops.push(hop);
        let Some(location) = location else {
            // Acknowledgements that came later are waited for, and not counted.
            let took = hops.last().map_or(Duration::ZERO, |last| last.began + last.times.total - began);
            return Ok(Exchange { began, began_at, took, hops, redirects_on });
        };
        ask.target = ask.target.join(&location)?;
        if !ask.target.same_origin(&first) {
            // Headers for one server are sent to no other.
            options.headers.retain(|(name, _)| ![AUTHORIZATION, COOKIE, HOST].contains(name));
        }
        // RFC 9110 sections 15.4.2 to 15.4.4.
        let is_get = matches!(ask.method, Method::GET | Method::HEAD);
        if matches!(status.as_u16(), 301..=303) && !is_get {
            ask.method = Method::GET;
            ask.upload = None;
        }
    }
}

/// Makes one request.
async fn make(ask: &Ask, options: &Options, state: &mut State, progress: &mut Progress) -> Result<Hop, Failure> {
    let tls = state.tls(&ask.target, options)?;
    let began = Instant::now();
    let body = SendBody::new(ask.upload.as_ref()).map_err(|error| Failure::new(Phase::Send, error.to_string()))?;
    let mut opening = Opening::default();
    let open = state.open.take().filter(|open| open.serves(&ask.target));
    let is_reused = open.is_some();
    let mut connection = match open {
        Some(open) => resumed(open),
        None => Connection::open(&ask.target, options, tls, &mut opening, &mut progress.phase).await?,
    };
    let wire_before = [connection.ledger.written(), connection.ledger.read()];
    let upload_bytes = body.len();
    let request = request(ask, &connection, options, body)?;
    connection.seen.begin(upload_bytes);
    progress.phase = Phase::Send;
    let pretransfer = began.elapsed();
    let response = answer(&mut connection, request, &mut progress.phase).await?;
    progress.phase = Phase::Transfer;
    let head = ResponseHead::of(&response);
    let body_bytes = receive(response, head.length.filter(|_| ask.method != Method::HEAD)).await?;
    let total = began.elapsed();
    let left = if upload_bytes > 0 { acknowledged(&connection, progress.until).await } else { left(&connection) };
    let times = Times { pretransfer, total, ..times(&connection, &opening, began, left) };
    let wire = [connection.ledger.written(), connection.ledger.read()];
    let has_records = connection.tls.is_some();
    let hop = Hop {
        url: ask.target.to_string(),
        began,
        is_reused,
        proxy: connection.proxy.as_ref().map(|proxy| proxy.at.host_and_port()),
        times,
        attempts: opening.attempts,
        local: connection.local,
        remote: connection.remote,
        tls: connection.tls.clone(),
        first_record: connection
            .seen
            .answer()
            .filter(|_| has_records)
            .map(|record| FirstRecord { bytes: record.bytes }),
        status: head.status,
        http: head.http,
        headers: head.headers,
        head_bytes: connection.seen.head_bytes(),
        body_bytes,
        content_type: head.content_type,
        is_part: head.status == 206,
        sent_bytes: body_left(&connection, wire_before[0]),
        upload_bytes,
        wire_bytes: [wire[0] - wire_before[0], wire[1] - wire_before[1]],
        location: head.location,
        samples: connection.sampler.as_ref().map_or(Vec::new(), |sampler| sampler.since(began)),
        congestion_control: connection.congestion_control.clone(),
    };
    connection.sampler.iter().for_each(Sampler::rest);
    state.open = Some(connection);
    Ok(hop)
}

/// An open connection, whose samples are those of the next request from here on.
fn resumed(open: Connection) -> Connection {
    open.sampler.iter().for_each(Sampler::resume);
    open
}

/// Times from the connection, its opening and the kernel.
fn times(connection: &Connection, opening: &Opening, began: Instant, left: Left) -> Times {
    let since = |at: Instant| at.saturating_duration_since(began);
    let answer = connection.seen.answer();
    let now = began.elapsed();
    Times {
        namelookup: opening.namelookup,
        connect: opening.connect,
        tunnel: opening.tunnel,
        appconnect: opening.appconnect,
        posttransfer: connection.seen.written().map(|(at, _)| since(at)),
        sent: left.sent.map(since),
        acknowledged: left.acknowledged.map(since),
        first_packet: answer.map_or(now, |answer| since(answer.first)),
        starttransfer: answer.map_or(now, |answer| since(answer.last)),
        ..Times::default()
    }
}

fn left(connection: &Connection) -> Left {
    connection.sampler.as_ref().map(Sampler::left).unwrap_or_default()
}

/// Bytes of the request's body that left this machine. The kernel takes more than it can send at
/// once, and an early answer ends the upload: what still waits in the send buffer has not left.
/// With TLS the figure is exact to the overhead of its records.
fn body_left(connection: &Connection, wire_before: u64) -> u64 {
    let written = connection.seen.body_written();
    let Some(left) = connection.sampler.as_ref().and_then(Sampler::bytes_left) else { return written };
    let waiting = connection.ledger.written().saturating_sub(left);
    if waiting == 0 && connection.seen.written().is_some() {
        return written;
    }
    written.saturating_sub(waiting).min(left.saturating_sub(wire_before))
}

/// Waits for the last acknowledgement: an answer may overtake it. Not for longer than the request
/// may take: it is answered already.
async fn acknowledged(connection: &Connection, until: Instant) -> Left {
    let until = until.checked_sub(MARGIN).unwrap_or(until).min(Instant::now() + ACKNOWLEDGED_WITHIN);
    loop {
        let left = left(connection);
        // A request that was answered before it was written is not acknowledged in full.
        let is_awaited = connection.sampler.is_some() && connection.seen.written().is_some();
        if left.acknowledged.is_some() || !is_awaited || Instant::now() >= until {
            return left;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Sends a request, and waits for the answer's head. Meanwhile the kernel is asked when the request
/// has left.
async fn answer(
    connection: &mut Connection,
    request: Request<SendBody>,
    phase: &mut Phase,
) -> Result<Response<Incoming>, Failure> {
    let (seen, host) = (connection.seen.clone(), connection.target.host.clone());
    let failed = |error: hyper::Error| {
        let phase = if seen.written().is_some() { Phase::Wait } else { Phase::Send };
        unanswered(&host, phase, &error)
    };
    let answered = async {
        match &mut connection.sender {
            Sender::One(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Sender::Two(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    };
    tokio::pin!(answered);
    let mut look = tokio::time::interval(LOOK_EVERY);
    let mut is_awaited = false;
    let response = loop {
        let response = tokio::select! {
            biased;
            response = &mut answered => Some(response),
            _ = look.tick(), if !is_awaited => None,
        };
        if !is_awaited && let Some((_, bytes)) = connection.seen.written() {
            is_awaited = true;
            *phase = Phase::Wait;
            if let Some(sampler) = &connection.sampler {
                sampler.await_bytes(bytes);
            }
        }
        if let Some(response) = response {
            break response;
        }
    };
    response.map_err(failed)
}

/// The fields of the response's head.
struct ResponseHead {
    status: u16,
    http: &'static str,
    headers: u64,
    length: Option<u64>,
    content_type: Option<String>,
    location: Option<String>,
}

impl ResponseHead {
    fn of(response: &Response<Incoming>) -> Self {
        let text = |name: HeaderName| {
            let value = response.headers().get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        Self {
            status: response.status().as_u16(),
            http: match response.version() {
                Version::HTTP_09 => "0.9",
                Version::HTTP_10 => "1.0",
                Version::HTTP_2 => "2",
                _ => "1.1",
            },
            headers: response.headers().len() as u64,
            length: text(CONTENT_LENGTH).and_then(|length| length.parse().ok()),
            content_type: text(CONTENT_TYPE),
            location: text(LOCATION),
        }
    }
}

/// Takes the body, and forgets it. Returns its length.
async fn receive(response: Response<Incoming>, promised: Option<u64>) -> Result<u64, Failure> {
    let mut body = response.into_body();
    let mut bytes = 0;
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        match frame {
            Ok(frame) => bytes += frame.data_ref().map_or(0, |data| data.len() as u64),
            Err(error) => return Err(cut(bytes, promised, &error)),
        }
    }
    Ok(bytes)
}

fn cut(bytes: u64, promised: Option<u64>, error: &hyper::Error) -> Failure {
    let of = promised.map_or("no length was announced".to_owned(), |promised| format!("{promised} B were announced"));
    Failure::new(Phase::Transfer, format!("the answer ended after {bytes} B, and {of}: {}", cause(error)))
        .look_at("the server's log and timeouts, and those of proxies on the way")
}

fn unanswered(host: &str, phase: Phase, error: &hyper::Error) -> Failure {
    let what = if error.is_incomplete_message() {
        format!("{host} closed the connection without an answer")
    } else if error.is_parse() {
        format!("{host} answers what is no HTTP: {}", cause(error))
    } else {
        format!("{host}: {}", cause(error))
    };
    Failure::new(phase, what).look_at("the server's log, and whether this port speaks this HTTP")
}

/// The innermost reason: hyper's own words are general.
fn cause(error: &hyper::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
