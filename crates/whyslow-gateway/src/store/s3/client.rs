//! [`Client`]: sends what [`Ask`] asks, and again where that is safe and of use.

use super::credentials::{Credentials, CredentialsError};
use super::request::{Addressing, Ask, Signer};
use super::xml::{self, ErrorAnswer};
use crate::pool::{Answer, Body, Endpoint, Pool, PoolOptions, Safety, TlsError};
use crate::store::{ErrorKind, Repeat, StoreError};
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of attempts for a request.
const ATTEMPTS: u32 = 5;
/// The first pause before another try is half of this on average; each next one is twice as long.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// An error's XML is short.
const LONGEST_ERROR: usize = 64 << 10;
/// Lists of 1,000 long keys.
pub(super) const LONGEST_XML: usize = 16 << 20;
/// Servers under the base endpoint: with virtual-host style one a bucket.
const MOST_POOLS: usize = 256;

/// One S3 service.
#[derive(Debug)]
pub(super) struct Client {
    base: Endpoint,
    addressing: Addressing,
    region: String,
    credentials: Option<Credentials>,
    options: PoolOptions,
    pools: Mutex<HashMap<Endpoint, Pool>>,
    retried: AtomicU64,
}

impl Client {
    pub(super) fn new(
        base: Endpoint,
        addressing: Addressing,
        region: String,
        credentials: Option<Credentials>,
        options: PoolOptions,
    ) -> Result<Self, TlsError> {
        let first = Pool::new(base.clone(), options.clone())?;
        let pools = Mutex::new(HashMap::from([(base.clone(), first)]));
        Ok(Self { base, addressing, region, credentials, options, pools, retried: AtomicU64::new(0) })
    }

    /// The connections over which a bucket is reached.
    pub(super) fn pool(&self, bucket: Option<&str>) -> Result<Pool, StoreError> {
        let ask = Ask::new(http::Method::HEAD, bucket, None);
        let endpoint = ask.endpoint(&self.base, self.addressing);
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(&endpoint) {
            return Ok(pool.clone());
        }
        if pools.len() >= MOST_POOLS {
            let base = &self.base;
            pools.retain(|endpoint, pool| endpoint == base || pool.connections().0 > 0);
        }
        let wrong = |error: TlsError| StoreError::new(ErrorKind::Invalid, error.to_string());
        let pool = Pool::new(endpoint.clone(), self.options.clone()).map_err(wrong)?;
        pools.insert(endpoint, pool.clone());
        Ok(pool)
    }

    pub(super) fn pools(&self) -> Vec<Pool> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(super) async fn sign(&self, ask: &Ask) -> Result<http::Request<()>, StoreError> {
        let (endpoint, addressing) = (&self.base, self.addressing);
        let keys = match &self.credentials {
            Some(credentials) => {
                let denied = |error: CredentialsError| StoreError::new(ErrorKind::Denied, error.to_string());
                Some(credentials.keys().await.map_err(denied)?)
            }
            None => None,
        };
        ask.sign(&Signer { endpoint, addressing, region: &self.region, keys: keys.as_ref() })
    }

    /// Asks until there is an answer of success, or trying again is of no use or not safe.
    pub(super) async fn send(&self, ask: &Ask, body: &Body, safety: Safety) -> Result<Answer, StoreError> {
        let mut attempt = 1;
        loop {
            let error = match self.send_once(ask, body, safety).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let least = match error.repeat {
                Repeat::After(least) => least,
                Repeat::MayBeDone(least) if safety == Safety::Idempotent => least,
                _ => return Err(error),
            };
            if attempt == ATTEMPTS || !body.can_begin() {
                return Err(error);
            }
            tokio::time::sleep(pause(attempt, least)).await;
            attempt += 1;
            self.retried.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn retried(&self) -> u64 {
        self.retried.load(Ordering::Relaxed)
    }

    async fn send_once(&self, ask: &Ask, body: &Body, safety: Safety) -> Result<Answer, StoreError> {
        let pool = self.pool(ask.bucket.as_deref())?;
        let request = self.sign(ask).await?;
        let mut answer = pool.send(request, body, safety).await?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let text = answer.read(LONGEST_ERROR).await.unwrap_or_default();
        let told: ErrorAnswer = xml::read(&text).unwrap_or_default();
        Err(error(answer.status(), &told.code, &told.message, answer.headers(), ask.key.is_some()))
    }

    /// Asks for something small and reads the answer.
    pub(super) async fn read(&self, ask: &Ask, body: &Body, safety: Safety) -> Result<(Answer, Vec<u8>), StoreError> {
        let mut answer = self.send(ask, body, safety).await?;
        let text = answer.read(LONGEST_XML).await?;
        Ok((answer, text.to_vec()))
    }
}

/// Somewhere between nothing and twice as long as before, so that those who failed together do not
/// come back together.
fn pause(attempt: u32, least: Duration) -> Duration {
    let most = (PAUSE * 2_u32.pow(attempt.min(16))).min(LONGEST_PAUSE);
    least + most.mul_f64(fastrand::f64())
}

/// The error that an answer of S3 means.
pub(super) fn error(status: StatusCode, code: &str, message: &str, headers: &HeaderMap, has_key: bool) -> StoreError {
    let after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok()).map(Duration::from_secs);
    let soon = after.unwrap_or(PAUSE).min(LONGEST_PAUSE);
    let (kind, repeat) = match (status.as_u16(), code) {
        (_, "NoSuchBucket") => (ErrorKind::NoSuchBucket, Repeat::No),
        (_, "NoSuchUpload") => (ErrorKind::NoSuchUpload, Repeat::No),
        (_, "NoSuchKey") => (ErrorKind::NoSuchKey, Repeat::No),
        (_, "BucketAlreadyOwnedByYou" | "BucketAlreadyExists") => (ErrorKind::BucketExists, Repeat::No),
        (_, "BucketNotEmpty") => (ErrorKind::BucketNotEmpty, Repeat::No),
        (_, "InvalidPart" | "InvalidPartOrder" | "EntityTooSmall") => (ErrorKind::InvalidPart, Repeat::No),
        (_, "SlowDown" | "ServiceUnavailable" | "Throttling" | "TooManyRequests") | (429 | 503, _) => {
            (ErrorKind::Busy, Repeat::After(soon))
        }
        (_, "RequestTimeout") => (ErrorKind::TimedOut(crate::pool::Sent::Part), Repeat::After(soon)),
        // MinIO's code.
        (507, _) | (_, "XMinioStorageFull" | "InsufficientStorage") => (ErrorKind::Full, Repeat::No),
        (_, "EntityTooLarge") | (413, _) => (ErrorKind::TooLarge, Repeat::No),
        (409, "ConditionalRequestConflict" | "OperationAborted") => (ErrorKind::Busy, Repeat::After(soon)),
        (404, _) if has_key => (ErrorKind::NoSuchKey, Repeat::No),
        (404, _) => (ErrorKind::NoSuchBucket, Repeat::No),
        (412, _) => (ErrorKind::Precondition, Repeat::No),
        (304, _) => (ErrorKind::NotModified, Repeat::No),
        (416, _) => (ErrorKind::Range, Repeat::No),
        (401 | 403, _) => (ErrorKind::Denied, Repeat::No),
        (405 | 501, _) => (ErrorKind::Unsupported, Repeat::No),
        (500..=599, _) | (_, "InternalError") => (ErrorKind::Server, Repeat::MayBeDone(soon)),
        _ => (ErrorKind::Invalid, Repeat::No),
    };
    let message = match (code, message) {
        ("", _) => format!("HTTP {}", status.as_u16()),
        (code, "") => format!("{code} (HTTP {})", status.as_u16()),
        (code, message) => format!("{code}: {message}"),
    };
    StoreError { kind, repeat, message, place: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, code: &str) -> StoreError {
        error(StatusCode::from_u16(status).unwrap_or_default(), code, "", &HeaderMap::new(), true)
    }

    #[test]
    fn answers_say_whether_to_try_again() {
        assert_eq!((of(404, "").kind, of(404, "").repeat), (ErrorKind::NoSuchKey, Repeat::No));
        assert_eq!(of(404, "NoSuchUpload").kind, ErrorKind::NoSuchUpload);
        assert_eq!(of(503, "SlowDown").repeat, Repeat::After(PAUSE));
        assert_eq!(of(500, "InternalError").repeat, Repeat::MayBeDone(PAUSE));
        // `Complete` answers 200 with an error inside.
        assert_eq!(of(200, "InternalError").kind, ErrorKind::Server);
        assert_eq!(of(403, "AccessDenied").kind, ErrorKind::Denied);
        assert_eq!(of(412, "PreconditionFailed").repeat, Repeat::No);
        assert_eq!((of(507, "XMinioStorageFull").kind, of(507, "").repeat), (ErrorKind::Full, Repeat::No));
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, http::HeaderValue::from_static("3"));
        let slow = error(StatusCode::SERVICE_UNAVAILABLE, "", "", &headers, false);
        assert_eq!((slow.kind, slow.repeat), (ErrorKind::Busy, Repeat::After(Duration::from_secs(3))));
    }

    #[test]
    fn pauses_grow_and_have_an_end() {
        for attempt in 1..40 {
            let pause = pause(attempt, PAUSE);
            assert!(pause >= PAUSE && pause <= LONGEST_PAUSE + PAUSE, "{pause:?}");
        }
    }
}
