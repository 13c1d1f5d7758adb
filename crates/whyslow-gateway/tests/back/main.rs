//! The back of the gateway against servers that fail, and against real ones.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "clouds")]
mod clouds;
mod faults;
mod faulty;
mod keeping;
mod kill;
mod real;
mod replay;
mod tls;

use bytes::Bytes;
use faulty::Faulty;
use std::time::Duration;
use whyslow_gateway::pool::{Body, Endpoint, Pool, PoolOptions, Timeouts, Warmth};
use whyslow_gateway::store::{Addressing, Bodies, Credentials, ObjectName, S3Options, S3Store};

/// Deadlines that a test can wait for, and nothing kept warm.
fn options() -> PoolOptions {
    let timeouts =
        Timeouts { stall: Duration::from_millis(800), answer: Duration::from_millis(800), ..Timeouts::default() };
    PoolOptions { timeouts, warmth: Warmth { connections: 0, ..Warmth::default() }, ..PoolOptions::default() }
}

fn endpoint(server: &Faulty) -> Endpoint {
    Endpoint::parse(&format!("http://127.0.0.1:{}", server.port())).unwrap()
}

fn pool(server: &Faulty) -> Pool {
    Pool::new(endpoint(server), options()).unwrap()
}

/// Scripted servers are not tried out: their scripts count requests.
fn store_with(endpoint: Endpoint, pool: PoolOptions) -> S3Store {
    let bodies = Some(Bodies::Plain { no_chunks: "a script".to_owned() });
    s3(endpoint, pool, bodies)
}

fn s3(endpoint: Endpoint, pool: PoolOptions, bodies: Option<Bodies>) -> S3Store {
    S3Store::new(S3Options {
        endpoint,
        addressing: Addressing::Path,
        region: "us-east-1".to_owned(),
        credentials: Some(Credentials::new("test", "hush", None)),
        pool,
        bodies,
    })
    .unwrap()
}

fn store(server: &Faulty) -> S3Store {
    store_with(endpoint(server), options())
}

fn name(key: &str) -> ObjectName {
    ObjectName::new("bucket", key)
}

/// Bytes that differ from place to place.
fn pattern(length: usize) -> Bytes {
    (0..length).map(|n| (n ^ n >> 8 ^ n >> 16) as u8).collect::<Vec<_>>().into()
}

fn body(length: usize) -> Body {
    pattern(length).into()
}

/// Waits until the condition holds; it does not measure time.
async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not within 10 s: {what}");
}

/// This process' sockets to a port in CLOSE_WAIT (state 8 of `/proc/net/tcp`).
fn close_waits(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let peer = format!(":{port:04X}");
    let is_one = |line: &&str| {
        let mut fields = line.split_whitespace().skip(2);
        fields.next().is_some_and(|remote| remote.ends_with(&peer)) && fields.next() == Some("08")
    };
    table.lines().filter(is_one).count()
}

async fn no_close_wait(server: &Faulty) {
    until("no socket in CLOSE_WAIT", || close_waits(server.port()) == 0).await;
}
