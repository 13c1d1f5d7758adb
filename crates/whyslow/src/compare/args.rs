//! The command line of `whyslow compare`.

use clap::Args;
use std::path::PathBuf;
use whyslow_cli::output::OutputPath;

/// What to compare.
#[derive(Clone, Debug, Args)]
pub(crate) struct Compare {
    /// A transfer: `FILE` is the largest, `FILE#3` that of connection 3, `FILE#3.2`
    /// its transfer 2.
    #[arg(value_name = "A", value_hint = clap::ValueHint::FilePath)]
    pub(super) a: PathBuf,
    /// The other one.
    #[arg(value_name = "B", value_hint = clap::ValueHint::FilePath)]
    pub(super) b: PathBuf,
    /// Print a JSON object (schema whyslow-compare/2).
    #[arg(long)]
    pub(super) json: bool,
    /// Show it in the browser, on a page that only this machine can open.
    #[arg(long, conflicts_with = "json")]
    pub(super) view: bool,
    /// Write it as a page in one file, which opens without network; `-` is standard
    /// output.
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["json", "view"], value_hint = clap::ValueHint::FilePath)]
    pub(super) report: Option<OutputPath>,
    /// With --view: listen on this port of 127.0.0.1 [default: any free one].
    #[arg(long, value_name = "PORT", requires = "view", default_value_t = 0, hide_default_value = true)]
    pub(super) port: u16,
    /// With --view: start the browser.
    #[arg(long, requires = "view")]
    pub(super) open: bool,
}
