//! [`Span`], and the message that carries many.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event as EventMessage, SpanKind};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span as SpanMessage};

/// Maximum characters of a text: peers choose some of them.
const MOST_CHARACTERS: usize = 1_024;

/// Something that took time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    /// A name that few spans have of their own.
    pub name: String,
    /// Its beginning, nanoseconds since 1970-01-01 UTC.
    pub start_ns: u64,
    /// Its end, nanoseconds since 1970-01-01 UTC.
    pub end_ns: u64,
    /// Attributes by name.
    pub attributes: Vec<(String, Value)>,
    /// Its known events.
    pub events: Vec<Event>,
}

/// Something within a span.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// When it was, nanoseconds since 1970-01-01 UTC.
    pub time_ns: u64,
    /// Attributes by name.
    pub attributes: Vec<(String, Value)>,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text; longer ones are cut at 1,024 characters.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
}

impl From<Value> for AnyValue {
    fn from(value: Value) -> Self {
        let value = match value {
            Value::Text(text) => any_value::Value::StringValue(cut(text)),
            Value::Integer(number) => any_value::Value::IntValue(number),
            Value::Number(number) => any_value::Value::DoubleValue(number),
        };
        Self { value: Some(value) }
    }
}

fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MOST_CHARACTERS) {
        text.truncate(end);
    }
    text
}

fn attributes(all: Vec<(String, Value)>) -> Vec<KeyValue> {
    all.into_iter().map(|(key, value)| KeyValue { key, value: Some(value.into()), ..KeyValue::default() }).collect()
}

impl Span {
    fn message(self) -> SpanMessage {
        let event = |event: Event| EventMessage {
            time_unix_nano: event.time_ns,
            name: event.name,
            attributes: attributes(event.attributes),
            dropped_attributes_count: 0,
        };
        SpanMessage {
            // Packets do not show the trace of their application.
            trace_id: random::<16>(),
            span_id: random::<8>(),
            name: self.name,
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: self.start_ns,
            end_time_unix_nano: self.end_ns,
            attributes: attributes(self.attributes),
            events: self.events.into_iter().map(event).collect(),
            ..SpanMessage::default()
        }
    }
}

/// An id, which must not be zero.
fn random<const LENGTH: usize>() -> Vec<u8> {
    let mut id = [0; LENGTH];
    while id == [0; LENGTH] {
        if getrandom::fill(&mut id).is_err() {
            id = [1; LENGTH];
        }
    }
    id.to_vec()
}

/// The message of a batch.
pub(crate) fn request(
    spans: impl Iterator<Item = Span>,
    resource: &[(String, Value)],
    version: &str,
) -> ExportTraceServiceRequest {
    let scope = InstrumentationScope {
        name: "whyslow".to_owned(),
        version: version.to_owned(),
        ..InstrumentationScope::default()
    };
    let scope_spans =
        vec![ScopeSpans { scope: Some(scope), spans: spans.map(Span::message).collect(), ..ScopeSpans::default() }];
    let resource = Resource { attributes: attributes(resource.to_vec()), ..Resource::default() };
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans { resource: Some(resource), scope_spans, ..ResourceSpans::default() }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut("é".repeat(2_000)).chars().count(), MOST_CHARACTERS);
        assert_eq!(cut("short".to_owned()), "short");
    }

    #[test]
    fn ids_differ_and_are_not_zero() {
        let ids: std::collections::HashSet<Vec<u8>> = (0..1_000).map(|_| random::<8>()).collect();
        assert!(ids.len() == 1_000 && ids.iter().all(|id| id.iter().any(|byte| *byte != 0)));
    }
}
