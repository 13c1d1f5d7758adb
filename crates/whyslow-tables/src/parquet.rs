//! A table as a Parquet file, compressed with zstd.

use crate::batch::{Batches, Error, ROWS};
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use arrow_array::RecordBatchReader;
use std::borrow::Borrow;
use std::io::Write;
use whyslow_core::analysis::Analysis;

/// Writes a row group for each batch, so that no more than one is held; the footer holds the Arrow
/// schema too. Equal tables are equal bytes.
///
/// # Errors
/// Those of `out`, Arrow's and Parquet's.
pub fn write<A: Borrow<Analysis>>(batches: Batches<A>, out: impl Write + Send) -> Result<(), Error> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_max_row_group_row_count(Some(ROWS))
        .build();
    let mut writer = ArrowWriter::try_new(out, batches.schema(), Some(properties))?;
    for batch in batches {
        writer.write(&batch?)?;
        writer.flush()?;
    }
    writer.close()?;
    Ok(())
}
