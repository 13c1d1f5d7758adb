//! Lists: the plaintext's names and sizes, in the plaintext's order.

use super::*;
use crate::format::MetadataFault;
use crate::pool::Body;
use crate::store::{ListQuery, PutOptions};

fn keys(listing: &Listing) -> Vec<&str> {
    listing.objects.iter().map(|info| info.key.as_str()).collect()
}

/// All pages.
async fn pages(sealed: &SealedStore, query: ListQuery) -> (Vec<Info>, Vec<String>) {
    let (mut objects, mut prefixes, mut query) = (Vec::new(), Vec::new(), query);
    loop {
        let page = sealed.list("bucket", &query).await.unwrap();
        assert!(query.max == 0 || page.objects.len() + page.prefixes.len() <= query.max as usize);
        objects.extend(page.objects);
        prefixes.extend(page.prefixes);
        let Some(next) = page.next else { return (objects, prefixes) };
        query.continuation = Some(next);
    }
}

#[tokio::test]
async fn lists_have_plain_sizes_and_the_tags_of_every_other_answer() {
    for bench in all() {
        let mut sizes = Vec::new();
        for (key, length) in [("a", 0), ("b/one", 70_000), ("b/two", 5), ("c", 131_072)] {
            bench.put(key, &pattern(length, 0)).await;
            sizes.push((key, length as u64));
        }
        let parts = bench.upload("d", &[(1, 80_000), (4, 100)]).await;
        sizes.push(("d", parts.len() as u64));
        for sealed in [&bench.sealed, &bench.forgetful()] {
            let (objects, _) = pages(sealed, ListQuery::default()).await;
            let listed: Vec<_> = objects.iter().map(|info| (info.key.as_str(), info.size)).collect();
            assert_eq!(listed, sizes);
            for info in objects {
                let head = sealed.head(&name(&info.key), &anyhow()).await.unwrap();
                assert_eq!((head.tag, head.size), (info.tag, info.size));
            }
        }
    }
}

#[tokio::test]
async fn an_unknown_multipart_object_is_read_once() {
    let bench = in_memory(SealedOptions { least_part: 0, ..SealedOptions::default() });
    for n in 0..5 {
        bench.put(&format!("single{n}"), &pattern(100 * n, 0)).await;
        bench.upload(&format!("multi{n}"), &[(1, 100), (2, n)]).await;
    }
    let forgetful = bench.forgetful();
    let asked = || bench.memory().state().gets.len();
    let query = || ListQuery { max: 1000, ..ListQuery::default() };
    let before = asked();
    forgetful.list("bucket", &query()).await.unwrap();
    assert_eq!(asked() - before, 5);
    forgetful.list("bucket", &query()).await.unwrap();
    assert_eq!(asked() - before, 5);
    bench.upload("multi3", &[(1, 1), (2, 2)]).await;
    let listing = forgetful.list("bucket", &query()).await.unwrap();
    assert_eq!(asked() - before, 6, "another version is another object");
    let size = |key: &str| listing.objects.iter().find(|info| info.key == key).unwrap().size;
    assert_eq!((size("multi3"), size("multi4")), (3, 104));
}

#[tokio::test]
async fn foreign_object_is_not_read_and_fails_the_list() {
    let bench = in_memory(SealedOptions::default());
    for (key, length) in [("empty", 0), ("foreign", 200), ("larger", 276 + 65_552 + 9)] {
        let body = Body::from(Bytes::from(vec![7; length]));
        bench.store.put(&name(key), body, &PutOptions::default()).await.unwrap();
        for range in [None, Some(Range::FromTo(0, 3)), Some(Range::Last(3))] {
            let error = get(&bench.sealed, key, range).await.unwrap_err();
            assert_eq!(error.kind, SealedErrorKind::NotSealed, "{key}: {error}");
        }
        let error = bench.sealed.head(&name(key), &anyhow()).await.unwrap_err();
        assert_eq!(error.kind, SealedErrorKind::NotSealed);
    }
    let query = ListQuery { prefix: "empty".to_owned(), ..ListQuery::default() };
    let error = bench.sealed.list("bucket", &query).await.unwrap_err();
    assert_eq!(error.kind, SealedErrorKind::NotSealed);
    assert!(error.message.starts_with("`empty`: "), "{error}");
    // It can be deleted by its key.
    bench.sealed.delete(&name("empty")).await.unwrap();
    assert_eq!(bench.sealed.list("bucket", &query).await.unwrap(), Listing::default());
}

/// A name that was changed in the storage, or that another tool stored, is not left out.
#[tokio::test]
async fn name_that_cannot_be_decrypted_fails_the_list() {
    let bench = in_memory(SealedOptions { encrypt_names: true, ..SealedOptions::default() });
    bench.put("k", b"x").await;
    bench.store.put(&name("foreign"), Body::from(Bytes::new()), &PutOptions::default()).await.unwrap();
    let error = bench.sealed.list("bucket", &ListQuery::default()).await.unwrap_err();
    assert_eq!(error.kind, SealedErrorKind::NotSealed);
    assert!(error.message.starts_with("`foreign`: "), "{error}");
}

/// The end of a multipart object is read for its size: without its epoch it cannot be listed.
#[tokio::test]
async fn object_of_an_epoch_that_is_not_loaded_fails_the_list() {
    let bench = in_memory(SealedOptions { least_part: 0, ..SealedOptions::default() });
    bench.upload("several", &[(1, 100), (2, 7)]).await;
    let (newer, newest) = (epoch(), epoch());
    let both = Keyring::new(newer.clone(), [bench.epoch.clone()]);
    let next = SealedStore::new(Arc::clone(&bench.store), Arc::new(both), bench.options.clone());
    next.put(&name("single"), content(b"x"), &Attributes::default(), &anyhow()).await.unwrap();
    let alone = Arc::new(Keyring::new(newest, [newer]));
    let without = SealedStore::new(Arc::clone(&bench.store), alone, bench.options.clone());
    let listed = without.list("bucket", &ListQuery::default()).await.unwrap_err();
    let read = without.get(&name("several"), None, &anyhow()).await.unwrap_err();
    for error in [&listed, &read] {
        assert!(matches!(error.kind, SealedErrorKind::Metadata(MetadataFault::UnknownEpoch(_))), "{error}");
        let expected = format!("sealed to epoch 1 of this bucket ({}), which is not loaded", bench.epoch.id());
        assert!(error.message.contains(&expected), "{error}");
    }
    assert!(listed.message.starts_with("`several`: "), "{listed}");
    assert_eq!(get(&without, "single", None).await.unwrap(), b"x");
}

#[tokio::test]
async fn encrypted_names_are_listed_in_the_order_of_the_plain_ones() {
    let mut names: Vec<String> = (0..40).map(|n| format!("f{}/x{:02}", n % 3, n * 7 % 40)).collect();
    names.extend(["a", "zz", "f1", "f1-", "g/h/i", "g/h/j"].map(str::to_owned));
    names.sort();
    let plain = in_memory(SealedOptions::default());
    let encrypted = in_memory(SealedOptions { encrypt_names: true, ..SealedOptions::default() });
    for key in &names {
        plain.put(key, b"x").await;
        encrypted.put(key, b"x").await;
    }
    let stored: Vec<_> = encrypted.memory().state().objects.keys().map(|object| object.key.clone()).collect();
    assert!(stored.iter().all(|key| !names.contains(key)));
    let (objects, _) = pages(&encrypted.sealed, ListQuery::default()).await;
    assert_eq!(objects.iter().map(|info| info.key.clone()).collect::<Vec<_>>(), names);
    let text = |text: &str| Some(text.to_owned());
    for (prefix, delimiter, start_after) in [
        ("", text("/"), None),
        ("f", text("/"), None),
        ("f1", None, None),
        ("f1/x1", None, text("f1/x10")),
        ("f1/", text("/"), text("f1/x20")),
        ("", text("/"), text("f1/")),
        ("", text("x"), None),
        ("g/", text("/"), None),
        ("nothing/", text("/"), None),
    ] {
        for max in [0, 1, 3] {
            let prefix = prefix.to_owned();
            let query = ListQuery {
                prefix,
                delimiter: delimiter.clone(),
                start_after: start_after.clone(),
                max,
                ..ListQuery::default()
            };
            let (ours, our_prefixes) = pages(&encrypted.sealed, query.clone()).await;
            let (theirs, their_prefixes) = pages(&plain.sealed, query.clone()).await;
            let keys = |infos: &[Info]| infos.iter().map(|info| info.key.clone()).collect::<Vec<_>>();
            assert_eq!((keys(&ours), our_prefixes), (keys(&theirs), their_prefixes), "{query:?}");
        }
    }
    let listing = encrypted.sealed.list("bucket", &ListQuery { max: 2, ..ListQuery::default() }).await.unwrap();
    assert_eq!(keys(&listing), &names[..2]);
}

#[tokio::test]
async fn names_stay_when_the_epoch_changes() {
    let bench = in_memory(SealedOptions { encrypt_names: true, ..SealedOptions::default() });
    bench.put("folder/old", b"old").await;
    let ring = Arc::new(Keyring::new(epoch(), [bench.epoch.clone()]));
    let next = SealedStore::new(Arc::clone(&bench.store), ring, bench.options.clone());
    next.put(&name("folder/new"), content(b"new"), &Attributes::default(), &anyhow()).await.unwrap();
    let listing = next.list("bucket", &ListQuery::default()).await.unwrap();
    assert_eq!(keys(&listing), ["folder/new", "folder/old"]);
    assert_eq!(get(&next, "folder/old", None).await.unwrap(), b"old");
    assert_eq!(get(&next, "folder/new", None).await.unwrap(), b"new");
    // A gateway without the new epoch sees that it is there, and cannot read it.
    let error = get(&bench.sealed, "folder/new", None).await.unwrap_err();
    assert!(matches!(error.kind, SealedErrorKind::Metadata(_)), "{error}");
}

#[tokio::test]
async fn many_are_deleted_by_their_plain_names() {
    for bench in all() {
        for key in ["a", "b", "c/d"] {
            bench.put(key, b"x").await;
        }
        let gone = ["a".to_owned(), "c/d".to_owned(), "never".to_owned(), String::new()];
        let failures = bench.sealed.delete_many("bucket", &gone).await.unwrap();
        assert_eq!(
            failures.iter().map(|(key, error)| (key.as_str(), &error.kind)).collect::<Vec<_>>(),
            [("", &SealedErrorKind::InvalidName)]
        );
        let listing = bench.sealed.list("bucket", &ListQuery::default()).await.unwrap();
        assert_eq!(keys(&listing), ["b"]);
    }
}
