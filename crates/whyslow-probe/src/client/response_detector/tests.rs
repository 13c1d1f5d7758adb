#![allow(clippy::unwrap_used)]
use super::*;
use std::time::{Duration, Instant};

/// Arrivals one millisecond apart.
fn arrivals() -> impl FnMut() -> Arrival {
    let start = Instant::now();
    let mut count = 0;
    move || {
        count += 1;
        let at = start + Duration::from_millis(count);
        Arrival { first: at, last: at, bytes: count }
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

#[test]
fn an_answer_begins_with_its_status_line_and_not_with_an_interim_one() {
    let (mut at, mut spotter) = (arrivals(), ResponseDetector::http1());
    spotter.begin(0);
    spotter.wrote(b"GET / HTTP/1.1\r\nHost: a\r\n");
    assert!(!spotter.request_is_written());
    spotter.wrote(b"\r\n");
    assert!(spotter.request_is_written());
    spotter.read(b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n", at());
    spotter.read(b"\r\n", at());
    assert!(spotter.answer().is_none());
    spotter.read(b"HTTP/1.1 2", at());
    spotter.read(b"00 OK\r\nA: b\r\n\r\nbody", at());
    assert_eq!(spotter.answer().unwrap().bytes, 3);
}

#[test]
fn an_interim_answer_and_the_final_one_may_come_together() {
    let (mut at, mut spotter) = (arrivals(), ResponseDetector::http1());
    spotter.begin(0);
    spotter.read(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", at());
    assert_eq!(spotter.answer().unwrap().bytes, 1);
}

#[test]
fn a_request_is_written_with_its_body() {
    let mut spotter = ResponseDetector::http1();
    spotter.begin(6);
    spotter.wrote(b"PUT / HTTP/1.1\r\n\r\nabc");
    assert!(!spotter.request_is_written());
    spotter.wrote(b"def");
    assert!(spotter.request_is_written());
}

#[test]
fn frames_of_http2_are_separated_in_any_split() {
    let mut bytes = frame(4, 0, 0, &[0; 6]);
    // 103, by its text with Huffman's code; then 200 by the static table; then data.
    bytes.extend(frame(HEADERS, 4, 1, &[0x48, 0x82, 0x08, 0x19, 0x88]));
    let interim = bytes.len();
    bytes.extend(frame(HEADERS, 4, 1, &[0x88, 0x5f]));
    bytes.extend(frame(DATA, END_STREAM, 1, &[0; 100]));
    for size in [1, 2, 7, 1000] {
        let (mut at, mut spotter) = (arrivals(), ResponseDetector::http2());
        spotter.begin(0);
        for piece in bytes.chunks(size) {
            spotter.read(piece, at());
        }
        let expected = interim / size + 1;
        assert_eq!(spotter.answer().unwrap().bytes, expected as u64, "pieces of {size}");
    }
}

#[test]
fn a_status_of_the_dynamic_table_counts_until_the_final_one() {
    let (mut at, mut spotter) = (arrivals(), ResponseDetector::http2());
    spotter.begin(0);
    spotter.begin(0);
    spotter.read(&frame(HEADERS, 4, 1, &[0x88]), at());
    assert!(spotter.answer().is_none(), "of an earlier request");
    spotter.read(&frame(HEADERS, 4, 3, &[0xbe]), at());
    spotter.read(&frame(HEADERS, 4, 3, &[0xbf]), at());
    spotter.read(&frame(DATA, 0, 3, b"x"), at());
    // Trailers.
    spotter.read(&frame(HEADERS, 5, 3, &[0xc0]), at());
    assert_eq!(spotter.answer().unwrap().bytes, 3);
}

#[test]
fn a_request_of_http2_ends_with_its_stream() {
    let mut spotter = ResponseDetector::http2();
    spotter.begin(5);
    spotter.wrote(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    spotter.wrote(&frame(4, 0, 0, &[]));
    spotter.wrote(&frame(HEADERS, 4, 1, &[0x83]));
    assert!(!spotter.request_is_written());
    let data = frame(DATA, END_STREAM, 1, b"hello");
    spotter.wrote(&data[..12]);
    assert!(!spotter.request_is_written());
    spotter.wrote(&data[12..]);
    assert!(spotter.request_is_written());
}

#[test]
fn a_flood_of_interim_answers_ends_after_a_hundred() {
    let (mut at, mut one) = (arrivals(), ResponseDetector::http1());
    one.begin(0);
    let interim = b"HTTP/1.1 103 Early Hints\r\n\r\n";
    one.read(&interim.repeat(100), at());
    assert_eq!(one.excess(), None);
    one.read(interim, at());
    assert!(one.excess().unwrap().contains("100 interim answers"));
    // The next request has its own count.
    one.begin(0);
    assert_eq!(one.excess(), None);
    let mut two = ResponseDetector::http2();
    two.begin(0);
    for _ in 0..100 {
        two.read(&frame(HEADERS, 4, 1, &[0x48, 0x82, 0x08, 0x19, 0x88]), at());
    }
    assert_eq!(two.excess(), None);
    two.read(&frame(HEADERS, 4, 1, &[0x48, 0x82, 0x08, 0x19, 0x88]), at());
    assert!(two.excess().unwrap().contains("100 interim answers"));
}

#[test]
fn a_head_without_end_is_cut_at_its_limit() {
    let (mut at, mut one) = (arrivals(), ResponseDetector::http1());
    one.begin(0);
    one.read(b"HTTP/1.1 200 OK\r\nX: ", at());
    for _ in 0..LONGEST_HEAD / 64 {
        one.read(&[b'a'; 64], at());
    }
    assert!(one.excess().unwrap().contains("256 KiB"));
    let mut two = ResponseDetector::http2();
    two.begin(0);
    two.read(&frame(HEADERS, 0, 1, &[0x88]), at());
    for _ in 0..17 {
        two.read(&frame(CONTINUATION, 0, 1, &[0; 16_384]), at());
    }
    assert!(two.excess().unwrap().contains("256 KiB"));
    let mut pings = ResponseDetector::http2();
    pings.begin(0);
    for _ in 0..=MOST_OTHERS {
        pings.read(&frame(6, 0, 0, &[0; 8]), at());
    }
    assert!(pings.excess().unwrap().contains("frames of HTTP/2"));
}

#[test]
fn a_head_is_found_in_any_split() {
    let text = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody";
    for size in 1..text.len() {
        let (mut at, mut one) = (arrivals(), ResponseDetector::http1());
        one.begin(0);
        text.chunks(size).for_each(|piece| one.read(piece, at()));
        let first_byte_of_answer = 25 / size + 1;
        assert_eq!(one.answer().map(|answer| answer.bytes), Some(first_byte_of_answer as u64), "pieces of {size}");
        assert_eq!((one.head_bytes(), one.excess()), (50, None));
    }
}

#[test]
fn bytes_of_a_body_are_counted_as_they_are_written() {
    let mut one = ResponseDetector::http1();
    one.begin(6);
    one.wrote(b"PUT / HTTP/1.1\r\n\r\nab");
    assert_eq!(one.body_written(), 2);
    let mut two = ResponseDetector::http2();
    two.begin(6);
    let mut bytes = vec![0; PREFACE];
    bytes.extend(frame(HEADERS, 4, 1, &[0x83]));
    bytes.extend(frame(DATA, 0, 1, b"abc"));
    two.wrote(&bytes);
    assert_eq!(two.body_written(), 3);
}
