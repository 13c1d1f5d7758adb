//! The server over streamable HTTP, on a loopback address and for clients with the token.

use crate::guard::{Guard, PATH, Refused};
use crate::server::Whyslow;
use crate::settings::Settings;
use crate::token::Token;
use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{self, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Threads that read captures; more requests wait.
const WORKERS: usize = 6;
/// Connections at the same time; more wait. An assistant opens two or three.
const CONNECTIONS: usize = 64;
/// Longest head and body of a request, bytes.
const HEAD: usize = 16 << 10;
const BODY: usize = 1 << 20;
/// How long a head may take, and a connection may be idle.
const WAIT: Duration = Duration::from_secs(30);
/// Pause after a connection that could not be accepted for lack of memory or descriptors.
const PAUSE: Duration = Duration::from_millis(10);

type Service = StreamableHttpService<Whyslow, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The server over HTTP.
pub struct HttpServer {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    site: Arc<Site>,
}

struct Site {
    guard: Guard,
    service: Service,
}

impl HttpServer {
    /// Listens on a loopback address; port 0 is any free one.
    ///
    /// # Errors
    /// When the address is not a loopback address, or not available.
    pub fn bind(settings: Settings, address: SocketAddr, token: Token) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let why = format!("{address} is not a loopback address: use 127.0.0.1 or [::1]");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let runtime = runtime::Builder::new_current_thread().enable_all().max_blocking_threads(WORKERS).build()?;
        let listener = runtime
            .block_on(TcpListener::bind(address))
            .map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")))?;
        let address = listener.local_addr()?;
        let guard = Guard::new(address, token);
        let origins = guard.authorities().iter().map(|authority| format!("http://{authority}"));
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(guard.authorities())
            .with_allowed_origins(origins)
            .enforce_origin_validation()
            .with_max_request_body_bytes(BODY);
        let server = Whyslow::new(settings);
        let service = Service::new(move || Ok(server.clone()), Arc::default(), config);
        Ok(Self { runtime, listener, address, site: Arc::new(Site { guard, service }) })
    }

    /// The server's address.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until the program ends.
    pub fn run(self) {
        let Self { runtime, listener, site, .. } = self;
        runtime.block_on(accept(listener, site));
    }
}

async fn accept(listener: TcpListener, site: Arc<Site>) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve(stream, Arc::clone(&site), slot))),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, site: Arc<Site>, _slot: OwnedSemaphorePermit) {
    let service = service_fn(|request| {
        let site = Arc::clone(&site);
        async move { Ok::<_, Infallible>(site.answer(request).await) }
    });
    // The client may be gone.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(WAIT)
        .max_header_size(HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

impl Site {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        match self.guard.check(&head) {
            Ok(()) => self.service.handle(Request::from_parts(head, body)).await,
            Err(refused) => refusal(refused),
        }
    }
}

/// The end of the connection too: its body is not read.
fn refusal(Refused { status, why }: Refused) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(why.as_bytes())).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
    }
    answer
}
