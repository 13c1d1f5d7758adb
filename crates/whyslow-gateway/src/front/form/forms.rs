//! [`Forms`]: the options for forms.

use super::share::gatherers;
use crate::front::options::{Access, FrontOptions};
use crate::sealed::SealedStore;
use tokio::sync::Semaphore;

/// The destination of forms, and their permitted senders.
pub(in crate::front) struct Forms {
    pub(super) store: SealedStore,
    pub(super) access: Access,
    /// The bucket for files without a bucket.
    pub(super) bucket: Option<String>,
    /// Maximum bytes of a file.
    pub(super) largest: u64,
    pub(super) has_tls: bool,
    /// Permits for files of unknown size.
    pub(super) gatherers: Semaphore,
}

impl Forms {
    pub(in crate::front) fn new(store: SealedStore, options: &FrontOptions) -> Self {
        let gatherers = Semaphore::new(gatherers(store.memory().capacity()));
        let (access, bucket) = (options.access.clone(), options.form_bucket.clone());
        Self { store, access, bucket, largest: options.limits.object_bytes, has_tls: options.tls.is_some(), gatherers }
    }
}
