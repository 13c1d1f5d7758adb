#![allow(clippy::unwrap_used)]

use super::*;
use crate::tcp::segment::Seg;
use Side::{A, B};
use proptest::prelude::*;
use whyslow_analysis::types::{RequestProtocol, Side};
use whyslow_units::{SeqNumber, Time};

/// A conversation: sender and bytes of each message.
type Talk = Vec<(Side, Vec<u8>)>;

/// Parses a conversation with a message per millisecond: the first one of each side as a whole, the
/// others in pieces of a size. `cut`: captured bytes per segment.
fn read_cut(ports: [u16; 2], talk: &[(Side, Vec<u8>)], size: usize, cut: usize) -> Option<MessageFacts> {
    let (mut reader, mut ends, mut seen) = (None::<Box<ClearReader>>, [1u64; 2], [false; 2]);
    for (number, (from, message)) in talk.iter().enumerate() {
        let is_first = !std::mem::replace(&mut seen[*from], true);
        for piece in message.chunks(if is_first { message.len().max(1) } else { size }) {
            let mut seg = Seg::example(*from, SeqNumber(0), SeqNumber(0), piece.len() as u32, None);
            seg.time = Time(number as i64 * 1_000_000);
            let captured = &piece[..piece.len().min(cut)];
            if reader.is_none() {
                reader = ClearReader::opening(&seg, captured, ports);
            }
            if let Some(reader) = &mut reader {
                reader.read(&seg, ends[*from], captured);
            }
            ends[*from] += piece.len() as u64;
        }
    }
    reader?.finish().map(|facts| *facts)
}

fn read(ports: [u16; 2], talk: &[(Side, Vec<u8>)], size: usize) -> MessageFacts {
    read_cut(ports, talk, size, usize::MAX).unwrap()
}

/// Label, begin and end of each request in milliseconds; no end if it is incomplete.
fn summaries(facts: &MessageFacts) -> Vec<(String, i64, Option<i64>)> {
    let ms = |time: Time| time.0 / 1_000_000;
    let end = |one: &RequestFacts| one.latest.filter(|_| one.is_complete).map(ms);
    facts.requests.iter().map(|one| (one.label.clone(), ms(one.start), end(one))).collect()
}

/// Checks that the result is the same for all piece sizes, and returns it.
fn check(ports: [u16; 2], talk: &Talk, expected: &[(&str, i64, Option<i64>)]) -> MessageFacts {
    let expected: Vec<_> = expected.iter().map(|(label, from, to)| ((*label).to_owned(), *from, *to)).collect();
    for size in [1, 2, 3, 7, 100, 100_000] {
        let facts = read(ports, talk, size);
        assert_eq!(summaries(&facts), expected, "pieces of {size}");
        assert!(facts.is_whole, "pieces of {size}");
    }
    read(ports, talk, 100_000)
}

fn pg(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

fn postgres_talk() -> Talk {
    let startup = [&25u32.to_be_bytes()[..], &196_608u32.to_be_bytes(), b"user\0me\0database"].concat();
    let startup = [&startup[..], b"\0"].concat();
    vec![
        (A, startup),
        (B, [pg(b'R', &[0; 4]), pg(b'S', b"a\0b\0"), pg(b'Z', b"I")].concat()),
        (A, pg(b'Q', b"SELECT * FROM t WHERE id = 'secret'\0")),
        (B, [pg(b'T', &[0; 30]), pg(b'D', &[7; 5_000])].concat()),
        (B, [pg(b'C', b"SELECT 1\0"), pg(b'Z', b"I")].concat()),
        (
            A,
            [
                pg(b'P', b"s1\0INSERT INTO t VALUES ($1, 5)\0\0\0"),
                pg(b'B', b"\0s1\0\0\0"),
                pg(b'E', b"\0\0\0\0\0"),
                pg(b'S', b""),
            ]
            .concat(),
        ),
        (B, [pg(b'1', b""), pg(b'2', b""), pg(b'E', b"SERROR\0C23505\0Mduplicate\0\0"), pg(b'Z', b"I")].concat()),
        (A, [pg(b'B', b"\0s1\0\0\0"), pg(b'E', b"\0\0\0\0\0"), pg(b'S', b"")].concat()),
    ]
}

#[test]
fn postgres_requests_end_with_ready_for_query() {
    let insert = "INSERT INTO t VALUES (?…)";
    let expected = [
        ("startup", 0, Some(1)),
        ("SELECT * FROM t WHERE id = ?", 2, Some(4)),
        (insert, 5, Some(6)),
        (insert, 7, None),
    ];
    let facts = check([40_000, 5432], &postgres_talk(), &expected);
    assert_eq!(facts.requests[2].error.as_deref(), Some("SQLSTATE 23505"));
    assert!(facts.requests.iter().all(|request| request.sent.is_some()));
}

#[test]
fn postgres_stops_after_a_request_for_encryption() {
    let ask = [8u32.to_be_bytes(), 80_877_103u32.to_be_bytes()].concat();
    let facts = read([1, 5432], &[(A, ask.clone()), (B, b"S".to_vec()), (A, vec![22, 3, 1, 0, 9])], 100);
    assert!(facts.requests.is_empty() && !facts.is_whole);
    let mut talk = postgres_talk();
    talk.splice(0..0, [(A, ask), (B, b"N".to_vec())]);
    assert_eq!(read([1, 5432], &talk, 100).requests.len(), 4);
}

fn my(number: u8, body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes()[..3], &[number], body].concat()
}

fn mysql_talk(deprecates_eof: bool) -> Talk {
    let flags: u32 = if deprecates_eof { 0x0100_0000 } else { 0 };
    let greeting = my(0, &[&[10][..], b"8.0.36\0", &[0; 60]].concat());
    let end = if deprecates_eof { my(5, &[0xfe, 0, 0, 2, 0, 0, 0]) } else { my(5, &[0xfe, 0, 0, 2, 0]) };
    let eof = if deprecates_eof { vec![] } else { my(3, &[0xfe, 0, 0, 2, 0]) };
    vec![
        (B, greeting),
        (A, my(1, &[&flags.to_le_bytes()[..], &[0; 40]].concat())),
        (B, my(2, &[0, 0, 0, 2, 0, 0, 0])),
        (A, my(0, b"\x03SELECT name FROM t WHERE a = \"secret\"")),
        (B, [my(1, &[1]), my(2, &[3; 40]), eof, my(4, &[4, b'x', b'x', b'x', b'x'])].concat()),
        (B, end),
        (A, my(0, b"\x03UPDATE t SET a = 5")),
        (B, my(1, &[&[0xff, 0x28, 0x04][..], b"#42000You have an error"].concat())),
        (A, my(0, b"\x0e")),
        (B, my(1, &[0, 0, 0, 2, 0, 0, 0])),
    ]
}

#[test]
fn mysql_results_end_with_their_last_packet() {
    for deprecates_eof in [false, true] {
        let expected =
            [("login", 1, Some(2)), ("SELECT name FROM t WHERE a = ?", 3, Some(5)), ("UPDATE t SET a = ?", 6, Some(7))];
        let facts = check([40_000, 3306], &mysql_talk(deprecates_eof), &expected);
        assert_eq!(facts.requests[2].error.as_deref(), Some("error 1064"));
        assert_eq!(facts.heartbeats.each_ref().map(Vec::len), [1, 1], "a ping and its answer");
    }
}

#[test]
fn redis_pipelines_and_pushes() {
    let talk = vec![
        (A, b"*2\r\n$3\r\nGET\r\n$6\r\nsecret\r\n".to_vec()),
        (B, b"$5\r\nhello\r\n".to_vec()),
        (A, b"*1\r\n$4\r\nPING\r\n".to_vec()),
        (B, b"+PONG\r\n".to_vec()),
        (A, b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n*2\r\n$5\r\nHMGET\r\n$1\r\na\r\n*2\r\n$5\r\nBLPOP\r\n$1\r\nq\r\n".to_vec()),
        (B, b"+OK\r\n*2\r\n$1\r\na\r\n*-1\r\n".to_vec()),
        (B, b"*2\r\n:1\r\n%1\r\n+a\r\n#t\r\n".to_vec()),
        (B, b">2\r\n+message\r\n+x\r\n".to_vec()),
    ];
    let expected = [("GET", 0, Some(1)), ("SET", 4, Some(5)), ("HMGET", 4, Some(5)), ("BLPOP", 4, Some(6))];
    let facts = check([40_000, 6379], &talk, &expected);
    assert_eq!(facts.heartbeats.each_ref().map(Vec::len), [1, 1]);
    assert!(facts.requests[3].is_poll && !facts.requests[0].is_poll);
}

fn mongo(number: u32, answers: u32, document: &[u8]) -> Vec<u8> {
    let body = [&[0u8; 5][..], document].concat();
    let header = [16 + body.len() as u32, number, answers, 2013].map(u32::to_le_bytes).concat();
    [header, body].concat()
}

fn mongo_find() -> Vec<u8> {
    mongo(7, 0, b"\x20\0\0\0\x02find\0\x06\0\0\0users\0\x03filter\0secret\0")
}

#[test]
fn mongodb_commands_are_matched_by_their_numbers() {
    let talk = vec![
        (A, mongo_find()),
        (A, mongo(8, 0, b"\x20\0\0\0\x01ping\0\0\0\0\0\0\0\xf0\x3f\0")),
        (B, mongo(1, 8, &[5, 0, 0, 0, 0])),
        (B, mongo(2, 7, &[9; 3_000])),
    ];
    let facts = check([40_000, 27_017], &talk, &[("find users", 0, Some(3))]);
    assert_eq!(facts.requests[0].bytes[1], 3_000 + 21 - 512);
    assert_eq!(facts.heartbeats.each_ref().map(Vec::len), [1, 1]);
}

fn kafka(key: u16, version: u16, correlation: u32, body: &[u8]) -> Vec<u8> {
    let header = [&key.to_be_bytes()[..], &version.to_be_bytes(), &correlation.to_be_bytes(), &[0, 2], b"me"].concat();
    [&(header.len() as u32 + body.len() as u32).to_be_bytes()[..], &header, body].concat()
}

#[test]
fn kafka_names_the_api() {
    let response = |correlation: u32| [&8u32.to_be_bytes()[..], &correlation.to_be_bytes(), &[0; 4]].concat();
    let talk = vec![
        (A, kafka(18, 3, 1, &[0; 9])),
        (B, response(1)),
        (A, kafka(1, 11, 2, &[0; 60])),
        (A, kafka(0, 7, 3, &[0xff, 0xff, 0, 0, 0, 0])),
        (A, kafka(0, 7, 4, &[0xff, 0xff, 0, 1, 0, 0])),
        (B, [response(2), response(4)].concat()),
    ];
    let expected = [
        ("ApiVersions v3", 0, Some(1)),
        ("Fetch v11", 2, Some(5)),
        ("Produce v7", 3, None),
        ("Produce v7", 4, Some(5)),
    ];
    let facts = check([40_000, 9092], &talk, &expected);
    assert!(facts.requests[1].is_poll);
}

#[test]
fn amqp_methods_and_heartbeats() {
    let method = |class: u16, method: u16| {
        [&[1, 0, 1, 0, 0, 0, 5][..], &class.to_be_bytes(), &method.to_be_bytes(), &[0, 0xce]].concat()
    };
    let heartbeat = vec![8, 0, 0, 0, 0, 0, 0, 0xce];
    let talk = vec![
        (A, b"AMQP\0\0\x09\x01".to_vec()),
        (B, method(10, 10)),
        (A, method(50, 10)),
        (B, method(50, 11)),
        (A, heartbeat.clone()),
        (B, heartbeat),
        (A, method(60, 70)),
        (B, method(60, 72)),
        (B, method(60, 60)),
    ];
    let facts = check([40_000, 5672], &talk, &[("queue.declare", 2, Some(3)), ("basic.get", 6, Some(7))]);
    assert_eq!(facts.heartbeats.each_ref().map(Vec::len), [1, 1]);
}

#[test]
fn mqtt_packets_and_pings() {
    let talk = vec![
        (A, b"\x10\x0e\x00\x04MQTT\x04\x02\x00\x3c\x00\x02me".to_vec()),
        (B, vec![0x20, 2, 0, 0]),
        (A, b"\x82\x08\x00\x01\x00\x03a/b\x00".to_vec()),
        (B, vec![0x90, 3, 0, 1, 0]),
        (A, vec![0xc0, 0]),
        (B, vec![0xd0, 0]),
        (A, b"\x32\x09\x00\x03a/b\x00\x02hi".to_vec()),
        (B, vec![0x40, 2, 0, 2]),
        (B, b"\x30\x07\x00\x03a/bxy".to_vec()),
    ];
    let expected = [("CONNECT", 0, Some(1)), ("SUBSCRIBE", 2, Some(3)), ("PUBLISH", 6, Some(7))];
    let facts = check([40_000, 1883], &talk, &expected);
    assert_eq!(facts.heartbeats.each_ref().map(Vec::len), [1, 1]);
}

fn lines(talk: &[(Side, &str)]) -> Talk {
    talk.iter().map(|(from, line)| (*from, line.as_bytes().to_vec())).collect()
}

#[test]
fn mail_is_a_request_of_many_lines() {
    let talk = lines(&[
        (B, "220 mail.example ESMTP\r\n"),
        (A, "EHLO me\r\n"),
        (B, "250-mail.example\r\n250 SIZE\r\n"),
        (A, "MAIL FROM:<secret@a.example>\r\nRCPT TO:<b@a.example>\r\nDATA\r\n"),
        (B, "250 ok\r\n550 no\r\n"),
        (B, "354 go on\r\n"),
        (A, "Subject: secret\r\n\r\ntext\r\n"),
        (A, ".\r\n"),
        (B, "250 queued\r\n"),
        (A, "NOOP\r\n"),
        (B, "250 ok\r\n"),
    ]);
    let expected = [
        ("EHLO", 1, Some(2)),
        ("MAIL", 3, Some(4)),
        ("RCPT", 3, Some(4)),
        ("DATA", 3, Some(5)),
        ("message", 6, Some(8)),
    ];
    let facts = check([40_000, 25], &talk, &expected);
    assert_eq!((facts.requests[2].status, facts.requests[4].sent), (Some(550), Some(Time(7_000_000))));
    assert_eq!(facts.protocol, RequestProtocol::Smtp);
}

#[test]
fn files_and_mailboxes() {
    let talk =
        lines(&[(B, "220 FTP ready\r\n"), (A, "RETR secret.txt\r\n"), (B, "150 opening\r\n"), (B, "226 done\r\n")]);
    assert_eq!(check([40_000, 21], &talk, &[("RETR", 1, Some(3))]).requests[0].status, Some(226));
    let talk = lines(&[
        (B, "* OK IMAP ready\r\n"),
        (A, "a1 LOGIN me {6}\r\nsecret\r\n"),
        (B, "+ go on\r\na1 OK done\r\n"),
        (A, "a2 UID FETCH 1 BODY[]\r\n"),
        (B, "* 1 FETCH (BODY[] {10}\r\n0123456789)\r\n"),
        (B, "a2 OK done\r\n"),
        (A, "a3 IDLE\r\n"),
        (B, "+ idling\r\n"),
        (A, "DONE\r\n"),
        (B, "a3 OK\r\n"),
    ]);
    let facts = check([40_000, 143], &talk, &[("LOGIN", 1, Some(2)), ("UID FETCH", 3, Some(5)), ("IDLE", 6, Some(9))]);
    assert!(facts.requests[2].is_poll);
}

fn smb(command: u16, flags: u8, status: u32, number: u64, rest: usize) -> Vec<u8> {
    let mut header = vec![0; 64 + rest];
    header[..6].copy_from_slice(b"\xfeSMB\x40\0");
    header[8..12].copy_from_slice(&status.to_le_bytes());
    header[12..14].copy_from_slice(&command.to_le_bytes());
    header[16] = flags;
    header[24..32].copy_from_slice(&number.to_le_bytes());
    [&(header.len() as u32).to_be_bytes()[..], &header].concat()
}

#[test]
fn smb2_commands_are_matched_by_their_numbers() {
    let talk = vec![
        (A, smb(5, 0, 0, 4, 60)),
        (A, smb(8, 0, 0, 5, 50)),
        (B, smb(8, 1, 0, 5, 4_000)),
        (B, smb(5, 1, 0x103, 4, 10)),
        (B, smb(5, 1, 0xc000_0034, 4, 10)),
        (A, smb(13, 0, 0, 6, 4)),
        (B, smb(13, 1, 0, 6, 4)),
        (A, smb(15, 0, 0, 7, 4)),
        (B, smb(18, 1, 0, u64::MAX, 4)),
    ];
    let expected = [("Create", 0, Some(4)), ("Read", 1, Some(2)), ("ChangeNotify", 7, None)];
    let facts = check([40_000, 445], &talk, &expected);
    assert_eq!(facts.requests[0].error.as_deref(), Some("status 0xc0000034"));
    assert!(facts.requests[2].is_poll);
    assert_eq!(facts.heartbeats.each_ref().map(Vec::len), [1, 1]);
}

/// A call without credentials in two records; the first has `first` bytes.
fn rpc(number: u32, words: &[u32], rest: &[u8], first: usize) -> Vec<u8> {
    let message: Vec<u8> = [number].iter().chain(words).flat_map(|word| word.to_be_bytes()).collect();
    let message = [message, rest.to_vec()].concat();
    let (one, other) = message.split_at(first.min(message.len()));
    let last = |len: usize, is_last: bool| (len as u32 | if is_last { 1 << 31 } else { 0 }).to_be_bytes();
    if other.is_empty() {
        return [&last(one.len(), true)[..], one].concat();
    }
    [&last(one.len(), false)[..], one, &last(other.len(), true), other].concat()
}

#[test]
fn nfs_operations_are_named() {
    let call = [0, 2, 100_003, 3, 6, 0, 0, 0, 0];
    // SEQUENCE, PUTFH with a handle of 5 bytes, WRITE.
    let compound = [0, 2, 100_003, 4, 1, 0, 0, 0, 0, 0, 1, 3, 53, 0, 0, 0, 0, 0, 0, 0, 0, 22, 5, 0, 0, 38];
    let talk = vec![
        (A, rpc(1, &call, &[0; 40], 1_000)),
        (A, rpc(2, &compound, &[0; 9_000], 4_000)),
        (B, rpc(2, &[1, 0, 0, 0, 0], &[0; 20], 1_000)),
        (B, rpc(1, &[1, 0, 0, 0, 0], &[0; 5_000], 3_000)),
    ];
    check([700, 2049], &talk, &[("NFS READ", 0, Some(3)), ("NFS WRITE", 1, Some(2))]);
}

#[test]
fn call_with_an_uncaptured_end_is_a_request() {
    let call = [0, 2, 100_003, 3, 6, 0, 0, 0, 0];
    let reply = rpc(1, &[1, 0, 0, 0, 0], &[0; 500], 3_000);
    let talk = vec![(A, rpc(1, &call, &[0; 140], 1_000)), (B, reply), (A, rpc(2, &call, &[0; 140], 1_000))];
    for cut in [44, 60, 96] {
        let facts = read_cut([700, 2049], &talk, 1_448, cut).unwrap();
        let expected = [("NFS READ".to_owned(), 0, Some(1)), ("NFS READ".to_owned(), 2, None)];
        assert_eq!(summaries(&facts), expected, "{cut} bytes");
    }
}

#[test]
fn dns_over_tcp_names_the_question() {
    let message = |number: u8, flags: u8, code: u8, rest: &[u8]| {
        let message =
            [&[0, number, flags, code, 0, 1, 0, 0, 0, 0, 0, 0, 1, b'a', 7][..], b"example\0\0\x1c\0\x01", rest]
                .concat();
        [&(message.len() as u16).to_be_bytes()[..], &message].concat()
    };
    let talk = vec![(A, message(1, 1, 0, &[])), (A, message(2, 1, 0, &[])), (B, message(2, 0x81, 0x83, &[0; 40]))];
    let facts = check([40_000, 53], &talk, &[("AAAA a.example", 0, None), ("AAAA a.example", 1, Some(2))]);
    assert_eq!(facts.requests[1].error.as_deref(), Some("NXDOMAIN"));
}

fn h2(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u32).to_be_bytes();
    [&len[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Fields of the static table, and literals without Huffman coding (RFC 7541).
fn grpc_head() -> Vec<u8> {
    [&[0x83, 0x86, 0x44, 6][..], b"/s/Say"].concat()
}

fn grpc_talk() -> Talk {
    let status = [&[0x40, 11][..], b"grpc-status", &[2], b"14"].concat();
    vec![
        (A, [PREFACE, &h2(4, 0, 0, &[]), &h2(1, 4, 1, &grpc_head()), &h2(0, 1, 1, &[0; 7])].concat()),
        (B, [h2(4, 0, 0, &[]), h2(4, 1, 0, &[])].concat()),
        (B, [h2(1, 4, 1, &[0x88]), h2(0, 0, 1, &[7; 6_000])].concat()),
        (B, h2(1, 5, 1, &status)),
    ]
}

#[test]
fn http2_in_clear_names_grpc_calls() {
    let facts = check([40_000, 50_051], &grpc_talk(), &[("POST /s/Say", 0, Some(3))]);
    assert_eq!((facts.requests[0].status, facts.requests[0].grpc_status), (Some(200), Some(14)));
    assert!(facts.windows.is_some());
}

#[test]
fn http1_upgrade_continues_as_http2() {
    let ask = b"GET /a?secret HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n";
    let agree = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
    let talk = vec![
        (A, ask.to_vec()),
        (B, [&agree[..], &h2(4, 0, 0, &[])].concat()),
        (A, [PREFACE, &h2(4, 0, 0, &[])].concat()),
        (B, [h2(1, 4, 1, &[0x88]), h2(0, 1, 1, &[7; 60])].concat()),
    ];
    let facts = check([40_000, 80], &talk, &[("GET /a?…", 0, Some(3))]);
    assert_eq!((facts.requests[0].stream, facts.requests[0].status), (Some(1), Some(200)));
}

/// Conversations of all protocols.
fn talks() -> Vec<([u16; 2], Talk)> {
    vec![
        ([1, 5432], postgres_talk()),
        ([1, 3306], mysql_talk(true)),
        (
            [1, 6379],
            vec![(A, b"*2\r\n$3\r\nGET\r\n$6\r\nsecret\r\n".to_vec()), (B, b"*2\r\n$5\r\nhello\r\n:1\r\n".to_vec())],
        ),
        ([1, 27_017], vec![(A, mongo_find()), (B, mongo(2, 7, &[9; 300]))]),
        ([1, 9092], vec![(A, kafka(18, 3, 1, &[0; 9])), (B, vec![0, 0, 0, 4, 0, 0, 0, 1])]),
        ([1, 445], vec![(A, smb(5, 0, 0, 4, 60)), (B, smb(5, 1, 0, 4, 60))]),
        ([1, 25], lines(&[(B, "220 ESMTP\r\n"), (A, "EHLO me\r\n"), (B, "250-x\r\n250 y\r\n"), (A, "DATA\r\n")])),
        ([1, 50_051], grpc_talk()),
    ]
}

#[test]
fn short_snapshot_length_gives_no_wrong_request() {
    for (ports, talk) in talks() {
        let whole = read(ports, &talk, 1_448);
        for cut in [0, 4, 16, 40, 68, 96] {
            let Some(facts) = read_cut(ports, &talk, 1_448, cut) else { continue };
            for (one, known) in facts.requests.iter().zip(&whole.requests) {
                assert!(!one.is_complete || one.latest == known.latest, "{ports:?} {cut}: {one:?} {known:?}");
            }
            assert!(facts.requests.len() <= whole.requests.len());
        }
    }
}

#[test]
fn missing_bytes_make_the_state_unknown() {
    let talk = postgres_talk();
    let mut seg = Seg::example(A, SeqNumber(0), SeqNumber(0), talk[0].1.len() as u32, None);
    let mut reader = ClearReader::opening(&seg, &talk[0].1, [1, 5432]).unwrap();
    reader.read(&seg, 1, &talk[0].1);
    // Twice as much as is buffered after a hole.
    for number in 0..400u64 {
        seg.len = 1_000;
        reader.read(&seg, 100 + number * 1_000, &[7; 1_000]);
    }
    assert!(!reader.is_within(A), "nothing is claimed");
    let facts = reader.finish().unwrap();
    assert!(!facts.is_whole);
}

proptest! {
    #[test]
    fn order_of_arrival_changes_nothing(swap in 1usize..40, of in 0usize..8) {
        let (ports, talk) = talks().swap_remove(of);
        let mut segments = Vec::new();
        let (mut ends, mut seen) = ([1u64; 2], [false; 2]);
        for (from, message) in &talk {
            let is_first = !std::mem::replace(&mut seen[*from], true);
            for piece in message.chunks(if is_first { message.len() } else { 11 }) {
                segments.push((*from, ends[*from], piece.to_vec()));
                ends[*from] += piece.len() as u64;
            }
        }
        if swap + 1 < segments.len() && segments[swap].0 == segments[swap + 1].0 && swap > 2 {
            segments.swap(swap, swap + 1);
        }
        let read = |segments: &[(Side, u64, Vec<u8>)]| {
            let mut reader = None::<Box<ClearReader>>;
            for (from, start, bytes) in segments {
                let seg = Seg::example(*from, SeqNumber(0), SeqNumber(0), bytes.len() as u32, None);
                reader = reader.or_else(|| ClearReader::opening(&seg, bytes, ports));
                if let Some(reader) = &mut reader {
                    reader.read(&seg, *start, bytes);
                    // Duplicate bytes are read only once.
                    reader.read(&seg, *start, bytes);
                }
            }
            reader.unwrap().finish().unwrap()
        };
        let facts = read(&segments);
        segments.sort_by_key(|(_, start, _)| *start);
        prop_assert!(facts.is_whole);
        let labels: Vec<_> = facts.requests.iter().map(|one| one.label.clone()).collect();
        let whole = super::tests::read(ports, &talk, 100_000);
        prop_assert_eq!(labels, whole.requests.iter().map(|one| one.label.clone()).collect::<Vec<_>>());
    }

    #[test]
    fn damage_never_panics_and_memory_is_bounded(
        of in 0usize..8,
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        garbage in prop::collection::vec(any::<u8>(), 0..400),
        size in 1usize..300,
        cut in prop_oneof![Just(usize::MAX), 0usize..300],
    ) {
        let (ports, mut talk) = talks().swap_remove(of);
        for (number, (place, byte)) in places.into_iter().enumerate() {
            let at = (number + 1) % talk.len();
            if !talk[at].1.is_empty() {
                let place = place.index(talk[at].1.len());
                talk[at].1[place] = byte;
            }
        }
        talk.push((A, garbage.clone()));
        talk.push((B, garbage));
        if let Some(facts) = read_cut(ports, &talk, size, cut) {
            prop_assert!(facts.requests.len() <= 1_024);
            prop_assert!(facts.requests.iter().all(|one| one.label.chars().count() <= 100), "{:?}", facts.requests);
        }
    }
}

#[test]
fn requests_before_the_first_application_request_are_the_login() {
    let facts = |protocol, labels: &[&str]| {
        let request = |label: &&str| RequestFacts::new((*label).to_owned(), 1, Time(0));
        MessageFacts {
            protocol,
            requests: labels.iter().map(request).collect(),
            requests_total: labels.len() as u64,
            windows: None,
            heartbeats: [Vec::new(), Vec::new()],
            is_whole: true,
        }
    };
    let first =
        |protocol, labels: &[&str]| facts(protocol, labels).first_after_login().map(|request| request.label.clone());
    assert_eq!(first(RequestProtocol::Postgresql, &["startup", "SELECT ?"]).as_deref(), Some("SELECT ?"));
    assert_eq!(first(RequestProtocol::Kafka, &["ApiVersions v3", "Metadata v9"]).as_deref(), Some("Metadata v9"));
    assert_eq!(first(RequestProtocol::Redis, &["GET", "AUTH"]), None, "no login before it");
    assert_eq!(first(RequestProtocol::Mysql, &["login"]), None, "nothing behind it");
    assert_eq!(first(RequestProtocol::Http1, &["GET /"]), None);
}
