//! The lab's command line as it is typed.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use whyslow_cli::output::OutputPath;
use whyslow_cli::quantity::{as_written as quantity, pair};
use whyslow_lab::net::config::{Host, PortKind};
use whyslow_lab::scenario::path::QueueSpec;
use whyslow_lab::scenario::profile::Profile;
use whyslow_lab::scenario::units::{BitRate, Share, Time};

/// What the lab is to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// Run one's own programs at the two ends of a path, and explain what happened.
    Exec(Exec),
    /// Open a shell on one of the two hosts.
    Shell(Shell),
    /// List the bundled experiments, or print one, to start one's own from.
    List {
        /// A bundled experiment.
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Run experiments: bundled ones by name, one's own by file.
    Run(Run),
    /// Print the table of all results below a folder.
    Show(Show),
    /// Run an experiment's conditions, each for some seconds, and write a page with graphs of all.
    #[cfg(feature = "eval")]
    Gallery(whyslow_eval::Gallery),
    /// For developers: measure how accurate the emulated path is on this machine.
    Check(Check),
    /// For developers: measure how often the explanation is right, for transfers of every cause,
    /// drawn by chance.
    #[cfg(feature = "eval")]
    Score(whyslow_eval::Score),
    /// For developers: find captures whose run in the lab contradicts their explanation and agrees
    /// with another.
    #[cfg(feature = "eval")]
    Disagree(whyslow_eval::Disagree),
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Bundled experiments, or TOML files.
    #[arg(required = true, value_name = "NAME|FILE", value_hint = clap::ValueHint::FilePath)]
    pub names: Vec<String>,

    /// Folder of the results; an existing unchanged run is kept.
    #[arg(long = "output", alias = "out", short = 'o', value_name = "DIR", default_value = "lab-results")]
    pub out: OutputPath,

    /// Only runs whose name contains this; may be given more than once.
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,

    /// Number of times to make each run.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,

    /// Number of runs at the same time; they disturb each other on few processors.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: u32,

    /// Maximum number of tries if the machine disturbs a run.
    #[arg(long = "tries", alias = "attempts", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub attempts: u32,

    /// Set a key of the scenario, as `path.rtt=50ms`; may be given more than once.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,

    #[command(flatten)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A folder of results.
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub folder: PathBuf,

    /// The figures to show, separated by commas [default: those of the buffers experiment].
    #[arg(long, value_name = "FIGURE", value_delimiter = ',', value_parser = figure)]
    pub columns: Vec<String>,

    #[command(flatten)]
    pub format: Format,
}

#[derive(Clone, Copy, Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Format {
    /// Print plain numbers in base units, separated by commas.
    #[arg(long)]
    pub csv: bool,

    /// Print everything as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// The server's command line; a shell runs it. $SERVER and $CLIENT are the addresses.
    #[arg(long, value_name = "COMMAND", required_unless_present = "nat")]
    pub server: Option<String>,

    /// The client's; it is started as soon as the server listens.
    #[arg(long, value_name = "COMMAND")]
    pub client: String,

    /// Let the client reach services outside at these TCP ports, and ask for names; `--nat` alone
    /// is 80 and 443.
    #[arg(long, value_name = "PORTS", value_delimiter = ',', num_args = 0..=1, require_equals = true,
        default_missing_value = "80,443", value_parser = clap::value_parser!(u16).range(1..))]
    pub nat: Vec<u16>,

    /// Folder for the captures and the records of the run.
    #[arg(long = "output", alias = "out", short = 'o', value_name = "DIR", default_value = "lab-results/exec")]
    pub out: OutputPath,

    /// Print the explanation as one JSON object (schema whyslow/2).
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub path: Path,
}

#[derive(Debug, Args)]
pub(crate) struct Shell {
    /// Whose shell.
    #[arg(value_enum, default_value_t = End::Client)]
    pub host: End,

    /// A command that runs on the other host while the shell is open.
    #[arg(long, value_name = "COMMAND")]
    pub other: Option<String>,

    #[command(flatten)]
    pub path: Path,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// About 20 s instead of 70 s, with three times the bounds.
    #[arg(long)]
    pub quick: bool,

    /// What carries the packets between hosts and emulator.
    #[arg(long, value_enum, default_value_t = Port::Veth)]
    pub port: Port,

    /// Print the table as JSON.
    #[arg(long)]
    pub json: bool,
}

/// What the path is like. All but the round-trip time are for each direction.
#[derive(Debug, Args)]
#[command(next_help_heading = "The path (each option but --rtt is for each direction; --set tells them apart)")]
pub(crate) struct Path {
    /// A kind of access network, whose figures the options below replace: wifi, fiber, cable, lte,
    /// dsl, 3g, edge or satellite.
    #[arg(long, value_name = "NAME", value_parser = profile)]
    pub profile: Option<Profile>,

    /// Deliver packets towards the server when this trace of mahimahi does, instead of at a rate.
    #[arg(long, value_name = "FILE", conflicts_with = "rate", value_hint = clap::ValueHint::FilePath)]
    pub up: Option<PathBuf>,

    /// The same towards the client.
    #[arg(long, value_name = "FILE", conflicts_with = "rate", value_hint = clap::ValueHint::FilePath)]
    pub down: Option<PathBuf>,

    /// Round-trip time without queueing, as 100ms.
    #[arg(long, value_name = "TIME", value_parser = quantity::<Time>)]
    pub rtt: Option<String>,

    /// Rate of the link, as 8mbit.
    #[arg(long, value_name = "RATE", value_parser = quantity::<BitRate>)]
    pub rate: Option<String>,

    /// What may wait in front of the rate: "64KiB", "100ms" or "50 packets".
    #[arg(long, value_name = "SIZE", value_parser = quantity::<QueueSpec>)]
    pub queue: Option<String>,

    /// Share of the packets that is lost, as 1%.
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>)]
    pub loss: Option<String>,

    /// Share that arrives twice.
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>)]
    pub duplicate: Option<String>,

    /// Share that arrives damaged.
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>)]
    pub corrupt: Option<String>,

    /// Share that later packets overtake.
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>)]
    pub reorder: Option<String>,

    /// Set a key of the scenario, as `path.down.loss=1%` or `client.window_scaling=false`; may be
    /// given more than once.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum End {
    /// The end that connects.
    Client,
    /// The end that listens.
    Server,
}

impl From<End> for Host {
    fn from(end: End) -> Self {
        match end {
            End::Client => Self::Client,
            End::Server => Self::Server,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Port {
    /// A pair of virtual Ethernet devices and a packet socket.
    Veth,
    /// A TUN device, where its node opens.
    Tun,
}

impl From<Port> for PortKind {
    fn from(port: Port) -> Self {
        match port {
            Port::Veth => Self::Veth,
            Port::Tun => Self::Tun,
        }
    }
}

fn profile(name: &str) -> Result<Profile, String> {
    Profile::named(name).ok_or_else(|| {
        let names: Vec<&str> = Profile::ALL.iter().map(|profile| profile.name).collect();
        format!("there is no profile `{name}`; there are: {}", names.join(", "))
    })
}

fn figure(text: &str) -> Result<String, String> {
    match whyslow_lab::figures::kind(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!("there is no figure `{text}`; there are: {}", whyslow_lab::figures::allowed())),
    }
}
