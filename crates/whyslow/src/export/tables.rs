//! Tables of all connections: Parquet files, an Arrow stream, tab-separated values.

use super::args::{Export, Of};
#[cfg(feature = "parquet")]
use super::parquet;
use crate::output::{Sources, Target};
use crate::report;
use anyhow::bail;
use std::io::{IsTerminal, stdout};
use std::process::ExitCode;
use whyslow_core::compare::TransferName;
use whyslow_io::Input;
use whyslow_serve::Opening;
use whyslow_tables::{Format, Table, TableWriter, write_all};

/// How tables are written; none where no table is wanted.
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
        Some(Of::End(_)) => bail!("--of names a table here: connections, transfers, findings, files, problems, rounds"),
        None => None,
    };
    let sources = Sources::of(inputs);
    #[cfg(feature = "parquet")]
    if let Some(place) = &task.parquet {
        return parquet::run(&parquet::Wanted { place, table, point: &task.capture_point }, inputs, &sources);
    }
    if form == Format::Arrow && task.output.is_none() && stdout().is_terminal() {
        bail!("an Arrow stream is no text: write it to a file with --output, or into a pipe");
    }
    let mut target = Target::open(task.output.as_deref(), &sources)?;
    let (reading, unlisted) = report::read_every(&Opening::of(inputs.to_vec()))?;
    let connections = unlisted.with_listed(&reading.analysis)?.map(|one| one.map_err(anyhow::Error::from));
    let writer = TableWriter::new(table.unwrap_or(Table::Transfers), form, &mut target)?;
    write_all(&reading.analysis, connections, &task.capture_point, vec![writer])?;
    target.finish()?;
    Ok(ExitCode::SUCCESS)
}
