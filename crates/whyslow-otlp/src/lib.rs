//! Spans for a collector of OpenTelemetry, over OTLP/HTTP with protobuf.
//!
//! ```text
//!   Exporter::send ─▶ queue (bounded) ─▶ batches ─▶ POST /v1/traces
//!      (never waits)                      (again after 429, 502, 503, 504)
//! ```
//!
//! It knows neither captures nor causes: a span is a name, two times, attributes and events.

mod endpoint;
mod export;
mod message;

pub use endpoint::{Endpoint, InvalidEndpoint};
pub use export::{Exporter, Sent};
pub use message::{Event, Span, Value};
