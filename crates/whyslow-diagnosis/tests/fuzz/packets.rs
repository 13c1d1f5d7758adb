//! Mutations of captured TCP packets: of the fields that the analysis uses, and of series of
//! packets.
//!
//! Works on pcap files with complete records; other inputs only get mutations of bytes.

use super::mutate::Random;
use std::ops::Range;

/// Distances in sequence space: bytes, segments, windows, and half of the space.
const JUMPS: &[u32] = &[
    1,
    2,
    100,
    536,
    1448,
    65_000,
    65_536,
    1 << 20,
    50_000_000,
    200_000_000,
    (1 << 30) - 1,
    1 << 30,
    (1 << 31) - 1,
    1 << 31,
];
const WINDOWS: &[u16] = &[0, 1, 2, 100, 255, 512, 1448, 8192, 32_768, 65_535];
/// Microseconds: from two packets at once to hours.
const TIMES: &[i64] = &[0, 1, 10, 100, 1_000, 10_000, 40_000, 200_000, 1_000_000, 3_000_000, 60_000_000, 4_000_000_000];
const SEGMENT_SIZES: &[u16] = &[0, 1, 7, 64, 536, 1460, 8960, 65_000, 65_535];

/// A parsed pcap file.
struct File {
    head: Vec<u8>,
    is_big: bool,
    /// Time units per microsecond.
    per_microsecond: i64,
    link: u32,
    /// Headers and data.
    records: Vec<Vec<u8>>,
}

const HEAD: usize = 24;
const RECORD: usize = 16;

impl File {
    /// Returns `None` unless the bytes begin with two complete records.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (head, mut rest) = bytes.split_at_checked(HEAD)?;
        let (is_big, per_microsecond) = match head[..4] {
            [0xd4, 0xc3, 0xb2, 0xa1] => (false, 1),
            [0xa1, 0xb2, 0xc3, 0xd4] => (true, 1),
            [0x4d, 0x3c, 0xb2, 0xa1] => (false, 1_000),
            [0xa1, 0xb2, 0x3c, 0x4d] => (true, 1_000),
            _ => return None,
        };
        let mut file =
            Self { head: head.to_vec(), is_big, per_microsecond, link: word(head, 20, is_big)?, records: Vec::new() };
        while let Some(length) = word(rest, 8, is_big) {
            let Some((record, after)) = rest.split_at_checked(RECORD.saturating_add(length as usize)) else { break };
            file.records.push(record.to_vec());
            rest = after;
        }
        (file.records.len() > 1).then_some(file)
    }

    fn bytes(&self) -> Vec<u8> {
        [self.head.as_slice(), &self.records.concat()].concat()
    }

    /// Offset of the TCP header in a record.
    fn tcp(&self, index: usize) -> Option<usize> {
        let record = self.records.get(index)?;
        let ip = match self.link {
            1 if record.get(RECORD + 12..RECORD + 14)? == [0x81, 0] => RECORD + 18,
            1 => RECORD + 14,
            113 => RECORD + 16,
            12 | 101 => RECORD,
            _ => return None,
        };
        let first = *record.get(ip)?;
        let (protocol, tcp) = match first >> 4 {
            4 => (ip + 9, ip + 4 * usize::from(first & 15)),
            6 => (ip + 6, ip + 40),
            _ => return None,
        };
        (*record.get(protocol)? == 6 && record.len() >= tcp + 20).then_some(tcp)
    }

    /// The addresses and ports of a record, source before destination.
    fn ends(&self, index: usize) -> Option<&[u8]> {
        let tcp = self.tcp(index)?;
        self.records[index].get(tcp.checked_sub(8)?..tcp + 4)
    }

    /// Records of the same direction: only this one, some, or all later ones.
    fn same_direction(&self, random: &mut Random, index: usize) -> Vec<usize> {
        let ends = self.ends(index);
        let most = match random.below(3) {
            0 => 1,
            1 => 1 + random.below(16),
            _ => usize::MAX,
        };
        (index..self.records.len()).filter(|&other| self.ends(other) == ends).take(most).collect()
    }

    fn tcp_header(&mut self, index: usize) -> Option<&mut [u8]> {
        let tcp = self.tcp(index)?;
        self.records[index].get_mut(tcp..)
    }

    /// Adds to a four-byte number in the TCP header of some records.
    fn add(&mut self, records: &[usize], at: usize, difference: u32) {
        for &index in records {
            if let Some(field) = self.tcp_header(index).and_then(|tcp| tcp.get_mut(at..at + 4)) {
                add_to(field, difference);
            }
        }
    }

    /// Moves records in time.
    fn shift(&mut self, records: Range<usize>, microseconds: i64) {
        let (unit, is_big) = (self.per_microsecond, self.is_big);
        for record in self.records.get_mut(records).unwrap_or_default() {
            let (Some(seconds), Some(fraction)) = (word(record, 0, is_big), word(record, 4, is_big)) else { continue };
            let time = i64::from(seconds) * 1_000_000 * unit + i64::from(fraction) + microseconds * unit;
            set_word(record, 0, time.div_euclid(1_000_000 * unit) as u32, is_big);
            set_word(record, 4, time.rem_euclid(1_000_000 * unit) as u32, is_big);
        }
    }
}

fn word(bytes: &[u8], at: usize, is_big: bool) -> Option<u32> {
    let field = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(if is_big { u32::from_be_bytes(field) } else { u32::from_le_bytes(field) })
}

fn set_word(bytes: &mut [u8], at: usize, value: u32, is_big: bool) {
    let field = if is_big { value.to_be_bytes() } else { value.to_le_bytes() };
    bytes[at..at + 4].copy_from_slice(&field);
}

/// Adds to a number in network byte order.
fn add_to(field: &mut [u8], difference: u32) {
    if let Ok(number) = <[u8; 4]>::try_from(&*field) {
        field.copy_from_slice(&u32::from_be_bytes(number).wrapping_add(difference).to_be_bytes());
    }
}

/// A distance forwards or backwards.
fn jump(random: &mut Random) -> u32 {
    let distance = *random.pick(JUMPS);
    if random.below(3) == 0 { distance.wrapping_neg() } else { distance }
}

/// A series of records, usually short.
fn run(random: &mut Random, records: usize) -> Range<usize> {
    let start = random.below(records);
    let most = if random.below(4) == 0 { records } else { 8 };
    start..(start + 1 + random.below(most)).min(records)
}

/// Changes packets of a capture; returns `false` if it has no TCP packets.
pub(crate) fn change(random: &mut Random, bytes: &mut Vec<u8>, pool: &[Vec<u8>]) -> bool {
    let Some(mut file) = File::read(bytes) else { return false };
    let index = random.below(file.records.len());
    match random.below(12) {
        0 | 1 => {
            let (at, difference) = (*random.pick(&[4, 8]), jump(random));
            let records = file.same_direction(random, index);
            file.add(&records, at, difference);
        }
        2 => {
            let window = random.pick(WINDOWS).to_be_bytes();
            for index in file.same_direction(random, index) {
                if let Some(field) = file.tcp_header(index).and_then(|tcp| tcp.get_mut(14..16)) {
                    field.copy_from_slice(&window);
                }
            }
        }
        3 => {
            let bit = 1 << random.below(8);
            file.tcp_header(index).into_iter().for_each(|tcp| tcp[13] ^= bit);
        }
        4 | 5 => {
            // Options are mostly in SYNs.
            let index = if random.below(2) == 0 { random.below(4) } else { index };
            for index in file.same_direction(random, index) {
                change_option(random, file.tcp_header(index).unwrap_or_default());
            }
        }
        6 => {
            let by = *random.pick(TIMES) * if random.below(4) == 0 { -1 } else { 1 };
            let end = if random.below(2) == 0 { index + 1 } else { file.records.len() };
            file.shift(index..end, by);
        }
        // Not always directly after the original.
        7 => {
            let copies = file.records[run(random, file.records.len())].to_vec();
            let at = if random.below(2) == 0 { index } else { file.records.len() };
            file.records.splice(at..at, copies);
        }
        8 => {
            let range = run(random, file.records.len());
            file.records[range].reverse();
        }
        9 => drop(file.records.drain(run(random, file.records.len()))),
        10 => {
            let other: &Vec<u8> = random.pick(pool);
            let other = File::read(other).filter(|it| (it.link, it.is_big) == (file.link, file.is_big));
            let Some(other) = other else { return false };
            let part = other.records[run(random, other.records.len())].to_vec();
            file.records.splice(index..index, part);
        }
        _ => stretch(random, &mut file, index),
    }
    *bytes = file.bytes();
    true
}

/// Claims more payload in a segment than was captured.
fn stretch(random: &mut Random, file: &mut File, index: usize) {
    let (Some(tcp), is_big) = (file.tcp(index), file.is_big) else { return };
    let headers = tcp - RECORD + 20;
    let length = usize::from(*random.pick(SEGMENT_SIZES)).max(headers);
    let record = &mut file.records[index];
    set_word(record, 12, length as u32, is_big);
    // IPv4's total length is 18 bytes before the TCP header if there are no IP options.
    if let Some(field) = tcp.checked_sub(18).and_then(|at| record.get_mut(at..at + 2)) {
        field.copy_from_slice(&(length as u16).to_be_bytes());
    }
}

/// Changes the value of one option, or its kind.
fn change_option(random: &mut Random, tcp: &mut [u8]) {
    let Some(end) = tcp.get(12).map(|offset| 4 * usize::from(offset >> 4)) else { return };
    let Some(options) = tcp.get_mut(20..end) else { return };
    let mut at = 0;
    while at + 1 < options.len() {
        let (kind, length) = (options[at], usize::from(options[at + 1]));
        if kind < 2 {
            at += 1;
            continue;
        }
        let Some(value) = options.get_mut(at + 2..at + length.max(2)) else { return };
        match kind {
            2 if value.len() == 2 => value.copy_from_slice(&random.pick(SEGMENT_SIZES).to_be_bytes()),
            3 if value.len() == 1 => value[0] = *random.pick(&[0, 1, 7, 14, 15, 255]),
            // Timestamps and SACK ranges are four-byte numbers.
            _ => {
                let numbers = value.len() / 4;
                let place = 4 * random.below(numbers);
                if let Some(field) = value.get_mut(place..place + 4) {
                    add_to(field, jump(random));
                }
            }
        }
        if random.below(16) == 0 {
            options[at] = *random.pick(&[1, 2, 3, 4, 5, 8, 30, 34]);
        }
        at += length.max(2);
    }
}

#[test]
fn changed_packets_stay_a_valid_capture() {
    let seeds = super::seeds::samples();
    let mut random = Random(1);
    for seed in &seeds {
        for _ in 0..20 {
            let mut bytes = seed.clone();
            if change(&mut random, &mut bytes, &seeds) {
                assert!(bytes.len() == HEAD || word(&bytes, 20, false) == word(seed, 20, false));
            }
        }
    }
    let mut bytes = seeds[0].clone();
    let before = File::read(&bytes).unwrap();
    while bytes == seeds[0] {
        assert!(change(&mut random, &mut bytes, &seeds));
    }
    assert!(before.tcp(0).is_some(), "the first packet is understood");
}
