//! The record of the way to the storage: S3 behind a gateway.

use crate::backend::Backend;
use crate::client::{ask, connect, put};
use crate::pattern;
use crate::server::{Server, s3};
use futures_util::StreamExt;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;
use whyslow_gateway::memory::Memory;
use whyslow_gateway::store::{Conditions, ObjectName, Plan, PutOptions, ReadOptions, Source, Store, read_spans};

#[test]
fn read_has_its_transfer_in_the_record() {
    let backend = Backend::start();
    let server = Server::over(&backend, |_| {});
    let bytes = pattern(300_000);
    put("/bucket/o", bytes.clone()).send(&server).ok();
    let size = backend.size("/bucket/o") as u64;
    for _ in 0..2 {
        let got = ask("GET", "/bucket/o").send(&server).ok();
        assert!(got.body == bytes);
    }
    let of_get = |record: &whyslow_gateway::front::Record| record.operation.as_deref() == Some("GetObject");
    crate::until("two records", || server.count(of_get) == 2);
    let transfer = server.record(of_get).transfer.unwrap();
    assert_eq!((transfer.received, transfer.sent, transfer.is_whole), (size, 0, true), "{transfer:?}");
    // The next request took the connection of the first one, although the body's end was not read.
    assert!(transfer.is_reused, "{transfer:?}");
    assert!(transfer.phases.wait > Duration::ZERO && transfer.limited_by().is_some(), "{transfer:?}");

    let got = ask("GET", "/bucket/o").with("range", "bytes=200000-200009").send(&server);
    assert_eq!((got.status, &got.body[..]), (206, &bytes[200_000..200_010]));
    crate::until("a third record", || server.count(of_get) == 3);
    // The header, and the chunk that holds the range.
    let transfer = server.record(of_get).transfer.unwrap();
    assert_eq!((transfer.received, transfer.is_whole), (276 + 65_552, true), "{transfer:?}");
}

#[test]
fn a_client_that_leaves_cuts_the_transfer() {
    let backend = Backend::start();
    let server = Server::over(&backend, |_| {});
    put("/bucket/large", pattern(30_000_000)).send(&server).ok();
    let mut stream = connect(&server);
    stream.write_all(&ask("GET", "/bucket/large").bytes(&server)).unwrap();
    stream.read_exact(&mut [0; 1000]).unwrap();
    drop(stream);
    let record = server.record(|record| record.operation.as_deref() == Some("GetObject"));
    let transfer = record.transfer.clone().unwrap();
    assert!(!record.is_whole && !transfer.is_whole, "{transfer:?}");
    assert!(transfer.received < 30_000_000, "{transfer:?}");
}

/// Pieces of a large object, several at once.
#[tokio::test]
async fn pieces_are_added_up() {
    let backend = Backend::start();
    let bytes = pattern(1_000_000);
    let store: Arc<dyn Store> = Arc::new(s3(&backend.url(), backend.bodies()));
    let object = ObjectName::new("bucket", "pieces");
    let tag = store.put(&object, bytes::Bytes::from(bytes.clone()).into(), &PutOptions::default()).await.unwrap().tag;
    let options = ReadOptions::default();
    let source = Source { store: Arc::clone(&store), object: object.clone(), tag, options: options.clone() };
    let plan = Plan { part_size: 65_536, parallel: 4, ..Plan::default() };
    let spans = [0..600_000, 700_000..1_000_000];
    let mut pieces = read_spans(source, &spans, Some(plan), &Memory::new(64 << 20));
    let mut came = Vec::new();
    while let Some(piece) = pieces.next().await {
        came.extend_from_slice(&piece.unwrap().0);
    }
    assert!(came == [&bytes[..600_000], &bytes[700_000..]].concat());
    let sum = options.transfers.sum().unwrap();
    assert_eq!((sum.received, sum.is_whole), (900_000, true), "{sum:?}");
    let one = ReadOptions::default();
    let download = store.get_with(&object, None, &Conditions::default(), &one).await.unwrap();
    drop(download);
    assert!(!one.transfers.sum().unwrap().is_whole);
}
