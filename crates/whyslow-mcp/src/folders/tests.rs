#![allow(clippy::unwrap_used)]

use super::*;
use std::fs::{create_dir, write};
use tempfile::TempDir;

/// `in/a.pcap`, `in/deep/b.pcap`, and `out/c.pcap` next to it.
fn tree() -> (TempDir, Folders) {
    let tree = tempfile::tempdir().unwrap();
    for folder in ["in", "in/deep", "out"] {
        create_dir(tree.path().join(folder)).unwrap();
    }
    for file in ["in/a.pcap", "in/deep/b.pcap", "out/c.pcap"] {
        write(tree.path().join(file), b"x").unwrap();
    }
    let folders = Folders::new(&[tree.path().join("in")]).unwrap();
    (tree, folders)
}

#[test]
fn names_inside_are_found_and_others_refused() {
    let (tree, folders) = tree();
    let real = fs::canonicalize(tree.path()).unwrap();
    let inside = real.join("in/a.pcap");
    for name in ["a.pcap", "./a.pcap", "deep/../a.pcap", inside.to_str().unwrap()] {
        assert_eq!(folders.find(name).as_ref(), Ok(&inside), "{name}");
    }
    assert_eq!(folders.find("deep/b.pcap"), Ok(real.join("in/deep/b.pcap")));
    let outside = real.join("out/c.pcap");
    for name in ["../out/c.pcap", "deep/../../out/c.pcap", outside.to_str().unwrap(), "/etc/passwd", "/", ".."] {
        assert_eq!(folders.find(name), Err(Refused::Outside), "{name}");
    }
    // No error reveals files elsewhere.
    assert_eq!(folders.find("../out/missing.pcap"), Err(Refused::Outside));
    assert_eq!(folders.find("missing.pcap"), Err(Refused::Missing));
    assert_eq!(folders.find("a.pcap/x"), Err(Refused::Missing));
    for name in [".", "deep", ""] {
        assert!(matches!(folders.find(name), Err(Refused::NoFile | Refused::NoPath(_))), "{name}");
    }
    assert!(matches!(folders.find("a\0.pcap"), Err(Refused::NoPath(_))));
    assert!(matches!(folders.find("https://example.org/a.pcap"), Err(Refused::NoPath(_))));
    assert!(matches!(folders.find(&"x".repeat(5_000)), Err(Refused::NoPath(_))));
    assert!(matches!(folders.find(&"x".repeat(300)), Err(Refused::Unreadable(_) | Refused::Missing)));
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_refused() {
    use std::os::unix::fs::symlink;
    let (tree, folders) = tree();
    let at = |name: &str| tree.path().join(name);
    symlink(at("out/c.pcap"), at("in/file.pcap")).unwrap();
    symlink(at("out"), at("in/folder")).unwrap();
    symlink(at("in/deep"), at("in/own")).unwrap();
    assert_eq!(folders.find("file.pcap"), Err(Refused::LeadsOut));
    assert_eq!(folders.find("folder/c.pcap"), Err(Refused::LeadsOut));
    assert!(folders.find("own/b.pcap").is_ok());
    // A folder that is named by a link is that folder.
    symlink(at("in"), at("named")).unwrap();
    let named = Folders::new(&[at("named")]).unwrap();
    assert!(named.find("a.pcap").is_ok());
    assert!(named.find(at("named/a.pcap").to_str().unwrap()).is_ok());
    assert_eq!(named.captures("", 9), ["a.pcap", "deep/b.pcap"]);
}

#[test]
fn captures_are_listed_by_their_names() {
    let (tree, folders) = tree();
    for name in ["in/x.pcapng.gz", "in/y.pcap12", "in/notes.txt", "in/z.CAP", "in/capture.rs"] {
        write(tree.path().join(name), b"x").unwrap();
    }
    assert_eq!(folders.captures("", 9), ["a.pcap", "deep/b.pcap", "x.pcapng.gz", "y.pcap12", "z.CAP"]);
    assert_eq!(folders.captures("deep/", 9), ["deep/b.pcap"]);
    assert_eq!(folders.captures("", 2), ["a.pcap", "deep/b.pcap"]);
    let both = Folders::new(&[tree.path().join("in/deep"), tree.path().join("out")]).unwrap();
    assert!(both.find("b.pcap").is_ok() && both.find("c.pcap").is_ok());
    assert!(Path::new(&both.captures("", 1)[0]).is_absolute());
}

#[test]
fn a_folder_must_exist_and_be_one() {
    let (tree, _) = tree();
    let error = |name| Folders::new(&[tree.path().join(name)]).unwrap_err().to_string();
    assert!(error("none").contains("none"));
    assert!(error("in/a.pcap").contains("is not a folder"));
}
