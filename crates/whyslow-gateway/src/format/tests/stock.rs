//! Stock age, the crate and the program, opens objects and slices.

use super::*;
use proptest::prelude::*;
use std::io::Read;
use std::process::Command;

/// The plaintext by the age crate.
fn by_crate(file: &[u8]) -> Vec<u8> {
    let identity: ::age::x25519::Identity = epoch(1).identity().to_text().parse().unwrap();
    let identities = std::iter::once(&identity as &dyn ::age::Identity);
    let mut text = Vec::new();
    ::age::Decryptor::new(file).unwrap().decrypt(identities).unwrap().read_to_end(&mut text).unwrap();
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_age_crate_opens_every_object(length in prop_oneof![0..500usize, 65_530..65_540usize, 131_070..200_000usize]) {
        let stored = Stored::single(length, 9_000);
        prop_assert!(by_crate(&stored.bytes) == stored.text);
    }

    #[test]
    fn the_age_crate_opens_every_slice(lengths in prop::collection::vec(0..70_000usize, 1..4)) {
        let stored = Stored::multipart(&lengths, 100);
        let layout = stored.layout();
        let texts = layout.slices().iter().map(|slice| {
            let Range { start, end } = slice.stored();
            by_crate(&stored.bytes[start as usize..end as usize])
        });
        prop_assert!(texts.collect::<Vec<_>>().concat() == stored.text);
    }
}

#[test]
fn the_age_program_opens_objects_slices_and_manifests() {
    if !whyslow_testing::tools(&["age"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("epoch.key");
    std::fs::write(&key, epoch(1).identity().to_text().as_bytes()).unwrap();
    let file = folder.path().join("slice");
    let opened = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        let output = Command::new("age").args(["-d", "-i"]).args([&key, &file]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    for length in [0, 1, 65_535, 65_536, 65_537, 300_000] {
        let stored = Stored::single(length, 50_000);
        assert!(opened(&stored.bytes) == stored.text, "{length} B");
    }
    let stored = Stored::multipart(&[70_000, 5, 0], 1_000);
    let layout = stored.layout();
    for slice in layout.slices() {
        let (text, stored_at) = (slice.plain(), slice.stored());
        let slice = opened(&stored.bytes[stored_at.start as usize..stored_at.end as usize]);
        assert!(slice == stored.text[text.start as usize..text.end as usize]);
    }
    let manifest = stored.bytes.len() - manifest::size(3) as usize..stored.bytes.len() - 16;
    assert_eq!(opened(&stored.bytes[manifest]).len(), 3 * 32);
}
