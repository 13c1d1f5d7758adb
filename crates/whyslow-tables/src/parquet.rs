//! A table as a Parquet file, compressed with zstd.

use crate::batch::{BatchBuilder, Error, ROWS};
use crate::row::Row;
use crate::table::Table;
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use arrow_array::RecordBatch;
use std::io::Write;

/// Writes a row group for each batch, so that no more than one is held; the footer holds the Arrow
/// schema too. Equal tables are equal bytes.
pub(crate) struct ParquetWriter<W: Write + Send> {
    builder: BatchBuilder,
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(crate) fn new(table: Table, out: W) -> Result<Self, Error> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_max_row_group_row_count(Some(ROWS))
            .build();
        let builder = BatchBuilder::new(table);
        Ok(Self { writer: ArrowWriter::try_new(out, builder.schema(), Some(properties))?, builder })
    }

    pub(crate) fn push(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let full = self.builder.push(row)?;
        self.write(full)
    }

    fn write(&mut self, batch: Option<RecordBatch>) -> Result<(), Error> {
        if let Some(batch) = batch {
            self.writer.write(&batch)?;
            self.writer.flush()?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let rest = self.builder.take()?;
        self.write(rest)?;
        self.writer.close()?;
        Ok(())
    }
}
