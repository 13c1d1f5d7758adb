#![allow(clippy::unwrap_used)]

use super::record::Record;
use crate::capture::{CaptureError, Packet, Reader, Sink, Summary};
use proptest::prelude::*;

/// The payload of each packet, and its time in milliseconds.
#[derive(Debug, Default, PartialEq)]
struct Payloads(Vec<(i64, Vec<u8>)>);

impl Sink for Payloads {
    fn packet(&mut self, packet: &Packet<'_>) {
        self.0.push((packet.time.0 / 1_000_000, packet.data[28..].to_vec()));
    }
}

fn read(text: &str, size: usize) -> (Payloads, Result<Summary, CaptureError>) {
    let (mut reader, mut payloads) = (Reader::new(), Payloads::default());
    for piece in text.as_bytes().chunks(size) {
        reader.push(piece, &mut payloads).unwrap();
    }
    let outcome = reader.finish(&mut payloads);
    (payloads, outcome)
}

const EVENTS: [&str; 7] = [
    r#"{"time":1000,"name":"transport:parameters_set","data":{"owner":"local","initial_max_data":65536}}"#,
    r#"{"time":1001.5,"name":"transport:packet_sent","data":{"header":{"packet_type":"initial","packet_number":0},"frames":[{"frame_type":"crypto","offset":0,"length":300}]}}"#,
    r#"{"time":1040,"name":"transport:packet_received","data":{"header":{"packet_type":"initial","packet_number":"0"},"frames":[{"frame_type":"ack","acked_ranges":[[0]]}]}}"#,
    r#"{"time":1041,"name":"http:frame_created","data":{"stream_id":0,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":path","value":"/a"}]}}}"#,
    r#"{"time":1041,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":40,"fin":true}]}}"#,
    r#"{"time":1082,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":5},"frames":[{"frame_type":"ack","acked_ranges":[[0,0],[1]]},{"frame_type":"stream","stream_id":0,"raw":{"payload_length":900}},{"frame_type":"max_data","maximum":99999}]}}"#,
    r#"{"time":1082.5,"name":"http:frame_parsed","data":{"stream_id":0,"frame":{"frame_type":"headers","headers":[{"name":":status","value":"200"}]}}}"#,
];

fn whole() -> String {
    let events = EVENTS.join(",");
    format!(r#"{{"qlog_version":"0.3","traces":[{{"events":[{events}],"vantage_point":{{"type":"client"}}}}]}}"#)
}

fn sequence() -> String {
    let header = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"common_fields":{"time_format":"relative","reference_time":0}}}"#;
    std::iter::once(header).chain(EVENTS).map(|record| format!("\u{1e}{record}\n")).collect()
}

#[test]
fn json_and_sequences_give_the_same() {
    let (payloads, outcome) = read(&whole(), usize::MAX);
    assert_eq!(outcome.unwrap().format, "qlog");
    let kinds: Vec<_> = payloads.0.iter().map(|(time, payload)| (*time, Record::read(payload).unwrap())).collect();
    assert!(matches!(kinds[0].1, Record::Parameters { is_client: true, .. }), "{kinds:?}");
    let names = kinds.iter().map(|(time, record)| {
        let kind = match record {
            Record::Parameters { .. } => 'p',
            Record::Packet { .. } => 'k',
            Record::Headers { .. } => 'h',
            Record::Alpn(_) => 'a',
            Record::Retry => 'r',
        };
        (*time, kind)
    });
    // Heads come before the packets that carry them.
    let expected =
        [(1001, 'p'), (1001, 'k'), (1041, 'a'), (1040, 'k'), (1041, 'h'), (1041, 'k'), (1082, 'h'), (1082, 'k')];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    for size in [1, 13, 1_000] {
        assert_eq!(read(&sequence(), size).0, payloads, "{size}");
    }
}

#[test]
fn log_without_packets_is_refused() {
    let (_, outcome) = read(r#"{"qlog_version":"0.3","traces":[{"events":[]}]}"#, 10);
    assert_eq!(outcome.unwrap_err().offset, 47);
}

#[test]
fn cut_log_is_read_as_far_as_it_goes() {
    let text = whole();
    let (payloads, outcome) = read(&text[..text.len() - 200], 50);
    let problems = outcome.unwrap().problems;
    assert!(payloads.0.len() >= 6 && problems.iter().any(|one| one.slug == "torn-record"), "{problems:?}");
}

proptest! {
    #[test]
    fn any_bytes_in_a_log_are_survived(junk in ".{0,200}", at in 0usize..900, size in 1usize..300) {
        let mut text = sequence();
        let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0).max(60);
        text.insert_str(at.min(text.len()), &junk);
        if text.is_char_boundary(at) {
            read(&text, size).1.ok();
        }
    }
}
