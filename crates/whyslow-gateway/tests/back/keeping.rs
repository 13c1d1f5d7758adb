//! Connections that are kept open, and windows that are opened before they are needed.

use crate::faulty::{Act, Asked, Faulty, answer, failure, ok};
use crate::{body, endpoint, name, no_close_wait, options, store_with, until};
use std::time::Duration;
use whyslow_gateway::pool::{PoolOptions, Rights, Warmth, WindowKeeping};
use whyslow_gateway::store::{PutOptions, Store};

fn warm(connections: usize, window: u64) -> PoolOptions {
    let warmth = Warmth {
        connections,
        window,
        idle_limit_guess: Duration::from_secs(1),
        may_use_bbr: true,
        ..Warmth::default()
    };
    PoolOptions { warmth, ..options() }
}

/// An S3 that knows one upload.
fn parking(_: usize, asked: &Asked) -> Act {
    let uploads = "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>";
    let begun = "<InitiateMultipartUploadResult><UploadId>parked</UploadId></InitiateMultipartUploadResult>";
    Act::Answer(match asked.line.split_whitespace().next().unwrap() {
        "GET" => ok(uploads),
        "POST" => ok(begun),
        "HEAD" => "HTTP/1.1 200 OK\r\n\r\n".to_owned(),
        _ => ok(""),
    })
}

#[tokio::test]
async fn a_kept_connection_outlives_the_servers_patience() {
    let server = Faulty::start(Duration::from_secs(1), |_, asked| {
        if asked.line.starts_with("HEAD") {
            Act::Answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned())
        } else {
            Act::Answer(ok(""))
        }
    })
    .await;
    let store = store_with(endpoint(&server), warm(1, 0));
    store.keep_warm("bucket").unwrap();
    let pool = store.pool("bucket").unwrap();
    // A heartbeat counts when it begins, and has the connection until it is answered.
    until("three heartbeats", || pool.counts().heartbeats >= 3 && pool.connections() == (1, 1)).await;
    store.put(&name("k"), body(10), &PutOptions::default()).await.unwrap();
    // Without heartbeats each would be another one. A machine that stops for a second may lose one.
    assert!(pool.counts().opened <= 2, "{:?}", pool.counts());
    assert!(pool.recent().last().unwrap().is_reused);
    let asked = server.asked();
    assert!(asked.iter().any(|asked| asked.line.starts_with("HEAD /bucket ")), "{asked:?}");
    assert_eq!(pool.counts().requests, 1, "heartbeats are no requests of anybody");
}

#[tokio::test]
async fn a_server_that_closes_with_each_answer_gets_no_heartbeats() {
    let server = Faulty::start(Duration::from_secs(60), |_, asked| {
        let close = "ETag: \"tag\"\r\nConnection: close\r\n";
        let status = if asked.line.contains("/bad") { "403 Forbidden" } else { "200 OK" };
        Act::Answer(answer(status, close, ""))
    })
    .await;
    let store = store_with(endpoint(&server), warm(0, 0));
    // A single error does not show the state of other objects.
    store.put(&name("bad"), body(10), &PutOptions::default()).await.unwrap_err();
    let pool = store.pool("bucket").unwrap();
    assert!(!pool.closes_after_answers());
    store.put(&name("good"), body(10), &PutOptions::default()).await.unwrap();
    assert!(pool.closes_after_answers());
    assert_eq!(pool.counts().opened, 2);
}

#[tokio::test]
async fn without_a_word_one_connection_finds_out_how_long_the_server_waits() {
    let limit = Duration::from_millis(1500);
    let server = Faulty::start(limit, |_, _| Act::Answer(ok(""))).await;
    let store = store_with(endpoint(&server), warm(2, 0));
    store.keep_warm("bucket").unwrap();
    let pool = store.pool("bucket").unwrap();
    until("the limit is learnt", || pool.idle_limit().is_some()).await;
    assert!(pool.idle_limit().unwrap() >= limit - Duration::from_millis(50), "{:?}", pool.idle_limit());
    until("the connection is replaced", || pool.connections().0 == 2).await;
    no_close_wait(&server).await;
}

#[tokio::test]
async fn bursts_go_to_one_part_of_one_upload_and_have_a_limit() {
    let server = Faulty::start(Duration::from_secs(60), parking).await;
    let mut options = warm(2, 4 << 20);
    options.warmth.burst_bytes_an_hour = 60 << 20;
    let store = store_with(endpoint(&server), options);
    store.keep_warm("bucket").unwrap();
    let pool = store.pool("bucket").unwrap();
    if pool.keeping() == WindowKeeping::OnDemand {
        // Nothing is sent before an upload is announced.
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(pool.counts().bursts, 0, "{:?}", Rights::detect());
        return;
    }
    until("bursts have ended", || pool.counts().bursts >= 2 && pool.connections().1 >= 2).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let counts = pool.counts();
    assert!(counts.burst_bytes <= 60 << 20 && counts.bursts <= 12, "{counts:?}");
    let asked = server.asked();
    let puts: Vec<_> = asked.iter().filter(|asked| asked.line.starts_with("PUT")).collect();
    assert_eq!(puts.len() as u64, counts.bursts);
    for put in puts {
        assert!(put.line.contains(".whyslow-gateway/warm?partNumber=1&uploadId=parked"), "{}", put.line);
    }
    assert_eq!(asked.iter().filter(|asked| asked.line.starts_with("POST")).count(), 1, "one upload");
    store.close().await.unwrap();
    let last = server.asked().pop().unwrap();
    assert!(last.line.starts_with("DELETE") && last.line.contains("uploadId=parked"), "{}", last.line);
    until("all connections are closed", || pool.connections() == (0, 0)).await;
}

#[tokio::test]
async fn a_server_that_takes_no_bursts_gets_no_more_of_them() {
    let server = Faulty::start(Duration::from_secs(60), |n, asked| {
        if asked.line.starts_with("PUT") {
            Act::Answer(failure("403 Forbidden", "AccessDenied"))
        } else {
            parking(n, asked)
        }
    })
    .await;
    let store = store_with(endpoint(&server), warm(1, 4 << 20));
    store.keep_warm("bucket").unwrap();
    let pool = store.pool("bucket").unwrap();
    if pool.keeping() == WindowKeeping::OnDemand {
        return;
    }
    until("the burst is refused", || pool.counts().bursts > 0 && pool.connections().1 > 0).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    // A connection gets one at most; the upload was asked for on another connection.
    let counts = pool.counts();
    assert!((1..=counts.opened).contains(&counts.bursts) && counts.opened <= 2, "{counts:?}");
}

#[tokio::test]
async fn connections_beyond_those_that_are_kept_are_closed_in_time() {
    let server = Faulty::start(Duration::from_secs(60), |_, _| Act::Late(Duration::from_millis(50), ok(""))).await;
    let mut options = warm(0, 0);
    options.warmth.idle_cap = Duration::from_millis(300);
    let store = store_with(endpoint(&server), options);
    let (first, second) = (name("a"), name("b"));
    let put_options = PutOptions::default();
    let both = futures_util::future::join(
        store.put(&first, body(10), &put_options),
        store.put(&second, body(10), &put_options),
    );
    let (a, b) = both.await;
    assert!(a.is_ok() && b.is_ok());
    until("both are closed", || server.open() == 0).await;
    assert_eq!(store.pool("bucket").unwrap().connections(), (0, 0));
}
