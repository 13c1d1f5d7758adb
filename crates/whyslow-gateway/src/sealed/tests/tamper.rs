//! A storage that lies: the plaintext that is handed out is a beginning of the right one, and then
//! comes an error.

use super::*;
use crate::store::Plan;

/// Reads all; the plaintext must be a beginning of `bytes`, and the end an error.
async fn must_fail(sealed: &SealedStore, key: &str, bytes: &[u8], what: &str) {
    let came = read_some(sealed, key, bytes, what).await;
    assert!(came.is_err(), "{what}: it opens");
}

/// The result is a beginning of `bytes`; all of it if there is no error.
async fn read_some(sealed: &SealedStore, key: &str, bytes: &[u8], what: &str) -> Result<(), ()> {
    let opened = sealed.get(&name(key), None, &anyhow()).await.map_err(|_| ())?;
    let mut stream = opened.bytes;
    let mut came = Vec::new();
    let ended = loop {
        match stream.next().await {
            Some(Ok(chunk)) => came.extend_from_slice(&chunk),
            Some(Err(_)) => break Err(()),
            None => break Ok(()),
        }
    };
    assert!(bytes.starts_with(&came), "{what}: {} bytes that were not put", came.len());
    assert!(ended.is_err() || bytes.len() == came.len(), "{what}: the end is missing, and nobody says so");
    ended
}

/// With several requests at once, and one after the other.
async fn benches() -> Vec<(Bench, Vec<u8>, Vec<u8>)> {
    let mut all = Vec::new();
    for plan in [None, Some(Plan { part_size: 128 << 10, parallel: 3, ..Plan::default() })] {
        let bench = in_memory(SealedOptions { least_part: 0, ..SealedOptions::default() });
        bench.memory().state().plan = plan;
        let single = pattern(500_000, 1);
        bench.put("single", &single).await;
        let multi = bench.upload("multi", &[(1, 200_000), (2, 200_000), (3, 100)]).await;
        all.push((bench, single, multi));
    }
    all
}

impl Bench {
    /// Changes the stored bytes, reads, and changes them back.
    async fn with(&self, key: &str, bytes: &[u8], what: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let before = self.memory().state().objects[&name(key)].clone();
        change(&mut self.memory().state().objects.get_mut(&name(key)).unwrap().bytes);
        // A gateway that remembers the manifest does not read it again, so it may be changed.
        let _ = read_some(&self.sealed, key, bytes, what).await;
        must_fail(&self.forgetful(), key, bytes, what).await;
        self.memory().state().objects.insert(name(key), before);
        assert!(get(&self.sealed, key, None).await.unwrap() == bytes, "{what}: it is as before");
    }
}

#[tokio::test]
async fn changed_cut_and_swapped_bytes_are_faults() {
    for (bench, single, multi) in benches().await {
        for (key, bytes) in [("single", &single), ("multi", &multi)] {
            let stored = bench.memory().state().objects[&name(key)].bytes.len();
            for place in [0, 30, 150, 270, 300, 65_900, stored / 2, stored - 1] {
                // Bytes after the last slice of plaintext belong to the manifest, or to a locator.
                bench.with(key, bytes, &format!("byte {place} of {key}"), |all| all[place] ^= 1).await;
            }
            for length in [0, 275, 276, 300, 276 + 65_552, stored - 65_552, stored - 1] {
                bench.with(key, bytes, &format!("{key} cut to {length}"), |all| all.truncate(length)).await;
            }
            bench.with(key, bytes, "a byte more", |all| all.push(0)).await;
            bench.with(key, bytes, "a chunk twice", |all| all.copy_within(276..276 + 65_552, 276 + 65_552)).await;
        }
        let part = 276 + 200_000 + 16 * 4;
        bench.with("multi", &multi, "parts swapped", |all| all[..2 * part].rotate_left(part)).await;
        bench.with("multi", &multi, "a part dropped", |all| drop(all.drain(..part))).await;
    }
}

#[tokio::test]
async fn other_objects_names_and_attributes_are_faults() {
    for (bench, single, multi) in benches().await {
        let other = pattern(500_000, 2);
        bench.put("other", &other).await;
        let others = bench.upload("others", &[(1, 200_000), (2, 200_000), (3, 100)]).await;
        assert!(others == multi, "the same plaintext");
        let entry = |key| bench.memory().state().objects[&name(key)].clone();
        let put = |key, entry| bench.memory().state().objects.insert(name(key), entry);
        for (key, from, bytes) in [("single", "other", &single), ("multi", "others", &multi)] {
            let before = entry(key);
            let theirs = entry(from).bytes;
            bench.with(key, bytes, "another object's bytes", |all| *all = theirs).await;
            put(key, entry(from));
            must_fail(&bench.sealed, key, b"", "another object under this name").await;
            let mut changed = before.clone();
            changed.options.content_type = Some("text/html".to_owned());
            put(key, changed);
            must_fail(&bench.sealed, key, b"", "another content type").await;
            let mut changed = before.clone();
            changed.options.metadata.insert("whyslow-content-encoding".to_owned(), "br".to_owned());
            put(key, changed);
            must_fail(&bench.sealed, key, b"", "another encoding").await;
            let mut changed = before.clone();
            changed.options.metadata.remove("id");
            put(key, changed);
            must_fail(&bench.sealed, key, b"", "less metadata").await;
            put(key, before);
        }
        // A part of the same plaintext, from another upload.
        let part = 276 + 200_000 + 16 * 4;
        let stolen = entry("others").bytes;
        bench.with("multi", &multi, "a part from elsewhere", |all| all[..part].copy_from_slice(&stolen[..part])).await;
    }
}

#[tokio::test]
async fn an_older_version_of_a_part_is_a_fault() {
    let bench = in_memory(SealedOptions { least_part: 0, ..SealedOptions::default() });
    let key = name("k");
    let id = bench.sealed.create_upload(&key, &Attributes::default()).await.unwrap();
    let bytes = pattern(100_000, 1);
    bench.sealed.put_part(&key, &id, 1, content(&bytes)).await.unwrap();
    let older = bench.memory().state().uploads.values().next().unwrap().parts[&1].0.clone();
    let tag = bench.sealed.put_part(&key, &id, 1, content(&bytes)).await.unwrap().tag;
    bench.sealed.complete_upload(&key, &id, &[(1, tag)], &anyhow()).await.unwrap();
    bench.with("k", &bytes, "an older version", |all| all[..older.len()].copy_from_slice(&older)).await;
}

/// Not an answer that ends at once.
#[tokio::test]
async fn fault_before_the_first_byte_is_an_error() {
    let bench = in_memory(SealedOptions::default());
    let bytes = pattern(300_000, 1);
    // In the header, in the first chunk, and in the first chunk of a range.
    for (at, range) in [(100, None), (300, None), (70_000, Some(Range::FromTo(65_536, 65_537)))] {
        bench.put("k", &bytes).await;
        bench.memory().state().objects.get_mut(&name("k")).unwrap().bytes[at] ^= 1;
        let error = bench.sealed.get(&name("k"), range, &anyhow()).await.unwrap_err();
        assert!(matches!(error.kind, SealedErrorKind::Fault(_)), "{at}: {error:?}");
        assert_eq!(bench.sealed.memory().in_use(), 0);
    }
    bench.put("empty", b"").await;
    bench.memory().state().objects.get_mut(&name("empty")).unwrap().bytes[280] ^= 1;
    let error = bench.sealed.get(&name("empty"), None, &anyhow()).await.unwrap_err();
    assert!(matches!(error.kind, SealedErrorKind::Fault(_)), "{error:?}");
}
