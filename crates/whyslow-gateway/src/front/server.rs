//! [`Front`]: accepts connections, and ends them in order.

use super::connections::{Connections, Slot};
use super::options::FrontOptions;
use super::service::{Peer, Service};
use super::wire::Wire;
use crate::sealed::SealedStore;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Time until the next attempt when the system has no resources.
const RETRY: Duration = Duration::from_millis(50);

/// The endpoint that clients see.
pub struct Front {
    service: Arc<Service>,
}

impl fmt::Debug for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Front").field("options", &self.service.options).finish_non_exhaustive()
    }
}

/// How a server ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Number of connections that were cut when their time was over.
    pub cut: usize,
}

impl Front {
    /// A server of these objects.
    pub fn new(store: SealedStore, options: FrontOptions) -> Self {
        Self { service: Arc::new(Service::new(store, options)) }
    }

    /// Serves until `shutdown` ends; then takes no more connections, lets running requests end, and
    /// cuts the rest after [`super::Limits::drain`].
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) -> Drained {
        let limits = self.service.options.limits;
        let connections = Connections::new(limits.connections);
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        loop {
            let accepted = tokio::select! {
                () = &mut shutdown => break,
                Some(_) = tasks.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            let Some((stream, client)) = taken(accepted).await else { continue };
            match connections.admit() {
                Some(slot) => {
                    let service = Arc::clone(&self.service);
                    tasks.spawn(connection(service, stream, (client, slot), stopped.clone()));
                }
                None => refuse(&stream, self.service.options.tls.is_some()),
            }
        }
        drop(listener);
        let _ = stop.send(true);
        let all = async { while tasks.join_next().await.is_some() {} };
        let is_over = tokio::time::timeout(limits.drain, all).await.is_ok();
        let cut = if is_over { 0 } else { tasks.len() };
        tasks.shutdown().await;
        Drained { cut }
    }
}

/// A connection that was accepted. Without descriptors or memory it waits a little, for there is
/// nothing else to do.
async fn taken(accepted: io::Result<(TcpStream, SocketAddr)>) -> Option<(TcpStream, SocketAddr)> {
    match accepted {
        Ok(found) => Some(found),
        Err(error) => {
            let is_the_clients =
                matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset);
            if !is_the_clients {
                tokio::time::sleep(RETRY).await;
            }
            None
        }
    }
}

/// Answers that there is no place, without waiting for the client.
fn refuse(stream: &TcpStream, is_tls: bool) {
    if !is_tls {
        let body = "<Error><Code>SlowDown</Code><Message>too many connections</Message></Error>";
        let head = "HTTP/1.1 503 Slow Down\r\nConnection: close\r\nRetry-After: 1\r\nContent-Type: application/xml";
        let _ = stream.try_write(format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }
}

async fn connection(
    service: Arc<Service>,
    stream: TcpStream,
    (client, slot): (SocketAddr, Arc<Slot>),
    stopped: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let limits = service.options.limits;
    let unread = Arc::new(AtomicBool::new(false));
    let wire = Wire::new(stream, &limits, Arc::clone(&unread));
    let peer = Peer { client, slot, unread };
    match &service.options.tls {
        None => exchange(service, wire, peer, stopped).await,
        Some(tls) => {
            let handshake = tokio::time::timeout(limits.head_time, tls.acceptor().accept(wire));
            let slot = Arc::clone(&peer.slot);
            let mut waiting = stopped.clone();
            tokio::select! {
                done = handshake => if let Ok(Ok(wire)) = done {
                    exchange(service, wire, peer, stopped).await;
                },
                () = slot.closed() => {}
                () = stop(&mut waiting) => {}
            }
        }
    }
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    service: Arc<Service>,
    wire: S,
    peer: Peer,
    mut stopped: watch::Receiver<bool>,
) {
    let (limits, slot) = (service.options.limits, Arc::clone(&peer.slot));
    let answer = service_fn(move |request| {
        let (service, peer) = (Arc::clone(&service), peer.clone());
        async move { service.answer(request, peer).await }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head_time);
    builder.max_buf_size(limits.head_bytes.max(8 << 10)).max_header_size(limits.head_bytes);
    let mut served = pin!(builder.serve_connection(TokioIo::new(wire), answer));
    let is_over = tokio::select! {
        _ = served.as_mut() => true,
        () = slot.closed() => false,
        () = stop(&mut stopped) => false,
    };
    if !is_over {
        served.as_mut().graceful_shutdown();
        // Errors have been recorded with the request.
        let _ = served.await;
    }
}

/// Ends when the server is to stop.
async fn stop(stopped: &mut watch::Receiver<bool>) {
    // An error is a server that is no more.
    let _ = stopped.wait_for(|stop| *stop).await.is_ok();
}
