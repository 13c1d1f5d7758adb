#![allow(clippy::unwrap_used)]

use super::*;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::{TempDir, tempdir};
use whyslow_testing::{Lack, skip};

fn write(place: &Place, text: &str) -> std::io::Result<()> {
    let (mut file, temporary) = Temporary::create(place)?;
    file.write_all(text.as_bytes())?;
    temporary.take_place(&file, place)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempdir().unwrap())
    }

    /// A folder like /tmp, in which another user has a link to `victim`; `None` without root.
    fn shared() -> Option<Self> {
        let folder = Self::new();
        fs::set_permissions(folder.0.path(), PermissionsExt::from_mode(0o1777)).unwrap();
        folder.link("link", "victim");
        match lchown(folder.at("link"), Some(65_534), Some(65_534)) {
            Ok(()) => Some(folder),
            Err(_) => {
                skip(Lack::Machine, "files of another user: only root can make them");
                None
            }
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn link(&self, name: &str, target: &str) {
        symlink(target, self.at(name)).unwrap();
    }
}

#[test]
fn a_link_that_appears_after_the_path_was_resolved_is_replaced_and_not_followed() {
    let folder = Folder::new();
    fs::write(folder.at("victim"), "kept").unwrap();
    let place = Place::find(&folder.at("out")).unwrap();
    assert_eq!(place.there(), There::Nothing);
    folder.link("out", "victim");
    write(&place, "new").unwrap();
    assert_eq!((text(&folder.at("victim")).as_str(), text(&folder.at("out")).as_str()), ("kept", "new"));
    assert!(!folder.at("out").is_symlink());
    let place = Place::find(&folder.at("other")).unwrap();
    folder.link("other", "victim");
    assert!(place.create_new().is_err());
    assert_eq!(text(&folder.at("victim")), "kept");
}

#[test]
fn a_file_that_is_exchanged_after_the_path_was_resolved_is_not_opened() {
    let folder = Folder::new();
    fs::write(folder.at("victim"), "kept").unwrap();
    for exchange in
        [|folder: &Folder| folder.link("out", "victim"), |folder: &Folder| fs::write(folder.at("out"), "").unwrap()]
    {
        let _ = fs::remove_file(folder.at("out"));
        fs::write(folder.at("out"), "old").unwrap();
        let place = Place::find(&folder.at("out")).unwrap();
        fs::rename(folder.at("out"), folder.at("moved")).unwrap();
        exchange(&folder);
        let error = place.open().unwrap_err().to_string();
        assert!(error.contains("exchanged"), "{error}");
    }
    assert_eq!(text(&folder.at("victim")), "kept");
}

#[test]
fn a_folder_that_is_exchanged_after_the_path_was_resolved_is_still_the_one_written_to() {
    let folder = Folder::new();
    for name in ["mine", "theirs"] {
        fs::create_dir(folder.at(name)).unwrap();
    }
    let place = Place::find(&folder.at("mine/out")).unwrap();
    fs::rename(folder.at("mine"), folder.at("moved")).unwrap();
    folder.link("mine", "theirs");
    write(&place, "new").unwrap();
    assert_eq!(text(&folder.at("moved/out")), "new");
    assert_eq!(fs::read_dir(folder.at("theirs")).unwrap().count(), 0);
}

#[test]
fn links_and_files_of_other_users_in_a_shared_folder_are_refused() {
    let Some(folder) = Folder::shared() else { return };
    fs::write(folder.at("file"), "theirs").unwrap();
    lchown(folder.at("file"), Some(65_534), None).unwrap();
    for (name, kind) in [("link", "link"), ("file", "file")] {
        let error = Place::find(&folder.at(name)).unwrap_err().to_string();
        assert!(
            error.contains(&format!("is a {kind} of another user in a folder that all users may write to")),
            "{error}"
        );
    }
    folder.link("own", "made");
    write(&Place::find(&folder.at("own")).unwrap(), "new").unwrap();
    assert_eq!(text(&folder.at("made")), "new");
    // In a folder of its own, a link is trusted as the folder is.
    fs::set_permissions(folder.0.path(), PermissionsExt::from_mode(0o755)).unwrap();
    assert!(Place::find(&folder.at("link")).is_ok());
}

/// Another process gives the link the output's name and takes it away, again and again.
#[test]
fn a_link_of_another_user_is_never_followed_whenever_it_appears() {
    let Some(folder) = Folder::shared() else { return };
    let (out, hidden, is_done) = (folder.at("out"), folder.at("link"), AtomicBool::new(false));
    let mut written = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                // A second name of the link itself: it is the other user's from the start.
                let _ = fs::hard_link(&hidden, &out);
                let _ = fs::remove_file(&out);
            }
        });
        for _ in 0..2_000 {
            let done = Place::find(&out).and_then(|place| write(&place, "new"));
            written += u32::from(done.is_ok());
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(!folder.at("victim").exists(), "the link was followed");
    assert!(written > 0);
}
