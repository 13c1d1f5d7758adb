//! Bodies that end early, for each way of sending one, in front of stores that others made. The
//! object that was there must stay. `cargo test -p whyslow-gateway --test back -- kill --nocapture`
//! prints the table of docs/gateway/operations.md.

use crate::real::{name, read, spawned};
use crate::{options, pattern, s3};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use whyslow_gateway::pool::{Body, BodyError, PoolOptions, Timeouts};
use whyslow_gateway::store::{Bodies, Conditions, ErrorKind, FolderStore, PutOptions, Store, StoreError};
use whyslow_testing::{Lack, rare_tools, skip};

const OLD: &[u8] = b"the object that was there";
/// Announced, and sent before the end.
const SIZE: usize = 500_000;
const SENT: usize = 200_000;
/// Until the bytes have arrived, and until the store has noticed the end.
const ARRIVES: Duration = Duration::from_millis(200);
const NOTICES: Duration = Duration::from_millis(500);

/// The event that ends a body early.
#[derive(Clone, Copy, Debug)]
enum End {
    /// Its source fails: a client left, or a checksum is wrong.
    Failure,
    /// The process is gone in mid body, and with it its connections.
    Kill,
}

/// The content of a store afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Old,
    /// Something else.
    Torn,
    /// Whole bodies are not taken in this way.
    Refused,
}

/// Makes the same store once more, with connections of its own. `None`: it tries the service out.
type Open = Arc<dyn Fn(Option<Bodies>) -> Arc<dyn Store> + Send + Sync>;

fn forced() -> [(&'static str, Bodies); 3] {
    let no_chunks = || "a test".to_owned();
    [
        ("chunks", Bodies::Chunked),
        ("plain", Bodies::Plain { no_chunks: no_chunks() }),
        ("upload of one part", Bodies::Uploads { no_chunks: no_chunks() }),
    ]
}

/// A body that ends early, and what happens when its last byte was taken.
fn cut(end: End, taken: tokio::sync::oneshot::Sender<()>) -> Body {
    let first = stream::iter([Ok(pattern(SENT))]);
    let rest = stream::once(async move {
        tokio::time::sleep(ARRIVES).await;
        drop(taken);
        match end {
            End::Failure => Err(BodyError::Source("a client left".to_owned())),
            End::Kill => std::future::pending().await,
        }
    });
    Body::stream(SIZE as u64, 0, first.chain(rest).boxed())
}

/// Runs a write until its body ends, or until its process would be gone.
async fn broken<F>(end: End, write: impl FnOnce(Body) -> F + Send + 'static)
where
    F: Future<Output = Result<(), StoreError>> + Send,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (taken, was_taken) = tokio::sync::oneshot::channel();
    let body = cut(end, taken);
    let work = runtime.spawn(async move { write(body).await });
    match end {
        End::Failure => {
            let error = work.await.unwrap().unwrap_err();
            assert!(matches!(error.kind, ErrorKind::Body(_)), "{error}");
        }
        End::Kill => assert!(was_taken.await.is_err()),
    }
    runtime.shutdown_background();
    tokio::time::sleep(NOTICES).await;
}

/// An object is replaced by one whose body ends early.
async fn object(open: &Open, bodies: Option<Bodies>, end: End) -> Left {
    let (store, place, none) = (open(bodies.clone()), name("o"), PutOptions::default());
    // The store decides here, so that only the body is cut below.
    if store.put(&place, Body::from(Bytes::from_static(OLD)), &none).await.is_err()
        || read(&store, "o", None).await != OLD
    {
        return Left::Refused;
    }
    let open = Arc::clone(open);
    broken(end, move |body| async move { open(bodies).put(&name("o"), body, &PutOptions::default()).await.map(drop) })
        .await;
    let is_old = read(&store, "o", None).await == OLD;
    if is_old { Left::Old } else { Left::Torn }
}

/// A part is sent again and ends early. The upload is completed with the first one, or not at all.
async fn part(open: &Open, end: End) -> Left {
    let (store, place) = (open(None), name("o"));
    store.put(&place, Body::from(Bytes::from_static(OLD)), &PutOptions::default()).await.unwrap();
    let upload = store.create_upload(&place, &PutOptions::default()).await.unwrap();
    let first = store.put_part(&upload, 1, Body::from(Bytes::from_static(b"whole"))).await.unwrap();
    let (open, same) = (Arc::clone(open), upload.clone());
    broken(end, move |body| async move { open(None).put_part(&same, 1, body).await.map(drop) }).await;
    let expected = if store.complete_upload(&upload, &[first], &Conditions::default()).await.is_ok() {
        b"whole"
    } else {
        store.abort_upload(&upload).await.unwrap();
        OLD
    };
    let is_whole = read(&store, "o", None).await == expected;
    if is_whole { Left::Old } else { Left::Torn }
}

/// The rows of a store. As the store chooses, every object stays.
#[allow(clippy::print_stdout)]
async fn rows(store: &str, open: Open, ways: &[(&str, Bodies)]) {
    open(None).create_bucket("suite").await.unwrap();
    for end in [End::Failure, End::Kill] {
        let mut cells = Vec::new();
        let chosen = object(&open, None, end).await;
        cells.push(format!("as chosen {chosen:?}"));
        for (way, bodies) in ways {
            cells.push(format!("{way} {:?}", object(&open, Some(bodies.clone()), end).await));
        }
        let of_part = part(&open, end).await;
        cells.push(format!("part {of_part:?}"));
        println!("{store}, {end:?}: {}", cells.join(", "));
        assert_eq!((chosen, of_part), (Left::Old, Left::Old), "{store}, {end:?}");
    }
}

async fn service(store: &'static str, start: impl Fn(u16) -> Command) {
    let (_running, endpoint) = spawned(start).await;
    let pool = || PoolOptions { timeouts: Timeouts::default(), ..options() };
    let open: Open = Arc::new(move |bodies| Arc::new(s3(endpoint.clone(), pool(), bodies)) as Arc<dyn Store>);
    rows(store, open, &forced()).await;
}

fn in_folder(program: &str, arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).arg(folder);
    command
}

#[tokio::test]
async fn kill_in_front_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    if let Err(error) = FolderStore::open(folder.path()) {
        return skip(Lack::Machine, error);
    }
    let place = folder.path().to_owned();
    // Opened once: a second opening removes the first one's drafts, as a start after a kill does.
    let store: Arc<dyn Store> = Arc::new(FolderStore::open(place).unwrap());
    rows("folder", Arc::new(move |_| Arc::clone(&store)), &[]).await;
}

#[tokio::test]
async fn kill_in_front_of_moto() {
    if rare_tools(&["moto_server"]) {
        service("moto", |port| {
            let mut command = Command::new("moto_server");
            command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
            command
        })
        .await;
    }
}

#[tokio::test]
async fn kill_in_front_of_versitygw() {
    if rare_tools(&["versitygw"]) {
        let folder = tempfile::tempdir().unwrap();
        service("versitygw", |port| {
            let address = format!("127.0.0.1:{port}");
            let arguments = ["--port", &address, "--access", "test", "--secret", "hush", "posix"];
            in_folder("versitygw", &arguments, folder.path())
        })
        .await;
    }
}

#[tokio::test]
async fn kill_in_front_of_s3s_fs() {
    if rare_tools(&["s3s-fs"]) {
        let folder = tempfile::tempdir().unwrap();
        service("s3s-fs", |port| {
            let port = port.to_string();
            let arguments = ["--host", "127.0.0.1", "--port", &port, "--access-key", "test", "--secret-key", "hush"];
            in_folder("s3s-fs", &arguments, folder.path())
        })
        .await;
    }
}

#[tokio::test]
async fn kill_in_front_of_rclone() {
    if !rare_tools(&["rclone"]) {
        return;
    }
    // `rclone v1.65.0` and later serve S3.
    let version = Command::new("rclone").arg("version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let minor = version.strip_prefix("rclone v1.").and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
    if minor.is_none_or(|minor| minor < 65) {
        return skip(Lack::Program, "this rclone has no `serve s3`");
    }
    let folder = tempfile::tempdir().unwrap();
    service("rclone serve s3", |port| {
        let address = format!("127.0.0.1:{port}");
        let arguments = ["serve", "s3", "--addr", &address, "--auth-key", "test,hush", "--vfs-cache-mode", "off"];
        in_folder("rclone", &arguments, folder.path())
    })
    .await;
}
