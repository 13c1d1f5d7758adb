//! [`Cors`]: the web pages that may use a bucket. Rules are stored in the bucket, sealed, and read
//! again after [`FRESH`], since another gateway may have changed them.
//!
//! A rule allows a page's browser to send requests and to pass on answers. It gives no rights: a
//! request
//! still needs a signature.

mod rules;

use super::access::Domains;
use super::call::Call;
use super::errors;
use crate::sealed::{SealedError, SealedErrorKind, SealedStore, Setting};
use http::{HeaderMap, Method, Response, StatusCode, header, request};
use lru::LruCache;
use percent_encoding::percent_decode_str;
use rules::Asked;
pub(super) use rules::Rule;
use s3s::host::S3Host;
use s3s::path::{S3Path, parse_virtual_hosted_style};
use s3s::{S3Error, S3ErrorCode, S3Result};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Time for which rules are cached: short enough to wait for after a change.
const FRESH: Duration = Duration::from_secs(10);
/// Buckets whose rules are remembered. Preflights are not signed, so their number is not trusted.
const BUCKETS: NonZeroUsize = NonZeroUsize::new(1000).unwrap();
/// Reads of rules at once, for the same reason.
const READS: usize = 16;

const OPERATION: &str = "Preflight";
const NOT_ENABLED: &str = "CORSResponse: CORS is not enabled for this bucket.";
const NOT_ALLOWED: &str = "CORSResponse: This CORS request is not allowed. No rule of the bucket allows this Origin with \
                           this Access-Control-Request-Method and these Access-Control-Request-Headers.";

type Rules = Arc<[Rule]>;

/// Rules by bucket. Clones share them.
#[derive(Clone)]
pub(super) struct Cors {
    store: SealedStore,
    known: Arc<Mutex<LruCache<String, (Instant, Rules)>>>,
    reads: Arc<Semaphore>,
}

impl Cors {
    pub(super) fn new(store: SealedStore) -> Self {
        let known = Arc::new(Mutex::new(LruCache::new(BUCKETS)));
        Self { store, known, reads: Arc::new(Semaphore::new(READS)) }
    }

    /// The rules of a bucket; empty if it has none.
    pub(super) async fn rules(&self, bucket: &str) -> Result<Rules, SealedError> {
        if let Some(rules) = self.known(bucket) {
            return Ok(rules);
        }
        let busy = |_| SealedError::new(SealedErrorKind::Unavailable, "the gateway ends");
        let _turn = self.reads.acquire().await.map_err(busy)?;
        if let Some(rules) = self.known(bucket) {
            return Ok(rules);
        }
        let rules: Rules = match self.store.setting(bucket, Setting::Cors).await? {
            None => Arc::default(),
            Some(text) => {
                let wrong = |_| {
                    let why = "the bucket's CORS configuration cannot be read: another version stored it";
                    SealedError::new(SealedErrorKind::OtherSettings, why)
                };
                serde_json::from_slice::<Vec<Rule>>(&text).map_err(wrong)?.into()
            }
        };
        self.note(bucket, Arc::clone(&rules));
        Ok(rules)
    }

    /// Stores a bucket's rules; empty ones are removed.
    pub(super) async fn set(&self, bucket: &str, rules: Vec<Rule>) -> Result<(), SealedError> {
        if rules.is_empty() {
            self.store.unset(bucket, Setting::Cors).await?;
        } else {
            let text = serde_json::to_vec(&rules);
            let text = text.map_err(|error| SealedError::new(SealedErrorKind::Internal, error.to_string()))?;
            self.store.set(bucket, Setting::Cors, &text).await?;
        }
        self.note(bucket, rules.into());
        Ok(())
    }

    /// Forgets the rules of a deleted bucket.
    pub(super) fn forget(&self, bucket: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).pop(bucket);
    }

    fn known(&self, bucket: &str) -> Option<Rules> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, rules) = known.get(bucket)?;
        (since.elapsed() < FRESH).then(|| Arc::clone(rules))
    }

    fn note(&self, bucket: &str, rules: Rules) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.put(bucket.to_owned(), (Instant::now(), rules));
    }

    /// Answers a browser's preflight (Fetch, section 3.2.2).
    pub(super) async fn preflight(
        &self,
        call: &Call,
        parts: &request::Parts,
        domains: &[String],
    ) -> S3Result<Response<s3s::Body>> {
        call.begin(OPERATION, None);
        let asked = Asked::preflight(&parts.headers)?;
        let Some(bucket) = bucket(parts, domains) else { return Err(forbidden(NOT_ENABLED)) };
        call.name(&bucket, None);
        let rules = match self.rules(&bucket).await {
            // Unsigned requests do not reveal which buckets exist.
            Err(error) if error.kind == SealedErrorKind::NoSuchBucket => return Err(forbidden(NOT_ENABLED)),
            rules => rules.map_err(|error| errors::answer(call, error))?,
        };
        if rules.is_empty() {
            return Err(forbidden(NOT_ENABLED));
        }
        let rule = Rule::find(&rules, &asked).ok_or_else(|| forbidden(NOT_ALLOWED))?;
        let mut answer = Response::new(s3s::Body::empty());
        rule.add_to(answer.headers_mut(), &asked);
        Ok(answer)
    }

    /// Adds the fields with which a browser passes the answer on to the page, if a rule of the
    /// bucket allows that.
    pub(super) async fn add(&self, page: &Page, answer: &mut HeaderMap) {
        let Some(asked) = Asked::request(&page.headers, &page.method) else { return };
        // Rules that cannot be read allow nothing.
        let Ok(rules) = self.rules(&page.bucket).await else { return };
        match Rule::find(&rules, &asked) {
            Some(rule) => rule.add_to(answer, &asked),
            // A cache must not give this answer to a page with permission.
            None if !rules.is_empty() => drop(answer.append(header::VARY, header::HeaderValue::from_static("Origin"))),
            None => {}
        }
    }
}

/// The request of a web page to a bucket.
pub(super) struct Page {
    bucket: String,
    method: Method,
    /// `Origin` alone.
    headers: HeaderMap,
}

impl Page {
    pub(super) fn is_preflight(&self) -> bool {
        self.method == Method::OPTIONS
    }

    /// `None` if the request is not from a web page, or not for a bucket.
    pub(super) fn of(parts: &request::Parts, domains: &[String]) -> Option<Self> {
        let origin = parts.headers.get(header::ORIGIN)?.clone();
        let headers = HeaderMap::from_iter([(header::ORIGIN, origin)]);
        Some(Self { bucket: bucket(parts, domains)?, method: parts.method.clone(), headers })
    }
}

/// The bucket that a request or its object is in.
fn bucket(parts: &request::Parts, domains: &[String]) -> Option<String> {
    match place(parts, domains)? {
        S3Path::Root => None,
        S3Path::Bucket { bucket } | S3Path::Object { bucket, .. } => Some(bucket.into()),
    }
}

/// The bucket of a request, if the request is not for an object.
pub(super) fn whole_bucket(parts: &request::Parts, domains: &[String]) -> Option<String> {
    match place(parts, domains)? {
        S3Path::Bucket { bucket } => Some(bucket.into()),
        S3Path::Root | S3Path::Object { .. } => None,
    }
}

/// Found by the request's host and path.
fn place(parts: &request::Parts, domains: &[String]) -> Option<S3Path> {
    let domains = Domains(domains.to_vec());
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = parts.uri.authority().map(http::uri::Authority::as_str).or(host);
    let host = host.and_then(|host| domains.parse_host_header(host).ok());
    let path = percent_decode_str(parts.uri.path()).decode_utf8().ok()?;
    parse_virtual_hosted_style(host.as_ref().and_then(|host| host.bucket()), &path).ok()
}

fn forbidden(message: &'static str) -> S3Error {
    let mut error = S3Error::with_message(S3ErrorCode::Custom("AccessForbidden".into()), message);
    error.set_status_code(StatusCode::FORBIDDEN);
    error
}
