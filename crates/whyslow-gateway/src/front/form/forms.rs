//! [`Forms`]: what is known of forms before one comes.

use super::share::gatherers;
use crate::front::options::{Access, FrontOptions};
use crate::sealed::SealedStore;
use tokio::sync::Semaphore;

/// Where forms go, and who may send them.
pub(in crate::front) struct Forms {
    pub(super) store: SealedStore,
    pub(super) access: Access,
    /// Where files go that name no bucket.
    pub(super) bucket: Option<String>,
    /// Most bytes of a file.
    pub(super) largest: u64,
    pub(super) has_tls: bool,
    /// Turns of files whose size is not known.
    pub(super) gatherers: Semaphore,
}

impl Forms {
    pub(in crate::front) fn new(store: SealedStore, options: &FrontOptions) -> Self {
        let gatherers = Semaphore::new(gatherers(store.memory().capacity()));
        let (access, bucket) = (options.access.clone(), options.form_bucket.clone());
        Self { store, access, bucket, largest: options.limits.object_bytes, has_tls: options.tls.is_some(), gatherers }
    }
}
