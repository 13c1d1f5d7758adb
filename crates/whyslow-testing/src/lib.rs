//! What a test says when it cannot test here: its name, what it lacks, and that it was skipped.
//!
//! A test that returns early counts as passed. So none returns in silence: it asks here for what it
//! needs, and where that is missing a line goes past libtest's capture to stderr, and into the file
//! that WHYSLOW_SKIPPED names, of which `make test` prints a list at its end (`tools/skipped`).
//! With WHYSLOW_REQUIRE_ALL=1 a test fails that lacks what a machine can be given. Captures that
//! are no part of the project, a quiet machine, and devices of root are never demanded; they are
//! listed.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often something was skipped in this process.
static SKIPS: AtomicUsize = AtomicUsize::new(0);

/// What a test can lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A tool that can be installed, or something that the kernel can allow: demanded by
    /// WHYSLOW_REQUIRE_ALL.
    Machine,
    /// Captures that are no part of the project.
    Captures,
    /// Processors that others leave alone for long enough.
    Quiet,
    /// A device that whoever runs the test may not open.
    Device,
}

impl Lack {
    /// As `tools/skipped` knows it.
    fn word(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Captures => "captures",
            Self::Quiet => "quiet",
            Self::Device => "device",
        }
    }

    /// What a test does that lacks this.
    fn fails(self, require_all: bool) -> bool {
        self == Self::Machine && require_all
    }
}

/// Says that the calling test is skipped.
///
/// # Panics
/// Where WHYSLOW_REQUIRE_ALL demands what is lacking, or the file of WHYSLOW_SKIPPED cannot be
/// written: what is not noted would count as tested.
#[track_caller]
pub fn skip(lack: Lack, reason: impl Display) {
    let test = test_name(Location::caller());
    let reason = reason.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!lack.fails(set("WHYSLOW_REQUIRE_ALL")), "WHYSLOW_REQUIRE_ALL is set, and {test} cannot test: {reason}");
    SKIPS.fetch_add(1, Ordering::Relaxed);
    // Not by a macro: libtest hides what these print.
    let _ = writeln!(std::io::stderr(), "skipped {test}: {reason}");
    if let Some(file) = std::env::var_os("WHYSLOW_SKIPPED") {
        note(Path::new(&file), lack, &test, &reason)
            .unwrap_or_else(|error| panic!("{}: {test} is skipped, and cannot say so: {error}", file.display()));
    }
}

/// How often this process has said that something is skipped. A program of tests with a `main` of
/// its own tells by it whether a test did all that it is for.
pub fn skips() -> usize {
    SKIPS.load(Ordering::Relaxed)
}

/// Adds a line to the list. Tests of several programs write at once, so it is one write at the end
/// of the file.
fn note(file: &Path, lack: Lack, test: &str, reason: &str) -> std::io::Result<()> {
    let line = format!("{}\t{test}\t{reason}\n", lack.word());
    OpenOptions::new().append(true).create(true).open(file)?.write_all(line.as_bytes())
}

/// The program of tests, and the test: libtest names a test's thread after it, and where it does
/// not, the place must do.
fn test_name(place: &Location<'_>) -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_stem().unwrap_or_default().to_string_lossy();
    // Cargo adds a hash.
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    match std::thread::current().name() {
        Some(test) if test != "main" => format!("{program} {test}"),
        _ => format!("{program} {}:{}", place.file(), place.line()),
    }
}

fn set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}

/// The folder of real captures with known answers: where WHYSLOW_CAPTURES says, or beside the
/// repository. They are no part of the project; without them the calling test is skipped.
///
/// # Panics
/// When WHYSLOW_CAPTURES names no folder.
#[track_caller]
pub fn captures() -> Option<PathBuf> {
    let folder = captures_if_any();
    if folder.is_none() {
        let places = "beside the repository, or where WHYSLOW_CAPTURES says";
        skip(Lack::Captures, format!("there are no captures with known answers {places}"));
    }
    folder
}

/// The same for a test that is whole without them.
///
/// # Panics
/// When WHYSLOW_CAPTURES names no folder.
pub fn captures_if_any() -> Option<PathBuf> {
    let named = std::env::var_os("WHYSLOW_CAPTURES").map(PathBuf::from);
    if let Some(folder) = &named {
        assert!(folder.is_dir(), "WHYSLOW_CAPTURES is {}, which is no folder", folder.display());
    }
    let folder = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures"));
    folder.is_dir().then_some(folder)
}

/// One of these captures.
#[track_caller]
pub fn capture(name: &str) -> Option<PathBuf> {
    let file = captures()?.join(name);
    if file.exists() {
        return Some(file);
    }
    skip(Lack::Captures, format!("{name} is not among the captures with known answers"));
    None
}

/// Whether these tools can be started; else the calling test is skipped.
#[track_caller]
pub fn tools(names: &[&str]) -> bool {
    let missing: Vec<&str> = names.iter().copied().filter(|name| !starts(name)).collect();
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        skip(Lack::Machine, format!("{} {verb} not installed", missing.join(", ")));
    }
    missing.is_empty()
}

fn starts(program: impl AsRef<OsStr>) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

#[cfg(test)]
mod tests;
