//! Tables of all connections: Parquet files, an Arrow stream, tab-separated values.

use super::args::{Export, Of};
#[cfg(feature = "parquet")]
use super::parquet;
use crate::output::{Sources, Target, complain};
use crate::progress::Meter;
use crate::report;
use crate::spooled::SpooledInputs;
use anyhow::bail;
use std::io::{IsTerminal, Write, stdout};
use std::process::ExitCode;
use whyslow_core::analysis::Connection;
use whyslow_core::compare::TransferName;
use whyslow_io::{EveryPacket, Input, Stop};
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
        Some(Of::End(_)) => {
            let names = Table::ALL.map(Table::name).join(", ");
            bail!("--of names a table here: {names}")
        }
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
    let table = table.unwrap_or(Table::Transfers);
    let captures = Captures { inputs, point: &task.capture_point, twice: table == Table::Packets };
    captures.write(|| Ok(vec![TableWriter::new(table, form, &mut target)?]))?;
    target.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// What tables are made of.
pub(super) struct Captures<'a> {
    pub(super) inputs: &'a [Input],
    pub(super) point: &'a str,
    /// They are read a second time, for their packets.
    pub(super) twice: bool,
}

impl Captures<'_> {
    /// Reads them, and then writes all rows of these tables.
    ///
    /// # Errors
    /// When one cannot be read, or a table cannot be written.
    pub(super) fn write<W: Write + Send>(
        &self,
        writers: impl FnOnce() -> anyhow::Result<Vec<TableWriter<W>>>,
    ) -> anyhow::Result<()> {
        let spooled = if self.twice { Some(SpooledInputs::new(self.inputs)?) } else { None };
        let opening = match &spooled {
            Some(spooled) => Opening { names: spooled.names(), ..Opening::of(spooled.inputs().to_vec()) },
            None => Opening::of(self.inputs.to_vec()),
        };
        let (mut reading, unlisted) = report::read_every(&opening)?;
        for capture in &mut reading.analysis.captures {
            capture.path = opening.name(&capture.path);
        }
        let connections = unlisted.with_listed(&reading.analysis)?.map(|one| one.map_err(anyhow::Error::from));
        let mut meter = Meter::new();
        let mut progress = |progress| meter.update(progress);
        let mut packets = EveryPacket::new(&reading, &Stop::default(), &mut progress);
        let mut packets_of = |connection: &Connection| {
            packets.of(connection).map_err(|error| anyhow::Error::msg(opening.with_names(&error.to_string())))
        };
        write_all(&reading.analysis, connections, &mut packets_of, self.point, writers()?)?;
        let late = packets.late();
        if late > 0 {
            complain(&format!("{late} verdicts came more than 262,144 packets late and are not in it"));
        }
        Ok(())
    }
}
