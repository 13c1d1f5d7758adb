//! [`Batches`]: a table in Arrow record batches.

use crate::column::{Column, Kind, Value};
use crate::identity::Identity;
use crate::row::{Place, Row};
use crate::table::Table;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use std::borrow::Borrow;
use std::sync::Arc;
use whyslow_analysis::Analysis;

/// Maximum number of rows of a batch: a few megabytes of the widest table.
pub const ROWS: usize = 8_192;

/// Why a table could not be made or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Arrow refuses: a column has more text than 32-bit offsets reach.
    #[error("{0}")]
    Arrow(#[from] ArrowError),
    /// It cannot be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The Parquet file cannot be written.
    #[cfg(feature = "parquet")]
    #[error("{0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
}

/// Makes batches of rows that are pushed.
pub(crate) struct BatchBuilder {
    columns: Vec<Column>,
    schema: SchemaRef,
    builders: Vec<Builder>,
    rows: usize,
}

impl BatchBuilder {
    pub(crate) fn new(table: Table) -> Self {
        let columns = table.columns();
        let builders = builders(&columns);
        Self { builders, columns, schema: Arc::new(table.schema()), rows: 0 }
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Adds a row; gives the batch that it fills.
    pub(crate) fn push(&mut self, row: &Row<'_>) -> Result<Option<RecordBatch>, ArrowError> {
        for (column, builder) in self.columns.iter().zip(&mut self.builders) {
            builder.push(column.get(row));
        }
        self.rows += 1;
        if self.rows < ROWS { Ok(None) } else { self.take() }
    }

    /// The batch of the rows that were not given yet, if there are any.
    pub(crate) fn take(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if std::mem::take(&mut self.rows) == 0 {
            return Ok(None);
        }
        let full = std::mem::replace(&mut self.builders, builders(&self.columns));
        let arrays = full.into_iter().map(Builder::finish).collect();
        RecordBatch::try_new(self.schema(), arrays).map(Some)
    }
}

fn builders(columns: &[Column]) -> Vec<Builder> {
    columns.iter().map(|column| Builder::new(column.kind)).collect()
}

/// Calls `take` with the row of each place, of captures that were taken at `point`.
pub(crate) fn each_row<E>(
    analysis: &Analysis,
    places: impl Iterator<Item = Place>,
    point: &str,
    mut take: impl FnMut(&Row<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut known: Option<(usize, Identity)> = None;
    for place in places {
        // Rows of one connection follow each other.
        if known.as_ref().map(|(index, _)| *index) != place.connection {
            let connection = place.connection.and_then(|index| Some((index, analysis.connections.get(index)?)));
            known = connection.map(|(index, connection)| (index, Identity::of(connection, point)));
        }
        let identity = known.as_ref().map(|(_, identity)| identity);
        take(&Row { identity, ..Row::of(analysis, place) })?;
    }
    Ok(())
}

/// A table of an analysis, read batch by batch of at most [`ROWS`] rows, always in the same order.
/// A table without rows has no batch.
pub struct Batches<A> {
    analysis: A,
    point: String,
    builder: BatchBuilder,
    places: std::vec::IntoIter<Place>,
}

impl<A> std::fmt::Debug for Batches<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("schema", &self.builder.schema).finish_non_exhaustive()
    }
}

impl<A: Borrow<Analysis>> Batches<A> {
    /// `point` names where the captures were taken; it is hashed into `uid`, and may be empty.
    pub fn new(analysis: A, table: Table, point: &str) -> Self {
        let places = table.places(analysis.borrow()).into_iter();
        Self { analysis, point: point.to_owned(), builder: BatchBuilder::new(table), places }
    }

    /// Rows that are still to come.
    pub fn rows_left(&self) -> usize {
        self.places.len()
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let (builder, mut full) = (&mut self.builder, None);
        each_row(self.analysis.borrow(), self.places.by_ref().take(ROWS), &self.point, |row| {
            builder.push(row).map(|batch| full = batch)
        })?;
        full.map_or_else(|| self.builder.take(), |full| Ok(Some(full)))
    }
}

impl<A: Borrow<Analysis>> Iterator for Batches<A> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

impl<A: Borrow<Analysis>> RecordBatchReader for Batches<A> {
    fn schema(&self) -> SchemaRef {
        self.builder.schema()
    }
}

/// A column of a batch while it is made.
enum Builder {
    Int(Int64Builder),
    Float(Float64Builder),
    Text(StringBuilder),
    Bool(BooleanBuilder),
    Timestamp(TimestampMicrosecondBuilder),
    Ints(ListBuilder<Int64Builder>),
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Int => Self::Int(Int64Builder::new()),
            Kind::Float => Self::Float(Float64Builder::new()),
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
            Kind::Timestamp => Self::Timestamp(TimestampMicrosecondBuilder::new().with_data_type(kind.data_type())),
            Kind::Ints => Self::Ints(ListBuilder::new(Int64Builder::new())),
        }
    }

    /// A value of another type than the column's is not known.
    fn push(&mut self, value: Option<Value>) {
        match (self, value) {
            (Self::Int(builder), Some(Value::Int(value))) => builder.append_value(value),
            (Self::Int(builder), _) => builder.append_null(),
            (Self::Float(builder), Some(Value::Float(value))) => builder.append_value(value),
            (Self::Float(builder), _) => builder.append_null(),
            (Self::Text(builder), Some(Value::Text(value))) => builder.append_value(value),
            (Self::Text(builder), _) => builder.append_null(),
            (Self::Bool(builder), Some(Value::Bool(value))) => builder.append_value(value),
            (Self::Bool(builder), _) => builder.append_null(),
            (Self::Timestamp(builder), Some(Value::Timestamp(value))) => builder.append_value(value),
            (Self::Timestamp(builder), _) => builder.append_null(),
            (Self::Ints(builder), Some(Value::Ints(values))) => builder.append_value(values.into_iter().map(Some)),
            (Self::Ints(builder), _) => builder.append_null(),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Int(mut builder) => Arc::new(builder.finish()),
            Self::Float(mut builder) => Arc::new(builder.finish()),
            Self::Text(mut builder) => Arc::new(builder.finish()),
            Self::Bool(mut builder) => Arc::new(builder.finish()),
            Self::Timestamp(mut builder) => Arc::new(builder.finish()),
            Self::Ints(mut builder) => Arc::new(builder.finish()),
        }
    }
}
