//! Uploads in parts.

use super::*;
use crate::format::plain_size;
use crate::format::{Algorithm, Checksums};

#[tokio::test]
async fn parts_come_in_any_order_and_again() {
    for bench in all() {
        let key = name("folder/m");
        let id = bench.sealed.create_upload(&key, &some_attributes()).await.unwrap();
        let mut list = Vec::new();
        for (number, seed, length) in [(7, 1, 10), (2, 2, 90_000), (2, 3, 80_000), (1, 4, 70_000)] {
            let receipt = bench.sealed.put_part(&key, &id, number, content(&pattern(length, seed))).await.unwrap();
            assert!(receipt.tag.starts_with("w2p-"));
            list.retain(|(one, _)| *one != number);
            list.push((number, receipt.tag));
        }
        list.sort();
        let (parts, more) = bench.sealed.list_parts(&key, &id, 1).await.unwrap();
        assert!(!more);
        assert_eq!(parts.iter().map(|part| (part.number, part.size)).collect::<Vec<_>>(), [(2, 80_000), (7, 10)]);
        assert_eq!(
            parts.iter().map(|part| part.tag.clone()).collect::<Vec<_>>(),
            [list[1].1.clone(), list[2].1.clone()]
        );
        let (uploads, _) = bench.sealed.list_uploads("bucket", "folder/", None).await.unwrap();
        assert_eq!((uploads[0].key.as_str(), &uploads[0].upload_id, uploads.len()), ("folder/m", &id, 1));
        // Another gateway with the same keys goes on.
        let other = bench.forgetful();
        let receipt = other.complete_upload(&key, &id, &list, &anyhow()).await.unwrap();
        let expected = [pattern(70_000, 4), pattern(80_000, 3), pattern(10, 1)].concat();
        for sealed in [&bench.sealed, &other] {
            assert!(get(sealed, "folder/m", None).await.unwrap() == expected);
            let info = sealed.head(&key, &anyhow()).await.unwrap();
            assert_eq!((info.size, info.parts, &info.tag), (150_010, Some(3), &receipt.tag));
            assert_eq!(info.attributes, some_attributes());
        }
        let (uploads, _) = other.list_uploads("bucket", "", None).await.unwrap();
        assert_eq!(uploads, []);
        assert_eq!(bench.sealed.memory().in_use() + other.memory().in_use(), 0);
    }
}

#[tokio::test]
async fn stored_parts_have_the_least_size_and_the_object_looks_like_no_single_one() {
    let bench = in_memory(SealedOptions { least_part: 100_000, ..SealedOptions::default() });
    for last in [0, 1, 20_000, 65_536, 99_000, 150_000, 500_000] {
        bench.upload("m", &[(1, 100_000), (3, last)]).await;
        let sizes = bench.memory().state().completed.clone();
        assert!(sizes.len() == 3 && sizes[..2].iter().all(|size| *size >= 100_000), "{sizes:?}");
        let stored = bench.memory().state().objects[&name("m")].bytes.len();
        assert_eq!(plain_size(stored as u64), None);
    }
}

#[tokio::test]
async fn what_does_not_belong_to_an_upload_is_refused() {
    let bench = in_memory(SealedOptions { least_part: 0, ..SealedOptions::default() });
    let sealed = &bench.sealed;
    let [one, two] = [name("one"), name("two")];
    let first = sealed.create_upload(&one, &Attributes::default()).await.unwrap();
    let second = sealed.create_upload(&one, &Attributes::default()).await.unwrap();
    let tag = async |id: &str, number, seed| {
        let receipt = sealed.put_part(&one, id, number, content(&pattern(100, seed))).await.unwrap();
        (number, receipt.tag)
    };
    let (a, b, of_second) = (tag(&first, 1, 1).await, tag(&first, 2, 2).await, tag(&second, 1, 3).await);
    let complete = async |parts: &[(u32, String)]| {
        sealed.complete_upload(&one, &first, parts, &anyhow()).await.map_err(|error| error.kind).unwrap_err()
    };
    assert_eq!(complete(&[b.clone(), a.clone()]).await, SealedErrorKind::InvalidPartOrder);
    assert_eq!(complete(&[a.clone(), a.clone()]).await, SealedErrorKind::InvalidPartOrder);
    assert_eq!(complete(&[of_second]).await, SealedErrorKind::InvalidPart);
    assert_eq!(complete(&[(2, a.1.clone())]).await, SealedErrorKind::InvalidPart);
    assert_eq!(complete(&[(1, "no tag".to_owned())]).await, SealedErrorKind::InvalidPart);
    assert_eq!(complete(&[]).await, SealedErrorKind::InvalidPart);
    let again = tag(&first, 1, 9).await;
    assert_eq!(complete(&[a.clone(), b.clone()]).await, SealedErrorKind::InvalidPart, "an older version");
    for (name, id) in [(&two, first.as_str()), (&one, "w1u-x"), (&one, "")] {
        let error = sealed.put_part(name, id, 1, content(b"x")).await.unwrap_err();
        assert_eq!(error.kind, SealedErrorKind::NoSuchUpload);
    }
    for number in [0, 10_000] {
        let error = sealed.put_part(&one, &first, number, content(b"x")).await.unwrap_err();
        assert_eq!(error.kind, SealedErrorKind::InvalidRequest);
    }
    sealed.complete_upload(&one, &first, &[again, b], &anyhow()).await.unwrap();
    sealed.abort_upload(&one, &second).await.unwrap();
    let error = sealed.put_part(&one, &second, 1, content(b"x")).await.unwrap_err();
    assert_eq!(error.kind, SealedErrorKind::NoSuchUpload);
}

#[tokio::test]
async fn a_part_is_copied_from_an_object() {
    for bench in all() {
        let bytes = pattern(400_000, 5);
        bench.put("from", &bytes).await;
        let to = name("to");
        let id = bench.sealed.create_upload(&to, &Attributes::default()).await.unwrap();
        let range = Some(Range::FromTo(100_000, 299_999));
        let copied = bench.sealed.copy_part(&to, &id, 1, (&name("from"), range, &anyhow())).await.unwrap();
        let all = bench.sealed.copy_part(&to, &id, 2, (&name("from"), None, &anyhow())).await.unwrap();
        let parts = [(1, copied.tag), (2, all.tag)];
        bench.sealed.complete_upload(&to, &id, &parts, &anyhow()).await.unwrap();
        let expected = [&bytes[100_000..300_000], &bytes].concat();
        assert!(get(&bench.sealed, "to", None).await.unwrap() == expected);
        let id = bench.sealed.create_upload(&to, &Attributes::default()).await.unwrap();
        let other = if_match("w1-other");
        let error = bench.sealed.copy_part(&to, &id, 1, (&name("from"), None, &other)).await.unwrap_err();
        assert_eq!(error.kind, SealedErrorKind::PreconditionFailed);
    }
}

#[tokio::test]
async fn uploads_are_listed_page_by_page() {
    let bench = in_memory(SealedOptions::default());
    for key in ["a", "b", "b", "c", "d"] {
        bench.sealed.create_upload(&name(key), &Attributes::default()).await.unwrap();
    }
    let mut keys = Vec::new();
    let mut after: Option<(String, String)> = None;
    loop {
        let mark = after.as_ref().map(|(key, id)| (key.as_str(), id.as_str()));
        let (page, more) = bench.sealed.list_uploads("bucket", "", mark).await.unwrap();
        keys.extend(page.iter().map(|info| info.key.clone()));
        after = page.last().map(|info| (info.key.clone(), info.upload_id.clone()));
        if !more {
            break;
        }
    }
    assert_eq!(keys, ["a", "b", "b", "c", "d"]);
}

/// A client that completes by such a list would lose what another gateway took.
#[tokio::test]
async fn lists_that_another_gateway_would_have_to_complete_are_refused() {
    for bench in all() {
        let (key, other) = (name("m"), bench.forgetful());
        let id = bench.sealed.create_upload(&key, &Attributes::default()).await.unwrap();
        bench.sealed.put_part(&key, &id, 1, content(&pattern(100, 1))).await.unwrap();
        other.put_part(&key, &id, 2, content(&pattern(100, 2))).await.unwrap();
        for (sealed, unknown) in [(&bench.sealed, 2), (&other, 1)] {
            let error = sealed.list_parts(&key, &id, 0).await.unwrap_err();
            assert_eq!(error.kind, SealedErrorKind::NotKnown);
            assert!(error.message.contains(&format!("part {unknown} ")), "{error}");
        }
        assert_eq!(bench.sealed.list_uploads("bucket", "", None).await.unwrap().0.len(), 1);
        let error = other.list_uploads("bucket", "", None).await.unwrap_err();
        assert!(error.kind == SealedErrorKind::NotKnown && error.message.contains("clean"), "{error}");
        bench.sealed.abort_upload(&key, &id).await.unwrap();
        assert_eq!(other.list_uploads("bucket", "", None).await.unwrap(), (Vec::new(), false));
    }
}

#[tokio::test]
async fn whole_object_is_compared_with_what_the_client_states() {
    let bench = in_memory(SealedOptions { least_part: 0, ..SealedOptions::default() });
    let (key, other) = (name("m"), bench.forgetful());
    let id = bench.sealed.create_upload(&key, &Attributes::default()).await.unwrap();
    let (one, two) = (pattern(70_000, 1), pattern(3, 2));
    let mut list = Vec::new();
    for (number, bytes) in [(1, &one), (5, &two)] {
        list.push((number, bench.sealed.put_part(&key, &id, number, content(bytes)).await.unwrap().tag));
    }
    let mut summer = crate::format::Summer::default();
    summer.update(&[one, two].concat());
    let sums = summer.finish();
    let right = Whole {
        size: Some(70_003),
        crc32: Some(sums.crc32),
        crc32c: Some(sums.crc32c),
        crc64nvme: Some(sums.crc64nvme),
    };
    for (wrong, kind) in [
        (Whole { crc32: Some(1), ..right }, SealedErrorKind::BadDigest),
        (Whole { crc32c: Some(1), ..right }, SealedErrorKind::BadDigest),
        (Whole { crc64nvme: Some(1), ..right }, SealedErrorKind::BadDigest),
        (Whole { size: Some(70_002), ..right }, SealedErrorKind::InvalidRequest),
    ] {
        let error = other.complete_whole(&key, &id, &list, (&wrong, &anyhow())).await.unwrap_err();
        assert_eq!(error.kind, kind);
    }
    // It is as it was, and another gateway completes it.
    let receipt = other.complete_whole(&key, &id, &list, (&right, &anyhow())).await.unwrap();
    let mut stated = Checksums::default();
    stated.add(Algorithm::Crc32, &sums.crc32.to_be_bytes());
    stated.add(Algorithm::Crc32c, &sums.crc32c.to_be_bytes());
    stated.add(Algorithm::Crc64Nvme, &sums.crc64nvme.to_be_bytes());
    assert_eq!(receipt.checksums, stated);
    // They are stored, and a gateway that remembers nothing reads them.
    for sealed in [&bench.sealed, &other, &bench.forgetful()] {
        let info = sealed.head_with_checksums(&key, &anyhow()).await.unwrap();
        assert_eq!((info.size, info.attributes.checksums), (70_003, stated.clone()));
        let opened = sealed.get(&key, None, &anyhow()).await.unwrap();
        assert_eq!(opened.info.attributes.checksums, stated);
    }
}

#[tokio::test]
async fn checksums_stay_with_an_object_that_is_copied() {
    for bench in all() {
        let mut checksums = Checksums::default();
        checksums.add(Algorithm::Sha1, &[7; 20]);
        let attributes = Attributes { checksums: checksums.clone(), ..some_attributes() };
        bench.sealed.put(&name("one"), content(b"x"), &attributes, &anyhow()).await.unwrap();
        bench.upload("many", &[(1, 100_000), (2, 5)]).await;
        for from in ["one", "many"] {
            let before = bench.sealed.head_with_checksums(&name(from), &anyhow()).await.unwrap();
            assert!(!before.attributes.checksums.is_empty());
            assert_eq!(before.attributes.headers, some_attributes().headers);
            let (to, other) = (name("copy"), Attributes::default());
            bench.sealed.copy(&name(from), &to, Some(&other), &anyhow()).await.unwrap();
            let after = bench.forgetful().head_with_checksums(&to, &anyhow()).await.unwrap();
            assert_eq!(after.attributes.checksums, before.attributes.checksums);
        }
        assert_eq!(bench.sealed.head(&name("one"), &anyhow()).await.unwrap().attributes.checksums, checksums);
    }
}

/// The storage sees neither the checksums nor that two objects have the same ones.
#[tokio::test]
async fn checksums_are_stored_encrypted() {
    let bench = in_memory(SealedOptions::default());
    let mut checksums = Checksums::default();
    checksums.add(Algorithm::Sha1, &[7; 20]);
    let attributes = Attributes { checksums, ..Attributes::default() };
    for key in ["a", "b"] {
        bench.sealed.put(&name(key), content(b"x"), &attributes, &anyhow()).await.unwrap();
    }
    let texts: Vec<_> = {
        let state = bench.memory().state();
        let text = |key| state.objects[&name(key)].options.metadata["whyslow-checksums"].clone();
        ["a", "b"].map(text).to_vec()
    };
    assert_ne!(texts[0], texts[1]);
    // Checksums of another object are a fault.
    bench
        .memory()
        .state()
        .objects
        .get_mut(&name("a"))
        .unwrap()
        .options
        .metadata
        .insert("whyslow-checksums".into(), texts[1].clone());
    assert!(matches!(get(&bench.sealed, "a", None).await.unwrap_err().kind, SealedErrorKind::Metadata(_)));
}
