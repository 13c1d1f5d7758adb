//! [`Metrics`]: counts requests for Prometheus.
//!
//! Labels come from the command line alone: the URLs as they were typed, without user and password.

use crate::client::exchange::Exchange;
use crate::report::figures::phases;
use crate::report::{floor, kernel};
use crate::requests::Request;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Bounds of the histograms, seconds.
const TIMES: [f64; 14] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfOutcome {
    url: String,
    connection: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfPhase {
    url: String,
    connection: &'static str,
    phase: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfCause {
    url: String,
    cause: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfUrl {
    url: String,
}

type Histograms = Family<OfPhase, Histogram, fn() -> Histogram>;

/// All counters.
pub struct Metrics {
    requests: Family<OfOutcome, Counter>,
    duration: Histograms,
    causes: Family<OfCause, Counter>,
    bytes: Family<OfUrl, Counter>,
    up: Family<OfUrl, Gauge>,
}

impl Metrics {
    /// Registers all metrics, under the prefix `whyslow_probe`.
    pub fn register(registry: &mut Registry) -> Self {
        let new: fn() -> Histogram = || Histogram::new(TIMES);
        let metrics = Self {
            requests: Family::default(),
            duration: Family::new_with_constructor(new),
            causes: Family::default(),
            bytes: Family::default(),
            up: Family::default(),
        };
        let all = registry.sub_registry_with_prefix("whyslow_probe");
        let outcomes = "Requests by outcome: ok, status (400 and above), or the phase that failed";
        all.register("requests", outcomes, metrics.requests.clone());
        let duration = "Duration of each phase of answered requests; total is all of them";
        all.register_with_unit("duration", duration, Unit::Seconds, metrics.duration.clone());
        let causes = "Answered requests by what took most of their time, from TCP_INFO";
        all.register("causes", causes, metrics.causes.clone());
        all.register_with_unit("body", "Bytes of bodies, both ways", Unit::Bytes, metrics.bytes.clone());
        all.register("up", "Whether the last request was answered below status 400", metrics.up.clone());
        metrics
    }

    /// Counts a request.
    pub fn add(&self, request: &Request) {
        let url = request.url.clone();
        let (connection, outcome) = match &request.outcome {
            Ok(exchange) => (kind(exchange), if exchange.last().status < 400 { "ok" } else { "status" }),
            Err(failure) => (if request.may_reuse { "reused" } else { "new" }, failure.phase.slug()),
        };
        self.requests.get_or_create(&OfOutcome { url: url.clone(), connection, outcome }).inc();
        self.up.get_or_create(&OfUrl { url: url.clone() }).set(i64::from(outcome == "ok"));
        let Ok(exchange) = &request.outcome else { return };
        for (phase, time) in phases(exchange) {
            let Some(time) = time else { continue };
            let labels = OfPhase { url: url.clone(), connection, phase };
            self.duration.get_or_create(&labels).observe(time.as_secs_f64());
        }
        let hop = exchange.last();
        self.bytes.get_or_create(&OfUrl { url: url.clone() }).inc_by(hop.body_bytes + hop.sent_bytes);
        let rtt = floor::Path::of(std::iter::once(request)).rtt();
        let cause = kernel::verdict(exchange, rtt).and_then(|verdict| verdict.cause).unwrap_or("none");
        self.causes.get_or_create(&OfCause { url, cause }).inc();
    }
}

fn kind(exchange: &Exchange) -> &'static str {
    if exchange.last().is_reused { "reused" } else { "new" }
}
