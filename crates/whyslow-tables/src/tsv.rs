//! A table as tab-separated values: a line of names, then a line for each row.
//!
//! What is not known is empty, a list has commas between its numbers, and an instant is ISO 8601 in
//! UTC. No value holds a tab or a line feed: in a file's name they are written out.

use crate::batch::{Batches, Error};
use crate::column::Value;
use arrow_array::RecordBatchReader;
use std::borrow::Borrow;
use std::io::{self, Write};
use whyslow_core::analysis::Analysis;
use whyslow_core::units::{Time, iso_8601};
use whyslow_report::text::harmless;

/// Writes it.
///
/// # Errors
/// Those of `out`.
pub fn write<A: Borrow<Analysis>>(batches: Batches<A>, out: &mut impl Write) -> Result<(), Error> {
    let schema = batches.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    writeln!(out, "{}", names.join("\t"))?;
    let mut written = Ok(());
    batches.each_row(|values| {
        if written.is_ok() {
            written = line(&values, out);
        }
    });
    Ok(written?)
}

fn line(values: &[Option<Value>], out: &mut impl Write) -> io::Result<()> {
    let cells: Vec<String> = values.iter().map(|value| value.as_ref().map(cell).unwrap_or_default()).collect();
    writeln!(out, "{}", cells.join("\t"))
}

fn cell(value: &Value) -> String {
    match value {
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Text(text) => harmless(text).into_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Timestamp(micros) => iso_8601(Time::from_micros(*micros)),
        Value::Ints(values) => values.iter().map(i64::to_string).collect::<Vec<_>>().join(","),
    }
}
