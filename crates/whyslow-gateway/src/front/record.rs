//! [`Record`]: the result of one request, as data. [`Sink`]s print and count it.

use crate::pool::{LimitingFactor, Transfer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::net::SocketAddr;
use std::ops::Deref;
use std::time::{Duration, SystemTime};

/// Takes the records of all requests. It runs on the server's own threads, so it must not block.
pub trait Sink: Send + Sync {
    /// Called when a request has ended.
    fn record(&self, record: &Record);
}

/// Discards all records.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSink;

impl Sink for NoSink {
    fn record(&self, _: &Record) {}
}

/// A request's time in this process, by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// From the request's header to the answer's header: for uploads, the whole work.
    pub answer: Duration,
    /// From the answer's header to its last byte.
    pub body: Duration,
    /// Time spent waiting for the client's bytes; part of `answer` and `body`.
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
    /// The `x-amz-request-id`: 16 hexadecimal digits.
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
    /// The error as a sentence.
    pub message: Option<String>,
    /// Bytes of the request's body, as received.
    pub bytes_in: u64,
    /// Bytes of the answer's body that were handed to the connection.
    pub bytes_out: u64,
    /// Whether the answer is complete.
    #[serde(rename = "whole")]
    pub is_whole: bool,
}

/// A request that has ended.
#[derive(Clone, Debug)]
pub struct Record {
    /// The request.
    pub request: Request,
    /// Time when its header was read.
    pub at: SystemTime,
    /// Processor time for encryption.
    pub sealing: Duration,
    /// Times in this process.
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
    /// The largest limit of the transfer to the storage; `None` if unknown.
    pub fn limited_by(&self) -> Option<LimitingFactor> {
        self.transfer.as_ref()?.limited_by()
    }
}
