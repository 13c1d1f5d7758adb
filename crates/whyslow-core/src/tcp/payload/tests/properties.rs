use super::super::protocol::is_name;
use super::*;
use proptest::prelude::*;

/// Bytes of known protocols, and other bytes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        Just(b"GET /".to_vec()),
        Just(b" HTTP/1.1\r\n".to_vec()),
        Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
        Just(b"\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\n".to_vec()),
        Just(b"\n\r\n".to_vec()),
        Just(b"SSH-".to_vec()),
        Just(client_hello("fuzz.example", 3)),
        Just(server_hello(Some(0x0304))),
        (20u8..26, 0u8..5, any::<u16>())
            .prop_map(|(kind, minor, len)| [&[kind, 3, minor], &len.to_be_bytes()[..]].concat()),
        (20u8..25, prop::collection::vec(any::<u8>(), 1..40)).prop_map(|(kind, body)| record(kind, &body)),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    prop::collection::vec(token, 0..6).prop_map(|tokens| tokens.concat())
}

/// A TLS direction from its start, and the length of its first record.
fn tls_stream() -> impl Strategy<Value = Vec<u8>> {
    let hello = prop_oneof![
        (0usize..4000).prop_map(|padding| client_hello("split.example", padding)),
        prop::option::of(0x0303u16..0x0305).prop_map(server_hello),
    ];
    let records = prop::collection::vec((20u8..25, prop::collection::vec(any::<u8>(), 1..3000)), 0..8);
    (hello, 1usize..2000, records).prop_map(|(hello, size, records)| {
        let hello = hello.chunks(size.max(2)).flat_map(|part| record(22, part)).collect::<Vec<_>>();
        let rest = records.iter().flat_map(|(kind, body)| record(*kind, body)).collect::<Vec<_>>();
        [hello, rest].concat()
    })
}

/// HTTP messages; those without a length end with a turn.
fn http_messages() -> impl Strategy<Value = Vec<(Vec<u8>, bool)>> {
    let message = (any::<bool>(), "[ -~]{1,100}", "[a-z.]{1,20}", any::<bool>(), 0usize..300).prop_map(
        |(request, text, host, has_length, body)| {
            let start = if request { format!("PATCH /{text} HTTP/1.1") } else { format!("HTTP/1.1 200 {text}") };
            let length = if has_length {
                format!("Content-Length: {body}\r\n")
            } else {
                "Transfer-Encoding: chunked\r\n".into()
            };
            let head = format!("{start}\r\nHost: {host}\r\n{length}\r\n");
            ([head.into_bytes(), vec![b'x'; body]].concat(), has_length)
        },
    );
    prop::collection::vec((message, any::<bool>()), 1..5).prop_map(|messages| {
        messages.into_iter().map(|((bytes, has_length), turn)| (bytes, turn || !has_length)).collect()
    })
}

/// Feeds parts of a stream with a turn between them, each in segments of these `sizes`, some of
/// them twice.
fn segmented(parts: &[Vec<u8>], sizes: &[usize], again: usize) -> Content {
    let mut stream = Stream::default();
    let mut sizes = sizes.iter().cycle();
    let mut at = 1;
    for part in parts {
        let mut rest = &part[..];
        while !rest.is_empty() {
            let (segment, after) = rest.split_at(sizes.next().copied().unwrap_or(usize::MAX).clamp(1, rest.len()));
            stream.feed(at, segment.len() as u64, segment);
            if again > 0 && at % again as u64 == 0 {
                stream.feed(at, segment.len() as u64, segment);
            }
            at += segment.len() as u64;
            assert_eq!(stream.next(), at);
            rest = after;
        }
        stream.on_turn();
    }
    stream.finish()
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        prop::collection::vec(1usize..8, 1..10),
        prop::collection::vec(1usize..1500, 1..10),
        prop::collection::vec(1usize..70_000, 1..3),
    ]
}

proptest! {
    #[test]
    fn segmentation_of_tls_changes_nothing(stream in tls_stream(), turns in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
                                       sizes in sizes(), again in 0usize..4) {
        // Turns may be anywhere after the first record's header and message type.
        let mut turns: Vec<_> = turns.iter().map(|turn| 7 + turn.index(stream.len() - 7)).collect();
        turns.sort_unstable();
        let mut parts = Vec::new();
        let mut from = 0;
        for to in turns.into_iter().chain([stream.len()]) {
            parts.push(stream[from..to].to_vec());
            from = to;
        }
        let whole = segmented(&parts, &[], 0);
        prop_assert_eq!(whole.protocol, Some(Protocol::Tls));
        prop_assert_eq!(segmented(&parts, &sizes, again), whole);
    }

    #[test]
    fn segmentation_of_http_changes_nothing(messages in http_messages(), sizes in sizes(), again in 0usize..4) {
        let mut parts = vec![Vec::new()];
        for (bytes, turn) in &messages {
            parts.last_mut().unwrap().extend(bytes);
            if *turn {
                parts.push(Vec::new());
            }
        }
        let whole = segmented(&parts, &[], 0);
        prop_assert_eq!(whole.heads.len(), messages.len());
        prop_assert_eq!(segmented(&parts, &sizes, again), whole);
    }

    #[test]
    fn any_input_keeps_the_invariants(steps in prop::collection::vec((0u64..5000, 0u64..3000, bytes(), any::<bool>()), 0..60), base in prop_oneof![Just(0), Just(u64::MAX - 6000), any::<u64>()]) {
        let mut stream = Stream::default();
        for (start, hidden, bytes, turn) in &steps {
            // Half of the segments follow the previous one, the others are anywhere.
            let start = if start % 2 == 0 { stream.next() } else { base.saturating_add(*start) };
            let hidden = if hidden % 3 == 0 { *hidden } else { 0 };
            let before = stream.next();
            stream.feed(start, bytes.len() as u64 + hidden, bytes);
            prop_assert!(stream.next() >= before);
            prop_assert!(stream.gather.as_ref().is_none_or(|gather| gather.bytes.len() <= GATHER_MAX));
            if *turn {
                stream.on_turn();
            }
        }
        let content = stream.finish();
        prop_assert!(content.heads.is_sorted_by(|a, b| a.0 < b.0));
        prop_assert!(content.firsts.is_sorted_by(|a, b| a.1 <= b.0));
        prop_assert!(content.heads.iter().all(|(_, label)| label.chars().count() <= 90 && label.chars().all(|c| c.is_ascii_graphic() || c == ' ' || c == '…')));
        prop_assert!(content.server_name.is_none_or(|name| is_name(name.as_bytes())));
        prop_assert_eq!(content.records > 0, content.largest_record > 0);
    }
}
