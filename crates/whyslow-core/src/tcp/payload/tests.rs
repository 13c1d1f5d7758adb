#![allow(clippy::unwrap_used)]

mod captures;
mod properties;

use super::protocol::{GATHER_MAX, LIST_MAX};
use super::*;

/// A TLS record.
pub(super) fn record(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind, 3, 3], &u16::try_from(body.len()).unwrap().to_be_bytes()[..], body].concat()
}

/// An extension, or another field with a 16-bit length: its prefix, its length, and its body.
fn sized(prefix: &[u8], body: &[u8]) -> Vec<u8> {
    [prefix, &u16::try_from(body.len()).unwrap().to_be_bytes()[..], body].concat()
}

/// A handshake message.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &u32::try_from(body.len()).unwrap().to_be_bytes()[1..], body].concat()
}

/// A ClientHello with `padding` bytes in an extension before the server name.
pub(super) fn client_hello(name: &str, padding: usize) -> Vec<u8> {
    let server_name = sized(&[0, 0], &sized(&[], &sized(&[0], name.as_bytes())));
    let extensions = [sized(&[0, 21], &vec![0; padding]), server_name, sized(&[0, 23], &[])].concat();
    let head = [&[3, 3][..], &[7; 32], &[4, 1, 2, 3, 4], &[0, 2, 0x13, 1], &[1, 0]].concat();
    message(1, &[head, sized(&[], &extensions)].concat())
}

/// A ServerHello, with a supported_versions extension if there is a version.
pub(super) fn server_hello(version: Option<u16>) -> Vec<u8> {
    let mut extensions = sized(&[0xff, 1], &[0]);
    if let Some(version) = version {
        extensions.extend(sized(&[0, 43], &version.to_be_bytes()));
    }
    let head = [&[3, 3][..], &[7; 32], &[0], &[0x13, 1, 0]].concat();
    message(2, &[head, sized(&[], &extensions)].concat())
}

/// Feeds a stream in segments of `size` bytes from sequence number 1, each cut to `snap` bytes.
fn feed(stream: &mut Stream, bytes: &[u8], size: usize, snap: usize) {
    for segment in bytes.chunks(size) {
        let start = stream.next().max(1);
        stream.feed(start, segment.len() as u64, &segment[..segment.len().min(snap)]);
    }
}

pub(super) fn content(bytes: &[u8], size: usize, snap: usize) -> Content {
    let mut stream = Stream::default();
    feed(&mut stream, bytes, size, snap);
    stream.finish()
}

#[test]
fn message_with_a_known_length_has_an_end() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nServer: x\r\n\r\n";
    let whole = content(head, head.len() + 5_000, head.len());
    let end = 1 + head.len() as u64 + 5_000;
    assert!(whole.is_announced((1, end)) && whole.is_announced((400, end)) && !whole.is_announced((1, end + 1)));
    // The head is truncated after the length, and may continue.
    let cut = content(head, head.len() + 5_000, head.len() - 5);
    assert!(cut.is_announced((1, end)) && !cut.is_announced((1, end + 10_000)));
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert!(!content(chunked, 1_000, chunked.len()).is_announced((1, 500)), "events may be pushed so");
}

fn labels(content: &Content) -> Vec<&str> {
    content.heads.iter().map(|(_, label)| label.as_str()).collect()
}

#[test]
fn a_stream_is_small() {
    assert!(size_of::<Stream>() <= 96, "{}", size_of::<Stream>());
}

#[test]
fn empty_stream_has_no_content() {
    let mut stream = Stream::default();
    stream.on_turn();
    stream.feed(1, 0, &[]);
    assert_eq!(stream.next(), 0);
    assert_eq!(stream.finish(), Content::default());
}

#[test]
fn tls12_client() {
    let hello = record(22, &client_hello("www.example.org", 10));
    let end = hello.len() as u64;
    let finished = [record(22, &[16; 70]), record(20, &[1]), record(22, &[9; 40])].concat();
    let mut stream = Stream::default();
    feed(&mut stream, &hello, 1000, 1000);
    stream.on_turn();
    feed(&mut stream, &finished, 1000, 1000);
    stream.on_turn();
    feed(&mut stream, &[record(23, &[1; 300]), record(23, &[1; 20])].concat(), 1000, 1000);
    let content = stream.finish();
    let (flight, data) = (1 + end, 1 + end + finished.len() as u64);
    assert_eq!(
        content,
        Content {
            protocol: Some(Protocol::Tls),
            server_name: Some("www.example.org".into()),
            handshake_end: Some(data),
            first_application_data: Some((data, data + 305)),
            second_application_data: Some(data + 305),
            firsts: vec![(1, flight, 22), (flight, flight + 75, 22), (data, data + 305, 23)],
            records: 6,
            largest_record: u32::try_from(end.max(305)).unwrap(),
            ..Content::default()
        }
    );
}

#[test]
fn server_hello_shows_the_version() {
    for (version, is_tls13) in [(Some(0x0304), true), (Some(0x0303), false), (None, false)] {
        // The certificate follows in the same record.
        let flight = record(22, &[server_hello(version), message(11, &[5; 900])].concat());
        for size in [1, 7, 2000] {
            assert_eq!(content(&flight, size, 2000).tls13, Some(is_tls13), "{version:?}");
        }
        // Truncated before the extensions: unknown.
        assert_eq!(content(&flight, 2000, 40).tls13, None);
    }
    // The extension is captured, the bytes after it are not.
    let flight = record(22, &server_hello(Some(0x0304)));
    assert_eq!(content(&flight, 2000, flight.len()).tls13, Some(true));
    // A hello without any extensions.
    let hello = message(2, &[&[3, 1][..], &[7; 32], &[0], &[0, 5, 0]].concat());
    assert_eq!(content(&record(22, &hello), 2000, 2000).tls13, Some(false));
}

#[test]
fn hello_split_over_segments_and_records_is_read() {
    let hello = client_hello("a.example", 3000);
    let records: Vec<u8> = hello.chunks(700).flat_map(|part| record(22, part)).collect();
    for size in [1, 3, 5, 699, 1448, 10_000] {
        assert_eq!(content(&records, size, 10_000).server_name.as_deref(), Some("a.example"), "{size}");
    }
    // A missing byte in the middle: no name, but the chain continues.
    assert_eq!(content(&records, 1448, 1447).server_name, None);
    let mut stream = Stream::default();
    feed(&mut stream, &records[..1448], 1448, 1448);
    assert!(stream.gather.is_some());
    stream.feed(1449, 1448, &[]);
    assert!(stream.gather.is_none(), "nothing is kept in vain");
}

#[test]
fn server_name_is_reported_only_if_complete_and_printable() {
    let hello = record(22, &client_hello("name.example", 0));
    let end = hello.windows(12).position(|window| window == b"name.example").unwrap() + 12;
    assert_eq!(content(&hello, 2000, end - 1).server_name, None);
    assert_eq!(content(&hello, 2000, end).server_name.as_deref(), Some("name.example"));
    for bad in ["bad\x1b[2J", "", "two words", "é", &"x".repeat(256)] {
        assert_eq!(content(&record(22, &client_hello(bad, 0)), 2000, 2000).server_name, None, "{bad}");
    }
}

#[test]
fn large_records_keep_the_chain_under_a_short_snapshot() {
    // 16 KiB records whose headers are anywhere in their segments, and a header split over two
    // segments.
    let mut bytes = record(22, &client_hello("long.example", 0));
    for len in [1300, 16_384, 16_384, 5000] {
        bytes.extend(record(23, &vec![0xaa; len]));
    }
    let whole = content(&bytes, 1448, 1448);
    assert_eq!((whole.records, whole.largest_record), (5, 16_389));
    // Every header starts a segment: 30 captured bytes of each segment are enough for the framing.
    let mut stream = Stream::default();
    let mut at = 0;
    while at < bytes.len() {
        let len = 5 + usize::from(u16::from_be_bytes([bytes[at + 3], bytes[at + 4]]));
        feed(&mut stream, &bytes[at..at + len], 1000, 30);
        at += len;
    }
    assert_eq!(Content { server_name: None, ..whole.clone() }, Content { server_name: None, ..stream.finish() });
}

#[test]
fn record_chain_restarts_at_a_segment() {
    let hello = record(22, &client_hello("gap.example", 0));
    let (one, two, three) = (record(23, &[1; 500]), record(23, &[2; 600]), record(23, &[3; 700]));
    let mut stream = Stream::default();
    feed(&mut stream, &hello, 2000, 2000);
    let at = stream.next();
    feed(&mut stream, &one, 2000, 2000);
    // The header of `two` is in a hole.
    let third = stream.next() + two.len() as u64;
    stream.feed(third, three.len() as u64, &three);
    let content = stream.finish();
    assert_eq!(content.records, 3);
    assert_eq!(content.first_application_data, Some((at, at + 505)));
    assert_eq!(content.second_application_data, None, "the second one is unknown");
    assert_eq!(content.largest_record, 705);
}

#[test]
fn hole_inside_a_record_keeps_the_chain() {
    let bytes = [record(22, &client_hello("gap.example", 0)), record(23, &[1; 5000]), record(23, &[2; 60])].concat();
    let mut stream = Stream::default();
    let mut at = 1;
    for (index, segment) in bytes.chunks(1000).enumerate() {
        if index != 2 {
            stream.feed(at, segment.len() as u64, segment);
        }
        at += segment.len() as u64;
    }
    assert_eq!(stream.finish(), content(&bytes, 1000, 1000));
}

#[test]
fn late_segment_brings_the_expected_header() {
    let bytes = [record(22, &client_hello("late.example", 0)), record(23, &[1; 3000])].concat();
    let hello = bytes.len() - 3005;
    let mut stream = Stream::default();
    stream.feed(1, hello as u64, &bytes[..hello]);
    stream.on_turn();
    let at = stream.next();
    stream.feed(at + 1000, 1000, &bytes[hello + 1000..hello + 2000]);
    stream.feed(at, 1000, &bytes[hello..hello + 1000]);
    stream.feed(at, 1000, &bytes[hello..hello + 1000]);
    stream.feed(at + 2000, 1005, &bytes[hello + 2000..]);
    let found = stream.finish();
    assert_eq!(found.firsts.last(), Some(&(at, at + 3005, 23)));
    assert_eq!(found.records, 2);
}

#[test]
fn the_first_bytes_may_be_late() {
    let bytes = record(22, &client_hello("late.example", 2000));
    let mut stream = Stream::default();
    stream.feed(1449, (bytes.len() - 1448) as u64, &bytes[1448..]);
    stream.feed(1, 1448, &bytes[..1448]);
    let found = stream.finish();
    assert_eq!((found.protocol, found.records), (Some(Protocol::Tls), 1));
}

#[test]
fn tls_is_recognised_in_an_open_connection() {
    // A record that fills its segment, two records, and one that is longer than the segment.
    let (small, large) = (record(23, &[1; 100]), record(23, &[2; 9000]));
    for bytes in [small.clone(), [small.clone(), small].concat(), large] {
        assert_eq!(content(&bytes, 1448, 1448).protocol, Some(Protocol::Tls));
    }
    // The same bytes inside a stream of another protocol are not sufficient.
    let mut stream = Stream::default();
    feed(&mut stream, &[b'x'; 100], 100, 100);
    feed(&mut stream, &record(23, &[2; 9000]), 1448, 1448);
    assert_eq!(stream.finish().protocol, None);
    // STARTTLS: the hello is sufficient.
    let mut stream = Stream::default();
    feed(&mut stream, b"EHLO client\r\nSTARTTLS\r\n", 100, 100);
    stream.on_turn();
    feed(&mut stream, &record(22, &client_hello("mail.example", 0)), 100, 100);
    assert_eq!(stream.finish().server_name.as_deref(), Some("mail.example"));
}

#[test]
fn invalid_records_are_ignored() {
    for header in
        [[22, 2, 1, 0, 5], [22, 3, 0, 0, 5], [22, 3, 5, 0, 5], [25, 3, 3, 0, 5], [23, 3, 3, 0, 0], [23, 3, 3, 0x48, 1]]
    {
        assert!(tls::Header::read(&header).is_none(), "{header:?}");
    }
    assert_eq!(tls::Header::read(&[24, 3, 4, 0x48, 0]).unwrap().len, 18_432);
    assert!(tls::Header::read(&[23, 3, 3, 1]).is_none());
}

#[test]
fn http_request_and_response_have_heads() {
    let mut client = Stream::default();
    let request = b"GET /a?b=c HTTP/1.1\r\nUser-Agent: x\r\nhOST:  www.example.org:8080 \r\n\r\n";
    feed(&mut client, request, 2000, 2000);
    client.on_turn();
    feed(&mut client, b"POST /up HTTP/1.1\r\nHost: other\r\nContent-Length: 20\r\n\r\n", 2000, 2000);
    feed(&mut client, b"POST / HTTP/1.1 body", 2000, 2000);
    client.on_turn();
    feed(&mut client, b"DELETE /x HTTP/1.1\r\n\r\n", 2000, 2000);
    let content = client.finish();
    assert_eq!(content.protocol, Some(Protocol::Http));
    assert_eq!(content.server_name.as_deref(), Some("www.example.org"));
    assert_eq!(labels(&content), ["GET /a?b=c", "POST /up", "DELETE /x"]);
    assert_eq!(content.heads[1].0, 1 + request.len() as u64);

    let mut server = Stream::default();
    feed(&mut server, b"HTTP/1.0 200 OK\r\nServer: y\r\n\r\nbody", 2000, 2000);
    server.on_turn();
    feed(&mut server, b"HTTP/1.1 404\r\n\r\n", 2000, 2000);
    assert_eq!(labels(&server.finish()), ["200 OK", "404"]);
}

#[test]
fn pipelined_heads_are_found() {
    // Pipelined requests and their responses: the known length of a body leads to the next one.
    let requests = b"GET /1 HTTP/1.1\r\n\r\nPUT /2 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcHEAD /3 HTTP/1.1\r\n\r\n";
    let answers = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbodyHTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    for size in [1, 2, 19, 1000] {
        assert_eq!(labels(&content(requests, size, 1000)), ["GET /1", "PUT /2", "HEAD /3"], "{size}");
        let found = content(answers, size, 1000);
        assert_eq!(labels(&found), ["100 Continue", "200 OK", "304 Not Modified", "204 No Content"], "{size}");
    }
}

#[test]
fn truncated_head_gives_its_captured_fields() {
    let request = b"GET /0000000000000000.data HTTP/1.1\r\nHost: 172.31.82.1:8000\r\nAccept: */*\r\n\r\n";
    let name = request.windows(11).position(|window| window == b"172.31.82.1").unwrap();
    for (snap, label, host) in [
        (8, Some("GET /000…"), None),
        (30, Some("GET /0000000000000000.data"), None),
        (name + 11, Some("GET /0000000000000000.data"), None),
        (name + 12, Some("GET /0000000000000000.data"), Some("172.31.82.1")),
        (3, None, None),
    ] {
        let found = content(request, 1000, snap);
        assert_eq!(labels(&found), label.as_slice(), "{snap}");
        assert_eq!(found.server_name.as_deref(), host, "{snap}");
    }
    assert_eq!(labels(&content(b"HTTP/1.1 404 Not Found\r\n\r\n", 100, 16)), ["404 Not…"]);
    assert_eq!(labels(&content(b"HTTP/1.1 404 Not Found\r\n\r\n", 100, 11)), [""; 0]);
    // In the middle of a stream, a truncated request line is not sufficient; a complete one is.
    for (snap, count) in [(10, 0), (100, 1)] {
        let mut stream = Stream::default();
        feed(&mut stream, b"something else", 100, 100);
        feed(&mut stream, b"GET /path HTTP/1.1\r\n\r\n", 100, snap);
        assert_eq!(stream.finish().heads.len(), count);
    }
}

#[test]
fn labels_are_short_and_printable() {
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(200));
    assert_eq!(labels(&content(long.as_bytes(), 1000, 1000)), [format!("GET /{}…", "x".repeat(78))]);
    let exact = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(79));
    assert_eq!(labels(&content(exact.as_bytes(), 1000, 1000)), [format!("GET /{}", "x".repeat(79))]);
    let hostile = b"GET /\x1b[2J\xff HTTP/1.1\r\nHost: \x1b[2J\r\n\r\n";
    let found = content(hostile, 1000, 1000);
    assert_eq!(labels(&found), ["GET /\\x1b[2J\\xff"]);
    assert_eq!(found.server_name, None);
    assert_eq!(labels(&content(b"HTTP/1.1 200 \x07\r\n\r\n", 100, 100)), ["200 \\x07"]);
}

#[test]
fn other_text_is_not_http() {
    for bytes in [
        &b"GET / RTSP/1.0\r\n\r\n"[..],
        b"GET  HTTP/1.1\r\n\r\n",
        b"GET key\r\n",
        b"get / HTTP/1.1\r\n\r\n",
        b"FETCH / HTTP/1.1\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 2xx OK\r\n\r\n",
        b"HTTP/1.1 2000\r\n\r\n",
    ] {
        assert_eq!(content(bytes, 100, 100), Content::default(), "{}", bytes.escape_ascii());
    }
    let preface = content(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 100, 100);
    assert_eq!(preface, Content { is_http2: true, ..Content::default() }, "no head of HTTP/1");
}

#[test]
fn a_tunnel_becomes_tls() {
    let mut stream = Stream::default();
    feed(&mut stream, b"CONNECT www.example.org:443 HTTP/1.1\r\nHost: www.example.org:443\r\n\r\n", 1000, 1000);
    stream.on_turn();
    feed(&mut stream, &record(22, &client_hello("inner.example.org", 0)), 1000, 1000);
    let content = stream.finish();
    assert_eq!(content.protocol, Some(Protocol::Tls));
    assert_eq!(content.server_name.as_deref(), Some("inner.example.org"));
    assert_eq!(labels(&content), ["CONNECT www.example.org:443"]);
}

#[test]
fn truncated_nats_command_is_not_a_request() {
    let mut stream = Stream::default();
    feed(&mut stream, b"CONNECT {\"verbose\":false,\"pedantic", 1000, 1000);
    assert_eq!(labels(&stream.finish()), [""; 0]);
}

#[test]
fn ssh_is_named() {
    for size in [1, 3, 100] {
        assert_eq!(
            content(b"SSH-2.0-OpenSSH_9.6\r\n", size, 100),
            Content { protocol: Some(Protocol::Ssh), ..Content::default() }
        );
    }
    assert_eq!(content(b"an SSH-2.0", 100, 100).protocol, None);
}

#[test]
fn host_names_lose_their_port() {
    for (host, name) in [
        ("a.example", Some("a.example")),
        ("a.example:80", Some("a.example")),
        ("[2001:db8::1]:80", Some("[2001:db8::1]")),
        ("[2001:db8::1]", Some("[2001:db8::1]")),
        ("a:b", Some("a:b")),
        ("", None),
        ("two words", None),
    ] {
        let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(content(head.as_bytes(), 100, 100).server_name.as_deref(), name);
    }
}

#[test]
fn lists_are_bounded() {
    let mut stream = Stream::default();
    for _ in 0..LIST_MAX + 10 {
        feed(&mut stream, b"GET / HTTP/1.1\r\n\r\n", 100, 100);
        stream.on_turn();
    }
    assert_eq!(stream.finish().heads.len(), LIST_MAX);
    let mut stream = Stream::default();
    for _ in 0..LIST_MAX + 10 {
        feed(&mut stream, &record(23, &[0; 10]), 100, 100);
        stream.on_turn();
    }
    let content = stream.finish();
    assert_eq!((content.firsts.len(), content.records), (LIST_MAX, LIST_MAX as u64 + 10));
}

#[test]
fn positions_saturate() {
    // Heads and records that point beyond the last position, in bytes that reach it.
    for bytes in [&b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"[..], &record(22, &client_hello("end.example", 100))]
    {
        let bytes = bytes.repeat(3);
        let mut stream = Stream::default();
        stream.feed(u64::MAX - 60, bytes.len() as u64, &bytes);
        stream.on_turn();
        stream.feed(u64::MAX - 60, bytes.len() as u64, &bytes);
        assert_eq!(stream.next(), u64::MAX);
        assert!(stream.finish().protocol.is_some());
    }
}

#[test]
fn head_without_an_end_is_dropped() {
    let mut stream = Stream::default();
    feed(&mut stream, b"GET /endless", 100, 100);
    for _ in 0..1000 {
        feed(&mut stream, &[b'x'; 100], 100, 100);
    }
    assert!(stream.gather.is_none());
    assert_eq!(labels(&stream.finish()), [format!("GET /endless{}…", "x".repeat(71))]);
}

#[test]
fn connection_close_in_a_request_is_read() {
    let asks = |head: &str| content(head.as_bytes(), 1_460, 1_460).wants_close;
    assert!(asks("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"));
    assert!(asks("GET / HTTP/1.1\r\nconnection: TE, Close\r\n\r\n"));
    assert!(asks("GET / HTTP/1.0\r\nHost: a\r\n\r\n"));
    assert!(!asks("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
    assert!(!asks("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    let cut = content(b"GET / HTTP/1.0\r\nHost: a\r\nUser-Agent: b\r\n\r\n", 1_460, 30);
    assert!(!cut.wants_close, "the field may be in the uncaptured part");
}
