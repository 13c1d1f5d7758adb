//! Every option that names a file or a folder. `output::options` checks that none is missing, and
//! `cli::outputs` that no output replaces an input.

/// An option that names a file or folder to write: its command, its name, and runs in which the
/// output is an input as well.
pub const OUTPUTS: &[(&str, &str, &[Run])] = &[
    ("compare", "report", &[run("out", "compare {in} {other} --report {place}")]),
    (
        "export",
        "output",
        &[
            run("out", "export {in} --csv --output {place}"),
            run("out", "export {in} --tsv -o {place}"),
            run("out", "export {other} --csv --keylog {in} --output {place}"),
        ],
    ),
    (
        "export",
        "parquet",
        &[
            run("transfers.parquet", "export {in} --parquet {place}"),
            run("tables/transfers.parquet", "export {in} --parquet {dir}/tables"),
        ],
    ),
    // The programs of `exec` and the scenarios of `score` are not files of the command line.
    ("lab exec", "out", &[]),
    ("lab gallery", "out", &[folder("results/gallery-own/base-1/own.toml", "lab gallery {in} --out {dir}/results")]),
    ("lab gallery", "page", &[run("out", "lab gallery {in} --page {place}")]),
    ("lab run", "out", &[folder("results/own/base-1/own.toml", "lab run {in} --out {dir}/results")]),
    ("lab score", "calibrate", &[]),
    ("lab score", "out", &[]),
    ("man", "output", &[]),
    (
        "probe",
        "capture",
        &[
            run("out", "probe http://127.0.0.1:1/ --upload {in} --capture {place}"),
            run("out", "probe http://127.0.0.1:1/ -F x=@{in} --capture {place}"),
            run("out", "probe http://127.0.0.1:1/ --cacert {in} --capture {place}"),
            run("out", "probe http://127.0.0.1:1/ --cert {in} --key {in} --capture {place}"),
        ],
    ),
    (
        "probe",
        "report",
        &[
            run("out", "probe http://127.0.0.1:1/ --upload {in} --report {place}"),
            run("out", "probe http://127.0.0.1:1/ -F x=@{in} --report {place}"),
        ],
    ),
    (
        "prove",
        "keep",
        &[
            run("kept/again.toml", "prove {in} --keep {dir}/kept"),
            run("kept/curves.svg", "prove {in} --keep {dir}/kept"),
            folder("kept/runs/again/again-1/client.pcap", "prove {in} --keep {dir}/kept"),
        ],
    ),
    ("prove", "report", &[run("out", "prove {in} --report {place}")]),
    (
        "report",
        "output",
        &[
            run("out", "report {in} --output {place}"),
            run("out", "report {other} --proof {in} -o {place}"),
            run("out", "report {other} --keylog {in} -o {place}"),
        ],
    ),
    ("condense", "out", &[linked("parts/in.condensed.zst", "condense {in} --out {dir}/parts")]),
    (
        "watch",
        "keep",
        &[
            run("out.pcap", "watch {in} --for 1s --keep {place}"),
            run("out.pcap", "watch {dir}/*.pcap --for 1s --keep {place}"),
            run("a.previous.pcap", "watch {in} --for 1s --keep {dir}/a.pcap --keep-size 1MB"),
        ],
    ),
];

/// A run: the output's place in a folder, and the arguments. `{in}` is the input, `{place}` the
/// output, `{dir}` the folder.
pub struct Run {
    pub way: Way,
    pub place: &'static str,
    pub arguments: &'static str,
}

/// How the output is the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By the same name, a hard link or a symbolic link.
    File,
    /// By a link: the output's name is made of the input's.
    Linked,
    /// The input is in a folder that is replaced.
    Folder,
}

const fn run(place: &'static str, arguments: &'static str) -> Run {
    Run { way: Way::File, place, arguments }
}

const fn linked(place: &'static str, arguments: &'static str) -> Run {
    Run { way: Way::Linked, place, arguments }
}

const fn folder(place: &'static str, arguments: &'static str) -> Run {
    Run { way: Way::Folder, place, arguments }
}

/// Options that name a file or folder to read.
pub const INPUTS: &[(&str, &str)] = &[
    ("", "baseline"),
    ("", "files"),
    ("", "keylog"),
    ("compare", "a"),
    ("compare", "b"),
    ("explain", "baseline"),
    ("explain", "files"),
    ("export", "files"),
    ("lab disagree", "captures"),
    ("lab exec", "down"),
    ("lab exec", "up"),
    ("lab gallery", "name"),
    ("lab run", "names"),
    ("lab shell", "down"),
    ("lab shell", "up"),
    ("lab show", "folder"),
    ("mcp", "dir"),
    ("probe", "cacert"),
    ("probe", "cert"),
    ("probe", "key"),
    ("prove", "capture"),
    ("report", "files"),
    ("report", "proof"),
    ("condense", "files"),
    ("merge", "baseline"),
    ("merge", "files"),
    ("view", "files"),
    ("view", "proof"),
];
