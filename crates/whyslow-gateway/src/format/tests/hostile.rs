//! Hostile bytes do not cause a panic, much time, or wrong plaintext.

use super::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_bytes_are_no_object(bytes in prop::collection::vec(any::<u8>(), 0..700), multipart: bool) {
        let kind = if multipart { Kind::Multipart } else { Kind::Single };
        let object = Object::new(&epoch(1), kind).unwrap();
        let (out, end) = read_all(object, &bytes);
        prop_assert!(out.is_empty() && end.is_err());
    }

    #[test]
    fn an_object_with_bytes_cut_out_and_put_in(
        at in 0..900usize, cut in 0..40usize, put in prop::collection::vec(any::<u8>(), 0..40), multipart: bool,
    ) {
        let stored = if multipart { Stored::multipart(&[30, 20], 0) } else { Stored::single(70, 70) };
        let at = at.min(stored.bytes.len());
        let end = (at + cut).min(stored.bytes.len());
        let changed = [&stored.bytes[..at], &put, &stored.bytes[end..]].concat();
        let (out, end) = read_all(stored.object, &changed);
        prop_assert!(stored.text.starts_with(&out));
        prop_assert_eq!(end.is_ok(), changed == stored.bytes);
    }

    #[test]
    fn arbitrary_text_is_no_metadata_token_or_name(text in ".{0,200}", number: u32) {
        let object = Object::new(&epoch(1), Kind::Multipart).unwrap();
        prop_assert!(Object::verify(&ring(), &text, NAME, &[]).is_err());
        prop_assert!(UploadToken::verify(&ring(), &text, NAME).is_err());
        let (upload, part) = (format!("w1u-{text}"), format!("w1p-{text}"));
        prop_assert!(UploadToken::verify(&ring(), &upload, NAME).is_err());
        prop_assert!(PartToken::verify(&ring(), &part, object, number).is_err());
    }
}

#[test]
fn a_locator_that_lies() {
    let stored = Stored::multipart(&[30, 20], 0);
    let length = stored.bytes.len();
    for lie in [0u64, 1, 15, 16, 291, 292, 1_000, 400_000, u64::MAX - 20, u64::MAX] {
        let mut changed = stored.bytes.clone();
        changed[length - 8..].copy_from_slice(&lie.to_be_bytes());
        assert!(read_all(stored.object, &changed).1.is_err(), "{lie}");
    }
    // A gateway reads no more than the longest manifest.
    let longest = manifest::size(manifest::MAX_PARTS);
    for (length, is_longer) in [(longest - 16, true), (longest - 15, false), (5_000_000, false)] {
        let mut tail = vec![0; 100];
        tail[84..92].copy_from_slice(b"whyslow/");
        tail[92..].copy_from_slice(&u64::to_be_bytes(length));
        let read = manifest::read_tail(&ring(), stored.object, 10_000_000, &tail);
        // Checksums may stand in front of it.
        let before = manifest::tail_size(1) - manifest::size(1);
        let longer = Ok(Tail::Longer(10_000_000 - 16 - length - before..10_000_000));
        let expected = if is_longer { longer } else { Err(Problem::Locator.at(10_000_000 - 16)) };
        assert_eq!(read, expected);
    }
    // More bytes than the object has.
    let fault = manifest::read_tail(&ring(), stored.object, 10, &stored.bytes).unwrap_err();
    assert_eq!(fault.problem, Problem::Surplus);
}

#[test]
fn a_manifest_by_a_gateway_that_contradicts_itself() {
    // Made with the keys, so that only a faulty gateway could have made it.
    let object = Object::new(&epoch(1), Kind::Multipart).unwrap();
    let tag = seal(&ring(), object, Role::Part(1), b"", 1).1;
    let entry =
        |number: u32, length: u64| [&number.to_be_bytes()[..], &[0; 4], &length.to_be_bytes(), tag.bytes()].concat();
    let entries = [
        vec![entry(0, 0)],
        vec![entry(1, u64::MAX)],
        vec![entry(1, MAX_LENGTH), entry(2, MAX_LENGTH)],
        vec![entry(10_001, 0)],
        vec![entry(2, 0), entry(1, 0)],
        vec![entry(1, 0), entry(1, 0)],
    ];
    for entries in entries {
        let role = Role::Manifest(entries.len() as u32);
        // As long as the parts would be, if they were empty.
        let parts = vec![0; entries.len() * sealed_size(0).unwrap() as usize];
        let (mut slice, _) = seal(&ring(), object, role, &entries.concat(), 9_999);
        let length = slice.len() as u64;
        slice.extend_from_slice(b"whyslow/");
        slice.extend_from_slice(&length.to_be_bytes());
        let stored = [parts, slice].concat();
        assert_eq!(layout(object, &stored).unwrap_err().problem, Problem::Manifest);
    }
}
