//! Tests of the text reader: helpers, and the complete reader.
#![allow(clippy::unwrap_used)]

mod errors;
mod formats;
mod logs;
mod numbers;
mod pasted;
mod refused;
mod roundtrip;
mod summaries;
mod times;

use super::TextReader;
use crate::capture::{CaptureError, Clock, Packet, Sink, Summary};
use etherparse::{LaxSlicedPacket, TcpOptionElement, TransportSlice};
use std::net::IpAddr;
use whyslow_units::Time;

/// A delivered packet.
#[derive(Clone, Debug, PartialEq)]
struct Got {
    frame: u64,
    nanos: i64,
    link: u16,
    data: Vec<u8>,
    original_len: u32,
}

#[derive(Default)]
struct Collect {
    packets: Vec<Got>,
    names: Vec<(IpAddr, String, bool)>,
    /// Number of packets before each omission.
    left_out: Vec<usize>,
    clock: Option<Clock>,
}

impl Sink for Collect {
    fn packet(&mut self, packet: &Packet<'_>) {
        assert!(packet.original_len as usize >= packet.data.len());
        self.packets.push(Got {
            frame: packet.frame,
            nanos: packet.time.0,
            link: packet.link.0,
            data: packet.data.to_vec(),
            original_len: packet.original_len,
        });
    }

    fn text(&mut self, clock: Clock) {
        assert!(self.clock.is_none() && self.packets.is_empty());
        self.clock = Some(clock);
    }

    fn left_out(&mut self, of: Option<[(IpAddr, u16); 2]>, from: Time, until: Time) {
        assert!(until >= from || of.is_none());
        if of.is_none() {
            assert_eq!(from.0, self.packets.last().unwrap().nanos);
        }
        self.left_out.push(self.packets.len());
    }

    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        self.names.push((address, name.into(), stand_in));
    }
}

/// A segment as decoded by another decoder.
#[derive(Clone, Debug, Default, PartialEq)]
struct Segment {
    src: String,
    dst: String,
    seq: u32,
    ack: u32,
    flags: String,
    window: u16,
    urgent: u16,
    len: u32,
    payload: Vec<u8>,
    options: Vec<String>,
}

impl Got {
    /// The segment in the packet; `None` if it is not TCP, or has no complete header.
    fn segment(&self) -> Option<Segment> {
        let sliced = LaxSlicedPacket::from_ip(&self.data).ok()?;
        let ends = match sliced.net? {
            etherparse::LaxNetSlice::Ipv4(ip) => {
                let header = ip.header();
                assert_eq!(header.to_header().calc_header_checksum(), header.header_checksum());
                [IpAddr::from(header.source_addr()), header.destination_addr().into()]
            }
            etherparse::LaxNetSlice::Ipv6(ip) => {
                [IpAddr::from(ip.header().source_addr()), ip.header().destination_addr().into()]
            }
            other => panic!("{other:?}"),
        };
        let TransportSlice::Tcp(tcp) = sliced.transport? else { return None };
        let header = tcp.to_header();
        let ip_len = if ends[0].is_ipv4() { 20 } else { 40 };
        let letters = [
            ('F', header.fin),
            ('S', header.syn),
            ('R', header.rst),
            ('P', header.psh),
            ('.', header.ack),
            ('U', header.urg),
            ('E', header.ece),
            ('W', header.cwr),
            ('e', header.ns),
        ];
        let option = |option| match option {
            Ok(TcpOptionElement::MaximumSegmentSize(mss)) => format!("mss {mss}"),
            Ok(TcpOptionElement::WindowScale(shift)) => format!("wscale {shift}"),
            Ok(TcpOptionElement::SelectiveAcknowledgementPermitted) => "sackOK".into(),
            Ok(TcpOptionElement::SelectiveAcknowledgement(first, rest)) => {
                let blocks = std::iter::once(Some(first)).chain(rest).flatten();
                blocks.fold("sack".into(), |text, (left, right)| format!("{text} {left}:{right}"))
            }
            Ok(TcpOptionElement::Timestamp(val, ecr)) => format!("TS {val} {ecr}"),
            Ok(TcpOptionElement::Noop) => "nop".into(),
            Err(etherparse::TcpOptionReadError::UnknownId(kind)) => format!("kind {kind}"),
            Err(error) => panic!("{error:?}"),
        };
        Some(Segment {
            src: format!("{} {}", ends[0], header.source_port),
            dst: format!("{} {}", ends[1], header.destination_port),
            seq: header.sequence_number,
            ack: header.acknowledgment_number,
            flags: letters.iter().filter(|(_, set)| *set).map(|(letter, _)| letter).collect(),
            window: header.window_size,
            urgent: header.urgent_pointer,
            len: self.original_len - ip_len - u32::from(tcp.header_len() as u16),
            payload: tcp.payload().to_vec(),
            options: tcp.options_iterator().map(option).collect(),
        })
    }
}

/// Result of reading a text.
#[derive(Default)]
pub(super) struct Read {
    packets: Vec<Got>,
    names: Vec<(IpAddr, String, bool)>,
    left_out: Vec<usize>,
    pub(super) summary: Summary,
}

impl Read {
    /// All TCP segments.
    fn segments(&self) -> Vec<Segment> {
        self.packets.iter().filter_map(Got::segment).collect()
    }

    /// Number of occurrences of a problem.
    pub(super) fn count(&self, slug: &str) -> u64 {
        self.summary.problems.iter().filter(|problem| problem.slug == slug).map(|problem| problem.count).sum()
    }

    /// The times since the first packet, in microseconds.
    fn micros(&self) -> Vec<i64> {
        self.packets.iter().map(|packet| (packet.nanos - self.packets[0].nanos) / 1_000).collect()
    }
}

pub(super) fn try_read(text: &[u8], step: usize) -> Result<Read, CaptureError> {
    let mut sink = Collect::default();
    let mut reader = TextReader::new();
    for piece in text.chunks(step) {
        reader.push(piece, &mut sink)?;
    }
    let summary = reader.finish(&mut sink)?;
    assert_eq!(summary.packets as usize, sink.packets.len());
    // The clock reported before the first packet must be that of the summary.
    assert!(sink.clock.is_none_or(|clock| clock == summary.clock));
    Ok(Read { packets: sink.packets, names: sink.names, left_out: sink.left_out, summary })
}

pub(super) fn read(text: &str) -> Read {
    try_read(text.as_bytes(), usize::MAX).unwrap()
}

/// The only segment of a text.
fn one(text: &str) -> Segment {
    let read = read(text);
    assert_eq!(read.packets.len(), 1, "{text}");
    assert_eq!(read.summary.problems, [], "{text}");
    read.packets[0].segment().unwrap()
}

const SYN: &str = "10:00:00.000000 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq 1000, win 64240, options [mss 1460,\
                   sackOK,TS val 7 ecr 0,nop,wscale 7], length 0";
const SYN_ACK: &str = "10:00:00.020000 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [S.], seq 5000, ack 1001, win 65160, \
                       options [mss 1460,sackOK,TS val 9 ecr 7,nop,wscale 7], length 0";
const ACK: &str = "10:00:00.020100 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [.], ack 1, win 502, \
                   options [nop,nop,TS val 27 ecr 9], length 0";
const DATA: &str = "10:00:00.020200 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [P.], seq 1:101, ack 1, win 502, \
                    options [nop,nop,TS val 27 ecr 9], length 100: HTTP: GET / HTTP/1.1";

fn handshake() -> String {
    format!("{SYN}\n{SYN_ACK}\n{ACK}\n{DATA}\n")
}

#[test]
fn every_field_of_a_line_is_in_the_packet() {
    let read = read(&handshake());
    assert_eq!(read.summary.packets, 4);
    assert_eq!(read.summary.format, "tcpdump text");
    assert_eq!(read.summary.problems, []);
    let expected = Segment {
        src: "192.0.2.1 40000".into(),
        dst: "192.0.2.2 80".into(),
        seq: 1001,
        ack: 5001,
        flags: "P.".into(),
        window: 502,
        urgent: 0,
        len: 100,
        payload: b"GET / HTTP/1.1\r\n".to_vec(),
        options: ["nop", "nop", "TS 27 9"].map(String::from).to_vec(),
    };
    assert_eq!(read.segments()[3], expected);
    assert_eq!(read.segments()[0].options, ["mss 1460", "sackOK", "TS 7 0", "nop", "wscale 7"]);
    assert_eq!(read.packets.iter().map(|packet| packet.frame).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(read.packets[3].original_len, 20 + 32 + 100);
    assert_eq!(read.micros(), [0, 20_000, 20_100, 20_200]);
}

#[test]
fn complete_segment_has_a_correct_checksum() {
    let read = read(&handshake());
    let sliced = etherparse::SlicedPacket::from_ip(&read.packets[2].data).unwrap();
    let (Some(etherparse::NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) = (sliced.net, sliced.transport) else {
        panic!("not TCP over IPv4");
    };
    let header = ip.header().to_header();
    assert_eq!(tcp.to_header().calc_checksum_ipv4(&header, tcp.payload()).unwrap(), tcp.checksum());
}

#[test]
fn unprinted_checksum_does_not_look_like_offload() {
    // For any length, the field is neither 0 nor the pseudo-header's sum, with or without the
    // length.
    let fold = |sum: u32| ((sum >> 16) + (sum & 0xffff)) as u16;
    let addresses = 0xc000 + 0x0201 + 0xc000 + 0x0202 + 6;
    for len in 1..3_000_u32 {
        let line = format!(
            "10:00:00.1 IP 192.0.2.1.1 > 192.0.2.2.2: Flags [.], seq 1:{}, ack 1, win 7, length {len}",
            len + 1
        );
        let data = &read(&line).packets[0].data;
        let field = u16::from_be_bytes([data[36], data[37]]);
        assert!(![0, fold(addresses), fold(addresses + 20 + len)].contains(&field), "{len}");
    }
}

#[test]
fn split_changes_no_packet() {
    let text = format!("$ tcpdump -i eth0\r\n{}\u{2026}\n58 packets captured\n", handshake().replace(' ', "\u{a0}"));
    let whole = try_read(text.as_bytes(), usize::MAX).unwrap();
    assert_eq!(whole.summary.packets, 4);
    for step in 1..40 {
        let split = try_read(text.as_bytes(), step).unwrap();
        assert_eq!(split.packets, whole.packets);
        assert_eq!(split.summary.problems, whole.summary.problems);
    }
}

#[test]
fn long_line_is_truncated_and_counted_in_any_split() {
    let text = format!("{}{}\n{ACK}\n", handshake(), "x".repeat(200_000));
    for step in [1_000, 65_536, 65_537, usize::MAX] {
        let read = try_read(text.as_bytes(), step).unwrap();
        assert_eq!((read.summary.packets, read.count("long-line")), (5, 1));
    }
    let data = format!("{}{DATA}{}\n", handshake(), "x".repeat(200_000));
    for step in [1_000, 65_536, usize::MAX] {
        let read = try_read(data.as_bytes(), step).unwrap();
        assert_eq!((read.segments().len(), read.count("long-line")), (5, 1));
    }
}

#[test]
fn binary_input_is_not_text() {
    let looks = |bytes: &[u8]| TextReader::looks_like_text(bytes);
    assert!(looks(handshake().as_bytes()));
    assert!(looks("三次握手结束。\n```\n".as_bytes()));
    assert!(looks(b"caf\xe9 latin-1 \x1b[31mred\x1b[0m\r\n"));
    assert!(!looks(b""));
    assert!(!looks(&[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0]));
    assert!(!looks(&[0x0a, 0x0d, 0x0d, 0x0a, 0x1c, 0, 0, 0]));
    assert!(!looks(&[0x1f, 0x8b, 8, 1, 2, 3, 4, 5]));
}
