//! [`Bucket`]: a bucket or container, opened with the credentials of the environment.

use crate::cause::root_cause;
use crate::listing::{Connector, Purpose};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::list::PaginatedListStore;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};
use std::env;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Variables that name credentials for S3; one of them is enough to look for credentials.
const AWS: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];
/// The same for Google Cloud Storage; `gcloud` also writes a file.
const GOOGLE: [&str; 5] = [
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_BEARER_TOKEN",
];
/// The same for Azure Blob Storage.
const AZURE: [&str; 8] = [
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_TOKEN",
    "AZURE_CLIENT_ID",
    "AZURE_FEDERATED_TOKEN_FILE",
    "AZURE_USE_AZURE_CLI",
    "IDENTITY_ENDPOINT",
];

/// Limits of a client: an object may take as long as it takes, a list not; neither may be silent
/// for long.
fn limits(purpose: Purpose) -> [(ClientConfigKey, &'static str); 3] {
    let whole = if purpose == Purpose::Lists { "5min" } else { "365days" };
    [(ClientConfigKey::Timeout, whole), (ClientConfigKey::ConnectTimeout, "10s"), (ClientConfigKey::ReadTimeout, "30s")]
}

/// A kind of object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    S3,
    Google,
    Azure,
}

impl Service {
    /// Its scheme in URLs.
    fn scheme(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Google => "gs",
            Self::Azure => "az",
        }
    }

    /// Variables that name credentials.
    fn variables(self) -> &'static [&'static str] {
        match self {
            Self::S3 => &AWS,
            Self::Google => &GOOGLE,
            Self::Azure => &AZURE,
        }
    }

    /// The variable that disables credentials.
    fn skip(self) -> &'static str {
        match self {
            Self::S3 => "AWS_SKIP_SIGNATURE",
            Self::Google => "GOOGLE_SKIP_SIGNATURE",
            Self::Azure => "AZURE_SKIP_SIGNATURE",
        }
    }
}

/// A bucket, and how it is asked.
pub(crate) struct Bucket {
    service: Service,
    name: String,
    is_anonymous: bool,
    /// Where its objects are read.
    pub(crate) objects: Arc<dyn ObjectStore>,
    /// Where they are listed.
    pub(crate) lists: Arc<dyn PaginatedListStore>,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("objects", &self.objects).finish_non_exhaustive()
    }
}

impl Bucket {
    /// Opens it, without a request.
    ///
    /// # Errors
    /// If the environment's values are invalid.
    pub(crate) fn open(service: Service, name: &str) -> Result<Self, String> {
        let is_anonymous = is_anonymous(service);
        let opened = match service {
            Service::S3 => both(|purpose| s3(name, is_anonymous, purpose)),
            Service::Google => both(|purpose| google(name, is_anonymous, purpose)),
            Service::Azure => both(|purpose| azure(name, is_anonymous, purpose)),
        };
        let (objects, lists) = opened.map_err(|error| root_cause(&error))?;
        Ok(Self { service, name: name.to_owned(), is_anonymous, objects, lists })
    }

    /// The URL of a key in it.
    pub(crate) fn url(&self, key: &str) -> String {
        format!("{}://{}/{key}", self.service.scheme(), self.name)
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The credentials of a request, for the message about a refusal.
    pub(crate) fn credentials(&self) -> String {
        let variables = self.service.variables();
        if !self.is_anonymous {
            let set: Vec<_> = variables.iter().copied().filter(|name| is_set(name)).collect();
            return match set.as_slice() {
                [] => "the credentials are those of this machine or of its user".to_owned(),
                set => format!("the credentials are those of {}", set.join(", ")),
            };
        }
        let more = match self.service {
            Service::S3 => "; those of a profile: eval \"$(aws configure export-credentials --format env)\"",
            Service::Google => "; those of a user: gcloud auth application-default login",
            Service::Azure => "; those of a user: az login, and AZURE_USE_AZURE_CLI=true",
        };
        format!("it was asked without credentials, as none of {} is set{more}", variables.join(", "))
    }
}

type Clients = (Arc<dyn ObjectStore>, Arc<dyn PaginatedListStore>);

fn both<T: ObjectStore + PaginatedListStore>(
    open: impl Fn(Purpose) -> object_store::Result<T>,
) -> object_store::Result<Clients> {
    Ok((Arc::new(open(Purpose::Objects)?), Arc::new(open(Purpose::Lists)?)))
}

/// Whether requests are not signed: no credentials are named, and no setting asks for those of the
/// machine.
fn is_anonymous(service: Service) -> bool {
    if let Ok(asked) = env::var(service.skip()) {
        return matches!(asked.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on");
    }
    let has_file = service == Service::Google && gcloud_file().is_some_and(|file| file.exists());
    !has_file && !service.variables().iter().any(|name| is_set(name))
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// Where `gcloud` leaves the credentials of the user.
fn gcloud_file() -> Option<PathBuf> {
    Some(env::home_dir()?.join(".config/gcloud/application_default_credentials.json"))
}

/// Repetitions are ours: the crate counts its time from the first request on, and a large object
/// takes longer.
fn retry() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

/// Without TLS if the endpoint is http://, as in other tools.
fn is_plain(endpoints: &[Option<String>]) -> bool {
    endpoints.iter().flatten().any(|endpoint| endpoint.starts_with("http://"))
}

fn s3(bucket: &str, is_anonymous: bool, purpose: Purpose) -> object_store::Result<object_store::aws::AmazonS3> {
    let mut builder =
        AmazonS3Builder::from_env().with_bucket_name(bucket).with_skip_signature(is_anonymous).with_retry(retry());
    for (key, value) in limits(purpose) {
        builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
    }
    let endpoints =
        [AmazonS3ConfigKey::Endpoint, AmazonS3ConfigKey::S3Endpoint].map(|key| builder.get_config_value(&key));
    if is_plain(&endpoints) {
        builder = builder.with_allow_http(true);
    }
    builder.with_http_connector(Connector(purpose)).build()
}

fn google(
    bucket: &str,
    is_anonymous: bool,
    purpose: Purpose,
) -> object_store::Result<object_store::gcp::GoogleCloudStorage> {
    let mut builder = GoogleCloudStorageBuilder::from_env()
        .with_bucket_name(bucket)
        .with_skip_signature(is_anonymous)
        .with_retry(retry());
    for (key, value) in limits(purpose) {
        builder = builder.with_config(GoogleConfigKey::Client(key), value);
    }
    if is_plain(&[builder.get_config_value(&GoogleConfigKey::BaseUrl)]) {
        builder = builder.with_config(GoogleConfigKey::Client(ClientConfigKey::AllowHttp), "true");
    }
    builder.with_http_connector(Connector(purpose)).build()
}

fn azure(
    container: &str,
    is_anonymous: bool,
    purpose: Purpose,
) -> object_store::Result<object_store::azure::MicrosoftAzure> {
    let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(container).with_retry(retry());
    builder = builder.with_skip_signature(is_anonymous);
    for (key, value) in limits(purpose) {
        builder = builder.with_config(AzureConfigKey::Client(key), value);
    }
    let is_emulated = builder.get_config_value(&AzureConfigKey::UseEmulator).as_deref() == Some("true");
    if is_emulated || is_plain(&[builder.get_config_value(&AzureConfigKey::Endpoint)]) {
        builder = builder.with_allow_http(true);
    }
    builder.with_http_connector(Connector(purpose)).build()
}
