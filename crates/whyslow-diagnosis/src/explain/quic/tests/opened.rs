//! Connections that a key log decrypts: a round trip of 40 ms, captured at the client.

use super::*;
use std::sync::Arc;
use whyslow_analysis::{SendingStatement, Undecrypted};
use whyslow_core::quic::sealing::SealingKeys;
use whyslow_core::tls::{KeyLog, KeyRing};

/// Limit of the server before the first window update (see `hello`).
const WINDOW: u64 = 65_536;
const SUITE: u16 = 0x1301;
const SECRETS: [[u8; 32]; 2] = [[5; 32], [6; 32]];

fn keys(is_client: bool) -> SealingKeys {
    SealingKeys::new(false, SUITE, &SECRETS[usize::from(!is_client)]).unwrap()
}

fn key_log() -> KeyRing {
    let hex = |byte: u8| format!("{byte:02x}").repeat(32);
    let line = |label: &str, secret: u8| format!("{label} {} {}\n", hex(3), hex(secret));
    let text = [line("CLIENT_TRAFFIC_SECRET_0", 5), line("SERVER_TRAFFIC_SECRET_0", 6)].concat();
    KeyRing::from(Arc::new(KeyLog::new(text.as_bytes())))
}

/// The server's Initial packet, with its ServerHello.
fn server_initial() -> Vec<u8> {
    seal_server_initial(0, server_hello())
}

fn server_hello() -> Vec<u8> {
    let body = [&[3, 3][..], &[7; 32], &[0], &SUITE.to_be_bytes(), &[0, 0, 0]].concat();
    let hello = [&[2, 0, 0, body.len() as u8][..], &body].concat();
    [&[6, 0, hello.len() as u8][..], &hello].concat()
}

fn seal_server_initial(number: u8, mut frames: Vec<u8>) -> Vec<u8> {
    frames.resize(1_000, 0);
    let mut header = vec![0xc0, 0, 0, 0, 1, 4, 9, 8, 7, 6, 8];
    header.extend(SERVER_ID);
    header.push(0);
    header.extend((0x4000 | (frames.len() + 17) as u16).to_be_bytes());
    header.push(number);
    let server = SealingKeys::of_server(1, &DCID).unwrap();
    server.seal(&header, header.len() - 1, number.into(), &frames)
}

/// A packet with a short header. One in four lacks the fixed bit, as ends may agree (RFC 9287).
fn sealed(is_client: bool, number: u64, frames: &[u8]) -> Vec<u8> {
    let mut header = vec![if number % 4 == 3 { 0x01 } else { 0x41 }];
    header.extend(if is_client { &SERVER_ID[..] } else { &[9, 8, 7, 6] });
    let at = header.len();
    header.extend((number as u16).to_be_bytes());
    let mut frames = frames.to_vec();
    frames.resize(frames.len().max(4), 0);
    keys(is_client).seal(&header, at, number, &frames)
}

fn varint(number: u64) -> [u8; 4] {
    (number as u32 | 0x8000_0000).to_be_bytes()
}

fn stream(offset: u64, data: &[u8], fin: bool) -> Vec<u8> {
    [&[0x0c | u8::from(fin), 0][..], &varint(offset), data].concat()
}

fn ack(largest: u64) -> Vec<u8> {
    [&[2][..], &varint(largest), &[0, 0], &varint(largest)].concat()
}

/// A response limited by the connection's window: the client sends the next update of 64 KiB when
/// it has all data, `late` milliseconds later.
fn held_by_a_window(late: u32) -> Script {
    let mut script = vec![(0, true, seal_initial(1, &DCID, 0, &hello())), (40, false, server_initial())];
    // HEADERS with :method GET and :path /.
    script.push((41, true, sealed(true, 0, &stream(0, &[1, 4, 0, 0, 0xd1, 0xc1], true))));
    let (mut at, mut sent, mut numbers) = (81, 0, [1, 0]);
    for _ in 0..20 {
        let granted = sent + WINDOW;
        while sent < granted {
            let len = (granted - sent).min(1_200);
            let mut data = vec![0; len as usize];
            if sent == 0 {
                // HEADERS with :status 200, and a DATA frame of 1,310,711 bytes.
                data[..10].copy_from_slice(&[1, 3, 0, 0, 0xd9, 0, 0x80, 0x13, 0xff, 0xf6]);
            }
            script.push((at, false, sealed(false, numbers[1], &stream(sent, &data, sent + len == 20 * WINDOW))));
            (sent, numbers[1]) = (sent + len, numbers[1] + 1);
        }
        script.push((at, true, sealed(true, numbers[0], &ack(numbers[1] - 1))));
        script.push((at + late, true, sealed(true, numbers[0] + 1, &[&[0x10][..], &varint(sent + WINDOW)].concat())));
        numbers[0] += 2;
        at += 40 + late;
    }
    script
}

/// The same, captured at the client, which sends the update when half of the window is used: it
/// precedes the data that fills the window.
fn held_by_early_grants() -> Script {
    let mut script = vec![(0, true, seal_initial(1, &DCID, 0, &hello())), (40, false, server_initial())];
    script.push((41, true, sealed(true, 0, &stream(0, &[1, 4, 0, 0, 0xd1, 0xc1], true))));
    let (mut at, mut sent, mut numbers) = (81, 0, [1, 0]);
    for half in 1..=60 {
        while sent < half * WINDOW / 2 {
            let len = (half * WINDOW / 2 - sent).min(1_200);
            let mut data = vec![0; len as usize];
            if sent == 0 {
                // HEADERS with :status 200, and a DATA frame of the rest.
                data[..10].copy_from_slice(&[1, 3, 0, 0, 0xd9, 0, 0x80, 0x1d, 0xff, 0xf6]);
            }
            script.push((at, false, sealed(false, numbers[1], &stream(sent, &data, sent + len == 30 * WINDOW))));
            (sent, numbers[1]) = (sent + len, numbers[1] + 1);
        }
        script.push((at, true, sealed(true, numbers[0], &ack(numbers[1] - 1))));
        script.push((at, true, sealed(true, numbers[0] + 1, &[&[0x10][..], &varint(sent + WINDOW)].concat())));
        numbers[0] += 2;
        at += 20;
    }
    script
}

fn explained_with(script: &Script, keys: KeyRing) -> Analysis {
    let (mut reader, mut explainer) = (Reader::new(), Explainer::new());
    explainer.set_keys(keys);
    explainer.begin_capture("quic.pcap");
    reader.push(&capture(script), &mut explainer).unwrap();
    let summary = reader.finish(&mut explainer).unwrap();
    explainer.end_capture(summary);
    explainer.finish()
}

#[test]
fn full_connection_window_is_reported_with_its_waits() {
    let analysis = explained_with(&held_by_a_window(0), key_log());
    let [connection] = &analysis.connections[..] else { panic!("{:?}", analysis.connections) };
    assert_eq!(connection.decryption.as_ref().map(|one| one.bytes()), Some(20 * WINDOW + 6));
    let all = found(&analysis);
    let [finding] = &all[..] else { panic!("{all:?}") };
    assert_eq!(finding.cause, Cause::ProtocolWindow, "{finding:?}");
    let whole = connection.transfers.last().unwrap().duration_s;
    assert!(finding.cost_s.scale(1.3) > whole, "{finding:?} of {whole:?}");
    let Some(Statement::Sending(SendingStatement::FlowControlWindow { stream, bytes, times, waited_s, .. })) =
        finding.details.first()
    else {
        panic!("{finding:?}");
    };
    assert_eq!((*stream, *bytes, *times), (None, WINDOW, 19));
    assert_eq!(waited_s.as_millis_f64(), 19.0 * 40.0);
}

#[test]
fn early_window_updates_still_show_the_window() {
    let analysis = explained_with(&held_by_early_grants(), key_log());
    let causes: Vec<_> = found(&analysis).iter().map(|finding| finding.cause).collect();
    assert!(!causes.contains(&Cause::ReceiveWindow) && !causes.contains(&Cause::ZeroWindow), "{causes:?}");
    assert_eq!(causes.first(), Some(&Cause::ProtocolWindow));
}

#[test]
fn late_grants_are_a_slow_reader() {
    let analysis = explained_with(&held_by_a_window(300), key_log());
    let causes: Vec<_> = found(&analysis).iter().map(|finding| finding.cause).collect();
    assert_eq!(causes, [Cause::ZeroWindow]);
}

/// A response to a client that reads 8 KiB at a time, and grants as much 20 ms after it has all
/// data: the rest of its window is unread.
fn held_by_small_grants() -> Script {
    const PIECE: u64 = 8_192;
    let mut script = vec![(0, true, seal_initial(1, &DCID, 0, &hello())), (40, false, server_initial())];
    script.push((41, true, sealed(true, 0, &stream(0, &[1, 4, 0, 0, 0xd1, 0xc1], true))));
    let (mut at, mut sent, mut granted, mut numbers) = (81, 0, WINDOW, [1, 0]);
    for _ in 0..40 {
        while sent < granted {
            let len = (granted - sent).min(1_200);
            let mut data = vec![0; len as usize];
            if sent == 0 {
                // HEADERS with :status 200, and a DATA frame of the rest.
                data[..10].copy_from_slice(&[1, 3, 0, 0, 0xd9, 0, 0x80, 0x05, 0xdf, 0xf6]);
            }
            script.push((
                at,
                false,
                sealed(false, numbers[1], &stream(sent, &data, sent + len == WINDOW + 39 * PIECE)),
            ));
            (sent, numbers[1]) = (sent + len, numbers[1] + 1);
        }
        granted += PIECE;
        script.push((at, true, sealed(true, numbers[0], &ack(numbers[1] - 1))));
        script.push((at + 20, true, sealed(true, numbers[0] + 1, &[&[0x10][..], &varint(granted)].concat())));
        numbers[0] += 2;
        at += 60;
    }
    script
}

#[test]
fn small_grants_with_the_rest_unread_are_a_slow_reader() {
    let analysis = explained_with(&held_by_small_grants(), key_log());
    let causes: Vec<_> = found(&analysis).iter().map(|finding| finding.cause).collect();
    assert!(causes.contains(&Cause::ZeroWindow) && !causes.contains(&Cause::ProtocolWindow), "{causes:?}");
}

/// With a post-quantum key share a hello fills two packets, and the server acknowledges the first
/// one before it has the second.
#[test]
fn hello_that_goes_on_after_the_servers_first_packet_is_read() {
    let whole = hello().split_off(4);
    let piece = |offset: u8, data: &[u8]| [&[6, 0x40, offset, 0x40, data.len() as u8][..], data].concat();
    let (first, rest) = whole.split_at(20);
    let mut script = held_by_a_window(0);
    script[0].2 = seal_initial(1, &DCID, 0, &piece(0, first));
    script[1].2 = seal_server_initial(1, server_hello());
    let acknowledgement = (5, false, seal_server_initial(0, vec![2, 0, 0, 0, 0]));
    script.splice(1..1, [acknowledgement, (6, true, seal_initial(1, &DCID, 1, &piece(20, rest)))]);
    let analysis = explained_with(&script, key_log());
    let connection = &analysis.connections[0];
    assert_eq!(connection.decryption.as_ref().map(|one| one.bytes()), Some(20 * WINDOW + 6));
    assert_eq!(connection.quic.as_ref().map(|quic| quic.alpn.clone()), Some(vec!["h3".to_owned()]));
}

#[test]
fn request_of_http3_is_listed() {
    let analysis = explained_with(&held_by_a_window(0), key_log());
    let [request] = &analysis.connections[0].requests[..] else { panic!("{:?}", analysis.connections[0].requests) };
    assert_eq!((request.label.as_str(), request.status), ("GET /", Some(200)));
    assert!(request.wait_s.is_some_and(|wait| wait > whyslow_units::Nanos::from_millis(700)), "{request:?}");
}

#[test]
fn key_log_of_another_connection_gives_no_keys() {
    let other = KeyRing::from(Arc::new(KeyLog::new(b"")));
    let analysis = explained_with(&held_by_a_window(0), other);
    let connection = &analysis.connections[0];
    assert_eq!(connection.decryption.as_ref().and_then(|one| one.stopped()), Some(Undecrypted::NoKeys));
    assert!(connection.quic.as_ref().is_some_and(|quic| quic.opened.is_none()));
}

/// A packet that was lost before the capture point, and sent again.
#[test]
fn lost_packet_is_a_retransmission() {
    let mut script = held_by_a_window(0);
    let last = script.iter().map(|packet| packet.0).max().unwrap();
    let lost = script.iter().position(|(at, is_client, _)| *at == 81 && !*is_client).unwrap() + 10;
    script.remove(lost);
    script.push((last + 1, false, sealed(false, 2_000, &stream(12_000, &[0; 1_200], false))));
    let analysis = explained_with(&script, key_log());
    let server = &analysis.connections[0].directions[1];
    assert_eq!(
        (server.bytes, analysis.connections[0].quic.as_ref().unwrap().opened.unwrap().missing[1]),
        (20 * WINDOW, 2_000 - 1_100 + 1)
    );
    assert!(
        analysis.connections[0]
            .transfers
            .iter()
            .all(|one| one.limits.iter().all(|share| share.limit != LimitingFactor::Timeout))
    );
}

/// Small consecutive requests, each with its response; ACKs are sent after their delay, after the
/// application's next data.
fn requests_in_turn() -> Script {
    let mut script = vec![(0, true, seal_initial(1, &DCID, 0, &hello())), (40, false, server_initial())];
    let (mut at, mut numbers) = (41, [0, 0]);
    let on =
        |id: u8, offset: u64, data: &[u8], fin: bool| [&[0x0c | u8::from(fin), id][..], &varint(offset), data].concat();
    for id in (0..15).map(|nth| 4 * nth) {
        script.push((at, true, sealed(true, numbers[0], &on(id, 0, &[1, 4, 0, 0, 0xd1, 0xc1], true))));
        // HEADERS with :status 200, and a DATA frame of 4,789 bytes.
        let mut body = vec![0; 4_800];
        body[..8].copy_from_slice(&[1, 3, 0, 0, 0xd9, 0, 0x52, 0xb8]);
        for (nth, piece) in body.chunks(1_200).enumerate() {
            let frames = on(id, nth as u64 * 1_200, piece, nth == 3);
            script.push((at + 40, false, sealed(false, numbers[1], &frames)));
            numbers[1] += 1;
        }
        script.push((at + 40, false, sealed(false, numbers[1], &ack(numbers[0]))));
        script.push((at + 40, true, sealed(true, numbers[0] + 1, &ack(numbers[1] - 2))));
        numbers = [numbers[0] + 2, numbers[1] + 1];
        at += 41;
    }
    script
}

#[test]
fn requests_are_turns_although_their_acks_come_late() {
    let analysis = explained_with(&requests_in_turn(), key_log());
    assert_eq!(analysis.connections[0].exchanges.len(), 15, "{:?}", analysis.connections[0].exchanges);
    let causes: Vec<_> = found(&analysis).iter().map(|finding| finding.cause).collect();
    assert!(!causes.contains(&Cause::ProtocolWindow), "{causes:?}");
}

proptest! {
    /// Packets whose bytes were chosen by an attacker with the keys.
    #[test]
    fn hostile_frames_are_survived(packets in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 4..120)), 0..40)) {
        let mut script = vec![(0, true, seal_initial(1, &DCID, 0, &hello())), (40, false, server_initial())];
        let mut at = 41;
        for (number, (is_client, frames)) in packets.iter().enumerate() {
            script.push((at, *is_client, sealed(*is_client, number as u64, frames)));
            at += 3;
        }
        explained_with(&script, key_log());
    }
}

/// A response in `messages` pieces of a full and a short packet, one in 260 ms, which is as long as
/// a timer of a path of 40 ms. `step`: by how much the packet numbers grow over a pause.
fn trickle(messages: u64, step: u64) -> Script {
    let mut script = vec![(0, true, seal_initial(1, &DCID, 0, &hello())), (40, false, server_initial())];
    script.push((41, true, sealed(true, 0, &stream(0, &[1, 4, 0, 0, 0xd1, 0xc1], true))));
    let (mut at, mut sent, mut number) = (81, 0, 0);
    for nth in 0..messages {
        for len in [1_300, 900_u64] {
            let mut data = vec![0; len as usize];
            if sent == 0 {
                // HEADERS with :status 200, and a DATA frame of the rest.
                data[..10].copy_from_slice(&[1, 3, 0, 0, 0xd9, 0, 0x80, 0, 0xab, 0xd6]);
            }
            let is_last = nth + 1 == messages && len == 900;
            script.push((at, false, sealed(false, number, &stream(sent, &data, is_last))));
            (sent, number) = (sent + len, number + 1);
        }
        script.push((at, true, sealed(true, nth + 1, &ack(number - 1))));
        at += 260;
        number += step - 1;
    }
    script
}

#[test]
fn trickle_without_missing_packet_numbers_is_the_application_at_the_receiver() {
    let sure = |step| {
        let analysis = explained_with(&trickle(20, step), key_log());
        let all = found(&analysis);
        all.iter().filter(|one| one.cause == Cause::Application).map(|one| one.confidence).fold(0.0, f64::max)
    };
    assert!(sure(1) >= 0.9, "{}", sure(1));
    assert!(sure(2) < 0.6, "a packet may be lost in each pause: {}", sure(2));
}
