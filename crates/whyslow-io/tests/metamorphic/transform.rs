//! What happens to captures on their way to a reader: each transformation is a function of the
//! packets alone.

use super::packets::{Capture, Headers, Packet, update};
use super::session;
use std::collections::HashMap;

const SECOND: i64 = 1_000_000_000;

/// The part of a capture that a transformation removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing that a verdict may depend on.
    Nothing,
    /// Options, payload or single packets: the same time is shown, with less evidence.
    Evidence,
    /// A part of the time: what it shows may be another part of the whole's causes.
    Time,
}

/// A transformation by name.
pub struct Transformation {
    pub name: &'static str,
    pub takes: Takes,
    pub apply: fn(&Capture) -> Vec<Packet>,
}

const fn named(name: &'static str, takes: Takes, apply: fn(&Capture) -> Vec<Packet>) -> Transformation {
    Transformation { name, takes, apply }
}

/// Every transformation of a single capture.
pub const ALL: &[Transformation] = &[
    named("first 10 % of the packets cut", Takes::Time, |capture| head_cut(capture, 10)),
    named("first 30 % of the packets cut", Takes::Time, |capture| head_cut(capture, 30)),
    named("last 10 % of the packets cut", Takes::Time, |capture| tail_cut(capture, 10)),
    named("last 30 % of the packets cut", Takes::Time, |capture| tail_cut(capture, 30)),
    named("64 bytes per packet", Takes::Evidence, |capture| snapped(capture, 64)),
    named("96 bytes per packet", Takes::Evidence, |capture| snapped(capture, 96)),
    named("128 bytes per packet", Takes::Evidence, |capture| snapped(capture, 128)),
    named("payload and checksums blanked", Takes::Evidence, blanked),
    named("other addresses and ephemeral ports", Takes::Nothing, anonymised),
    named("other addresses, checksums unchanged", Takes::Nothing, anonymised_without_checksums),
    named("other addresses and ports", Takes::Evidence, anonymised_with_all_ports),
    named("idle time before and after", Takes::Nothing, idle_around),
    named("closed a minute later", Takes::Nothing, closed_later),
    named("merged with an idle session", Takes::Nothing, next_to_a_session),
    named("1 % of the packets not captured", Takes::Evidence, dropped),
    named("segments merged as TSO and GRO do", Takes::Evidence, coalesced),
    named("file order jittered", Takes::Nothing, jittered),
];

/// A generator that gives the same numbers for the same capture (SplitMix64; Steele, Lea and Flood
/// 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn each(capture: &Capture, change: impl Fn(&mut Packet, Option<Headers>)) -> Vec<Packet> {
    let mut packets = capture.packets.clone();
    for packet in &mut packets {
        let headers = Headers::of(capture.link, &packet.bytes);
        change(packet, headers);
    }
    packets
}

pub fn head_cut(capture: &Capture, percent: usize) -> Vec<Packet> {
    capture.packets[capture.packets.len() * percent / 100..].to_vec()
}

pub fn tail_cut(capture: &Capture, percent: usize) -> Vec<Packet> {
    let keep = capture.packets.len() - capture.packets.len() * percent / 100;
    capture.packets[..keep].to_vec()
}

/// As `tcpdump -s` captures.
pub fn snapped(capture: &Capture, length: usize) -> Vec<Packet> {
    each(capture, |packet, _| packet.bytes.truncate(length))
}

/// Zeros for payload and TCP checksums.
pub fn blanked(capture: &Capture) -> Vec<Packet> {
    each(capture, |packet, headers| {
        let Some(Headers { tcp, payload, .. }) = headers else { return };
        packet.bytes[tcp + 16..tcp + 18].fill(0);
        packet.bytes[payload..].fill(0);
    })
}

/// Which ports an anonymiser replaces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ports {
    /// The ports of clients (RFC 6335: from 49,152; Linux: from 32,768).
    Ephemeral,
    /// All, by others from 1,024.
    All,
    None,
}

fn anonymise(packet: &mut Packet, headers: Headers, ports: Ports, sums: bool) {
    let covered = |bytes: &[u8]| {
        [&bytes[headers.addresses()[0].start..headers.addresses()[1].end], &bytes[headers.tcp..headers.tcp + 4]]
            .concat()
    };
    let before = covered(&packet.bytes);
    let addresses = headers.addresses();
    for range in addresses.clone() {
        // The host's part stays, one to one, and hosts of a subnet stay together.
        packet.bytes[range.start] = if headers.is_ipv6 { 0xfd } else { 10 };
        packet.bytes[range.start + 1] ^= 0x55;
    }
    for at in [headers.tcp, headers.tcp + 2] {
        let port = u16::from_be_bytes([packet.bytes[at], packet.bytes[at + 1]]);
        let other = match ports {
            Ports::Ephemeral if port >= 32_768 => 32_768 | (port.wrapping_mul(5).wrapping_add(77)),
            Ports::All => 1_024 + (u32::from(port) * 7 % 64_511) as u16,
            _ => port,
        };
        packet.bytes[at..at + 2].copy_from_slice(&other.to_be_bytes());
    }
    if sums {
        let after = covered(&packet.bytes);
        let tcp = headers.tcp + 16;
        let sum = update([packet.bytes[tcp], packet.bytes[tcp + 1]], &before, &after);
        packet.bytes[tcp..tcp + 2].copy_from_slice(&sum);
        if !headers.is_ipv6 {
            let ip = headers.ip + 10;
            let sum = update([packet.bytes[ip], packet.bytes[ip + 1]], &before[..8], &after[..8]);
            packet.bytes[ip..ip + 2].copy_from_slice(&sum);
        }
    }
}

fn anonymised_as(capture: &Capture, ports: Ports, sums: bool) -> Vec<Packet> {
    each(capture, |packet, headers| match headers {
        Some(headers) => anonymise(packet, headers, ports, sums),
        None => anonymise_icmp(capture.link, packet, ports),
    })
}

/// An ICMP error and the TCP segment that it quotes (RFC 792).
fn anonymise_icmp(link: u16, packet: &mut Packet, ports: Ports) {
    let Some(quoted) = Headers::of_icmp(link, &packet.bytes) else { return };
    for headers in quoted {
        let is_quote = headers.tcp > headers.ip;
        anonymise(packet, headers, if is_quote { ports } else { Ports::None }, false);
    }
}

pub fn anonymised(capture: &Capture) -> Vec<Packet> {
    anonymised_as(capture, Ports::Ephemeral, true)
}

pub fn anonymised_without_checksums(capture: &Capture) -> Vec<Packet> {
    anonymised_as(capture, Ports::None, false)
}

pub fn anonymised_with_all_ports(capture: &Capture) -> Vec<Packet> {
    anonymised_as(capture, Ports::All, true)
}

/// A frame of another protocol (IEEE 802.1's local experiments, 0x88b5) before and after.
pub fn idle_around(capture: &Capture) -> Vec<Packet> {
    let mut packets = capture.packets.clone();
    let (Some(first), Some(last)) =
        (packets.iter().map(|one| one.time).min(), packets.iter().map(|one| one.time).max())
    else {
        return packets;
    };
    let mut bytes = vec![0; 60];
    bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
    let other = |time: i64| Packet { time, length: 60, bytes: bytes.clone() };
    packets.insert(0, other(first.saturating_sub(120 * SECOND).max(0)));
    packets.push(other(last.saturating_add(120 * SECOND)));
    packets
}

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;
const PSH: u8 = 8;

/// The direction and the numbers of a segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    headers: Headers,
    seq: u32,
    ack: u32,
    flags: u8,
    payload: usize,
}

impl Segment {
    fn of(capture: &Capture, packet: &Packet) -> Option<Self> {
        let headers = Headers::of(capture.link, &packet.bytes)?;
        let number = |at: usize| u32::from_be_bytes(packet.bytes[at..at + 4].try_into().unwrap());
        Some(Self {
            headers,
            seq: number(headers.tcp + 4),
            ack: number(headers.tcp + 8),
            flags: packet.bytes[headers.tcp + 13],
            payload: headers.end - headers.payload,
        })
    }
    /// Addresses and ports, the sender's first.
    fn ends(self, packet: &Packet) -> [Vec<u8>; 2] {
        let [source, target] = self.headers.addresses();
        let port = |at: usize| &packet.bytes[at..at + 2];
        [
            [&packet.bytes[source], port(self.headers.tcp)].concat(),
            [&packet.bytes[target], port(self.headers.tcp + 2)].concat(),
        ]
    }
}

/// The client closes a minute after all was answered and acknowledged: the connection was in a
/// pool meanwhile. Captures of something else stay as they are.
pub fn closed_later(capture: &Capture) -> Vec<Packet> {
    let mut packets = capture.packets.clone();
    if let Some(from) = orderly_close(capture) {
        packets[from..].iter_mut().for_each(|packet| packet.time = packet.time.saturating_add(60 * SECOND));
    }
    packets
}

/// The first FIN, if everything before it is one connection whose server sent the last payload, and
/// nothing behind it is a RST or carries payload.
fn orderly_close(capture: &Capture) -> Option<usize> {
    let segments: Option<Vec<_>> =
        capture.packets.iter().map(|packet| Some((Segment::of(capture, packet)?, packet))).collect();
    let segments = segments?;
    let from = segments.iter().position(|(segment, _)| segment.flags & FIN != 0)?;
    let (before, behind) = segments.split_at(from);
    let [client, server] = before.first().filter(|(one, _)| one.flags & (SYN | ACK) == SYN)?.0.ends(before[0].1);
    let (last, packet) = before.iter().rfind(|(segment, _)| segment.payload > 0)?;
    let end = last.seq.wrapping_add(last.payload as u32);
    let is_acked = before.iter().any(|(one, packet)| one.ends(packet)[0] == client && one.ack == end);
    let is_one = segments.iter().all(|(one, packet)| {
        let [from, to] = one.ends(packet);
        [&from, &to] == [&client, &server] || [&to, &from] == [&client, &server]
    });
    let is_orderly = behind.iter().all(|(one, _)| one.payload == 0 && one.flags & (RST | SYN) == 0);
    (is_one && is_orderly && is_acked && last.ends(packet)[0] == server).then_some(from)
}

/// With an interactive session of ssh that nothing slowed.
pub fn next_to_a_session(capture: &Capture) -> Vec<Packet> {
    let mut packets = capture.packets.clone();
    let (Some(first), Some(last)) = (packets.first().map(|one| one.time), packets.iter().map(|one| one.time).max())
    else {
        return packets;
    };
    // In a capture whose clock steps there is no place for other times.
    if !packets.is_sorted_by_key(|packet| packet.time) {
        return packets;
    }
    // A long capture needs no longer session.
    let end = last.saturating_add(10 * SECOND).min(first.saturating_add(600 * SECOND));
    if let Some(session) = session::idle_ssh(capture.link, first, end) {
        packets.extend(session);
        packets.sort_by_key(|packet| packet.time);
    }
    packets
}

/// Each packet is left out with a probability of 1 %.
pub fn dropped(capture: &Capture) -> Vec<Packet> {
    let mut random = Random(capture.packets.len() as u64);
    capture.packets.iter().filter(|_| !random.next().is_multiple_of(100)).cloned().collect()
}

/// Maximum bytes of an IP packet that GRO and TSO make, and of time between the first and the last
/// segment (Linux documents `gro_flush_timeout` with 200 µs).
const LARGEST: usize = 65_000;
const TOGETHER: i64 = 200_000;

/// Contiguous segments of equal size within 200 µs become one, as offloads do it: with the same
/// acknowledgement and options, until one is smaller or has PSH.
pub fn coalesced(capture: &Capture) -> Vec<Packet> {
    let mut packets: Vec<Packet> = Vec::new();
    // The last packet's first segment: size and time.
    let mut open: Option<(usize, i64)> = None;
    for packet in &capture.packets {
        if let (Some((size, since)), Some(last)) = (open, packets.last_mut())
            && joins(capture, last, packet, size)
            && packet.time - since <= TOGETHER
        {
            append(capture, last, packet);
            let ends = Segment::of(capture, packet).is_none_or(|one| one.payload < size || one.flags & PSH != 0);
            open = (!ends).then_some((size, since));
            continue;
        }
        packets.push(packet.clone());
        let size = Segment::of(capture, packet).filter(|one| one.payload >= 500 && one.flags == ACK);
        open = size.map(|one| (one.payload, packet.time));
    }
    packets
}

fn joins(capture: &Capture, last: &Packet, next: &Packet, size: usize) -> bool {
    let (Some(a), Some(b)) = (Segment::of(capture, last), Segment::of(capture, next)) else { return false };
    let options =
        |packet: &Packet, segment: Segment| packet.bytes[segment.headers.tcp + 20..segment.headers.payload].to_vec();
    a.ends(last) == b.ends(next)
        && b.seq == a.seq.wrapping_add(a.payload as u32)
        && a.ack == b.ack
        && b.flags & !PSH == ACK
        && (1..=size).contains(&b.payload)
        && a.payload + b.payload <= LARGEST
        && options(last, a) == options(next, b)
}

fn append(capture: &Capture, last: &mut Packet, next: &Packet) {
    let (Some(a), Some(b)) = (Segment::of(capture, last), Segment::of(capture, next)) else { return };
    let captured = last.bytes.len().min(a.headers.end);
    // After a part that was not captured, no byte was.
    if captured == a.headers.end {
        last.bytes.truncate(captured);
        last.bytes.extend(&next.bytes[b.headers.payload..next.bytes.len().min(b.headers.end)]);
    }
    last.length += b.payload as u32;
    last.bytes[a.headers.tcp + 13] |= b.flags & PSH;
    let (at, header) = if a.headers.is_ipv6 { (4, 40) } else { (2, 0) };
    let length = (a.headers.end - a.headers.ip - header + b.payload) as u16;
    last.bytes[a.headers.ip + at..a.headers.ip + at + 2].copy_from_slice(&length.to_be_bytes());
}

/// Packets within 20 µs of each other may change places in the file, and keep their times: each
/// receive queue of a network card is captured on its own processor. A direction of a connection
/// has one queue (RSS hashes the four-tuple), so that its own packets stay in order.
pub fn jittered(capture: &Capture) -> Vec<Packet> {
    if !capture.packets.is_sorted_by_key(|packet| packet.time) {
        return capture.packets.clone();
    }
    let mut random = Random(capture.packets.len() as u64);
    let mut last: HashMap<Option<[Vec<u8>; 2]>, i64> = HashMap::new();
    let mut keyed: Vec<_> = Vec::new();
    for packet in &capture.packets {
        let queue = Segment::of(capture, packet).map(|segment| segment.ends(packet));
        let last = last.entry(queue).or_insert(i64::MIN);
        *last = packet.time.saturating_add((random.next() % 20_000) as i64).max(*last);
        keyed.push((*last, packet.clone()));
    }
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, packet)| packet).collect()
}
