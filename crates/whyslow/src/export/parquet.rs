//! Tables as Parquet files.

use super::captures::Captures;
use super::folders::NewFolders;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use whyslow_cli::output::{Sources, Target};
use whyslow_cli::place::Readable;
use whyslow_tables::{Format, Table, TableWriter};

/// The tables to write, and their files.
pub(super) struct Wanted<'a> {
    pub(super) place: &'a Path,
    pub(super) table: Option<Table>,
    pub(super) point: &'a str,
}

impl Wanted<'_> {
    /// A name that ends in `.parquet` is a file, any other a folder.
    fn is_file(&self) -> bool {
        self.place.extension().is_some_and(|end| end == "parquet") && !self.place.is_dir()
    }

    fn tables(&self) -> Vec<Table> {
        match self.table {
            Some(table) => vec![table],
            None if self.is_file() => vec![Table::Transfers],
            None => Table::USUAL.to_vec(),
        }
    }

    fn path(&self, table: Table) -> PathBuf {
        if self.is_file() { self.place.to_owned() } else { self.place.join(format!("{}.parquet", table.name())) }
    }
}

/// Writes one file, or one for each table into a folder: all of them or none.
///
/// # Errors
/// When one of them is an input or cannot be written, or the inputs cannot be read.
pub(super) fn run(wanted: &Wanted<'_>, readable: &Readable, sources: &Sources) -> anyhow::Result<ExitCode> {
    let mut made = if wanted.is_file() { None } else { Some(NewFolders::folder(wanted.place)?) };
    let tables = wanted.tables();
    // All targets are opened before anything is read, so that errors are printed at once.
    let targets = tables.iter().map(|&table| Target::open(Some(&wanted.path(table)), sources));
    let mut targets = targets.collect::<anyhow::Result<Vec<_>>>()?;
    let captures = Captures { inputs: &readable.inputs, point: wanted.point, twice: tables.contains(&Table::Packets) };
    captures.write(|| {
        let opened = tables.iter().zip(&mut targets);
        let writers = opened.map(|(&table, out)| TableWriter::new(table, Format::Parquet, out));
        Ok(writers.collect::<Result<Vec<_>, _>>()?)
    })?;
    Target::finish_all(targets)?;
    if let Some(made) = &mut made {
        made.keep();
    }
    Ok(readable.status())
}
