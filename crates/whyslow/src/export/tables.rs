//! Tables of all connections: Parquet files, an Arrow stream, tab-separated values.

use super::args::{Export, Of};
use super::captures::Captures;
#[cfg(feature = "parquet")]
use super::parquet;
use anyhow::bail;
use std::io::{IsTerminal, stdout};
use std::process::ExitCode;
use whyslow_cli::keylog;
use whyslow_cli::output::{Target, sources};
use whyslow_cli::place::Readable;
use whyslow_diagnosis::compare::TransferName;
use whyslow_io::Input;
use whyslow_tables::{Format, Table, TableWriter};

/// Format of the tables; `None` if no table is requested.
pub(super) fn format(task: &Export) -> Option<Format> {
    #[cfg(feature = "parquet")]
    if task.parquet.is_some() {
        return Some(Format::Parquet);
    }
    match (task.arrow, task.tsv) {
        (true, _) => Some(Format::Arrow),
        (_, true) => Some(Format::Tsv),
        (false, false) => None,
    }
}

/// Reads the captures once, and writes the tables that are wanted.
///
/// # Errors
/// When a capture cannot be read, a table cannot be written, or one connection is named.
pub(super) fn run(task: &Export, form: Format, inputs: &[Input], which: TransferName) -> anyhow::Result<ExitCode> {
    if let Some(id) = which.connection {
        bail!(
            "tables hold all connections: leave out connection {id}, and select it in the table (`connection` = {id})"
        );
    }
    let table = match task.of {
        Some(Of::Table(table)) => Some(table),
        Some(Of::End(_)) => {
            let names = Table::ALL.map(Table::name).join(", ");
            bail!("--of names a table here: {names}")
        }
        None => None,
    };
    let sources = keylog::protected(sources(inputs));
    let readable = Readable::of(inputs)?;
    #[cfg(feature = "parquet")]
    if let Some(place) = &task.parquet {
        return parquet::run(&parquet::Wanted { place, table, point: &task.capture_point }, &readable, &sources);
    }
    if form == Format::Arrow && task.output.is_none() && stdout().is_terminal() {
        bail!("an Arrow stream is no text: write it to a file with --output, or into a pipe");
    }
    let mut target = Target::open(task.output.as_deref(), &sources)?;
    let table = table.unwrap_or(Table::Transfers);
    let captures = Captures { inputs: &readable.inputs, point: &task.capture_point, twice: table == Table::Packets };
    captures.write(|| Ok(vec![TableWriter::new(table, form, &mut target)?]))?;
    target.finish()?;
    Ok(readable.status())
}
