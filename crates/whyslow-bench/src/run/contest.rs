//! Which programs meet on which input.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A command to be measured.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// As the report names it.
    pub(super) name: &'static str,
    pub(super) command: Vec<OsString>,
    /// The file that it reads through a pipe, from `cat`.
    pub(super) through_pipe: Option<PathBuf>,
    /// Whether the program is run only once, because it takes long.
    pub(super) once: bool,
}

impl Program {
    pub(super) fn new<T: Into<OsString>>(name: &'static str, command: impl IntoIterator<Item = T>) -> Self {
        Self { name, command: command.into_iter().map(Into::into).collect(), through_pipe: None, once: false }
    }

    /// Whether it is installed.
    pub(super) fn is_there(&self) -> bool {
        let Some(program) = self.command.first().map(Path::new) else { return false };
        if program.components().count() > 1 {
            return program.is_file();
        }
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).any(|folder| folder.join(program).is_file())
    }
}

pub(super) const CAT: &str = "cat";
pub(super) const WALK: &str = "record walk";
pub(super) const JSON: &str = "whyslow --json";
pub(super) const TOP: &str = "whyslow --top 10";
pub(super) const PIPE: &str = "whyslow --json -, from a pipe";
pub(super) const PIPE_ALONE: &str = "cat, from a pipe";
pub(super) const TCPTRACE: &str = "tcptrace -l -r";
pub(super) const TSHARK: &str = "tshark -q -z conv,tcp";
pub(super) const ARGUS: &str = "argus -r -w /dev/null";
pub(super) const NFPCAPD: &str = "nfpcapd -r -w";
pub(super) const UNPACK: &str = "decompression alone";

/// The contests on this input, in the order of their runs.
pub(super) fn contests(whyslow: &Path, input: &str, files: &[PathBuf]) -> Vec<Program> {
    let with = |name, program: &Path, options: &[&str]| {
        let options = options.iter().map(OsString::from);
        let files = files.iter().map(|file| file.clone().into_os_string());
        Program::new(name, [program.as_os_str().to_owned()].into_iter().chain(options).chain(files))
    };
    let tool = |name, program: &str, options: &[&str]| with(name, Path::new(program), options);
    let mut programs = vec![tool(CAT, "cat", &[])];
    match input {
        "bulk-gzip" => programs.push(tool(UNPACK, "gzip", &["-dc"])),
        "bulk-zstd" => programs.push(tool(UNPACK, "zstd", &["-dcq"])),
        _ => programs.extend(env::current_exe().ok().map(|this| with(WALK, &this, &["walk"]))),
    }
    programs.push(with(JSON, whyslow, &["--json"]));
    if input == "wan" {
        programs.push(tool(TCPTRACE, "tcptrace", &["-l", "-r"]));
    }
    // A sample: on all of bulk it takes minutes and gigabytes.
    if input == "bulk-sixteenth" {
        programs.push(Program { once: true, ..tool(TSHARK, "tshark", &["-q", "-z", "conv,tcp", "-r"]) });
    }
    if input == "bulk" {
        programs.push(with(TOP, whyslow, &["--top", "10"]));
        let piped = |program| Program { through_pipe: files.first().cloned(), ..program };
        programs.push(piped(Program::new(PIPE_ALONE, ["cat"])));
        programs.push(piped(Program::new(PIPE, [whyslow.as_os_str(), "--json".as_ref(), "-".as_ref()])));
        programs.push(tool(TCPTRACE, "tcptrace", &["-l", "-r"]));
        programs.extend(flow_counters(files));
    }
    programs
}

/// Programs that count flows and explain none: how near to counting is explaining?
fn flow_counters(files: &[PathBuf]) -> Vec<Program> {
    let Some(file) = files.first() else { return Vec::new() };
    // It writes its counts next to the input.
    let beside = file.parent().unwrap_or(Path::new(".")).as_os_str();
    let word = OsStr::new;
    let argus = [word("argus"), word("-X"), word("-r"), file.as_os_str(), word("-w"), word("/dev/null")];
    let nfpcapd = [word("nfpcapd"), word("-r"), file.as_os_str(), word("-w"), beside];
    vec![Program::new(ARGUS, argus), Program::new(NFPCAPD, nfpcapd)]
}
