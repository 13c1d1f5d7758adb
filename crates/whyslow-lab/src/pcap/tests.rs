#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn a_file_follows_the_format() {
    let mut writer = Writer::new(Vec::new(), 4).unwrap();
    writer.packet(1_700_000_000_123_456_789, b"abcdef", 60).unwrap();
    let file = writer.finish().unwrap();
    let words: Vec<u32> = file[..40].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(words, [0xa1b2_3c4d, 2 | 4 << 16, 0, 0, 4, 1, 1_700_000_000, 123_456_789, 4, 60]);
    assert_eq!(&file[40..], b"abcd");
}
