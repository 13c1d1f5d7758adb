//! The bundled captures as captures come in tickets: with other addresses, cut, begun late, ended
//! early, with something else in them. The verdict stays, or what is said tells why it cannot.
//!
//! - Where nothing is lost of what the verdict stands on (addresses, checksums, payload, another
//!   connection), the same cause costs most.
//! - Where a part is missing (the beginning, the end, options behind the 64th byte), the same cause
//!   costs most; or, with the reason told as a problem of the capture or of a connection, one that
//!   the whole capture shows too, or none.
//!
//! What is still wrong stands in `misses.toml`, which must be exact (see `misses.rs`).

use super::{common, misses, wild};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A packet of a capture file.
#[derive(Clone)]
struct Record {
    /// Nanoseconds.
    time: u64,
    /// On the wire.
    length: u32,
    /// Those that were captured.
    bytes: Vec<u8>,
}

/// The bundled captures are pcap with nanoseconds, little endian, Ethernet.
const HEADER: usize = 24;
const MAGIC: [u8; 4] = 0xa1b2_3c4d_u32.to_le_bytes();

fn read(file: &[u8]) -> Vec<Record> {
    assert_eq!(file[..4], MAGIC);
    let field = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let mut records = Vec::new();
    let mut at = HEADER;
    while at < file.len() {
        let time = u64::from(field(at)) * 1_000_000_000 + u64::from(field(at + 4));
        let captured = field(at + 8) as usize;
        let bytes = file[at + 16..at + 16 + captured].to_vec();
        records.push(Record { time, length: field(at + 12), bytes });
        at += 16 + captured;
    }
    records
}

fn written(records: &[Record]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for field in [0x0004_0002_u32, 0, 0, 262_144, 1] {
        out.extend(field.to_le_bytes());
    }
    for Record { time, length, bytes } in records {
        let (whole, fraction) = (time / 1_000_000_000, time % 1_000_000_000);
        for field in [whole as u32, fraction as u32, bytes.len() as u32, *length] {
            out.extend(field.to_le_bytes());
        }
        out.extend(bytes);
    }
    out
}

/// Where the IPv4 and the TCP header of a packet begin.
fn headers(bytes: &[u8]) -> Option<(usize, usize)> {
    let ip = 14;
    let is_tcp = bytes.get(12..14) == Some(&[8, 0]) && bytes.get(ip + 9) == Some(&6);
    is_tcp.then(|| (ip, ip + usize::from(bytes[ip] & 15) * 4))
}

/// The sum of RFC 1071.
fn sum(parts: &[&[u8]]) -> [u8; 2] {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let mut sum: u32 = words.map(|word| u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

fn sum_of_ip(bytes: &mut [u8]) {
    let Some((ip, tcp)) = headers(bytes) else { return };
    bytes[ip + 10..ip + 12].fill(0);
    let right = sum(&[&bytes[ip..tcp]]);
    bytes[ip + 10..ip + 12].copy_from_slice(&right);
}

fn each(records: &[Record], change: impl Fn(&mut Record)) -> Vec<Record> {
    let mut changed = records.to_vec();
    changed.iter_mut().for_each(change);
    changed
}

/// Other addresses, as an anonymiser writes them that leaves the rest alone: each sum is off by the
/// same.
fn addresses(records: &[Record]) -> Vec<Record> {
    each(records, |record| {
        // ICMP quotes the packet that it is about.
        let is_icmp = record.bytes.get(12..14) == Some(&[8, 0]) && record.bytes.get(23) == Some(&1);
        let places: &[usize] = match headers(&record.bytes) {
            Some(_) => &[26, 30],
            None if is_icmp && record.bytes.len() >= 62 => &[26, 30, 54, 58],
            None => &[],
        };
        for &address in places {
            record.bytes[address..address + 2].copy_from_slice(&[203, 0]);
        }
    })
}

fn addresses_with_ip_sums(records: &[Record]) -> Vec<Record> {
    each(&addresses(records), |record| sum_of_ip(&mut record.bytes))
}

/// Zeros for payload and for TCP's sums.
fn blanked(records: &[Record]) -> Vec<Record> {
    each(records, |record| {
        let Some((_, tcp)) = headers(&record.bytes) else { return };
        let payload = (tcp + usize::from(record.bytes[tcp + 12] >> 4) * 4).min(record.bytes.len());
        record.bytes[tcp + 16..tcp + 18].fill(0);
        record.bytes[payload..].fill(0);
    })
}

/// As `tcpdump -s 64` would have captured it.
fn snap(records: &[Record]) -> Vec<Record> {
    each(records, |record| record.bytes.truncate(64))
}

fn begun_late(records: &[Record]) -> Vec<Record> {
    records[10.min(records.len())..].to_vec()
}

/// Without its last second, or its last third where it has but three.
fn ended_early(records: &[Record]) -> Vec<Record> {
    let (first, last) = (records[0].time, records[records.len() - 1].time);
    let end = last - 1_000_000_000.min((last - first) / 3);
    records.iter().filter(|record| record.time < end).cloned().collect()
}

/// The port of [`idle_ssh`]'s client.
const IDLE: u16 = 50_022;

/// With a session of ssh in it, in which a key is typed every three seconds, every third one runs a
/// command, and a line of a log is shown now and then; and some seconds longer.
fn beside_an_idle_session(records: &[Record]) -> Vec<Record> {
    let mut merged = records.to_vec();
    merged.extend(idle_ssh(records[0].time, records[records.len() - 1].time + 10_000_000_000));
    merged.sort_by_key(|record| record.time);
    merged
}

fn idle_ssh(start: u64, end: u64) -> Vec<Record> {
    const MS: u64 = 1_000_000;
    let mut session = Session { now: start + MS, seq: [7_000, 9_000], id: 0, records: Vec::new() };
    session.send(0, 2, 0);
    session.pass(2 * MS);
    session.send(1, 2 | 16, 0);
    session.pass(MS / 10);
    session.send(0, 16, 0);
    for key in 1.. {
        session.pass(3_000 * MS);
        if session.now >= end {
            break;
        }
        // A key, and its echo; or what its command prints.
        session.send(0, 16 | 8, 36);
        session.pass(3 * MS);
        session.send(1, 16 | 8, if key % 3 == 0 { 900 } else { 36 });
        session.pass(MS / 10);
        session.send(0, 16, 0);
        if key % 2 == 0 {
            session.pass(1_200 * MS);
            session.send(1, 16 | 8, 120);
            session.pass(MS / 10);
            session.send(0, 16, 0);
        }
    }
    session.records
}

/// A connection between two hosts, as the client's sees it.
struct Session {
    now: u64,
    /// Next sequence numbers of client and server.
    seq: [u32; 2],
    id: u16,
    records: Vec<Record>,
}

impl Session {
    fn pass(&mut self, time: u64) {
        self.now += time;
    }

    /// A segment from the client (0) or the server (1).
    fn send(&mut self, from: usize, flags: u8, payload: usize) {
        let ends = [([192, 0, 2, 22], IDLE), ([198, 51, 100, 22], 22)];
        let ((src, source), (dst, target)) = (ends[from], ends[1 - from]);
        // MSS, SACK permitted, window scale 7.
        let options: &[u8] = if flags & 2 == 0 { &[] } else { &[2, 4, 5, 180, 4, 2, 1, 1, 1, 3, 3, 7] };
        let mut tcp = [source.to_be_bytes(), target.to_be_bytes()].concat();
        tcp.extend(self.seq[from].to_be_bytes());
        tcp.extend(if flags & 16 == 0 { 0 } else { self.seq[1 - from] }.to_be_bytes());
        tcp.extend([(20 + options.len() as u8) << 2, flags, 0xfa, 0xf0, 0, 0, 0, 0]);
        tcp.extend(options);
        tcp.extend(std::iter::repeat_n(b'k', payload));
        let length = (tcp.len() as u16).to_be_bytes();
        let right = sum(&[&src, &dst, &[0, 6], &length, &tcp]);
        tcp[16..18].copy_from_slice(&right);
        self.id += 1;
        let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
        bytes.extend((20 + tcp.len() as u16).to_be_bytes());
        bytes.extend(self.id.to_be_bytes());
        bytes.extend([0x40, 0, 64 - 3 * from as u8, 6, 0, 0]);
        bytes.extend(src);
        bytes.extend(dst);
        bytes.extend(tcp);
        sum_of_ip(&mut bytes);
        self.seq[from] += payload as u32 + u32::from(flags & 2 != 0);
        self.records.push(Record { time: self.now, length: bytes.len() as u32, bytes });
    }
}

const BESIDE: &str = "beside an idle session";

/// An alteration, and whether it takes away what a verdict may stand on.
type Alteration = (&'static str, fn(&[Record]) -> Vec<Record>, bool);

const ALTERATIONS: &[Alteration] = &[
    ("other addresses", addresses, false),
    ("other addresses, IP's sums right", addresses_with_ip_sums, false),
    ("payload and sums blanked", blanked, false),
    ("64 bytes a packet", snap, true),
    ("without its first ten packets", begun_late, true),
    ("without its last second", ended_early, true),
    (BESIDE, beside_an_idle_session, false),
];

/// Causes of which one capture may show the one or the other, by how much of it there is.
const ALIKE: &[[&str; 2]] = &[
    ["loss", "random-loss"],
    ["bandwidth", "shaper"],
    ["bandwidth", "bufferbloat"],
    ["server-think", "proxy-split"],
    ["zero-window", "host-cpu"],
    ["sender-cap", "protocol-window"],
    ["timeout", "tail-loss"],
];

/// The special, and the general that is left of it where the handshake or the end is missing.
const GENERAL: &[(&str, &str)] =
    &[("mtu-black-hole", "timeout"), ("nagle-delayed-ack", "delayed-ack"), ("syn-loss", "no-answer")];

fn alike(a: &str, b: &str) -> bool {
    a == b || ALIKE.iter().any(|pair| pair.contains(&a) && pair.contains(&b))
}

/// What each cause cost in all connections of a capture.
fn costs(analysis: &Value) -> wild::Costs {
    let connections: Vec<_> = analysis["connections"].as_array().unwrap().iter().collect();
    wild::costs(&connections, analysis["findings"].as_array().unwrap())
}

/// Why less can be said: what is told of the capture and its connections.
fn reasons(analysis: &Value) -> Vec<String> {
    let all = |name: &str| analysis[name].as_array().unwrap().clone();
    let holders = [all("captures"), all("connections")].concat();
    let problems = holders.iter().flat_map(|holder| holder["problems"].as_array().unwrap().clone());
    let problems = problems.map(|problem| problem["slug"].as_str().unwrap().to_owned());
    let unfinished = |state: &str| ["open", "unanswered"].contains(&state);
    let states = holders.iter().filter_map(|holder| holder["state"].as_str()).filter(|state| unfinished(state));
    let nothing_left = all("connections").is_empty().then(|| "no connection".to_owned());
    problems.chain(states.map(str::to_owned)).chain(nothing_left).collect()
}

/// What is wrong with the verdict on an altered capture.
fn judge(whole: &wild::Costs, altered: &Value, less: bool) -> Option<String> {
    let now = costs(altered);
    let [before, after] = [wild::top(whole), wild::top(&now)];
    let stays = match (before, after) {
        (Some(before), Some(after)) => alike(before, after),
        (before, after) => before == after,
    };
    let left = |before: &str, cause: &str| alike(before, cause) || GENERAL.contains(&(before, cause));
    let known = after.is_none_or(|cause| whole.keys().any(|before| left(before, cause)));
    let reasons = reasons(altered);
    let excused = less && known && !reasons.is_empty();
    if !stays && !excused {
        let with = if less { format!(", with {}", reasons.join(", ")) } else { String::new() };
        return Some(format!("{} became {}{with}", before.unwrap_or("nothing"), after.unwrap_or("nothing")));
    }
    None
}

/// What the idle session is said to have lost.
fn judge_idle(altered: &Value) -> Option<String> {
    let connections = altered["connections"].as_array().unwrap();
    let Some(idle) = connections.iter().find(|connection| connection["client"]["port"] == IDLE) else {
        return Some("the idle session is not there".to_owned());
    };
    let (cause, cost) = wild::costs(&[idle], &[]).into_iter().find(|(_, cost)| cost.seconds > 0.0)?;
    Some(format!("the idle session lost {:.3} s to {cause}", cost.seconds))
}

fn samples() -> Vec<std::path::PathBuf> {
    let folder = common::sample("slow-start-client");
    let entries = fs::read_dir(folder.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let mut samples: Vec<_> = entries.filter(|path| path.extension().is_some_and(|name| name == "pcap")).collect();
    samples.sort();
    samples
}

#[test]
fn altered_captures_are_explained_alike_or_say_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("altered.pcap");
    let explain = |path: &Path| wild::explain(path);
    let mut judged = BTreeMap::new();
    for sample in samples() {
        let name = sample.file_stem().unwrap().to_str().unwrap().to_owned();
        let whole = costs(&explain(&sample).unwrap());
        let records = read(&fs::read(&sample).unwrap());
        for (alteration, alter, less) in ALTERATIONS {
            fs::write(&file, written(&alter(&records))).unwrap();
            let wrong = match explain(&file) {
                Ok(altered) if *alteration == BESIDE => judge(&whole, &altered, *less).or_else(|| judge_idle(&altered)),
                Ok(altered) => judge(&whole, &altered, *less),
                Err(error) => Some(error),
            };
            judged.insert(format!("{name} {alteration}"), wrong);
        }
    }
    let table = table(&judged);
    println!("{table}");
    misses::settle("alterations/misses.toml", &judged);
    misses::table("alterations", &table);
}

/// How many captures are explained differently, by alteration, in Markdown.
fn table(judged: &BTreeMap<String, Option<String>>) -> String {
    let mut out =
        String::from("| altered | captures | verdict stays, or is said why not | changes |\n|---|---|---|---|\n");
    for (alteration, _, _) in ALTERATIONS {
        let of: Vec<_> = judged.iter().filter(|(what, _)| what.ends_with(&format!(" {alteration}"))).collect();
        let wrong = of.iter().filter(|(_, wrong)| wrong.is_some()).count();
        writeln!(out, "| {alteration} | {} | {} | {wrong} |", of.len(), of.len() - wrong).unwrap();
    }
    out
}

#[test]
fn alterations_alter_what_they_say() {
    let records = idle_ssh(1_700_000_000_000_000_000, 1_700_000_010_000_000_000);
    let again = read(&written(&records));
    assert_eq!(again.len(), records.len());
    assert!(again.iter().zip(&records).all(|(a, b)| a.time == b.time && a.length == b.length && a.bytes == b.bytes));
    // The sum over what was summed, its sum included, is zero (RFC 1071).
    let right = |record: &Record| {
        let (ip, tcp) = headers(&record.bytes).unwrap();
        let bytes = &record.bytes;
        let length = ((bytes.len() - tcp) as u16).to_be_bytes();
        let tcp_is = sum(&[&bytes[ip + 12..ip + 20], &[0, 6], &length, &bytes[tcp..]]) == [0, 0];
        (sum(&[&bytes[ip..tcp]]) == [0, 0], tcp_is)
    };
    assert!(records.iter().all(|record| right(record) == (true, true)));
    assert!(addresses(&records).iter().all(|record| right(record) == (false, false)));
    assert!(addresses_with_ip_sums(&records).iter().all(|record| right(record) == (true, false)));
    assert!(snap(&records).iter().all(|record| record.bytes.len() <= 64 && record.length >= 54));
    assert_eq!(begun_late(&records).len(), records.len() - 10);
    assert!(ended_early(&records).iter().all(|record| record.time + 1_000_000_000 <= records.last().unwrap().time));
    let blank = blanked(&records);
    assert!(blank.iter().all(|record| !record.bytes[54..].contains(&b'k')));
    assert!(blank.iter().zip(&records).all(|(blank, record)| blank.bytes.len() == record.bytes.len()));
}
