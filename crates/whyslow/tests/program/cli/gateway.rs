//! `whyslow gateway` finds the program that it is.

use crate::{Folder, complaint};
use assert_cmd::Command;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// The program in this folder, which finds nothing on PATH.
fn whyslow_in(folder: &Path) -> Command {
    let program = folder.join("whyslow");
    if !program.exists() {
        fs::copy(assert_cmd::cargo::cargo_bin("whyslow"), &program).unwrap();
    }
    let mut command = Command::new(program);
    command.env("PATH", folder.join("none"));
    command
}

/// A program that prints its name and its arguments, and ends with status 7.
fn stand_in(path: &Path) {
    fs::write(path, "#!/bin/sh\necho \"$0 $*\"\nexit 7\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn missing_gateway_is_reported() {
    let folder = Folder::new();
    let said = complaint(whyslow_in(folder.0.path()).args(["gateway", "serve"]));
    assert!(said.contains("neither beside this one nor on PATH") && said.contains("cargo install"), "{said}");
}

#[test]
fn adjacent_gateway_goes_before_path_and_takes_every_argument() {
    let folder = Folder::new();
    let (own, path) = (folder.0.path(), folder.0.path().join("path"));
    fs::create_dir(&path).unwrap();
    stand_in(&path.join("whyslow-gateway"));
    let run = |arguments: &[&str]| {
        let mut command = whyslow_in(own);
        let output = command.env("PATH", format!("{}:/bin", path.display())).args(arguments).assert().code(7);
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let on_path = path.join("whyslow-gateway").display().to_string();
    assert_eq!(
        run(&["gateway", "serve", "--store", "file:x", "-i", "env:A"]),
        format!("{on_path} serve --store file:x -i env:A\n")
    );
    assert_eq!(run(&["gateway", "--help"]), format!("{on_path} --help\n"));
    assert_eq!(run(&["--color", "never", "gateway", "stats"]), format!("{on_path} --color never stats\n"));
    symlink(path.join("whyslow-gateway"), own.join("whyslow-gateway")).unwrap();
    assert!(run(&["gateway"]).starts_with(&own.join("whyslow-gateway").display().to_string()));
}
