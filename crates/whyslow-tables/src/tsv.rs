//! A table as tab-separated values: a line of names, then a line for each row.
//!
//! What is not known is empty, a list has commas between its numbers, and an instant is ISO 8601 in
//! UTC. No value holds a tab or a line feed: in a file's name they are written out.

use crate::batch::Error;
use crate::column::{Column, Value};
use crate::row::Row;
use crate::table::Table;
use std::io::Write;
use whyslow_report::text::harmless;
use whyslow_units::{Time, iso_8601};

/// Writes the lines.
pub(crate) struct TsvWriter<W> {
    columns: Vec<Column>,
    out: W,
}

impl<W: Write> TsvWriter<W> {
    pub(crate) fn new(table: Table, mut out: W) -> Result<Self, Error> {
        let columns = table.columns();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_ref()).collect();
        writeln!(out, "{}", names.join("\t"))?;
        Ok(Self { columns, out })
    }

    pub(crate) fn push(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let value = |column: &Column| column.get(row).map(|value| cell(&value)).unwrap_or_default();
        let cells: Vec<String> = self.columns.iter().map(value).collect();
        Ok(writeln!(self.out, "{}", cells.join("\t"))?)
    }
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
