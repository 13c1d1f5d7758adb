//! No output of any command replaces an input, whatever name leads to it.

use crate::{Folder, complaint};
use assert_cmd::Command;
use output_options::OUTPUTS;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

#[path = "../common/output_options.rs"]
#[expect(dead_code, reason = "the inputs are for the test that none is missing")]
mod output_options;

fn gateway() -> Command {
    Command::cargo_bin("whyslow-gateway").unwrap()
}

/// An operator's key, and an epoch for it.
struct Keys {
    _folder: Folder,
    key: PathBuf,
    epoch: PathBuf,
    recipient: String,
}

impl Keys {
    fn new() -> Self {
        let folder = Folder::new();
        let [key, epoch] = ["key", "epoch"].map(|name| folder.0.path().join(name));
        let made = gateway().args(["keygen", "-o"]).arg(&key).assert().code(0).get_output().stdout.clone();
        let recipient = String::from_utf8(made).unwrap().trim().to_owned();
        gateway().args(["epoch", "-r", &recipient, "-o"]).arg(&epoch).assert().code(0);
        Self { _folder: folder, key, epoch, recipient }
    }
}

#[test]
fn an_output_that_is_an_input_is_refused_for_every_option() {
    let keys = Keys::new();
    for (command, option, place, line) in OUTPUTS {
        // By the same name, a hard link and a symbolic link.
        for name in 0..3 {
            let folder = Folder::new();
            let place = folder.0.path().join(place);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            let input = if name == 0 { place.clone() } else { folder.0.path().join("in") };
            fs::write(&input, b"a file of its own").unwrap();
            match name {
                0 => {}
                1 => fs::hard_link(&input, &place).unwrap(),
                _ => symlink(&input, &place).unwrap(),
            }
            let before = fs::symlink_metadata(&place).unwrap().ino();
            let text = |path: &Path| path.to_str().unwrap().to_owned();
            let values = [
                ("{in}", text(&input)),
                ("{place}", text(&place)),
                ("{dir}", text(folder.0.path())),
                ("{epoch}", text(&keys.epoch)),
                ("{key}", text(&keys.key)),
                ("{recipient}", keys.recipient.clone()),
            ];
            let fill = |word: &str| values.iter().fold(word.to_owned(), |word, (of, value)| word.replace(of, value));
            let said = complaint(gateway().args(line.split_whitespace().map(fill)));
            let is_named = ["name another", "File exists", "already exists"].iter().any(|why| said.contains(why));
            assert!(is_named, "{command} --{option}, {name}: {said}");
            assert_eq!(fs::read(&input).unwrap(), b"a file of its own", "{command} --{option}, {name}");
            assert_eq!(fs::symlink_metadata(&place).unwrap().ino(), before, "{command} --{option}, {name}");
        }
    }
}

#[test]
fn it_does_not_log_into_what_it_reads() {
    let (keys, folder) = (Keys::new(), Folder::new());
    let settings = folder.put("gateway.toml", b"");
    for read in [&keys.epoch, &settings] {
        let before = fs::read(read).unwrap();
        let mut serve = gateway();
        serve.args(["serve", "--store", "file:store", "--identity"]).arg(format!("file:{}", keys.key.display()));
        serve.current_dir(folder.0.path()).arg("--epoch").arg(&keys.epoch).arg("--config").arg(&settings);
        let said = complaint(serve.arg("--log").arg(read));
        assert!(said.contains("--log ") && said.contains("name another file"), "{said}");
        assert_eq!(fs::read(read).unwrap(), before);
    }
}
