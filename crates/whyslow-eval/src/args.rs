//! The options of `whyslow lab disagree`, `whyslow lab gallery` and `whyslow lab score`.

use clap::Args;
use std::path::PathBuf;
use whyslow_cli::output::OutputPath;
use whyslow_cli::quantity::{as_written as quantity, pair};
use whyslow_lab::scenario::units::Size;
use whyslow_units::Nanos;

/// The options of a gallery.
#[derive(Debug, Args)]
pub struct Gallery {
    /// A bundled experiment of downloads, or a TOML file.
    #[arg(value_name = "NAME|FILE", default_value = "buffers", value_hint = clap::ValueHint::FilePath)]
    pub(crate) name: String,

    /// Stop each download after this number of seconds.
    #[arg(long, value_name = "N", default_value_t = 60.0, value_parser = seconds)]
    pub(crate) seconds: f64,

    /// Payload of each download.
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = quantity::<Size>)]
    pub(crate) size: String,

    /// The page to write, an HTML file that loads nothing.
    #[arg(long, value_name = "FILE", default_value = "gallery.html", value_hint = clap::ValueHint::FilePath)]
    pub(crate) page: OutputPath,

    /// Folder of the results; an existing unchanged run is kept.
    #[arg(long = "output", alias = "out", short = 'o', value_name = "DIR", default_value = "lab-results")]
    pub(crate) out: OutputPath,

    /// Only conditions whose name contains this; may be given more than once.
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,

    /// Maximum number of tries if the machine disturbs a run.
    #[arg(long = "tries", alias = "attempts", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempts: u32,

    /// Set a key of the scenario, as `path.down.rate=100mbit`; may be given more than once.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}

/// The options of a score.
#[derive(Debug, Args)]
pub struct Score {
    /// Real servers and clients instead: nginx, curl, OpenSSH, PostgreSQL and others, as far as
    /// they are installed.
    #[arg(long)]
    pub(crate) real: bool,

    /// With --real, apply each fix that is printed as a command and has a predicted time, and
    /// measure its effect.
    #[arg(long, requires = "real")]
    pub(crate) fixes: bool,

    /// Transfers of each cause, or runs of each scenario with --real [default: 2, with --real 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) each: Option<u32>,

    /// Draws the same transfers again; another number draws others.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Only causes, or scenarios, whose name contains this; may be given more than once.
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,

    /// Print the result as JSON (schema whyslow-real/1).
    #[arg(long, requires = "real")]
    pub(crate) json: bool,

    /// Add to this file how often findings were right, by grade and weight: the table from which
    /// confidences are made. Created if it is missing.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) calibrate: Option<OutputPath>,

    /// Maximum number of tries if the machine disturbs a run.
    #[arg(long = "tries", alias = "attempts", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempts: u32,

    /// Folder of the recorded runs; a run that is there already is judged as it is.
    #[arg(long = "output", alias = "out", short = 'o', value_name = "DIR", default_value = "lab-results")]
    pub(crate) out: OutputPath,
}

/// From a tenth of a second to an hour.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "write a number of seconds, from 0.1 to 3600".to_owned())
}

/// The options of a search for explanations that their captures contradict.
#[derive(Debug, Args)]
pub struct Disagree {
    /// Captures, and folders of them.
    #[arg(required = true, value_name = "FILE|DIR", value_hint = clap::ValueHint::AnyPath)]
    pub(crate) captures: Vec<PathBuf>,

    /// Judge each capture with a wrong explanation as well, and count how often it is found.
    #[arg(long)]
    pub(crate) wrong_labels: bool,

    /// With --wrong-labels, which wrong explanation the first capture gets: they take turns.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "wrong_labels")]
    pub(crate) seed: u16,

    /// Begin no further run of a capture after this time.
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = whyslow_cli::quantity::time)]
    pub(crate) max_time: Nanos,

    /// Print a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
