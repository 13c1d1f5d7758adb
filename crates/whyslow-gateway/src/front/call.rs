//! [`Call`]: the facts of a running request. [`Ending`] makes it a [`Record`].

use super::record::{Record, Request, Sink, Times};
use crate::pool::{Transfer, Transfers};
use crate::sealed::Receipt;
use http::{Method, StatusCode};
use s3s::{S3Error, S3ErrorCode};
use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A request under way. Clones are the same request.
#[derive(Clone, Debug)]
pub(super) struct Call {
    id: Arc<str>,
    notes: Arc<Mutex<Notes>>,
}

#[derive(Debug, Default)]
struct Notes {
    operation: Option<&'static str>,
    access_key: Option<String>,
    names: (Option<String>, Option<String>),
    status: Option<StatusCode>,
    fault: Option<Fault>,
    bytes_in: u64,
    bytes_out: u64,
    is_whole: bool,
    is_invited: bool,
    client: Duration,
    sealing: Duration,
    transfer: Option<Transfer>,
    /// The transfers of an object that is read: complete when its body is.
    transfers: Option<Transfers>,
    answered: Option<Instant>,
}

#[derive(Clone, Debug)]
struct Fault {
    code: S3ErrorCode,
    message: String,
    status: Option<StatusCode>,
}

impl Call {
    pub(super) fn new() -> Self {
        Self { id: format!("{:016X}", fastrand::u64(..)).into(), notes: Arc::default() }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Records the operation and the access key.
    pub(super) fn begin(&self, operation: &'static str, access_key: Option<&str>) {
        let mut notes = self.lock();
        notes.operation = Some(operation);
        notes.access_key = access_key.map(str::to_owned);
    }

    pub(super) fn name(&self, bucket: &str, key: Option<&str>) {
        self.lock().names = (Some(bucket.to_owned()), key.map(str::to_owned));
    }

    /// Records the reason of a failure: the first one counts.
    pub(super) fn fail(&self, error: &S3Error) {
        let mut notes = self.lock();
        if notes.fault.is_none() {
            let message = error.message().unwrap_or_default().to_owned();
            notes.fault = Some(Fault { code: error.code().clone(), message, status: error.status_code() });
        }
    }

    /// The reason, as S3's error.
    pub(super) fn fault(&self) -> Option<S3Error> {
        let Fault { code, message, status } = self.lock().fault.clone()?;
        let mut error = S3Error::with_message(code, message);
        error.set_request_id(self.id());
        if let Some(status) = status {
            error.set_status_code(status);
        }
        Some(error)
    }

    pub(super) fn count_in(&self, bytes: usize) {
        self.lock().bytes_in += bytes as u64;
    }

    pub(super) fn count_out(&self, bytes: usize) -> u64 {
        let mut notes = self.lock();
        notes.bytes_out += bytes as u64;
        notes.bytes_out
    }

    /// Sends 100 to a client that waits for it.
    pub(super) fn invite(&self) {
        self.lock().is_invited = true;
    }

    pub(super) fn was_invited(&self) -> bool {
        self.lock().is_invited
    }

    /// Adds time spent waiting for the client.
    pub(super) fn waited(&self, time: Duration) {
        self.lock().client += time;
    }

    /// Records what was stored.
    pub(super) fn stored(&self, receipt: &Receipt) {
        let mut notes = self.lock();
        notes.sealing += receipt.sealing;
        if receipt.transfer.is_some() {
            notes.transfer.clone_from(&receipt.transfer);
        }
    }

    /// Records the transfers of a read.
    pub(super) fn reads(&self, transfers: &Transfers) {
        self.lock().transfers = Some(transfers.clone());
    }

    /// Records the beginning of the answer.
    pub(super) fn answered(&self, status: StatusCode) {
        let mut notes = self.lock();
        (notes.status, notes.answered) = (Some(status), Some(Instant::now()));
    }

    /// Records that the answer is complete.
    pub(super) fn finished(&self) {
        self.lock().is_whole = true;
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands the record to the sink when it is dropped: when the answer has been sent, or the client
/// has left.
pub(super) struct Ending {
    pub(super) call: Call,
    pub(super) sink: Arc<dyn Sink>,
    pub(super) client: SocketAddr,
    pub(super) method: Method,
    pub(super) at: SystemTime,
    pub(super) since: Instant,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let now = Instant::now();
        let record = {
            let notes = self.call.lock();
            let answered = notes.answered.unwrap_or(now);
            Record {
                request: Request {
                    id: self.call.id.to_string(),
                    client: self.client,
                    access_key: notes.access_key.clone(),
                    method: self.method.to_string(),
                    operation: notes.operation.map(Cow::Borrowed),
                    bucket: notes.names.0.clone(),
                    key: notes.names.1.clone(),
                    status: notes.status.map(|status| status.as_u16()),
                    error: notes.fault.as_ref().map(|fault| fault.code.as_str().to_owned()),
                    message: notes.fault.as_ref().map(|fault| fault.message.clone()),
                    bytes_in: notes.bytes_in,
                    bytes_out: notes.bytes_out,
                    is_whole: notes.is_whole,
                },
                at: self.at,
                sealing: notes.sealing,
                times: Times {
                    answer: answered.saturating_duration_since(self.since),
                    body: now.saturating_duration_since(answered),
                    client: notes.client,
                },
                transfer: notes.transfer.clone().or_else(|| notes.transfers.as_ref()?.sum()),
            }
        };
        self.sink.record(&record);
    }
}
