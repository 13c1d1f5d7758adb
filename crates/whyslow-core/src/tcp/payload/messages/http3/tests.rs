//! HTTP/3 streams, built by hand.
#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;
use whyslow_analysis::types::End;

fn read(pieces: &[StreamBytes]) -> (Vec<RequestFacts>, Vec<String>) {
    let (mut http, mut requests, mut heads) = (Http3::new(Side::A), Requests::default(), Vec::new());
    for piece in pieces {
        http.read_stream(piece, &mut Found { requests: &mut requests, give: &mut |head| heads.push(head.label) });
    }
    (requests.finish().0, heads)
}

fn piece(from: End, (stream, offset): (u64, u64), bytes: &[u8], fin: bool, time: i64) -> StreamBytes {
    StreamBytes { from, stream, offset, bytes: bytes.to_vec(), fin, seq: offset, time: Time(time) }
}

/// GET with a literal path, and the authority from the static table.
fn get() -> Vec<u8> {
    let block = [&[0x00, 0x00, 0xd1, 0x51, 0x06][..], b"/a?b=c"].concat();
    [&[1, block.len() as u8][..], &block].concat()
}

#[test]
fn request_and_response_have_their_times() {
    let request = get();
    let response = [&[1, 3, 0, 0, 0xd9, 0, 5][..], b"hello"].concat();
    let found = read(&[
        piece(End::Client, (0, 0), &request, true, 10),
        piece(End::Server, (0, 7), &response[7..], false, 40),
        piece(End::Server, (0, 0), &response[..7], false, 50),
        piece(End::Server, (0, 12), &[], true, 60),
    ]);
    let [one] = &found.0[..] else { panic!("{found:?}") };
    assert_eq!((one.label.as_str(), one.status, one.is_complete), ("GET /a?…", Some(200), true));
    assert_eq!((one.start, one.sent, one.headers), (Time(10), Some(Time(10)), Some(Time(50))));
    assert_eq!((one.latest, one.bytes), (Some(Time(60)), [0, 5]));
    assert_eq!(found.1, ["GET /a?…", "200"]);
}

#[test]
fn split_of_frames_changes_nothing() {
    let request = get();
    let response = [&[1, 3, 0, 0, 0xd9, 0, 2][..], b"ab", &[0x21, 1, 9, 0, 3], b"cde"].concat();
    let mut pieces = vec![piece(End::Client, (4, 0), &request, true, 1)];
    for (offset, byte) in response.iter().enumerate() {
        pieces.push(piece(End::Server, (4, offset as u64), &[*byte], offset + 1 == response.len(), 2));
    }
    let (found, _) = read(&pieces);
    assert_eq!((found[0].bytes, found[0].is_complete, found[0].stream), ([0, 5], true, Some(4)));
}

#[test]
fn blocked_headers_wait_for_the_encoder() {
    let inserts = [&[2, 0x3f, 0xbd, 0x01, 0xc1, 0x03][..], b"/ab"].concat();
    let block = [0x02, 0x80, 0xd1, 0x10];
    let request = [&[1, 4][..], &block].concat();
    let before = read(&[piece(End::Client, (0, 0), &request, true, 1)]);
    assert_eq!(before.0[0].label, "HTTP/3 request");
    let after = read(&[piece(End::Client, (0, 0), &request, true, 1), piece(End::Client, (6, 0), &inserts, false, 2)]);
    assert_eq!(after.0[0].label, "GET /ab");
}

proptest! {
    #[test]
    fn hostile_streams_are_bounded(
        pieces in prop::collection::vec(
            (any::<bool>(), 0u64..12, 0u64..400, prop::collection::vec(any::<u8>(), 0..60), any::<bool>()), 0..60),
    ) {
        let (mut http, mut requests) = (Http3::new(Side::A), Requests::default());
        for (is_client, stream, offset, bytes, fin) in pieces {
            let from = if is_client { End::Client } else { End::Server };
            let one = piece(from, (stream, offset), &bytes, fin, 0);
            http.read_stream(&one, &mut Found { requests: &mut requests, give: &mut |_| {} });
            prop_assert!(http.held <= 60 * 60 && http.exchanges.len() <= MAX_STREAMS);
        }
    }
}
