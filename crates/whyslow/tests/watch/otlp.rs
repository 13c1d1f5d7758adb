//! Spans for a collector of OpenTelemetry.

use crate::{json_lines, piped, sample};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use prost::Message;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

/// Takes one request, and returns its message.
fn collector() -> (String, std::thread::JoinHandle<ExportTraceServiceRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let (mut reader, mut length) = (BufReader::new(stream.try_clone().unwrap()), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.trim_end().to_lowercase().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                None if line.trim().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        ExportTraceServiceRequest::decode(body.as_slice()).unwrap()
    });
    (address, thread)
}

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Value> {
    attributes.iter().find(|attribute| attribute.key == key)?.value.as_ref()?.value.as_ref()
}

#[test]
fn a_slow_transfer_is_a_span_with_its_cause() {
    let bytes = std::fs::read(sample("timeout-server")).unwrap();
    let (address, collector) = collector();
    let output = piped(&bytes, 4_096, &["--jsonl", "--slower-than", "10ms", "--otlp", &address]);
    let lines = json_lines(&output);
    let transfers: Vec<_> = lines.iter().filter(|line| line["type"] == "transfer").collect();
    let place =
        transfers.iter().position(|line| line["connection"]["transfers"][0]["findings"][0].is_object()).unwrap();
    let line = transfers[place];
    let message = collector.join().unwrap();
    let resource = &message.resource_spans[0];
    let attributes = &resource.resource.as_ref().unwrap().attributes;
    assert_eq!(value(attributes, "service.name"), Some(&Value::StringValue("whyslow".to_owned())));
    let spans = &resource.scope_spans[0].spans;
    assert_eq!(spans.len(), transfers.len());
    let (span, transfer) = (&spans[place], &line["connection"]["transfers"][0]);
    let finding = &transfer["findings"][0];
    let text = |json: &serde_json::Value| Some(Value::StringValue(json.as_str().unwrap().to_owned()));
    assert_eq!(value(&span.attributes, "whyslow.cause").cloned(), text(&finding["cause"]));
    assert_eq!(value(&span.attributes, "client.address").cloned(), text(&line["connection"]["client"]["address"]));
    let Some(Value::DoubleValue(took)) = value(&span.attributes, "whyslow.took_s") else { panic!("{span:?}") };
    let lasted = (span.end_time_unix_nano - span.start_time_unix_nano) as f64 / 1e9;
    assert!((lasted - took).abs() < 1e-6 && *took > 0.01, "{lasted} {took}");
    let causes: Vec<_> = span.events.iter().map(|event| value(&event.attributes, "whyslow.cause").cloned()).collect();
    let expected: Vec<_> =
        transfer["findings"].as_array().unwrap().iter().map(|finding| text(&finding["cause"])).collect();
    assert_eq!(causes, expected);
    assert!(span.events.iter().all(|event| event.name == "whyslow.finding"));
}

#[test]
fn a_collector_that_is_not_there_changes_nothing_else() {
    let bytes = std::fs::read(sample("timeout-server")).unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let arguments = ["--jsonl", "--slower-than", "10ms", "--otlp", &format!("http://{closed}")];
    let output = piped(&bytes, 4_096, &arguments);
    assert!(json_lines(&output).iter().any(|line| line["type"] == "transfer"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("--otlp: ") && message.contains("not sent: cannot connect"), "{message}");
}
