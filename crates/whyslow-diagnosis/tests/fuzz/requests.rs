//! Targets for the request parsers: unencrypted protocols, and decrypted QUIC packets with HTTP/3
//! and QPACK. A mutated packet cannot be decrypted, so frames are mutated after decryption.

use super::harness::{fuzz, kind_of};
use super::meter::peak_during;
use super::stages::bounded;
use super::{Fingerprint, explain, seeds};
use whyslow_analysis::types::{End, Side};
use whyslow_core::capture::Reader;
use whyslow_core::quic::read_frames;
use whyslow_core::tcp::payload::{ClearPiece, RequestFacts, read_clear, read_http3};

/// Ports that decide which protocols are possible.
const PORTS: [u16; 16] = [5432, 3306, 6379, 27_017, 9092, 5672, 1883, 25, 21, 143, 110, 445, 2049, 53, 80, 50_051];
/// Memory limit of a connection's messages: two buffers of 128 and 256 KiB, header tables, and
/// 1,024 requests with labels of at most 400 bytes.
const MEMORY: usize = 8 << 20;

/// Parses a conversation: the port, then pieces with flags, length and bytes. Bit 0 of the flags is
/// the side; bit 1 means that the piece was not captured, bit 2 that its length is in units of 64
/// KiB.
fn clear(input: &[u8]) -> u64 {
    let [port, talk @ ..] = input else { return 0 };
    let ports = [40_000, PORTS[usize::from(*port) % PORTS.len()]];
    let (read, peak) = peak_during(|| bounded(input, || read_clear(ports, pieces(talk))));
    assert!(peak <= MEMORY + 4 * input.len(), "{peak} bytes of memory for an input of {}", input.len());
    let Some((requests, is_whole)) = read else { return 1 };
    check(&requests);
    let complete = requests.iter().filter(|request| request.is_complete).count();
    let errors = requests.iter().filter(|request| request.error.is_some()).count();
    kind_of(&(ports, requests.len().min(9), complete.min(9), errors.min(3), is_whole))
}

fn pieces(mut rest: &[u8]) -> impl Iterator<Item = (Side, ClearPiece<'_>)> {
    std::iter::from_fn(move || {
        let [kind, len, after @ ..] = rest else { return None };
        let side = if kind & 1 == 0 { Side::A } else { Side::B };
        if kind & 2 != 0 {
            rest = after;
            let unit = if kind & 4 != 0 { 65_536 } else { 1 };
            return Some((side, ClearPiece::Missing(u64::from(*len) * unit)));
        }
        let (piece, after) = after.split_at(after.len().min(usize::from(*len)));
        rest = after;
        Some((side, ClearPiece::Bytes(piece)))
    })
}

fn check(requests: &[RequestFacts]) {
    assert!(requests.len() <= 1024, "{} requests", requests.len());
    assert!(requests.iter().all(|request| request.label.len() <= 400));
}

/// Sender and bytes of each message.
type Talk<'a> = &'a [(u8, &'a [u8])];

fn written(port: u16, talk: Talk<'_>) -> Vec<u8> {
    let port = PORTS.iter().position(|one| *one == port).unwrap_or(15) as u8;
    let cut = talk.iter().flat_map(|(side, bytes)| bytes.chunks(250).map(move |piece| (side, piece)));
    let pieces = cut.flat_map(|(side, piece)| [&[*side, piece.len() as u8][..], piece].concat());
    std::iter::once(port).chain(pieces).collect()
}

/// A conversation of each protocol.
fn conversations() -> Vec<Vec<u8>> {
    [of_databases(), of_others(), of_frames()].concat()
}

fn of_databases() -> Vec<Vec<u8>> {
    let postgres: Talk<'_> = &[
        (0, b"\0\0\0\x1a\0\x03\0\0user\0me\0database\0\0"),
        (1, b"R\0\0\0\x08\0\0\0\0S\0\0\0\x08a\0b\0Z\0\0\0\x05I"),
        (0, b"Q\0\0\0\x28SELECT * FROM t WHERE id = 'secret'\0"),
        (1, b"T\0\0\0\x06\0\0D\0\0\0\x0aabcdefC\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I"),
        (0, b"P\0\0\0\x14s1\0INSERT $1\0\0\0B\0\0\0\x0a\0s1\0\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04"),
        (1, b"1\0\0\0\x042\0\0\0\x04E\0\0\0\x13SERROR\0C23505\0\0Z\0\0\0\x05I"),
        (2, b""),
    ];
    let greeting = [&b"\x44\0\0\0\x0a8.0.36\0"[..], &[0; 60]].concat();
    let login = [&b"\x2c\0\0\x01\0\0\0\0"[..], &[0; 40]].concat();
    let mysql: Talk<'_> = &[
        (1, &greeting),
        (0, &login),
        (1, b"\x07\0\0\x02\0\0\0\x02\0\0\0"),
        (0, b"\x0c\0\0\0\x03SELECT 'a'\0"),
        (1, b"\x01\0\0\x01\x01\x04\0\0\x02abcd\x05\0\0\x03\xfe\0\0\x02\0\x02\0\0\x04\x01x\x05\0\0\x05\xfe\0\0\x02\0"),
        (0, b"\x01\0\0\0\x0e"),
        (1, b"\x07\0\0\x01\0\0\0\x02\0\0\0"),
    ];
    let redis: Talk<'_> = &[
        (0, b"*2\r\n$3\r\nGET\r\n$6\r\nsecret\r\n*1\r\n$4\r\nPING\r\n*2\r\n$5\r\nBLPOP\r\n$1\r\nq\r\n"),
        (1, b"$5\r\nhello\r\n+PONG\r\n*2\r\n:1\r\n%1\r\n+a\r\n#t\r\n>2\r\n+message\r\n+x\r\n"),
    ];
    let mongo = |number: u8, answers: u8, document: &[u8]| {
        let len = 21 + document.len() as u8;
        [&[len, 0, 0, 0, number, 0, 0, 0, answers, 0, 0, 0, 0xdd, 7, 0, 0, 0, 0, 0, 0, 0][..], document].concat()
    };
    let find = mongo(7, 0, b"\x20\0\0\0\x02find\0\x06\0\0\0users\0\x03filter\0secret\0");
    let found = mongo(2, 7, &[9; 30]);
    let mongo: Talk<'_> = &[(0, &find), (1, &found)];
    let kafka = |key: u8, version: u8, correlation: u8, body: &[u8]| {
        let len = 12 + body.len() as u8;
        [&[0, 0, 0, len, 0, key, 0, version, 0, 0, 0, correlation, 0, 2, b'm', b'e'][..], body].concat()
    };
    let asks = [kafka(18, 3, 1, &[0; 9]), kafka(1, 11, 2, &[0; 60]), kafka(0, 7, 3, &[0xff, 0xff, 0, 0, 0, 0])];
    let answers = b"\0\0\0\x08\0\0\0\x01\0\0\0\0\0\0\0\x08\0\0\0\x02\0\0\0\0";
    let kafka: Talk<'_> = &[(0, &asks[0]), (0, &asks[1]), (1, answers), (0, &asks[2])];
    written_all(&[(5432, postgres), (3306, mysql), (6379, redis), (27_017, mongo), (9092, kafka)])
}

/// Conversations of message queues, mail and files.
fn of_others() -> Vec<Vec<u8>> {
    let amqp: Talk<'_> = &[
        (0, b"AMQP\0\0\x09\x01\x01\0\x01\0\0\0\x05\0\x32\0\x0a\0\xce"),
        (1, b"\x01\0\x01\0\0\0\x05\0\x32\0\x0b\0\xce\x08\0\0\0\0\0\0\xce"),
    ];
    let mqtt: Talk<'_> = &[
        (0, b"\x10\x0e\0\x04MQTT\x04\x02\0\x3c\0\x02me\x82\x08\0\x01\0\x03a/b\0\x32\x09\0\x03a/b\0\x02hi\xc0\0"),
        (1, b"\x20\x02\0\0\x90\x03\0\x01\0\x40\x02\0\x02\x30\x07\0\x03a/bxy\xd0\0"),
    ];
    let smtp: Talk<'_> = &[
        (1, b"220 ESMTP\r\n"),
        (0, b"EHLO me\r\nMAIL FROM:<a>\r\nDATA\r\n"),
        (1, b"250-x\r\n250 y\r\n250 z\r\n354 go\r\n"),
        (0, b"text\r\n.\r\nQUIT\r\n"),
        (1, b"250 ok\r\n221 bye\r\n"),
    ];
    let ftp: Talk<'_> = &[(1, b"220 FTP\r\n"), (0, b"RETR x\r\n"), (1, b"150 opening\r\n226 done\r\n")];
    let imap: Talk<'_> = &[
        (1, b"* OK IMAP4rev1\r\n"),
        (0, b"a LOGIN u {3}\r\n"),
        (1, b"+ go\r\n"),
        (0, b"pwd\r\nb UID FETCH 1 (FLAGS)\r\nc IDLE\r\n"),
        (1, b"a OK\r\n* 1 FETCH {4}\r\nabcd)\r\nb OK\r\n+ idling\r\n"),
    ];
    let rpc: Talk<'_> = &[
        (0, b"\x80\0\0\x28\0\0\0\x01\0\0\0\0\0\0\0\x02\0\x01\x86\xa3\0\0\0\x03\0\0\0\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        (1, b"\x80\0\0\x18\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
    ];
    let dns: Talk<'_> = &[
        (0, b"\0\x1b\0\x01\x01\0\0\x01\0\0\0\0\0\0\x01a\x07example\0\0\x1c\0\x01"),
        (1, b"\0\x1b\0\x01\x81\x83\0\x01\0\0\0\0\0\0\x01a\x07example\0\0\x1c\0\x01"),
    ];
    written_all(&[(5672, amqp), (1883, mqtt), (25, smtp), (21, ftp), (143, imap), (2049, rpc), (53, dns)])
}

/// Conversations of protocols with binary headers, and of HTTP/2.
fn of_frames() -> Vec<Vec<u8>> {
    let mut smb = [&[0u8, 0, 0, 68][..], b"\xfeSMB\x40\0", &[0; 62]].concat();
    smb[16] = 5;
    let grpc: Talk<'_> = &[
        (0, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x0a\x01\x04\0\0\0\x01\x83\x86\x44\x06/s/Say"),
        (1, b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x05\0\0\0\0\0\x01hello\0\0\x01\x01\x05\0\0\0\x01\x88"),
    ];
    let upgrade: Talk<'_> = &[
        (0, b"GET / HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n"),
        (1, b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x05\0\0\0\x01\x88"),
    ];
    let smb: Talk<'_> = &[(0, &smb), (1, &smb)];
    written_all(&[(445, smb), (50_051, grpc), (80, upgrade)])
}

fn written_all(all: &[(u16, Talk<'_>)]) -> Vec<Vec<u8>> {
    all.iter().map(|(port, talk)| written(*port, talk)).collect()
}

/// Parses QUIC packets: sender, packet number, length of the frames (two bytes), and frames of
/// each.
fn frames(input: &[u8]) -> u64 {
    let mut rest = input;
    let packets = std::iter::from_fn(|| {
        let [kind, number, high, low, after @ ..] = rest else { return None };
        let len = usize::from(u16::from_be_bytes([*high, *low]));
        let (packet, after) = after.split_at(after.len().min(len));
        rest = after;
        let from = if kind & 1 == 0 { End::Client } else { End::Server };
        // Large gaps in packet numbers as well.
        Some((from, u64::from(*number) << (kind >> 2), packet))
    });
    let mut pieces = Vec::new();
    let (did, peak) = peak_during(|| bounded(input, || read_frames(packets, |piece| pieces.push(piece.clone()))));
    assert!(peak <= MEMORY + 8 * input.len(), "{peak} bytes of memory for an input of {}", input.len());
    let (requests, peak) = peak_during(|| bounded(input, || read_http3(&pieces)));
    assert!(peak <= MEMORY + 4 * input.len(), "{peak} bytes of memory for an input of {}", input.len());
    check(&requests);
    let complete = requests.iter().filter(|request| request.is_complete).count();
    let statuses: Vec<_> = requests.iter().take(2).map(|request| request.status).collect();
    kind_of(&(did.checked_ilog2(), pieces.len().min(9), requests.len().min(9), complete.min(9), statuses))
}

/// Requests on one connection, with QPACK's dynamic table, window updates, losses and a close.
fn packets_of_quic() -> Vec<Vec<u8>> {
    let packet = |kind: u8, number: u8, frames: &[u8]| {
        [&[kind, number][..], &(frames.len() as u16).to_be_bytes(), frames].concat()
    };
    let stream = |id: u8, offset: u8, data: &[u8], fin: bool| {
        [&[0x0e | u8::from(fin), id, offset, data.len() as u8][..], data].concat()
    };
    // GET / in the static table, and :status 200 with a body of 20 bytes.
    let get = &[1, 4, 0, 0, 0xd1, 0xc1][..];
    let answer = &[&[1u8, 3, 0, 0, 0xd9, 0, 20][..], &[7; 20]].concat();
    // The encoder stream: a capacity, and an entry that a request refers to.
    let encoder = &[&[2u8, 0x3f, 0xe1, 0x1f, 0xc1, 3][..], b"/ab"].concat();
    let refers = &[1u8, 5, 2, 0, 0xd1, 0x80, 0xd7][..];
    let plain = [
        packet(0, 0, &stream(0, 0, get, true)),
        packet(1, 0, &[&[2, 0, 0, 0, 0][..], &stream(0, 0, answer, false)].concat()),
        packet(1, 2, &stream(0, 27, &[0; 9], true)),
        packet(0, 1, &[&[2, 2, 0, 1, 0, 0, 0, 0x10, 0x80, 0x10, 0, 0][..], &[0x11, 0, 0x80, 0x10, 0, 0]].concat()),
        packet(1, 3, &stream(0, 20, &[0; 7], false)),
        packet(0, 2, &[3, 3, 0, 0, 3, 1, 1, 1, 0x1c, 0, 0, 0]),
    ];
    let table = [
        packet(0, 0, &stream(4, 0, refers, true)),
        packet(0, 1, &stream(2, 0, encoder, false)),
        packet(
            1,
            0,
            &[&stream(4, 0, answer, true)[..], &[0x14, 9, 0x15, 4, 9, 4, 4, 0, 9, 0x18, 2, 0, 4, 1, 2, 3, 4]].concat(),
        ),
        packet(0, 2, &[&[2, 0, 0, 0, 0][..], &stream(3, 0, &[0, 4, 2, 1, 0], false)].concat()),
    ];
    vec![plain.concat(), table.concat()]
}

/// Memory of a JSON value besides its text: a number of two bytes takes 32.
const JSON: usize = 40;

/// A qlog, whole and in pieces, and what it says.
fn qlog(input: &[u8]) -> u64 {
    let read = |piece: usize| {
        let (mut reader, mut packets) = (Reader::new(), Fingerprint::default());
        let pushed = input.chunks(piece).try_for_each(|piece| reader.push(piece, &mut packets));
        let outcome = pushed.and_then(|()| reader.finish(&mut packets).map(|summary| summary.problems.len()));
        (packets, outcome.map_err(|error| error.message))
    };
    let (whole, peak) = peak_during(|| read(input.len().max(1)));
    assert!(peak <= JSON * input.len() + (2 << 20), "{peak} bytes of memory for an input of {}", input.len());
    assert_eq!(whole, read(1 + input.len() % 61), "in pieces");
    kind_of(&(explain(input), whole.1.is_ok()))
}

fn logs() -> Vec<Vec<u8>> {
    let whole = br#"{"qlog_version":"0.3","traces":[{"vantage_point":{"type":"client"},"common_fields":{"time_format":"relative","reference_time":5},"events":[{"time":1,"name":"transport:parameters_set","data":{"owner":"local","initial_max_data":65536}},{"time":2,"name":"transport:packet_sent","data":{"header":{"packet_type":"initial","packet_number":0},"frames":[{"frame_type":"crypto","offset":0,"length":300}]}},{"time":40,"name":"transport:packet_received","data":{"header":{"packet_type":"initial","packet_number":"0"},"frames":[{"frame_type":"ack","acked_ranges":[[0]]}]}},{"time":41,"name":"http:frame_created","data":{"stream_id":0,"frame":{"frame_type":"headers","headers":[{"name":":method","value":"GET"},{"name":":path","value":"/a"}]}}},{"time":41,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":40,"fin":true}]}},{"time":82,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":5},"frames":[{"frame_type":"ack","acked_ranges":[[0,0],[1]]},{"frame_type":"stream","stream_id":0,"raw":{"payload_length":900}},{"frame_type":"max_data","maximum":99999}]}}]}]}"#;
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/qlog");
    let recorded = std::fs::read(folder.join("think-client.qlog")).unwrap();
    let header =
        &br#"{"qlog_format":"JSON-SEQ","qlog_version":"0.4","trace":{"common_fields":{"time_format":"delta"}}}"#[..];
    let events = recorded.windows(9).enumerate().filter(|(_, part)| *part == br#"{"data": "#).map(|(at, _)| at);
    let events: Vec<usize> = events.take(60).collect();
    let records = events.windows(2).map(|pair| &recorded[pair[0]..pair[1] - 2]);
    let sequence = std::iter::once(header).chain(records).flat_map(|record| [b"\x1e", record, b"\n"].concat());
    vec![whole.to_vec(), sequence.collect(), recorded]
}

#[test]
fn qlogs() {
    fuzz("qlog", logs(), qlog);
}

#[test]
fn messages_in_clear() {
    fuzz("messages", conversations(), clear);
}

#[test]
fn quic_frames() {
    fuzz("quic-frames", packets_of_quic(), frames);
}

/// QUIC captures that contain the secrets of their connections.
#[test]
fn quic_with_keys() {
    fuzz("quic-keys", seeds::quic_with_keys(), explain);
}

/// Every conversation must be parsed, because otherwise its parser is not tested.
#[test]
fn seeds_are_read() {
    let unread = conversations().into_iter().filter_map(|talk| {
        let port = PORTS[usize::from(talk[0])];
        let read = read_clear([40_000, port], pieces(&talk[1..]));
        read.is_none_or(|(requests, _)| requests.is_empty()).then_some(port)
    });
    assert_eq!(unread.collect::<Vec<_>>(), [0u16; 0]);
    for packets in packets_of_quic() {
        let mut pieces = Vec::new();
        let rest = &mut packets.as_slice();
        let packets = std::iter::from_fn(|| {
            let [kind, number, high, low, after @ ..] = *rest else { return None };
            let (packet, after) = after.split_at(usize::from(u16::from_be_bytes([*high, *low])));
            *rest = after;
            Some((if kind & 1 == 0 { End::Client } else { End::Server }, u64::from(*number), packet))
        });
        read_frames(packets, |piece| pieces.push(piece.clone()));
        let requests = read_http3(&pieces);
        assert!(requests[0].is_complete && requests[0].status == Some(200), "{requests:?}");
    }
}
