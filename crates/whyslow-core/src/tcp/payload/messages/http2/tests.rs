#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;
use whyslow_units::{Nanos, Time};

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u32).to_be_bytes();
    [&len[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A literal field without indexing.
fn field(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8][..], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

fn head(fields: &[(&str, &str)]) -> Vec<u8> {
    fields.iter().flat_map(|(name, value)| field(name, value)).collect()
}

fn request(stream: u32, path: &str) -> Vec<u8> {
    frame(1, 0x5, stream, &head(&[(":method", "GET"), (":path", path), (":authority", "h.example:443")]))
}

/// Parses plaintext of both directions in pieces of a size, a millisecond apart.
fn read(talk: &[(usize, Vec<u8>)], size: usize) -> (Vec<RequestFacts>, Vec<String>, Http2) {
    let (mut http, mut requests, mut heads) = (Http2::new(0), Requests::default(), Vec::new());
    for (number, (from, bytes)) in talk.iter().enumerate() {
        for piece in bytes.chunks(size) {
            let time = Time(number as i64 * 1_000_000);
            let at = Placed { from: *from, seq: number as u64, end: number as u64 + 1, first: time, last: time };
            http.read_bytes(Bytes::Read(piece), at, &mut requests, &mut |head| heads.push(head.label));
        }
    }
    (requests.finish().0, heads, http)
}

fn talk() -> Vec<(usize, Vec<u8>)> {
    vec![
        (0, [&PREFACE[..], &frame(4, 0, 0, &[0, 4, 0, 1, 0, 0])].concat()),
        (1, frame(4, 0, 0, &[])),
        (0, [request(1, "/slow?key=1"), request(3, "/fast")].concat()),
        (1, frame(1, 0x4, 3, &head(&[(":status", "200")]))),
        (1, frame(0, 0x1, 3, &[7; 100])),
        (1, frame(1, 0x4, 1, &head(&[(":status", "404")]))),
        (1, frame(0, 0, 1, &[7; 1_000])),
        (1, frame(1, 0x5, 1, &head(&[("grpc-status", "14")]))),
    ]
}

#[test]
fn multiplexed_requests_have_separate_waits() {
    for size in [1, 9, 10_000] {
        let (requests, heads, http) = read(&talk(), size);
        let ms = |time: Option<Time>| time.unwrap().0 / 1_000_000;
        let found: Vec<_> = requests
            .iter()
            .map(|one| (one.stream.unwrap(), one.label.as_str(), one.status.unwrap(), ms(one.headers), ms(one.latest)))
            .collect();
        assert_eq!(found, [(1, "GET /slow?…", 404, 5, 7), (3, "GET /fast", 200, 3, 4)]);
        assert!(requests.iter().all(|one| one.is_complete && one.start == Time(2_000_000)));
        assert_eq!((requests[0].grpc_status, requests[0].bytes[1], requests[1].bytes[1]), (Some(14), 1_000, 100));
        assert_eq!(heads, ["GET /slow?…", "GET /fast", "200", "404"]);
        assert_eq!([http.state(0), http.state(1)], [MessageState::Complete; 2]);
    }
}

#[test]
fn response_without_its_end_is_within() {
    let mut talk = talk();
    talk.truncate(7);
    let (requests, _, http) = read(&talk, 10_000);
    assert!(http.state(1) == MessageState::Incomplete && !requests[0].is_complete && requests[1].is_complete);
}

#[test]
fn header_block_in_several_frames_is_one() {
    let block = head(&[(":method", "POST"), (":path", "/a")]);
    let talk = vec![
        (0, PREFACE.to_vec()),
        (0, [frame(1, 0, 1, &block[..5]), frame(9, 0, 1, &block[5..9]), frame(9, 4, 1, &block[9..])].concat()),
    ];
    let (requests, ..) = read(&talk, 10_000);
    assert_eq!((requests.len(), requests[0].label.as_str(), requests[0].sent), (1, "POST /a", None));
}

#[test]
fn full_window_is_reported_with_its_stream() {
    let update = |stream, bytes: u32| frame(8, 0, stream, &bytes.to_be_bytes());
    let mut talk = vec![
        (0, PREFACE.to_vec()),
        (0, [update(0, 1 << 20), request(1, "/")].concat()),
        (1, frame(1, 0x4, 1, &head(&[(":status", "200")]))),
    ];
    talk.extend((0..4).map(|_| (1, frame(0, 0, 1, &[7; 16_383]))));
    talk.push((1, frame(0, 0, 1, &[7; 3])));
    talk.extend([(0, update(1, 65_535)), (1, frame(0, 1, 1, &[7; 10]))]);
    let [of_client, of_server] = read(&talk, 100_000).2.finish(&mut Found::default()).unwrap();
    assert_eq!(of_client, []);
    let at = |number: i64| Time(number * 1_000_000);
    let of_server: Vec<_> = of_server.into_iter().filter_map(|wait| wait.behind(Nanos::ZERO)).collect();
    assert_eq!(of_server, [WindowWait { window: UsedWindow::Stream(1), size: 65_535, from: at(7), until: at(8) }]);
}

proptest! {
    #[test]
    fn any_bytes_are_read(pieces in prop::collection::vec((0usize..2, prop_oneof![
        (0u8..11, any::<u8>(), 0u32..8, prop::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(kind, flags, stream, payload)| frame(kind, flags, stream, &payload)),
        (1u32..9).prop_map(|stream| request(stream, "/x")),
        prop::collection::vec(any::<u8>(), 0..60),
        Just(vec![0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 1]),
    ]), 0..60), size in 1usize..200) {
        let mut all = vec![(0, PREFACE.to_vec())];
        all.extend(pieces);
        let (requests, heads, _) = read(&all, size);
        prop_assert!(requests.iter().all(|request| request.label.chars().count() <= 90));
        prop_assert!(heads.len() >= requests.len());
    }
}
