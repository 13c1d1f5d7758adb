#![allow(clippy::unwrap_used)]
//! Connections written packet by packet: a round trip of 40 ms, captured at the client.

mod opened;

use crate::capture_builder::{MICROS, PcapBuilder};
use crate::condense::Condenser;
use crate::explain::{Explainer, Fragment, explain};
use crate::series::{EveryPacketReader, TracedPoints};
use proptest::prelude::*;
use whyslow_analysis::types::Frame;
use whyslow_analysis::{Analysis, Cause, ExchangeStatement, Finding, LimitingFactor, State, Statement};
use whyslow_core::capture::{CaptureOrigin, Packet, Reader, Sink};
use whyslow_core::quic::QuicReader;
use whyslow_core::quic::sealing::{V2, seal_initial};
use whyslow_core::wire::{self, Skip};

const DCID: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
const CLIENT: (u8, u16) = (1, 50_000);
const SERVER: (u8, u16) = (2, 4_433);
/// Time in milliseconds from which the client sends from another port.
const MOVES: u32 = 90_000;
/// The server's connection ID, as in `long`.
const SERVER_ID: [u8; 8] = [11, 12, 13, 14, 15, 16, 17, 18];

/// Time in milliseconds, whether the client sends, and the packet.
type Script = Vec<(u32, bool, Vec<u8>)>;

/// A hello with a server name, HTTP/3 and a connection window of 65,536 bytes.
fn hello() -> Vec<u8> {
    let extension =
        |kind: u16, body: &[u8]| [&kind.to_be_bytes()[..], &(body.len() as u16).to_be_bytes(), body].concat();
    let name = b"media.example.com";
    let sni = [&[0, name.len() as u8 + 3, 0, 0, name.len() as u8][..], name].concat();
    let all = [
        extension(0, &sni),
        extension(16, &[0, 3, 2, b'h', b'3']),
        extension(0x39, &[4, 4, 0x80, 1, 0, 0, 1, 2, 0x67, 0x10]),
    ]
    .concat();
    let body = [&[3; 34][..], &[0, 0, 2, 0x13, 1, 1, 0], &(all.len() as u16).to_be_bytes(), &all].concat();
    let hello = [&[1, 0, 0, body.len() as u8][..], &body].concat();
    [&[6, 0, 0x40, hello.len() as u8][..], &hello].concat()
}

fn long(version: u32, kind: u8) -> Vec<u8> {
    let kind = if version == V2 { kind + 1 } else { kind };
    let mut packet = vec![0xc0 | kind << 4];
    packet.extend(version.to_be_bytes());
    packet.extend([4, 9, 8, 7, 6, 8, 11, 12, 13, 14, 15, 16, 17, 18]);
    packet.extend(if kind & 3 == u8::from(version == V2) { &[0][..] } else { &[] });
    packet.extend([0x44, 0]);
    packet.resize(packet.len() + 1_024, 0);
    packet
}

fn short(bytes: usize) -> Vec<u8> {
    vec![0x41; bytes]
}

/// A packet with a short header, to the server.
fn to_server(bytes: usize) -> Vec<u8> {
    let mut packet = short(bytes);
    packet[1..9].copy_from_slice(&SERVER_ID);
    packet
}

/// A response of full packets, ten per millisecond.
fn answer(at: u32, packets: u32) -> impl Iterator<Item = (u32, bool, Vec<u8>)> {
    (0..packets).map(move |n| (at + n / 10, false, short(1_200)))
}

/// An ACK for every second packet of a response.
fn acked(script: &mut Script, at: u32, packets: u32) {
    for (n, packet) in answer(at, packets).enumerate() {
        let at = packet.0;
        script.push(packet);
        if n % 2 == 1 {
            script.push((at, true, to_server(38)));
        }
    }
}

/// All findings of all transfers and of the connection.
fn found(analysis: &Analysis) -> Vec<&Finding> {
    let all = analysis.connections.iter();
    all.flat_map(|one| one.transfers.iter().flat_map(|transfer| &transfer.findings).chain(&one.findings)).collect()
}

fn opening(version: u32) -> Script {
    vec![(0, true, seal_initial(version, &DCID, 0, &hello())), (40, false, long(version, 0)), (41, true, short(200))]
}

fn datagram(at: u32, up: bool, data: &[u8]) -> Vec<u8> {
    // The client's port changes at `MOVES`.
    let client = (CLIENT.0, CLIENT.1 + u16::from(at >= MOVES));
    let (from, to) = if up { (client, SERVER) } else { (SERVER, client) };
    let length = (28 + data.len()) as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(length.to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, from.0, 192, 0, 2, to.0]);
    packet.extend([from.1, to.1, length - 20, 0].iter().flat_map(|word| word.to_be_bytes()));
    packet.extend(data);
    packet
}

fn capture(script: &Script) -> Vec<u8> {
    let mut file = PcapBuilder::new(MICROS, false);
    file.network = 101;
    for (at, up, data) in script {
        file = file.packet(at / 1000, at % 1000 * 1000, &datagram(*at, *up, data));
    }
    file.bytes()
}

fn explained(script: &Script) -> Analysis {
    explain("quic.pcap", &capture(script)).unwrap()
}

#[test]
fn connection_without_the_servers_initial_is_not_split() {
    let mut script = opening(1);
    script.remove(1);
    script.insert(1, (40, false, short(900)));
    script.push((45, false, short(900)));
    let analysis = explained(&script);
    let [connection] = &analysis.connections[..] else { panic!("{:?}", analysis.connections) };
    assert_eq!(connection.state, State::Open);
    assert_eq!(connection.handshake.as_ref().and_then(|one| one.rtt_ms), Some(41.0));
}

/// Old connections are evicted when a TCP segment comes; the age of a QUIC connection is that of
/// its last datagram.
#[test]
fn tcp_between_the_first_packets_does_not_split_a_connection() {
    let mut tcp = vec![0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 192, 0, 2, 1, 192, 0, 2, 9];
    tcp.extend([0xc0, 1, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 255, 255, 0, 0, 0, 0]);
    let mut file = PcapBuilder::new(MICROS, false);
    file.network = 101;
    for (at, up, data) in &opening(1) {
        let time = 1_700_000_000;
        file = file.packet(time, at * 1000, &datagram(*at, *up, data));
        file = file.packet(time, at * 1000 + 500, &tcp);
    }
    let analysis = explain("both.pcap", &file.bytes()).unwrap();
    let quic: Vec<_> = analysis.connections.iter().filter(|one| one.quic.is_some()).collect();
    assert!(quic.len() == 1 && quic[0].state == State::Open, "{quic:?}");
}

#[test]
fn both_versions_are_decrypted() {
    for version in [1, V2] {
        let analysis = explained(&opening(version));
        let [connection] = &analysis.connections[..] else { panic!("{:?}", analysis.captures) };
        assert_eq!(connection.server.name.as_deref(), Some("media.example.com"));
        let quic = connection.quic.as_ref().unwrap();
        assert_eq!((quic.version, quic.alpn.as_slice()), (version, &["h3".to_owned()][..]));
        assert_eq!(quic.client.initial_max_data, Some(65_536));
        assert_eq!(quic.client.max_idle_timeout_ms, Some(10_000));
        assert_eq!(connection.handshake.as_ref().unwrap().rtt_ms, Some(41.0));
        assert_eq!(connection.state, State::Open);
        assert!(analysis.captures[0].problems.is_empty(), "{:?}", analysis.captures[0].problems);
    }
}

#[test]
fn slow_server_is_reported_without_certainty() {
    let mut script = opening(1);
    // A ticket and settings immediately, and the response a second later.
    script.extend([(82, false, short(300)), (83, true, short(40))]);
    script.extend((0..30).map(|n| (1_082 + n / 10, false, short(1_200))));
    script.push((1_086, true, short(40)));
    let analysis = explained(&script);
    let findings = &analysis.connections[0].transfers.last().unwrap().findings;
    assert_eq!(findings[0].cause, Cause::ServerThink, "{findings:?}");
    // The limit applies regardless of measurements of TCP.
    assert!(findings[0].confidence <= 0.7 && !findings[0].to_confirm.is_empty());
}

#[test]
fn retransmitted_initial_is_counted() {
    let mut script = opening(1);
    script.insert(0, script[0].clone());
    script.iter_mut().skip(1).for_each(|(at, ..)| *at += 1_000);
    let analysis = explained(&script);
    assert_eq!(analysis.connections[0].quic.as_ref().unwrap().initial_retransmissions, 1);
    let found = found(&analysis);
    assert!(found.len() == 1 && found[0].cause == Cause::SynLoss, "{found:?}");
    assert!(matches!(
        found[0].statement,
        Statement::Exchange(ExchangeStatement::InitialRetransmitted { times: 1, .. })
    ));
    // The client's timeout, and not the round trip.
    assert_eq!(found[0].cost_s.as_millis_f64(), 1_000.0);
    assert!(found[0].confidence < 0.9);
}

/// A Retry packet (RFC 9000 section 17.2.5) with another connection ID of the server.
fn retry() -> Vec<u8> {
    let mut packet = vec![0xf0, 0, 0, 0, 1, 4, 9, 8, 7, 6, 8, 21, 22, 23, 24, 25, 26, 27, 28];
    packet.extend([7; 40]);
    packet
}

#[test]
fn retry_costs_a_round_trip_and_changes_the_keys() {
    let mut script = opening(1);
    script.iter_mut().for_each(|(at, ..)| *at += 40);
    script[0].2 = seal_initial(1, &[21, 22, 23, 24, 25, 26, 27, 28], 1, &hello());
    script.splice(0..0, [(0, true, seal_initial(1, &DCID, 0, &hello())), (40, false, retry())]);
    let analysis = explained(&script);
    let [connection] = &analysis.connections[..] else { panic!("{:?}", analysis.captures) };
    let quic = connection.quic.as_ref().unwrap();
    assert!(quic.retry && quic.initial_retransmissions == 0, "{quic:?}");
    assert_eq!(connection.server.name.as_deref(), Some("media.example.com"));
    assert!(found(&analysis).is_empty(), "{:?}", found(&analysis));
}

#[test]
fn version_negotiation_restarts_the_handshake() {
    let mut script = opening(1);
    script.iter_mut().for_each(|(at, ..)| *at += 40);
    let negotiation = [&[0x80, 0, 0, 0, 0, 4, 9, 8, 7, 6, 8][..], &DCID, &[0, 0, 0, 1]].concat();
    script.splice(0..0, [(0, true, seal_initial(V2, &DCID, 0, &hello())), (40, false, negotiation)]);
    let analysis = explained(&script);
    let [connection] = &analysis.connections[..] else { panic!("{:?}", analysis.captures) };
    let quic = connection.quic.as_ref().unwrap();
    assert!(quic.version_negotiation && quic.version == 1, "{quic:?}");
    assert!(found(&analysis).is_empty(), "{:?}", found(&analysis));
}

/// A page: three requests of a few hundred bytes, each answered immediately.
fn page() -> Script {
    let mut script = opening(1);
    for request in 0..3 {
        let at = 50 + request * 46;
        script.push((at, true, to_server(120)));
        acked(&mut script, at + 41, 12);
    }
    script
}

#[test]
fn healthy_page_has_no_finding() {
    let analysis = explained(&page());
    assert!(found(&analysis).is_empty(), "{:?}", found(&analysis));
    let [connection] = &analysis.connections[..] else { panic!("{:?}", analysis.captures) };
    assert_eq!(connection.origin.stream, None, "Wireshark numbers it among UDP");
    assert!(connection.directions.iter().all(|direction| direction.max_window.is_none()));
    assert!(connection.transfers.iter().flat_map(|one| &one.rounds).all(|round| round.window.is_none()));
    let handshake = connection.handshake.as_ref().unwrap();
    assert_eq!((handshake.mss, handshake.window_scale, handshake.sack), ([None; 2], [None; 2], [None; 2]));
}

#[test]
fn silence_between_requests_costs_nothing() {
    let mut script = page();
    // Keep-alives, and then another request.
    script.extend([(15_000, true, to_server(29)), (15_040, false, short(33)), (15_041, true, to_server(34))]);
    script.push((30_000, true, to_server(110)));
    acked(&mut script, 30_041, 12);
    let analysis = explained(&script);
    assert!(found(&analysis).is_empty(), "{:?}", found(&analysis));
}

#[test]
fn silence_inside_a_response_is_not_only_the_applications() {
    let mut script = opening(1);
    script.push((50, true, to_server(120)));
    acked(&mut script, 91, 40);
    script.extend([(95, false, short(500)), (95, true, to_server(38))]);
    acked(&mut script, 1_700, 40);
    let analysis = explained(&script);
    let found = found(&analysis);
    assert!(found.len() == 1 && found[0].cause == Cause::Application, "{found:?}");
    assert!(matches!(found[0].statement, Statement::Exchange(ExchangeStatement::SilentUnderEncryption { .. })));
    assert!(found[0].confidence <= 0.5 && found[0].remedies.is_empty(), "{found:?}");
}

/// The client offers 64 KiB, and each 64 KiB come after a silence.
#[test]
fn silence_where_a_window_may_be_full_has_no_cause() {
    let mut script = opening(1);
    script.push((50, true, to_server(120)));
    for burst in 0..8 {
        acked(&mut script, 91 + burst * 600, 56);
    }
    let analysis = explained(&script);
    let limits = analysis.connections[0].transfers.iter().flat_map(|one| &one.limits);
    assert!(limits.clone().any(|share| share.limit == LimitingFactor::Application && share.share > 0.5));
    assert!(found(&analysis).is_empty(), "{:?}", found(&analysis));
}

#[test]
fn ack_much_sooner_than_the_handshake_is_of_something_else() {
    let mut script = opening(1);
    script.push((50, true, to_server(120)));
    acked(&mut script, 91, 40);
    // Data, and an ACK of earlier data that passes a millisecond later.
    script.extend([(3_000, false, short(1_200)), (3_001, true, to_server(38))]);
    script.push((3_400, false, short(1_200)));
    let rtt = explained(&script).connections[0].rtt_ms.min.unwrap();
    assert!(rtt > 9.0, "{rtt}");
}

/// Flights of one size, one per round trip of 40 ms; captured at the client, or at the server,
/// where all times differ by 20 ms.
fn windowed(at_server: bool) -> Analysis {
    let (mut script, late) = (opening(1), u32::from(at_server) * 20);
    if at_server {
        script =
            vec![(20, true, script[0].2.clone()), (21, false, script[1].2.clone()), (61, true, script[2].2.clone())];
    }
    script.push((61 + late, true, to_server(120)));
    for flight in 0..20 {
        let at = if at_server { 83 } else { 102 } + flight * 41;
        script.extend(answer(at, 50));
        let back = if at_server { 40 } else { 0 };
        script.extend((0..25).map(|n| (at + n / 5 + back, true, to_server(38))));
    }
    script.sort_by_key(|(at, ..)| *at);
    explained(&script)
}

#[test]
fn flights_of_equal_size_show_a_window_at_either_end() {
    for at_server in [false, true] {
        let analysis = windowed(at_server);
        let found = found(&analysis);
        assert!(found.iter().all(|one| one.confidence <= 0.7), "{found:?}");
        assert!(found.iter().any(|one| one.cause == Cause::ProtocolWindow), "at the server: {at_server}: {found:?}");
    }
}

#[test]
fn migrated_connection_is_not_split() {
    let mut script = page();
    script.push((MOVES, true, to_server(120)));
    acked(&mut script, MOVES + 41, 12);
    let analysis = explained(&script);
    let [connection] = &analysis.connections[..] else { panic!("{:?}", analysis.connections) };
    assert_eq!(connection.quic.as_ref().unwrap().migrations, 1);
    assert!(analysis.captures[0].problems.is_empty(), "{:?}", analysis.captures[0].problems);
}

#[test]
fn long_ack_frames_are_not_requests() {
    let mut script = opening(1);
    script.push((50, true, to_server(120)));
    for n in 0..200 {
        script.push((91 + n, false, short(1_200)));
        script.push((91 + n, true, to_server(38 + n as usize)));
    }
    let analysis = explained(&script);
    assert!(analysis.connections[0].directions[0].bytes < 400, "{:?}", analysis.connections[0].directions[0]);
}

/// The capture, condensed into this number of shares.
fn condensed(capture: &[u8], shares: usize) -> Vec<Vec<u8>> {
    let mut rows = vec![Vec::new(); shares];
    let origin = CaptureOrigin { name: "quic.pcap".to_owned(), ..CaptureOrigin::default() };
    let mut condenser = Condenser::new(&origin, shares, |share, row: Vec<u8>| rows[share].extend(row));
    let mut reader = Reader::new();
    reader.push(capture, &mut condenser).unwrap();
    let summary = reader.finish(&mut condenser).unwrap();
    condenser.finish(&summary);
    rows
}

#[test]
fn condensed_capture_has_the_same_analysis_and_is_smaller() {
    let mut script = page();
    acked(&mut script, 1_000, 400);
    // Other UDP, and a packet of another QUIC connection.
    script.extend([
        (2_000, true, vec![0x12; 60]),
        (2_001, true, short(5)),
        (2_002, false, vec![0xc0, 0, 0, 0, 1, 0, 0]),
    ]);
    let capture = capture(&script);
    let whole = format!("{:?}", explain("quic.pcap", &capture).unwrap());
    let one = condensed(&capture, 1);
    assert!(one[0].len() * 4 < capture.len(), "{} of {}", one[0].len(), capture.len());
    assert_eq!(format!("{:?}", explain("quic.pcap", &one[0]).unwrap()), whole);
    let fragments = condensed(&capture, 3).into_iter().map(|rows| {
        let (mut reader, mut explainer) = (Reader::new(), Explainer::new());
        explainer.begin_capture("quic.pcap");
        reader.push(&rows, &mut explainer).unwrap();
        let summary = reader.finish(&mut explainer).unwrap();
        explainer.end_capture(summary);
        explainer.into_fragment()
    });
    let (merged, _) = Fragment::merge_all(fragments.collect()).finish();
    assert_eq!(format!("{merged:?}"), whole);
}

#[test]
fn points_have_the_connection_numbers_of_the_analysis() {
    let capture = capture(&page());
    let mut numbers = Vec::new();
    let mut give = |number, points: TracedPoints| numbers.push((number, points.number()));
    let mut every = EveryPacketReader::new(&mut give);
    let mut reader = Reader::new();
    reader.push(&capture, &mut every).unwrap();
    reader.finish(&mut every).unwrap();
    every.finish();
    assert_eq!(numbers, [(1, 0)]);
}

#[test]
fn ids_and_paths_of_a_connection_are_bounded() {
    let mut script = opening(1);
    for n in 0..2_000u16 {
        let mut packet = long(1, 0);
        packet[11..13].copy_from_slice(&n.to_be_bytes());
        script.push((100, false, packet));
    }
    let mut reader = QuicReader::default();
    struct Into<'a>(&'a mut QuicReader);
    impl Sink for Into<'_> {
        fn packet(&mut self, packet: &Packet<'_>) {
            let (Err(Skip::Quic(datagram)) | Err(Skip::Udp(datagram))) = wire::decode(packet) else { return };
            self.0.take(packet, &datagram, Frame { file: None, number: packet.frame });
        }
    }
    let mut capture_reader = Reader::new();
    capture_reader.push(&capture(&script), &mut Into(&mut reader)).unwrap();
    assert!(reader.connection_ids() <= 12, "{}", reader.connection_ids());
}

#[test]
fn connection_without_its_start_is_only_counted() {
    let mut other = opening(1);
    other.retain(|(_, up, _)| !up);
    assert!(explained(&other).connections.is_empty(), "nothing shows that it begins here");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn hostile_datagrams_do_no_harm(
        rest in prop::collection::vec((0u32..3_000, any::<bool>(), prop::collection::vec(any::<u8>(), 0..120)), 0..60),
    ) {
        let mut script = opening(1);
        script.extend(rest);
        explained(&script);
    }
}

/// quic-go and quinn probe the path with ever larger packets, also while a server processes.
#[test]
fn larger_packet_in_a_silence_is_a_probe_and_no_response() {
    let processing = |probe: Option<usize>| {
        let mut script = opening(1);
        acked(&mut script, 81, 10);
        script.push((200, true, to_server(300)));
        script.extend(probe.map(|bytes| (500, false, short(bytes))));
        acked(&mut script, 1_240, 40);
        let analysis = explained(&script);
        found(&analysis).iter().map(|finding| finding.cause).collect::<Vec<_>>()
    };
    assert_eq!(processing(None), [Cause::ServerThink]);
    assert_eq!(processing(Some(1_400)), [Cause::ServerThink]);
}
