//! [`Record`]: what became of one request, as data. [`Sink`]s print and count it.

use crate::pool::{LimitingFactor, Transfer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::net::SocketAddr;
use std::ops::Deref;
use std::time::{Duration, SystemTime};

/// Takes the records of all requests. It is called on the server's own threads: hand on what takes
/// long.
pub trait Sink: Send + Sync {
    /// A request has ended.
    fn record(&self, record: &Record);
}

/// Forgets all records.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSink;

impl Sink for NoSink {
    fn record(&self, _: &Record) {}
}

/// A request's time at this side, one phase after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// From the request's header to the answer's: for uploads that is all the work.
    pub answer: Duration,
    /// From the answer's header to its last byte.
    pub body: Duration,
    /// Of both, waiting for bytes of the client's.
    pub client: Duration,
}

impl Times {
    /// From the request's header to the answer's last byte.
    pub fn total(&self) -> Duration {
        self.answer + self.body
    }
}

/// A request, as records, the log and the statistics have it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// As `x-amz-request-id` has it: 16 hexadecimal digits.
    pub id: String,
    /// The client's address.
    pub client: SocketAddr,
    /// The access key that signed it; `None` if there was no valid signature.
    pub access_key: Option<String>,
    /// GET, PUT and so on.
    pub method: String,
    /// S3's name (`PutObject`), `UploadFiles` for the form; `None` if the request was refused
    /// before that was known. The names are few: they may label a metric.
    pub operation: Option<Cow<'static, str>>,
    /// The bucket.
    pub bucket: Option<String>,
    /// The key.
    pub key: Option<String>,
    /// Status of the answer; `None` if the client left before there was one.
    pub status: Option<u16>,
    /// S3's code (`BadDigest`) when it failed. The codes are few: they may label a metric.
    pub error: Option<String>,
    /// What went wrong, in words.
    pub message: Option<String>,
    /// Bytes of the request's body, as they came.
    pub bytes_in: u64,
    /// Bytes of the answer's body that were handed to the connection.
    pub bytes_out: u64,
    /// Whether the answer came to its end.
    #[serde(rename = "whole")]
    pub is_whole: bool,
}

/// A request that has ended.
#[derive(Clone, Debug)]
pub struct Record {
    /// The request.
    pub request: Request,
    /// When its header was there.
    pub at: SystemTime,
    /// Time of the processor for encrypting.
    pub sealing: Duration,
    /// At this side.
    pub times: Times,
    /// On the way to the storage: its phases, the connection (new or reused), its window at the
    /// start, and what limited it. `None` if no bytes were sent there, or the storage is a folder.
    pub transfer: Option<Transfer>,
}

impl Deref for Record {
    type Target = Request;

    fn deref(&self) -> &Request {
        &self.request
    }
}

impl Record {
    /// The largest limit on the way to the storage; `None` if it is not known.
    pub fn limited_by(&self) -> Option<LimitingFactor> {
        self.transfer.as_ref()?.limited_by()
    }
}
