//! [`Credentials`]: an access key, and where it comes from. Secrets are never printed.
//!
//! ```text
//!   find ─▶ environment, web identity, profile, container, instance ─▶ Source ─▶ Keys
//!                                                                        └ asked again before
//!                                                                          they end
//! ```

mod environment;
mod error;
mod fetch;
mod keys;
mod profile;
mod source;

#[cfg(test)]
mod tests;

pub use error::CredentialsError;
pub(super) use keys::Keys;

use environment::Environment;
use source::Source;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Keys are renewed this long before they end.
const AHEAD: Duration = Duration::from_secs(300);
/// Keys that end so soon may have ended when the request arrives.
const TOO_LATE: Duration = Duration::from_secs(10);
/// Between two tries when asking fails.
const PAUSE: Duration = Duration::from_secs(15);

/// Keys, and where to get the next ones when they end. Clones share them.
#[derive(Clone, Debug)]
pub struct Credentials {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    source: Source,
    /// The last ones, and when asking for others failed last.
    state: Mutex<(Option<Keys>, Option<Instant>)>,
    /// Held by the one that asks.
    asking: tokio::sync::Mutex<()>,
}

impl Credentials {
    /// Takes them as they are; they never end.
    pub fn new(access_key: impl Into<String>, secret: impl Into<String>, token: Option<String>) -> Self {
        Self::from_source(Source::Fixed(Keys::new(access_key, secret, token)))
    }

    fn from_source(source: Source) -> Self {
        Self { shared: Arc::new(Shared { source, state: Mutex::default(), asking: tokio::sync::Mutex::default() }) }
    }

    /// Looks where the AWS tools look, in their order, and takes the first that has any:
    ///
    /// 1. `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`;
    /// 2. `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN`, exchanged at STS;
    /// 3. the profile `AWS_PROFILE` or `default` in the shared files: keys, a web identity, or a
    ///    program that prints keys (`credential_process`);
    /// 4. `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `AWS_CONTAINER_CREDENTIALS_FULL_URI`;
    /// 5. the metadata service of an EC2 instance (IMDSv2).
    ///
    /// # Errors
    /// When none has any, or the first that should have some gives none.
    pub async fn find() -> Result<Self, CredentialsError> {
        Self::find_in(&|name| std::env::var(name).ok()).await
    }

    async fn find_in(variables: &(dyn Fn(&str) -> Option<String> + Send + Sync)) -> Result<Self, CredentialsError> {
        let environment = Environment::new(variables);
        let credentials = Self::from_source(Source::find(&environment)?);
        credentials.keys().await?;
        Ok(credentials)
    }

    /// Their source, in words.
    pub fn origin(&self) -> String {
        self.shared.source.to_string()
    }

    /// The region that the environment or the profile names.
    ///
    /// # Errors
    /// When a shared file cannot be read.
    pub fn region() -> Result<Option<String>, CredentialsError> {
        Environment::new(&|name| std::env::var(name).ok()).region()
    }

    /// Keys that have not ended. Those that end soon are renewed meanwhile, so that no request
    /// waits for it unless they have ended.
    pub(super) async fn keys(&self) -> Result<Keys, CredentialsError> {
        if let Source::Fixed(keys) = &self.shared.source {
            return Ok(keys.clone());
        }
        match self.shared.last() {
            Some(keys) if !keys.end_within(AHEAD) => Ok(keys),
            Some(keys) if !keys.end_within(TOO_LATE) => {
                let shared = Arc::clone(&self.shared);
                tokio::spawn(async move {
                    // One asks. When it fails there is time to try again.
                    if let Ok(_one) = shared.asking.try_lock() {
                        let _ = shared.ask().await;
                    }
                });
                Ok(keys)
            }
            _ => {
                let _one = self.shared.asking.lock().await;
                match self.shared.last() {
                    Some(keys) if !keys.end_within(TOO_LATE) => Ok(keys),
                    _ => self.shared.ask().await,
                }
            }
        }
    }
}

impl Shared {
    fn last(&self) -> Option<Keys> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    async fn ask(&self) -> Result<Keys, CredentialsError> {
        let failed = self.state.lock().unwrap_or_else(PoisonError::into_inner).1;
        if let Some(left) = failed.and_then(|at| PAUSE.checked_sub(at.elapsed())) {
            return Err(CredentialsError::Paused { place: self.source.to_string(), seconds: left.as_secs() + 1 });
        }
        let result = self.source.fetch().await;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &result {
            Ok(keys) => *state = (Some(keys.clone()), None),
            Err(_) => state.1 = Some(Instant::now()),
        }
        result
    }
}
