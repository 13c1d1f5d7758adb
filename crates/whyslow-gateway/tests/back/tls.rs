//! The same over TLS: handshakes, connections used again, a server that closes.

use crate::{options, pattern, until};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use whyslow_gateway::pool::{Body, Endpoint, Pool, PoolError, PoolOptions, Safety, Sent, TlsError, Trust};

/// Answers each request of 100,000 bytes, and closes connections that are idle for this time.
/// Returns its port; a client that trusts the file trusts it.
async fn server(authority: &Path, idle_limit: Duration) -> u16 {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let text = STANDARD.encode(made.cert.der());
    std::fs::write(authority, format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut came = Vec::new();
                while let Ok(Ok(1..)) = tokio::time::timeout(idle_limit, stream.read_buf(&mut came)).await {
                    let head = came.windows(4).position(|four| four == b"\r\n\r\n");
                    if head.is_some_and(|head| came.len() == head + 4 + 100_000) {
                        came.clear();
                        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
                    }
                }
                let _ = stream.shutdown().await;
            });
        }
    });
    port
}

fn pool(port: u16, trust: Trust) -> Pool {
    let endpoint = Endpoint { is_tls: true, host: "localhost".to_owned(), port };
    Pool::new(endpoint, PoolOptions { trust, ..options() }).unwrap()
}

async fn put(pool: &Pool) -> Result<(), PoolError> {
    let request = Request::put("/b/k").header("host", "localhost").header("content-length", 100_000).body(()).unwrap();
    let mut answer = pool.send(request, &Body::from(pattern(100_000)), Safety::Once).await?;
    assert_eq!(answer.read(10).await?, "ok");
    Ok(())
}

#[tokio::test]
async fn a_connection_is_used_again_and_retired_when_the_server_closes_it() {
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("authority.pem");
    let port = server(&authority, Duration::from_millis(900)).await;
    let pool = pool(port, Trust::File(authority));
    put(&pool).await.unwrap();
    put(&pool).await.unwrap();
    let recent = pool.recent();
    assert!(!recent[0].phases.tls.is_zero() && recent[1].phases.tls.is_zero(), "{recent:?}");
    assert!(!recent[0].is_reused && recent[1].is_reused);
    until("the connection is retired", || pool.connections() == (0, 0)).await;
    until("no socket in CLOSE_WAIT", || crate::close_waits(port) == 0).await;
    assert_eq!(pool.counts().closed_idle, 1);
    assert!(pool.idle_limit().unwrap() >= Duration::from_millis(850));
}

#[tokio::test]
async fn only_named_authorities_are_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("ours.pem"), folder.path().join("theirs.pem"));
    server(&ours, Duration::from_secs(60)).await;
    let port = server(&theirs, Duration::from_secs(60)).await;
    let error = put(&pool(port, Trust::File(ours))).await.unwrap_err();
    assert!(matches!(&error, PoolError::Tls { why: TlsError::Handshake(_), .. }), "{error}");
    assert_eq!(error.sent(), Sent::Nothing);
}
