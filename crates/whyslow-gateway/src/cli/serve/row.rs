//! [`Row`]: a finished request, for the log, the page and the statistics.

use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::time::{Duration, SystemTime};
use time::OffsetDateTime;
use time::format_description::well_known::Iso8601;
use whyslow_gateway::front::{Record, Request};
use whyslow_gateway::pool::{Phases, Transfer};

/// One request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Time when its header was read, ISO 8601 in UTC.
    pub time: String,
    /// The request.
    #[serde(flatten)]
    pub request: Request,
    /// Time from the request's header to the answer's last byte.
    pub took_s: f64,
    /// Time until the answer's header.
    pub answer_s: f64,
    /// Time spent waiting for the client.
    pub client_s: f64,
    /// The processor's time for encrypting.
    pub sealing_s: f64,
    /// The transfer over the network; `None` if there was none.
    pub storage: Option<Way>,
}

/// A transfer to the storage or from it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Way {
    pub connection: u64,
    pub reused: bool,
    /// Bytes that could be sent at once when the request began.
    pub window_at_start: Option<u64>,
    pub rtt_s: Option<f64>,
    pub sent: u64,
    pub received: u64,
    pub retransmitted: u64,
    pub phases: Vec<Phase>,
    /// The limit with the most time.
    pub limited_by: Option<String>,
    /// Time by limit, longest first.
    pub limits: Vec<LimitTime>,
}

/// A phase that took time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Phase {
    pub phase: String,
    pub seconds: f64,
}

/// Time under a limit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LimitTime {
    pub limit: String,
    pub seconds: f64,
}

impl Deref for Row {
    type Target = Request;

    fn deref(&self) -> &Request {
        &self.request
    }
}

impl Row {
    /// The row of a record.
    pub(super) fn new(record: &Record) -> Self {
        Self {
            time: utc(record.at),
            request: record.request.clone(),
            took_s: record.times.total().as_secs_f64(),
            answer_s: record.times.answer.as_secs_f64(),
            client_s: record.times.client.as_secs_f64(),
            sealing_s: record.sealing.as_secs_f64(),
            storage: record.transfer.as_ref().map(Way::new),
        }
    }

    /// Bucket and key, if any.
    pub(crate) fn object(&self) -> String {
        match (&self.bucket, &self.key) {
            (Some(bucket), Some(key)) => format!("{bucket}/{key}"),
            (Some(bucket), None) => bucket.clone(),
            _ => "-".to_owned(),
        }
    }
}

impl Way {
    fn new(transfer: &Transfer) -> Self {
        let limits = transfer.limits.ranked().into_iter();
        Self {
            connection: transfer.connection,
            reused: transfer.is_reused,
            window_at_start: transfer.window_at_start,
            rtt_s: transfer.rtt.map(|rtt| rtt.as_secs_f64()),
            sent: transfer.sent,
            received: transfer.received,
            retransmitted: transfer.retransmitted,
            phases: phases(&transfer.phases)
                .into_iter()
                .filter(|(_, time)| !time.is_zero())
                .map(|(phase, time)| Phase { phase: phase.to_owned(), seconds: time.as_secs_f64() })
                .collect(),
            limited_by: transfer.limited_by().map(|limit| limit.slug().to_owned()),
            limits: limits
                .map(|(limit, time)| LimitTime { limit: limit.slug().to_owned(), seconds: time.as_secs_f64() })
                .collect(),
        }
    }
}

/// The phases by name, in their order.
pub(super) fn phases(phases: &Phases) -> [(&'static str, Duration); 7] {
    [
        ("queued", phases.queued),
        ("resolve", phases.resolve),
        ("connect", phases.connect),
        ("tls", phases.tls),
        ("send", phases.send),
        ("wait", phases.wait),
        ("receive", phases.receive),
    ]
}

/// ISO 8601, in UTC.
pub(in crate::cli) fn utc(at: SystemTime) -> String {
    let at = OffsetDateTime::from(at.max(SystemTime::UNIX_EPOCH));
    at.format(&Iso8601::DEFAULT).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_iso_8601_to_the_nanosecond() {
        let at = SystemTime::UNIX_EPOCH + Duration::new(1_785_000_000, 7);
        assert_eq!(utc(at), "2026-07-25T17:20:00.000000007Z");
        assert_eq!(utc(SystemTime::UNIX_EPOCH), "1970-01-01T00:00:00.000000000Z");
    }
}
