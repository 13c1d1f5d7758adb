//! A table as an Arrow IPC stream, which is read while it is written.

use crate::batch::{BatchBuilder, Error};
use crate::row::Row;
use crate::table::Table;
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use std::io::Write;

/// Writes the schema, the batches, and the stream's end.
pub(crate) struct ArrowStream<W: Write> {
    builder: BatchBuilder,
    writer: StreamWriter<W>,
}

impl<W: Write> ArrowStream<W> {
    pub(crate) fn new(table: Table, out: W) -> Result<Self, Error> {
        let builder = BatchBuilder::new(table);
        Ok(Self { writer: StreamWriter::try_new(out, &builder.schema())?, builder })
    }

    pub(crate) fn push(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let full = self.builder.push(row)?;
        self.write(full)
    }

    fn write(&mut self, batch: Option<RecordBatch>) -> Result<(), Error> {
        Ok(batch.map_or(Ok(()), |batch| self.writer.write(&batch))?)
    }

    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let rest = self.builder.take()?;
        self.write(rest)?;
        Ok(self.writer.finish()?)
    }
}
