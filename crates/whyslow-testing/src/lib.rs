//! Records tests that could not run on this machine, with the reason.
//!
//! A test that returns early counts as passed. So a test requests its tools and captures here. If
//! that is missing, a line is written to stderr, past libtest's capture, and to the file that
//! WHYSLOW_SKIPPED names; `make test` prints that list (`tools/skipped`). With
//! WHYSLOW_REQUIRE_ALL=1 the test fails instead, unless it lacks something that no machine can be
//! given at will: a program that no distribution brings, captures that are not part of the project,
//! a quiet machine, a device that only root may open.

pub mod exposition;

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of skips in this process.
static SKIPS: AtomicUsize = AtomicUsize::new(0);

/// What a test can lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A tool that can be installed, or a right that the kernel can give: required by
    /// WHYSLOW_REQUIRE_ALL.
    Machine,
    /// A program that no distribution brings.
    Program,
    /// Captures that are not part of the project.
    Captures,
    /// A machine that is quiet for long enough.
    Quiet,
    /// A device that this user may not open.
    Device,
}

impl Lack {
    /// Its name in the list.
    fn word(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Program => "program",
            Self::Captures => "captures",
            Self::Quiet => "quiet",
            Self::Device => "device",
        }
    }

    /// The wording of the message.
    fn fails(self, require_all: bool) -> bool {
        self == Self::Machine && require_all
    }
}

/// Reports that the calling test is skipped.
///
/// # Panics
/// If WHYSLOW_REQUIRE_ALL requires a missing one, or the file of WHYSLOW_SKIPPED cannot be
/// written: a skip that is not recorded would count as tested.
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

/// The number of skips in this process. A test program with its own `main` checks with it whether a
/// test ran completely.
pub fn skips() -> usize {
    SKIPS.load(Ordering::Relaxed)
}

/// Appends a line to the list, in one write: several programs write at once.
fn note(file: &Path, lack: Lack, test: &str, reason: &str) -> std::io::Result<()> {
    let line = format!("{}\t{test}\t{reason}\n", lack.word());
    OpenOptions::new().append(true).create(true).open(file)?.write_all(line.as_bytes())
}

/// The test program and the test: libtest names a test's thread after it; else the source location
/// is used.
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

/// The folder of real captures with known answers: the one that WHYSLOW_CAPTURES names, or one
/// next to the repository. They are not part of the project; without them the calling test is
/// skipped.
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

/// The same folder for a test that is complete without it.
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

/// Whether tests run at length (`make soak`, which sets WHYSLOW_SOAK=1).
pub fn soaks() -> bool {
    set("WHYSLOW_SOAK")
}

/// Every 25th of very many inputs that a test checks in the same way; [all of them](soaks) every
/// night.
pub fn part_of<T>(all: Vec<T>) -> Vec<T> {
    let step = if soaks() { 1 } else { 25 };
    all.into_iter().step_by(step).collect()
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

/// Whether these tools can be started; if not, the calling test is skipped.
#[track_caller]
pub fn tools(names: &[&str]) -> bool {
    all_start(names, Lack::Machine)
}

/// The same for programs that no distribution has: a machine need not have them.
#[track_caller]
pub fn rare_tools(names: &[&str]) -> bool {
    all_start(names, Lack::Program)
}

/// A program that another crate of the workspace builds. Tests of the whole workspace build it
/// first; those of one crate need not.
#[track_caller]
pub fn neighbour(name: &str) -> Option<PathBuf> {
    // target/PROFILE/deps/TESTS-HASH
    let tests = std::env::current_exe().unwrap_or_default();
    let program =
        tests.ancestors().nth(2).unwrap_or(Path::new("")).join(name).with_extension(std::env::consts::EXE_EXTENSION);
    if program.exists() {
        return Some(program);
    }
    skip(Lack::Machine, format!("{name} is not built: cargo build -p {name}"));
    None
}

#[track_caller]
fn all_start(names: &[&str], lack: Lack) -> bool {
    let missing: Vec<&str> = names.iter().copied().filter(|name| !starts(name)).collect();
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        skip(lack, format!("{} {verb} not installed", missing.join(", ")));
    }
    missing.is_empty()
}

fn starts(program: impl AsRef<OsStr>) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// A little-endian pcapng file without its secrets (decryption secrets blocks), and these: a key
/// log.
///
/// # Panics
/// If it is no such file.
pub fn without_secrets(file: &[u8]) -> (Vec<u8>, Vec<u8>) {
    const SECRETS: usize = 0x0a;
    let (mut rest, mut packets, mut log) = (file, Vec::new(), Vec::new());
    while !rest.is_empty() {
        let word = |at: usize| rest[at..at + 4].iter().rev().fold(0, |word, byte| word << 8 | usize::from(*byte));
        let (block, after) = rest.split_at(word(4));
        if word(0) == SECRETS {
            log.extend_from_slice(&block[16..16 + word(12)]);
        } else {
            packets.extend_from_slice(block);
        }
        rest = after;
    }
    (packets, log)
}

#[cfg(test)]
mod tests;
