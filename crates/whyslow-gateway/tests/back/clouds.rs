//! The store of other clouds, in front of `object_store`'s memory.

use crate::pattern;
use crate::real::{MIB, if_none_match, lists, name, objects, read};
use async_trait::async_trait;
use futures_util::TryStreamExt;
use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ListResult, ObjectStore};
use std::collections::BTreeMap;
use std::sync::Arc;
use whyslow_gateway::pool::{Body, BodyError};
use whyslow_gateway::store::{CloudStore, Conditions, ErrorKind, ListQuery, ObjectName, PutOptions, Store};

/// Lists in pages, as the clouds do: their pages are made of the whole list.
#[derive(Debug)]
struct Pages(Arc<InMemory>);

#[async_trait]
impl PaginatedListStore for Pages {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        options: PaginatedListOptions,
    ) -> object_store::Result<PaginatedListResult> {
        let mut all: Vec<_> = self.0.list(None).try_collect().await?;
        all.sort_by(|a, b| a.location.cmp(&b.location));
        let prefix = prefix.unwrap_or_default();
        let (mut objects, mut prefixes, mut last): (Vec<_>, Vec<Path>, _) = (Vec::new(), Vec::new(), None);
        for meta in all {
            let key = meta.location.to_string();
            let is_behind = |place: &Option<String>| place.as_ref().is_none_or(|place| key > *place);
            let Some(rest) = key.strip_prefix(prefix) else { continue };
            let common = options.delimiter.as_deref().and_then(|delimiter| rest.split_once(delimiter));
            let common = common.map(|(first, _)| format!("{prefix}{first}"));
            let place = common.as_ref().map_or(key.clone(), |common| format!("{common}/\u{10ffff}"));
            if !is_behind(&options.offset) || options.page_token.as_ref().is_some_and(|token| place <= *token) {
                continue;
            }
            if last.as_ref() == Some(&place) {
                continue;
            }
            if options.max_keys.is_some_and(|max| objects.len() + prefixes.len() == max) {
                let result = ListResult { common_prefixes: prefixes, objects, extensions: Default::default() };
                return Ok(PaginatedListResult { result, page_token: last });
            }
            match common {
                Some(common) => prefixes.push(Path::parse(common)?),
                None => objects.push(meta),
            }
            last = Some(place);
        }
        let result = ListResult { common_prefixes: prefixes, objects, extensions: Default::default() };
        Ok(PaginatedListResult { result, page_token: None })
    }
}

fn store() -> Arc<dyn Store> {
    let memory = Arc::new(InMemory::new());
    Arc::new(CloudStore::new("suite", Arc::clone(&memory), Arc::new(Pages(memory))))
}

#[tokio::test]
async fn objects_and_lists_as_everywhere() {
    let store = store();
    objects(&store).await;
    lists(&store).await;
    let error = store.delete_if(&name("copy"), "*").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
}

#[tokio::test]
async fn large_objects_go_in_pieces_and_are_whole_or_not_there() {
    let store = store();
    let bytes = pattern(20 * MIB + 5);
    let options =
        PutOptions { metadata: BTreeMap::from([("a-b_c".to_owned(), "x".to_owned())]), ..PutOptions::default() };
    let chunks = |wrong: bool| {
        let mut chunks: Vec<_> = bytes.chunks(70_001).map(|chunk| Ok(bytes.slice_ref(chunk))).collect();
        if wrong {
            let last = chunks.len() - 1;
            chunks[last] = Err(BodyError::Source("a wrong checksum".to_owned()));
        }
        Box::pin(futures_util::stream::iter(chunks))
    };
    let length = bytes.len() as u64;
    store.put(&name("large"), Body::stream(length, 0, chunks(false)), &options).await.unwrap();
    assert!(read(&store, "large", None).await == bytes);
    assert_eq!(store.head(&name("large"), &Conditions::default()).await.unwrap().metadata, options.metadata);
    let error = store.put(&name("torn"), Body::stream(length, 0, chunks(true)), &options).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Body(_)), "{error}");
    assert_eq!(store.head(&name("torn"), &Conditions::default()).await.unwrap_err().kind, ErrorKind::NoSuchKey);
}

#[tokio::test]
async fn parts_come_in_any_order_and_one_comes_twice() {
    let store = store();
    let upload = store.create_upload(&name("up/load"), &PutOptions::default()).await.unwrap();
    let (first, second) = (pattern(5 * MIB), pattern(1000));
    let two = store.put_part(&upload, 2, Body::from(second.clone())).await.unwrap();
    store.put_part(&upload, 1, Body::from(pattern(10))).await.unwrap();
    let one = store.put_part(&upload, 1, Body::from(first.clone())).await.unwrap();
    let gap = store.complete_upload(&upload, std::slice::from_ref(&two), &Conditions::default()).await.unwrap_err();
    assert_eq!(gap.kind, ErrorKind::InvalidPart, "{gap}");
    let condition = store.complete_upload(&upload, &[one.clone(), two.clone()], &if_none_match("*")).await.unwrap_err();
    assert_eq!(condition.kind, ErrorKind::Unsupported, "{condition}");
    store.complete_upload(&upload, &[one, two], &Conditions::default()).await.unwrap();
    assert_eq!(read(&store, "up/load", None).await, [first, second].concat());
    let upload = store.create_upload(&name("aborted"), &PutOptions::default()).await.unwrap();
    store.abort_upload(&upload).await.unwrap();
    assert!(store.put_part(&upload, 1, Body::from(pattern(10))).await.is_err());
}

#[tokio::test]
async fn unsupported_requests_are_refused_with_the_reason() {
    let store = store();
    let other = store.head(&ObjectName::new("other", "x"), &Conditions::default()).await.unwrap_err();
    assert_eq!(other.kind, ErrorKind::NoSuchBucket, "{other}");
    assert_eq!(store.list_buckets().await.unwrap(), ["suite"]);
    store.head_bucket("suite").await.unwrap();
    assert_eq!(store.create_bucket("suite").await.unwrap_err().kind, ErrorKind::BucketExists);
    assert_eq!(store.create_bucket("other").await.unwrap_err().kind, ErrorKind::Unsupported);
    assert_eq!(store.list_uploads("suite", "", None).await.unwrap_err().kind, ErrorKind::Unsupported);
    let key = store.put(&name("a//b"), Body::empty(), &PutOptions::default()).await.unwrap_err();
    assert!(key.kind == ErrorKind::Invalid && key.to_string().contains("no empty part"), "{key}");
    let query = ListQuery { delimiter: Some("-".to_owned()), ..ListQuery::default() };
    assert_eq!(store.list("suite", &query).await.unwrap_err().kind, ErrorKind::Unsupported);
}
