//! [`Connection`]: an open one, ready for requests.

use crate::client::body::SendBody;
use crate::client::dial::{self, Attempt, Outcome};
use crate::client::exchange::{Handshake, Tls};
use crate::client::failure::{Failure, Phase};
use crate::client::instrumented_stream::{Below, InstrumentedStream, SharedProgress};
use crate::client::options::Options;
use crate::client::proxy::{Proxy, ProxyKind};
use crate::client::resolve::resolve;
use crate::client::response_detector::{LONGEST_HEAD, ResponseDetector};
use crate::client::sampler::Sampler;
use crate::client::target::Target;
use crate::client::timed_socket::{SharedLedger, TimedSocket};
use crate::client::tls;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::{ClientConfig, HandshakeKind, ProtocolVersion};
use tokio_socks::tcp::Socks5Stream;
use tokio_socks::{IntoTargetAddr, TargetAddr};

/// What HTTP/2 may carry unread. All is read at once, so that TCP's window is the one that counts;
/// and nothing is sent in mid-download that could be taken for a request.
const STREAM_WINDOW: u32 = 1 << 30;
/// A proxy's answer that is longer is none.
const LONGEST_TUNNEL_HEAD: usize = 64 << 10;

/// The sender of requests.
pub(crate) enum Sender {
    One(http1::SendRequest<SendBody>),
    Two(http2::SendRequest<SendBody>),
}

/// An open connection.
pub(crate) struct Connection {
    pub(crate) target: Target,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) sender: Sender,
    pub(crate) seen: SharedProgress,
    pub(crate) ledger: SharedLedger,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) tls: Option<Tls>,
    pub(crate) congestion_control: Option<String>,
}

/// How a connection came about, since it began to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opening {
    pub namelookup: Option<Duration>,
    pub attempts: Vec<Attempt>,
    pub connect: Option<Duration>,
    pub tunnel: Option<Duration>,
    pub appconnect: Option<Duration>,
}

impl Connection {
    /// Opens one, through a proxy if there is one; with `tls` for https. `phase` is how far that
    /// has come.
    pub(crate) async fn open(
        target: &Target,
        options: &Options,
        tls: Option<Arc<ClientConfig>>,
        opening: &mut Opening,
        phase: &mut Phase,
    ) -> Result<Self, Failure> {
        let began = Instant::now();
        *phase = Phase::Dns;
        let proxy = options.proxies.of(target)?;
        let next = proxy.as_ref().map_or(target, |proxy| &proxy.at);
        let elsewhere = options.reroutes.iter().find_map(|reroute| reroute.of(next));
        let next = elsewhere.as_ref().unwrap_or(next);
        let found = resolve(next, options.family, &options.pinned, options.connect_timeout).await?;
        opening.namelookup = found.took;
        *phase = Phase::Connect;
        let left = options.connect_timeout.saturating_sub(began.elapsed());
        let dialled = dial::dial(&found.addresses, left, options.recorder.as_deref()).await;
        opening.attempts = dialled.attempts;
        let stream = dialled.stream.ok_or_else(|| not_connected(next, &opening.attempts, options.connect_timeout))?;
        opening.connect = Some(began.elapsed());
        let about = About::of(&stream, options)?;
        let mut wire = TimedSocket::new(stream);
        let ledger = wire.ledger();
        if let Some(proxy) = proxy.as_ref().filter(|proxy| target.tls || proxy.kind != ProxyKind::Http) {
            *phase = Phase::Proxy;
            wire = match proxy.kind {
                ProxyKind::Http => tunnel(wire, &proxy.at, target).await?,
                ProxyKind::Socks5 | ProxyKind::Socks5Named => socks(wire, proxy, target, options).await?,
            };
            opening.tunnel = Some(began.elapsed());
        }
        let (below, tls) = if let Some(config) = tls {
            *phase = Phase::Tls;
            let left = options.connect_timeout.saturating_sub(began.elapsed());
            let secured = tokio::time::timeout(left, secure(wire, target, options, config)).await;
            let (stream, tls) = secured.map_err(|_| slow_handshake(target, options.connect_timeout))??;
            opening.appconnect = Some(began.elapsed());
            (Below::Tls(Box::new(stream)), Some(tls))
        } else {
            (Below::Plain(wire), None)
        };
        let is_http2 =
            tls.as_ref().is_some_and(|tls| tls.protocol.as_deref() == Some("h2")) || options.http2_at_once(target);
        let seen = SharedProgress::new(if is_http2 { ResponseDetector::http2() } else { ResponseDetector::http1() });
        let io = TokioIo::new(InstrumentedStream::new(below, ledger.clone(), seen.clone()));
        let sender = speak(io, is_http2).await?;
        let About { local, remote, sampler, congestion_control } = about;
        let target = target.clone();
        Ok(Self { target, proxy, sender, seen, ledger, sampler, local, remote, tls, congestion_control })
    }

    /// Whether a request to there can be made on it.
    pub(crate) fn serves(&self, target: &Target) -> bool {
        let is_open = match &self.sender {
            Sender::One(sender) => !sender.is_closed(),
            Sender::Two(sender) => !sender.is_closed(),
        };
        is_open && (self.target.same_origin(target) || self.asks_a_proxy() && !target.tls)
    }

    /// Whether requests name the whole URL, as a proxy wants it.
    pub(crate) fn asks_a_proxy(&self) -> bool {
        !self.target.tls && self.proxy.as_ref().is_some_and(|proxy| proxy.kind == ProxyKind::Http)
    }
}

/// Begins HTTP.
async fn speak(io: TokioIo<InstrumentedStream>, is_http2: bool) -> Result<Sender, Failure> {
    let failed = |error: hyper::Error| Failure::new(Phase::Send, format!("HTTP does not begin: {error}"));
    Ok(if is_http2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(STREAM_WINDOW).initial_connection_window_size(STREAM_WINDOW);
        builder.max_header_list_size(LONGEST_HEAD as u32);
        let (sender, driver) = builder.handshake(io).await.map_err(failed)?;
        tokio::spawn(driver);
        Sender::Two(sender)
    } else {
        let (sender, driver) = http1::handshake(io).await.map_err(failed)?;
        tokio::spawn(driver);
        Sender::One(sender)
    })
}

/// The properties of a new connection.
struct About {
    local: SocketAddr,
    remote: SocketAddr,
    sampler: Option<Sampler>,
    congestion_control: Option<String>,
}

impl About {
    fn of(stream: &TcpStream, options: &Options) -> Result<Self, Failure> {
        let lost = |error: std::io::Error| Failure::new(Phase::Connect, format!("the connection is gone: {error}"));
        let (local, remote) = (stream.local_addr().map_err(lost)?, stream.peer_addr().map_err(lost)?);
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsFd;
            let socket = stream.as_fd().try_clone_to_owned().map_err(lost)?;
            let control = socket2::SockRef::from(stream).tcp_congestion().ok();
            let control = control.map(|name| String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned());
            let sampler = Some(Sampler::start(socket, options.sample_every, options.most_samples));
            Ok(Self { local, remote, sampler, congestion_control: control })
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = options;
            Ok(Self { local, remote, sampler: None, congestion_control: None })
        }
    }
}

/// Asks a proxy for a way to the target (RFC 9110 section 9.3.6).
async fn tunnel(mut wire: TimedSocket, proxy: &Target, target: &Target) -> Result<TimedSocket, Failure> {
    let there = target.host_and_port();
    let failed = |what: String| {
        Failure::new(Phase::Proxy, format!("{}: {what}", proxy.host_and_port()))
            .look_at(format!("whether the proxy may connect to {there}; no_proxy leaves a host out"))
    };
    let user = credentials(proxy).map_or(String::new(), |value| format!("Proxy-Authorization: {value}\r\n"));
    let request = format!("CONNECT {there} HTTP/1.1\r\nHost: {there}\r\n{user}\r\n");
    wire.write_all(request.as_bytes()).await.map_err(|error| failed(error.to_string()))?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = wire.read_u8().await.map_err(|error| failed(format!("no answer to CONNECT: {error}")))?;
        head.push(byte);
        if head.len() > LONGEST_TUNNEL_HEAD {
            return Err(failed("the answer to CONNECT has no end".to_owned()));
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let line = head.lines().next().unwrap_or_default();
    if line.split(' ').nth(1).is_some_and(|status| status.len() == 3 && status.starts_with('2')) {
        return Ok(wire);
    }
    Err(failed(format!("no tunnel to {there}: {line}")))
}

/// Asks a SOCKS5 proxy for a connection to the target (RFC 1928, RFC 1929).
async fn socks(wire: TimedSocket, proxy: &Proxy, target: &Target, options: &Options) -> Result<TimedSocket, Failure> {
    let there = target.host_and_port();
    let to: TargetAddr<'_> = if proxy.kind == ProxyKind::Socks5Named && target.address().is_none() {
        (target.host.as_str(), target.port).into_target_addr().map_err(|error| refused(proxy, &there, &error))?
    } else {
        let found = resolve(target, options.family, &options.pinned, options.connect_timeout).await?;
        let first = found.addresses.first().copied();
        first.map(TargetAddr::Ip).ok_or_else(|| Failure::new(Phase::Dns, format!("{} has no address", target.host)))?
    };
    let user = proxy.at.user.as_ref().map(|user| user.split_once(':').unwrap_or((user.as_str(), "")));
    let opened = match user {
        Some((name, password)) => Socks5Stream::connect_with_password_and_socket(wire, to, name, password).await,
        None => Socks5Stream::connect_with_socket(wire, to).await,
    };
    opened.map(Socks5Stream::into_inner).map_err(|error| refused(proxy, &there, &error))
}

fn refused(proxy: &Proxy, there: &str, error: &tokio_socks::Error) -> Failure {
    Failure::new(Phase::Proxy, format!("{}: no connection to {there}: {error}", proxy.at.host_and_port()))
        .look_at(format!("whether this is a SOCKS5 proxy, and may connect to {there}; no_proxy leaves a host out"))
}

/// `Basic …` of the user that a URL names (RFC 7617).
pub(crate) fn credentials(target: &Target) -> Option<String> {
    let user = target.user.as_ref()?;
    Some(format!("Basic {}", STANDARD.encode(user)))
}

async fn secure(
    mut wire: TimedSocket,
    target: &Target,
    options: &Options,
    config: Arc<ClientConfig>,
) -> Result<(TlsStream<TimedSocket>, Tls), Failure> {
    let name = tls::server_name(options.server_name.as_ref().unwrap_or(&target.host))?;
    wire.begin_tls();
    let connected = TlsConnector::from(config).connect(name, wire).await;
    let stream = connected.map_err(|error| tls::failure(&target.host, &error))?;
    let session = stream.get_ref().1;
    let version = match session.protocol_version() {
        Some(ProtocolVersion::TLSv1_2) => "1.2",
        _ => "1.3",
    };
    let cipher = session.negotiated_cipher_suite().map_or(String::new(), |suite| format!("{:?}", suite.suite()));
    let protocol = session.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned());
    let handshake = match session.handshake_kind() {
        Some(HandshakeKind::Resumed) => Handshake::Resumed,
        Some(HandshakeKind::FullWithHelloRetryRequest) => Handshake::FullWithRetry,
        _ => Handshake::Full,
    };
    Ok((stream, Tls { version, cipher, protocol, handshake }))
}

fn slow_handshake(target: &Target, within: Duration) -> Failure {
    let what = format!("no handshake with {} within {:.1} s", target.host, within.as_secs_f64());
    Failure::new(Phase::Tls, what).look_at("the server's load, and whether large packets arrive (MTU)")
}

/// No address gave a connection: each with what became of it.
fn not_connected(target: &Target, attempts: &[Attempt], within: Duration) -> Failure {
    let tried = attempts.iter().map(|attempt| {
        let took = attempt.took.as_secs_f64();
        match &attempt.outcome {
            Outcome::Failed(why) => format!("{}: {why} after {took:.3} s", attempt.address),
            _ => format!("{}: no answer in {took:.3} s", attempt.address),
        }
    });
    let tried = tried.collect::<Vec<_>>().join("; ");
    let is_refused = |attempt: &Attempt| attempt.outcome == Outcome::Failed("refused".to_owned());
    let look_at = if attempts.iter().all(is_refused) {
        format!("whether a server listens on port {}: the machine is there", target.port)
    } else if attempts.iter().any(|attempt| attempt.outcome == Outcome::TimedOut) {
        format!("firewalls, and whether the machine is up (waited {:.1} s, --connect-timeout)", within.as_secs_f64())
    } else {
        "routes and firewalls".to_owned()
    };
    Failure::new(Phase::Connect, format!("no connection to {}: {tried}", target.host_and_port())).look_at(look_at)
}
