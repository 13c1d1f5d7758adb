//! [`TableWriter`] and [`write_all`]: tables of all connections of captures, which need not all be
//! held, or listed in the analysis.

use crate::batch::{BatchBuilder, Error, each_row};
use crate::identity::Identity;
use crate::ipc::ArrowStream;
#[cfg(feature = "parquet")]
use crate::parquet::ParquetWriter;
use crate::row::{PacketOfRow, Place, Row, begins_in};
use crate::table::Table;
use crate::tsv::TsvWriter;
use arrow_array::RecordBatch;
use std::io::{Sink, Write};
use whyslow_analysis::{Analysis, Connection};
use whyslow_diagnosis::series::Point;

/// Connections whose rows are made together.
const CHUNK: usize = 64;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An Arrow IPC stream, which is read while it is written.
    Arrow,
    /// A line of names, then a line for each row: values with tabs between them.
    Tsv,
    /// A Parquet file, compressed with zstd.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Writes one table.
pub struct TableWriter<W: Write + Send> {
    table: Table,
    form: Form<W>,
}

enum Form<W: Write + Send> {
    Arrow(Box<ArrowStream<W>>),
    Tsv(TsvWriter<W>),
    Given(Box<GivenBatches>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<W>>),
}

impl<W: Write + Send> std::fmt::Debug for TableWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter").field("table", &self.table).finish_non_exhaustive()
    }
}

/// Takes the batches of a table.
type Give = Box<dyn FnMut(RecordBatch) -> Result<(), Error> + Send>;

/// Keeps batches in memory for the caller.
struct GivenBatches {
    builder: BatchBuilder,
    give: Give,
}

impl GivenBatches {
    fn push(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let full = self.builder.push(row)?;
        full.map_or(Ok(()), &mut self.give)
    }

    fn finish(mut self) -> Result<(), Error> {
        let rest = self.builder.take()?;
        rest.map_or(Ok(()), self.give)
    }
}

impl TableWriter<Sink> {
    /// Begins a table whose batches are given to `give`, one by one; its error ends that.
    pub fn giving(table: Table, give: impl FnMut(RecordBatch) -> Result<(), Error> + Send + 'static) -> Self {
        let given = GivenBatches { builder: BatchBuilder::new(table), give: Box::new(give) };
        Self { table, form: Form::Given(Box::new(given)) }
    }
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// Errors of `out`, and of Arrow.
    pub fn new(table: Table, format: Format, out: W) -> Result<Self, Error> {
        let form = match format {
            Format::Arrow => Form::Arrow(Box::new(ArrowStream::new(table, out)?)),
            Format::Tsv => Form::Tsv(TsvWriter::new(table, out)?),
            #[cfg(feature = "parquet")]
            Format::Parquet => Form::Parquet(Box::new(ParquetWriter::new(table, out)?)),
        };
        Ok(Self { table, form })
    }

    fn push(&mut self, row: &Row<'_>) -> Result<(), Error> {
        match &mut self.form {
            Form::Arrow(form) => form.push(row),
            Form::Tsv(form) => form.push(row),
            Form::Given(form) => form.push(row),
            #[cfg(feature = "parquet")]
            Form::Parquet(form) => form.push(row),
        }
    }

    fn push_all(&mut self, analysis: &Analysis, places: Vec<Place>, point: &str) -> Result<(), Error> {
        each_row(analysis, places.into_iter(), point, |row| self.push(row))
    }

    /// Packets of all connections of this analysis.
    fn push_packets<E: From<Error>>(
        &mut self,
        analysis: &Analysis,
        packets: &mut dyn FnMut(&Connection) -> Result<Vec<Point>, E>,
        point: &str,
    ) -> Result<(), E> {
        for (index, connection) in analysis.connections.iter().enumerate() {
            let identity = Identity::of(connection, point);
            let place = Place { connection: Some(index), ..Place::default() };
            let row = Row { identity: Some(&identity), ..Row::of(analysis, place) };
            let mut before = None;
            loop {
                let some = packets(connection)?;
                if some.is_empty() {
                    break;
                }
                for point in &some {
                    self.push(&Row { packet: Some(PacketOfRow { point, before }), ..row })?;
                    before = Some(point.time);
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Error> {
        match self.form {
            Form::Arrow(form) => form.finish(),
            Form::Tsv(_) => Ok(()),
            Form::Given(form) => form.finish(),
            #[cfg(feature = "parquet")]
            Form::Parquet(form) => form.finish(),
        }
    }
}

/// Writes tables of all `connections` of captures: those that `analysis` of them lists, and others
/// between these, in the order of their first packets. `packets` gives packets of a connection,
/// some at a time and in the end none; only the table of packets asks for them. `point` names where
/// the captures were taken. No more is held than the analysis, a few connections, and a batch of
/// each table.
///
/// # Errors
/// Errors of `connections` and `packets`, of the output, and of Arrow.
pub fn write_all<W: Write + Send, E: From<Error>>(
    analysis: &Analysis,
    connections: impl Iterator<Item = Result<Connection, E>>,
    packets: &mut dyn FnMut(&Connection) -> Result<Vec<Point>, E>,
    point: &str,
    mut writers: Vec<TableWriter<W>>,
) -> Result<(), E> {
    let mut begun = vec![0_u64; analysis.captures.len()];
    for writer in &mut writers {
        writer.push_all(analysis, writer.table.places_before(analysis), point)?;
    }
    let mut chunk = Analysis { connections: Vec::new(), findings: Vec::new(), pairs: Vec::new(), ..analysis.clone() };
    let mut connections = connections.peekable();
    while connections.peek().is_some() {
        chunk.connections.clear();
        for connection in connections.by_ref().take(CHUNK) {
            let connection = connection?;
            if let Some(count) = begun.get_mut(begins_in(&connection)) {
                *count += 1;
            }
            chunk.connections.push(connection);
        }
        for writer in &mut writers {
            match writer.table {
                Table::Packets => writer.push_packets(&chunk, packets, point)?,
                table => writer.push_all(&chunk, table.places_of_connections(&chunk), point)?,
            }
        }
    }
    for connection in &analysis.connections {
        if let Some(count) = begun.get_mut(begins_in(connection)) {
            *count = count.saturating_sub(1);
        }
    }
    for mut writer in writers {
        for place in writer.table.places_behind(analysis) {
            writer.push(&Row { others: &begun, ..Row::of(analysis, place) })?;
        }
        writer.finish()?;
    }
    Ok(())
}
