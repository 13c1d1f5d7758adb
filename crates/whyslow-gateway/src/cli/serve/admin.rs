//! Requests of operators over HTTP: health, readiness, metrics, statistics.

use super::metrics::Metrics;
use super::page;
use super::stats::Report;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, X_CONTENT_TYPE_OPTIONS};
use http::uri::Authority;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Time within which a client must send its request.
const PATIENCE: Duration = Duration::from_secs(5);
const MAX_CONNECTIONS: usize = 32;

/// The content type for Prometheus.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";
/// The page loads nothing and runs nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The data that operators may see.
#[async_trait::async_trait]
pub(super) trait Status: Send + Sync + 'static {
    fn metrics(&self) -> &Metrics;
    fn report(&self) -> Report;
    /// Why no request is served; `None` if requests are served.
    async fn unready(&self) -> Option<String>;
}

/// Answers until the program ends.
pub(super) async fn serve(listener: TcpListener, status: Arc<dyn Status>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let is_loopback = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // For example, no more files can be opened now.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let status = Arc::clone(&status);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let status = Arc::clone(&status);
                async move {
                    let answer = match is_loopback && !names_this_machine(&request) {
                        true => response(StatusCode::FORBIDDEN, PLAIN, "ask by the address, or as localhost\n"),
                        false => answer(&request, &*status).await,
                    };
                    Ok::<_, Infallible>(answer)
                }
            });
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE).keep_alive(false);
            let connection = builder.serve_connection(TokioIo::new(stream), service);
            let _ = tokio::time::timeout(2 * PATIENCE, connection).await;
            drop(place);
        });
    }
}

/// Whether the request names this machine: a foreign web page whose name resolves to this address
/// has a browser send that name.
fn names_this_machine(request: &Request<Incoming>) -> bool {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    host.is_some_and(|host| {
        let name = host.host().trim_start_matches('[').trim_end_matches(']');
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
    })
}

async fn answer(request: &Request<Incoming>, status: &dyn Status) -> Response<Full<Bytes>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return response(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "GET alone\n");
    }
    match request.uri().path() {
        "/" => response(StatusCode::OK, "text/html; charset=utf-8", page::html(&status.report())),
        "/health" => response(StatusCode::OK, PLAIN, "alive\n"),
        "/ready" => match status.unready().await {
            None => response(StatusCode::OK, PLAIN, "ready\n"),
            Some(why) => response(StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("not ready: {why}\n")),
        },
        "/metrics" => match status.metrics().text() {
            Ok(text) => response(StatusCode::OK, METRICS, text),
            Err(_) => response(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, "the metrics cannot be written\n"),
        },
        "/stats" => match serde_json::to_vec(&status.report()) {
            Ok(json) => response(StatusCode::OK, "application/json", json),
            Err(_) => response(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, "the statistics cannot be written\n"),
        },
        _ => response(StatusCode::NOT_FOUND, PLAIN, "there are /, /health, /ready, /metrics and /stats\n"),
    }
}

fn response(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let fields = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CONTENT_SECURITY_POLICY, POLICY),
    ];
    response.headers_mut().extend(fields.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}
