//! Bodies that are cut, in front of a storage that stores the part that came.

use crate::backend::{Backend, Manner};
use crate::client::{ask, connect, put};
use crate::pattern;
use crate::server::{Server, s3};
use futures_util::{StreamExt, stream};
use std::io::Write;
use whyslow_gateway::pool::Body;
use whyslow_gateway::store::{Bodies, Conditions, ObjectName, PutOptions, Store};

const MANNERS: [Manner; 2] = [Manner::KeepsCutBodies, Manner::KeepsCutBodiesAndTakesNoChunks];

#[test]
fn object_stays_when_its_successor_has_a_wrong_checksum() {
    for manner in MANNERS {
        let backend = Backend::with(manner);
        let server = Server::over(&backend, |_| {});
        put("/bucket/o", pattern(300_000)).send(&server).ok();
        let wrong = put("/bucket/o", vec![1; 500_000]).with("x-amz-checksum-crc32", "NhCmhg==");
        wrong.send(&server).is(400, "BadDigest");
        // The storage notices a connection that was closed a little later.
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(ask("GET", "/bucket/o").send(&server).ok().body == pattern(300_000), "{manner:?}");
        crate::until("no upload is left", || backend.uploads().is_empty());
    }
}

#[test]
fn object_stays_when_a_client_leaves_halfway() {
    for manner in MANNERS {
        let backend = Backend::with(manner);
        let server = Server::over(&backend, |_| {});
        put("/bucket/o", pattern(300_000)).send(&server).ok();
        let bytes = put("/bucket/o", vec![1; 500_000]).bytes(&server);
        let mut stream = connect(&server);
        stream.write_all(&bytes[..400_000]).unwrap();
        drop(stream);
        server.record(|record| record.operation.as_deref() == Some("PutObject") && record.status != Some(200));
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(ask("GET", "/bucket/o").send(&server).ok().body == pattern(300_000), "{manner:?}");
        crate::until("no upload is left", || backend.uploads().is_empty());
    }
}

/// The network's view of a killed gateway: the connection ends within the body.
#[tokio::test]
async fn object_stays_when_the_gateway_is_killed() {
    for manner in MANNERS {
        let backend = Backend::with(manner);
        let (name, options) = (ObjectName::new("bucket", "o"), PutOptions::default());
        let store = s3(&backend.url(), None);
        store.put(&name, Body::from(bytes::Bytes::from(pattern(300_000))), &options).await.unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (sent, was_sent) = tokio::sync::oneshot::channel::<()>();
        let (other, url) = (name.clone(), backend.url());
        runtime.spawn(async move {
            let first = stream::iter([Ok(bytes::Bytes::from(vec![1; 200_000]))]);
            let never = stream::once(async move {
                drop(sent);
                std::future::pending().await
            });
            let body = Body::stream(500_000, 0, first.chain(never).boxed());
            s3(&url, None).put(&other, body, &PutOptions::default()).await
        });
        assert!(was_sent.await.is_err());
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        runtime.shutdown_background();
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let mut read = store.get(&name, None, &Conditions::default()).await.unwrap().body;
        let mut all = Vec::new();
        while let Some(chunk) = read.next().await {
            all.extend_from_slice(&chunk.unwrap());
        }
        assert!(all == pattern(300_000), "{manner:?}: {} B", all.len());
    }
}

#[tokio::test]
async fn service_is_tried_out_before_the_first_body() {
    let no_chunks = || "HTTP 501".to_owned();
    for (manner, expected) in [
        (Manner::KeepsCutBodies, Bodies::Chunked),
        (Manner::KeepsCutBodiesAndTakesNoChunks, Bodies::Uploads { no_chunks: no_chunks() }),
        (Manner::Usual, Bodies::Plain { no_chunks: no_chunks() }),
    ] {
        let backend = Backend::with(manner);
        let store = s3(&backend.url(), None);
        store.put(&ObjectName::new("bucket", "o"), Body::empty(), &PutOptions::default()).await.unwrap();
        assert_eq!(store.bodies("bucket").await.unwrap(), &expected);
        assert!(backend.uploads().is_empty(), "the trial leaves nothing");
    }
}
