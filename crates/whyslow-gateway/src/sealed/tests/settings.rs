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

/// Of a version that kept no settings.
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
