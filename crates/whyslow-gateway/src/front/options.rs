//! [`FrontOptions`]: access keys, limits and names of the endpoint.

use super::record::{NoSink, Sink};
use super::rights::AccessKeys;
use super::tls::Tls;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The requests that are answered.
#[derive(Clone, Debug)]
pub enum Access {
    /// Requests that one of these keys signed.
    Keys(AccessKeys),
    /// Every request, regardless of its signature: for loopback alone.
    Everybody,
}

/// Limits for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of connections. One more closes the one that is idle for longest; if none is
    /// idle, it gets 503.
    pub connections: usize,
    /// Bytes of a request's header.
    pub head_bytes: usize,
    /// From a connection's beginning, or the end of a request, to the end of the next header.
    pub head_time: Duration,
    /// Time in which a client that we wait for must move [`Self::stall_bytes`] of its body or of
    /// the answer.
    pub stall: Duration,
    /// Bytes to move in that time.
    pub stall_bytes: u64,
    /// Maximum bytes of an object or part in one request.
    pub object_bytes: u64,
    /// Maximum bytes of a client's XML document.
    pub document_bytes: usize,
    /// After this time of CompleteMultipartUpload the client gets white space, so that it does not
    /// give up.
    pub complete_patience: Duration,
    /// Time that running requests get when the server stops.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            head_bytes: 64 << 10,
            head_time: Duration::from_secs(60),
            stall: Duration::from_secs(10),
            stall_bytes: 64 << 10,
            object_bytes: 5 << 40,
            // 1,000 keys of 1,024 bytes, or 10,000 parts.
            document_bytes: 4 << 20,
            complete_patience: Duration::from_secs(5),
            drain: Duration::from_secs(30),
        }
    }
}

/// Options of the endpoint.
#[derive(Clone)]
pub struct FrontOptions {
    /// The requests that are answered.
    pub access: Access,
    /// Names under which buckets are hosts: with `s3.example.com`, `photos.s3.example.com` is the
    /// bucket `photos`.
    pub domains: Vec<String>,
    /// The answer to GetBucketLocation.
    pub region: String,
    /// TLS; `None` for plain HTTP.
    pub tls: Option<Tls>,
    /// The limits for clients.
    pub limits: Limits,
    /// The bucket for `POST /upload/files` without a bucket.
    pub form_bucket: Option<String>,
    /// Gets a record of each request.
    pub sink: Arc<dyn Sink>,
}

impl FrontOptions {
    /// Options for these clients, with defaults.
    pub fn new(access: Access) -> Self {
        Self {
            access,
            domains: vec!["localhost".to_owned()],
            region: "us-east-1".to_owned(),
            tls: None,
            limits: Limits::default(),
            form_bucket: None,
            sink: Arc::new(NoSink),
        }
    }
}

impl fmt::Debug for FrontOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrontOptions")
            .field("access", &self.access)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
