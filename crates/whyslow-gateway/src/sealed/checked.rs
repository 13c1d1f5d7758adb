//! [`Checked`]: the buckets whose settings were compared.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Prefix of the gateway's own keys. Clients neither see nor use them.
pub(super) const OURS: &str = ".whyslow-gateway/";

/// A bucket whose settings are those of this gateway.
#[derive(Clone, Debug, Default)]
pub(super) struct Noted {
    /// Whether its marker has all that this gateway would note there.
    pub is_complete: bool,
    /// The epochs of its objects, the oldest first, if noted.
    pub epochs: Arc<[String]>,
}

/// Buckets whose settings were compared.
#[derive(Debug, Default)]
pub(super) struct Checked(Mutex<HashMap<String, Noted>>);

impl Checked {
    pub(super) fn get(&self, bucket: &str) -> Option<Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(bucket).cloned()
    }

    pub(super) fn note(&self, bucket: &str, noted: Noted) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(bucket.to_owned(), noted);
    }

    pub(super) fn forget(&self, bucket: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(bucket);
    }
}
