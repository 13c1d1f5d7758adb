//! A bucket remembers how its objects are stored.

use super::*;

fn with(bench: &Bench, encrypt_names: bool) -> SealedStore {
    let options = SealedOptions { encrypt_names, ..bench.options.clone() };
    SealedStore::new(Arc::clone(&bench.store), ring(&bench.epoch), options)
}

fn encrypts(bench: &Bench) -> bool {
    bench.options.encrypt_names
}

#[tokio::test]
async fn gateway_with_other_settings_refuses() {
    for bench in all() {
        bench.put("k", b"secret").await;
        let other = with(&bench, !encrypts(&bench));
        let expected =
            if encrypts(&bench) { "start the gateway with --encrypt-names" } else { "without --encrypt-names" };
        let errors = [
            other.adopt("bucket").await.unwrap_err(),
            other.put(&name("new"), content(b"x"), &Attributes::default(), &anyhow()).await.unwrap_err(),
            other.list("bucket", &Default::default()).await.unwrap_err(),
            other.get(&name("k"), None, &anyhow()).await.unwrap_err(),
            other.create_upload(&name("k"), &Attributes::default()).await.unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind, SealedErrorKind::OtherSettings);
            assert!(error.message.contains(expected), "{error}");
        }
        with(&bench, encrypts(&bench)).adopt("bucket").await.unwrap();
        assert_eq!(get(&bench.sealed, "k", None).await.unwrap(), b"secret");
    }
}

/// A marker of a version that kept no settings.
#[tokio::test]
async fn names_show_the_settings_of_a_bucket_without_a_marker() {
    for bench in all() {
        bench.put("folder/k", b"x").await;
        bench.store.delete(&name(".whyslow-gateway/settings")).await.unwrap();
        let other = with(&bench, !encrypts(&bench));
        assert_eq!(other.adopt("bucket").await.unwrap_err().kind, SealedErrorKind::OtherSettings);
        let same = with(&bench, encrypts(&bench));
        assert_eq!(get(&same, "folder/k", None).await.unwrap(), b"x");
        same.adopt("bucket").await.unwrap();
        bench.store.head(&name(".whyslow-gateway/settings"), &anyhow()).await.unwrap();
    }
}

#[tokio::test]
async fn clients_neither_see_nor_use_the_marker() {
    for bench in all() {
        let sealed = &bench.sealed;
        sealed.adopt("bucket").await.unwrap();
        for delimiter in [None, Some("/".to_owned())] {
            for max in [0, 1] {
                let query = crate::store::ListQuery { delimiter: delimiter.clone(), max, ..Default::default() };
                assert_eq!(sealed.list("bucket", &query).await.unwrap(), Listing::default());
            }
        }
        bench.put("k", b"x").await;
        let query = crate::store::ListQuery { max: 1, ..Default::default() };
        let page = sealed.list("bucket", &query).await.unwrap();
        assert_eq!(page.objects.iter().map(|info| info.key.as_str()).collect::<Vec<_>>(), ["k"]);
        let marker = name(".whyslow-gateway/settings");
        for result in [
            sealed.get(&marker, None, &anyhow()).await.map(drop),
            sealed.delete(&marker).await,
            sealed.put(&marker, content(b"x"), &Attributes::default(), &anyhow()).await.map(drop),
        ] {
            assert_eq!(result.unwrap_err().kind, SealedErrorKind::InvalidRequest);
        }
    }
}

#[tokio::test]
async fn bucket_with_nothing_but_its_marker_is_empty() {
    let bench = in_folder(SealedOptions::default());
    let sealed = &bench.sealed;
    bench.put("k", b"x").await;
    assert_eq!(sealed.delete_bucket("bucket").await.unwrap_err().kind, SealedErrorKind::BucketNotEmpty);
    sealed.delete(&name("k")).await.unwrap();
    sealed.delete_bucket("bucket").await.unwrap();
    assert_eq!(sealed.head_bucket("bucket").await.unwrap_err().kind, SealedErrorKind::NoSuchBucket);
    // A bucket of the same name may have other settings.
    with(&bench, true).create_bucket("bucket").await.unwrap();
    assert_eq!(with(&bench, false).adopt("bucket").await.unwrap_err().kind, SealedErrorKind::OtherSettings);
}

#[tokio::test]
async fn names_stay_under_their_epoch() {
    let bench = in_memory(SealedOptions { encrypt_names: true, ..SealedOptions::default() });
    bench.put("k", b"x").await;
    let newer = epoch();
    let sealed =
        |keyring: Keyring| SealedStore::new(Arc::clone(&bench.store), Arc::new(keyring), bench.options.clone());
    // The new epoch is for new objects, and names stay under the old one.
    sealed(Keyring::new(newer.clone(), [bench.epoch.clone()])).adopt("bucket").await.unwrap();
    let error = sealed(Keyring::new(bench.epoch.clone(), [newer])).adopt("bucket").await.unwrap_err();
    assert!(error.message.contains(&format!("under epoch {}", bench.epoch.id())), "{error}");
}

/// The marker as it is stored.
async fn marker(bench: &Bench) -> serde_json::Value {
    let mut download = bench.store.get(&name(".whyslow-gateway/settings"), None, &anyhow()).await.unwrap();
    let mut text = Vec::new();
    while let Some(bytes) = download.body.next().await {
        text.extend_from_slice(&bytes.unwrap());
    }
    serde_json::from_slice(&text).unwrap()
}

#[tokio::test]
async fn marker_lists_the_epochs_of_the_bucket() {
    for bench in all() {
        bench.put("k", b"x").await;
        let (first, newer) = (bench.epoch.clone(), epoch());
        assert_eq!(marker(&bench).await["epochs"], serde_json::json!([first.id().to_string()]));
        let both = Arc::new(Keyring::new(newer.clone(), [first.clone()]));
        let next = SealedStore::new(Arc::clone(&bench.store), both, bench.options.clone());
        // Reading notes nothing.
        assert_eq!(get(&next, "k", None).await.unwrap(), b"x");
        assert_eq!(marker(&bench).await["epochs"], serde_json::json!([first.id().to_string()]));
        next.put(&name("k2"), content(b"y"), &Attributes::default(), &anyhow()).await.unwrap();
        let expected = serde_json::json!([first.id().to_string(), newer.id().to_string()]);
        assert_eq!(marker(&bench).await["epochs"], expected);
        assert!(next.missing_epochs("bucket").is_empty());
    }
}

#[tokio::test]
async fn bucket_of_epochs_that_are_not_loaded_is_refused() {
    for bench in all() {
        bench.put("k", b"x").await;
        let options = SealedOptions { names_epoch: None, ..bench.options.clone() };
        let other = SealedStore::new(Arc::clone(&bench.store), ring(&epoch()), options);
        let error = other.adopt("bucket").await.unwrap_err();
        assert_eq!(error.kind, SealedErrorKind::OtherSettings);
        assert!(error.message.contains(&bench.epoch.id().to_string()), "{error}");
        let put = other.put(&name("k"), content(b"y"), &Attributes::default(), &anyhow()).await.unwrap_err();
        assert_eq!(put.kind, SealedErrorKind::OtherSettings);
    }
}

#[tokio::test]
async fn epoch_that_is_not_loaded_is_missing() {
    let bench = in_memory(SealedOptions::default());
    bench.put("k", b"x").await;
    let newer = epoch();
    let both = Arc::new(Keyring::new(newer.clone(), [bench.epoch.clone()]));
    SealedStore::new(Arc::clone(&bench.store), both, bench.options.clone()).adopt("bucket").await.unwrap();
    let without = SealedStore::new(Arc::clone(&bench.store), ring(&newer), bench.options.clone());
    without.adopt("bucket").await.unwrap();
    assert_eq!(without.missing_epochs("bucket"), [(1, bench.epoch.id().to_string())]);
}

#[tokio::test]
async fn bucket_of_other_gateways_is_refused() {
    for bench in all() {
        let of = |id: Option<&str>| {
            let options = SealedOptions { gateway: id.map(str::to_owned), ..bench.options.clone() };
            SealedStore::new(Arc::clone(&bench.store), ring(&bench.epoch), options)
        };
        of(Some("production")).adopt("bucket").await.unwrap();
        assert_eq!(marker(&bench).await["gateway"], "production");
        let error = of(Some("staging")).adopt("bucket").await.unwrap_err();
        assert_eq!(error.kind, SealedErrorKind::OtherSettings);
        // One without an id leaves the bucket's.
        of(None).adopt("bucket").await.unwrap();
        assert_eq!(marker(&bench).await["gateway"], "production");
    }
}

#[tokio::test]
async fn setting_in_the_bucket_is_sealed_to_its_bucket_and_key() {
    for bench in all() {
        let sealed = &bench.sealed;
        assert_eq!(sealed.setting("bucket", Setting::Cors).await.unwrap(), None);
        sealed.set("bucket", Setting::Cors, b"rules").await.unwrap();
        assert_eq!(bench.forgetful().setting("bucket", Setting::Cors).await.unwrap().unwrap(), b"rules");
        assert_eq!(sealed.list("bucket", &Default::default()).await.unwrap(), Listing::default());
        // An object of a client's in its place.
        bench.put("k", b"other rules").await;
        let query = crate::store::ListQuery::default();
        let stored = bench.store.list("bucket", &query).await.unwrap().objects;
        let client = stored.iter().find(|info| !info.key.starts_with(".whyslow-gateway/")).unwrap();
        let (from, own) = (name(&client.key), name(&Setting::Cors.key()));
        bench.store.copy(&from, &own, None, &anyhow()).await.unwrap();
        let error = bench.forgetful().setting("bucket", Setting::Cors).await.unwrap_err();
        assert!(matches!(error.kind, SealedErrorKind::Metadata(_)), "{error}");
        sealed.unset("bucket", Setting::Cors).await.unwrap();
        assert_eq!(sealed.setting("bucket", Setting::Cors).await.unwrap(), None);
    }
}

#[tokio::test]
async fn bucket_with_nothing_but_settings_is_deleted() {
    let bench = in_folder(SealedOptions::default());
    bench.sealed.set("bucket", Setting::Cors, b"rules").await.unwrap();
    bench.sealed.delete_bucket("bucket").await.unwrap();
    assert_eq!(bench.sealed.head_bucket("bucket").await.unwrap_err().kind, SealedErrorKind::NoSuchBucket);
}
