//! `FILE`, `FILE#3`, `FILE#3.2`: a capture, and which of its connections and transfers is meant. A
//! capture is a file, standard input, or what a URL names.

mod url;

pub use url::allow_local_redirects;

use crate::exit::IN_PART;
use crate::hints;
use crate::keylog;
use crate::output::complain;
use crate::progress::Meter;
use anyhow::bail;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use whyslow_analysis::Analysis;
use whyslow_diagnosis::compare::TransferName;
use whyslow_io::{Input, Stop, is_url};

/// A transfer, or a connection, of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferPlace {
    /// The capture.
    pub input: Input,
    /// The connection or transfer; neither if the whole capture is meant.
    pub which: TransferName,
}

impl TransferPlace {
    /// The argument, as one capture.
    ///
    /// # Errors
    /// When a URL cannot be understood, or names several.
    pub fn read(text: &Path) -> anyhow::Result<Self> {
        let mut places = Self::all(text)?;
        match (places.pop(), places.len()) {
            (Some(place), 0) => Ok(place),
            (_, more) => bail!("{}: {} objects match; name one", text.display(), more + 1),
        }
    }

    /// The argument, as the captures that it names. A file with such a name wins.
    ///
    /// # Errors
    /// When a URL cannot be understood, or names nothing.
    pub fn all(text: &Path) -> anyhow::Result<Vec<Self>> {
        let named = text.to_str().filter(|_| !text.exists()).and_then(|text| text.rsplit_once('#'));
        let (path, which) = match named.and_then(|(path, which)| Some((path, TransferName::read(which)?))) {
            Some((path, which)) => (Path::new(path), which),
            None => (text, TransferName::default()),
        };
        Ok(input(path)?.into_iter().map(|input| Self { input, which }).collect())
    }
}

/// The captures that these names stand for.
///
/// # Errors
/// When a URL cannot be understood, or names nothing.
pub fn inputs(names: &[PathBuf]) -> anyhow::Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for name in names {
        inputs.extend(input(name)?);
    }
    Ok(inputs)
}

/// Inputs that can be read, of several.
pub struct Readable {
    /// The readable inputs, in their order.
    pub inputs: Vec<Input>,
    /// Others were skipped.
    pub is_part: bool,
}

impl Readable {
    /// Checks the beginning of each file and object, and reports unreadable ones. A single input
    /// and pipes are not checked: reading them reports the error.
    ///
    /// # Errors
    /// Returns an error if none of several inputs can be read.
    pub fn of(inputs: &[Input]) -> anyhow::Result<Self> {
        if inputs.len() < 2 {
            return Ok(Self { inputs: inputs.to_vec(), is_part: false });
        }
        let mut readable = Vec::new();
        for input in inputs {
            match if is_pipe(input) { Ok(()) } else { whyslow_io::check(input) } {
                Ok(()) => readable.push(input.clone()),
                Err(error) => complain(&format!("{}; it is skipped", hints::with_hint(&error))),
            }
        }
        if readable.is_empty() {
            bail!("none of the {} inputs can be read", inputs.len());
        }
        Ok(Self { is_part: readable.len() < inputs.len(), inputs: readable })
    }

    /// The exit status of a command that succeeded with these inputs.
    pub fn status(&self) -> ExitCode {
        if self.is_part { ExitCode::from(IN_PART) } else { ExitCode::SUCCESS }
    }
}

fn is_pipe(input: &Input) -> bool {
    match input {
        Input::Stdin => true,
        Input::Object(_) => false,
        Input::Path(path) => path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()),
    }
}

/// A path, standard input, or what a URL names.
fn input(name: &Path) -> anyhow::Result<Vec<Input>> {
    if name == Path::new("-") {
        return Ok(vec![Input::Stdin]);
    }
    match name.to_str().filter(|name| is_url(name) && !Path::new(name).exists()) {
        Some(url) => url::inputs(url),
        None => Ok(vec![Input::Path(PathBuf::from(name))]),
    }
}

/// Reads one capture, with a progress bar.
///
/// # Errors
/// When it cannot be read.
pub fn explain(input: &Input) -> anyhow::Result<Analysis> {
    let (options, mut meter) = (keylog::options()?, Meter::new());
    let inputs = std::slice::from_ref(input);
    Ok(whyslow_io::explain_on(options, inputs, &Stop::default(), &mut |progress| meter.update(progress))?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_number_behind_the_file_is_a_connection_or_a_transfer() {
        let place = |text: &str| TransferPlace::read(Path::new(text)).unwrap();
        let path = |text: &str| Input::Path(text.into());
        let which = |connection, transfer| TransferName { connection: Some(connection), transfer };
        assert_eq!(place("a.pcap"), TransferPlace { input: path("a.pcap"), which: TransferName::default() });
        assert_eq!(place("a.pcap#3"), TransferPlace { input: path("a.pcap"), which: which(3, None) });
        assert_eq!(place("-#3.12"), TransferPlace { input: Input::Stdin, which: which(3, Some(12)) });
        for name in ["a#b", "a#", "a#1.", "a#.2", "a#1.2.3", "a#-1", "a#+1"] {
            assert_eq!(place(name), TransferPlace { input: path(name), which: TransferName::default() }, "{name}");
        }
    }
}
