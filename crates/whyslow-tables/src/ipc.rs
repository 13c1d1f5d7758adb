//! A table as an Arrow IPC stream, which is read while it is written.

use crate::batch::{Batches, Error};
use arrow_array::RecordBatchReader;
use arrow_ipc::writer::StreamWriter;
use std::borrow::Borrow;
use std::io::Write;
use whyslow_core::analysis::Analysis;

/// Writes the schema, the batches, and the stream's end.
///
/// # Errors
/// Those of `out`, and Arrow's.
pub fn write<A: Borrow<Analysis>>(batches: Batches<A>, out: &mut impl Write) -> Result<(), Error> {
    let mut writer = StreamWriter::try_new(out, &batches.schema())?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    Ok(writer.finish()?)
}
