//! Captures are read with a progress bar, and become a page in a file.

use crate::output::Target;
use crate::{Meter, hints, keylog};
use std::io::Write;
use whyslow_io::{OmittedConnections, Reading, Stop};
use whyslow_serve::{Document, Opening};

/// Reads the inputs, with a progress bar.
///
/// # Errors
/// When an input cannot be read.
pub fn read(opening: &Opening) -> anyhow::Result<Reading> {
    let mut meter = Meter::new();
    let options = keylog::options()?;
    whyslow_io::read_on(options, &opening.groups(), &Stop::default(), &mut |progress| meter.update(progress))
        .map_err(|error| anyhow::Error::msg(opening.with_names(&hints::with_hint(&error))))
}

/// As [`read`], with the connections that the analysis does not list.
///
/// # Errors
/// When an input cannot be read, or the disk has no room for temporary files.
pub fn read_every(opening: &Opening) -> anyhow::Result<(Reading, OmittedConnections)> {
    let mut meter = Meter::new();
    let options = keylog::options()?;
    whyslow_io::read_every(options, &opening.groups(), &Stop::default(), &mut |progress| meter.update(progress))
        .map_err(|error| anyhow::Error::msg(opening.with_names(&hints::with_hint(&error))))
}

/// Writes the page with the analysed captures.
///
/// # Errors
/// When it cannot be written, the program was built without the page, or an input has changed: the
/// page's graphs are made of a reading of their own.
pub fn write_page(reading: Reading, opening: &Opening, mut target: Target) -> anyhow::Result<()> {
    let files = reading.files();
    let mut meter = Meter::new();
    let document = Document::complete(reading, opening, &mut |progress| meter.update(progress));
    drop(meter);
    let report = whyslow_serve::report(&document)?;
    files.are_there().map_err(|error| anyhow::Error::msg(opening.with_names(&error.to_string())))?;
    target.write_all(report.as_bytes())?;
    target.finish()
}
