//! Faults of the server, and the results of requests.

use crate::faulty::{Act, Faulty, answer, failure, ok};
use crate::{body, endpoint, name, no_close_wait, options, pattern, pool, store, store_with, until};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::Request;
use std::sync::Arc;
use std::time::{Duration, Instant};
use whyslow_gateway::pool::{Body, BodyError, Endpoint, PoolError, PoolOptions, Safety, Sent};
use whyslow_gateway::store::{Conditions, ErrorKind, Part, PutOptions, Range, Repeat, Store, Upload};

const LONG: Duration = Duration::from_secs(60);
/// More than sockets of this machine hold between them.
const LARGE: usize = 64 << 20;

#[tokio::test]
async fn server_that_does_not_listen_is_an_error() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = Endpoint::parse(&format!("http://127.0.0.1:{port}")).unwrap();
    let pool = whyslow_gateway::pool::Pool::new(nobody, options()).unwrap();
    let request = Request::get("/").body(()).unwrap();
    let error = pool.send(request, &Body::empty(), Safety::Once).await.unwrap_err();
    assert!(matches!(error, PoolError::Connect { .. }) && error.sent() == Sent::Nothing, "{error}");
    assert!(error.to_string().contains(&port.to_string()), "{error}");
    assert_eq!(pool.connections(), (0, 0));
}

#[tokio::test]
async fn busy_is_tried_again_after_the_servers_time() {
    let server = Faulty::start(LONG, |n, _| {
        Act::Answer(match n {
            0 => answer("503 Service Unavailable", "Retry-After: 1\r\n", "<Error><Code>SlowDown</Code></Error>"),
            1 => failure("500 Internal Server Error", "InternalError"),
            _ => ok(""),
        })
    })
    .await;
    let began = Instant::now();
    let stored = store(&server).put(&name("k"), body(1000), &PutOptions::default()).await.unwrap();
    assert_eq!(stored.tag, "\"tag\"");
    assert!(began.elapsed() >= Duration::from_secs(1));
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|asked| asked.body == pattern(1000)), "the same bytes each time");
    assert!(asked.iter().all(|asked| asked.connection == 0), "an answer of failure keeps its connection");
    no_close_wait(&server).await;
}

#[tokio::test]
async fn what_may_be_done_is_not_done_twice_under_a_condition() {
    let script = |_, _: &_| Act::Answer(failure("500 Internal Server Error", "InternalError"));
    let server = Faulty::start(LONG, script).await;
    let conditions = Conditions { if_none_match: Some("*".to_owned()), ..Conditions::default() };
    let options = PutOptions { conditions, ..PutOptions::default() };
    let error = store(&server).put(&name("k"), body(10), &options).await.unwrap_err();
    assert!(matches!((&error.kind, error.repeat), (ErrorKind::Server, Repeat::MayBeDone(_))), "{error:?}");
    assert_eq!(server.asked().len(), 1);
    assert_eq!(server.asked()[0].header("if-none-match"), Some("*"));
}

#[tokio::test]
async fn a_reset_in_mid_part_sends_the_same_bytes_again() {
    let server = Faulty::start(LONG, |n, _| if n == 0 { Act::Reset(100_000) } else { Act::Answer(ok("")) }).await;
    let upload = Upload { object: name("k"), id: "u".to_owned() };
    let part = store(&server).put_part(&upload, 7, body(5 << 20)).await.unwrap();
    assert_eq!((part.number, part.size), (7, 5 << 20));
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].body, pattern(5 << 20));
    assert!(asked[1].line.contains("partNumber=7&uploadId=u"), "{}", asked[1].line);
    no_close_wait(&server).await;
}

#[tokio::test]
async fn a_body_that_was_let_go_is_not_sent_again() {
    let server = Faulty::start(LONG, |_, _| Act::Reset(100_000)).await;
    let chunks = stream::repeat_with(|| Ok::<_, BodyError>(pattern(1 << 16))).take(LARGE >> 16).boxed();
    let body = Body::stream(LARGE as u64, 1 << 20, chunks);
    let error = store(&server).put(&name("k"), body, &PutOptions::default()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Connection(Sent::Part), "{error}");
    assert_eq!(server.asked().len(), 1);
    no_close_wait(&server).await;
}

#[tokio::test]
async fn a_server_that_reads_no_further_is_given_up() {
    let server = Faulty::start(LONG, |_, _| Act::Stall(100_000)).await;
    let pool = pool(&server);
    let request = Request::put("/b/k").header("content-length", LARGE).body(()).unwrap();
    let error = pool.send(request, &body(LARGE), Safety::Once).await.unwrap_err();
    assert!(matches!(error, PoolError::Stalled { sent: Sent::Part, .. }), "{error}");
    assert_eq!(pool.counts().stalled, 1);
    until("the connection is closed", || pool.connections() == (0, 0)).await;
    no_close_wait(&server).await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up() {
    let server = Faulty::start(LONG, |_, _| Act::Stall(1000)).await;
    let pool = pool(&server);
    let request = Request::put("/b/k").header("content-length", 1000).body(()).unwrap();
    let error = pool.send(request, &body(1000), Safety::Once).await.unwrap_err();
    assert!(matches!(error, PoolError::NoAnswer { .. }) && error.sent() == Sent::All, "{error}");
    until("the connection is closed", || pool.connections() == (0, 0)).await;
}

#[tokio::test]
async fn a_slow_client_is_no_fault_of_the_server() {
    let server = Faulty::start(LONG, |_, _| Act::Answer(ok(""))).await;
    let slow = stream::iter(0..3).then(async |_| {
        tokio::time::sleep(Duration::from_millis(1200)).await;
        Ok::<_, BodyError>(Bytes::from_static(b"abc"))
    });
    let body = Body::stream(9, 0, slow.boxed());
    let stored = store(&server).put(&name("k"), body, &PutOptions::default()).await.unwrap();
    assert_eq!(server.asked()[0].body, b"abcabcabc");
    let transfer = stored.transfer.unwrap();
    let waited = transfer.limits.of(whyslow_gateway::pool::LimitingFactor::Application);
    assert!(waited >= Duration::from_secs(2), "{transfer:?}");
}

#[tokio::test]
async fn a_client_that_vanishes_or_lies_stores_nothing() {
    let server = Faulty::start(LONG, |_, _| Act::Answer(ok(""))).await;
    let store = store(&server);
    let vanishes = stream::iter([Ok(Bytes::from_static(b"abc")), Err(BodyError::Source("gone".to_owned()))]);
    let too_short = stream::iter([Ok(Bytes::from_static(b"abc"))]);
    for bytes in [vanishes.boxed(), too_short.boxed()] {
        let error = store.put(&name("k"), Body::stream(9, 9, bytes), &PutOptions::default()).await.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Body(_)), "{error}");
        assert_eq!(error.repeat, Repeat::No);
    }
    // The server read a head and part of a body at most: it had nothing whole to store.
    assert!(server.asked().iter().all(|asked| asked.body.len() < 9));
    no_close_wait(&server).await;
}

#[tokio::test]
async fn an_answer_before_the_body_was_read_is_the_answer() {
    let server = Faulty::start(LONG, |_, _| Act::Early(failure("403 Forbidden", "AccessDenied"))).await;
    let store = store(&server);
    let error = store.put(&name("k"), body(LARGE), &PutOptions::default()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied, "{error}");
    assert_eq!(server.asked().len(), 1);
    let pool = store.pool("bucket").unwrap();
    until("the connection is closed", || pool.connections() == (0, 0)).await;
    no_close_wait(&server).await;
}

#[tokio::test]
async fn a_cut_answer_goes_on_where_it_ended() {
    let text = String::from_utf8(vec![b'x'; 100_000]).unwrap() + "end";
    let whole = text.clone();
    let server = Faulty::start(LONG, move |n, asked| {
        if n == 0 {
            return Act::Cut(ok(&text), 40_003);
        }
        let range = asked.header("range").unwrap().strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        let (first, last): (usize, usize) = (range.0.parse().unwrap(), range.1.parse().unwrap());
        let head = format!("ETag: \"tag\"\r\nContent-Range: bytes {first}-{last}/{}\r\n", text.len());
        Act::Answer(answer("206 Partial Content", &head, &text[first..=last]))
    })
    .await;
    let mut download = store(&server).get(&name("k"), None, &Conditions::default()).await.unwrap();
    let mut got = Vec::new();
    while let Some(chunk) = download.body.next().await {
        got.extend_from_slice(&chunk.unwrap());
    }
    assert_eq!(got, whole.as_bytes());
    let asked = server.asked();
    assert_eq!((asked.len(), asked[1].header("range")), (2, Some("bytes=60000-100002")));
    assert_eq!(asked[1].header("if-match"), Some("\"tag\""), "never the bytes of another object");
    no_close_wait(&server).await;
}

#[tokio::test]
async fn a_range_is_one_request() {
    let head = "ETag: \"tag\"\r\nContent-Range: bytes 2-4/10\r\n";
    let server = Faulty::start(LONG, move |_, _| Act::Answer(answer("206 Partial Content", head, "cde"))).await;
    let range = Some(Range::FromTo(2, 4));
    let mut download = store(&server).get(&name("k"), range, &Conditions::default()).await.unwrap();
    assert_eq!((download.range, download.info.size), ((2, 5), 10));
    assert_eq!(download.body.next().await.unwrap().unwrap(), "cde");
    assert!(download.body.next().await.is_none());
    assert_eq!(server.asked()[0].header("range"), Some("bytes=2-4"));
}

fn parts() -> Vec<Part> {
    vec![Part { number: 1, tag: "\"p\"".to_owned(), size: 5, transfer: None }]
}

#[tokio::test]
async fn complete_may_answer_200_with_an_error_inside() {
    let inside = "<?xml version=\"1.0\"?>\n   <Error><Code>InternalError</Code><Message>again</Message></Error>";
    let done = "<CompleteMultipartUploadResult><ETag>&quot;o-1&quot;</ETag></CompleteMultipartUploadResult>";
    let server = Faulty::start(LONG, move |n, _| Act::Answer(ok(if n == 0 { inside } else { done }))).await;
    let upload = Upload { object: name("k"), id: "u".to_owned() };
    let stored = store(&server).complete_upload(&upload, &parts(), &Conditions::default()).await.unwrap();
    assert_eq!((stored.tag.as_str(), server.asked().len()), ("\"o-1\"", 2));
    let text = String::from_utf8(server.asked()[0].body.clone()).unwrap();
    assert!(text.contains("<Part><PartNumber>1</PartNumber><ETag>"), "{text}");
}

#[tokio::test]
async fn a_completion_whose_answer_is_lost_is_found_to_be_done() {
    let server = Faulty::start(LONG, |n, _| match n {
        0 => Act::Vanish,
        1 => Act::Answer(failure("404 Not Found", "NoSuchUpload")),
        // HEAD: a length and no body.
        _ => Act::Answer("HTTP/1.1 200 OK\r\nETag: \"o-1\"\r\nContent-Length: 5\r\n\r\n".to_owned()),
    })
    .await;
    let upload = Upload { object: name("k"), id: "u".to_owned() };
    let stored = store(&server).complete_upload(&upload, &parts(), &Conditions::default()).await.unwrap();
    assert_eq!((stored.tag.as_str(), server.asked().len()), ("\"o-1\"", 3));
    // An upload that was never there is no success.
    let script = |_, _: &_| Act::Answer(failure("404 Not Found", "NoSuchUpload"));
    let server = Faulty::start(LONG, script).await;
    let error = store(&server).complete_upload(&upload, &parts(), &Conditions::default()).await.unwrap_err();
    assert_eq!((error.kind, server.asked().len()), (ErrorKind::NoSuchUpload, 1));
}

#[tokio::test]
async fn connections_have_a_limit_and_requests_their_turn() {
    let server = Faulty::start(LONG, |_, _| Act::Late(Duration::from_millis(30), ok(""))).await;
    let options = PoolOptions { max_connections: 2, max_waiting: 10, ..options() };
    let store = Arc::new(store_with(endpoint(&server), options));
    let puts =
        (0..20).map(|_| {
            let store = Arc::clone(&store);
            async move {
                store.pool("b").unwrap().send(Request::get("/").body(()).unwrap(), &Body::empty(), Safety::Once).await
            }
        });
    let results: Vec<_> = futures_util::future::join_all(puts.map(|put| async {
        let mut answer = put.await?;
        answer.read(1000).await
    }))
    .await;
    let refused = results.iter().filter(|result| matches!(result, Err(PoolError::Busy { .. }))).count();
    assert_eq!((results.iter().filter(|result| result.is_ok()).count(), refused), (12, 8));
    assert_eq!(server.connections(), (2, 2));
    assert_eq!(store.pool("b").unwrap().counts().refused, 8);
}

#[tokio::test]
async fn a_request_that_is_dropped_closes_its_connection_alone() {
    let server = Faulty::start(LONG, |n, _| if n == 0 { Act::Stall(10) } else { Act::Answer(ok("")) }).await;
    let options = PoolOptions { max_connections: 1, ..options() };
    let store = store_with(endpoint(&server), options);
    let put_options = PutOptions::default();
    let object = name("k");
    let put = store.put(&object, body(LARGE), &put_options);
    assert!(tokio::time::timeout(Duration::from_millis(200), put).await.is_err());
    store.put(&name("k"), body(10), &PutOptions::default()).await.unwrap();
    assert_eq!(server.asked()[1].connection, 1);
    until("one connection is left", || store.pool("b").unwrap().connections() == (1, 1)).await;
    no_close_wait(&server).await;
}
