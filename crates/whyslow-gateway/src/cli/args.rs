//! The gateway's command line as it is typed.

use super::quantities;
use super::source::Source;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use whyslow_gateway::age::Recipient;
use whyslow_output::OutputPath;

/// Serve S3, and keep what clients store encrypted elsewhere, over connections that stay warm; seal
/// and open such objects.
#[derive(Debug, Parser)]
#[command(name = "whyslow-gateway", version, max_term_width = 100)]
#[command(after_help = "`whyslow gateway` starts it as well.\n\
Exit status: 0 it did what it was asked for, 1 `check` found damaged objects, 2 it could not; a signal that ends `serve` at once is 128 and its number.")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub task: Gateway,

    /// Whether to use colour.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Also in a pipe.
    Always,
    /// Never.
    Never,
}

/// What to do with objects and keys.
#[derive(Debug, Subcommand)]
pub(crate) enum Gateway {
    /// Make an operator's key, as `age-keygen` does, and print its recipient.
    Keygen {
        /// The file to make; it must not be there yet.
        #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
        output: OutputPath,
    },
    /// Make an epoch: what objects are sealed to. Print its id.
    Epoch {
        #[command(flatten)]
        to: Recipients,
        /// The file to make; it must not be there yet.
        #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
        output: OutputPath,
    },
    /// Seal an epoch's file to other operators. No object is sealed again.
    ///
    /// Operators who could open the old file may have kept its contents: make a new epoch for new
    /// objects if that matters.
    Rekey {
        /// The epoch's file.
        #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
        epoch: PathBuf,
        #[command(flatten)]
        identities: Identities,
        #[command(flatten)]
        to: Recipients,
        /// The file to make; it must not be there yet.
        #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
        output: OutputPath,
    },
    /// Seal a file as an object, and print the object's metadata.
    Seal(Seal),
    /// Open an object, or a range of it.
    Open(Open),
    /// Print where in an object each slice lies; every one opens with stock age.
    ///
    /// For an object in a store, its head is read and, if it came in parts, its last bytes. With
    /// `--metadata` it is a file of this machine.
    Layout(Box<LayoutArgs>),
    /// Make keys, an access key and a file of settings in a folder, and print how to go on.
    Init {
        /// The folder.
        #[arg(value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
        folder: OutputPath,
        /// Where objects will be stored, as `serve` has it.
        #[arg(long, value_name = "STORE")]
        store: Option<super::place::Place>,
    },
    /// Serve S3 to clients, and keep their objects encrypted in another store.
    ///
    /// Every option may also be given as a variable WHYSLOW_GATEWAY_NAME, and in a file of
    /// settings. Secrets are read from files, variables and programs, never from arguments. SIGTERM
    /// and Ctrl-C let what runs come to its end; the second one ends at once.
    Serve(Box<ServeArgs>),
    /// Print the limits of the transfers of a gateway that runs.
    Stats(StatsArgs),
    /// Verify the objects of a bucket, and print those that are damaged.
    ///
    /// Every object is read and opened. Exit status 1: some are damaged; 2: some could not be read.
    Check(Box<CheckArgs>),
    /// List the uploads in parts that were never completed, and drop them.
    Clean(Box<CleanArgs>),
    /// Print a completion script for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual pages of all commands (roff), as for `whyslow-gateway man | man -l -`.
    #[command(hide = true)]
    Man {
        /// Write a file for each command into this folder.
        #[arg(long, short, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
        output: Option<OutputPath>,
    },
}

/// The endpoint.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub file: super::options::ConfigFile,
    #[command(flatten)]
    pub options: super::config::Options,
}

/// Which server to ask, and how to print the answer.
#[derive(Debug, ClapArgs)]
pub(crate) struct StatsArgs {
    /// The gateway's administration, `--admin` of `serve`.
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:9001")]
    pub url: String,
    /// Print everything as JSON (schema whyslow-gateway-stats/1).
    #[arg(long)]
    pub json: bool,
    /// How many of the slowest transfers to print.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

/// The objects to verify.
#[derive(Debug, ClapArgs)]
pub(crate) struct CheckArgs {
    /// Only in this bucket [default: the store's, or all].
    #[arg(long, value_name = "BUCKET")]
    pub bucket: Option<String>,
    /// Only objects whose key begins with this prefix.
    #[arg(long, value_name = "PREFIX", default_value = "")]
    pub prefix: String,
    /// Verify metadata, header and manifest alone: two requests an object, and not its bytes.
    #[arg(long)]
    pub heads: bool,
    /// Objects that are read at once.
    #[arg(long, value_name = "N", default_value = "8")]
    pub parallel: std::num::NonZeroU8,
    #[command(flatten)]
    pub file: super::options::ConfigFile,
    #[command(flatten)]
    pub storage: super::options::Storage,
    #[command(flatten)]
    pub keys: super::options::KeyFiles,
}

/// What to drop.
#[derive(Debug, ClapArgs)]
pub(crate) struct CleanArgs {
    /// Drop uploads that began at least this long ago.
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub older_than: super::quantities::Age,
    /// Drop the uploads; otherwise they are only listed.
    #[arg(long)]
    pub yes: bool,
    /// Only in this bucket [default: the store's, or all].
    #[arg(long, value_name = "BUCKET")]
    pub bucket: Option<String>,
    #[command(flatten)]
    pub file: super::options::ConfigFile,
    #[command(flatten)]
    pub storage: super::options::Storage,
}

/// The operators for an epoch's file.
#[derive(Debug, ClapArgs)]
pub(crate) struct Recipients {
    /// An operator, as `age1…`; may be given more than once.
    #[arg(long = "recipient", short, required = true, value_name = "AGE1")]
    pub recipients: Vec<Recipient>,
}

/// The operators of an epoch's file.
#[derive(Debug, ClapArgs)]
pub(crate) struct Identities {
    /// Where an operator's identity is: `file:PATH`, `env:NAME`, or `command:PROGRAM` for what a
    /// program prints; may be given more than once. Never the identity itself.
    #[arg(long = "identity", short = 'i', required = true, value_name = "SOURCE", value_parser = Source::new)]
    pub sources: Vec<Source>,
}

/// The available epochs.
#[derive(Debug, ClapArgs)]
pub(crate) struct Keys {
    /// An epoch's file; may be given more than once. Objects are sealed to the first, and opened
    /// with any.
    #[arg(long = "epoch", required = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub epochs: Vec<PathBuf>,
    #[command(flatten)]
    pub identities: Identities,
}

/// What an object is bound to.
#[derive(Debug, ClapArgs)]
pub(crate) struct Bound {
    /// The object's bucket and key, which it is bound to.
    #[arg(long, value_name = "BUCKET/KEY", value_parser = name)]
    pub name: (String, String),
    /// What else it is bound to, as `Content-Type=text/plain`; may be given more than once.
    #[arg(long = "bind", value_name = "NAME=VALUE", value_parser = attribute)]
    pub attributes: Vec<(String, String)>,
}

/// A file to seal.
#[derive(Debug, ClapArgs)]
pub(crate) struct Seal {
    /// The file.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub file: PathBuf,
    #[command(flatten)]
    pub keys: Keys,
    #[command(flatten)]
    pub bound: Bound,
    /// As a multipart upload with parts of this size, as `8MiB` [default: as one PUT].
    #[arg(long, value_name = "SIZE", value_parser = quantities::size)]
    pub part_size: Option<u64>,
    /// With `--part-size`: fill a slice up to this size, as stores want it of all but the last.
    #[arg(long, value_name = "SIZE", value_parser = quantities::size, requires = "part_size")]
    pub least: Option<u64>,
    /// The object.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: OutputPath,
}

/// A stored object.
#[derive(Debug, ClapArgs)]
pub(crate) struct Stored {
    /// The object.
    #[arg(value_name = "OBJECT", value_hint = clap::ValueHint::FilePath)]
    pub object: PathBuf,
    #[command(flatten)]
    pub keys: Keys,
    #[command(flatten)]
    pub bound: Bound,
    /// Its metadata, as `seal` printed it.
    #[arg(long, value_name = "TEXT")]
    pub metadata: String,
}

/// An object in a store, or a file that is one.
#[derive(Debug, ClapArgs)]
pub(crate) struct LayoutArgs {
    /// The object's key, or BUCKET/KEY where the store names no bucket; with `--metadata` the file.
    #[arg(value_name = "OBJECT", value_hint = clap::ValueHint::FilePath)]
    pub object: PathBuf,
    /// The bucket and key of a file's object, which it is bound to.
    #[arg(long, value_name = "BUCKET/KEY", value_parser = name, requires = "metadata")]
    pub name: Option<(String, String)>,
    /// Attributes that a file is bound to, as `Content-Type=text/plain`; may be given more than
    /// once.
    #[arg(long = "bind", value_name = "NAME=VALUE", value_parser = attribute, requires = "metadata")]
    pub attributes: Vec<(String, String)>,
    /// The metadata of a file, as `seal` printed it.
    #[arg(long, value_name = "TEXT", requires = "name")]
    pub metadata: Option<String>,
    #[command(flatten)]
    pub file: super::options::ConfigFile,
    #[command(flatten)]
    pub storage: super::options::Storage,
    #[command(flatten)]
    pub keys: super::options::KeyFiles,
}

/// An object to open.
#[derive(Debug, ClapArgs)]
pub(crate) struct Open {
    #[command(flatten)]
    pub stored: Stored,
    /// Only these bytes, the first and the last, counted from 0, as in an HTTP range: `0-99`.
    #[arg(long, value_name = "FIRST-LAST", value_parser = range)]
    pub range: Option<(u64, u64)>,
    /// Where to write the plaintext; `-` is stdout, which gets the verified bytes before a fault
    /// [default: stdout].
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<OutputPath>,
}

fn name(text: &str) -> Result<(String, String), String> {
    match text.split_once('/') {
        Some((bucket, key)) if !bucket.is_empty() && !key.is_empty() => Ok((bucket.to_owned(), key.to_owned())),
        _ => Err("write BUCKET/KEY, as photos/2026/one.jpg".to_owned()),
    }
}

fn attribute(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, as Content-Type=text/plain")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let ends = text.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    ends.filter(|(first, last)| first <= last).ok_or_else(|| "write FIRST-LAST, as 0-99".to_owned())
}
