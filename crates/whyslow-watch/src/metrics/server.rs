//! Serves the metrics over HTTP, at `/metrics`.

use super::format::Format;
use anyhow::Context;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::Semaphore;

/// A client that connects sends its request soon, and few connect at once.
const PATIENCE: Duration = Duration::from_secs(5);
const MAX_CONNECTIONS: usize = 32;

/// Answers on a thread of its own until the program ends.
///
/// # Errors
/// When the address cannot be had.
pub fn start(address: SocketAddr, registry: Registry) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address).with_context(|| format!("--metrics {address}"))?;
    listener.set_nonblocking(true).context("--metrics")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("--metrics")?;
    if let Ok(address) = listener.local_addr() {
        whyslow_cli::output::complain(&format!("metrics at http://{address}/metrics"));
    }
    thread::Builder::new()
        .name("metrics".to_owned())
        .spawn(move || runtime.block_on(serve(listener, Arc::new(registry))))?;
    Ok(())
}

async fn serve(listener: TcpListener, registry: Arc<Registry>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // For example, no more files can be opened: try again later.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let registry = Arc::clone(&registry);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answer = answer(&request, &registry);
                async move { Ok::<_, Infallible>(answer) }
            });
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE).keep_alive(false);
            let connection = builder.serve_connection(TokioIo::new(stream), service);
            let _ = tokio::time::timeout(2 * PATIENCE, connection).await;
            drop(place);
        });
    }
}

fn answer(request: &Request<Incoming>, registry: &Registry) -> Response<Full<Bytes>> {
    let plain = |status: StatusCode, text: &'static str| {
        let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
        *response.status_mut() = status;
        response
    };
    if request.uri().path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "the metrics are at /metrics\n");
    }
    if request.method() != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "GET alone\n");
    }
    let mut text = String::new();
    if encode(&mut text, registry).is_err() {
        return plain(StatusCode::INTERNAL_SERVER_ERROR, "the metrics cannot be written\n");
    }
    let format = Format::accepted(request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()));
    let text = format.convert(&text).into_owned();
    let mut response = Response::new(Full::new(Bytes::from(text)));
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static(format.content_type()));
    response
}
