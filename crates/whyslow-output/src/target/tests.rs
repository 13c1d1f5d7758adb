#![allow(clippy::unwrap_used)]

use super::*;
use std::fs;
use std::path::PathBuf;
use tempfile::{TempDir, tempdir};

fn none() -> Sources {
    Sources::default()
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A target that has a temporary name from the start, as on a file system without nameless files.
fn with_a_name(path: &Path) -> Target {
    let place = Place::find(path).unwrap();
    let (file, temporary) = Temporary::create_named(&place).unwrap();
    let replaced = place.replaced();
    let adjacent = Adjacent { file, temporary, place, replaced };
    Target::over(path.display().to_string(), Sink::Adjacent(Box::new(adjacent)), Claimed::default())
}

#[test]
fn what_is_not_finished_leaves_what_was_there_and_nothing_else() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("out.csv");
    for open in [|path: &Path| Target::open(Some(path), &none()).unwrap(), with_a_name] {
        fs::write(&path, "old").unwrap();
        let mut target = open(&path);
        target.write_all(&[b'x'; 2 * PIECE]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(target);
        assert_eq!((fs::read(&path).unwrap().as_slice(), names(&folder)), (&b"old"[..], vec!["out.csv".to_owned()]));
        let mut target = open(&path);
        target.write_all(b"new").unwrap();
        target.finish().unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), names(&folder)), (&b"new"[..], vec!["out.csv".to_owned()]));
    }
}

#[test]
fn of_several_none_gets_its_place_before_all_are_whole() {
    let folder = tempdir().unwrap();
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    let open = |path: &PathBuf| {
        let mut target = Target::open(Some(path), &none()).unwrap();
        target.write_all(b"new").unwrap();
        target
    };
    #[cfg(target_os = "linux")]
    {
        let full = Target::open(Some(Path::new("/dev/full")), &none()).map(|mut full| {
            full.write_all(b"x").unwrap();
            full
        });
        let error = Target::finish_all(paths.iter().map(open).chain(full)).unwrap_err();
        assert_eq!(format!("{error:#}"), "/dev/full: No space left on device (os error 28)");
        assert!(names(&folder).is_empty());
    }
    Target::finish_all(paths.iter().map(open)).unwrap();
    assert_eq!(names(&folder), ["a", "b"]);
}

#[test]
fn what_cannot_be_written_to_is_said_when_it_is_opened() {
    let folder = tempdir().unwrap();
    let refused = |name: &str| {
        let path = folder.path().join(name);
        let error = Target::open(Some(&path), &none()).err().map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(error.starts_with(&format!("{}: ", path.display())), "{error}");
        error
    };
    assert!(refused("").contains("is a directory"));
    assert!(refused("missing/").contains("is a directory"));
    let missing = refused("missing/out.csv");
    assert!(missing.contains("No such file or directory") && !missing.contains(".whyslow-"), "{missing}");
    assert!(names(&folder).is_empty());
}

#[cfg(unix)]
#[test]
fn links_lead_to_their_file_whether_it_is_there_or_not() {
    use std::os::unix::fs::symlink;
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("deep")).unwrap();
    symlink("deep/second", at("first")).unwrap();
    symlink("../file", at("deep/second")).unwrap();
    symlink("loop", at("loop")).unwrap();
    // Whether or not the file exists.
    for text in ["one", "two"] {
        let mut target = Target::open(Some(&at("first")), &none()).unwrap();
        target.write_all(text.as_bytes()).unwrap();
        target.finish().unwrap();
        assert_eq!(fs::read_to_string(at("file")).unwrap(), text);
        assert!(at("first").is_symlink() && at("deep/second").is_symlink());
    }
    assert!(Target::open(Some(&at("loop")), &none()).is_err());
    assert_eq!(names(&folder), ["deep", "file", "first", "loop"]);
}

#[test]
fn one_name_for_two_outputs_is_refused_until_the_first_is_given_up() {
    let folder = tempdir().unwrap();
    let (sources, path) = (none(), folder.path().join("out"));
    let open = || Target::open(Some(&path), &sources);
    let first = open().unwrap();
    let error = open().err().unwrap().to_string();
    assert!(error.contains("another output of this command has this name"), "{error}");
    drop(first);
    open().unwrap().finish().unwrap();
    assert!(open().is_err(), "complete, and still an output of this command");
}

#[test]
fn a_name_that_a_watched_pattern_matches_is_refused() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("ring")).unwrap();
    let sources = Sources::default().and_patterns([at("r*/slow?.pcap").display().to_string()]);
    let error = Target::open(Some(&at("ring/../ring/slow1.pcap")), &sources).err().unwrap().to_string();
    assert!(error.contains("whose files are read: name another file"), "{error}");
    for other in ["ring/fast.pcap", "slow1.pcap"] {
        assert!(Target::open(Some(&at(other)), &sources).is_ok(), "{other}");
    }
}
