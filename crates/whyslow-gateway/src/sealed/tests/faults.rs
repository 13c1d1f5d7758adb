//! Clients and storages that fail on the way.

use super::*;
use crate::pool::BodyError;
use crate::store::Plan;
use std::time::Duration;

/// The bytes, and then this.
fn ending(bytes: &[u8], length: u64, end: Option<BodyError>) -> Content {
    let pieces: Vec<_> = bytes.chunks(50_000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    Content { length, bytes: stream::iter(pieces).chain(stream::iter(end.map(Err))).boxed() }
}

#[tokio::test]
async fn content_that_fails_stores_nothing() {
    for plan in [None, Some(Plan { part_size: 128 << 10, parallel: 2, ..Plan::default() })] {
        let bench = in_memory(SealedOptions::default());
        bench.memory().state().plan = plan;
        let bytes = pattern(300_000, 1);
        bench.put("k", b"old").await;
        let checksum = || Some(BodyError::Source("the checksum is wrong".to_owned()));
        for (what, content) in [
            ("a checksum that is wrong at the end", ending(&bytes, 300_000, checksum())),
            ("too few", ending(&bytes, 300_001, None)),
            ("too many", ending(&bytes, 299_999, None)),
            ("a checksum of nothing", ending(b"", 0, checksum())),
            ("more than nothing", ending(b"x", 0, None)),
        ] {
            let stored = bench.sealed.put(&name("k"), content, &Attributes::default(), &anyhow()).await;
            let kind = stored.map(|_| ()).map_err(|error| error.kind);
            assert!(matches!(kind, Err(SealedErrorKind::Content(_))), "{what}: {kind:?}");
            assert_eq!(get(&bench.sealed, "k", None).await.unwrap(), b"old", "{what}");
            assert!(bench.memory().state().uploads.is_empty(), "{what}");
            assert_eq!(bench.sealed.memory().in_use(), 0, "{what}");
        }
    }
}

#[tokio::test]
async fn the_last_chunk_leaves_only_when_the_content_has_ended() {
    let bench = in_memory(SealedOptions::default());
    let bytes = pattern(200_000, 1);
    let end = Some(BodyError::Source("the checksum is wrong".to_owned()));
    bench.sealed.put(&name("k"), ending(&bytes, 200_000, end), &Attributes::default(), &anyhow()).await.unwrap_err();
    let sent = bench.memory().state().attempts[0].len();
    assert_eq!(sent, 276 + 3 * 65_552, "all but the last chunk");
}

#[tokio::test]
async fn what_is_sent_again_is_the_same_to_the_byte() {
    let bench = in_memory(SealedOptions::default());
    let bytes = pattern(400_000, 1);
    bench.memory().state().breaks = vec![300_000, 100];
    bench.put("k", &bytes).await;
    let attempts = bench.memory().state().attempts.clone();
    assert_eq!(attempts.len(), 3);
    assert!(attempts.iter().all(|attempt| attempts[2].starts_with(attempt)));
    assert!(get(&bench.sealed, "k", None).await.unwrap() == bytes);
    // A body that is too large to be held is not sent again.
    let small = in_memory(SealedOptions { held_for_repeat: 300_000, ..SealedOptions::default() });
    small.memory().state().breaks = vec![100];
    let stored = small.sealed.put(&name("k"), content(&bytes), &Attributes::default(), &anyhow()).await;
    assert_eq!(stored.unwrap_err().kind, SealedErrorKind::Unavailable);
    assert_eq!(small.memory().state().attempts.len(), 1);
}

#[tokio::test]
async fn parts_are_sent_again_as_they_were() {
    let bench = in_memory(SealedOptions::default());
    bench.memory().state().plan = Some(Plan { part_size: 128 << 10, parallel: 3, ..Plan::default() });
    bench.memory().state().breaks = vec![100_000, 5, 131_071];
    let bytes = pattern(900_000, 1);
    bench.put("k", &bytes).await;
    assert!(get(&bench.sealed, "k", None).await.unwrap() == bytes);
}

#[tokio::test]
async fn an_answer_that_is_cut_ends_with_an_error() {
    let bench = in_memory(SealedOptions::default());
    let bytes = pattern(400_000, 1);
    bench.put("k", &bytes).await;
    bench.memory().state().cut_answers_at = Some(200_000);
    let opened = bench.sealed.get(&name("k"), None, &anyhow()).await.unwrap();
    let chunks: Vec<_> = opened.bytes.collect().await;
    let came: Vec<u8> = chunks.iter().flatten().flat_map(|chunk| chunk.to_vec()).collect();
    assert!(chunks.last().unwrap().is_err() && bytes.starts_with(&came) && came.len() == 3 * 65_536);
    drop(chunks);
    assert_eq!(bench.sealed.memory().in_use(), 0);
}

#[tokio::test]
async fn a_client_that_stalls_holds_no_more_than_a_place() {
    let bench = in_memory(SealedOptions::default());
    let bytes = pattern(1_000_000, 1);
    let pieces: Vec<_> = bytes.chunks(50_000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    let stalled = stream::iter(pieces).chain(stream::pending()).boxed();
    let sealed = bench.sealed.clone();
    let content = Content { length: 2_000_000, bytes: stalled };
    let attributes = Attributes::default();
    let upload = async { sealed.put(&name("k"), content, &attributes, &anyhow()).await };
    let in_use = || sealed.memory().in_use();
    let watch = async {
        while in_use() < 900_000 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        while in_use() > crate::memory::PLACE {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        _ = upload => panic!("it cannot end"),
        () = watch => {}
    }
    assert_eq!(bench.sealed.memory().in_use(), 0);
}
