//! `FILE`, `FILE#3`, `FILE#3.2`: a capture, and which of its connections and transfers is meant.

use crate::progress::Meter;
use std::path::{Path, PathBuf};
use whyslow_core::analysis::Analysis;
use whyslow_core::compare::TransferName;
use whyslow_io::{Input, Stop};

/// A transfer, or a connection, of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TransferPlace {
    pub input: Input,
    pub which: TransferName,
}

impl TransferPlace {
    /// What was typed. A file that has such a name itself is that file.
    pub(crate) fn read(text: &Path) -> Self {
        let named = text.to_str().filter(|_| !text.exists()).and_then(|text| text.rsplit_once('#'));
        match named.and_then(|(path, which)| Some((path, TransferName::read(which)?))) {
            Some((path, which)) => Self { input: input(Path::new(path)), which },
            None => Self { input: input(text), which: TransferName::default() },
        }
    }
}

/// A path, or standard input.
pub(crate) fn input(path: &Path) -> Input {
    if path == Path::new("-") { Input::Stdin } else { Input::Path(PathBuf::from(path)) }
}

/// Reads one capture, with a progress bar for whoever waits.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn explain(input: &Input) -> anyhow::Result<Analysis> {
    let mut meter = Meter::new();
    Ok(whyslow_io::explain(std::slice::from_ref(input), &Stop::default(), &mut |progress| meter.update(progress))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_behind_the_file_is_a_connection_or_a_transfer() {
        let place = |text: &str| TransferPlace::read(Path::new(text));
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
