//! The command line of `whyslow prove`.

use super::supposition::Supposition;
use clap::Args;
use std::path::PathBuf;
use whyslow_cli::output::OutputPath;
use whyslow_units::Nanos;

/// What to prove.
#[derive(Clone, Debug, Args)]
pub struct Prove {
    /// A capture: `FILE` is the transfer that its verdict names, `FILE#3` that of connection 3,
    /// `FILE#3.2` its transfer 2.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) capture: PathBuf,

    /// Keep the scenarios (TOML, for `whyslow lab run`), the captures of the runs, and a picture of
    /// the curves in this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(super) keep: Option<OutputPath>,

    /// Number of times to make each run, of which the median is taken [default: 1; of transfers
    /// shorter than 3 s the run that agrees, and each fix that changes the time, 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=25))]
    pub(super) repeat: Option<u32>,

    /// Maximum length of a run: a longer transfer is cut to its beginning.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = whyslow_cli::quantity::time)]
    pub(super) at_most: Nanos,

    /// Maximum number of runs to find a path and hosts that reproduce the capture.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=25))]
    pub(super) tries: u32,

    /// Begin no further run after this time: what is known by then is printed, and names the fixes
    /// that were not run.
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = whyslow_cli::quantity::time)]
    pub(super) max_time: Nanos,

    /// Test another explanation than that of the analysis: what takes the time of its costliest
    /// cause. If the run does not agree, the others are tried: does one of them agree?
    #[arg(long, value_name = "CAUSE")]
    pub(super) suppose: Option<Supposition>,

    /// Only build the scenario, and print it.
    #[arg(long, conflicts_with_all = ["json", "repeat", "report"])]
    pub(super) scenario: bool,

    /// Write the page of `whyslow report` with the proof: a table of the runs, and their curves
    /// in one graph.
    #[arg(long, value_name = "PAGE", value_hint = clap::ValueHint::FilePath)]
    pub(super) report: Option<OutputPath>,

    /// Print a JSON object (schema whyslow-prove/1).
    #[arg(long)]
    pub(super) json: bool,
}
