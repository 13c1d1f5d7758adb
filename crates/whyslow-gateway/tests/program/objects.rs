//! Keys, objects and layouts on local files, and what stock age makes of them.

use crate::{Folder, complaint};
use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};

const SINGLE: &str = "\
1,000,000 B of plaintext in 1,000,532 B, 1 slice
   slice  stored from       stored  plaintext from    plaintext
  object            0  1,000,532 B               0  1,000,000 B
";

/// Two slices are filled up to 66 KiB, and so is the last one.
const PARTS: &str = "\
150,000 B of plaintext in 203,156 B, 3 slices
  slice  stored from    stored  plaintext from  plaintext
      1            0  65,828 B               0   65,536 B
      2       67,584  65,828 B          65,536   65,536 B
      3      135,168  19,220 B         131,072   18,928 B
  then 48,768 B: fillers, the manifest, the locator
";

/// An operator's key, and an epoch for it.
struct Keys(Folder);

const NAME: &str = "photos/2026/one.jpg";

impl Keys {
    fn new() -> Self {
        let keys = Self(Folder::new());
        let recipient = keys.operator("operator.key");
        gateway(&["epoch", "-r", &recipient, "-o"]).arg(keys.at("epoch.age")).assert().code(0).stderr("");
        keys
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.0.path().join(name)
    }

    /// Makes an operator's key; its recipient.
    fn operator(&self, name: &str) -> String {
        let output = stdout(gateway(&["keygen", "-o"]).arg(self.at(name)));
        output.trim().to_owned()
    }

    /// With the keys, and the object's name.
    fn with(&self, command: &str, file: &str) -> Command {
        let mut command = gateway(&[command]);
        let identity = format!("file:{}", self.at("operator.key").display());
        command.arg(self.at(file)).arg("--epoch").arg(self.at("epoch.age")).args(["-i", &identity, "--name", NAME]);
        command
    }

    /// Seals a file of `length` bytes as `object`; its metadata.
    fn seal(&self, length: usize, more: &[&str]) -> String {
        self.0.put("file", &bytes(length));
        stdout(self.with("seal", "file").args(more).arg("-o").arg(self.at("object"))).trim().to_owned()
    }

    fn open(&self, metadata: &str) -> Command {
        let mut command = self.with("open", "object");
        command.args(["--metadata", metadata]);
        command
    }
}

fn gateway(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("whyslow-gateway").unwrap();
    command.env_remove("COLUMNS").args(args);
    command
}

fn stdout(command: &mut Command) -> String {
    let output = command.assert().code(0).stderr("").get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

#[test]
fn a_file_comes_back_as_it_was() {
    let keys = Keys::new();
    for (length, more) in [(0, &[][..]), (200_000, &[]), (200_000, &["--part-size", "64KiB", "--least", "70KiB"])] {
        let metadata = keys.seal(length, more);
        keys.open(&metadata).assert().code(0).stderr("").stdout(bytes(length));
        keys.open(&metadata).arg("-o").arg(keys.at("again")).assert().code(0).stdout("").stderr("");
        assert!(fs::read(keys.at("again")).unwrap() == bytes(length));
    }
    // A range ends with the object.
    let metadata = keys.seal(200_000, &["--part-size", "64KiB"]);
    let all = bytes(200_000);
    keys.open(&metadata).args(["--range", "65530-65540"]).assert().code(0).stdout(all[65_530..=65_540].to_vec());
    keys.open(&metadata).args(["--range", "199999-999999"]).assert().code(0).stdout(all[199_999..].to_vec());
    let outside = complaint(keys.open(&metadata).args(["--range", "200000-200001"]));
    assert!(outside.contains("it has 200000 B, and the range begins at byte 200000"), "{outside}");
}

#[test]
fn the_layout_of_an_object_and_of_parts() {
    let keys = Keys::new();
    let layout = |metadata: &str| {
        let text = stdout(keys.with("layout", "object").args(["--metadata", metadata]));
        // Ids are random.
        let (title, rest) = text.split_once(": ").unwrap();
        assert!(title.starts_with("object ") && title.contains(", epoch "));
        rest.to_owned()
    };
    assert_eq!(layout(&keys.seal(1_000_000, &[])), SINGLE);
    assert_eq!(layout(&keys.seal(150_000, &["--part-size", "64KiB", "--least", "66KiB"])), PARTS);
}

#[test]
fn rekey_hands_the_epoch_to_another_operator() {
    let keys = Keys::new();
    let metadata = keys.seal(10, &[]);
    let recipient = keys.operator("other.key");
    let with = |name: &str| format!("file:{}", keys.at(name).display());
    let mut rekey = gateway(&["rekey", "-i", &with("operator.key"), "-r", &recipient]);
    rekey.arg(keys.at("epoch.age")).arg("-o").arg(keys.at("new.age")).assert().code(0).stderr("");
    let open = |identity: &str| {
        let mut open = gateway(&["open", "-i", &with(identity), "--name", NAME, "--metadata", &metadata]);
        open.arg(keys.at("object")).arg("--epoch").arg(keys.at("new.age"));
        open
    };
    open("other.key").assert().code(0).stdout(bytes(10));
    let refused = complaint(&mut open("operator.key"));
    assert!(refused.contains("new.age: the file is sealed to none of these identities"), "{refused}");
}

#[cfg(unix)]
#[test]
fn keys_are_for_their_owner_and_never_written_over() {
    use std::os::unix::fs::PermissionsExt;
    let keys = Keys::new();
    for name in ["operator.key", "epoch.age"] {
        let before = fs::read(keys.at(name)).unwrap();
        assert_eq!(fs::metadata(keys.at(name)).unwrap().permissions().mode() & 0o777, 0o600);
        let recipient = keys.operator(&format!("for-{name}"));
        for command in [&["keygen"][..], &["epoch", "-r", &recipient]] {
            let refused = complaint(gateway(command).arg("-o").arg(keys.at(name)));
            assert!(refused.contains(name) && refused.contains("exists"), "{refused}");
        }
        assert_eq!(fs::read(keys.at(name)).unwrap(), before);
    }
}

#[test]
fn a_secret_comes_from_a_program_or_the_environment_and_is_never_repeated() {
    let keys = Keys::new();
    let metadata = keys.seal(10, &[]);
    let secret = fs::read_to_string(keys.at("operator.key")).unwrap();
    let open = |source: &str| {
        let mut open = gateway(&["open", "-i", source, "--name", NAME, "--metadata", &metadata]);
        open.arg(keys.at("object")).arg("--epoch").arg(keys.at("epoch.age"));
        open
    };
    open("env:OPERATOR").env("OPERATOR", &secret).assert().code(0).stdout(bytes(10));
    let command = format!("command:cat '{}'", keys.at("operator.key").display());
    open(&command).assert().code(0).stdout(bytes(10));
    let line = secret.lines().last().unwrap();
    let refused = complaint(&mut open(line));
    assert!(refused.contains("--identity: a secret comes from file:PATH") && !refused.contains(&line[20..]));
    assert!(complaint(&mut open("env:NOT_SET_HERE")).contains("NOT_SET_HERE is not set"));
    assert!(complaint(&mut open("command:exit 4")).contains("failed: exit status: 4"));
}

#[test]
fn an_object_under_another_name_or_changed_is_refused() {
    let keys = Keys::new();
    let metadata = keys.seal(200_000, &["--bind", "Content-Type=image/jpeg"]);
    let unbound = complaint(&mut keys.open(&metadata));
    assert!(unbound.contains("--metadata with this --name and --bind: the object's metadata was changed"), "{unbound}");
    let with = |metadata: &str| {
        let mut open = keys.open(metadata);
        open.args(["--bind", "content-type=image/jpeg"]);
        open
    };
    assert!(complaint(&mut with("x")).contains("not of this format"));
    let mut object = fs::read(keys.at("object")).unwrap();
    object[276 + 65_552 + 7] ^= 1;
    fs::write(keys.at("object"), &object).unwrap();
    // Verified bytes before the fault go to stdout, and no file is left.
    let output = with(&metadata).assert().code(2).get_output().clone();
    assert_eq!(output.stdout, bytes(65_536));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("at byte 65828 of the stored object: the chunk was changed, moved or cut"), "{said}");
    with(&metadata).arg("-o").arg(keys.at("none")).assert().code(2).stdout("");
    assert!(!keys.at("none").exists());
    // Whole again, and cut.
    fs::write(keys.at("object"), &object[..1_000]).unwrap();
    let cut = complaint(&mut with(&metadata));
    assert!(cut.contains("belongs elsewhere"), "{cut}");
}

#[test]
fn what_cannot_be_sealed_is_said() {
    let keys = Keys::new();
    keys.0.put("file", &bytes(100_000));
    let seal = |file: &Path, more: &[&str]| {
        let mut seal = keys.with("seal", "file");
        seal.args(more).arg("-o").arg(file);
        complaint(&mut seal)
    };
    for read in ["file", "epoch.age", "operator.key"] {
        let before = fs::read(keys.at(read)).unwrap();
        assert!(seal(&keys.at(read), &[]).contains("is read and cannot be written to as well"), "{read}");
        assert!(fs::read(keys.at(read)).unwrap() == before);
    }
    let many = seal(&keys.at("object"), &["--part-size", "9B"]);
    assert!(many.contains("11112 parts of 9 B: an object has 10000 at most: make them larger"), "{many}");
    assert!(!keys.at("object").exists());
    let folder = complaint(keys.with("seal", ".").arg("-o").arg(keys.at("object")));
    assert!(folder.contains("no regular file"), "{folder}");
    for odd in [&["--name", "bucket"][..], &["--bind", "x"], &["--least", "5MiB"], &["--part-size", "5"]] {
        let mut seal = keys.with("seal", "file");
        let complaint = complaint(seal.args(odd).arg("-o").arg(keys.at("object")));
        assert!(complaint.starts_with("error: "), "{odd:?}: {complaint}");
    }
}

#[test]
fn stock_age_opens_what_was_sealed() {
    if !whyslow_testing::tools(&["age"]) {
        return;
    }
    let keys = Keys::new();
    keys.seal(200_000, &[]);
    let age = |identity: &str, file: &str| {
        let mut age = std::process::Command::new("age");
        let output = age.args(["-d", "-i"]).arg(keys.at(identity)).arg(keys.at(file)).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    keys.0.put("epoch.key", &age("operator.key", "epoch.age"));
    assert!(age("epoch.key", "object") == bytes(200_000));
}
