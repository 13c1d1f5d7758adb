//! The command line of `whyslow export`.

use clap::builder::PossibleValue;
use clap::{ArgGroup, Args, ValueEnum};
use std::path::PathBuf;
use whyslow_analysis::End;
use whyslow_cli::output::OutputPath;
use whyslow_cli::quantity;
use whyslow_tables::Table;
use whyslow_units::Nanos;

/// What to export.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("format").required(true))]
pub(crate) struct Export {
    /// A connection: `FILE` is the one with the largest transfer, `FILE#3` connection 3. Several
    /// files as for `explain`: those that follow each other in time are one capture; `-` is
    /// standard input.
    #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
    /// The connection, by the number that `explain` has for it.
    #[arg(long, value_name = "ID", value_parser = whyslow_cli::select::connection)]
    pub(super) connection: Option<u64>,
    /// Its packets with their classification, as CSV.
    #[arg(long, group = "format")]
    pub(super) csv: bool,
    /// The same as JSON objects, one per line (schema whyslow-packets/1).
    #[arg(long, group = "format")]
    pub(super) jsonl: bool,
    /// Graphs for xplot, in tcptrace's kinds, as files in the folder of --output [default: here].
    #[arg(long, group = "format")]
    pub(super) xplot: bool,
    /// A picture of a track, as SVG.
    #[arg(long, group = "format")]
    pub(super) svg: bool,
    /// A picture of a track, as PNG.
    #[arg(long, group = "format")]
    pub(super) png: bool,
    /// The findings, as Markdown for a ticket.
    #[arg(long, group = "format")]
    pub(super) markdown: bool,
    /// Tables of all connections, transfers and findings, as Parquet files in this folder; or one
    /// table (--of) in a file that is called `….parquet`.
    #[cfg(feature = "parquet")]
    #[arg(long, group = "format", value_name = "DIR|FILE", conflicts_with = "output", value_hint = clap::ValueHint::AnyPath)]
    pub(super) parquet: Option<OutputPath>,
    /// One of these tables (--of) as an Arrow IPC stream.
    #[arg(long, group = "format")]
    pub(super) arrow: bool,
    /// The same as tab-separated values: a line of names, then a line per row.
    #[arg(long, group = "format")]
    pub(super) tsv: bool,
    /// The graph of a picture.
    #[arg(long, value_enum, default_value_t = TrackArg::TimeSequence)]
    pub(super) track: TrackArg,
    /// Which table [default: transfers; all but rounds and packets in a folder]; or the end whose
    /// data a picture shows [default: the end that sent more].
    #[arg(long, value_enum, value_name = "TABLE|END")]
    pub(super) of: Option<Of>,
    /// In tables: your name for the place of the capture. It is hashed into `uid`, so that one
    /// connection has different values at different places.
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(super) capture_point: String,
    /// Start of a picture, in seconds after the capture's first packet [default: with the
    /// connection].
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    pub(super) from: Option<Nanos>,
    /// End of a picture [default: with the connection].
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    pub(super) to: Option<Nanos>,
    /// With `--track io`: count packets in intervals of this length, as `1ms` [default: about a
    /// hundred intervals].
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    pub(super) interval: Option<Nanos>,
    /// Pixels of a picture.
    #[arg(long, value_name = "WxH", default_value = "1200x600", value_parser = size)]
    pub(super) size: (u32, u32),
    /// Write it here; `-` is stdout [default: stdout].
    #[arg(long, short, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    pub(super) output: Option<OutputPath>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TrackArg {
    /// Segments, ACKs and the window's edge.
    TimeSequence,
    /// Bytes in flight, and the window.
    InFlight,
    /// Round trips.
    Rtt,
    /// Throughput and goodput.
    Throughput,
    /// The window that was offered.
    Window,
    /// Packets in each interval, both ways: the I/O graph.
    Io,
}

/// A table, or an end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Table(Table),
    End(End),
}

impl ValueEnum for Of {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Of; 9] = [
            Of::Table(Table::Connections),
            Of::Table(Table::Transfers),
            Of::Table(Table::Findings),
            Of::Table(Table::Files),
            Of::Table(Table::Problems),
            Of::Table(Table::Rounds),
            Of::Table(Table::Packets),
            Of::End(End::Client),
            Of::End(End::Server),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::Table(table) => table.name(),
            Self::End(End::Client) => "client",
            Self::End(End::Server) => "server",
        }))
    }
}

/// `1200x600`.
fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match sides {
        Some((width @ 320..=8192, height @ 200..=8192)) => Ok((width, height)),
        Some(_) => Err(format!("`{text}` is out of range: from 320x200 to 8192x8192")),
        None => Err(format!("`{text}` is no size, as `1200x600`")),
    }
}
