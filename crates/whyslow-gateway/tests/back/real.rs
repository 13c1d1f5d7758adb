//! One suite for all stores: the folder, and S3 services that others made.

use crate::{options, pattern, s3};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use whyslow_gateway::memory::Memory;
use whyslow_gateway::pool::{Body, BodyError, Endpoint, PoolOptions, Timeouts};
use whyslow_gateway::store::{
    Bodies, Bulk, Conditions, ErrorKind, FolderStore, ListQuery, Listing, ObjectName, Plan, PutOptions, Range, S3Store,
    Store, get_in_parts, put_in_parts,
};

pub(crate) const MIB: usize = 1 << 20;

pub(crate) fn name(key: &str) -> ObjectName {
    ObjectName::new("suite", key)
}

pub(crate) async fn read(store: &Arc<dyn Store>, key: &str, range: Option<Range>) -> Vec<u8> {
    let mut download = store.get(&name(key), range, &Conditions::default()).await.unwrap();
    let mut all = Vec::new();
    while let Some(chunk) = download.body.next().await {
        all.extend_from_slice(&chunk.unwrap());
    }
    let (first, end) = download.range;
    assert_eq!(end - first, all.len() as u64);
    all
}

async fn put(store: &Arc<dyn Store>, key: &str, text: &str) -> String {
    let body = Body::from(Bytes::copy_from_slice(text.as_bytes()));
    store.put(&name(key), body, &PutOptions::default()).await.unwrap().tag
}

fn if_match(tag: &str) -> Conditions {
    Conditions { if_match: Some(tag.to_owned()), ..Conditions::default() }
}

pub(crate) fn if_none_match(tag: &str) -> Conditions {
    Conditions { if_none_match: Some(tag.to_owned()), ..Conditions::default() }
}

async fn suite(store: Arc<dyn Store>) {
    buckets(&store).await;
    objects(&store).await;
    deletions(&store).await;
    lists(&store).await;
    uploads(&store).await;
    large(&store).await;
    let left = all_keys(&store, &ListQuery::default()).await;
    assert!(store.delete_many("suite", &left).await.unwrap().is_empty());
    store.delete_bucket("suite").await.unwrap();
    assert!(store.head_bucket("suite").await.is_err());
}

async fn buckets(store: &Arc<dyn Store>) {
    assert_eq!(store.head_bucket("suite").await.unwrap_err().kind, ErrorKind::NoSuchBucket);
    store.create_bucket("suite").await.unwrap();
    store.head_bucket("suite").await.unwrap();
    assert!(store.list_buckets().await.unwrap().contains(&"suite".to_owned()));
    put(store, "k", "v").await;
    assert_eq!(store.delete_bucket("suite").await.unwrap_err().kind, ErrorKind::BucketNotEmpty);
    let listed = store.list("no-such-bucket", &ListQuery::default()).await;
    assert_eq!(listed.unwrap_err().kind, ErrorKind::NoSuchBucket);
}

/// An object goes only where it is the one that is meant.
async fn deletions(store: &Arc<dyn Store>) {
    put(store, "one", "1").await;
    let deletes = async |tags: &str| store.delete_if(&name("one"), tags).await.map_err(|error| error.kind);
    let tag = store.head(&name("one"), &Conditions::default()).await.unwrap().tag;
    assert_eq!(deletes("\"other\"").await, Err(ErrorKind::Precondition));
    assert_eq!(deletes(&tag).await, Ok(()));
    assert_eq!(deletes("*").await, Err(ErrorKind::NoSuchKey));
}

pub(crate) async fn objects(store: &Arc<dyn Store>) {
    let metadata = BTreeMap::from([("object-id".to_owned(), "7f/=+".to_owned())]);
    let content_type = Some("text/x-test".to_owned());
    let options =
        PutOptions { content_type: content_type.clone(), metadata: metadata.clone(), ..PutOptions::default() };
    let stored = store.put(&name("a/b c+ü%.txt"), Body::from(pattern(100_000)), &options).await.unwrap();
    let info = store.head(&name("a/b c+ü%.txt"), &Conditions::default()).await.unwrap();
    assert_eq!(
        (info.size, &info.tag, &info.content_type, &info.metadata),
        (100_000, &stored.tag, &content_type, &metadata)
    );
    assert_eq!(read(store, "a/b c+ü%.txt", None).await, pattern(100_000));
    for (range, first, end) in
        [(Range::FromTo(5, 9), 5, 10), (Range::From(99_990), 99_990, 100_000), (Range::Last(3), 99_997, 100_000)]
    {
        assert_eq!(read(store, "a/b c+ü%.txt", Some(range)).await, pattern(100_000)[first..end]);
    }
    let fails = async |key: &str, range, conditions: &Conditions| {
        store.get(&name(key), range, conditions).await.unwrap_err().kind
    };
    let always = Conditions::default();
    assert_eq!(fails("nothing", None, &always).await, ErrorKind::NoSuchKey);
    assert_eq!(fails("a/b c+ü%.txt", Some(Range::From(100_000)), &always).await, ErrorKind::Range);
    assert_eq!(fails("a/b c+ü%.txt", None, &if_match("\"other\"")).await, ErrorKind::Precondition);
    assert_eq!(fails("a/b c+ü%.txt", None, &if_none_match(&stored.tag)).await, ErrorKind::NotModified);
    assert_eq!(store.head(&name("nothing"), &always).await.unwrap_err().kind, ErrorKind::NoSuchKey);

    let absent = PutOptions { conditions: if_none_match("*"), ..PutOptions::default() };
    store.put(&name("once"), Body::from(pattern(3)), &absent).await.unwrap();
    let again = store.put(&name("once"), Body::from(pattern(4)), &absent).await.unwrap_err();
    assert_eq!(again.kind, ErrorKind::Precondition);
    assert_eq!(read(store, "once", None).await, pattern(3));

    let copied = store.copy(&name("a/b c+ü%.txt"), &name("copy"), None, &if_match(&stored.tag)).await.unwrap();
    let info = store.head(&name("copy"), &always).await.unwrap();
    assert_eq!((info.size, &info.tag, &info.metadata), (100_000, &copied.tag, &metadata));
    store.copy(&name("copy"), &name("copy2"), Some(&PutOptions::default()), &always).await.unwrap();
    assert!(store.head(&name("copy2"), &always).await.unwrap().metadata.is_empty());

    put(store, "empty", "").await;
    assert!(read(store, "empty", None).await.is_empty());
    store.delete(&name("empty")).await.unwrap();
    store.delete(&name("empty")).await.unwrap();
    let short = Body::stream(10, 0, stream::iter([Ok(Bytes::from_static(b"abc"))]).boxed());
    let error = store.put(&name("torn"), short, &PutOptions::default()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Body(BodyError::Length { announced: 10, got: 3 }));
    assert_eq!(store.head(&name("torn"), &always).await.unwrap_err().kind, ErrorKind::NoSuchKey);
    let mut all = all_keys(store, &ListQuery::default()).await;
    all.push("nothing".to_owned());
    assert!(store.delete_many("suite", &all).await.unwrap().is_empty());
    assert_eq!(store.list("suite", &ListQuery::default()).await.unwrap(), Listing::default());
}

async fn all_pages(store: &Arc<dyn Store>, query: &ListQuery) -> Vec<Listing> {
    let mut pages = Vec::new();
    let mut query = query.clone();
    loop {
        let page = store.list("suite", &query).await.unwrap();
        query.continuation.clone_from(&page.next);
        pages.push(page);
        if query.continuation.is_none() {
            return pages;
        }
    }
}

async fn all_keys(store: &Arc<dyn Store>, query: &ListQuery) -> Vec<String> {
    let pages = all_pages(store, query).await;
    pages.into_iter().flat_map(|page| page.objects).map(|object| object.key).collect()
}

pub(crate) async fn lists(store: &Arc<dyn Store>) {
    let keys = ["a-b", "a/1", "a/2/x", "a/2/y", "a0", "b + ü", "c/d"];
    for key in keys {
        put(store, key, key).await;
    }
    let query = |prefix: &str, delimiter: Option<&str>, max| ListQuery {
        prefix: prefix.to_owned(),
        delimiter: delimiter.map(str::to_owned),
        max,
        ..ListQuery::default()
    };
    assert_eq!(all_keys(store, &query("", None, 0)).await, keys);
    assert_eq!(all_keys(store, &query("", None, 2)).await, keys, "the same in pages of two");
    assert_eq!(all_keys(store, &query("a/", None, 0)).await, ["a/1", "a/2/x", "a/2/y"]);
    assert!(all_keys(store, &query("x", None, 0)).await.is_empty());
    let after = ListQuery { start_after: Some("a/2/x".to_owned()), ..query("", None, 0) };
    assert_eq!(all_keys(store, &after).await, keys[3..]);
    for max in [0, 1, 2] {
        let pages = all_pages(store, &query("", Some("/"), max)).await;
        let objects: Vec<_> = pages.iter().flat_map(|page| &page.objects).map(|object| object.key.as_str()).collect();
        let prefixes: Vec<_> = pages.iter().flat_map(|page| &page.prefixes).map(String::as_str).collect();
        assert_eq!((objects, prefixes), (vec!["a-b", "a0", "b + ü"], vec!["a/", "c/"]), "pages of {max}");
    }
    let page = store.list("suite", &query("a/", Some("/"), 0)).await.unwrap();
    assert_eq!((page.objects[0].key.as_str(), page.prefixes), ("a/1", vec!["a/2/".to_owned()]));
    assert_eq!((page.objects[0].size, page.objects.len()), (3, 1));
    let keys: Vec<_> = keys.map(str::to_owned).to_vec();
    assert!(store.delete_many("suite", &keys).await.unwrap().is_empty());
}

async fn uploads(store: &Arc<dyn Store>) {
    let metadata = BTreeMap::from([("id".to_owned(), "9".to_owned())]);
    let options = PutOptions { metadata: metadata.clone(), ..PutOptions::default() };
    let upload = store.create_upload(&name("up/load"), &options).await.unwrap();
    let (first, second) = (pattern(5 * MIB), pattern(1000));
    // In any order, and one of them twice.
    let two = store.put_part(&upload, 2, Body::from(second.clone())).await.unwrap();
    store.put_part(&upload, 1, Body::from(pattern(10))).await.unwrap();
    let one = store.put_part(&upload, 1, Body::from(first.clone())).await.unwrap();
    let (parts, has_more) = store.list_parts(&upload, 0).await.unwrap();
    let printed: Vec<_> = parts.iter().map(|part| (part.number, part.size, part.tag.as_str())).collect();
    assert_eq!((printed, has_more), (vec![(1, 5 * MIB as u64, one.tag.as_str()), (2, 1000, two.tag.as_str())], false));
    assert_eq!(store.list_parts(&upload, 1).await.unwrap().0.len(), 1);
    let listed = store.list_uploads("suite", "up/", None).await.unwrap();
    assert_eq!((listed.uploads.len(), listed.has_more), (1, false));
    assert_eq!(listed.uploads[0].upload, upload);
    assert_eq!(store.head(&name("up/load"), &Conditions::default()).await.unwrap_err().kind, ErrorKind::NoSuchKey);
    let mut wrong = one.clone();
    wrong.tag = "\"0123456789abcdef0123456789abcdef\"".to_owned();
    let error = store.complete_upload(&upload, &[wrong, two.clone()], &Conditions::default()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidPart);
    let stored = store.complete_upload(&upload, &[one, two], &Conditions::default()).await.unwrap();
    let info = store.head(&name("up/load"), &Conditions::default()).await.unwrap();
    assert_eq!((info.tag, info.size, info.metadata), (stored.tag, 5 * MIB as u64 + 1000, metadata));
    assert_eq!(read(store, "up/load", None).await, [first, second].concat());
    assert!(store.list_uploads("suite", "", None).await.unwrap().uploads.is_empty());

    let upload = store.create_upload(&name("aborted"), &PutOptions::default()).await.unwrap();
    store.put_part(&upload, 1, Body::from(pattern(10))).await.unwrap();
    store.abort_upload(&upload).await.unwrap();
    store.abort_upload(&upload).await.unwrap();
    let error = store.put_part(&upload, 1, Body::from(pattern(10))).await.unwrap_err();
    // moto answers 500.
    assert!(matches!(error.kind, ErrorKind::NoSuchUpload | ErrorKind::Server), "{error}");
}

/// 16 MiB and some in parts, from chunks that do not fit them, and back by ranges.
async fn large(store: &Arc<dyn Store>) {
    let bytes = pattern(16 * MIB + 12_345);
    let plan = Plan { part_size: 5 * MIB as u64, parallel: 3, ..Plan::default() };
    let bulk = &Bulk { plan, memory: Memory::new(64 * MIB as u64) };
    let chunks = |bytes: &Bytes| {
        let chunks: Vec<_> =
            bytes.chunks(70_001).map(|chunk| Ok::<_, BodyError>(Bytes::copy_from_slice(chunk))).collect();
        stream::iter(chunks).boxed()
    };
    let size = bytes.len() as u64;
    let options = PutOptions::default();
    let (_, parts) = put_in_parts(store, &name("large"), (size, chunks(&bytes)), bulk, &options).await.unwrap();
    assert_eq!(parts.iter().map(|part| part.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(parts[..3].iter().all(|part| part.size == 5 * MIB as u64));
    let range = Some(Range::FromTo(3, 12_000_000));
    let download = get_in_parts(store, &name("large"), range, bulk, &Conditions::default()).await.unwrap();
    let read: Vec<_> = download.body.map(|chunk| chunk.unwrap()).collect().await;
    assert!(read.concat() == bytes[3..=12_000_000]);
    // A stream that is too short, or too long, leaves neither an object nor an upload.
    for wrong in [size + 1, size - 1] {
        let error = put_in_parts(store, &name("torn"), (wrong, chunks(&bytes)), bulk, &options).await.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Body(_)), "{error}");
    }
    assert_eq!(store.head(&name("torn"), &Conditions::default()).await.unwrap_err().kind, ErrorKind::NoSuchKey);
    // A service may be about to notice that a part is not coming.
    for _ in 0..100 {
        if store.list_uploads("suite", "", None).await.unwrap().uploads.is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("an upload is left over: {:?}", store.list_uploads("suite", "", None).await);
}

#[tokio::test]
async fn a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = match FolderStore::open(folder.path()) {
        Ok(store) => store,
        Err(error) => return whyslow_testing::skip(whyslow_testing::Lack::Machine, error),
    };
    let store: Arc<dyn Store> = Arc::new(store);
    suite(Arc::clone(&store)).await;
    store.create_bucket("suite").await.unwrap();
    put(&store, "a", "x").await;
    let inside = store.put(&name("a/b"), Body::empty(), &PutOptions::default()).await.unwrap_err();
    assert!(inside.kind == ErrorKind::Invalid && inside.to_string().contains("folder"), "{inside}");
    put(&store, "../../escape", "x").await;
    assert!(!folder.path().parent().unwrap().join("escape").exists());
    std::fs::write(folder.path().join("suite/foreign"), "x").unwrap();
    let foreign = store.head(&name("foreign"), &Conditions::default()).await.unwrap_err();
    assert!(foreign.to_string().contains("not stored by the gateway"), "{foreign}");
    let listed = store.list("suite", &ListQuery::default()).await.unwrap_err();
    assert!(listed.kind == ErrorKind::Foreign && listed.to_string().contains("`foreign`"), "{listed}");
    std::fs::remove_file(folder.path().join("suite/foreign")).unwrap();
    assert_eq!(all_keys(&store, &ListQuery::default()).await, ["../../escape", "a"]);
    // An object that cannot be opened is still listed.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("loop", folder.path().join("suite/loop")).unwrap();
        assert_eq!(store.list("suite", &ListQuery::default()).await.unwrap_err().kind, ErrorKind::Server);
    }
    let below = FolderStore::open(folder.path().join("no/where")).unwrap_err();
    assert!(below.to_string().contains("the folder above it is not there"), "{below}");
    assert!(!folder.path().join("no").exists());
    let drafts = folder.path().join(".whyslow-gateway/drafts");
    assert_eq!(std::fs::read_dir(drafts).unwrap().count(), 0, "nothing is left over");
}

/// A program that ends with the test.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a service on a free port, and returns when it listens.
pub(crate) async fn spawned(start: impl Fn(u16) -> Command) -> (Running, Endpoint) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = start(port).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let running = Running(child);
    for _ in 0..600 {
        if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    (running, Endpoint::parse(&format!("http://127.0.0.1:{port}")).unwrap())
}

/// A store in such a service.
async fn service(start: impl Fn(u16) -> Command) -> (Running, Arc<S3Store>) {
    let (running, endpoint) = spawned(start).await;
    // They have as long as they need on a busy machine.
    let pool = PoolOptions { timeouts: Timeouts::default(), ..options() };
    (running, Arc::new(s3(endpoint, pool, None)))
}

#[tokio::test]
async fn moto() {
    if !whyslow_testing::rare_tools(&["moto_server"]) {
        return;
    }
    let (_running, store) = service(|port| {
        let mut command = Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        command
    })
    .await;
    bodies_go(&store, &Bodies::Chunked).await;
    suite(store).await;
}

#[tokio::test]
async fn versitygw() {
    if !whyslow_testing::rare_tools(&["versitygw"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (_running, store) = service(|port| {
        let mut command = Command::new("versitygw");
        command.args(["--port", &format!("127.0.0.1:{port}"), "--access", "test", "--secret", "hush", "posix"]);
        command.arg(folder.path());
        command
    })
    .await;
    bodies_go(&store, &Bodies::Chunked).await;
    suite(store).await;
}

/// How the store sends bodies to the service; the trial leaves nothing behind.
async fn bodies_go(store: &Arc<S3Store>, expected: &Bodies) {
    store.create_bucket("suite").await.unwrap();
    assert_eq!(store.bodies("suite").await.unwrap(), expected);
    assert!(store.list_uploads("suite", "", None).await.unwrap().uploads.is_empty());
    store.delete_bucket("suite").await.unwrap();
}

#[tokio::test]
async fn a_wrong_secret_is_denied() {
    if !whyslow_testing::rare_tools(&["versitygw"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (_running, store) = service(|port| {
        let mut command = Command::new("versitygw");
        command.args(["--port", &format!("127.0.0.1:{port}"), "--access", "test", "--secret", "other", "posix"]);
        command.arg(folder.path());
        command
    })
    .await;
    let error = store.create_bucket("suite").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied, "{error}");
    assert!(!format!("{error:?}").contains("hush"));
}
