#![allow(clippy::unwrap_used)]

use super::cipher::{RecordCipher, Version};
use super::key_log::{KeyLog, Secret};
use super::suite::Suite;
use super::*;
use proptest::prelude::*;
use std::sync::Arc;
use whyslow_analysis::types::{Decryption, Frame, Side, Undecrypted};
use whyslow_units::Time;

const CLIENT_RANDOM: [u8; 32] = [0xaa; 32];
const SERVER_RANDOM: [u8; 32] = [0xbb; 32];

/// Suites of both versions with each cipher.
const SUITES: [(u16, u16); 6] =
    [(0x0304, 0x1301), (0x0304, 0x1302), (0x0304, 0x1303), (0x0303, 0xc02f), (0x0303, 0xc030), (0x0303, 0xcca8)];

/// The records of both sides, and the key log.
struct Script {
    records: Vec<(Side, Vec<u8>)>,
    log: String,
    /// Plaintext of each side.
    data: [Vec<u8>; 2],
    ciphers: [RecordCipher; 2],
    secrets: [Secret; 2],
    suite: Suite,
    version: Version,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn record(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind, 3, 3][..], &(body.len() as u16).to_be_bytes(), body].concat()
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind, 0][..], &(body.len() as u16).to_be_bytes(), body].concat()
}

fn client_hello(early_data: bool) -> Vec<u8> {
    let extensions: &[u8] = if early_data { &[0, 4, 0, 42, 0, 0] } else { &[0, 0] };
    let body = [&[3, 3][..], &CLIENT_RANDOM, &[0, 0, 2, 0x13, 1, 1, 0], extensions].concat();
    record(22, &message(1, &body))
}

fn server_hello(version: u16, suite: u16) -> Vec<u8> {
    let chosen = version.to_be_bytes();
    let extensions = if version == 0x0304 { [&[0, 6, 0, 43, 0, 2][..], &chosen].concat() } else { vec![0, 0] };
    let legacy = version.min(0x0303).to_be_bytes();
    let body = [&legacy[..], &SERVER_RANDOM, &[0], &suite.to_be_bytes(), &[0], &extensions].concat();
    record(22, &message(2, &body))
}

impl Script {
    fn new(version: u16, number: u16) -> Self {
        let suite = Suite::of(number).unwrap();
        let len = if suite.hash == super::suite::HashKind::Sha384 { 48 } else { 32 };
        if version == 0x0304 { Self::tls13(number, suite, len, false) } else { Self::tls12(number, suite) }
    }

    fn tls13(number: u16, suite: Suite, len: usize, early_data: bool) -> Self {
        let secrets = [1u8, 2, 3, 4].map(|byte| Secret::new(&vec![byte; len]).unwrap());
        let labels = [
            "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
            "SERVER_HANDSHAKE_TRAFFIC_SECRET",
            "CLIENT_TRAFFIC_SECRET_0",
            "SERVER_TRAFFIC_SECRET_0",
        ];
        let random = hex(&CLIENT_RANDOM);
        let lines = labels.iter().zip(&secrets);
        let log = lines.map(|(label, secret)| format!("{label} {random} {}\n", hex(secret.bytes()))).collect();
        let cipher = |secret: &Secret| {
            RecordCipher::new(suite, Version::Tls13, &super::schedule::of_secret(suite, secret).unwrap()).unwrap()
        };
        let [mut client, mut server, client_data, server_data] = secrets.each_ref().map(cipher);
        let mut records = vec![(Side::A, client_hello(early_data))];
        if early_data {
            records.push((Side::A, record(20, &[1])));
            let mut early = cipher(&Secret::new(&vec![9; len]).unwrap());
            records.push((Side::A, early.seal(23, b"early data")));
        }
        let certificate = message(11, &[7; 300]);
        records.push((Side::B, server_hello(0x0304, number)));
        records.push((Side::B, record(20, &[1])));
        records.push((Side::B, server.seal(22, &certificate[..100])));
        records.push((Side::B, server.seal(22, &[&certificate[100..], &message(20, &[5; 32])].concat())));
        records.push((Side::A, record(20, &[1])));
        records.push((Side::A, client.seal(22, &message(20, &[6; 32]))));
        let (ciphers, version) = ([client_data, server_data], Version::Tls13);
        let secrets = [secrets[2], secrets[3]];
        Self { records, log, data: Default::default(), ciphers, secrets, suite, version }
    }

    fn tls12(number: u16, suite: Suite) -> Self {
        let master = Secret::new(&[8; 48]).unwrap();
        let log = format!("CLIENT_RANDOM {} {}\n", hex(&CLIENT_RANDOM), hex(master.bytes()));
        let keys = super::schedule::of_master(suite, &master, &CLIENT_RANDOM, &SERVER_RANDOM).unwrap();
        let version = Version::Tls12;
        let [mut client, mut server] = keys.map(|keys| RecordCipher::new(suite, version, &keys).unwrap());
        let records = vec![
            (Side::A, client_hello(false)),
            (Side::B, server_hello(0x0303, number)),
            (Side::B, record(22, &message(11, &[7; 300]))),
            (Side::A, record(20, &[1])),
            (Side::A, client.seal(22, &message(20, &[6; 12]))),
            (Side::B, record(20, &[1])),
            (Side::B, server.seal(22, &message(20, &[5; 12]))),
        ];
        Self { records, log, data: Default::default(), ciphers: [client, server], secrets: [master; 2], suite, version }
    }

    fn send(&mut self, from: Side, data: &[u8]) -> &mut Self {
        self.data[from].extend_from_slice(data);
        let sealed = self.ciphers[from].seal(23, data);
        self.records.push((from, sealed));
        self
    }

    fn update_key(&mut self, from: Side) -> &mut Self {
        let sealed = self.ciphers[from].seal(22, &message(24, &[0]));
        self.records.push((from, sealed));
        self.secrets[from] = super::schedule::next_secret(self.suite, &self.secrets[from]).unwrap();
        let keys = super::schedule::of_secret(self.suite, &self.secrets[from]).unwrap();
        self.ciphers[from] = RecordCipher::new(self.suite, self.version, &keys).unwrap();
        self
    }

    fn talk(version: u16, number: u16) -> Self {
        let mut script = Self::new(version, number);
        script.send(Side::A, b"GET / HTTP/1.1\r\n\r\n").send(Side::B, &[1; 16_384]).send(Side::B, &[2; 5_000]);
        if version == 0x0304 {
            script.update_key(Side::B).send(Side::B, b"after the update").update_key(Side::A);
        }
        script.send(Side::A, b"more").send(Side::B, b"");
        script
    }

    /// Segments of this size: side, relative sequence number of the first byte, bytes.
    fn segments(&self, size: usize) -> Vec<(Side, u64, Vec<u8>)> {
        let mut next = [1; 2];
        let mut segments = Vec::new();
        for (from, record) in &self.records {
            for piece in record.chunks(size) {
                segments.push((*from, next[*from], piece.to_vec()));
                next[*from] += piece.len() as u64;
            }
        }
        segments
    }
}

#[derive(Default)]
struct Plaintexts([Vec<u8>; 2]);

impl PlaintextSink for Plaintexts {
    fn opened(&mut self, record: &Opened<'_>) {
        self.0[record.from].extend_from_slice(record.data.unwrap_or_default());
    }
}

fn read(log: &str, segments: &[(Side, u64, Vec<u8>)]) -> (Plaintexts, Decryption) {
    let mut session = Session::new(KeyRing::from(Arc::new(KeyLog::new(log.as_bytes()))));
    let mut plaintexts = Plaintexts::default();
    for (number, (from, start, bytes)) in segments.iter().enumerate() {
        let frame = Frame { file: None, number: number as u64 + 1 };
        let (len, time) = (bytes.len() as u64, Time(number as i64));
        session.push(&Sent { from: *from, start: *start, bytes, len, time, frame }, &mut plaintexts);
    }
    let outcome = session.outcome(Side::A, Frame { file: None, number: 1 << 40 });
    (plaintexts, outcome)
}

fn stopped(outcome: &Decryption) -> [Option<Undecrypted>; 2] {
    outcome.directions.each_ref().map(|direction| direction.stopped)
}

#[test]
fn every_suite_and_segment_size_is_decrypted() {
    for (version, number) in SUITES {
        let script = Script::talk(version, number);
        // The first segment shows the start of TLS.
        for size in [7, 61, 1_460, 100_000] {
            let (plaintexts, outcome) = read(&script.log, &script.segments(size));
            assert!(plaintexts.0 == script.data, "suite {number:#x} in segments of {size}: {outcome:?}");
            assert_eq!(stopped(&outcome), [None; 2]);
            assert_eq!((outcome.version, outcome.cipher_suite), (Some(version), Some(number)));
            assert_eq!(outcome.directions[1].bytes, script.data[1].len() as u64);
        }
    }
}

#[test]
fn renegotiated_keys_are_followed() {
    let mut script = Script::talk(0x0303, 0xc02f);
    let seal = |script: &mut Script, from: Side, kind: u8, body: &[u8]| {
        let sealed = script.ciphers[from].seal(kind, body);
        script.records.push((from, sealed));
    };
    // The random numbers and the master secret stay the same, and so do the keys: only the record
    // counters restart.
    seal(&mut script, Side::A, 22, &client_hello(false)[5..]);
    seal(&mut script, Side::B, 22, &server_hello(0x0303, 0xc02f)[5..]);
    let fresh = Script::tls12(0xc02f, script.suite);
    for from in Side::BOTH {
        seal(&mut script, from, 20, &[1]);
        let finished = fresh.records.iter().rfind(|(side, _)| *side == from).unwrap();
        script.records.push(finished.clone());
    }
    script.ciphers = fresh.ciphers;
    script.send(Side::A, b"asked again").send(Side::B, b"and answered");
    let (plaintexts, outcome) = read(&script.log, &script.segments(1_460));
    assert_eq!((plaintexts.0 == script.data, stopped(&outcome)), (true, [None; 2]));
}

#[test]
fn early_data_is_skipped() {
    let mut script = Script::tls13(0x1301, Suite::of(0x1301).unwrap(), 32, true);
    script.send(Side::A, b"a request").send(Side::B, b"a response");
    let (plaintexts, outcome) = read(&script.log, &script.segments(1_460));
    assert_eq!((plaintexts.0, stopped(&outcome)), (script.data, [None; 2]));
}

#[test]
fn application_secrets_are_sufficient() {
    let script = Script::talk(0x0304, 0x1302);
    let log: Vec<&str> = script.log.lines().filter(|line| !line.contains("HANDSHAKE")).collect();
    let (plaintexts, outcome) = read(&log.join("\n"), &script.segments(1_460));
    assert_eq!((plaintexts.0, stopped(&outcome)), (script.data, [None; 2]));
}

#[test]
fn reason_is_reported_if_nothing_is_decrypted() {
    for (version, number) in SUITES {
        let script = Script::talk(version, number);
        let segments = script.segments(1_460);
        assert_eq!(stopped(&read("", &segments).1), [Some(Undecrypted::NoKeys); 2]);
        let wrong = Script::talk(version, number).log.replace("01", "71").replace("02", "72").replace("08", "78");
        let wrong = wrong.replace("03", "73").replace("04", "74");
        if version == 0x0303 {
            assert_eq!(stopped(&read(&wrong, &segments).1), [Some(Undecrypted::WrongKeys); 2]);
        } else {
            assert_eq!(stopped(&read(&wrong, &segments).1)[1], Some(Undecrypted::WrongKeys), "{number:#x}");
        }
        let late = &segments[8..];
        assert_eq!(stopped(&read(&script.log, late).1), [Some(Undecrypted::HandshakeNotCaptured); 2]);
    }
    let mut old = Script::talk(0x0303, 0xc02f);
    old.records[1].1 = server_hello(0x0302, 0xc013);
    assert_eq!(stopped(&read(&old.log, &old.segments(1_460)).1), [Some(Undecrypted::UnsupportedVersion); 2]);
    old.records[1].1 = server_hello(0x0303, 0xc013);
    assert_eq!(stopped(&read(&old.log, &old.segments(1_460)).1), [Some(Undecrypted::UnsupportedCipher); 2]);
}

#[test]
fn missing_segment_ends_only_its_direction() {
    let script = Script::talk(0x0304, 0x1301);
    let mut segments = script.segments(1_460);
    let lost = segments.iter().rposition(|(from, _, bytes)| *from == Side::B && bytes.len() == 1_460).unwrap();
    segments.remove(lost);
    let (plaintexts, outcome) = read(&script.log, &segments);
    assert_eq!(stopped(&outcome), [None, Some(Undecrypted::BytesMissing)]);
    assert_eq!(plaintexts.0[0], script.data[0]);
    assert!(script.data[1].starts_with(&plaintexts.0[1]));
}

#[test]
fn truncated_packets_are_reported() {
    let script = Script::talk(0x0303, 0xc030);
    let ring = KeyRing::from(Arc::new(KeyLog::new(script.log.as_bytes())));
    let (mut session, mut plaintexts) = (Session::new(ring), Plaintexts::default());
    for (from, start, bytes) in script.segments(1_460) {
        let (len, time, frame) = (bytes.len() as u64, Time(0), Frame::default());
        let bytes = &bytes[..bytes.len().min(400)];
        session.push(&Sent { from, start, bytes, len, time, frame }, &mut plaintexts);
    }
    let outcome = session.outcome(Side::A, Frame::default());
    assert_eq!(stopped(&outcome), [None, Some(Undecrypted::PacketsCut)]);
}

#[test]
fn secrets_after_the_hellos_are_used() {
    let script = Script::talk(0x0304, 0x1303);
    let ring = KeyRing::default();
    let of_another = script.log.replace(&hex(&CLIENT_RANDOM), &hex(&SERVER_RANDOM));
    ring.read_block(of_another.as_bytes(), Frame::default());
    let (mut session, mut plaintexts) = (Session::new(ring.clone()), Plaintexts::default());
    for (number, (from, start, bytes)) in script.segments(500).iter().enumerate() {
        let frame = Frame { file: None, number: number as u64 };
        if number == 4 {
            ring.read_block(script.log.as_bytes(), frame);
        }
        let sent = Sent { from: *from, start: *start, bytes, len: bytes.len() as u64, time: Time(0), frame };
        session.push(&sent, &mut plaintexts);
    }
    assert_eq!(plaintexts.0, script.data);
}

proptest! {
    #[test]
    fn order_and_duplicates_change_nothing(
        size in 200usize..3_000, moves in prop::collection::vec((any::<prop::sample::Index>(), 0usize..6), 0..20), suite in 0..SUITES.len(),
    ) {
        let script = Script::talk(SUITES[suite].0, SUITES[suite].1);
        let mut segments = script.segments(size);
        let firsts = segments.iter().position(|(from, ..)| *from == Side::B).unwrap() + 1;
        for (at, by) in moves {
            // The hellos stay in place: they mark the start of a direction.
            let at = firsts + at.index(segments.len() - firsts);
            let to = (at + by).min(segments.len() - 1);
            let again = segments[at].clone();
            if by == 5 {
                segments.insert(to, again);
            } else {
                segments.swap(at, to);
            }
        }
        let (plaintexts, outcome) = read(&script.log, &segments);
        prop_assert_eq!(stopped(&outcome), [None; 2]);
        prop_assert!(plaintexts.0 == script.data);
    }

    #[test]
    fn damaged_records_never_panic(
        suite in 0..SUITES.len(), size in 20usize..4_000,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..12),
    ) {
        let script = Script::talk(SUITES[suite].0, SUITES[suite].1);
        let mut segments = script.segments(size);
        for (segment, at, byte, what) in damage {
            let index = segment.index(segments.len());
            let len = segments[index].2.len();
            match what {
                0 => segments[index].2[at.index(len)] ^= byte,
                1 => segments[index].2.truncate(at.index(len) + 1),
                2 => segments[index].1 = segments[index].1.saturating_add(u64::from(byte) << 40),
                _ => {
                    let other = segments[index].clone();
                    segments.insert(at.index(segments.len()), other);
                }
            }
        }
        let (plaintexts, outcome) = read(&script.log, &segments);
        for side in Side::BOTH {
            prop_assert!(script.data[side].starts_with(&plaintexts.0[side]), "what is opened was sent");
        }
        prop_assert_eq!(outcome.bytes(), plaintexts.0.iter().map(|data| data.len() as u64).sum::<u64>());
    }
}
