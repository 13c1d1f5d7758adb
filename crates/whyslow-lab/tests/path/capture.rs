//! Just enough of a reader to see what a tap wrote.

use std::path::Path;

/// One TCP packet of a capture.
pub struct Packet {
    pub at_ns: u64,
    pub source: [u8; 4],
    pub seq: u32,
    pub payload: u32,
    /// The TCP checksum is right; `None` when the packet is cut.
    pub is_right: Option<bool>,
    pub original: u32,
}

fn be(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

fn le(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|word| be(&[word[0], word.get(1).copied().unwrap_or(0)])).sum()
}

/// All TCP packets of a nanosecond capture.
pub fn read(file: &Path) -> Vec<Packet> {
    let bytes = std::fs::read(file).unwrap();
    assert_eq!(le(&bytes[..4]), 0xa1b2_3c4d);
    let (mut packets, mut at) = (Vec::new(), 24);
    while at < bytes.len() {
        let field = |n: usize| le(&bytes[at + n * 4..at + n * 4 + 4]);
        let (kept, original) = (field(2) as usize, field(3));
        let at_ns = u64::from(field(0)) * 1_000_000_000 + u64::from(field(1));
        let frame = &bytes[at + 16..at + 16 + kept];
        at += 16 + kept;
        if frame.len() < 54 || frame[12..14] != [8, 0] || frame[23] != 6 {
            continue;
        }
        let total = be(&frame[16..18]) as usize;
        let header = usize::from(frame[46] >> 4) * 4;
        let is_right = frame.get(34..14 + total).map(|segment| {
            let mut whole = sum(&frame[26..34]) + 6 + segment.len() as u32 + sum(segment);
            while whole > 0xffff {
                whole = (whole & 0xffff) + (whole >> 16);
            }
            whole == 0xffff
        });
        packets.push(Packet {
            at_ns,
            source: frame[26..30].try_into().unwrap(),
            seq: be(&frame[38..42]),
            payload: (total - 20 - header) as u32,
            is_right,
            original,
        });
    }
    packets
}
