#![allow(clippy::unwrap_used)]

use super::super::{BAD_CHECKSUM, TIME_CLAMPED};
use super::*;
use proptest::prelude::*;

fn sacks() -> impl Strategy<Value = SackBlocks> {
    prop::collection::vec(any::<(u32, u32)>(), 0..5).prop_map(|blocks| {
        let mut sacks = SackBlocks::default();
        blocks.into_iter().for_each(|(left, right)| sacks.push(SeqNumber(left), SeqNumber(right)));
        sacks
    })
}

/// Any value, often a small difference.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 0u64..5, 2 => 0u64..70_000, 1 => any::<u64>()]
}

fn seg() -> impl Strategy<Value = Seg> {
    let bits =
        prop_oneof![any::<u8>(), Just(HAS_TIMESTAMPS | HAS_IP_ID), Just(HAS_TIMESTAMPS | HAS_IP_ID | FROM_SIDE_B)];
    (bits, prop::collection::vec(number(), 14)).prop_map(|(has, numbers)| {
        let has = has & (FROM_SIDE_B | TIME_CLAMPED | HAS_TIMESTAMPS | HAS_IP_ID | BAD_CHECKSUM);
        let only = |bit: u8, number: u64| if has & bit != 0 { number } else { 0 };
        Seg {
            time: Time(numbers[0] as i64),
            frame_ref: FrameRef::of(numbers[1]),
            tsval: only(HAS_TIMESTAMPS, numbers[2]) as u32,
            tsecr: only(HAS_TIMESTAMPS, numbers[3]) as u32,
            ack: SeqNumber(numbers[4] as u32),
            seq: SeqNumber(numbers[5] as u32),
            len: numbers[6] as u32,
            ip_id: only(HAS_IP_ID, numbers[8]) as u16,
            flags: Flags(numbers[9] as u16 & 0x1ff),
            window: numbers[10] as u16,
            bits: has,
            ttl: numbers[11] as u8,
            ecn: numbers[12] as u8 & 3,
            kind: PayloadKind::of(numbers[13] as u8),
        }
    })
}

proptest! {
    #[test]
    fn packed_segments_roundtrip(segs in prop::collection::vec((seg(), sacks()), 0..40)) {
        let mut packed = PackedSegments::default();
        segs.iter().for_each(|(seg, sack)| packed.push(seg, sack));
        prop_assert_eq!(packed.len(), segs.len());
        let (mut all, mut back) = (packed.iter(), Vec::new());
        while let Some((seg, sack)) = all.next() {
            back.push((seg, *sack));
        }
        prop_assert_eq!(format!("{back:?}"), format!("{segs:?}"));
    }

    #[test]
    fn advances_agree_with_segments(
        segs in prop::collection::vec((seg(), sacks()), 0..40),
    ) {
        let mut packed = PackedSegments::default();
        segs.iter().for_each(|(seg, sack)| packed.push(seg, sack));
        let mut steps = packed.advances();
        for (seg, sack) in segs {
            let bare = Seg { frame_ref: FrameRef::default(), window: 0, ip_id: 0, ttl: 0, ecn: 0, ..seg };
            prop_assert_eq!(format!("{:?}", steps.next()), format!("{:?}", Some((bare, !sack.is_empty()))));
        }
        prop_assert!(steps.next().is_none());
    }
}

#[test]
fn ordinary_segment_needs_about_twelve_bytes() {
    let mut packed = PackedSegments::default();
    let mut next = [1000u32, 5000];
    for n in 0..100u32 {
        let (from, len) = if n % 2 == 0 { (Side::A, 0) } else { (Side::B, 1448) };
        let seg = Seg {
            time: Time(1_700_000_000_000_000_000 + i64::from(n) * 700_000),
            frame_ref: FrameRef::of(1 << 47 | (u64::from(n) * 900)),
            tsval: 40_000 + n,
            tsecr: 40_000 + n - n.min(1),
            ack: SeqNumber(next[!from]),
            seq: SeqNumber(next[from]),
            len,
            ip_id: (n / 2) as u16,
            flags: Flags::ACK,
            window: 500,
            bits: HAS_TIMESTAMPS | HAS_IP_ID | if from == Side::B { FROM_SIDE_B } else { 0 },
            ttl: 64,
            ecn: 0,
            kind: PayloadKind::Unread,
        };
        next[from] += len;
        packed.push(&seg, &SackBlocks::default());
    }
    assert!(packed.bytes.len() <= 1_300, "{}", packed.bytes.len());
    assert!(packed.bytes.capacity() <= packed.bytes.len() * 3 / 2, "{}", packed.bytes.capacity());
}
