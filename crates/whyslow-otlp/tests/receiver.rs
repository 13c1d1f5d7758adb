//! A collector on this machine, which decodes each message.
#![allow(clippy::unwrap_used, missing_docs)]

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value as Any};
use prost::Message;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;
use whyslow_otlp::{Event, Exporter, Sent, Span, Value};

/// Gives these answers, one after the other, and returns the messages.
fn collector(answers: Vec<Vec<u8>>) -> (String, JoinHandle<Vec<ExportTraceServiceRequest>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for answer in answers {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
            }
            assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
            assert!(head.to_lowercase().contains("content-type: application/x-protobuf\r\n"), "{head}");
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            let mut body = vec![0; length.unwrap()];
            reader.read_exact(&mut body).unwrap();
            requests.push(ExportTraceServiceRequest::decode(body.as_slice()).unwrap());
            (&stream).write_all(&answer).unwrap();
        }
        requests
    });
    (address, thread)
}

fn answer(status: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nRetry-After: 0\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn exporter(address: &str) -> Exporter {
    let resource = vec![("service.name".to_owned(), Value::Text("whyslow".to_owned()))];
    Exporter::start(address.parse().unwrap(), resource, "1.2.3").unwrap()
}

fn span() -> Span {
    let attributes = vec![
        ("whyslow.cause".to_owned(), Value::Text("loss".to_owned())),
        ("whyslow.lost_s".to_owned(), Value::Number(1.25)),
        ("server.port".to_owned(), Value::Integer(443)),
    ];
    let events = vec![Event { name: "finding".to_owned(), time_ns: 7, attributes: Vec::new() }];
    Span { name: "TCP download".to_owned(), start_ns: 5, end_ns: 9, attributes, events }
}

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> &'a Any {
    let found = attributes.iter().find(|attribute| attribute.key == key).unwrap();
    found.value.as_ref().unwrap().value.as_ref().unwrap()
}

#[test]
fn a_collector_gets_spans_with_their_attributes() {
    let (address, collector) = collector(vec![answer("200 OK", b"")]);
    let exporter = exporter(&address);
    exporter.send(span());
    exporter.send(span());
    assert_eq!(exporter.finish(), Sent { sent: 2, dropped: 0, failure: None });
    let request = &collector.join().unwrap()[0].resource_spans[0];
    let resource = &request.resource.as_ref().unwrap().attributes;
    assert_eq!(value(resource, "service.name"), &Any::StringValue("whyslow".to_owned()));
    let scope = request.scope_spans[0].scope.as_ref().unwrap();
    assert_eq!((scope.name.as_str(), scope.version.as_str()), ("whyslow", "1.2.3"));
    let spans = &request.scope_spans[0].spans;
    assert_eq!(spans.len(), 2);
    assert_ne!(spans[0].trace_id, spans[1].trace_id);
    for span in spans {
        assert_eq!((span.trace_id.len(), span.span_id.len()), (16, 8));
        assert_eq!((span.start_time_unix_nano, span.end_time_unix_nano), (5, 9));
        assert_eq!(value(&span.attributes, "whyslow.cause"), &Any::StringValue("loss".to_owned()));
        assert_eq!(value(&span.attributes, "whyslow.lost_s"), &Any::DoubleValue(1.25));
        assert_eq!(value(&span.attributes, "server.port"), &Any::IntValue(443));
        assert_eq!(span.events[0].time_unix_nano, 7);
    }
}

#[test]
fn a_busy_collector_is_asked_again_and_gets_the_same_batch() {
    let answers =
        vec![answer("503 Service Unavailable", b""), answer("429 Too Many Requests", b""), answer("200 OK", b"")];
    let (address, collector) = collector(answers);
    let exporter = exporter(&address);
    // A full batch is sent at once, before the end.
    (0..512).for_each(|_| exporter.send(span()));
    let requests = collector.join().unwrap();
    assert_eq!(exporter.finish(), Sent { sent: 512, dropped: 0, failure: None });
    assert!(requests[0] == requests[1] && requests[1] == requests[2], "with the same ids");
}

#[test]
fn refused_and_rejected_spans_are_counted() {
    let (address, _collector) = collector(vec![answer("400 Bad Request", b"")]);
    let exporter = exporter(&address);
    exporter.send(span());
    let sent = exporter.finish();
    assert_eq!((sent.sent, sent.dropped), (0, 1));
    assert!(sent.failure.unwrap().contains("400"));
    let partial = ExportTracePartialSuccess { rejected_spans: 1, error_message: "too old".to_owned() };
    let body = ExportTraceServiceResponse { partial_success: Some(partial) }.encode_to_vec();
    let (address, _collector) = self::collector(vec![answer("200 OK", &body)]);
    let exporter = self::exporter(&address);
    (0..3).for_each(|_| exporter.send(span()));
    assert_eq!(exporter.finish(), Sent { sent: 2, dropped: 1, failure: Some("too old".to_owned()) });
}

#[test]
fn without_a_collector_all_are_dropped_and_nothing_waits() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let exporter = exporter(&format!("http://{closed}"));
    (0..10_000).for_each(|_| exporter.send(span()));
    // Waiting spans are given up after one attempt each at the end.
    let sent = exporter.finish();
    assert_eq!((sent.sent, sent.dropped), (0, 10_000));
    assert!(sent.failure.unwrap().starts_with("cannot connect"));
}
