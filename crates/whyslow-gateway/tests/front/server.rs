//! A gateway on this machine, in front of a folder.

use crate::backend::Backend;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use whyslow_gateway::front::{Access, AccessKey, Drained, Front, FrontOptions, Record, Sink};
use whyslow_gateway::keys::{Epoch, Keyring};
use whyslow_gateway::pool::{Endpoint, PoolOptions, Warmth};
use whyslow_gateway::sealed::{SealedOptions, SealedStore};
use whyslow_gateway::store::{Addressing, Bodies, Credentials, FolderStore, S3Options, S3Store, Store};

pub(crate) const KEY: &str = "AKIDEXAMPLE";
pub(crate) const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/// Keeps all records.
#[derive(Default)]
pub(crate) struct Records(Mutex<Vec<Record>>);

impl Sink for Records {
    fn record(&self, record: &Record) {
        self.0.lock().unwrap().push(record.clone());
    }
}

/// An endpoint as a store: its connections are the pool's, and none is kept warm.
pub(crate) fn s3(url: &str, bodies: Option<Bodies>) -> S3Store {
    let warmth = Warmth { connections: 0, ..Warmth::default() };
    let pool = PoolOptions { warmth, ..PoolOptions::default() };
    let credentials = Some(Credentials::new(KEY, SECRET, None));
    let (endpoint, region) = (Endpoint::parse(url).unwrap(), "us-east-1".to_owned());
    S3Store::new(S3Options { endpoint, addressing: Addressing::Path, region, credentials, pool, bodies }).unwrap()
}

/// A server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) records: Arc<Records>,
    folder: TempDir,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Drained>>,
}

pub(crate) fn access() -> Access {
    Access::Keys(vec![AccessKey::new(KEY, SECRET)].into())
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with(|_| {})
    }

    /// In front of S3.
    pub(crate) fn over(backend: &Backend, change: impl FnOnce(&mut FrontOptions)) -> Self {
        let (url, bodies) = (backend.url(), backend.bodies());
        Self::of(change, move |_| Arc::new(s3(&url, bodies)), 5 << 20)
    }

    /// In front of an S3 service that others made.
    pub(crate) fn in_front_of(url: String) -> Self {
        Self::of(|_| {}, move |_| Arc::new(s3(&url, None)), 5 << 20)
    }

    pub(crate) fn with(change: impl FnOnce(&mut FrontOptions)) -> Self {
        Self::of(change, |folder| Arc::new(FolderStore::open(folder).unwrap()), 0)
    }

    fn of(
        change: impl FnOnce(&mut FrontOptions),
        open: impl FnOnce(&Path) -> Arc<dyn Store> + Send + 'static,
        least_part: u32,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bucket")).unwrap();
        let place = folder.path().to_owned();
        let records = Arc::new(Records::default());
        let mut options = FrontOptions::new(access());
        options.sink = Arc::clone(&records) as Arc<dyn Sink>;
        change(&mut options);
        let keyring = Arc::new(Keyring::new(Epoch::generate().unwrap(), []));
        let sealed_options = SealedOptions { least_part, ..SealedOptions::default() };
        let (stop, stopped) = oneshot::channel();
        let (tell, printed) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let sealed = SealedStore::new(open(&place), keyring, sealed_options);
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                let stopped = async { drop(stopped.await) };
                Front::new(sealed, options).serve(listener, stopped).await
            })
        });
        Self { address: printed.recv().unwrap(), records, folder, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The file of an object.
    pub(crate) fn stored(&self, key: &str) -> PathBuf {
        self.folder.path().join("bucket").join(key)
    }

    /// The last record for which this holds; it may take a moment to come.
    pub(crate) fn record(&self, holds: impl Fn(&Record) -> bool) -> Record {
        let find = || self.records.0.lock().unwrap().iter().rev().find(|record| holds(record)).cloned();
        crate::until("a record", || find().is_some());
        find().unwrap()
    }

    pub(crate) fn count(&self, holds: impl Fn(&Record) -> bool) -> usize {
        self.records.0.lock().unwrap().iter().filter(|record| holds(record)).count()
    }

    /// Stops it; [`Self::end`] waits for that.
    pub(crate) fn stop(&mut self) {
        self.stop.take();
    }

    pub(crate) fn end(mut self) -> Drained {
        self.stop();
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
