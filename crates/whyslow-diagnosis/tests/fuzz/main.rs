//! Hostile input for all readers: it must never cause a panic, a hang or more memory than its size
//! explains.
//!
//! A target is a line at the end of this file: a name, the seeds, and a function that takes bytes,
//! checks the invariants, and returns the kind of the outcome. `README.md` in this folder explains
//! long runs and what to do with a failing input.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../../../whyslow-core/src/capture/build.rs"]
mod build;
mod harness;
mod lookups;
mod meter;
mod mutate;
mod packets;
mod requests;
mod robustness;
mod seeds;
mod stages;

use harness::{fuzz, kind_of};
use meter::peak_during;
use stages::bounded;
use std::net::IpAddr;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Analysis, Transfer};
use whyslow_core::capture::{CaptureError, CaptureOrigin, Clock, LinkType, Packet, Reader, Sink, Summary};
use whyslow_core::tcp::payload::read_plaintext;
use whyslow_core::tls::KeyLog;
use whyslow_diagnosis::condense::{Condenser, ConnectionShard};
use whyslow_diagnosis::explain::Explainer;
use whyslow_units::Time;

/// A fingerprint of all events of a reader, which compares two ways of reading without storing the
/// events.
#[derive(Debug, Default, PartialEq, Eq)]
struct Fingerprint {
    packets: u64,
    frame: u64,
    hash: u64,
    /// The packets of the capture are divided among several shares.
    is_share: bool,
}

impl Fingerprint {
    fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Sink for Fingerprint {
    fn packet(&mut self, packet: &Packet<'_>) {
        assert!(packet.frame > self.frame, "frame numbers rise");
        assert!(packet.data.len() <= packet.original_len as usize);
        self.frame = packet.frame;
        self.packets += 1;
        self.mix(&packet.frame.to_le_bytes());
        self.mix(&packet.time.0.to_le_bytes());
        self.mix(&packet.link.0.to_le_bytes());
        self.mix(&packet.original_len.to_le_bytes());
        self.mix(packet.data);
    }

    fn condensed(&mut self, origin: &CaptureOrigin) {
        assert_eq!(self.packets, 0, "must come before the first packet");
        self.is_share = origin.share != ConnectionShard::ALL;
        self.mix(format!("{origin:?}").as_bytes());
    }

    fn text(&mut self, clock: Clock) {
        assert_eq!(self.packets, 0, "must come before the first packet");
        self.mix(format!("{clock:?}").as_bytes());
    }

    fn left_out(&mut self, of: Option<[(IpAddr, u16); 2]>, from: Time, until: Time) {
        assert!(self.packets > 0, "between packets");
        self.mix(format!("{of:?} {from:?} {until:?}").as_bytes());
    }

    fn host_name(&mut self, address: IpAddr, name: &str, _stand_in: bool) {
        self.mix(address.to_string().as_bytes());
        self.mix(name.as_bytes());
    }
}

fn read(input: &[u8], piece: usize) -> (Fingerprint, Result<Summary, CaptureError>) {
    let mut fingerprint = Fingerprint::default();
    let mut reader = Reader::new();
    for piece in input.chunks(piece) {
        if let Err(error) = reader.push(piece, &mut fingerprint) {
            return (fingerprint, Err(error));
        }
    }
    let outcome = reader.finish(&mut fingerprint);
    (fingerprint, outcome)
}

/// Reads a capture whole and in pieces: the results must be equal.
fn capture(input: &[u8]) -> u64 {
    let ((whole, outcome), peak) = peak_during(|| read(input, input.len().max(1)));
    // Buffered input is a part of the input; a growing buffer may have twice its size, and while it
    // is copied three times.
    let allowed = 3 * input.len() + (1 << 20);
    assert!(peak <= allowed, "{peak} bytes of memory for an input of {}", input.len());
    // Sizes vary from input to input.
    let piece = 1 + (input.len() * 31) % 97;
    let ((in_pieces, outcome_in_pieces), peak) = peak_during(|| read(input, piece));
    assert!(peak <= allowed, "{peak} bytes of memory for an input of {} in pieces of {piece}", input.len());
    assert_eq!(format!("{outcome:?}"), format!("{outcome_in_pieces:?}"), "in pieces of {piece}");
    assert_eq!(whole, in_pieces, "in pieces of {piece}");

    match outcome {
        Ok(summary) => {
            assert!(summary.packets == whole.packets || whole.is_share && summary.packets > whole.packets);
            assert!(summary.first_time <= summary.last_time);
            let problems = summary.problems.iter().map(|problem| (&problem.slug, problem.count.ilog2()));
            kind_of(&(summary.format, summary.packets.checked_ilog2(), problems.collect::<Vec<_>>()))
        }
        Err(error) => kind_of(&error.message.split(|c: char| !c.is_alphabetic()).collect::<Vec<_>>()),
    }
}

#[test]
fn pcap() {
    fuzz("pcap", [seeds::pcap(), seeds::found("pcap")].concat(), capture);
}

#[test]
fn pcapng() {
    fuzz("pcapng", [seeds::pcapng(), seeds::found("pcapng")].concat(), capture);
}

/// tcpdump's text of artificial packets.
fn texts() -> Vec<Vec<u8>> {
    let modern = "$ tcpdump -nn\r\n\
        10:00:00.000001 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq 100, win 64240, options [mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7], length 0\n\
        10:00:00.020001 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [S.], seq 900, ack 101, win 65160, options [mss 1460,sackOK,TS val 9 ecr 1,nop,wscale 7], length 0\n\
        ......\n\
        10:00:00.020101 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [P.], seq 1:78, ack 1, win 502, length 77: HTTP: GET / HTTP/1.1\n\
        10:00:00.041101 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [.], seq 1:1449, ack 78, win 509, options [nop,nop,sack 1 {2897:4345}], length 1448\n";
    let old = "10:00:00.1 client.33000 > server.http: S 123:123(0) win 5840 <mss 1460,sackOK,timestamp 1 0,nop,wscale 7>\n\
        10:00:00.2 server.http > client.33000: S 5:5(0) ack 124 win 5792 <mss 1460>\n\
        10:00:00.3 client.33000 > server.http: P 1:292(291) ack 1 win 5840\n";
    let verbose = "2026-01-01 10:00:00.000001 IP6 (flowlabel 0x1, hlim 64, next-header TCP (6) payload length: 20) 2001:db8::1.5 > 2001:db8::2.443: Flags [R], cksum 0x1 (correct), seq 7, win 0, length 0\n\
        10:00:00.000002 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto TCP (6), length 40)\n    192.0.2.1.1 > 192.0.2.2.2: Flags [F.], cksum 0x2 (incorrect -> 0x3), seq 1, ack 1, win 1, length 0\n";
    let pings = "64 bytes from 192.0.2.9: icmp_seq=1 ttl=56 time=11.6 ms\rPING example.com (192.0.2.9) 56(84) bytes of data.\r\n\
        5 packets transmitted, 4 received, 20% packet loss\nrtt min/avg/max/mdev = 11.5/11.7/12.0/0.1 ms\n\
        Reply from 192.0.2.9: bytes=32 time<1ms TTL=56\nRequest timed out.\nPackets: Sent = 4, Received = 3, Lost = 1\n\
         00:00:00.000000 IP 192.0.2.1 > 192.0.2.9: ICMP echo request, id 7, seq 1, length 64\n\
         00:00:00.000100 IP 192.0.2.9 > 192.0.2.1: ICMP echo reply, id 7, seq 1, length 64\n\
         00:00:00.000200 IP 192.0.2.1.5000 > 192.0.2.53.53: 9+ A? a.example. (27)\n\
         00:00:00.000300 IP 192.0.2.53.domain > 192.0.2.1.5000: 9 NXDomain 0/1/0 (99)\n\
         00:00:00.000100 IP client > x.x.x.x.myservice: Flags [.], ack 1, win 5, length 0\n";
    let errors = "10:00:00.000001 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq 100, win 64240, length 0\n\
        10:00:00.000101 IP 192.0.2.9 > 192.0.2.1: ICMP 192.0.2.2 unreachable - need to frag (mtu 1400), length 36\n\
        10:00:00.000201 IP 192.0.2.9 > 192.0.2.1: ICMP 192.0.2.2 tcp port http unreachable, length 36\n\
        10:00:00.000301 IP (tos 0xc0, ttl 64, id 1, offset 0, flags [none], proto ICMP (1), length 56)\n    192.0.2.9 > 192.0.2.1: ICMP time exceeded in-transit, length 36\n\tIP (tos 0x0, ttl 1, id 9, offset 0, flags [DF], proto TCP (6), length 60)\n    192.0.2.1.40000 > 192.0.2.2.80:  [|tcp]\n\
        10:00:00.000401 IP6 2001:db8::1.5 > 2001:db8::2.443: Flags [S], seq 7, win 9, length 0\n\
        10:00:00.000501 IP6 2001:db8::9 > 2001:db8::1: ICMP6, packet too big, mtu 1400, length 1240\n\
        10:00:00.000601 IP6 2001:db8::9 > 2001:db8::1: ICMP6, destination unreachable, unreachable port, 2001:db8::2 tcp port 443, length 68\n";
    // Prefixes that logs add to each of these lines.
    const BEFORE: [&str; 8] = [
        "Nov 22 10:00:00 host tcpdump[123]: ",
        "2026-01-01T10:00:00.123456789+01:00 stdout F ",
        "<13>1 2026-01-01T10:00:00.123456Z host tcpdump 123 - - ",
        "[  123.456789] host tcpdump[123]: ",
        "Wed 2026-01-01 10:00:00 UTC host tcpdump[123]: ",
        "pod-7  | ",
        "[pod/x/c] 2026-01-01T10:00:00Z ",
        "2026-01-01 10:00:00,123 Nov 22 10:00:00 host tcpdump[123]: ",
    ];
    let plain = [modern, old, verbose, pings, errors];
    let logged = BEFORE.iter().flat_map(|before| {
        plain.iter().map(move |text| text.lines().map(|line| format!("{before}{line}\n")).collect::<String>())
    });
    plain.iter().map(|text| (*text).to_owned()).chain(logged).map(String::into_bytes).collect()
}

/// Analyses an input up to its first error.
fn explain_whole(input: &[u8]) -> Analysis {
    let mut explainer = Explainer::new();
    explainer.begin_capture("input");
    let mut reader = Reader::new();
    let read = reader.push(input, &mut explainer).and_then(|()| reader.finish(&mut explainer));
    if let Ok(summary) = read {
        explainer.end_capture(summary);
    }
    explainer.finish()
}

/// Checks that the figures of a transfer are consistent.
fn check_transfer(transfer: &Transfer) {
    assert!(transfer.duration_s.0 >= 0);
    let held: i64 = transfer.limits.iter().map(|share| share.seconds.0).sum();
    assert_eq!(held, transfer.duration_s.0, "the limits add up to the whole time");
    let spans: i64 = transfer.timeline.iter().map(|span| span.seconds.0).sum();
    assert_eq!(spans, transfer.duration_s.0, "and so does the timeline");
    let shares: f64 = transfer.limits.iter().map(|share| share.share).sum();
    assert!(transfer.limits.is_empty() || (shares - 1.0).abs() < 1e-6, "shares sum to {shares}");
    for finding in &transfer.findings {
        assert!((0.0..=1.0).contains(&finding.confidence));
        assert!(finding.evidence.iter().all(|evidence| evidence.value.is_finite()));
    }
}

/// The whole analysis: for any input, the figures are consistent and the work is bounded.
fn explain(input: &[u8]) -> u64 {
    let analysis = bounded(input, || explain_whole(input));
    let mut causes = Vec::new();
    for connection in &analysis.connections {
        assert!(connection.duration_s.0 >= 0);
        causes.extend(connection.findings.iter().map(|finding| finding.cause));
        for transfer in &connection.transfers {
            check_transfer(transfer);
            causes.extend(transfer.findings.iter().map(|finding| finding.cause));
        }
    }
    causes.sort_unstable();
    causes.dedup();
    let mut errors: Vec<_> = analysis.connections.iter().flat_map(|connection| &connection.icmp).collect();
    assert!(analysis.connections.iter().all(|connection| connection.icmp.len() <= 8));
    errors.truncate(2);
    let errors: Vec<_> = errors.iter().map(|error| (&error.kind, error.obeyed, error.count.ilog2())).collect();
    kind_of(&(analysis.connections.len().min(8), causes, errors))
}

/// One packet of any link type: the first two bytes are its number.
fn packet(input: &[u8]) -> u64 {
    let [high, low, data @ ..] = input else { return 0 };
    // Most numbers are undefined: half of the inputs are Ethernet, raw IP or Linux cooked captures.
    let link = match high {
        0..=60 => 1,
        61..=100 => 101,
        101..=127 => 113,
        _ => u16::from(*low) + 256 * u16::from(high & 1),
    };
    let original_len = data.len() as u32 + u32::from(*low);
    let packet = Packet { frame: 1, time: Time::ZERO, link: LinkType(link), data, original_len };
    match whyslow_core::wire::decode(&packet) {
        Ok(segment) => {
            assert!(segment.payload.len() <= segment.payload_len as usize);
            kind_of(&(
                segment.options.malformed,
                segment.tunnels,
                segment.fragment,
                segment.options.sack.as_slice().len(),
            ))
        }
        Err(skip) => kind_of(&skip.counted()),
    }
}

/// The packets of the seed captures, each after two bytes for its link type.
fn packets() -> Vec<Vec<u8>> {
    struct Collect(Vec<Vec<u8>>);
    impl Sink for Collect {
        fn packet(&mut self, packet: &Packet<'_>) {
            if self.0.len() < 64 {
                self.0.push([&[128, packet.link.0 as u8], packet.data].concat());
            }
        }
    }
    let mut collect = Collect(vec![vec![0; 80], [&[0, 1][..], &[0; 12], &[8, 0, 0x45], &[0; 60]].concat()]);
    for seed in [seeds::pcap(), seeds::found("pcap")].concat() {
        let mut reader = Reader::new();
        let _ = reader.push(&seed, &mut collect).and_then(|()| reader.finish(&mut collect));
    }
    collect.0
}

#[test]
fn text() {
    fuzz("text", texts(), capture);
}

/// Condensed captures and texts.
fn condensed() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for seed in [seeds::pcap(), seeds::found("pcap"), texts()].concat() {
        let mut rows = Vec::new();
        let mut condenser = Condenser::new(&CaptureOrigin::default(), 1, |_, row: Vec<u8>| rows.extend(row));
        let mut reader = Reader::new();
        let read = reader.push(&seed, &mut condenser).and_then(|()| reader.finish(&mut condenser));
        if let Ok(summary) = read {
            condenser.finish(&summary);
            all.push(rows);
        }
    }
    all
}

#[test]
fn condensed_captures() {
    fuzz("condensed", condensed(), capture);
}

/// A condensed capture of any packets has the same analysis as the packets.
#[test]
fn condenser() {
    fuzz("condenser", [seeds::pcap(), seeds::quic(), seeds::found("pcap"), texts()].concat(), |input| {
        let mut rows = Vec::new();
        let mut condenser = Condenser::new(&CaptureOrigin::default(), 1, |_, row: Vec<u8>| rows.extend(row));
        let mut reader = Reader::new();
        let read = reader.push(input, &mut condenser).and_then(|()| reader.finish(&mut condenser));
        let Ok(summary) = read else { return 0 };
        condenser.finish(&summary);
        let [one, other] = [input, rows.as_slice()].map(|bytes| {
            let (mut reader, mut explainer) = (Reader::new(), Explainer::new());
            // Condensed captures do not contain the payload of messages.
            explainer.ignore_messages();
            explainer.begin_capture("");
            let read = reader.push(bytes, &mut explainer).and_then(|()| reader.finish(&mut explainer));
            explainer.end_capture(read.unwrap());
            format!("{:?}", explainer.finish())
        });
        assert_eq!(one, other);
        kind_of(&(summary.format, summary.packets.checked_ilog2(), rows.len().ilog2()))
    });
}

/// HTTP/1 and HTTP/2 messages in records: for each its side and its length.
fn plaintext(input: &[u8]) -> u64 {
    let mut rest = input;
    let pieces = std::iter::from_fn(|| {
        let [side, len, after @ ..] = rest else { return None };
        let (piece, after) = after.split_at(after.len().min(usize::from(*len)));
        rest = after;
        Some((if side & 1 == 0 { Side::A } else { Side::B }, piece))
    });
    let (requests, heads, waits) = bounded(input, || read_plaintext(pieces));
    assert!(requests.len() <= 1024 && requests.iter().all(|request| request.label.len() <= 400));
    let complete = requests.iter().filter(|request| request.is_complete).count();
    let statuses: Vec<_> = requests.iter().take(2).map(|request| (request.status, request.stream)).collect();
    kind_of(&(requests.len().min(9), complete.min(9), heads.map(|heads| heads.min(9)), waits.min(4), statuses))
}

#[test]
fn decrypted_messages() {
    fuzz("plaintext", seeds::plaintext(), plaintext);
}

/// Captures that contain the secrets of their connections.
#[test]
fn decrypted_captures() {
    fuzz("decrypted", seeds::with_keys(), explain);
}

#[test]
fn key_logs() {
    let line = |label: &str, len| format!("{label} {} {}\n", "ab".repeat(32), "cd".repeat(len));
    let labels = ["CLIENT_RANDOM", "CLIENT_TRAFFIC_SECRET_0", "EXPORTER_SECRET", "UNKNOWN"];
    let text = labels.map(|label| line(label, 48)).concat();
    fuzz("keylog", vec![text.into_bytes(), line("SERVER_HANDSHAKE_TRAFFIC_SECRET", 32).into_bytes()], |input| {
        let log = bounded(input, || KeyLog::new(input));
        let tally = log.tally();
        let counts = [tally.secrets, tally.not_needed, tally.unknown_labels, tally.malformed];
        assert!(counts.iter().sum::<u64>() <= input.len() as u64 + 1);
        kind_of(&counts.map(|count| count.min(5)))
    });
}

#[test]
fn wire() {
    fuzz("wire", packets(), packet);
}

#[test]
fn quic() {
    fuzz("quic", seeds::quic(), explain);
}

#[test]
fn explainer() {
    fuzz("explainer", [seeds::pcap(), seeds::samples(), seeds::found("pcap"), texts()].concat(), explain);
}
