//! `vectors/vectors.json`, for independent readers, and one such reader: `vectors/reader.py`. It
//! follows docs/gateway/format.md, and shares no code with this crate.

use super::vectors::{TEXTS, object, path, secrets, slice};
use super::*;
use crate::age::CHUNK;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use whyslow_testing::{Lack, rare_tools, skip};

const TYPE: (&str, &str) = ("content-type", "text/plain");

/// Checksums of the plaintext of each whole object, as they are stored with it.
fn sums() -> Checksums {
    let mut sums = Checksums::default();
    let mut summer = Summer::default();
    TEXTS.iter().for_each(|text| summer.update(text));
    sums.add(Algorithm::Crc32, &summer.finish().crc32.to_be_bytes());
    sums.add(Algorithm::Sha256, ring::digest::digest(&ring::digest::SHA256, &TEXTS.concat()).as_ref());
    sums
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An object, and the request for it.
struct TestVector {
    name: String,
    key: String,
    kind: Kind,
    metadata: String,
    attributes: BTreeMap<String, String>,
    stored: Vec<u8>,
}

impl TestVector {
    fn new(name: &str, object: Object, stored: Vec<u8>) -> Self {
        let metadata = object.to_metadata(&ring(), NAME, &[TYPE]).unwrap();
        let attributes = BTreeMap::from([TYPE].map(|(name, value)| (name.to_owned(), value.to_owned())));
        let (name, key, kind) = (name.to_owned(), NAME.key.to_owned(), object.kind());
        Self { name, key, kind, metadata, attributes, stored }
    }

    /// The result of this crate: the plaintext and its checksums; `None` if there is a fault.
    fn open(&self) -> Option<(Vec<u8>, Checksums)> {
        let name = Name { bucket: NAME.bucket, key: &self.key };
        let attributes: Vec<_> = self.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let object = Object::verify(&ring(), &self.metadata, name, &attributes).ok()?;
        let (text, end) = read_all(object, &self.stored);
        end.ok()?;
        Some((text, self.checksums(object)?))
    }

    /// Adds this attribute.
    fn with(mut self, (field, value): (&str, &str)) -> Self {
        self.attributes.insert(field.to_owned(), value.to_owned());
        let bound: Vec<_> = self.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.metadata = object(self.kind).to_metadata(&ring(), NAME, &bound).unwrap();
        self
    }

    /// The checksums as this crate reads them.
    fn checksums(&self, object: Object) -> Option<Checksums> {
        let of_attribute = |text: &String| Checksums::from_attribute(&ring(), object, text);
        if self.kind == Kind::Single {
            return self.attributes.get("checksums").map_or_else(|| Some(Checksums::default()), of_attribute);
        }
        let length = self.stored.len();
        match manifest::read_tail(&ring(), object, length as u64, &self.stored).ok()? {
            Tail::Layout(layout) => Some(layout.checksums().clone()),
            Tail::Longer(_) => None,
        }
    }

    fn value(&self) -> Value {
        let mut value = json!({
            "name": self.name, "key": self.key, "metadata": self.metadata, "attributes": self.attributes,
            "stored": hex(&self.stored),
        });
        if let Some((plain, sums)) = self.open() {
            value["plain"] = hex(&plain).into();
            let named = [(Algorithm::Crc32, "crc32"), (Algorithm::Sha256, "sha256")];
            let found = named.iter().filter_map(|(one, name)| Some((*name, hex(sums.get(*one)?))));
            value["checksums"] = serde_json::to_value(found.collect::<BTreeMap<_, _>>()).unwrap();
        }
        value
    }
}

/// An object of these slices in this order, with the manifest of these parts.
fn of_parts(slices: &[&[u8]], parts: &[Part]) -> Vec<u8> {
    with_sums(slices, parts, &Checksums::default())
}

/// The same, with checksums in the last filler.
fn with_sums(slices: &[&[u8]], parts: &[Part], sums: &Checksums) -> Vec<u8> {
    let end = manifest::seal_with(&ring(), object(Kind::Multipart), (parts, sums), secrets(32)).unwrap();
    [slices.concat(), end].concat()
}

fn whole() -> Vec<TestVector> {
    let single = slice(Role::Object, &TEXTS.concat(), 0).0;
    let (first, first_tag) = slice(Role::Part(1), TEXTS[0], 64);
    let (second, second_tag) = slice(Role::Part(7), TEXTS[1], 128);
    let filled = [&second[..], &[0; 8]].concat();
    let part = |number, length: usize, filler, tag| Part { number, length: length as u64, filler, tag };
    let parts = [part(1, TEXTS[0].len(), 0, first_tag), part(7, TEXTS[1].len(), 8, second_tag)];
    vec![
        TestVector::new("one slice", object(Kind::Single), single),
        TestVector::new("an empty object", object(Kind::Single), slice(Role::Object, b"", 0).0),
        TestVector::new(
            "parts 1 and 7, the second with a filler",
            object(Kind::Multipart),
            of_parts(&[&first, &filled], &parts),
        ),
    ]
}

/// With checksums of the plaintext, two of them changed.
fn summed() -> Vec<TestVector> {
    let sums = sums();
    let attribute = sums.to_attribute(&ring(), object(Kind::Single)).unwrap();
    let single = slice(Role::Object, &TEXTS.concat(), 0).0;
    let (first, first_tag) = slice(Role::Part(1), TEXTS[0], 64);
    let (second, second_tag) = slice(Role::Part(7), TEXTS[1], 128);
    let filled = [&second[..], &[0; 8]].concat();
    let part = |number, length: usize, filler, tag| Part { number, length: length as u64, filler, tag };
    let filler = 8 + sums.in_filler();
    let parts = [part(1, TEXTS[0].len(), 0, first_tag), part(7, TEXTS[1].len(), filler, second_tag)];
    let many = with_sums(&[&first, &filled], &parts, &sums);
    let mut changed = many.clone();
    changed[first.len() + filled.len()] ^= 1;
    let turned: String = attribute.chars().rev().collect();
    let one = |name, text: &str| TestVector::new(name, object(Kind::Single), single.clone()).with(("checksums", text));
    let of_parts = |name, stored| TestVector::new(name, object(Kind::Multipart), stored);
    vec![
        one("one slice, with checksums", &attribute),
        of_parts("parts, with checksums in the last filler", many),
        one("checksums that the key does not open", &turned),
        of_parts("a bit of the checksums is another one", changed),
    ]
}

/// Objects that a storage may return instead: no reader may hand out a byte of them.
fn faulty() -> Vec<TestVector> {
    let [one, _, many] = <[TestVector; 3]>::try_from(whole()).ok().unwrap();
    let changed = |case: &TestVector, name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut stored = case.stored.clone();
        change(&mut stored);
        let (key, metadata, attributes) = (case.key.clone(), case.metadata.clone(), case.attributes.clone());
        TestVector { name: name.to_owned(), key, kind: case.kind, metadata, attributes, stored }
    };
    let flip = |at: usize| move |stored: &mut Vec<u8>| stored[at] ^= 1;
    let same = |_: &mut Vec<u8>| {};
    let end = one.stored.len();
    let (first, first_tag) = slice(Role::Part(1), TEXTS[0], 64);
    let (second, second_tag) = slice(Role::Part(2), TEXTS[0], 128);
    let older = slice(Role::Part(2), TEXTS[1], 160).0;
    let part = |number, tag| Part { number, length: TEXTS[0].len() as u64, filler: 0, tag };
    let parts = [part(1, first_tag), part(2, second_tag)];
    let mut cases = vec![
        changed(&one, "a bit of the stanza is another one", &flip(150)),
        changed(&one, "a bit of the nonce is another one", &flip(262)),
        changed(&one, "a bit of the first chunk is another one", &flip(280)),
        changed(&one, "the last byte is missing", &|stored| stored.truncate(end - 1)),
        changed(&one, "a byte follows", &|stored| stored.push(0)),
        changed(&many, "the locator points elsewhere", &|stored| *stored.last_mut().unwrap() += 1),
        changed(&many, "the manifest is missing", &|stored| stored.truncate(first.len())),
    ];
    for (name, slices) in [
        ("the parts are swapped", [&second, &first]),
        ("a part is there twice", [&first, &first]),
        ("an older version of a part", [&first, &older]),
    ] {
        let slices = slices.map(|slice| &slice[..]);
        cases.push(TestVector::new(name, object(Kind::Multipart), of_parts(&slices, &parts)));
    }
    let alone = of_parts(&[&second], &[part(2, second_tag)]);
    cases.push(TestVector::new("a part is given for an object", object(Kind::Single), alone[..second.len()].to_vec()));
    cases.push(TestVector { key: "folder/other".to_owned(), ..changed(&one, "another name", &same) });
    let other_type = BTreeMap::from([("content-type".to_owned(), "text/html".to_owned())]);
    cases.push(TestVector { attributes: other_type, ..changed(&one, "another content type", &same) });
    cases.push(TestVector { metadata: many.metadata.clone(), ..changed(&one, "metadata of the other kind", &same) });
    cases.push(forged(&one));
    cases
}

/// Made by an adversary with the epoch's recipient, and with the metadata of an object of the same
/// id.
fn forged(one: &TestVector) -> TestVector {
    let forger = Keyring::new(epoch(1).with_secrets_of(&epoch(2)), []);
    let (role, mut stored) = (Role::Object, Vec::new());
    let place = (role, TEXTS[0].len() as u64);
    let mut writer = SliceWriter::with(&forger, object(Kind::Single), place, secrets(0), &mut stored).unwrap();
    writer.write(TEXTS[0], &mut stored).unwrap();
    writer.finish(&mut stored).unwrap();
    let name = "made with the recipient alone".to_owned();
    let (key, metadata, attributes) = (one.key.clone(), one.metadata.clone(), one.attributes.clone());
    TestVector { name, key, kind: one.kind, metadata, attributes, stored }
}

fn document(cases: &[TestVector]) -> Value {
    let keys = ["folder/file", "a//ü", "/"];
    let names = keys
        .map(|key| json!({ "plain": key, "stored": NameCipher::new(&epoch(1), NAME.bucket).encrypt(key).unwrap() }));
    let object = object(Kind::Multipart);
    let upload = UploadToken { object, backend: "upload.7".into() }.to_text(&ring(), NAME).unwrap();
    let tag = slice(Role::Part(1), TEXTS[0], 64).1;
    let part = Part { number: 1, length: TEXTS[0].len() as u64, filler: 0, tag };
    let mut summer = Summer::default();
    summer.update(TEXTS[0]);
    let sums = summer.finish();
    let etags = [None, Some(sums)].map(|sums| {
        let token = PartToken { part, backend: "0123456789abcdef0123456789abcdef".into(), sums };
        json!({
            "object": hex(object.id().bytes()), "part": 1, "length": part.length, "storage": token.backend,
            "crcs": sums.map_or_else(String::new, |sums| hex(&sums.to_bytes())),
            "text": token.to_text(&ring(), object).unwrap(),
        })
    });
    json!({
        "format": 1,
        "secret": hex(&[1; 32]),
        "identity": epoch(1).identity().to_text().to_string(),
        "recipient": epoch(1).identity().recipient().to_string(),
        "epoch": epoch(1).id().to_string(),
        "bucket": NAME.bucket,
        "objects": cases.iter().map(TestVector::value).collect::<Vec<_>>(),
        "names": names,
        "upload_ids": [{ "key": NAME.key, "storage": "upload.7", "text": upload }],
        "part_etags": etags,
    })
}

#[test]
fn the_documents_vectors_are_those_of_this_code() {
    let whole = whole();
    assert!(whole.iter().all(|case| case.open().is_some()));
    let faulty = faulty();
    for case in &faulty {
        assert_eq!(case.open(), None, "{}", case.name);
    }
    let summed = summed();
    let found: Vec<_> = summed.iter().map(|case| case.open().map(|(_, sums)| sums)).collect();
    assert_eq!(found, [Some(sums()), Some(sums()), None, None]);
    let all: Vec<_> = whole.into_iter().chain(faulty).chain(summed).collect();
    let text = serde_json::to_string_pretty(&document(&all)).unwrap() + "\n";
    if std::env::var_os("VECTORS").is_some_and(|value| value == "update") {
        std::fs::write(path("vectors.json"), &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path("vectors.json")).unwrap(), text, "another format is another version");
}

/// Whether the reader of the vectors can run.
fn reader() -> Option<Command> {
    if !rare_tools(&["python3"]) {
        return None;
    }
    let found = Command::new("python3").args(["-c", "import cryptography"]).output().unwrap();
    if !found.status.success() {
        skip(Lack::Program, "the package cryptography is not installed");
        return None;
    }
    let mut command = Command::new("python3");
    command.arg(path("reader.py"));
    Some(command)
}

fn read_by_the_other(document: &Path) {
    let Some(mut reader) = reader() else { return };
    let output = reader.arg(document).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn another_reader_reads_the_vectors() {
    read_by_the_other(&path("vectors.json"));
}

/// At the limits of chunks, and with all random parts.
#[test]
fn another_reader_reads_other_objects() {
    let singles = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK].map(|length| Stored::single(length, 10_000));
    let multiparts = [
        (&[0][..], 0),
        (&[CHUNK + 1, 0, 5], 0),
        (&[5, CHUNK, 7], 70_000),
        // Its manifest has two chunks.
        (&[1; 2049], 0),
    ]
    .map(|(lengths, least)| Stored::multipart(lengths, least));
    let mut cases = Vec::new();
    for stored in singles.into_iter().chain(multiparts) {
        let name = format!("{:?} of {} B", stored.object.kind(), stored.text.len());
        cases.push(TestVector::new(&name, stored.object, stored.bytes));
        assert_eq!(cases.last().unwrap().open(), Some((stored.text, Checksums::default())));
        let mut cut = TestVector::new(&format!("{name}, changed"), stored.object, cases.last().unwrap().stored.clone());
        let last = cut.stored.len() - 17;
        cut.stored[last] ^= 1;
        cases.push(cut);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("objects.json");
    std::fs::write(&file, serde_json::to_string(&document(&cases)).unwrap()).unwrap();
    read_by_the_other(&file);
}
