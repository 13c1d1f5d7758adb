//! Every change of a stored object is noticed, and gives no wrong byte.

use super::*;
use crate::age::{CHUNK, SEALED_CHUNK};

/// Asserts that these bytes are refused, and that all plaintext before the fault is right.
fn refused(stored: &Stored, bytes: &[u8], what: &str) -> Fault {
    let (out, end) = read_all(stored.object, bytes);
    assert!(stored.text.starts_with(&out), "{what}: a wrong byte was handed out");
    end.expect_err(what)
}

fn three_parts() -> (Stored, Layout) {
    let stored = Stored::multipart(&[40, 40, 40], 0);
    let layout = stored.layout();
    (stored, layout)
}

/// The object with its parts' slices in this order.
fn rearranged(stored: &Stored, layout: &Layout, order: &[usize]) -> Vec<u8> {
    let slices = layout.slices();
    let mut bytes: Vec<u8> = Vec::new();
    for index in order {
        let Range { start, end } = slices[*index].stored();
        bytes.extend_from_slice(&stored.bytes[start as usize..end as usize]);
    }
    bytes.extend_from_slice(&stored.bytes[slices[slices.len() - 1].stored().end as usize..]);
    bytes
}

#[test]
fn a_flipped_bit_anywhere_in_a_single_object() {
    let stored = Stored::single(20, 20);
    for at in 0..stored.bytes.len() {
        for bit in 0..8 {
            let mut changed = stored.bytes.clone();
            changed[at] ^= 1 << bit;
            refused(&stored, &changed, &format!("byte {at}, bit {bit}"));
        }
    }
}

#[test]
fn a_flipped_byte_anywhere_in_a_multipart_object() {
    let stored = Stored::multipart(&[20, 0, 5], HEADER as u32 + 30);
    let layout = stored.layout();
    let filled = |at: usize| {
        let ends = layout.slices().iter().map(|slice| slice.stored());
        !ends.into_iter().any(|slice| slice.contains(&(at as u64)))
            && (at as u64) < stored.bytes.len() as u64 - manifest::size(3)
    };
    let mut fillers = 0;
    for at in 0..stored.bytes.len() {
        let mut changed = stored.bytes.clone();
        changed[at] ^= 0x20;
        if filled(at) {
            // A filler is not part of any slice, and is never handed out.
            fillers += 1;
            assert_eq!(read_all(stored.object, &changed), (stored.text.clone(), Ok(())));
        } else {
            refused(&stored, &changed, &format!("byte {at}"));
        }
    }
    assert!(fillers > 0);
}

#[test]
fn a_cut_anywhere_and_bytes_behind_the_end() {
    for stored in [Stored::single(20, 20), Stored::multipart(&[20, 7], 0)] {
        for at in 0..stored.bytes.len() {
            refused(&stored, &stored.bytes[..at], &format!("cut at {at}"));
        }
        for more in [1, 16, 17, 300] {
            refused(&stored, &[&stored.bytes[..], &vec![0; more]].concat(), "longer");
        }
    }
}

#[test]
fn an_answer_that_ends_early_or_late() {
    let stored = Stored::single(100_000, usize::MAX);
    let layout = stored.layout();
    for cut in [0, 1, HEADER as usize, HEADER as usize + SEALED_CHUNK, stored.bytes.len() - 1] {
        let (out, end) = read(&stored.bytes[..cut], &layout, layout.plan_all(0), 5_000);
        assert_eq!(end.unwrap_err().problem, Problem::Truncated, "cut at {cut}");
        assert!(stored.text.starts_with(&out) && out.len() % CHUNK == 0);
    }
    let mut reader = Reader::new(ring(), Arc::new(layout.clone()), layout.plan_all(0));
    let mut out = Vec::new();
    let fault = reader.read(&[&stored.bytes[..], b"x"].concat(), &mut out).unwrap_err();
    assert_eq!((fault.problem, out), (Problem::Surplus, stored.text));
}

#[test]
fn chunks_dropped_swapped_repeated_or_taken_from_elsewhere() {
    let stored = Stored::single(3 * CHUNK + 9, usize::MAX);
    let header = HEADER as usize;
    let chunk = |index: usize| &stored.bytes[header + index * SEALED_CHUNK..header + (index + 1) * SEALED_CHUNK];
    let (head, end) = (&stored.bytes[..header], &stored.bytes[header + 3 * SEALED_CHUNK..]);
    let with = |chunks: &[&[u8]]| [head, &chunks.concat(), end].concat();
    assert!(with(&[chunk(0), chunk(1), chunk(2)]) == stored.bytes);
    let at = |index: u64| HEADER + index * SEALED_CHUNK as u64;
    let swapped = refused(&stored, &with(&[chunk(0), chunk(2), chunk(1)]), "swapped");
    assert_eq!(swapped, Fault { at: at(1), problem: Problem::Chunk });
    let repeated = refused(&stored, &with(&[chunk(0), chunk(0), chunk(2)]), "repeated");
    assert_eq!(repeated, Fault { at: at(1), problem: Problem::Chunk });
    // The header detects another size.
    for wrong in [&[chunk(0), chunk(1)][..], &[chunk(0), chunk(1), chunk(2), chunk(2)]] {
        assert!(matches!(refused(&stored, &with(wrong), "size").problem, Problem::Misplaced { .. }));
    }
    let other = Stored::single(3 * CHUNK + 9, usize::MAX);
    let foreign = with(&[chunk(0), &other.bytes[header + SEALED_CHUNK..header + 2 * SEALED_CHUNK], chunk(2)]);
    assert_eq!(refused(&stored, &foreign, "foreign").at, at(1));
}

#[test]
fn an_object_cut_at_a_chunks_end_is_no_shorter_object() {
    let stored = Stored::single(2 * CHUNK, usize::MAX);
    let cut = &stored.bytes[..HEADER as usize + SEALED_CHUNK];
    assert_eq!(plain_size(cut.len() as u64), Some(CHUNK as u64));
    assert!(matches!(refused(&stored, cut, "cut").problem, Problem::Misplaced { .. }));
}

#[test]
fn parts_dropped_swapped_or_repeated() {
    let (stored, layout) = three_parts();
    assert!(rearranged(&stored, &layout, &[0, 1, 2]) == stored.bytes);
    for order in [&[0, 2][..], &[0, 1], &[1, 2], &[0, 1, 2, 2], &[]] {
        let fault = refused(&stored, &rearranged(&stored, &layout, order), "count");
        assert_eq!(fault.problem, Problem::Manifest, "{order:?}");
    }
    for order in [[0, 2, 1], [1, 0, 2], [0, 1, 1], [2, 1, 0]] {
        let fault = refused(&stored, &rearranged(&stored, &layout, &order), "order");
        assert!(matches!(fault.problem, Problem::Misplaced { .. }), "{order:?}: {fault}");
    }
}

#[test]
fn the_version_of_a_part_that_the_object_was_not_completed_with() {
    let (stored, layout) = three_parts();
    let range = layout.slices()[1].stored();
    let (older, _) = seal(&ring(), stored.object, Role::Part(2), &[9; 40], 100);
    let mut changed = stored.bytes.clone();
    changed[range.start as usize..range.end as usize].copy_from_slice(&older);
    let fault = refused(&stored, &changed, "older");
    assert_eq!(fault, Fault { at: range.start, problem: Problem::OtherVersion(2) });
}

#[test]
fn a_part_or_a_manifest_of_another_object() {
    let (stored, layout) = three_parts();
    let (other, _) = three_parts();
    let range = layout.slices()[1].stored();
    let mut changed = stored.bytes.clone();
    changed[range.start as usize..range.end as usize]
        .copy_from_slice(&other.bytes[range.start as usize..range.end as usize]);
    assert!(matches!(refused(&stored, &changed, "part").problem, Problem::Misplaced { .. }));
    let manifest = stored.bytes.len() - manifest::size(3) as usize;
    let changed = [&stored.bytes[..manifest], &other.bytes[manifest..]].concat();
    assert_eq!(refused(&stored, &changed, "manifest").problem, Problem::Manifest);
    assert!(read_all(stored.object, &other.bytes).1.is_err());
}

#[test]
fn a_part_is_no_object_and_a_manifest_no_part() {
    let (stored, layout) = three_parts();
    let part = &stored.bytes[..layout.slices()[0].sealed as usize];
    let single = Object { kind: Kind::Single, ..stored.object };
    assert!(matches!(read_all(single, part).1.unwrap_err().problem, Problem::Misplaced { .. }));
    assert!(read_all(single, &stored.bytes).1.is_err());
    let whole = Stored::single(40, 40);
    let multipart = Object { kind: Kind::Multipart, ..whole.object };
    assert_eq!(read_all(multipart, &whole.bytes).1.unwrap_err().problem, Problem::Locator);
    // The manifest's slice instead of a part of the same size.
    let lengths = vec![32 * 2; 2];
    let stored = Stored::multipart(&lengths, 0);
    let size = manifest::size(2) as usize;
    let slice = stored.bytes.len() - size..stored.bytes.len() - 16;
    let mut changed = stored.bytes.clone();
    changed.copy_within(slice, 0);
    assert!(matches!(refused(&stored, &changed, "manifest").problem, Problem::Misplaced { .. }));
}

#[test]
fn who_knows_the_recipient_alone_cannot_make_an_object() {
    // Sealed to the right recipient by a party with another secret.
    let object = Object::new(&epoch(1), Kind::Single).unwrap();
    let forger = Keyring::new(epoch(1).with_secrets_of(&epoch(2)), []);
    let (bytes, _) = seal(&forger, object, Role::Object, b"forged", 10);
    assert_eq!(read_all(object, &bytes), (Vec::new(), Err(Problem::Forged.at(0))));
}

#[test]
fn epochs_are_not_mixed() {
    let object = Object::new(&epoch(1), Kind::Single).unwrap();
    let newer = Keyring::new(epoch(2), []);
    let (bytes, _) = seal(&newer, Object { epoch: epoch(2).id(), ..object }, Role::Object, b"text", 10);
    let layout = Layout::single(object, bytes.len() as u64).unwrap();
    assert_eq!(read(&bytes, &layout, layout.plan_all(0), 99).1, Err(Problem::OtherEpoch(epoch(2).id()).at(0)));
    let gone = Object { epoch: epoch(2).id(), ..object };
    let layout = Layout::single(gone, bytes.len() as u64).unwrap();
    assert_eq!(read(&bytes, &layout, layout.plan_all(0), 99).1, Err(Problem::UnknownEpoch(epoch(2).id()).at(0)));
}

#[test]
fn metadata_of_another_name_kind_or_content() {
    let object = Object::new(&epoch(1), Kind::Single).unwrap();
    let attributes = [("Content-Type", "text/plain"), ("x-amz-meta-a", "b")];
    let text = object.to_metadata(&ring(), NAME, &attributes).unwrap();
    let verify = |text: &str, name, attributes: &[(&str, &str)]| Object::verify(&ring(), text, name, attributes);
    assert_eq!(verify(&text, NAME, &attributes), Ok(object));
    assert_eq!(verify(&text, NAME, &[("X-Amz-Meta-A", "b"), ("content-type", "text/plain")]), Ok(object));
    let other_key = Name { key: "folder/other", ..NAME };
    let shifted = Name { bucket: "bucketf", key: "older/file" };
    let html = [("Content-Type", "text/html"), ("x-amz-meta-a", "b")];
    for (name, attributes) in
        [(other_key, &attributes[..]), (shifted, &attributes), (NAME, &html), (NAME, &attributes[..1]), (NAME, &[])]
    {
        assert_eq!(verify(&text, name, attributes), Err(MetadataFault::Tag), "{name:?} {attributes:?}");
    }
    assert_eq!(verify(&text.replace("single", "multipart"), NAME, &attributes), Err(MetadataFault::Tag));
    for at in 0..text.len() {
        let mut changed = text.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        verify(&String::from_utf8(changed).unwrap(), NAME, &attributes).unwrap_err();
        verify(&text[..at], NAME, &attributes).unwrap_err();
    }
    verify(&format!("{text}."), NAME, &attributes).unwrap_err();
    let newer = Keyring::new(epoch(2), []);
    assert_eq!(object.to_metadata(&newer, NAME, &[]), Err(MetadataFault::UnknownEpoch(epoch(1).id())));
    assert_eq!(Object::verify(&newer, &text, NAME, &attributes), Err(MetadataFault::UnknownEpoch(epoch(1).id())));
}

#[test]
fn tokens_of_another_upload_part_or_name() {
    let object = Object::new(&epoch(1), Kind::Multipart).unwrap();
    let upload = UploadToken { object, backend: "2~x.y".into() };
    let text = upload.to_text(&ring(), NAME).unwrap();
    assert_eq!(UploadToken::verify(&ring(), &text, NAME), Ok(upload));
    let other = Name { key: "other", ..NAME };
    assert_eq!(UploadToken::verify(&ring(), &text, other), Err(TokenFault::Tag));
    assert_eq!(UploadToken::verify(&ring(), &format!("{text}z"), NAME), Err(TokenFault::Tag));
    assert_eq!(UploadToken::verify(&ring(), "2~x", NAME), Err(TokenFault::Syntax));

    let tag = seal(&ring(), object, Role::Part(3), b"12345", 9).1;
    let sums = Sums { crc32: 1, crc32c: 2, crc64nvme: 3 };
    for sums in [None, Some(sums)] {
        let part = Part { number: 3, length: 5, filler: 7, tag };
        let token = PartToken { part, backend: "0".repeat(32), sums };
        let text = token.to_text(&ring(), object).unwrap();
        assert_eq!(PartToken::verify(&ring(), &text, object, 3), Ok(token.clone()));
        assert_eq!(PartToken::verify(&ring(), &text, object, 4), Err(TokenFault::Tag));
        let another = Object::new(&epoch(1), Kind::Multipart).unwrap();
        assert_eq!(PartToken::verify(&ring(), &text, another, 3), Err(TokenFault::Tag));
        let changed = text.replace(&"0".repeat(32), &"1".repeat(32));
        assert_eq!(PartToken::verify(&ring(), &changed, object, 3), Err(TokenFault::Tag));
        assert_eq!(PartToken::verify(&ring(), &token.backend, object, 3), Err(TokenFault::Syntax));
        assert!(text.bytes().any(|byte| !byte.is_ascii_hexdigit()));
        // CRCs cannot be changed, or left out.
        let other = PartToken { sums: Some(Sums::default()), ..token.clone() };
        let tag = text.rsplit_once('.').unwrap().0.get(text.len() - 33 - 20..).unwrap();
        let forged = other.to_text(&ring(), object).unwrap();
        let (own, backend) = forged.rsplit_once('.').unwrap();
        let forged = format!("{}{tag}.{backend}", &own[..own.len() - tag.len()]);
        assert_eq!(PartToken::verify(&ring(), &forged, object, 3), Err(TokenFault::Tag));
    }
}
