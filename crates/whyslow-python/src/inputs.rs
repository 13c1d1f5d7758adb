//! Python's inputs: files, URLs, and temporary files in place of other objects; and how
//! they are read.

use crate::errors::Failure;
use std::num::NonZero;
use std::path::PathBuf;
use whyslow_io::{ExplainOptions, Input, Reading, is_url};
use whyslow_remote::Remote;

/// A path or URL, and the name of the object that a temporary file replaces.
pub(crate) type Named = (PathBuf, Option<String>);

/// One thread per processor by default.
pub(crate) fn options_of(threads: Option<NonZero<usize>>, path_rate: Option<f64>) -> ExplainOptions {
    let options = ExplainOptions { path_rate, ..ExplainOptions::default() };
    ExplainOptions { threads: threads.unwrap_or(options.threads), ..options }
}

/// The captures that these name. A pattern in a URL is asked of the network.
///
/// # Errors
/// When a URL cannot be understood, or its pattern matches nothing.
pub(crate) fn resolved(named: &[Named]) -> Result<Vec<Input>, Failure> {
    // A connection of its own for each call: what `fork` leaves of one hangs.
    let mut remote = None;
    let mut inputs = Vec::new();
    for (path, _) in named {
        match path.to_str().filter(|name| is_url(name) && !path.exists()) {
            Some(url) => {
                let remote = match &mut remote {
                    Some(remote) => remote,
                    None => remote.insert(Remote::new()?),
                };
                inputs.extend(remote.inputs(url)?);
            }
            None => inputs.push(Input::Path(path.clone())),
        }
    }
    Ok(inputs)
}

/// Restores the names of inputs that are in temporary files.
pub(crate) fn rename(reading: &mut Reading, inputs: &[Named]) {
    for (path, name) in inputs {
        let Some(name) = name else { continue };
        let path = path.display().to_string();
        for capture in reading.analysis.captures.iter_mut().filter(|capture| capture.path == path) {
            capture.path.clone_from(name);
        }
    }
}
