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
use whyslow_tables::{Batches, Table, ipc, tsv};

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    #[cfg(feature = "parquet")]
    Parquet,
    Arrow,
    Tsv,
}

impl Form {
    /// None where no table is wanted.
    pub(super) fn of(task: &Export) -> Option<Self> {
        #[cfg(feature = "parquet")]
        if task.parquet.is_some() {
            return Some(Self::Parquet);
        }
        match (task.arrow, task.tsv) {
            (true, _) => Some(Self::Arrow),
            (_, true) => Some(Self::Tsv),
            (false, false) => None,
        }
    }
}

/// Reads the captures once, and writes the tables that are wanted.
///
/// # Errors
/// When a capture cannot be read, a table cannot be written, or one connection is named.
pub(super) fn run(task: &Export, form: Form, inputs: &[Input], which: TransferName) -> anyhow::Result<ExitCode> {
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
    if form == Form::Arrow && task.output.is_none() && stdout().is_terminal() {
        bail!("an Arrow stream is no text: write it to a file with --output, or into a pipe");
    }
    let mut target = Target::open(task.output.as_deref(), &sources)?;
    let analysis = report::read(&Opening::of(inputs.to_vec()))?.analysis;
    let batches = Batches::new(&analysis, table.unwrap_or(Table::Transfers), &task.capture_point);
    match form {
        Form::Arrow => ipc::write(batches, &mut target)?,
        _ => tsv::write(batches, &mut target)?,
    }
    target.finish()?;
    Ok(ExitCode::SUCCESS)
}
