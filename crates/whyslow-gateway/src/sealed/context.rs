//! [`Context`]: the state that all operations share.

use super::checked::Checked;
use super::known::Known;
use super::names::Names;
use super::types::SealedOptions;
use crate::format::{Kind, Object};
use crate::keys::Keyring;
use crate::memory::Memory;
use crate::store::{Bulk, ObjectInfo, ObjectName, ReadOptions, Source, Store};
use std::sync::Arc;

/// Spans of a stored object with at most this many bytes between them are one request: receiving
/// these bytes takes less time than another request.
pub(super) const GAP: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct Context {
    pub store: Arc<dyn Store>,
    pub keyring: Arc<Keyring>,
    pub options: SealedOptions,
    pub names: Names,
    pub known: Known,
    pub checked: Checked,
}

impl Context {
    pub(super) fn new(store: Arc<dyn Store>, keyring: Arc<Keyring>, options: SealedOptions) -> Self {
        let epoch = options.names_epoch.and_then(|id| keyring.get(id)).unwrap_or_else(|| keyring.oldest());
        let names = Names::new(options.encrypt_names.then(|| epoch.clone()));
        let known = Known::new(options.sizes_cached);
        Self { store, keyring, options, names, known, checked: Checked::default() }
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.options.memory
    }

    pub(super) fn new_object(&self, kind: Kind) -> Result<Object, crate::age::NoRandomness> {
        Object::new(self.keyring.current(), kind)
    }

    /// The plan of an object of this size in parts, if it needs parts.
    pub(super) fn bulk(&self, size: u64) -> Option<Bulk> {
        let plan = self.store.plan(size)?;
        Some(Bulk { plan, memory: self.memory().clone() })
    }

    /// The version of an object of an answer.
    pub(super) fn source(&self, stored: &ObjectName, info: &ObjectInfo, options: ReadOptions) -> Source {
        Source { store: Arc::clone(&self.store), object: stored.clone(), tag: info.tag.clone(), options }
    }
}
