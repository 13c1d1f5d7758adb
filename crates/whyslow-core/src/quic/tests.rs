#![allow(clippy::unwrap_used)]
//! Connections that are written packet by packet: 40 ms there and back, captured at the client.

use super::header::V2;
use super::protection::InitialKeys;
use crate::analysis::{Analysis, Cause, State};
use crate::capture::build::{MICROS, PcapBuilder};
use crate::explain::explain;
use proptest::prelude::*;

const DCID: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
const CLIENT: (u8, u16) = (1, 50_000);
const SERVER: (u8, u16) = (2, 4_433);

/// Milliseconds, who sends, and what.
type Script = Vec<(u32, bool, Vec<u8>)>;

/// A hello that names a server, HTTP/3 and a window of 65,536 bytes for all streams together.
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

fn opening(version: u32) -> Script {
    vec![
        (0, true, InitialKeys::seal(version, &DCID, 0, &hello())),
        (40, false, long(version, 0)),
        (41, true, short(200)),
    ]
}

fn capture(script: &Script) -> Vec<u8> {
    let mut file = PcapBuilder::new(MICROS, false);
    file.network = 101;
    for (at, up, data) in script {
        let (from, to) = if *up { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
        let length = (28 + data.len()) as u16;
        let mut packet = vec![0x45, 0];
        packet.extend(length.to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, from.0, 192, 0, 2, to.0]);
        packet.extend([from.1, to.1, length - 20, 0].iter().flat_map(|word| word.to_be_bytes()));
        packet.extend(data);
        file = file.packet(at / 1000, at % 1000 * 1000, &packet);
    }
    file.bytes()
}

fn explained(script: &Script) -> Analysis {
    explain("quic.pcap", &capture(script)).unwrap()
}

#[test]
fn both_versions_are_opened() {
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
fn a_slow_server_is_told_and_not_as_certain() {
    let mut script = opening(1);
    // A ticket and settings at once, and the answer a second later.
    script.extend([(82, false, short(300)), (83, true, short(40))]);
    script.extend((0..30).map(|n| (1_082 + n / 10, false, short(1_200))));
    script.push((1_086, true, short(40)));
    let analysis = explained(&script);
    let findings = &analysis.connections[0].transfers.last().unwrap().findings;
    assert_eq!(findings[0].cause, Cause::ServerThink, "{findings:?}");
    // The bound holds whatever was measured of TCP.
    assert!(findings[0].confidence <= 0.7 && !findings[0].to_confirm.is_empty());
}

#[test]
fn an_initial_packet_that_is_sent_again_is_counted() {
    let mut script = opening(1);
    script.insert(0, script[0].clone());
    script.iter_mut().skip(1).for_each(|(at, ..)| *at += 1_000);
    let analysis = explained(&script);
    assert_eq!(analysis.connections[0].quic.as_ref().unwrap().initial_retransmissions, 1);
}

#[test]
fn tcp_between_the_same_ends_is_another_connection() {
    let mut other = opening(1);
    other.retain(|(_, up, _)| !up);
    assert!(explained(&other).connections.is_empty(), "nothing tells that it begins here");
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
