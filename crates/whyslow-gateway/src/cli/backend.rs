//! [`Backend`]: the store that was named, opened.

use super::options::{self, Storage};
use super::place::Place;
use anyhow::{Context, bail};
use std::fs::{File, TryLockError};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use whyslow_gateway::pool::{Endpoint, PoolOptions};
use whyslow_gateway::store::{Addressing, Credentials, FolderStore, S3Options, S3Store, Store};

/// S3 takes no smaller part but the last.
const LEAST_PART: u32 = 5 << 20;

/// A store, and its properties.
pub(super) struct Backend {
    pub store: Arc<dyn Store>,
    /// The same store, if it is S3.
    pub s3: Option<Arc<S3Store>>,
    /// The named bucket.
    pub bucket: Option<String>,
    /// Minimum size of all parts but the last, bytes.
    pub least_part: u32,
    /// Its name in messages.
    pub name: String,
    /// A filter in tcpdump's language for the packets of its connections; `None` for a folder.
    pub packets: Option<String>,
    /// Held while a folder is used.
    _lock: Option<File>,
}

/// Opens the store, and sends no request yet.
///
/// # Errors
/// If no store was named, there are no credentials for it, or a folder cannot be used.
pub(super) async fn open(storage: &Storage, pool: PoolOptions) -> anyhow::Result<Backend> {
    let Some(place) = &storage.store else {
        bail!("no store was named: --store file:FOLDER, s3://BUCKET, gs://BUCKET or az://CONTAINER");
    };
    if !matches!(place, Place::S3(_)) {
        let given = [("--endpoint", storage.endpoint.is_some()), ("--region", storage.region.is_some())];
        if let Some((option, _)) = given.into_iter().find(|(_, is_there)| *is_there) {
            bail!("{option} is for s3:// alone, and the store is {place}");
        }
    }
    match place {
        Place::Folder(folder) => {
            let lock = lock(folder)?;
            let store: Arc<dyn Store> = Arc::new(FolderStore::open(folder)?);
            Ok(Backend {
                store,
                s3: None,
                bucket: None,
                least_part: 0,
                name: place.to_string(),
                packets: None,
                _lock: Some(lock),
            })
        }
        Place::S3(bucket) => s3(storage, bucket.clone(), pool).await,
        Place::Google(_) | Place::Azure(_) => cloud(place),
    }
}

#[cfg(feature = "clouds")]
fn cloud(place: &Place) -> anyhow::Result<Backend> {
    use whyslow_gateway::store::CloudStore;
    let (store, bucket) = match place {
        Place::Google(bucket) => (CloudStore::google(bucket), bucket),
        Place::Azure(container) => (CloudStore::azure(container), container),
        Place::Folder(_) | Place::S3(_) => bail!("{place} is no cloud's"),
    };
    let store: Arc<dyn Store> = Arc::new(store.with_context(|| place.to_string())?);
    let (name, bucket) = (place.to_string(), Some(bucket.clone()));
    let packets = Some("tcp port 443".to_owned());
    Ok(Backend { store, s3: None, bucket, least_part: LEAST_PART, name, packets, _lock: None })
}

#[cfg(not(feature = "clouds"))]
fn cloud(place: &Place) -> anyhow::Result<Backend> {
    bail!("{place}: this build of whyslow knows s3:// and file: alone; build it with the feature `clouds`")
}

async fn s3(storage: &Storage, bucket: Option<String>, pool: PoolOptions) -> anyhow::Result<Backend> {
    let region = match &storage.region {
        Some(region) => region.clone(),
        None => Credentials::region()?.unwrap_or_else(|| "us-east-1".to_owned()),
    };
    let url = storage.endpoint.clone().unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
    let endpoint = Endpoint::parse(&url).context("--endpoint")?;
    let is_amazon = endpoint.host.ends_with(".amazonaws.com") || endpoint.host.ends_with(".amazonaws.com.cn");
    let addressing = match storage.addressing {
        Some(options::Addressing::Path) => Addressing::Path,
        Some(options::Addressing::VirtualHost) => Addressing::VirtualHost,
        None if is_amazon => Addressing::VirtualHost,
        None => Addressing::Path,
    };
    let credentials = Credentials::find().await?;
    let name = format!("s3://{} at {endpoint}, {}", bucket.as_deref().unwrap_or_default(), credentials.origin());
    let packets = Some(packets_to(&endpoint));
    let options = S3Options { endpoint, addressing, region, credentials: Some(credentials), pool, bodies: None };
    let s3 = Arc::new(S3Store::new(options)?);
    let store: Arc<dyn Store> = Arc::clone(&s3) as _;
    Ok(Backend { store, s3: Some(s3), bucket, least_part: LEAST_PART, name, packets, _lock: None })
}

/// A name's addresses change while the gateway runs, its port does not.
fn packets_to(endpoint: &Endpoint) -> String {
    let host = endpoint.host.trim_matches(['[', ']']);
    match host.parse::<IpAddr>() {
        Ok(address) => format!("tcp port {} and host {address}", endpoint.port),
        Err(_) => format!("tcp port {}", endpoint.port),
    }
}

/// Only one process may use a folder: a second one would delete the first one's drafts.
fn lock(folder: &Path) -> anyhow::Result<File> {
    FolderStore::make(folder)?;
    let ours = folder.join(".whyslow-gateway");
    let name = || folder.display().to_string();
    std::fs::create_dir_all(&ours).with_context(name)?;
    let file = File::create(ours.join("lock")).with_context(name)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!("{}: another gateway uses this folder", folder.display()),
        Err(TryLockError::Error(error)) => Err(error).with_context(name),
    }
}

impl Backend {
    /// Checks whether the store exists and may be used.
    ///
    /// # Errors
    /// If it does not, or may not.
    pub(super) async fn check(&self) -> anyhow::Result<()> {
        let result = match &self.bucket {
            Some(bucket) => self.store.head_bucket(bucket).await,
            None => self.store.list_buckets().await.map(drop),
        };
        result.with_context(|| self.name.clone())
    }

    /// The buckets to look into.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn buckets(&self) -> anyhow::Result<Vec<String>> {
        match &self.bucket {
            Some(bucket) => Ok(vec![bucket.clone()]),
            None => self.store.list_buckets().await.with_context(|| self.name.clone()),
        }
    }
}
