//! Whole objects, ranges, conditions, copies.

use super::*;
use crate::store::Plan;

const SIZES: [usize; 8] = [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000, 1_000_000];

#[tokio::test]
async fn what_is_put_is_what_is_got() {
    for bench in all() {
        for size in SIZES {
            let bytes = pattern(size, 3);
            let receipt = bench.put("a/b c.txt", &bytes).await;
            assert!(receipt.tag.starts_with("w1-"), "{}", receipt.tag);
            let opened = bench.sealed.get(&name("a/b c.txt"), None, &anyhow()).await.unwrap();
            let info = opened.info.clone();
            assert_eq!((info.size, &info.tag, info.parts), (size as u64, &receipt.tag, None));
            assert_eq!((info.key.as_str(), &info.attributes), ("a/b c.txt", &some_attributes()));
            assert_eq!(opened.range, (0, size as u64));
            assert!(read(opened).await.unwrap() == bytes, "{size} B");
            assert_eq!(bench.sealed.head(&name("a/b c.txt"), &anyhow()).await.unwrap(), info);
        }
        bench.sealed.delete(&name("a/b c.txt")).await.unwrap();
        let error = bench.sealed.head(&name("a/b c.txt"), &anyhow()).await.unwrap_err();
        assert_eq!(error.kind, SealedErrorKind::NoSuchKey);
        assert_eq!(bench.sealed.memory().in_use(), 0);
    }
}

#[tokio::test]
async fn who_names_no_content_type_gets_that_of_s3() {
    let bench = in_memory(SealedOptions::default());
    bench.sealed.put(&name("k"), content(b"x"), &Attributes::default(), &anyhow()).await.unwrap();
    let info = bench.sealed.head(&name("k"), &anyhow()).await.unwrap();
    assert_eq!(info.attributes.content_type.as_deref(), Some("binary/octet-stream"));
    let with = |name: &str, value: &str| Attributes {
        user: [(name.to_owned(), value.to_owned())].into(),
        ..Attributes::default()
    };
    for wrong in [with("Upper", ""), with("whyslow", "1.single"), with("", ""), with("a b", "")] {
        let error = bench.sealed.put(&name("k"), content(b"x"), &wrong, &anyhow()).await.unwrap_err();
        assert_eq!(error.kind, SealedErrorKind::InvalidRequest);
    }
    let error = bench.sealed.put(&name(""), content(b"x"), &with("a", ""), &anyhow()).await.unwrap_err();
    assert_eq!(error.kind, SealedErrorKind::InvalidName);
}

#[tokio::test]
async fn ranges_are_those_of_the_plaintext() {
    for bench in all() {
        let bytes = pattern(300_000, 1);
        bench.put("k", &bytes).await;
        let parts = bench.upload("m", &[(1, 100_000), (2, 0), (5, 150_000), (9, 50_000)]).await;
        for (key, bytes) in [("k", &bytes), ("m", &parts)] {
            for range in [
                Range::FromTo(0, 0),
                Range::FromTo(5, 70_000),
                Range::FromTo(99_999, 100_000),
                Range::FromTo(200_000, u64::MAX),
                Range::FromTo(65_536, 131_071),
                Range::From(0),
                Range::From(250_001),
                Range::From(299_999),
                Range::Last(1),
                Range::Last(65_537),
                Range::Last(1 << 40),
            ] {
                let (first, end) = range.of(300_000).unwrap();
                let got = get(&bench.sealed, key, Some(range)).await.unwrap();
                assert!(got == bytes[first as usize..end as usize], "{key} {range:?}");
            }
            for range in [Range::From(300_000), Range::FromTo(1 << 50, 1 << 51), Range::Last(0), Range::From(u64::MAX)]
            {
                let error = get(&bench.sealed, key, Some(range)).await.unwrap_err();
                assert_eq!(error.kind, SealedErrorKind::InvalidRange, "{key} {range:?}");
            }
        }
        bench.put("empty", b"").await;
        let error = get(&bench.sealed, "empty", Some(Range::From(0))).await.unwrap_err();
        assert_eq!(error.kind, SealedErrorKind::InvalidRange);
    }
}

#[tokio::test]
async fn a_range_takes_one_round_trip() {
    let bench = in_memory(SealedOptions::default());
    bench.put("k", &pattern(1_000_000, 1)).await;
    let asked = async |key, range| {
        let before = bench.memory().state().gets.len();
        get(&bench.sealed, key, Some(range)).await.unwrap();
        bench.memory().state().gets[before..].to_vec()
    };
    let header = Some(Range::FromTo(0, 275));
    // Both at once; what lies together is one request.
    let chunk = 276 + 65_552 * 10;
    let range = Range::FromTo(chunk, chunk + 65_551);
    assert_eq!(asked("k", Range::FromTo(655_360, 655_370)).await, [header, Some(range)]);
    assert_eq!(asked("k", Range::FromTo(5, 6)).await, [Some(Range::FromTo(0, 275 + 65_552))]);
    assert_eq!(asked("k", Range::Last(10)).await.len(), 2);
    let most = bench.memory().state().most_under_way;
    assert_eq!(most, 2);
    // The tail of a multipart object that was read before is known.
    bench.upload("m", &[(1, 5_000_000), (2, 5_000_000)]).await;
    assert_eq!(asked("m", Range::FromTo(6_000_000, 6_000_010)).await.len(), 5);
    assert_eq!(asked("m", Range::FromTo(7_000_000, 7_000_010)).await.len(), 2);
}

#[tokio::test]
async fn conditions_are_on_the_clients_tags() {
    for bench in all() {
        let tag = bench.put("k", b"one").await.tag;
        let get = async |conditions: Conditions| {
            let opened = bench.sealed.get(&name("k"), None, &conditions).await;
            opened.map(|_| ()).map_err(|error| error.kind)
        };
        assert_eq!(get(if_match(&tag)).await, Ok(()));
        assert_eq!(get(if_match("w1-other")).await, Err(SealedErrorKind::PreconditionFailed));
        assert_eq!(get(if_none_match(&format!("\"{tag}\""))).await, Err(SealedErrorKind::NotModified));
        let put = async |conditions| {
            let stored = bench.sealed.put(&name("k"), content(b"two"), &Attributes::default(), &conditions).await;
            stored.map(|receipt| receipt.tag).map_err(|error| error.kind)
        };
        assert!(matches!(put(if_match("w1-other")).await, Err(SealedErrorKind::PreconditionFailed)));
        let refused = put(if_none_match("*")).await.unwrap_err();
        assert!(matches!(refused, SealedErrorKind::PreconditionFailed | SealedErrorKind::NotModified));
        let next = put(if_match(&tag)).await.unwrap();
        assert_ne!(next, tag);
    }
}

#[tokio::test]
async fn copies_are_bound_to_their_new_name() {
    for bench in all() {
        let bytes = pattern(200_000, 9);
        let tag = bench.put("from", &bytes).await.tag;
        let parts = bench.upload("parts", &[(1, 70_000), (2, 80_000)]).await;
        for (from, bytes) in [("from", &bytes), ("parts", &parts)] {
            bench.sealed.copy(&name(from), &name("to/one"), None, &anyhow()).await.unwrap();
            let info = bench.sealed.head(&name("to/one"), &anyhow()).await.unwrap();
            assert_eq!((info.size, &info.attributes), (bytes.len() as u64, &some_attributes()));
            assert!(get(&bench.sealed, "to/one", None).await.unwrap() == *bytes);
        }
        let other = Attributes { content_type: Some("image/png".to_owned()), ..Attributes::default() };
        bench.sealed.copy(&name("from"), &name("from"), Some(&other), &if_match(&tag)).await.unwrap();
        let info = bench.sealed.head(&name("from"), &anyhow()).await.unwrap();
        assert_eq!(info.attributes, other);
        assert!(get(&bench.sealed, "from", None).await.unwrap() == bytes);
        let error = bench.sealed.copy(&name("from"), &name("x"), None, &if_match(&tag)).await.unwrap_err();
        assert_eq!(error.kind, SealedErrorKind::PreconditionFailed);
        let same = if_none_match(&format!("\"{}\"", info.tag));
        let error = bench.sealed.copy(&name("from"), &name("x"), None, &same).await.unwrap_err();
        assert_eq!(error.kind, SealedErrorKind::PreconditionFailed);
    }
}

#[tokio::test]
async fn large_objects_go_in_equal_parts_and_come_in_several_pieces() {
    let bench = in_memory(SealedOptions::default());
    bench.memory().state().plan = Some(Plan { part_size: 1 << 20, parallel: 4, ..Plan::default() });
    let bytes = pattern(9_000_000, 4);
    bench.put("k", &bytes).await;
    let sizes = bench.memory().state().completed.clone();
    let (last, others) = sizes.split_last().unwrap();
    assert!(others.iter().all(|size| *size == 1 << 20) && *last <= 1 << 20, "{sizes:?}");
    assert_eq!(sizes.len(), 9);
    bench.memory().state().most_under_way = 0;
    assert!(get(&bench.sealed, "k", None).await.unwrap() == bytes);
    assert!(bench.memory().state().most_under_way > 1, "one after the other");
    for range in [Range::FromTo(3, 8_500_000), Range::Last(3_000_000), Range::From(1_234_567), Range::FromTo(0, 10)] {
        let (first, end) = range.of(9_000_000).unwrap();
        let got = get(&bench.sealed, "k", Some(range)).await.unwrap();
        assert!(got == bytes[first as usize..end as usize], "{range:?}");
    }
    let parts = bench.upload("m", &[(1, 3_000_000), (2, 100), (3, 4_000_000)]).await;
    assert!(get(&bench.sealed, "m", None).await.unwrap() == parts);
    let forgetful = bench.forgetful();
    assert!(get(&forgetful, "m", Some(Range::From(2_999_999))).await.unwrap() == parts[2_999_999..]);
    assert_eq!(bench.sealed.memory().in_use(), 0);
}
