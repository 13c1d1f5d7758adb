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
use whyslow_core::analysis::Analysis;

/// Most rows of a batch: a few megabytes of the widest table.
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

/// A table of an analysis, read batch by batch of at most [`ROWS`] rows, always in the same order.
/// A table without rows has no batch.
pub struct Batches<A> {
    analysis: A,
    point: String,
    columns: Vec<Column>,
    schema: SchemaRef,
    places: std::vec::IntoIter<Place>,
}

impl<A> std::fmt::Debug for Batches<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<A: Borrow<Analysis>> Batches<A> {
    /// `point` names where the captures were taken; it is hashed into `uid`, and may be empty.
    pub fn new(analysis: A, table: Table, point: &str) -> Self {
        let places = table.places(analysis.borrow()).into_iter();
        let (columns, schema) = (table.columns(), Arc::new(table.schema()));
        Self { analysis, point: point.to_owned(), columns, schema, places }
    }

    /// Rows that are still to come.
    pub fn rows_left(&self) -> usize {
        self.places.len()
    }

    /// Calls `take` with the values of each row that is still to come, up to `most` rows.
    fn each(&mut self, most: usize, mut take: impl FnMut(&[Column], &Row<'_>)) {
        let mut known: Option<(usize, Identity)> = None;
        for place in self.places.by_ref().take(most) {
            let analysis = self.analysis.borrow();
            // Rows of one connection follow each other.
            if known.as_ref().map(|(index, _)| *index) != place.connection {
                let connection = place.connection.and_then(|index| Some((index, analysis.connections.get(index)?)));
                known = connection.map(|(index, connection)| (index, Identity::of(connection, &self.point)));
            }
            let identity = known.as_ref().map(|(_, identity)| identity);
            take(&self.columns, &Row { analysis, place, identity });
        }
    }

    /// Calls `take` with each row's values, those that are not known as none.
    pub(crate) fn each_row(mut self, mut take: impl FnMut(Vec<Option<Value>>)) {
        self.each(usize::MAX, |columns, row| take(columns.iter().map(|column| column.get(row)).collect()));
    }

    fn batch(&mut self, rows: usize) -> Result<RecordBatch, ArrowError> {
        let mut builders: Vec<Builder> = self.columns.iter().map(|column| Builder::new(column.kind, rows)).collect();
        self.each(rows, |columns, row| {
            for (column, builder) in columns.iter().zip(&mut builders) {
                builder.push(column.get(row));
            }
        });
        let arrays = builders.into_iter().map(Builder::finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }
}

impl<A: Borrow<Analysis>> Iterator for Batches<A> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.rows_left().min(ROWS);
        (rows > 0).then(|| self.batch(rows))
    }
}

impl<A: Borrow<Analysis>> RecordBatchReader for Batches<A> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
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
    fn new(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Int => Self::Int(Int64Builder::with_capacity(rows)),
            Kind::Float => Self::Float(Float64Builder::with_capacity(rows)),
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Bool => Self::Bool(BooleanBuilder::with_capacity(rows)),
            Kind::Timestamp => {
                Self::Timestamp(TimestampMicrosecondBuilder::with_capacity(rows).with_data_type(kind.data_type()))
            }
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
