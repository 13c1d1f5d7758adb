//! Opening the two clouds.

use super::CloudStore;
use super::convert::failed;
use crate::store::StoreError;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::GoogleCloudStorageBuilder;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;

/// The crate's HTTP client takes the TLS that the process has chosen.
fn choose_tls() {
    // Another provider may be installed, which serves as well.
    let _ = ring::default_provider().install_default();
}

impl CloudStore {
    /// A bucket of Google Cloud Storage. Credentials come from `GOOGLE_APPLICATION_CREDENTIALS`,
    /// the other `GOOGLE_…` variables of the crate `object_store`, `gcloud`'s own file, or the
    /// metadata service of an instance.
    ///
    /// # Errors
    /// When there are none, or they cannot be read.
    pub fn google(bucket: &str) -> Result<Self, StoreError> {
        choose_tls();
        let store = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).build().map_err(failed)?;
        let store = Arc::new(store);
        Ok(Self::new(bucket, Arc::clone(&store), store))
    }

    /// A container of Azure Blob Storage. The account and its credentials come from
    /// `AZURE_STORAGE_ACCOUNT_NAME` and the other `AZURE_…` variables of the crate `object_store`,
    /// or the metadata service of an instance.
    ///
    /// # Errors
    /// When there are none, or they cannot be read.
    pub fn azure(container: &str) -> Result<Self, StoreError> {
        choose_tls();
        let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(container);
        if builder.get_config_value(&AzureConfigKey::UseEmulator).as_deref() == Some("true") {
            builder = builder.with_allow_http(true);
        }
        let store = Arc::new(builder.build().map_err(failed)?);
        Ok(Self { has_metadata_in_uploads: false, ..Self::new(container, Arc::clone(&store), store) })
    }
}
