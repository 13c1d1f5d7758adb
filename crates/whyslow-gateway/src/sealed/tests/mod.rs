//! Objects in and out of stores that work, fail and lie.

mod faults;
mod lists;
mod memory_store;
mod models;
mod objects;
mod settings;
mod stock;
mod tamper;
mod uploads;

use super::*;
use crate::keys::{Epoch, Keyring};
use crate::pool::BodyError;
use crate::store::{Conditions, FolderStore, ObjectName, Range, Store};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use memory_store::MemoryStore;
use std::sync::Arc;

/// Bytes that differ from place to place.
fn pattern(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|n| (n ^ n >> 8 ^ n >> 16) as u8 ^ seed).collect()
}

/// As a client sends them: in pieces that fit nothing.
fn content(bytes: &[u8]) -> Content {
    let pieces: Vec<_> = bytes.chunks(70_001).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    Content { length: bytes.len() as u64, bytes: stream::iter(pieces).boxed() }
}

fn name(key: &str) -> ObjectName {
    ObjectName::new("bucket", key)
}

fn anyhow() -> Conditions {
    Conditions::default()
}

fn if_match(tag: &str) -> Conditions {
    Conditions { if_match: Some(format!("\"{tag}\"")), ..Conditions::default() }
}

fn if_none_match(tag: &str) -> Conditions {
    Conditions { if_none_match: Some(tag.to_owned()), ..Conditions::default() }
}

fn epoch() -> Epoch {
    Epoch::generate().unwrap()
}

fn ring(epoch: &Epoch) -> Arc<Keyring> {
    Arc::new(Keyring::new(epoch.clone(), []))
}

fn some_attributes() -> Attributes {
    let map =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Attributes {
        content_type: Some("text/plain; charset=utf-8".to_owned()),
        headers: map(&[("cache-control", "max-age=60,  private"), ("content-encoding", "gzip")]),
        user: map(&[("id", "7"), ("place", " 50 % of Köln ")]),
        ..Attributes::default()
    }
}

/// A store, what keeps it, and the sealed one over it.
struct Bench {
    memory_store: Option<Arc<MemoryStore>>,
    _folder: Option<tempfile::TempDir>,
    store: Arc<dyn Store>,
    sealed: SealedStore,
    options: SealedOptions,
    epoch: Epoch,
}

fn in_memory(options: SealedOptions) -> Bench {
    let memory_store = Arc::new(MemoryStore::default());
    let (store, epoch) = (Arc::clone(&memory_store) as Arc<dyn Store>, epoch());
    let sealed = SealedStore::new(Arc::clone(&store), ring(&epoch), options.clone());
    Bench { memory_store: Some(memory_store), _folder: None, store, sealed, options, epoch }
}

fn in_folder(options: SealedOptions) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(FolderStore::open(folder.path()).unwrap());
    std::fs::create_dir(folder.path().join("bucket")).unwrap();
    let epoch = epoch();
    let sealed = SealedStore::new(Arc::clone(&store), ring(&epoch), options.clone());
    Bench { memory_store: None, _folder: Some(folder), store, sealed, options, epoch }
}

/// Both stores, with plain and with encrypted names.
fn all() -> Vec<Bench> {
    let with = |encrypt_names| SealedOptions { encrypt_names, least_part: 100_000, ..SealedOptions::default() };
    vec![in_memory(with(false)), in_memory(with(true)), in_folder(with(false)), in_folder(with(true))]
}

impl Bench {
    fn memory(&self) -> &MemoryStore {
        self.memory_store.as_ref().unwrap()
    }

    /// The same objects, for another process that remembers nothing.
    fn forgetful(&self) -> SealedStore {
        SealedStore::new(Arc::clone(&self.store), ring(&self.epoch), self.options.clone())
    }

    async fn put(&self, key: &str, bytes: &[u8]) -> Receipt {
        self.sealed.put(&name(key), content(bytes), &some_attributes(), &anyhow()).await.unwrap()
    }

    /// Uploads in parts of these sizes, numbered as they are listed; gives the plaintext.
    async fn upload(&self, key: &str, parts: &[(u32, usize)]) -> Vec<u8> {
        let id = self.sealed.create_upload(&name(key), &some_attributes()).await.unwrap();
        let mut list = Vec::new();
        let mut all = std::collections::BTreeMap::new();
        for &(number, length) in parts {
            let bytes = pattern(length, number as u8);
            let receipt = self.sealed.put_part(&name(key), &id, number, content(&bytes)).await.unwrap();
            list.push((number, receipt.tag));
            all.insert(number, bytes);
        }
        list.sort();
        self.sealed.complete_upload(&name(key), &id, &list, &anyhow()).await.unwrap();
        all.into_values().collect::<Vec<_>>().concat()
    }
}

async fn read(opened: Opened) -> Result<Vec<u8>, BodyError> {
    let mut bytes = opened.bytes;
    let mut all = Vec::new();
    while let Some(chunk) = bytes.next().await {
        all.extend_from_slice(&chunk?);
    }
    Ok(all)
}

async fn get(sealed: &SealedStore, key: &str, range: Option<Range>) -> Result<Vec<u8>, SealedError> {
    let opened = sealed.get(&name(key), range, &anyhow()).await?;
    let (first, end) = opened.range;
    let bytes = read(opened).await.map_err(|error| SealedError::new(SealedErrorKind::Content(error), ""))?;
    assert_eq!(bytes.len() as u64, end - first);
    Ok(bytes)
}
