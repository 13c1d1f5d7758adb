//! [`Metrics`]: the counters for Prometheus. Labels are bounded: operations, classes of status,
//! phases and limits are few; no bucket, key or client is one.

use super::row::phases;
use super::stats::{Memory, Storage};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabelSet, EncodeLabelValue, EncodeMetric, LabelValueEncoder,
};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::exemplar::HistogramWithExemplars;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use std::borrow::Cow;
use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use whyslow_gateway::front::Record;

/// Bounds of requests, seconds.
const TIMES: [f64; 14] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0];

type Seconds = Counter<f64, AtomicU64>;

/// A label's value. The library writes values as they are; the text format wants `\`, `"` and line
/// ends escaped.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
struct Value(&'static str);

impl EncodeLabelValue for Value {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        for c in self.0.chars() {
            match c {
                '\\' => encoder.write_str("\\\\")?,
                '"' => encoder.write_str("\\\"")?,
                '\n' => encoder.write_str("\\n")?,
                c => encoder.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Answered {
    operation: Value,
    status: Value,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Of {
    operation: Value,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct In {
    phase: Value,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Under {
    limit: Value,
}

/// A request's id, which the client and the log have too.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Which {
    request_id: String,
}

type Times = HistogramWithExemplars<Which>;

/// All counters.
pub(super) struct Metrics {
    requests: Family<Answered, Counter>,
    took: Family<Of, Times>,
    bytes_in: Counter,
    bytes_out: Counter,
    sealing: Seconds,
    phases: Family<In, Seconds>,
    limits: Family<Under, Seconds>,
    registry: Registry,
}

/// Values that are read for each scrape.
pub(super) trait Now: Send + Sync + 'static {
    fn storage(&self) -> Storage;
    fn memory(&self) -> Memory;
}

impl Metrics {
    pub(super) fn new(now: Arc<dyn Now>) -> Self {
        let mut registry = Registry::with_prefix("whyslow_gateway");
        let histogram: fn() -> Times = || Times::new(TIMES.into_iter());
        let (requests, took) = (Family::default(), Family::new_with_constructor(histogram));
        let (bytes_in, bytes_out, sealing) = (Counter::default(), Counter::default(), Seconds::default());
        let (phases, limits) = (Family::default(), Family::default());
        registry.register("requests", "Requests by operation and class of status", requests.clone());
        let text = "From the request's header to the answer's last byte";
        registry.register_with_unit("request", text, Unit::Seconds, took.clone());
        registry.register_with_unit("received", "Bodies of requests", Unit::Bytes, bytes_in.clone());
        registry.register_with_unit("sent", "Bodies of answers", Unit::Bytes, bytes_out.clone());
        registry.register_with_unit("sealing", "Time of the processor for encrypting", Unit::Seconds, sealing.clone());
        let text = "On the way to the storage, by phase";
        registry.register_with_unit("storage_phase", text, Unit::Seconds, phases.clone());
        let text = "On the way to the storage, by what limited it";
        registry.register_with_unit("storage_limit", text, Unit::Seconds, limits.clone());
        registry.register_collector(Box::new(AtOnce(now)));
        Self { requests, took, bytes_in, bytes_out, sealing, phases, limits, registry }
    }

    pub(super) fn add(&self, record: &Record) {
        // Only the front makes records, and its names are static.
        let operation = Value(match record.operation {
            Some(Cow::Borrowed(name)) => name,
            Some(Cow::Owned(_)) | None => "unknown",
        });
        self.requests.get_or_create(&Answered { operation, status: Value(class(record.status)) }).inc();
        // The last request of each bucket is its exemplar: the log has its details.
        let which = Which { request_id: record.id.clone() };
        let ended = record.at.checked_add(record.times.total());
        self.took.get_or_create(&Of { operation }).observe(record.times.total().as_secs_f64(), Some(which), ended);
        self.bytes_in.inc_by(record.bytes_in);
        self.bytes_out.inc_by(record.bytes_out);
        self.sealing.inc_by(record.sealing.as_secs_f64());
        let Some(transfer) = &record.transfer else { return };
        for (phase, time) in phases(&transfer.phases) {
            self.phases.get_or_create(&In { phase: Value(phase) }).inc_by(time.as_secs_f64());
        }
        for (limit, time) in transfer.limits.ranked() {
            self.limits.get_or_create(&Under { limit: Value(limit.slug()) }).inc_by(time.as_secs_f64());
        }
    }

    /// The text for Prometheus.
    ///
    /// # Errors
    /// Errors of formatting.
    pub(super) fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// The class of a status, as a label; `none` if the client left before there was an answer.
fn class(status: Option<u16>) -> &'static str {
    match status {
        Some(200..300) => "2xx",
        Some(300..400) => "3xx",
        Some(400..500) => "4xx",
        Some(500..) => "5xx",
        _ => "none",
    }
}

struct AtOnce(Arc<dyn Now>);

impl fmt::Debug for AtOnce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AtOnce")
    }
}

impl Collector for AtOnce {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let (storage, memory) = (self.0.storage(), self.0.memory());
        let counts = [
            ("storage_connections_opened", "Connections opened to the storage", None, storage.opened),
            ("storage_requests_reused", "Requests on a connection that had served others", None, storage.reused),
            ("storage_connections_closed_idle", "Connections that the storage closed idle", None, storage.closed_idle),
            ("storage_requests_replayed", "Sent again since an idle connection was closed", None, storage.replayed),
            ("storage_requests_retried", "Sent again since the storage failed or was busy", None, storage.retried),
            ("storage_requests_refused", "Refused since too many waited", None, storage.refused),
            ("storage_transfers_stalled", "Given up since nothing moved", None, storage.stalled),
            ("storage_heartbeats", "Requests that keep connections open", None, storage.heartbeats),
            ("storage_bursts", "Requests that open windows", None, storage.bursts),
            ("storage_burst", "Bytes of these", Some(Unit::Bytes), storage.burst_bytes),
            ("storage_window_misses", "Uploads larger than the window they met", None, storage.window_misses),
        ];
        for (name, help, unit, count) in counts {
            let metric = ConstCounter::new(count);
            let descriptor = encoder.encode_descriptor(name, help, unit.as_ref(), metric.metric_type())?;
            metric.encode(descriptor)?;
        }
        let gauges = [
            ("storage_connections_open", "Connections to the storage", None, storage.open),
            ("storage_connections_idle", "Those that serve no request", None, storage.idle),
            ("storage_requests_waiting", "Requests that wait for a connection", None, storage.waiting),
            ("memory_in_use", "What requests hold", Some(Unit::Bytes), memory.in_use),
            ("memory_peak", "The most that they held", Some(Unit::Bytes), memory.peak),
            ("memory_limit", "The most that they may hold", Some(Unit::Bytes), memory.limit),
        ];
        for (name, help, unit, value) in gauges {
            let metric = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            let descriptor = encoder.encode_descriptor(name, help, unit.as_ref(), metric.metric_type())?;
            metric.encode(descriptor)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn label_values_are_escaped() {
        let family: Family<Of, Counter> = Family::default();
        family.get_or_create(&Of { operation: Value("a\"b\\c\nd") }).inc();
        let mut registry = Registry::default();
        registry.register("requests", "Requests", family);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        assert!(text.contains(r#"requests_total{operation="a\"b\\c\nd"} 1"#), "{text}");
    }
}
