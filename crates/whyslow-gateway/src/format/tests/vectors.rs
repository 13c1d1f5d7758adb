//! The committed vectors: writing with their secrets gives the same bytes, which open.

use super::super::header::SliceSecrets;
use super::*;
use crate::age::FileKey;
use std::path::PathBuf;
use x25519_dalek::StaticSecret;

pub(super) const TEXTS: [&[u8]; 2] = [b"The first part. ", b"The second part."];

pub(super) fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors")).join(name)
}

/// Bytes that count from `first`, in place of random ones.
pub(super) fn secrets(first: u8) -> SliceSecrets {
    let bytes = |offset: u8| std::array::from_fn::<u8, 32, _>(|index| first + offset + index as u8);
    SliceSecrets {
        key: FileKey::take(&mut bytes(0)[..16].try_into().unwrap()),
        ephemeral: StaticSecret::from(bytes(16)),
        nonce: bytes(48)[..16].try_into().unwrap(),
    }
}

pub(super) fn object(kind: Kind) -> Object {
    let id = ObjectId::from_bytes(std::array::from_fn(|index| 0xa0 + index as u8));
    Object { epoch: epoch(1).id(), id, kind }
}

pub(super) fn slice(role: Role, text: &[u8], first: u8) -> (Vec<u8>, SliceTag) {
    let object = object(if role == Role::Object { Kind::Single } else { Kind::Multipart });
    let mut out = Vec::new();
    let mut writer = SliceWriter::with(&ring(), object, (role, text.len() as u64), secrets(first), &mut out).unwrap();
    writer.write(text, &mut out).unwrap();
    let tag = writer.finish(&mut out).unwrap();
    (out, tag)
}

/// Name and content of each vector.
fn made() -> Vec<(&'static str, Vec<u8>)> {
    let single = slice(Role::Object, &TEXTS.concat(), 0).0;
    let (mut multipart, mut parts) = (Vec::new(), Vec::new());
    for (number, text) in (1..).zip(TEXTS) {
        let (slice, tag) = slice(Role::Part(number), text, 64 * number as u8);
        let filler = if number == 2 { 8 } else { 0 };
        parts.push(Part { number, length: text.len() as u64, filler, tag });
        multipart.extend_from_slice(&slice);
        multipart.resize(multipart.len() + filler as usize, 0);
    }
    multipart.extend(
        manifest::seal_with(&ring(), object(Kind::Multipart), (&parts, &Checksums::default()), secrets(32)).unwrap(),
    );
    let metadata = |kind| object(kind).to_metadata(&ring(), NAME, &[("Content-Type", "text/plain")]).unwrap() + "\n";
    let upload = UploadToken { object: object(Kind::Multipart), backend: "upload".into() };
    let etag = PartToken { part: parts[0], backend: "0123456789abcdef0123456789abcdef".into(), sums: None };
    let mut summer = Summer::default();
    summer.update(TEXTS[0]);
    let summed = PartToken { sums: Some(summer.finish()), ..etag.clone() };
    let lines = [
        ("epoch", epoch(1).id().to_string()),
        ("recipient", epoch(1).identity().recipient().to_string()),
        ("upload id", upload.to_text(&ring(), NAME).unwrap()),
        ("ETag of part 1", etag.to_text(&ring(), object(Kind::Multipart)).unwrap()),
        ("ETag of part 1 with CRCs", summed.to_text(&ring(), object(Kind::Multipart)).unwrap()),
        ("key, encrypted", NameCipher::new(&epoch(1), NAME.bucket).encrypt(NAME.key).unwrap()),
    ];
    let lines: String = lines.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    vec![
        ("epoch.key", format!("{}\n", &*epoch(1).identity().to_text()).into_bytes()),
        ("single", single),
        ("single.metadata", metadata(Kind::Single).into_bytes()),
        ("multipart", multipart),
        ("multipart.metadata", metadata(Kind::Multipart).into_bytes()),
        ("texts", lines.into_bytes()),
    ]
}

#[test]
fn what_is_written_is_what_was_committed() {
    for (name, bytes) in made() {
        if std::env::var_os("VECTORS").is_some_and(|value| value == "update") {
            std::fs::create_dir_all(path("")).unwrap();
            std::fs::write(path(name), &bytes).unwrap();
        }
        assert_eq!(std::fs::read(path(name)).unwrap(), bytes, "{name}: a change of the format is a new version of it");
    }
}

#[test]
fn the_committed_objects_open() {
    for (kind, name) in [(Kind::Single, "single"), (Kind::Multipart, "multipart")] {
        let metadata = std::fs::read_to_string(path(&format!("{name}.metadata"))).unwrap();
        let object = Object::verify(&ring(), metadata.trim(), NAME, &[("content-type", "text/plain")]).unwrap();
        assert_eq!(object.kind(), kind);
        let bytes = std::fs::read(path(name)).unwrap();
        assert_eq!(read_all(object, &bytes), (TEXTS.concat(), Ok(())));
    }
}
