//! Objects of any size, in any pieces, read in any range.

use super::*;
use crate::age::{CHUNK, SEALED_CHUNK};
use proptest::prelude::*;
use proptest::sample::Index;

/// Around the ends of chunks, and in between.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![0..4usize, 0..200_000usize, CHUNK - 2..CHUNK + 3, 2 * CHUNK - 2..2 * CHUNK + 3, Just(3 * CHUNK)]
}

fn piece() -> impl Strategy<Value = usize> {
    prop_oneof![Just(usize::MAX), 900..70_000usize, Just(CHUNK), Just(SEALED_CHUNK), Just(1_448)]
}

fn gap() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0u64), Just(100), Just(70_000), Just(u64::MAX)]
}

fn range(length: usize, a: &Index, b: &Index) -> Range<u64> {
    let (a, b) = (a.index(length), b.index(length));
    a.min(b) as u64..a.max(b) as u64 + 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_single_object_reads_as_it_was_sealed(length in length(), written in piece(), taken in piece()) {
        let stored = Stored::single(length, written);
        prop_assert_eq!(sealed_size(length as u64), Some(stored.bytes.len() as u64));
        let layout = stored.layout();
        prop_assert_eq!(layout.length(), length as u64);
        let (out, end) = read(&stored.bytes, &layout, layout.plan_all(0), taken);
        prop_assert_eq!(end, Ok(()));
        prop_assert!(out == stored.text);
    }

    #[test]
    fn a_range_is_the_header_and_the_chunks_that_hold_it(
        length in 1..250_000usize, a: Index, b: Index, taken in piece(), gap in gap(),
    ) {
        let stored = Stored::single(length, usize::MAX);
        let layout = stored.layout();
        let range = range(length, &a, &b);
        let plan = layout.plan(range.clone(), gap).unwrap();
        let (first, last) = (range.start / CHUNK as u64, (range.end - 1) / CHUNK as u64);
        let most = HEADER + (last - first + 1) * SEALED_CHUNK as u64;
        prop_assert!(gap > 0 || asked(&plan) <= most);
        let is_one = first * SEALED_CHUNK as u64 <= gap;
        prop_assert_eq!(plan.spans().len(), if is_one { 1 } else { 2 });
        let (out, end) = read(&stored.bytes, &layout, plan.clone(), taken);
        prop_assert_eq!(end, Ok(()));
        prop_assert!(out == stored.text[range.start as usize..range.end as usize]);
        // Planned before the size is known: the same, except after the end.
        let blind = Layout::unsized_single(stored.object).plan(range, gap).unwrap();
        let size = stored.bytes.len() as u64;
        let cut: Vec<_> = blind.spans().iter().map(|span| span.start..span.end.min(size)).collect();
        prop_assert_eq!(&cut[..], plan.spans());
    }

    #[test]
    fn a_multipart_object_reads_as_it_was_sealed(
        lengths in prop::collection::vec(length(), 1..5), a: Index, b: Index, taken in piece(), gap in gap(),
        least in prop_oneof![Just(0u32), Just(100_000)],
    ) {
        let stored = Stored::multipart(&lengths, least);
        let layout = stored.layout();
        prop_assert_eq!(layout.length(), stored.text.len() as u64);
        prop_assert_eq!(layout.stored(), stored.bytes.len() as u64);
        let (out, end) = read(&stored.bytes, &layout, layout.plan_all(gap), taken);
        prop_assert_eq!(end, Ok(()));
        prop_assert!(out == stored.text);
        if !stored.text.is_empty() {
            let range = range(stored.text.len(), &a, &b);
            let plan = layout.plan(range.clone(), gap).unwrap();
            let (out, end) = read(&stored.bytes, &layout, plan, taken);
            prop_assert_eq!(end, Ok(()));
            prop_assert!(out == stored.text[range.start as usize..range.end as usize]);
        }
    }

    #[test]
    fn sizes_go_both_ways(length in prop_oneof![0..MAX_LENGTH, 0..1_000_000u64], off in 1..20u64) {
        let sealed = sealed_size(length).unwrap();
        prop_assert_eq!(plain_size(sealed), Some(length));
        // Sizes that no plaintext has lie between those of a full chunk and of one byte more.
        for size in sealed.saturating_sub(off)..=sealed + off {
            if let Some(plain) = plain_size(size) {
                prop_assert_eq!(sealed_size(plain), Some(size));
            }
        }
    }
}

proptest! {
    #[test]
    fn the_end_of_an_object_holds_its_last_bytes(length in 1..400_000u64, last: Index) {
        let last = last.index(length as usize) as u64 + 1;
        let object = Object::new(&epoch(1), Kind::Single).unwrap();
        let layout = Layout::single(object, sealed_size(length).unwrap()).unwrap();
        let plan = layout.plan(length - last..length, 0).unwrap();
        let chunks = plan.spans().last().unwrap();
        prop_assert_eq!(chunks.end, layout.stored());
        let from = layout.stored().saturating_sub(suffix_size(last));
        // Both begin with the header, if they are one span.
        prop_assert!(chunks.start.max(HEADER) >= from);
    }
}

#[test]
fn no_plaintext_has_these_sizes() {
    let full = sealed_size(CHUNK as u64).unwrap();
    for none in [0, HEADER - 1, HEADER, HEADER + 15, full + 1, full + 16, u64::MAX] {
        assert_eq!(plain_size(none), None, "{none}");
    }
    assert_eq!(plain_size(HEADER + 16), Some(0));
    assert_eq!(plain_size(full + 17), Some(CHUNK as u64 + 1));
    assert_eq!(sealed_size(MAX_LENGTH + 1), None);
}

#[test]
fn a_writer_holds_the_last_chunk_until_the_end() {
    let object = Object::new(&epoch(1), Kind::Single).unwrap();
    let text = text(2 * CHUNK);
    let mut out = Vec::new();
    let mut writer = SliceWriter::new(&ring(), object, Role::Object, text.len() as u64, &mut out).unwrap();
    writer.write(&text, &mut out).unwrap();
    assert_eq!(out.len(), HEADER as usize + SEALED_CHUNK);
    writer.finish(&mut out).unwrap();
    assert_eq!(out.len() as u64, sealed_size(text.len() as u64).unwrap());
}

#[test]
fn a_writer_takes_as_many_bytes_as_were_promised() {
    let object = Object::new(&epoch(1), Kind::Single).unwrap();
    let mut out = Vec::new();
    let mut writer = SliceWriter::new(&ring(), object, Role::Object, 10, &mut out).unwrap();
    writer.write(b"12345", &mut out).unwrap();
    assert_eq!(writer.write(b"123456", &mut out), Err(WriteError::TooMuch));
    writer.write(b"123", &mut out).unwrap();
    let before = out.len();
    assert_eq!(writer.finish(&mut out), Err(WriteError::TooLittle(2)));
    assert_eq!(out.len(), before);
    let refused = |object, role, length| SliceWriter::new(&ring(), object, role, length, &mut Vec::new()).unwrap_err();
    assert_eq!(refused(object, Role::Object, MAX_LENGTH + 1), WriteError::TooLong(MAX_LENGTH + 1));
    let multipart = Object { kind: Kind::Multipart, ..object };
    for (object, role) in [
        (object, Role::Part(1)),
        (object, Role::Manifest(1)),
        (multipart, Role::Object),
        (multipart, Role::Part(0)),
        (multipart, Role::Part(10_001)),
    ] {
        assert_eq!(refused(object, role, 1), WriteError::Role(role));
    }
    let gone = Object { epoch: epoch(2).id(), ..object };
    assert_eq!(refused(gone, Role::Object, 1), WriteError::UnknownEpoch(epoch(2).id()));
}

#[test]
fn a_range_outside_the_object_has_no_plan() {
    let layout = Stored::single(100, 100).layout();
    for none in [0..0, 5..5, 0..101, 100..101, Range { start: 9, end: 3 }] {
        assert_eq!(layout.plan(none.clone(), 0), None, "{none:?}");
    }
    assert_eq!(Stored::single(0, 1).layout().plan(0..1, 0), None);
}

#[test]
fn the_same_plaintext_is_sealed_differently_each_time() {
    let object = Object::new(&epoch(1), Kind::Single).unwrap();
    let (one, tag) = seal(&ring(), object, Role::Object, b"text", 10);
    let (two, other) = seal(&ring(), object, Role::Object, b"text", 10);
    assert!(one != two && tag != other);
}

#[test]
fn an_object_of_an_older_epoch_is_opened_under_its_own() {
    let stored = Stored::single(10, 10);
    let ring = Arc::new(Keyring::new(epoch(2), [epoch(1)]));
    let layout = Arc::new(stored.layout());
    let mut reader = Reader::new(ring, layout.clone(), layout.plan_all(0));
    let mut out = Vec::new();
    reader.read(&stored.bytes, &mut out).unwrap();
    reader.finish().unwrap();
    assert_eq!(out, stored.text);
}

#[test]
fn parts_have_numbers_that_ascend() {
    let object = Object::new(&epoch(1), Kind::Multipart).unwrap();
    let tag = seal(&ring(), object, Role::Part(1), b"", 1).1;
    let part = |number| Part { number, length: 0, filler: 0, tag };
    let seal = |parts: &[Part]| manifest::seal(&ring(), object, parts).map(|_| ());
    use manifest::PartsError::{Count, Number, TooLong};
    assert_eq!(seal(&[]), Err(Count(0)));
    assert_eq!(seal(&[part(0)]), Err(Number(0)));
    assert_eq!(seal(&[part(2), part(2)]), Err(Number(2)));
    assert_eq!(seal(&[part(2), part(1)]), Err(Number(1)));
    assert_eq!(seal(&[part(10_001)]), Err(Number(10_001)));
    assert_eq!(seal(&[Part { length: u64::MAX, ..part(1) }]), Err(TooLong));
    // Clients may leave numbers out.
    assert_eq!(seal(&[part(1), part(7), part(10_000)]), Ok(()));
    let most: Vec<Part> = (1..=manifest::MAX_PARTS).map(part).collect();
    assert_eq!(seal(&most), Ok(()));
    assert_eq!(manifest::size(manifest::MAX_PARTS), HEADER + 320_000 + 5 * 16 + 16);
}

#[test]
fn a_long_manifest_is_read_in_two_steps() {
    let stored = Stored::multipart(&vec![3; 300], 0);
    let (out, end) = read_all(stored.object, &stored.bytes);
    assert_eq!((out, end), (stored.text, Ok(())));
}
