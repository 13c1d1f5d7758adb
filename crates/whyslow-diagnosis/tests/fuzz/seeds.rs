//! Seeds of the mutations: small captures with many features, and real ones if available.

use super::build::{MICROS, MODIFIED, NANOS, PacketBlock, PcapBuilder, PcapNgBuilder, RecordHeader};
use std::path::{Path, PathBuf};

/// The start of a TCP segment in Ethernet and IPv4.
const PACKET: &[u8] = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0E\0\x001\0\x01\0\0@\x06\0\0\x0a\0\0\x01\x0a\0\0\x02\
    \x1f\x90\xc0\0\0\0\0\x01\0\0\0\x02P\x10\x01\0\0\0\0\0payload!!";

/// A router's ICMP error about that packet: it is too long for the next link.
const ERROR: &[u8] = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0E\0\0\x38\0\x07\0\0@\x01\0\0\x0a\0\0\x09\x0a\0\0\x01\
    \x03\x04\0\0\0\0\x05\x78E\0\x05\xdc\0\x01\0\0@\x06\0\0\x0a\0\0\x01\x0a\0\0\x02\x1f\x90\xc0\0\0\0\0\x01";

/// The same for IPv6, from ::9 about a packet from ::1 to ::2.
const ERROR_V6: &[u8] = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x86\xdd\x60\0\0\0\0\x38\x3a\x40\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x02\0\0\0\0\0\x05\x00\
    \x60\0\0\0\x05\xb4\x06\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\x1f\x90\xc0\0\0\0\0\x01";

pub(crate) fn pcap() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    let errors = PcapBuilder::new(MICROS, false).packet(1_600_000_000, 0, PACKET);
    files.push(
        errors
            .packet(1_600_000_000, 9, ERROR)
            .packet(1_600_000_001, 0, ERROR_V6)
            .packet(1_600_000_002, 0, PACKET)
            .bytes(),
    );
    for (magic, big) in [(MICROS, false), (MICROS, true), (NANOS, false), (NANOS, true), (MODIFIED, false)] {
        let mut file = PcapBuilder::new(magic, big).snaplen(96);
        for at in 0..6 {
            let length = PACKET.len() as u32;
            file = file
                .record(RecordHeader::new(1_600_000_000 + at / 3, at * 1000, length, length + at % 2 * 1000), PACKET);
        }
        files.push(
            file.clone()
                .record(RecordHeader::new(1_500_000_000, 2_000_000, 4, 2), b"back")
                .packet(1_600_000_009, 1, b"")
                .bytes(),
        );
        files.push(file.bytes());
    }
    files
}

/// QUIC: the client's first packet of RFC 9001 appendix A.2 or of RFC 9369, the server's response,
/// and packets with short headers in both directions.
pub(crate) fn quic() -> Vec<Vec<u8>> {
    let first = [
        &include_bytes!("../../../whyslow-core/src/quic/vectors/rfc9001-a2.bin")[..],
        include_bytes!("../../../whyslow-core/src/quic/vectors/rfc9369-a2.bin"),
    ];
    let captures = first.map(|first| {
        // From a server that chose a connection ID of eight bytes.
        let head = [&first[..5], &[0, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0x44, 0]].concat();
        let answer = [head, vec![7; 1_024]].concat();
        let to_server = |length: usize| [&[0x41, 1, 2, 3, 4, 5, 6, 7, 8][..], &vec![5; length]].concat();
        let mut packets = vec![(true, first.to_vec()), (true, first.to_vec()), (false, answer), (true, to_server(100))];
        packets.extend((0..20).flat_map(|_| [(false, vec![0x42; 1_200]), (true, to_server(20))]));
        let mut file = PcapBuilder::new(MICROS, false);
        for ((up, data), at) in packets.iter().zip(0..) {
            let ports: [u16; 2] = if *up { [50_000, 443] } else { [443, 50_000] };
            let hosts = if *up { [1, 2] } else { [2, 1] };
            let length = data.len() as u16;
            let mut packet = [&PACKET[..16], &(28 + length).to_be_bytes(), &[0, 1, 0, 0, 64, 17, 0, 0]].concat();
            hosts.iter().for_each(|host| packet.extend([10, 0, 0, *host]));
            [ports[0], ports[1], 8 + length, 0].iter().for_each(|word| packet.extend(word.to_be_bytes()));
            packet.extend(data);
            file = file.packet(1_600_000_000 + at / 10, at % 10 * 90_000, &packet);
        }
        file.bytes()
    });
    captures.to_vec()
}

/// Bundled captures with at most a few hundred packets.
pub(crate) fn samples() -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples"), "pcap", &mut paths);
    paths.sort();
    let samples = paths.iter().filter_map(|path| std::fs::read(path).ok()).filter(|bytes| bytes.len() < 24_000);
    samples.chain([jumps(4, 70_000, 1448)]).collect()
}

/// A client with a window of one byte, whose ACKs jump over `jump` bytes that were not captured: a
/// few dozen packets, in which little is in flight and much was delivered.
pub(crate) fn jumps(number: u32, jump: u32, mss: u16) -> Vec<u8> {
    let mut file = PcapBuilder::new(MICROS, false);
    file.network = 101;
    let mut at = 0;
    let mut packet = |wait: u32, from_client: bool, numbers: (u32, u32), flags: u8, payload: u16| {
        at += wait;
        let options = if flags & SYN > 0 { [[2, 4], mss.to_be_bytes()].concat() } else { Vec::new() };
        let headers = 40 + options.len() as u16;
        let mut data = [&[0x45, 0][..], &(headers + payload).to_be_bytes(), b"\0\x01\x40\0\x40\x06\0\0"].concat();
        let ends = [&b"\x0a\0\0\x01"[..], b"\x0a\0\0\x02"];
        let ports = [&b"\x0f\xa0"[..], b"\0\x50"];
        let order = if from_client { [0, 1] } else { [1, 0] };
        data.extend(order.iter().flat_map(|&end| ends[end]));
        data.extend(order.iter().flat_map(|&end| ports[end]));
        data.extend(numbers.0.to_be_bytes());
        data.extend(numbers.1.to_be_bytes());
        let window: u16 = if from_client { 1 } else { 65_535 };
        data.extend([(headers as u8 - 20) * 4, flags]);
        data.extend(window.to_be_bytes());
        data.extend([0; 4]);
        data.extend(options);
        let length = data.len() as u32;
        let header =
            RecordHeader::new(1_700_000_000 + at / 1_000, at % 1_000 * 1_000, length, length + u32::from(payload));
        file = file.clone().record(header, &data);
    };
    packet(0, true, (1, 0), SYN, 0);
    packet(50, false, (1, 2), SYN | ACK, 0);
    packet(1, true, (2, 2), PUSH | ACK, 100);
    packet(50, false, (2, 102), PUSH | ACK, 1);
    packet(50, true, (102, 3), ACK, 0);
    // A gap that is filled late.
    packet(50, false, (4, 102), PUSH | ACK, 1);
    packet(400, false, (3, 102), PUSH | ACK, 1);
    packet(50, true, (102, 5), ACK, 0);
    let mut next: u32 = 5;
    for _ in 0..number {
        next = next.wrapping_add(jump);
        packet(50, true, (102, next), ACK, 0);
        packet(50, false, (next, 102), PUSH | ACK, 1);
        next = next.wrapping_add(1);
        packet(50, true, (102, next), ACK, 0);
        packet(250, false, (next, 102), ACK, 0);
    }
    packet(0, false, (next, 102), FIN | ACK, 0);
    packet(1, true, (102, next.wrapping_add(1)), FIN | ACK, 0);
    file.bytes()
}

const FIN: u8 = 1;
const SYN: u8 = 2;
const PUSH: u8 = 8;
const ACK: u8 = 16;

pub(crate) fn pcapng() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for big in [false, true] {
        let length = PACKET.len() as u32;
        let start = PcapNgBuilder::new(big).interface(1, 0, &[(9, vec![9]), (14, vec![0; 8])]).interface(
            101,
            64,
            &[(9, vec![0x8a])],
        );
        let packets = start
            .packet_block(PacketBlock {
                interface: 0,
                ticks: 1_600_000_000_000_000_000,
                original: length,
                data: PACKET,
                options: &[(1, b"comment".to_vec()), (4, vec![1; 8])],
            })
            .packet(1, 1_600_000_000 << 10, length + 1000, PACKET)
            .simple(length, PACKET)
            .obsolete(1, 2, 1_600_000_001 << 10, PACKET);
        let rest = packets
            .clone()
            .names(&[(1, b"\x0a\0\0\x01host.example\0".to_vec()), (2, [&[0x20; 16][..], b"six\0"].concat())])
            .statistics(0, &[(5, vec![0, 0, 0, 0, 0, 0, 0, 3]), (7, vec![0; 8])])
            .block(0xbad, b"\0\0\0\x01custom")
            .block(9, b"JOURNAL=1\n")
            .block(10, b"secrets!")
            .block(0x77, b"unknown")
            .section(!big)
            .interface(113, 0, &[(14, vec![0xff; 8])])
            .packet_block(PacketBlock {
                interface: 0,
                ticks: 5,
                original: length,
                data: PACKET,
                options: &[(2, vec![0; 4])],
            });
        files.extend([packets.bytes, rest.bytes]);
    }
    files
}

/// Small real captures with this extension, from the folder `WHYSLOW_CAPTURES` or next to the
/// repository. There may be none.
pub(crate) fn found(extension: &str) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    if let Some(folder) = whyslow_testing::captures_if_any() {
        collect(&folder, extension, &mut paths);
    }
    paths.sort();
    whyslow_testing::part_of(paths)
        .iter()
        .filter_map(|path| std::fs::read(path).ok())
        .filter(|bytes| bytes.len() < 1 << 15)
        .collect()
}

fn collect(folder: &Path, extension: &str, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            collect(&path, extension, paths);
        } else if path.extension().is_some_and(|found| found == extension) {
            paths.push(path);
        }
    }
}

/// Captures of real programs that contain the secrets of their connections.
pub(crate) fn with_keys() -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys");
    let names = ["http1-tls12.pcapng", "http1-tls13.pcapng", "http2-tls13.pcapng"];
    names.iter().map(|name| std::fs::read(folder.join(name)).unwrap()).collect()
}

/// HTTP/1 and HTTP/2 messages: for each piece its side and its length.
pub(crate) fn plaintext() -> Vec<Vec<u8>> {
    let talk = |pieces: &[(u8, &[u8])]| {
        let cut = pieces.iter().flat_map(|(side, bytes)| bytes.chunks(250).map(move |piece| (side, piece)));
        cut.flat_map(|(side, piece)| [&[*side, piece.len() as u8][..], piece].concat()).collect::<Vec<u8>>()
    };
    let http1 = talk(&[
        (0, b"GET /a?b HTTP/1.1\r\nHost: a.example\r\n\r\nHEAD / HTTP/1.1\r\n\r\n"),
        (1, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        (1, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
        (0, b"POST /c HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
        (1, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"),
    ]);
    let http2 = talk(&[
        (0, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\x64"),
        (1, b"\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0"),
        // GET / of www.example.com, twice.
        (0, b"\0\0\x11\x01\x05\0\0\0\x01\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"),
        (0, b"\0\0\x04\x01\x05\0\0\0\x03\x82\x86\x84\xbe"),
        (1, b"\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x64\0\0\0\0\0\x01"),
        (1, &[7; 100]),
        (0, b"\0\0\x04\x08\0\0\0\0\x01\0\0\x10\0\0\0\x08\x06\0\0\0\0\0abcdefgh"),
        (1, b"\0\0\x02\0\x01\0\0\0\x01ab\0\0\x01\x01\x05\0\0\0\x03\x8d"),
    ]);
    vec![http1, http2]
}

/// An HTTP/3 capture with aioquic that contains the secrets of its connection.
pub(crate) fn quic_with_keys() -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys");
    vec![std::fs::read(folder.join("http3.pcapng")).unwrap()]
}

/// A capture of a connection behind a lookup.
pub(crate) fn lookup() -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/programs/slow-lookup-client.pcap")).unwrap()
}
