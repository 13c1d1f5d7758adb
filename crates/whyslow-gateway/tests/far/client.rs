//! The near end: uploads, cold, warm, and after idle time; sealed and plain; large ones both ways.

use bytes::Bytes;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use whyslow_gateway::keys::{Epoch, Keyring};
use whyslow_gateway::memory::Memory;
use whyslow_gateway::pool::{Body, BodyError, Endpoint, Pool, PoolOptions, Safety, Warmth, WindowKeeping};
use whyslow_gateway::sealed::{Attributes, Content, SealedOptions, SealedStore};
use whyslow_gateway::store::{
    Addressing, Bodies, Bulk, Conditions, ObjectName, Plan, PutOptions, S3Options, S3Store, Store, Stored,
    get_in_parts, put_in_parts,
};

const RTT: Duration = Duration::from_millis(200);
const SMALL: [usize; 3] = [1_000, 100_000, 1_000_000];
const LARGE: [u64; 2] = [100_000_000, 1_000_000_000];
/// Connections for large objects, besides some that wait for answers.
const CONNECTIONS: usize = 14;
/// Uploads of 1 MB of each kind, of which the median counts.
const PAIRS: usize = 15;

/// An upload.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    /// `cold`, `warm`, `idle`: after idle time; `announced`: after idle time, expected 2 s before.
    pub state: String,
    pub bytes: u64,
    /// From the call to its return.
    pub seconds: f64,
    /// Bytes that the connection could send at once.
    pub window: Option<u64>,
    pub is_reused: bool,
    pub limited_by: Option<String>,
    /// Bits a second while bytes came in at the far end.
    pub data_rate: Option<f64>,
    /// Segments.
    pub retransmitted: u64,
    /// Costs of the pool so far.
    pub cost: String,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, seconds) = (self.bytes, self.seconds);
        let trips = seconds / RTT.as_secs_f64();
        write!(f, "  {:<9} {bytes:>9} B {seconds:>6.3} s = {trips:>5.2} RTT", self.state)?;
        write!(f, "  window {:>9} B", self.window.unwrap_or(0))?;
        write!(f, "  {:<6}", if self.is_reused { "reused" } else { "new" })?;
        write!(f, "  {:<20}", self.limited_by.as_deref().unwrap_or("-"))?;
        if let Some(rate) = self.data_rate {
            write!(f, "  data phase {:.0} Mbit/s", rate / 1e6)?;
        }
        write!(f, "  retransmitted {}  {}", self.retransmitted, self.cost)
    }
}

pub fn run(way: &str, address: &str, idle: Duration, file: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut out = std::fs::File::create(file).unwrap();
    let rows = runtime.block_on(async {
        let lab = Lab { way, endpoint: Endpoint::parse(&format!("http://{address}")).unwrap(), idle };
        lab.wait_for_backend().await;
        let only = std::env::var("FAR_ONLY").unwrap_or_default();
        let mut rows = Vec::new();
        if only.is_empty() {
            rows.extend(lab.cold().await);
            rows.extend(lab.small().await);
        }
        if only == "sealed" || only.is_empty() && idle >= Duration::from_secs(30) {
            rows.extend(lab.sealed().await);
        }
        if only == "large" || only.is_empty() && idle >= Duration::from_secs(30) {
            rows.extend(lab.large().await);
        }
        if only == "downloads" {
            rows.extend(lab.downloads().await);
        }
        rows
    });
    for row in rows {
        writeln!(out, "{}", serde_json::to_string(&row).unwrap()).unwrap();
    }
}

struct Lab<'a> {
    way: &'a str,
    endpoint: Endpoint,
    idle: Duration,
}

impl Lab<'_> {
    fn store(&self, connections: usize, window: u64) -> Arc<S3Store> {
        let warmth = Warmth {
            connections,
            window,
            may_set_sysctl: self.way == "sysctl",
            may_use_bbr: self.way == "bbr",
            ..Warmth::default()
        };
        let pool = PoolOptions { max_connections: 32, warmth, ..PoolOptions::default() };
        let (endpoint, region) = (self.endpoint.clone(), "us-east-1".to_owned());
        let bodies = Some(Bodies::Plain { no_chunks: "the backend decodes none".to_owned() });
        let options = S3Options { endpoint, addressing: Addressing::Path, region, credentials: None, pool, bodies };
        Arc::new(S3Store::new(options).unwrap())
    }

    async fn wait_for_backend(&self) {
        let store = self.store(0, 0);
        for _ in 0..50 {
            if store.head_bucket("bucket").await.is_ok() {
                return;
            }
        }
        panic!("the backend does not listen");
    }

    async fn cold(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for bytes in SMALL {
            rows.push(self.put("cold", &self.store(0, 0), bytes).await);
        }
        rows
    }

    async fn put(&self, state: &str, store: &Arc<S3Store>, bytes: usize) -> Row {
        let body = Body::from(Bytes::from(vec![7; bytes]));
        let began = Instant::now();
        let stored = store.put(&ObjectName::new("bucket", "key"), body, &PutOptions::default()).await.unwrap();
        self.row(state, store, bytes as u64, (began.elapsed(), stored))
    }

    fn row(&self, state: &str, store: &S3Store, bytes: u64, (took, stored): (Duration, Stored)) -> Row {
        let transfer = stored.transfer.unwrap();
        let counts = store.pool("bucket").unwrap().counts();
        Row {
            state: state.to_owned(),
            bytes,
            seconds: took.as_secs_f64(),
            window: transfer.window_at_start,
            is_reused: transfer.is_reused,
            limited_by: transfer.limited_by().map(|limit| limit.slug().to_owned()),
            data_rate: None,
            retransmitted: transfer.retransmitted,
            cost: format!(
                "opened {}, heartbeats {}, bursts {} of {} B",
                counts.opened, counts.heartbeats, counts.bursts, counts.burst_bytes
            ),
        }
    }

    /// As many connections as a default pool keeps, and their effect on small uploads.
    async fn small(&self) -> Vec<Row> {
        let store = self.store(4, 1 << 20);
        let pool = self.warmed(&store, 4, 1 << 20).await;
        let mut rows = Vec::new();
        for bytes in SMALL {
            rows.push(self.put("warm", &store, bytes).await);
            tokio::time::sleep(RTT * 2).await;
        }
        tokio::time::sleep(self.idle).await;
        // At once, so that each finds a connection that was idle for as long.
        rows.extend(futures_util::future::join_all(SMALL.map(|bytes| self.put("idle", &store, bytes))).await);
        if pool.keeping() == WindowKeeping::OnDemand {
            tokio::time::sleep(self.idle).await;
            pool.expect_upload(1_000_000);
            tokio::time::sleep(Duration::from_secs(2)).await;
            rows.push(self.put("announced", &store, 1_000_000).await);
        }
        rows
    }

    /// Waits until windows are as wide as they get.
    async fn warmed(&self, store: &Arc<S3Store>, connections: usize, window: u64) -> Pool {
        store.keep_warm("bucket").unwrap();
        let pool = store.pool("bucket").unwrap();
        let patience = Instant::now() + Duration::from_secs(20);
        let is_ready = || {
            let windows = pool.windows();
            windows.len() >= connections && windows[..connections].iter().all(|&one| one >= window)
        };
        while Instant::now() < patience && !is_ready() {
            tokio::time::sleep(RTT).await;
        }
        tokio::time::sleep(RTT * 5).await;
        pool
    }

    /// The same upload plain and sealed, in turns on the same connections.
    async fn sealed(&self) -> Vec<Row> {
        let store = self.store(2, 1 << 20);
        self.warmed(&store, 2, 1 << 20).await;
        let keyring = Arc::new(Keyring::new(Epoch::generate().unwrap(), []));
        let sealed = SealedStore::new(Arc::clone(&store) as _, keyring, SealedOptions::default());
        let (mut plain, mut sealed_rows) = (Vec::new(), Vec::new());
        let chunk = Bytes::from(vec![7; 50_000]);
        for _ in 0..PAIRS {
            plain.push(self.put("plain", &store, 1_000_000).await);
            tokio::time::sleep(RTT).await;
            let pieces = vec![Ok::<_, BodyError>(chunk.clone()); 20];
            let content = Content { length: 1_000_000, bytes: futures_util::stream::iter(pieces).boxed() };
            let (name, attributes) = (ObjectName::new("bucket", "key"), Attributes::default());
            let began = Instant::now();
            let receipt = sealed.put(&name, content, &attributes, &Conditions::default()).await.unwrap();
            let took = began.elapsed();
            let stored = Stored { transfer: receipt.transfer, ..Stored::default() };
            let mut row = self.row("sealed", &store, 1_000_000, (took, stored));
            row.cost = format!("sealing took {:.2} ms", receipt.sealing.as_secs_f64() * 1e3);
            sealed_rows.push(row);
            tokio::time::sleep(RTT).await;
        }
        vec![median(plain), median(sealed_rows)]
    }

    async fn large(&self) -> Vec<Row> {
        let mut rows = vec![self.put_large("cold", &self.store(0, 0), LARGE[0]).await];
        let store = self.store(CONNECTIONS, 4 << 20);
        self.warmed(&store, CONNECTIONS, 3 << 20).await;
        for bytes in LARGE {
            rows.push(self.put_large("warm", &store, bytes).await);
            tokio::time::sleep(self.idle).await;
            rows.push(self.put_large("idle", &store, bytes).await);
            tokio::time::sleep(RTT * 5).await;
        }
        rows.extend(self.get_all(&store).await);
        rows
    }

    async fn downloads(&self) -> Vec<Row> {
        let store = self.store(CONNECTIONS, 4 << 20);
        self.warmed(&store, CONNECTIONS, 3 << 20).await;
        self.get_all(&store).await
    }

    async fn get_all(&self, store: &Arc<S3Store>) -> Vec<Row> {
        let mut rows = Vec::new();
        for bytes in LARGE {
            rows.push(self.get_large(store, bytes).await);
        }
        rows
    }

    fn bulk(&self, pool: &Pool, bytes: u64) -> Bulk {
        let plan = Plan::of(bytes, RTT, pool.rights().max_send_buffer, 32).unwrap();
        Bulk { plan, memory: Memory::new(256 << 20) }
    }

    async fn put_large(&self, state: &str, store: &Arc<S3Store>, size: u64) -> Row {
        let pool = store.pool("bucket").unwrap();
        let bulk = self.bulk(&pool, size);
        let chunk = Bytes::from(vec![7; 50_000]);
        let chunks = futures_util::stream::iter((0..size / 50_000).map(move |_| Ok::<_, BodyError>(chunk.clone())));
        let began = Instant::now();
        let dynamic: Arc<dyn Store> = store.clone();
        let object = ObjectName::new("bucket", "large");
        let stored = put_in_parts(&dynamic, &object, (size, chunks.boxed()), &bulk, &PutOptions::default()).await;
        let took = began.elapsed();
        let (_, mut parts) = stored.unwrap();
        let retransmitted = parts.iter().filter_map(|part| part.transfer.as_ref()).map(|one| one.retransmitted).sum();
        if std::env::var_os("FAR_PARTS").is_some() {
            for part in &parts {
                eprintln!("{:?}", part.transfer);
            }
        }
        let stored = Stored { transfer: parts.swap_remove(0).transfer, ..Stored::default() };
        let mut row = self.row(state, store, size, (took, stored));
        let request = http::Request::get("/arrivals").header("host", "far").body(()).unwrap();
        let mut answer = pool.send(request, &Body::empty(), Safety::Once).await.unwrap();
        let text = String::from_utf8(answer.read(1000).await.unwrap().to_vec()).unwrap();
        let (micros, bytes) = text.split_once(' ').unwrap();
        let (micros, bytes): (f64, f64) = (micros.parse().unwrap(), bytes.parse().unwrap());
        assert_eq!(bytes as u64, size);
        row.retransmitted = retransmitted;
        row.data_rate = Some(bytes * 8e6 / micros);
        row
    }

    /// Its data phase is from the first byte to the last one here.
    async fn get_large(&self, store: &Arc<S3Store>, size: u64) -> Row {
        let bulk = self.bulk(&store.pool("bucket").unwrap(), size);
        let dynamic: Arc<dyn Store> = store.clone();
        let object = ObjectName::new("bucket", format!("zeros-{size}"));
        let began = Instant::now();
        let download = get_in_parts(&dynamic, &object, None, &bulk, &Conditions::default()).await.unwrap();
        let (mut body, mut first, mut came) = (download.body, None, 0);
        while let Some(chunk) = body.next().await {
            first.get_or_insert_with(Instant::now);
            came += chunk.unwrap().len() as u64;
        }
        assert_eq!(came, size);
        let stored = Stored { transfer: Some(whyslow_gateway::pool::Transfer::default()), ..Stored::default() };
        let mut row = self.row("download", store, size, (began.elapsed(), stored));
        row.data_rate = Some(size as f64 * 8.0 / first.unwrap().elapsed().as_secs_f64());
        row
    }
}

fn median(mut rows: Vec<Row>) -> Row {
    rows.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    rows.swap_remove(rows.len() / 2)
}
