//! The command line as it is typed.

use crate::fail_on::FailOn;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::num::NonZero;
use std::path::PathBuf;
use whyslow_cli::output::OutputPath;
use whyslow_cli::select::Selection;

/// Explains why each TCP transfer in a packet capture was slow.
///
/// Reads pcap, pcapng and tcpdump's text, plain or compressed with gzip, zstd, lz4 or xz. Shows for
/// each transfer where its time went, the evidence, the fix, and the time after the fix.
#[derive(Debug, Parser)]
#[command(name = "whyslow", version, max_term_width = 100)]
#[command(after_help = "Examples:\n\x20 whyslow slow.pcap                 # why it was slow, with evidence and fix\n\
\x20 whyslow client.pcap server.pcap   # both ends: also where packets were lost\n\
\x20 whyslow view slow.pcap            # the same as a page with graphs\n\
\x20 ssh HOST tcpdump -s 128 -U -w - port 443 | whyslow -   # from another machine\n\n\
`whyslow FILE...` is `whyslow explain FILE...`; a file that is named like a command is ./NAME.\n\
The output is as wide as COLUMNS or the terminal, from 60 to 200 columns; 100 in a pipe or a file.\n\
Exit status: 0 the input was read; 1 --fail-on found its cause, or some of several inputs could not be read; 2 no input could be read, or \
the output could not be written; 130 Ctrl-C ended the reading (the part that was read is explained; a second Ctrl-C exits at once).")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Whether to use colour.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,

    /// Follow redirects of http:// and https:// from the Internet to this machine or its network.
    #[arg(long, global = true)]
    pub allow_local_redirects: bool,

    /// Decrypt TLS with the secrets in this key log, which browsers, curl and others write to the
    /// file in SSLKEYLOGFILE [default: the file that SSLKEYLOGFILE names, if it exists]. The
    /// secrets in a pcapng file are used as well.
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub keylog: Option<PathBuf>,

    #[command(flatten)]
    pub explain: Explain,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Explain why the transfers in captures were slow (the default).
    Explain(Explain),
    /// Compare two transfers: where the time of each went, their rounds, and which one is faster at
    /// each size.
    Compare(crate::compare::args::Compare),
    /// Show captures in the browser, on a page that only this machine can open; `report` writes the
    /// same page as a file.
    View(View),
    /// Write the page of `view` as one file, which opens without network.
    Report(Report),
    /// Write one connection's packets, graphs or findings for other programs, tickets and papers,
    /// or tables of all connections.
    #[cfg(feature = "export")]
    Export(Box<crate::export::args::Export>),
    /// Explain a cause: how it is recognised, why it costs time, how to fix it; without a name, all
    /// are listed.
    #[command(alias = "help-cause")]
    Causes {
        /// The cause's name, as `slow-start`.
        #[arg(value_name = "CAUSE")]
        slug: Option<String>,
    },
    /// Print, or run, the command that captures on another machine, in a container, a pod or here.
    Capture(Box<crate::capture::args::Capture>),
    /// Make a request, and explain where its time went.
    Probe(Box<crate::probe::args::Probe>),
    /// Explain transfers as they end, on this machine or in a growing capture.
    Watch(Box<whyslow_watch::Watch>),
    /// Diagnose this machine's TCP stack: sockets, settings, counters, remembered metrics.
    #[cfg(target_os = "linux")]
    Host(Box<crate::host::args::HostArgs>),
    /// Only on Linux: diagnose this machine's TCP stack.
    #[cfg(not(target_os = "linux"))]
    Host(LinuxOnly),
    /// Predict how long a transfer would take, and the effect of each change, without a capture.
    Predict(Box<crate::predict::Predict>),
    /// Reproduce a captured transfer on this machine's own TCP stack, without and with its fix.
    #[cfg(target_os = "linux")]
    Prove(Box<whyslow_prove::Prove>),
    /// Only on Linux: reproduce a captured transfer, without and with its fix.
    #[cfg(not(target_os = "linux"))]
    Prove(LinuxOnly),
    /// Reproduce slow transfers on this machine's own TCP stack, over an emulated path.
    #[cfg(target_os = "linux")]
    #[command(subcommand)]
    Lab(crate::lab::args::Lab),
    /// Only on Linux: reproduce slow transfers over an emulated path.
    #[cfg(not(target_os = "linux"))]
    Lab(LinuxOnly),
    /// For clusters: reduce captures to the data that the analysis needs, on any machine, for
    /// `whyslow merge`.
    #[command(alias = "scan")]
    Condense(crate::condense::Condense),
    /// For clusters: explain condensed captures together, like the captures that they were made
    /// from.
    #[command(alias = "stitch")]
    Merge(Explain),
    /// Serve assistants: a server of the Model Context Protocol on standard input and output, or on
    /// a loopback address.
    #[cfg(feature = "mcp")]
    Mcp(crate::mcp::Mcp),
    /// Start `whyslow-gateway`: serve S3, and keep what clients store encrypted elsewhere.
    Gateway(crate::gateway::Gateway),
    /// Print a completion script for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual pages of all commands (roff), as for `whyslow man | man -l -`.
    #[command(hide = true)]
    Man {
        /// Write a file for each command into this folder.
        #[arg(long, short, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
        output: Option<OutputPath>,
    },
}

/// The arguments of a command that needs Linux.
#[cfg(not(target_os = "linux"))]
#[derive(Debug, ClapArgs)]
pub(crate) struct LinuxOnly {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<std::ffi::OsString>,
}

#[derive(Debug, Default, PartialEq, ClapArgs)]
pub(crate) struct Explain {
    /// Captures: files, `-` for standard input, or URLs (s3://, gs://, az://, http://, https://; a
    /// key may have `*` and `?`). Files that follow each other in time are read as one, and
    /// captures of one connection at two places are compared. `FILE#3` shows its connection 3 in
    /// full, as --connection 3 does; `FILE#3.2` shows that connection's transfer 2 alone.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Number of threads [default: one for each processor]; the results do not depend on it.
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZero<usize>>,

    /// Rate of the link, as `100mbit` or `1 Gbit/s`: estimates stay below it, and buffers are sized
    /// for it [default: the rate in the capture].
    #[arg(long, value_name = "RATE", value_parser = whyslow_cli::quantity::rate)]
    pub path_rate: Option<f64>,

    /// A cause is called slow if it cost at least this time (100ms by default) and a tenth of the
    /// wait; with 0 if it cost any time. Smaller costs are shown below the verdict.
    #[arg(long, value_name = "TIME", value_parser = whyslow_cli::quantity::pause)]
    pub threshold: Option<whyslow_units::Nanos>,

    /// Exit with status 1 if this cause was found: `slow-start`, `slow-start>1s` if it cost more
    /// than that over all selected connections, `any` for any cause, `slower>20%` with --baseline;
    /// may be given more than once.
    #[arg(long, value_name = "CAUSE", value_parser = FailOn::read)]
    pub fail_on: Vec<FailOn>,

    /// Compare with an earlier run: its output of `whyslow --json`. `--fail-on 'slower>20%'`
    /// fails if a transfer takes that much longer than the one with the same server, direction and
    /// label.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub baseline: Option<PathBuf>,

    #[command(flatten)]
    pub selection: Selection,

    #[command(flatten)]
    pub shape: Shape,
}

/// How it is printed.
#[derive(Debug, Default, PartialEq, ClapArgs)]
#[command(next_help_heading = "Output")]
pub(crate) struct Shape {
    /// Print three lines: when it was slow by the clock, why, and the fix.
    #[arg(long, group = "shape")]
    pub summary: bool,

    /// Print a line for each transfer.
    #[arg(long, group = "shape")]
    pub brief: bool,

    /// Print a line for each transfer as tab-separated values, with a title line.
    #[arg(long, group = "shape")]
    pub tsv: bool,

    /// Print a line for each file: RTT, goodput, retransmissions, windows, main cause. Each file is
    /// read by itself.
    #[arg(long, group = "shape")]
    pub table: bool,

    /// Print everything as one JSON object (schema whyslow/2).
    #[arg(long, group = "shape")]
    pub json: bool,

    /// With --json: the sentences about the data too, in both languages, in the order of the data.
    #[arg(long, requires = "json")]
    pub words: bool,

    /// Print JSON objects, one a line: captures, connections, findings that span connections.
    #[arg(long, group = "shape")]
    pub jsonl: bool,

    /// Print JUnit's XML for build servers: a test case for each transfer, which fails by
    /// --fail-on.
    #[arg(long, group = "shape")]
    pub junit: bool,

    /// Print GitHub's annotations: an error for each transfer that fails by --fail-on.
    #[arg(long, group = "shape")]
    pub github: bool,

    /// Print Markdown for a job's summary: the verdict, and a table of slow transfers.
    #[arg(long, group = "shape")]
    pub markdown: bool,

    /// Show the N costliest of many connections, with their findings [default: 1 of up to 20, else
    /// only a table].
    #[arg(long, value_name = "N", conflicts_with_all = ["shape", "connection"])]
    pub top: Option<usize>,

    /// Language of the sentences: en or zh [default: by LC_ALL, LC_MESSAGES or LANG].
    #[arg(long, value_name = "LANGUAGE", value_parser = whyslow_cli::language::parse)]
    pub lang: Option<whyslow_report::words::Lang>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct View {
    /// Captures, as for `explain`; `FILE#3.2` opens connection 3 at its transfer 2. Without any,
    /// drop them on the page.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Listen on this port of 127.0.0.1 [default: any free one].
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,

    /// Start the browser.
    #[arg(long)]
    pub open: bool,

    /// Show the output of `whyslow prove --json` for one of the transfers.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub proof: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Report {
    /// Captures, as for `explain`; `FILE#3.2` opens connection 3 at its transfer 2.
    #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Where to write the page; `-` is standard output.
    #[arg(long, short, value_name = "PAGE", value_hint = clap::ValueHint::FilePath)]
    pub output: OutputPath,

    /// Show the output of `whyslow prove --json` for one of the transfers.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub proof: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
