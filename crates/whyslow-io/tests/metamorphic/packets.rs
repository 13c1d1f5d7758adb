//! Reads a capture of any kind into packets, and writes packets as a capture.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use whyslow_core::capture::{Clock, LinkType, Packet as Captured, Reader, Sink};

/// A packet of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Nanoseconds.
    pub time: i64,
    /// On the wire, bytes.
    pub length: u32,
    /// Captured.
    pub bytes: Vec<u8>,
}

/// The packets of a capture in file order.
#[derive(Clone, Debug)]
pub struct Capture {
    pub link: u16,
    pub packets: Vec<Packet>,
}

#[derive(Default)]
struct Collect {
    links: Vec<LinkType>,
    packets: Vec<Packet>,
    is_text: bool,
}

impl Sink for Collect {
    fn packet(&mut self, packet: &Captured<'_>) {
        self.links.push(packet.link);
        self.links.dedup();
        let bytes = packet.data.to_vec();
        self.packets.push(Packet { time: packet.time.0, length: packet.original_len, bytes });
    }
    fn text(&mut self, _: Clock) {
        self.is_text = true;
    }
}

/// Reads a capture; `None` if a pcap file cannot hold it: text, several link types, no times.
pub fn read(path: &Path) -> Option<Capture> {
    let mut collect = Collect::default();
    let mut reader = Reader::new();
    reader.push(&bytes(path)?, &mut collect).ok()?;
    let summary = reader.finish(&mut collect).ok()?;
    let [link] = collect.links[..] else { return None };
    let is_plain = !collect.is_text && summary.clock == Clock::Absolute;
    is_plain.then_some(Capture { link: link.0, packets: collect.packets })
}

/// The uncompressed content of a file.
fn bytes(path: &Path) -> Option<Vec<u8>> {
    let file = BufReader::new(File::open(path).ok()?);
    let mut content = Vec::new();
    match path.extension().and_then(|name| name.to_str()) {
        Some("gz") => flate2::read::MultiGzDecoder::new(file).read_to_end(&mut content).ok()?,
        Some("xz") => liblzma::read::XzDecoder::new(file).read_to_end(&mut content).ok()?,
        _ => BufReader::new(file).read_to_end(&mut content).ok()?,
    };
    Some(content)
}

/// Returns the packets as a pcap file with nanoseconds.
pub fn written(link: u16, packets: &[Packet]) -> Vec<u8> {
    let mut out = 0xa1b2_3c4d_u32.to_le_bytes().to_vec();
    for field in [0x0004_0002_u32, 0, 0, 262_144, u32::from(link)] {
        out.extend(field.to_le_bytes());
    }
    for Packet { time, length, bytes } in packets {
        let (seconds, nanos) = (time.div_euclid(1_000_000_000), time.rem_euclid(1_000_000_000));
        for field in [seconds as u32, nanos as u32, bytes.len() as u32, *length] {
            out.extend(field.to_le_bytes());
        }
        out.extend(bytes);
    }
    out
}

/// The offsets of the headers of a TCP segment in its packet.
#[derive(Clone, Copy, Debug)]
pub struct Headers {
    pub ip: usize,
    pub is_ipv6: bool,
    pub tcp: usize,
    pub payload: usize,
    /// Behind the payload, whether or not it was captured.
    pub end: usize,
}

/// Bytes before the IP header, by link type and header.
fn link_header(link: u16, bytes: &[u8]) -> Option<usize> {
    match link {
        1 => {
            let mut at = 12;
            while matches!(bytes.get(at..at + 2)?, [0x81, 0] | [0x88, 0xa8]) {
                at += 4;
            }
            matches!(bytes.get(at..at + 2)?, [8, 0] | [0x86, 0xdd]).then_some(at + 2)
        }
        101 | 12 | 14 | 228 | 229 => Some(0),
        0 | 108 => Some(4),
        113 => matches!(bytes.get(14..16)?, [8, 0] | [0x86, 0xdd]).then_some(16),
        276 => matches!(bytes.get(..2)?, [8, 0] | [0x86, 0xdd]).then_some(20),
        _ => None,
    }
}

impl Headers {
    /// The headers of an unfragmented TCP segment without IPv6 extension headers.
    pub fn of(link: u16, bytes: &[u8]) -> Option<Self> {
        let ip = link_header(link, bytes)?;
        let word = |at: usize| Some(usize::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
        let is_ipv6 = bytes.get(ip)? >> 4 == 6;
        let (tcp, end, protocol) = if is_ipv6 {
            (ip + 40, ip + 40 + word(ip + 4)?, *bytes.get(ip + 6)?)
        } else {
            if word(ip + 6)? & 0x3fff != 0 {
                return None;
            }
            (ip + usize::from(bytes[ip] & 15) * 4, ip + word(ip + 2)?, *bytes.get(ip + 9)?)
        };
        let payload = tcp + usize::from(*bytes.get(tcp + 12)? >> 4) * 4;
        (protocol == 6 && payload <= end && payload <= bytes.len() && bytes.len() >= tcp + 20).then_some(Self {
            ip,
            is_ipv6,
            tcp,
            payload,
            end,
        })
    }

    /// For an ICMP error over IPv4: its own header, without TCP, and the quoted one.
    pub fn of_icmp(link: u16, bytes: &[u8]) -> Option<[Self; 2]> {
        let ip = link_header(link, bytes)?;
        let icmp = ip + usize::from(bytes.get(ip)? & 15) * 4;
        let is_error = bytes.get(ip)? >> 4 == 4 && bytes.get(ip + 9) == Some(&1) && matches!(bytes.get(icmp)?, 3 | 11);
        let quote = icmp + 8;
        let tcp = quote + usize::from(bytes.get(quote)? & 15) * 4;
        let is_tcp = bytes.get(quote + 9) == Some(&6) && bytes.len() >= tcp + 4;
        let at = |ip, tcp| Self { ip, is_ipv6: false, tcp, payload: tcp, end: tcp };
        (is_error && is_tcp).then(|| [at(ip, ip), at(quote, tcp)])
    }

    /// The places of the two addresses.
    pub fn addresses(self) -> [std::ops::Range<usize>; 2] {
        let (first, length) = if self.is_ipv6 { (self.ip + 8, 16) } else { (self.ip + 12, 4) };
        [first..first + length, first + length..first + 2 * length]
    }
}

/// The checksum of RFC 1071.
pub fn checksum(parts: &[&[u8]]) -> [u8; 2] {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let mut sum: u32 = words.map(|word| u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

/// Updates a checksum after bytes that it covers have changed (RFC 1624).
pub fn update(sum: [u8; 2], before: &[u8], after: &[u8]) -> [u8; 2] {
    let inverted: Vec<u8> = before.iter().map(|byte| !byte).collect();
    checksum(&[&[!sum[0], !sum[1]], &inverted, after])
}
