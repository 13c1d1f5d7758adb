//! [`Checked`]: the buckets whose settings were compared.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Keys of the gateway's own begin with this. Clients neither see nor use them.
pub(super) const OURS: &str = ".whyslow-gateway/";

/// Buckets whose settings are those of this gateway, and whether they have a marker.
#[derive(Debug, Default)]
pub(super) struct Checked(Mutex<HashMap<String, bool>>);

impl Checked {
    pub(super) fn get(&self, bucket: &str) -> Option<bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(bucket).copied()
    }

    pub(super) fn note(&self, bucket: &str, is_marked: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(bucket.to_owned(), is_marked);
    }

    pub(super) fn forget(&self, bucket: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(bucket);
    }
}
