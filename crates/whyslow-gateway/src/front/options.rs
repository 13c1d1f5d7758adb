//! [`FrontOptions`]: access keys, limits and names of the endpoint.

use super::record::{NoSink, Sink};
use super::rights::AccessKeys;
use super::tls::Tls;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Whose requests are answered.
#[derive(Clone, Debug)]
pub enum Access {
    /// Those that one of these keys signed.
    Keys(AccessKeys),
    /// Every request, whatever its signature: for loopback alone.
    Everybody,
}

/// What clients may use, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once. One more closes the one that is idle for longest; when none is, it is
    /// answered 503.
    pub connections: usize,
    /// Bytes of a request's header.
    pub head_bytes: usize,
    /// From a connection's beginning, or the end of a request, to the end of the next header.
    pub head_time: Duration,
    /// A client that we wait for moves [`Self::stall_bytes`] in this time: of its body, or of the
    /// answer.
    pub stall: Duration,
    /// How many in that time.
    pub stall_bytes: u64,
    /// Bytes of the largest object or part that is taken in one request.
    pub object_bytes: u64,
    /// Bytes of an XML document of a client's.
    pub document_bytes: usize,
    /// A client that waits longer for CompleteMultipartUpload gets white space, so that it stays.
    pub complete_patience: Duration,
    /// Requests that run may take this long to end when the server stops.
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

/// How the endpoint behaves.
#[derive(Clone)]
pub struct FrontOptions {
    /// Whose requests are answered.
    pub access: Access,
    /// Names under which buckets are hosts: of `s3.example.com`, `photos.s3.example.com` is the
    /// bucket `photos`.
    pub domains: Vec<String>,
    /// The answer to GetBucketLocation.
    pub region: String,
    /// TLS; none is plain HTTP.
    pub tls: Option<Tls>,
    /// What clients may use.
    pub limits: Limits,
    /// Where `POST /upload/files` stores what names no bucket.
    pub form_bucket: Option<String>,
    /// Gets a record of each request.
    pub sink: Arc<dyn Sink>,
}

impl FrontOptions {
    /// For these clients; the rest as usual.
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
