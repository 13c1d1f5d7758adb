//! JSON whose text is harmless to show.

mod indent;
mod shown;

use indent::Indented;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::CompactFormatter;
use shown::Harmless;
use std::io::{self, Write};

/// Writes any value as one indented object and a line feed, its text harmless.
///
/// # Errors
/// Only those of `out`.
pub fn object(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Harmless::<Indented>::to_programs()))?;
    writeln!(out)
}

/// Writes any value as an object on a line of its own, its text harmless.
///
/// # Errors
/// Only those of `out`.
pub fn line(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Harmless::<CompactFormatter>::to_programs()))?;
    writeln!(out)
}

/// Writes any value for a page that shows it: all of its text is harmless, file names too.
///
/// # Errors
/// Errors of `out`, and values without JSON.
pub fn to_people(value: &impl Serialize, out: impl Write) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Harmless::<CompactFormatter>::to_people()))
}

/// Writes any value as an object on a line of its own, for a log. Every value stays as it is;
/// hidden characters are written as JSON escapes.
///
/// # Errors
/// Errors of `out`, and values without JSON.
pub fn log_line(value: &impl Serialize, mut out: impl Write) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut out, Harmless::<CompactFormatter>::exact()))?;
    writeln!(out).map_err(serde_json::Error::io)
}
