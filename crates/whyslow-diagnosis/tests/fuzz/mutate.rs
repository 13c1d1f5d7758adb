//! Makes hostile inputs from valid ones.

use super::packets;

/// A small pseudo-random number generator (SplitMix64): the same seed gives the same run on every
/// machine.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 if `limit` is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A range of `bytes`, often short.
    fn range(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(bytes.len() + 1);
        let most = if self.below(3) == 0 { bytes.len() } else { 64 };
        start..(start + self.below(most + 1)).min(bytes.len())
    }
}

/// Inputs do not grow beyond this, so that a run has many inputs and not a few large ones.
const LONGEST: usize = 1 << 17;

/// Values for lengths and counts.
const WRONG_NUMBERS: &[u32] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    11,
    12,
    15,
    16,
    19,
    20,
    27,
    28,
    32,
    60,
    127,
    128,
    255,
    256,
    1500,
    32_767,
    32_768,
    65_535,
    65_536,
    262_143,
    262_144,
    262_145,
    1 << 20,
    1 << 24,
    (1 << 24) + 1,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fff0,
    0xffff_fffc,
    0xffff_fffe,
    0xffff_ffff,
];

/// One to six changes to an input of `pool`: to its packets if it has any, or to its bytes.
pub(crate) fn mutate(random: &mut Random, pool: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.pick(pool).clone();
    // Most captures with changed bytes are rejected early.
    let changes_packets = random.below(3) > 0;
    for _ in 0..=random.below(6) {
        if !changes_packets || !packets::change(random, &mut bytes, pool) {
            change(random, &mut bytes, pool);
        }
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(random: &mut Random, bytes: &mut Vec<u8>, pool: &[Vec<u8>]) {
    let at = random.below(bytes.len());
    match random.below(11) {
        // Truncate, anywhere.
        0 => bytes.truncate(at),
        // Flip one or a few bits.
        1 => {
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
        // Overwrite some bytes with noise.
        2 => {
            let range = random.range(bytes);
            bytes[range].iter_mut().for_each(|byte| *byte = random.next() as u8);
        }
        // Overwrite some bytes with one value.
        3 => {
            let range = random.range(bytes);
            let value = *random.pick(&[0, 0xff, b' ', b'9', b'\n']);
            bytes[range].fill(value);
        }
        // Overwrite a length with a wrong one: two or four bytes, in either byte order.
        4 | 5 => change_number(random, bytes, at),
        // Remove some bytes.
        6 => {
            let range = random.range(bytes);
            bytes.drain(range);
        }
        // Repeat some bytes.
        7 => {
            let range = random.range(bytes);
            let part = bytes[range.clone()].repeat(1 + random.below(8));
            bytes.splice(range.end..range.end, part.into_iter().take(LONGEST));
        }
        // Insert a part of another input.
        8 => {
            let other = random.pick(pool);
            let part = other[random.range(other)].to_vec();
            let replaced = if random.below(2) == 0 { at..at } else { at..(at + part.len()).min(bytes.len()) };
            bytes.splice(replaced, part);
        }
        // Continue with another input.
        9 => {
            let other = random.pick(pool);
            bytes.truncate(at);
            bytes.extend_from_slice(&other[random.below(other.len())..]);
        }
        // Overwrite a decimal number.
        _ => {
            let Some(start) = bytes.iter().skip(at).position(u8::is_ascii_digit).map(|offset| at + offset) else {
                return;
            };
            let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = match random.below(3) {
                0 => random.pick(WRONG_NUMBERS).to_string(),
                1 => random.next().to_string(),
                _ => "9".repeat(random.below(40)),
            };
            bytes.splice(start..start + digits, number.into_bytes());
        }
    }
}

fn change_number(random: &mut Random, bytes: &mut [u8], at: usize) {
    // Fields are usually at multiples of four.
    let at = if random.below(4) == 0 { at } else { at & !3 };
    let near = (bytes.len() - at) as u32;
    let value = match random.below(3) {
        0 => near.wrapping_add(random.below(9) as u32).wrapping_sub(4),
        _ => *random.pick(WRONG_NUMBERS),
    };
    let (big, wide) = (random.below(2) == 0, random.below(3) > 0);
    let field = match (big, wide) {
        (true, true) => value.to_be_bytes().to_vec(),
        (false, true) => value.to_le_bytes().to_vec(),
        (true, false) => (value as u16).to_be_bytes().to_vec(),
        (false, false) => (value as u16).to_le_bytes().to_vec(),
    };
    for (byte, new) in bytes[at..].iter_mut().zip(field) {
        *byte = new;
    }
}
