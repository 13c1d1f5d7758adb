//! No output of any command replaces an input, whatever name leads to it.

use crate::{Folder, common, complaint, whyslow};
use output_options::{OUTPUTS, Run, Way};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

#[path = "../../common/output_options.rs"]
#[expect(dead_code, reason = "the inputs are for the test that none is missing")]
mod output_options;

/// How a name leads to the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Same,
    Hard,
    Soft,
}

/// A folder in which an output is the input.
struct Scene {
    folder: Folder,
    place: PathBuf,
    input: PathBuf,
    bytes: Vec<u8>,
}

impl Scene {
    fn new(run: &Run, name: Name) -> Self {
        let folder = Folder::new();
        let at = |name: &str| folder.0.path().join(name);
        let bytes = match run.arguments.starts_with("lab ") {
            true => b"name = \"own\"\n[[case]]\nname = \"base\"\n".to_vec(),
            false => fs::read(common::sample("loss-server")).unwrap(),
        };
        let place = at(run.place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let input = at("in");
        match (run.way, name) {
            (_, Name::Same) => fs::write(&place, &bytes).unwrap(),
            // A link leads into the folder, and not out of it.
            (Way::Folder, _) => {
                fs::write(&place, &bytes).unwrap();
                symlink(&place, &input).unwrap();
            }
            (_, Name::Hard | Name::Soft) => {
                fs::write(&input, &bytes).unwrap();
                let linked = if name == Name::Hard { fs::hard_link(&input, &place) } else { symlink(&input, &place) };
                linked.unwrap();
            }
        }
        let input = if name == Name::Same { place.clone() } else { input };
        Self { folder, place, input, bytes }
    }

    fn arguments(&self, line: &str) -> Vec<String> {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let values = [
            ("{in}", text(&self.input)),
            ("{place}", text(&self.place)),
            ("{dir}", text(self.folder.0.path())),
            ("{other}", text(&common::sample("loss-client"))),
        ];
        let fill = |word: &str| values.iter().fold(word.to_owned(), |word, (name, value)| word.replace(name, value));
        line.split_whitespace().map(fill).collect()
    }
}

#[test]
fn an_output_that_is_an_input_is_refused_for_every_option() {
    for (command, option, runs) in OUTPUTS {
        for run in *runs {
            for name in [Name::Same, Name::Hard, Name::Soft] {
                if run.way == Way::Linked && name == Name::Same || run.way == Way::Folder && name == Name::Hard {
                    continue;
                }
                let scene = Scene::new(run, name);
                let before = fs::symlink_metadata(&scene.place).unwrap().ino();
                let arguments = scene.arguments(run.arguments);
                let message = complaint(whyslow().args(&arguments));
                let is_named =
                    ["name another", "File exists", "is there already"].iter().any(|why| message.contains(why));
                assert!(is_named, "{command} --{option}, {name:?}: {arguments:?}: {message}");
                assert_eq!(fs::read(&scene.input).unwrap(), scene.bytes, "{command} --{option}, {name:?}");
                assert_eq!(fs::symlink_metadata(&scene.place).unwrap().ino(), before, "{command} --{option}, {name:?}");
            }
        }
    }
}

#[test]
fn a_watch_of_standard_input_does_not_keep_packets_in_it() {
    let folder = Folder::new();
    let path = folder.put("a.pcap", &fs::read(common::sample("loss-server")).unwrap());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(["watch", "-", "--keep"]).arg(&path).stdin(File::open(&path).unwrap()).stderr(Stdio::piped());
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2), "{message}");
    assert!(message.contains("is the input -: name another file"), "{message}");
    assert_eq!(fs::read(&path).unwrap(), fs::read(common::sample("loss-server")).unwrap());
}

#[test]
fn two_outputs_of_one_command_have_two_names() {
    let folder = Folder::new();
    let out = folder.0.path().join("out");
    let mut probe = whyslow();
    probe.args(["probe", "http://127.0.0.1:1/", "--capture"]).arg(&out).arg("--report").arg(&out);
    let message = complaint(&mut probe);
    assert!(
        message.contains("another output of this command has this name") || message.contains("without the page"),
        "{message}"
    );
    assert!(!out.exists());
}
